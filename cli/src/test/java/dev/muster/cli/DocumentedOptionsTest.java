package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Texts;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every long option that the manuals of Slurm 22.05 and 26.05 name is known to our commands: it works or is refused in
 * words.
 */
class DocumentedOptionsTest {
    static List<String> commands() throws IOException {
        try (InputStream in = DocumentedOptionsTest.class.getResourceAsStream("/documented-options.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyDocumentedOptionIsKnown(String line) {
        String name = line.substring(0, line.indexOf(':'));
        Set<String> missing = new TreeSet<>(Texts.words(line.substring(name.length() + 1)));
        assertThat(missing).hasSizeGreaterThan(5);
        List<String> known = CommandTable.of(name).orElseThrow().options().stream()
                .map(GetOpt.Opt::name)
                .toList();
        // getopt takes any beginning that is one option's alone
        missing.removeIf(o ->
                known.contains(o) || known.stream().filter(k -> k.startsWith(o)).count() == 1);
        assertThat(missing).as("options of " + name).isEmpty();
    }
}
