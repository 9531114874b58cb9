package dev.muster.scheduler.node;

import dev.muster.model.format.Digits;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Constraint expressions as {@code -C} takes them: names joined by &amp; and | with parentheses, &amp; binding tighter;
 * {@code [a|b]} for nodes that all have the same of several; {@code a*2&b*1} for a number of nodes with each.
 */
public final class FeatureConstraint {
    private static final String INVALID = "Invalid feature specification";
    private final String text;
    private final Set<String> nodeFeatures;
    private int position;

    private FeatureConstraint(String text, Set<String> nodeFeatures) {
        this.text = text;
        this.nodeFeatures = nodeFeatures;
    }

    /**
     * A way to satisfy an expression.
     *
     * @param every what each node must have, "" for nothing
     * @param counts expressions, and how many nodes must have each
     */
    record Choice(String every, List<Count> counts) {}

    record Count(String expression, int nodes) {}

    /** Tests whether a node with these features can be one of those that satisfy the expression. */
    public static boolean match(String text, List<String> features) {
        if (text.isEmpty()) {
            return true;
        }
        if (isPlain(text)) {
            return plain(text, features);
        }
        return choices(text).stream().anyMatch(c -> plain(c.every, features));
    }

    private static boolean plain(String text, List<String> features) {
        return text.isEmpty() || new FeatureConstraint(text, new TreeSet<>(features)).any();
    }

    /** Tests whether each node is judged by itself. */
    public static boolean isPlain(String text) {
        return text.indexOf('[') < 0 && text.indexOf('*') < 0;
    }

    /** Returns the ways to satisfy an expression, in their order; empty if it is no expression. */
    static List<Choice> choices(String text) {
        int open = text.indexOf('[');
        int close = text.indexOf(']');
        if (open < 0) {
            return counted(text, "");
        }
        if (!isOneGroup(text, open, close)) {
            return List.of();
        }
        String before = open == 0 ? "" : text.substring(0, open - 1);
        String after = close == text.length() - 1 ? "" : text.substring(close + 2);
        String outside = before.isEmpty() || after.isEmpty() ? before + after : before + "&" + after;
        String inner = text.substring(open + 1, close);
        if (inner.indexOf('*') >= 0) {
            return counted(inner, outside);
        }
        List<Choice> out = new ArrayList<>();
        for (String one : split(inner, '|')) {
            boolean single = one.isEmpty() || outside.isEmpty();
            out.add(new Choice(single ? one + outside : "(" + one + ")&" + outside, List.of()));
        }
        return out;
    }

    /** Tests whether the text has one pair of brackets, with nothing but "&" before and behind it. */
    private static boolean isOneGroup(String text, int open, int close) {
        return close > open
                && text.indexOf('[', open + 1) < 0
                && text.indexOf(']', close + 1) < 0
                && (open == 0 || text.charAt(open - 1) == '&')
                && (close == text.length() - 1 || text.charAt(close + 1) == '&');
    }

    private static List<Choice> counted(String text, String outside) {
        List<Count> counts = new ArrayList<>();
        StringBuilder every = new StringBuilder(outside);
        for (String item : split(text, '&')) {
            int star = item.lastIndexOf('*');
            if (star < 0) {
                every.append(every.isEmpty() ? "" : "&").append(item);
            } else if (Digits.only(item.substring(star + 1), 6) && Integer.parseInt(item.substring(star + 1)) > 0) {
                counts.add(new Count(item.substring(0, star), Integer.parseInt(item.substring(star + 1))));
            } else {
                return List.of();
            }
        }
        return List.of(new Choice(every.toString(), List.copyOf(counts)));
    }

    private static List<String> split(String text, char by) {
        List<String> out = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i <= text.length(); i++) {
            char c = i < text.length() ? text.charAt(i) : by;
            if (c == '(') {
                depth++;
            } else if (c == ')') {
                depth--;
            }
            if (c == by && depth <= 0) {
                out.add(text.substring(from, i));
                from = i + 1;
            }
        }
        return out;
    }

    /**
     * Returns the candidates that a choice allows, those that it counts first; empty if it cannot be had.
     *
     * @param required number of candidates, from the first on, that the job must have
     * @param counted adds how many of the result must be taken
     */
    static List<Candidate> allowed(Choice choice, List<Candidate> candidates, int required, int[] counted) {
        List<Candidate> able = candidates.stream()
                .filter(c -> plain(choice.every, c.node().features))
                .toList();
        if (!able.containsAll(candidates.subList(0, required))) {
            return List.of();
        }
        List<Candidate> first = new ArrayList<>(able.subList(0, required));
        for (Count count : choice.counts) {
            int missing = count.nodes;
            for (Candidate c : able.subList(0, required)) {
                missing -= plain(count.expression, c.node().features) ? 1 : 0;
            }
            for (Candidate c : able) {
                if (missing > 0 && !first.contains(c) && plain(count.expression, c.node().features)) {
                    first.add(c);
                    missing--;
                }
            }
            if (missing > 0) {
                return List.of();
            }
        }
        counted[0] = first.size();
        able.stream().filter(c -> !first.contains(c)).forEach(first::add);
        return first;
    }

    /** Returns the sentence with which an expression is refused, or "" if it can be honoured. */
    static String objection(String text) {
        if (isPlain(text)) {
            return wrong(text);
        }
        List<Choice> choices = choices(text);
        boolean right = !choices.isEmpty()
                && countsAreSeparate(text)
                && choices.stream()
                        .allMatch(c -> wrong(c.every).isEmpty()
                                && (!c.every.isEmpty() || !c.counts.isEmpty())
                                && c.counts.stream()
                                        .allMatch(n -> !n.expression.isEmpty()
                                                && wrong(n.expression).isEmpty()));
        return right ? "" : INVALID;
    }

    /**
     * Tests whether counts stand where they may: only one name outside of brackets may have a count; within brackets
     * either all items have counts or none.
     */
    private static boolean countsAreSeparate(String text) {
        int open = text.indexOf('[');
        if (open < 0) {
            return text.indexOf('&') < 0 && text.indexOf('(') < 0;
        }
        String inner = text.substring(open + 1, Math.max(open + 1, text.indexOf(']')));
        return inner.indexOf('*') < 0 || split(inner, '&').stream().allMatch(item -> item.indexOf('*') >= 0);
    }

    private static String wrong(String text) {
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
            } else if (!isOperator(c) && c != '*' && c != '[' && c != ']') {
                wantName = false;
            } else {
                return INVALID;
            }
        }
        return !text.isEmpty() && (wantName || depth != 0) ? INVALID : "";
    }

    /** Returns the names in an expression. */
    static List<String> names(String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        List<String> out = new ArrayList<>();
        for (String name : text.replaceAll("\\*[0-9]+", "").split("[&|,()\\[\\]]")) {
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
        while (position < text.length() && text.charAt(position) == '|') {
            position++;
            result |= all();
        }
        return result;
    }

    private boolean all() {
        boolean result = one();
        while (position < text.length() && (text.charAt(position) == '&' || text.charAt(position) == ',')) {
            position++;
            result &= one();
        }
        return result;
    }

    private boolean one() {
        if (position < text.length() && text.charAt(position) == '(') {
            position++;
            boolean result = any();
            position++;
            return result;
        }
        int start = position;
        while (position < text.length() && !isOperator(text.charAt(position))) {
            position++;
        }
        return nodeFeatures.contains(text.substring(start, position));
    }
}
