package dev.muster.cli.command;

import java.util.ArrayList;
import java.util.List;

/** Splits and compares texts without regular expressions, which would cost time at the start of every command. */
public final class Texts {
    private Texts() {}

    /** Parts between separators; empty parts are left out. */
    public static List<String> split(String text, char separator) {
        List<String> out = new ArrayList<>();
        int index = 0;
        while (index <= text.length()) {
            int next = text.indexOf(separator, index);
            int end = next < 0 ? text.length() : next;
            if (end > index) {
                out.add(text.substring(index, end));
            }
            index = end + 1;
        }
        return out;
    }

    /** Words between blanks and newlines. */
    public static List<String> words(String text) {
        List<String> out = new ArrayList<>();
        int from = -1;
        for (int i = 0; i <= text.length(); i++) {
            boolean blank = i == text.length() || text.charAt(i) <= ' ';
            if (blank && from >= 0) {
                out.add(text.substring(from, i));
                from = -1;
            } else if (!blank && from < 0) {
                from = i;
            }
        }
        return out;
    }

    /** Parts between separators that are outside quotes; the quotes belong to the parts. */
    public static List<String> splitQuoted(String text, char separator) {
        List<String> out = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote == 0 && c == separator) {
                out.add(part.toString());
                part.setLength(0);
                continue;
            }
            if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == quote) {
                quote = 0;
            }
            part.append(c);
        }
        out.add(part.toString());
        return out;
    }

    /** Returns whether a quote of the text is never closed. */
    public static boolean isQuoteOpen(String text) {
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == quote) {
                quote = 0;
            }
        }
        return quote != 0;
    }

    /** Upper case of ASCII letters, whatever the locale. */
    public static String upper(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            out.append(c >= 'a' && c <= 'z' ? (char) (c - 32) : c);
        }
        return out.toString();
    }

    public static String lower(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            out.append(c >= 'A' && c <= 'Z' ? (char) (c + 32) : c);
        }
        return out.toString();
    }

    /** Digits and nothing else. */
    public static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /** {@code /a/b} → {@code b}. */
    public static String baseName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    public static String absolute(String path, String workDir) {
        if (path.startsWith("/")) {
            return path;
        }
        if (workDir.endsWith("/")) {
            return workDir + path;
        }
        return workDir + "/" + path;
    }

    /** A word for the shell's eyes: quoted when it holds anything unusual. */
    static String quoted(String word) {
        boolean plain = !word.isEmpty();
        for (int i = 0; i < word.length() && plain; i++) {
            char c = word.charAt(i);
            plain = c > ' ' && "\"'\\$`;|&<>()*?[]{}!#~".indexOf(c) < 0;
        }
        return plain ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
