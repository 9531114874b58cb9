package dev.muster.controller.site;

import dev.muster.core.state.Job;
import dev.muster.json.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The % symbols in a job's lines for its burst buffer: what they stand for is filled in for the site's script, and
 * nowhere else.
 */
final class BufferSymbols {
    /** Task number of a job outside of arrays. */
    private static final String NO_TASK = "4294967294";

    private BufferSymbols() {}

    /**
     * Returns the script with the symbols filled in, in all lines that begin with the directive; the others stay as
     * they are, whatever bytes they are of.
     */
    static Bytes filled(Bytes script, String directive, Job job) {
        List<String> out = new ArrayList<>();
        for (String line : latin(script).split("\n", -1)) {
            out.add(line.strip().startsWith("#" + directive) ? line(line, job) : line);
        }
        return Bytes.of(String.join("\n", out).getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Fills in the symbols of a line. Two backslashes end that: they go, and what follows stays. */
    private static String line(String line, Job job) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (line.startsWith("\\\\", i)) {
                return out.append(line.substring(i + 2)).toString();
            }
            String value = c == '%' && i + 1 < line.length() ? symbol(line.charAt(i + 1), job) : "";
            if (value.isEmpty()) {
                out.append(c);
            } else {
                out.append(value);
                i++;
            }
        }
        return out.toString();
    }

    /** "" for none. */
    private static String symbol(char letter, Job job) {
        boolean task = job.isArrayTask();
        return switch (letter) {
            case '%' -> "%";
            case 'A' -> Integer.toString(task ? job.array().jobId() : job.id());
            case 'a' -> task ? Integer.toString(job.array().task()) : NO_TASK;
            case 'd' -> latin(job.desc().files().workDir());
            case 'j' -> Integer.toString(job.id());
            case 'u' -> latin(job.desc().owner().user());
            case 'x' -> latin(job.desc().name());
            default -> "";
        };
    }

    /** Returns a text as the script is read: byte by byte. */
    private static String latin(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private static String latin(Bytes bytes) {
        return new String(bytes.toArray(), StandardCharsets.ISO_8859_1);
    }
}
