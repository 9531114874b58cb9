package dev.muster.simulator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The source tree that the tests run in. */
final class Repository {
    static final Path ROOT = root();

    private Repository() {}

    private static Path root() {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("muster")) || !Files.exists(at.resolve("core/pom.xml"))) {
            at = at.getParent();
        }
        return at;
    }

    static List<Path> sources() {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(p -> p.toString().endsWith(".java"))
                    .filter(p -> !p.toString().contains("/target/")
                            && !p.toString().contains("/build/")
                            && !p.toString().contains("/.git/"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
