package dev.muster.cli.acct;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Reads the lines of a dumped cluster: {@code Cluster}, {@code QOS}, {@code Parent}, {@code Account} and {@code User},
 * each with a name and options.
 */
final class LoadFile {
    /**
     * One line.
     *
     * @param number counted from 1, with those that say nothing
     * @param kind in lower case
     * @param options by name in lower case, values without their quotes
     */
    record Line(int number, String kind, String name, Map<String, String> options) {
        String option(String key) {
            return options.getOrDefault(key, "");
        }
    }

    private static final List<String> KINDS = List.of("cluster", "qos", "parent", "account", "user");

    final List<Line> lines = new ArrayList<>();
    /** The number of the first line that is none, 0 if all are. */
    int wrong;

    static LoadFile read(String text) {
        LoadFile out = new LoadFile();
        int number = 0;
        for (String raw : text.split("\n", -1)) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int dash = line.indexOf('-');
            String kind = dash < 0 ? "" : line.substring(0, dash).strip().toLowerCase(Locale.ROOT);
            if (!KINDS.contains(kind)) {
                out.wrong = number;
                return out;
            }
            List<String> parts = parts(line.substring(dash + 1).strip());
            Map<String, String> options = new LinkedHashMap<>();
            for (String part : parts.subList(1, parts.size())) {
                int equalSign = part.indexOf('=');
                if (equalSign <= 0) {
                    out.wrong = number;
                    return out;
                }
                options.put(
                        part.substring(0, equalSign).strip().toLowerCase(Locale.ROOT),
                        Clause.unquoted(part.substring(equalSign + 1).strip()));
            }
            out.lines.add(
                    new Line(number, kind, Clause.unquoted(parts.getFirst().strip()), options));
        }
        return out;
    }

    /** Splits a line at colons outside quotes. */
    private static List<String> parts(String text) {
        List<String> out = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote == 0 && c == ':') {
                out.add(part.toString());
                part.setLength(0);
                continue;
            }
            if (quote == c) {
                quote = 0;
            } else if (quote == 0 && (c == '\'' || c == '"')) {
                quote = c;
            }
            part.append(c);
        }
        out.add(part.toString());
        return out;
    }
}
