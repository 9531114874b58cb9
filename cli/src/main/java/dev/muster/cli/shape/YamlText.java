package dev.muster.cli.shape;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Writes a document of YAML 1.1 as a stream: in blocks, each value with its type before it unless tags are off, in
 * ASCII, texts without quotes where possible, and folded at spaces behind column 80. Slurm's documents look the same.
 */
public final class YamlText {
    private static final int WIDTH = 80;
    private static final int STEP = 2;
    private static final String FIRST_SPECIAL = "#,[]{}&*!|>'\"%@`";
    /** Texts that would be something else if they stood without quotes and tag. */
    private static final Pattern OTHER = Pattern.compile(
            "|~|=|<<|null|true|false|yes|no|on|off|y|n|[-+.]?[0-9][-+0-9a-fx_.,:tz ]*|[-+]?\\.(inf|nan|[0-9]+.*)",
            Pattern.CASE_INSENSITIVE);

    /** An open block: its kind, the column where its lines begin, and whether it is still empty. */
    private static final class Level {
        final boolean list;
        final int indent;
        boolean any;

        Level(boolean list, int indent) {
            this.list = list;
            this.indent = indent;
        }
    }

    private final StringBuilder out;
    private final boolean tags;
    private final Deque<Level> open = new ArrayDeque<>();
    private String key = "";
    /** Whether the first line of a list's element stands behind its dash: it does where it has no tag. */
    private boolean behindDash;

    /** @param out takes the text; the caller may send on and remove its contents at any time */
    public YamlText(StringBuilder out, boolean tags) {
        this.out = out;
        this.tags = tags;
        out.append("%YAML 1.1\n---");
    }

    public void key(String name) {
        key = name;
    }

    public void open(boolean list) {
        Level outer = open.peek();
        head(outer);
        if (tags) {
            out.append(list ? " !!seq" : " !!map");
        }
        int indent;
        if (outer == null) {
            indent = 0;
        } else if (list && !outer.list) {
            indent = outer.indent;
        } else {
            indent = outer.indent + STEP;
        }

        open.push(new Level(list, indent));
    }

    public void close() {
        Level inner = open.pop();
        if (!inner.any) {
            out.append(inner.list ? " []\n" : " {}\n");
            behindDash = false;
        }
    }

    public void text(String value) {
        scalar("!!str", value);
    }

    public void truth(boolean value) {
        scalar("!!bool", Boolean.toString(value));
    }

    public void nothing() {
        scalar("!!null", "null");
    }

    /** @param value as JSON has it */
    public void number(String value) {
        if (value.chars().anyMatch(c -> c == '.' || c == 'e' || c == 'E')) {
            scalar("!!float", String.format(Locale.ROOT, "%f", Double.parseDouble(value)));
        } else {
            scalar("!!int", value);
        }
    }

    public void end() {
        out.append("...\n");
    }

    private void scalar(String tag, String value) {
        int line = head(open.peek());
        int indent = open.isEmpty() ? STEP : open.peek().indent + STEP;
        String before = tags ? " " + tag : "";
        String written = tag.equals("!!str") ? written(value, line + before.length() + 1, indent, tags) : value;
        out.append(before).append(written.isEmpty() ? "" : " ").append(written).append('\n');
        behindDash = false;
    }

    /**
     * The line up to the value.
     *
     * @return its length
     */
    private int head(Level at) {
        if (at == null) {
            return "---".length();
        }
        int indent = at.indent;
        if (!at.any && behindDash) {
            out.append(' ');
        } else {
            if (!at.any) {
                out.append('\n');
            }
            out.repeat(' ', indent);
        }
        at.any = true;
        behindDash = at.list && !tags;
        if (at.list) {
            out.append('-');
            return indent + 1;
        }
        String before = tags ? "!!str " : "";
        String name = written(key, indent + before.length(), indent, tags);
        out.append(before).append(name).append(':');
        return indent + before.length() + name.length() + 1;
    }

    // ---- texts

    /** The forms in which a text may be written. */
    private static final class TextScan {
        boolean plain = true;
        boolean single = true;

        TextScan(String text) {
            if (text.startsWith("---") || text.startsWith("...")) {
                plain = false;
            }
            boolean wasSpace = false;
            boolean wasBreak = false;
            boolean blankBefore = true;
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                boolean blankAfter = i + 1 == text.length() || isBlank(text.charAt(i + 1));
                boolean isSign = i == 0 ? isFirstSign(c, blankAfter) : isSign(c, blankBefore, blankAfter);
                boolean isPrintable = c >= ' ' && c <= '~';
                boolean isEdgeBlank = c == ' ' && (i == 0 || i == text.length() - 1);
                plain &= !isSign && isPrintable && !isEdgeBlank;
                single &= isPrintable && !(c == ' ' && wasBreak) || c == '\n' && !wasSpace;
                wasSpace = c == ' ';
                wasBreak = c == '\n';
                blankBefore = isBlank(c);
            }
        }

        private static boolean isFirstSign(char c, boolean blankAfter) {
            return FIRST_SPECIAL.indexOf(c) >= 0 || (c == '?' || c == '-' || c == ':') && blankAfter;
        }

        private static boolean isSign(char c, boolean blankBefore, boolean blankAfter) {
            return c == '#' && blankBefore || c == ':' && blankAfter;
        }

        private static boolean isBlank(char c) {
            return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0;
        }
    }

    /**
     * @param column where it begins
     * @param indent of the lines that go on with it
     */
    private static String written(String text, int column, int indent, boolean tags) {
        TextScan look = new TextScan(text);
        if (look.plain && (tags || !OTHER.matcher(text).matches())) {
            return folded(text, column, indent, "");
        }
        return look.single ? folded(text, column, indent, "'") : doubled(text, column, indent);
    }

    private static String folded(String text, int column, int indent, String quote) {
        StringBuilder out = new StringBuilder(quote);
        int index = column + quote.length();
        boolean wasSpace = false;
        boolean wasBreak = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == ' ') {
                if (!wasSpace && index > WIDTH && mayBreakAt(text, i, quote)) {
                    out.append('\n').repeat(' ', indent);
                    index = indent;
                } else {
                    out.append(c);
                    index++;
                }
            } else if (c == '\n') {
                out.append(wasBreak ? "\n" : "\n\n");
                index = 0;
            } else {
                if (wasBreak) {
                    out.repeat(' ', indent);
                    index = indent;
                }
                out.append(c);
                index++;
                if (c == '\'' && !quote.isEmpty()) {
                    out.append(c);
                    index++;
                }
            }
            wasSpace = c == ' ';
            wasBreak = c == '\n';
        }
        if (wasBreak) {
            out.repeat(' ', indent);
        }
        return out.append(quote).toString();
    }

    /** A break must not touch a quotation mark or a second blank. */
    private static boolean mayBreakAt(String text, int i, String quote) {
        boolean isInside = quote.isEmpty() || i > 0 && i < text.length() - 1;
        return isInside && i + 1 < text.length() && text.charAt(i + 1) != ' ';
    }

    private static String doubled(String text, int column, int indent) {
        StringBuilder out = new StringBuilder("\"");
        int from = -column; // of the builder, where its line begins
        boolean wasSpace = false;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            int next = i + Character.charCount(c);
            if (c == ' ') {
                if (!wasSpace && out.length() - from > WIDTH && i > 0 && next < text.length()) {
                    out.append('\n');
                    from = out.length();
                    out.repeat(' ', indent).append(text.charAt(next) == ' ' ? "\\" : "");
                } else {
                    out.append(' ');
                }
            } else if (c > ' ' && c <= '~' && c != '"' && c != '\\') {
                out.append((char) c);
            } else {
                out.append('\\').append(escape(c));
            }
            wasSpace = c == ' ';
            i = next;
        }
        return out.append('"').toString();
    }

    private static String escape(int c) {
        return switch (c) {
            case 0 -> "0";
            case 0x07 -> "a";
            case '\b' -> "b";
            case '\t' -> "t";
            case '\n' -> "n";
            case 0x0b -> "v";
            case '\f' -> "f";
            case '\r' -> "r";
            case 0x1b -> "e";
            case '"' -> "\"";
            case '\\' -> "\\";
            case 0x85 -> "N";
            case 0xa0 -> "_";
            case 0x2028 -> "L";
            case 0x2029 -> "P";
            default -> {
                if (c <= 0xff) {
                    yield String.format("x%02X", c);
                }
                if (c <= 0xffff) {
                    yield String.format("u%04X", c);
                }
                yield String.format("U%08X", c);
            }
        };
    }
}
