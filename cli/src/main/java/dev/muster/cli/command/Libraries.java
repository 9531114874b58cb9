package dev.muster.cli.command;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Lists the shared objects that a program is linked with, as {@code ldd} finds them on this host. */
public final class Libraries {
    private static final int SECONDS = 30;
    private static final int OUTPUT_BYTES_MAX = 1 << 20;

    private Libraries() {}

    /** Paths, without those below one of the excluded; none for a program without any. */
    public static List<Path> of(Path program, List<String> excluded) throws IOException {
        Process ldd = new ProcessBuilder("ldd", program.toString())
                .redirectInput(new File("/dev/null"))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String text;
        try (var out = ldd.getInputStream()) {
            text = new String(out.readNBytes(OUTPUT_BYTES_MAX), StandardCharsets.UTF_8);
        }
        try {
            if (!ldd.waitFor(SECONDS, TimeUnit.SECONDS)) {
                ldd.destroyForcibly();
            }
        } catch (InterruptedException e) {
            ldd.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        return paths(text, excluded);
    }

    /** Returns the paths in {@code libx.so => /path (0x…)} and {@code /path (0x…)}. */
    static List<Path> paths(String text, List<String> excluded) {
        List<Path> out = new ArrayList<>();
        for (String line : text.split("\n")) {
            String remainder =
                    line.contains("=>") ? line.substring(line.indexOf("=>") + 2).strip() : line.strip();
            int end = remainder.lastIndexOf(" (0x");
            if (remainder.startsWith("/") && end > 0) {
                Path path = Path.of(remainder.substring(0, end));
                if (excluded.stream().noneMatch(e -> path.startsWith(Path.of(e)))) {
                    out.add(path);
                }
            }
        }
        return out;
    }
}
