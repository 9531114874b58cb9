package dev.muster.cli.command;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The installation's mpi-helper, which serves MPI's libraries on the nodes. */
final class MpiHelper {
    private static final long ANSWER_MS = 5_000;
    private static final int ANSWER_BYTES_MAX = 4096;

    private MpiHelper() {}

    /** Returns the kinds of {@code --mpi} that the helper lists; none without a helper. */
    static List<String> kinds(String prefix) {
        Path helper = Path.of(prefix, "lib/muster/mpi-helper");
        if (prefix.isEmpty() || !Files.isExecutable(helper)) {
            return List.of();
        }
        try {
            Process list = new ProcessBuilder(helper.toString(), "--list")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String kinds = new String(list.getInputStream().readNBytes(ANSWER_BYTES_MAX), StandardCharsets.US_ASCII);
            list.waitFor(ANSWER_MS, TimeUnit.MILLISECONDS);
            return kinds.lines().toList();
        } catch (IOException e) {
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }
}
