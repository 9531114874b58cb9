package dev.muster.scheduler;

import java.util.List;
import java.util.Set;

/** Constraint expressions: names joined by &amp; and | with parentheses, &amp; binding tighter, as {@code -C} takes them. */
final class Features {
    private final String text;
    private final Set<String> has;
    private int at;

    private Features(String text, Set<String> has) {
        this.text = text;
        this.has = has;
    }

    /** Whether a node with these features satisfies the expression. */
    static boolean match(String text, List<String> features) {
        return text.isEmpty() || new Features(text, new java.util.TreeSet<>(features)).any();
    }

    /** The sentence to refuse it with, or "" if it is one that can be honoured. */
    static String objection(String text) {
        if (text.indexOf('[') >= 0 || text.indexOf('*') >= 0) {
            return "Feature counts and alternatives in brackets are not supported by this version of Muster";
        }
        int depth = 0;
        boolean wantName = true;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '(' && wantName) {
                depth++;
            } else if (c == ')' && !wantName && depth > 0) {
                depth--;
            } else if ((c == '&' || c == '|' || c == ',') && !wantName) {
                wantName = true;
            } else if (!isOperator(c)) {
                wantName = false;
            } else {
                return "Invalid feature specification";
            }
        }
        return !text.isEmpty() && (wantName || depth != 0) ? "Invalid feature specification" : "";
    }

    /** The names in an expression. */
    static List<String> names(String text) {
        List<String> out = new java.util.ArrayList<>();
        for (String name : text.split("[&|,()]")) {
            if (!name.isEmpty()) {
                out.add(name);
            }
        }
        return out;
    }

    private static boolean isOperator(char c) {
        return c == '&' || c == '|' || c == ',' || c == '(' || c == ')';
    }

    private boolean any() {
        boolean result = all();
        while (at < text.length() && text.charAt(at) == '|') {
            at++;
            result |= all();
        }
        return result;
    }

    private boolean all() {
        boolean result = one();
        while (at < text.length() && (text.charAt(at) == '&' || text.charAt(at) == ',')) {
            at++;
            result &= one();
        }
        return result;
    }

    private boolean one() {
        if (at < text.length() && text.charAt(at) == '(') {
            at++;
            boolean result = any();
            at++;
            return result;
        }
        int start = at;
        while (at < text.length() && !isOperator(text.charAt(at))) {
            at++;
        }
        return has.contains(text.substring(start, at));
    }
}
