package dev.muster.config.file;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The part of YAML that Slurm's files are written in: nested mappings and lists by indentation, {@code {a: 1}} and
 * {@code [1, 2]} on one line, plain and quoted words, comments. Words come as text. What it cannot read is a mistake
 * with its line.
 */
public final class YamlLite {
    /** A line that is not of this form. */
    public static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1;
        public final int line;

        Unreadable(int line, String message) {
            super(message);
            this.line = line;
        }
    }

    private record Line(int number, int indent, String text) {}

    private final List<Line> lines = new ArrayList<>();
    private int at;

    private YamlLite() {}

    /** The text of a key; "" where there is none, or something else. */
    public static String text(Map<?, ?> m, String key) {
        return m.get(key) instanceof String s ? s : "";
    }

    /** An empty one for what is no mapping; so of a list. */
    public static Map<?, ?> map(@Nullable Object o) {
        return o instanceof Map<?, ?> m ? m : Map.of();
    }

    public static List<?> list(@Nullable Object o) {
        return o instanceof List<?> l ? l : List.of();
    }

    /** Maps, lists and text. */
    public static Object parse(List<String> source) throws Unreadable {
        YamlLite y = new YamlLite();
        for (int i = 0; i < source.size(); i++) {
            String text = uncommented(source.get(i)).stripTrailing();
            String stripped = text.stripLeading();
            if (!stripped.isEmpty() && !stripped.equals("---") && !stripped.equals("...")) {
                y.lines.add(new Line(i + 1, text.length() - stripped.length(), stripped));
            }
        }
        if (y.lines.isEmpty()) {
            return Map.of();
        }
        Object value = y.block(y.lines.getFirst().indent);
        if (y.at < y.lines.size()) {
            throw new Unreadable(y.lines.get(y.at).number, "wrong indentation");
        }
        return value;
    }

    /** The other way: lines that read as the same maps, lists and text. */
    public static List<String> lines(Object value) {
        List<String> out = new ArrayList<>();
        switch (value) {
            case Map<?, ?> map ->
                map.forEach((key, v) -> {
                    if (v instanceof Map<?, ?> || v instanceof List<?>) {
                        out.add(key + ":");
                        lines(v).forEach(line -> out.add("  " + line));
                    } else {
                        out.add(key + ": " + v);
                    }
                });
            case List<?> list ->
                list.forEach(v -> {
                    String dash = "- ";
                    for (String line : lines(v)) {
                        out.add(dash + line);
                        dash = "  ";
                    }
                });
            default -> out.add(value.toString());
        }
        return out;
    }

    private static String uncommented(String line) {
        char quote = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == quote) {
                quote = 0;
            }

            if (quote == 0 && c == '#' && (i == 0 || Character.isWhitespace(line.charAt(i - 1)))) {
                return line.substring(0, i);
            }
        }
        return line;
    }

    private Object block(int indent) throws Unreadable {
        return lines.get(at).text.equals("-") || lines.get(at).text.startsWith("- ")
                ? sequence(indent)
                : mapping(indent);
    }

    private List<Object> sequence(int indent) throws Unreadable {
        List<Object> out = new ArrayList<>();
        while (at < lines.size()
                && lines.get(at).indent == indent
                && (lines.get(at).text.equals("-") || lines.get(at).text.startsWith("- "))) {
            Line line = lines.get(at);
            String rest = line.text.substring(1).stripLeading();
            if (rest.isEmpty()) {
                at++;
                out.add(at < lines.size() && lines.get(at).indent > indent ? block(lines.get(at).indent) : "");
            } else if (colon(rest) > 0 && !rest.startsWith("{") && !rest.startsWith("[")) {
                // the first pair of a mapping stands behind the dash: read it as if it stood on a line of its own
                int inner = indent + line.text.length() - rest.length();
                lines.set(at, new Line(line.number, inner, rest));
                out.add(mapping(inner));
            } else {
                at++;
                out.add(scalar(rest, line.number));
            }
        }
        return out;
    }

    private Map<String, Object> mapping(int indent) throws Unreadable {
        Map<String, Object> out = new LinkedHashMap<>();
        while (at < lines.size()
                && lines.get(at).indent == indent
                && !lines.get(at).text.startsWith("- ")) {
            Line line = lines.get(at);
            int colon = colon(line.text);
            if (colon <= 0) {
                throw new Unreadable(line.number, "expected key: value");
            }
            String key = unquoted(line.text.substring(0, colon).strip());
            String rest = line.text.substring(colon + 1).strip();
            at++;
            if (!rest.isEmpty()) {
                out.put(key, scalar(rest, line.number));
            } else if (at < lines.size()
                    && (lines.get(at).indent > indent
                            || lines.get(at).indent == indent
                                    && lines.get(at).text.startsWith("- "))) {
                out.put(key, block(lines.get(at).indent));
            } else {
                out.put(key, "");
            }
        }
        return out;
    }

    /** Index of the colon that ends a key: at the end or before a blank, outside of quotes. */
    private static int colon(String text) {
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == quote) {
                quote = 0;
            }

            if (quote == 0 && c == ':' && (i + 1 == text.length() || text.charAt(i + 1) == ' ')) {
                return i;
            }
        }
        return -1;
    }

    private static Object scalar(String text, int line) throws Unreadable {
        if (text.startsWith("{") || text.startsWith("[") && text.endsWith("]")) {
            if (text.startsWith("{") != text.endsWith("}")) {
                throw new Unreadable(line, "a bracket is missing");
            }
            String inner = text.substring(1, text.length() - 1).strip();
            Map<String, Object> map = new LinkedHashMap<>();
            List<Object> list = new ArrayList<>();
            for (String item : split(inner)) {
                if (text.startsWith("[")) {
                    list.add(scalar(item, line));
                    continue;
                }
                int colon = colon(item);
                if (colon <= 0) {
                    throw new Unreadable(line, "expected key: value");
                }
                map.put(
                        unquoted(item.substring(0, colon).strip()),
                        scalar(item.substring(colon + 1).strip(), line));
            }
            return text.startsWith("[") ? list : map;
        }
        return unquoted(text);
    }

    private static List<String> split(String text) {
        List<String> out = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i <= text.length(); i++) {
            char c = i < text.length() ? text.charAt(i) : ',';
            if (c == '{' || c == '[') {
                depth++;
            } else if (c == '}' || c == ']') {
                depth--;
            }
            if (c == ',' && depth == 0) {
                String item = text.substring(from, i).strip();
                if (!item.isEmpty()) {
                    out.add(item);
                }
                from = i + 1;
            }
        }
        return out;
    }

    private static String unquoted(String text) {
        boolean quoted = text.length() > 1
                && (text.startsWith("\"") && text.endsWith("\"") || text.startsWith("'") && text.endsWith("'"));
        return quoted ? text.substring(1, text.length() - 1) : text;
    }
}
