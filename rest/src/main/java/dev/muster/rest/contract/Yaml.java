package dev.muster.rest.contract;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A body in YAML as a tree: mappings and lists by indentation, plain and quoted words that may go on in lines below,
 * literal ({@code |}) and folded ({@code >}) text, JSON anywhere, and tags of what JSON knows. Anchors, other tags,
 * several documents and other forms are refused with their line.
 */
public final class Yaml {
    private static final int DEPTH_MAX = 40;
    private static final String TEXT = "!!str";
    private static final List<String> TAGS = List.of(TEXT, "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq");

    /** @see #getMessage it names the line */
    public static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1L;

        Unreadable(int line, String reason) {
            super("line " + (line + 1) + ": " + reason, null, false, false);
        }
    }

    private final List<String> lines;
    private int position;

    private Yaml(List<String> lines) {
        this.lines = lines;
    }

    public static @Nullable Object parse(byte[] utf8) throws Unreadable {
        List<String> lines = new ArrayList<>(List.of(new String(utf8, StandardCharsets.UTF_8).split("\r?\n", -1)));
        Yaml yaml = new Yaml(lines);
        yaml.skip();
        if (yaml.position < lines.size() && lines.get(yaml.position).startsWith("%YAML ")) {
            yaml.position++;
        }
        if (yaml.position < lines.size() && lines.get(yaml.position).strip().matches("---( !!(map|seq))?")) {
            yaml.position++;
        }
        yaml.skip();
        if (yaml.position >= lines.size()) {
            return null;
        }
        Object value = yaml.block(yaml.indent(), 0);
        yaml.skip();
        if (yaml.position < lines.size() && !lines.get(yaml.position).strip().equals("...")) {
            throw new Unreadable(yaml.position, "it belongs to nothing before it");
        }
        return value;
    }

    private void skip() {
        while (position < lines.size()
                && (lines.get(position).isBlank() || lines.get(position).strip().startsWith("#"))) {
            position++;
        }
    }

    private int indent() {
        String line = lines.get(position);
        int i = 0;
        while (i < line.length() && line.charAt(i) == ' ') {
            i++;
        }
        return i;
    }

    private boolean ended() {
        skip();
        return position >= lines.size() || lines.get(position).strip().equals("...");
    }

    /** Reads the block at an indentation. */
    private @Nullable Object block(int indent, int depth) throws Unreadable {
        if (depth > DEPTH_MAX) {
            throw new Unreadable(position, "nested too deeply");
        }
        String text = lines.get(position).substring(indent);
        if (text.startsWith("\t")) {
            throw new Unreadable(position, "a tab in the indentation");
        }
        if (text.equals("-") || text.startsWith("- ")) {
            return list(indent, depth);
        }
        if (colon(key(text)) >= 0) {
            return mapping(indent, depth);
        }
        TaggedText tagged = tagged(text);
        return tagged.text.isEmpty() ? nothing(tagged.tag) : scalar(tagged, Math.max(0, indent - 1));
    }

    /** @param tag "" for none */
    private record TaggedText(String tag, String text) {}

    private TaggedText tagged(String text) throws Unreadable {
        if (!text.startsWith("!")) {
            return new TaggedText("", text);
        }
        int blank = text.indexOf(' ');
        String tag = blank < 0 ? text : text.substring(0, blank);
        if (!TAGS.contains(tag)) {
            throw new Unreadable(position, "the tag " + tag + " is not read");
        }
        return new TaggedText(tag, blank < 0 ? "" : text.substring(blank).strip());
    }

    /** A line without the tag of its key. */
    private static String key(String text) {
        return text.startsWith(TEXT + " ") ? text.substring(TEXT.length()).stripLeading() : text;
    }

    private static @Nullable Object nothing(String tag) {
        return switch (tag) {
            case TEXT -> "";
            case "!!map" -> new Json.Obj();
            case "!!seq" -> List.of();
            default -> null;
        };
    }

    private List<Object> list(int indent, int depth) throws Unreadable {
        List<Object> out = new ArrayList<>();
        while (!ended() && indent() == indent && (lines.get(position).substring(indent) + " ").startsWith("- ")) {
            String remainder = lines.get(position).substring(indent + 1);
            TaggedText tagged = tagged(remainder.strip());
            if (tagged.text.isEmpty()) {
                position++;
                out.add(ended() || indent() <= indent ? nothing(tagged.tag) : block(indent(), depth + 1));
            } else if (!tagged.tag.isEmpty()) {
                out.add(scalar(tagged, indent));
            } else {
                // the dash is as good as a blank
                lines.set(position, " ".repeat(indent + 1) + remainder);
                out.add(block(indent(), depth + 1));
            }
        }
        return out;
    }

    private Json.Obj mapping(int indent, int depth) throws Unreadable {
        Json.Obj out = new Json.Obj();
        while (!ended() && indent() == indent) {
            String text = key(lines.get(position).substring(indent));
            int colon = colon(text);
            if (colon < 0) {
                throw new Unreadable(position, "neither a key nor an item");
            }
            String key = String.valueOf(word(text.substring(0, colon).strip()));
            if (out.has(key)) {
                throw new Unreadable(position, "a second " + key);
            }
            TaggedText tagged = tagged(text.substring(colon + 1).strip());
            String remainder = tagged.text;
            if (remainder.matches("[|>][-+]?")) {
                position++;
                out.put(key, text(indent, remainder));
            } else if (remainder.isEmpty() || remainder.startsWith("#")) {
                position++;
                boolean inner = !ended()
                        && (indent() > indent
                                || indent() == indent
                                        && (lines.get(position).substring(indent) + " ").startsWith("- "));
                out.put(key, inner ? block(indent(), depth + 1) : nothing(tagged.tag));
            } else {
                out.put(key, scalar(tagged, indent));
            }
        }
        return out;
    }

    /** A literal or folded text: what is indented deeper than its key. */
    private String text(int indent, String sign) {
        List<String> textLines = new ArrayList<>();
        int inner = -1;
        while (position < lines.size() && (lines.get(position).isBlank() || indent() > indent)) {
            inner = inner < 0 && !lines.get(position).isBlank() ? indent() : inner;
            textLines.add(lines.get(position++));
        }
        int cut = Math.max(0, inner);
        int last = textLines.size();
        while (last > 0 && textLines.get(last - 1).isBlank()) {
            last--;
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < last; i++) {
            String line = textLines.get(i).length() > cut ? textLines.get(i).substring(cut) : "";
            out.append(line);
            if (i + 1 < last) {
                out.append(sign.startsWith(">") && !line.isEmpty() ? " " : "\n");
            }
        }
        return out + (sign.endsWith("-") || last == 0 ? "" : "\n");
    }

    /** Place of the colon that ends a key: before a blank or the end of the line, outside of quotes and of JSON. */
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

    private @Nullable Object jsonInLine(String text) throws Unreadable {
        try {
            Object value = Json.parse(text.getBytes(StandardCharsets.UTF_8));
            position++;
            return value;
        } catch (Json.MalformedException e) {
            throw new Unreadable(position, "what begins with " + text.charAt(0) + " must be JSON on one line");
        }
    }

    /** Adds the lines that continue a value; empty lines between them become line breaks. */
    private void joinLines(StringBuilder whole, boolean quoted, int indent) throws Unreadable {
        int breaks = 0;
        while (position < lines.size() && (quoted ? !isWhole(whole) : continues(indent))) {
            String line = lines.get(position).strip();
            if (!quoted && colon(line) >= 0) {
                throw new Unreadable(position, "a key below a value");
            }
            if (!line.isEmpty()) {
                whole.append(breaks == 0 ? " " : "\n".repeat(breaks)).append(line);
            }
            breaks = line.isEmpty() ? breaks + 1 : 0;
            position++;
        }
    }

    /** Whether this line continues an unquoted value, which is indented deeper than its key. */
    private boolean continues(int indent) {
        return !lines.get(position).isBlank()
                && indent() > indent
                && !lines.get(position).strip().startsWith("#");
    }

    /** Reads a value that begins in this line and continues in lines that are indented deeper. */
    private @Nullable Object scalar(TaggedText tagged, int indent) throws Unreadable {
        String text = tagged.text;
        char first = text.charAt(0);
        if (first == '{' || first == '[') {
            return jsonInLine(text);
        }
        int firstLine = position;
        boolean quoted = first == '"' || first == '\'';
        int hash = text.indexOf(" #");
        StringBuilder whole = new StringBuilder(
                quoted || hash < 0 ? text.strip() : text.substring(0, hash).strip());
        position++;
        joinLines(whole, quoted, indent);
        if (quoted && !isWhole(whole)) {
            throw new Unreadable(firstLine, "a quote without its end");
        }
        position--; // of what is told wrong
        Object value = tagged.tag.equals(TEXT) && !quoted ? whole.toString() : word(whole.toString());
        position++;
        return value;
    }

    /** Whether the text in quotes has its end. */
    private static boolean isWhole(CharSequence text) {
        char quote = text.charAt(0);
        for (int i = 1; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean escape =
                    quote == '"' ? c == '\\' : c == quote && i + 1 < text.length() && text.charAt(i + 1) == quote;
            if (escape) {
                i++;
            } else if (c == quote) {
                return true;
            }
        }
        return false;
    }

    private String unescaped(String text) throws Unreadable {
        StringBuilder out = new StringBuilder();
        for (int i = 1; i < text.length() - 1; i++) {
            char c = text.charAt(i);
            if (c == '"') {
                throw new Unreadable(position, "something behind the end of a quote");
            }
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char sign = text.charAt(++i);
            int digits;
            if (sign == 'x') {
                digits = 2;
            } else if (sign == 'u') {
                digits = 4;
            } else if (sign == 'U') {
                digits = 8;
            } else {
                digits = 0;
            }

            if (digits > 0) {
                try {
                    out.appendCodePoint(Integer.parseInt(text, i + 1, Math.min(text.length(), i + 1 + digits), 16));
                } catch (IllegalArgumentException e) {
                    throw new Unreadable(position, "no sign has the number that stands behind \\" + sign);
                }
                i += digits;
                continue;
            }
            int known = "0abtnvfre \"/\\N_LP".indexOf(sign);
            if (known < 0) {
                throw new Unreadable(position, "\\" + sign + " is no sign");
            }
            out.append("\0\u0007\b\t\n\u000b\f\r\u001b \"/\\\u0085\u00a0\u2028\u2029".charAt(known));
        }
        return out.toString();
    }

    private @Nullable Object word(String text) throws Unreadable {
        if (text.startsWith("\"")) {
            if (text.length() < 2 || !text.endsWith("\"") || !isWhole(text)) {
                throw new Unreadable(position, "a quote without its end");
            }
            return unescaped(text);
        }
        if (text.startsWith("'")) {
            if (text.length() < 2 || !text.endsWith("'")) {
                throw new Unreadable(position, "a quote without its end");
            }
            return text.substring(1, text.length() - 1).replace("''", "'");
        }
        if (!text.isEmpty() && "&*!%@`?|>".indexOf(text.charAt(0)) >= 0) {
            throw new Unreadable(position, "words that begin with " + text.charAt(0) + " are not read");
        }
        return switch (text) {
            case "", "~", "null" -> null;
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            default -> {
                if (text.matches("-?(0|[1-9][0-9]{0,17})")) {
                    yield (Object) Long.parseLong(text);
                }
                if (text.matches("-?[0-9]{1,18}\\.[0-9]{1,18}")) {
                    yield (Object) Double.parseDouble(text);
                }
                yield text;
            }
        };
    }
}
