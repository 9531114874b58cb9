package dev.muster.rest;

import dev.muster.model.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A body in YAML as a tree: mappings and lists by indentation, plain and quoted words, literal ({@code |}) and folded ({@code >}) text, and JSON
 * anywhere. Anchors, tags, several documents and other forms are refused with their line.
 */
final class Yaml {
    private static final int DEPTH_MAX = 40;

    /** @see #getMessage it names the line */
    static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1L;

        Unreadable(int line, String why) {
            super("line " + (line + 1) + ": " + why, null, false, false);
        }
    }

    private final List<String> lines;
    private int at;

    private Yaml(List<String> lines) {
        this.lines = lines;
    }

    static Object parse(byte[] utf8) throws Unreadable {
        List<String> lines = new ArrayList<>(List.of(new String(utf8, StandardCharsets.UTF_8).split("\r?\n", -1)));
        Yaml y = new Yaml(lines);
        y.skip();
        if (y.at < lines.size() && lines.get(y.at).strip().equals("---")) {
            y.at++;
        }
        y.skip();
        if (y.at >= lines.size()) {
            return null;
        }
        Object value = y.block(y.indent(), 0);
        y.skip();
        if (y.at < lines.size() && !lines.get(y.at).strip().equals("...")) {
            throw new Unreadable(y.at, "it belongs to nothing before it");
        }
        return value;
    }

    private void skip() {
        while (at < lines.size() && (lines.get(at).isBlank() || lines.get(at).strip().startsWith("#"))) {
            at++;
        }
    }

    private int indent() {
        String line = lines.get(at);
        int i = 0;
        while (i < line.length() && line.charAt(i) == ' ') {
            i++;
        }
        return i;
    }

    private boolean ended() {
        skip();
        return at >= lines.size() || lines.get(at).strip().equals("...");
    }

    /** What stands at this indentation. */
    private Object block(int indent, int depth) throws Unreadable {
        if (depth > DEPTH_MAX) {
            throw new Unreadable(at, "nested too deeply");
        }
        String text = lines.get(at).substring(indent);
        if (text.startsWith("\t")) {
            throw new Unreadable(at, "a tab in the indentation");
        }
        if (text.equals("-") || text.startsWith("- ")) {
            return list(indent, depth);
        }
        if (colon(text) >= 0) {
            return mapping(indent, depth);
        }
        Object value = scalar(text);
        at++;
        return value;
    }

    private List<Object> list(int indent, int depth) throws Unreadable {
        List<Object> out = new ArrayList<>();
        while (!ended() && indent() == indent && (lines.get(at).substring(indent) + " ").startsWith("- ")) {
            String rest = lines.get(at).substring(indent + 1);
            if (rest.isBlank()) {
                at++;
                out.add(ended() || indent() <= indent ? null : block(indent(), depth + 1));
            } else {
                // the dash is as good as a blank
                lines.set(at, " ".repeat(indent + 1) + rest);
                out.add(block(indent(), depth + 1));
            }
        }
        return out;
    }

    private Json.Obj mapping(int indent, int depth) throws Unreadable {
        Json.Obj out = new Json.Obj();
        while (!ended() && indent() == indent) {
            String text = lines.get(at).substring(indent);
            int colon = colon(text);
            if (colon < 0) {
                throw new Unreadable(at, "neither a key nor an item");
            }
            String key = String.valueOf(word(text.substring(0, colon).strip()));
            if (out.has(key)) {
                throw new Unreadable(at, "a second " + key);
            }
            String rest = text.substring(colon + 1).strip();
            if (rest.matches("[|>][-+]?")) {
                at++;
                out.put(key, text(indent, rest));
            } else if (rest.isEmpty() || rest.startsWith("#")) {
                at++;
                boolean inner = !ended() && (indent() > indent || indent() == indent && (lines.get(at).substring(indent) + " ").startsWith("- "));
                out.put(key, inner ? block(indent(), depth + 1) : null);
            } else {
                out.put(key, scalar(rest));
                at++;
            }
        }
        return out;
    }

    /** A literal or folded text: what is indented deeper than its key. */
    private String text(int indent, String sign) {
        List<String> own = new ArrayList<>();
        int inner = -1;
        while (at < lines.size() && (lines.get(at).isBlank() || indent() > indent)) {
            inner = inner < 0 && !lines.get(at).isBlank() ? indent() : inner;
            own.add(lines.get(at++));
        }
        int cut = Math.max(0, inner);
        int last = own.size();
        while (last > 0 && own.get(last - 1).isBlank()) {
            last--;
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < last; i++) {
            String line = own.get(i).length() > cut ? own.get(i).substring(cut) : "";
            out.append(line).append(i + 1 == last ? "" : sign.startsWith(">") && !line.isEmpty() ? " " : "\n");
        }
        return out + (sign.endsWith("-") || last == 0 ? "" : "\n");
    }

    /** Where a key ends: before a blank or the end of the line, outside of quotes and of JSON. */
    private static int colon(String text) {
        char first = text.isEmpty() ? ' ' : text.charAt(0);
        int from = 0;
        if (first == '"' || first == '\'') {
            from = text.indexOf(first, 1) + 1;
            if (from == 0) {
                return -1;
            }
        } else if (first == '{' || first == '[') {
            return -1;
        }
        for (int i = from; i < text.length(); i++) {
            if (text.charAt(i) == ':' && (i + 1 == text.length() || text.charAt(i + 1) == ' ')) {
                return i;
            }
            if (text.charAt(i) == '#' && i > 0 && text.charAt(i - 1) == ' ') {
                return -1;
            }
        }
        return -1;
    }

    private Object scalar(String text) throws Unreadable {
        char first = text.charAt(0);
        if (first == '{' || first == '[' || first == '"') {
            try {
                return Json.parse(text.getBytes(StandardCharsets.UTF_8));
            } catch (Json.MalformedException e) {
                throw new Unreadable(at, "what begins with " + first + " must be JSON on one line");
            }
        }
        int hash = text.indexOf(" #");
        return word(first == '\'' || hash < 0 ? text.strip() : text.substring(0, hash).strip());
    }

    private Object word(String text) throws Unreadable {
        if (text.startsWith("\"")) {
            return scalar(text);
        }
        if (text.startsWith("'")) {
            if (text.length() < 2 || !text.endsWith("'")) {
                throw new Unreadable(at, "a quote without its end");
            }
            return text.substring(1, text.length() - 1).replace("''", "'");
        }
        if (!text.isEmpty() && "&*!%@`?|>".indexOf(text.charAt(0)) >= 0) {
            throw new Unreadable(at, "words that begin with " + text.charAt(0) + " are not read");
        }
        return switch (text) {
            case "", "~", "null" -> null;
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            default -> text.matches("-?(0|[1-9][0-9]{0,17})") ? (Object) Long.parseLong(text)
                    : text.matches("-?[0-9]{1,18}\\.[0-9]{1,18}") ? (Object) Double.parseDouble(text) : text;
        };
    }
}
