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
    private int position;

    private YamlLite() {}

    /** The text of a key; "" where there is none, or something else. */
    public static String text(Map<?, ?> m, String key) {
        return m.get(key) instanceof String text ? text : "";
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
        YamlLite yaml = new YamlLite();
        for (int i = 0; i < source.size(); i++) {
            String text = uncommented(source.get(i)).stripTrailing();
            String stripped = text.stripLeading();
            if (!stripped.isEmpty() && !stripped.equals("---") && !stripped.equals("...")) {
                yaml.lines.add(new Line(i + 1, text.length() - stripped.length(), stripped));
            }
        }
        if (yaml.lines.isEmpty()) {
            return Map.of();
        }
        Object value = yaml.block(yaml.lines.getFirst().indent);
        if (yaml.position < yaml.lines.size()) {
            throw new Unreadable(yaml.lines.get(yaml.position).number, "wrong indentation");
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
        return lines.get(position).text.equals("-") || lines.get(position).text.startsWith("- ")
                ? sequence(indent)
                : mapping(indent);
    }

    private List<Object> sequence(int indent) throws Unreadable {
        List<Object> out = new ArrayList<>();
        while (position < lines.size()
                && lines.get(position).indent == indent
                && (lines.get(position).text.equals("-")
                        || lines.get(position).text.startsWith("- "))) {
            Line line = lines.get(position);
            String remainder = line.text.substring(1).stripLeading();
            if (remainder.isEmpty()) {
                position++;
                out.add(
                        position < lines.size() && lines.get(position).indent > indent
                                ? block(lines.get(position).indent)
                                : "");
            } else if (colon(remainder) > 0 && !remainder.startsWith("{") && !remainder.startsWith("[")) {
                // the first pair of a mapping stands behind the dash: read it as if it stood on a line of its own
                int inner = indent + line.text.length() - remainder.length();
                lines.set(position, new Line(line.number, inner, remainder));
                out.add(mapping(inner));
            } else {
                position++;
                out.add(scalar(remainder, line.number));
            }
        }
        return out;
    }

    private Map<String, Object> mapping(int indent) throws Unreadable {
        Map<String, Object> out = new LinkedHashMap<>();
        while (position < lines.size()
                && lines.get(position).indent == indent
                && !lines.get(position).text.startsWith("- ")) {
            Line line = lines.get(position);
            int colon = colon(line.text);
            if (colon <= 0) {
                throw new Unreadable(line.number, "expected key: value");
            }
            String key = unquoted(line.text.substring(0, colon).strip());
            String remainder = line.text.substring(colon + 1).strip();
            position++;
            if (!remainder.isEmpty()) {
                out.put(key, scalar(remainder, line.number));
            } else if (position < lines.size()
                    && (lines.get(position).indent > indent
                            || lines.get(position).indent == indent
                                    && lines.get(position).text.startsWith("- "))) {
                out.put(key, block(lines.get(position).indent));
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
