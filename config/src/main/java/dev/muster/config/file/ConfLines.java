package dev.muster.config.file;

import dev.muster.config.key.ConfigError;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reads a configuration file as logical lines: comments gone, lines that end with a backslash joined, Include lines
 * followed.
 */
public final class ConfLines {
    static final int MAX_INCLUDE_DEPTH = 16;
    private static final int MAX_FILE_BYTES = 256 << 20;

    /** Receives the lines. */
    public interface Sink {
        void line(String text, String file, int line);

        /** Returns what {@code %c} stands for in the name of an included file. */
        String clusterName();
    }

    private final Sink sink;
    private final List<ConfigError> errors;
    private final File directory;

    public ConfLines(File first, Sink sink, List<ConfigError> errors) {
        this.sink = sink;
        this.errors = errors;
        File parent = first.getAbsoluteFile().getParentFile();
        this.directory = parent == null ? new File("/") : parent;
    }

    public void read(File file) {
        read(file, 0, file.getPath(), 0);
    }

    private void read(File file, int depth, String from, int fromLine) {
        String text;
        try (InputStream in = new FileInputStream(file)) {
            text = new String(in.readNBytes(MAX_FILE_BYTES), StandardCharsets.UTF_8);
        } catch (IOException e) {
            String reason = file.exists()
                    ? "cannot read file " + file
                    : "cannot stat file " + file + ": No such file or directory";
            errors.add(new ConfigError(from, fromLine, reason, file.getPath()));
            return;
        }
        int line = 0;
        int index = 0;
        String joined = "";
        int firstLine = 1;
        while (index < text.length()) {
            int end = text.indexOf('\n', index);
            if (end < 0) {
                end = text.length();
            }
            line++;
            if (joined.isEmpty()) {
                firstLine = line;
            }
            String part = withoutComment(text, index, end);
            index = end + 1;
            if (part.endsWith("\\")) {
                joined += part.substring(0, part.length() - 1);
                continue;
            }
            logical(joined.isEmpty() ? part : joined + part, file.getPath(), firstLine, depth);
            joined = "";
        }
        if (!joined.isEmpty()) {
            logical(joined, file.getPath(), firstLine, depth);
        }
    }

    /** The part of a line before its comment; a backslash keeps the sign. */
    private static String withoutComment(String text, int from, int to) {
        int end = to;
        boolean escaped = false;
        for (int i = text.indexOf('#', from, to); i >= 0; i = text.indexOf('#', i + 1, to)) {
            if (i == from || text.charAt(i - 1) != '\\') {
                end = i;
                break;
            }
            escaped = true;
        }
        while (end > from && Pairs.blank(text.charAt(end - 1))) {
            end--;
        }
        String part = text.substring(from, end);
        return escaped ? part.replace("\\#", "#") : part;
    }

    private void logical(String text, String file, int line, int depth) {
        int index = 0;
        while (index < text.length() && Pairs.blank(text.charAt(index))) {
            index++;
        }
        if (index == text.length()) {
            return;
        }
        if (text.regionMatches(true, index, "include", 0, 7)
                && index + 7 < text.length()
                && Pairs.blank(text.charAt(index + 7))) {
            include(text.substring(index + 8).strip(), file, line, depth);
            return;
        }
        sink.line(text, file, line);
    }

    private void include(String name, String file, int line, int depth) {
        if (depth + 1 > MAX_INCLUDE_DEPTH) {
            errors.add(new ConfigError(file, line, "Include lines nest deeper than " + MAX_INCLUDE_DEPTH, name));
            return;
        }
        String expanded = name.replace("%c", sink.clusterName());
        File target = expanded.startsWith("/") ? new File(expanded) : new File(directory, expanded);
        IncludedFiles.of(target)
                .ifPresentOrElse(
                        files -> files.forEach(f -> read(f, depth + 1, file, line)),
                        () -> errors.add(new ConfigError(
                                file, line, "cannot stat file " + target + ": No such file or directory", name)));
    }
}
