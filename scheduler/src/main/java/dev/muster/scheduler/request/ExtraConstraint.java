package dev.muster.scheduler.request;

import dev.muster.core.state.Settings;
import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A job's constraint on nodes' Extra texts ({@code --extra}), where SchedulerParameters has extra_constraints:
 * {@code key=value} and the like, joined by {@code &} (or a comma) or by {@code |}, in parentheses where both are
 * there. A node's Extra is a JSON object of texts, numbers and truth values.
 */
public final class ExtraConstraint {
    /** Numbers nearer to each other than this are equal. */
    private static final double EQUAL = 0.00001;

    private static final Pattern NUMBER = Pattern.compile("[-+]?[0-9]*\\.?[0-9]+([eE][-+]?[0-9]{1,3})?");
    private static final String OPERATORS = ",&|<>=!()";

    private final String text;
    /** The node's Extra; empty while the text is only checked. */
    private final Map<?, ?> node;

    private int position;

    private ExtraConstraint(String text, Map<?, ?> node) {
        this.text = text;
        this.node = node;
    }

    /** Tests whether a constraint can be understood. An empty one asks for nothing. */
    public static boolean isValid(String text) {
        if (text.isEmpty()) {
            return true;
        }
        try {
            new ExtraConstraint(text, Map.of()).all();
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /**
     * Returns the constraint of a job's text; "" where the word is not set, or the text was a note of before it was.
     */
    static String of(String text, Settings settings) {
        return settings.options().requests().extraConstraints() && isValid(text) ? text : "";
    }

    /**
     * Tests whether a node with this Extra can be one of the job's. A text that is no JSON object satisfies no
     * constraint.
     *
     * @param text a valid one
     */
    public static boolean match(String text, String extra) {
        return text.isEmpty() || !extra.isEmpty() && new ExtraConstraint(text, object(extra)).all();
    }

    private static Map<?, ?> object(String extra) {
        try {
            return Json.parse(extra.getBytes(StandardCharsets.UTF_8)) instanceof Json.Obj o ? o.fields() : Map.of();
        } catch (RuntimeException e) {
            return Map.of();
        }
    }

    private boolean all() {
        boolean out = joined();
        if (position < text.length()) {
            throw new IllegalArgumentException(text);
        }
        return out;
    }

    /** Tests terms that are joined by one kind of operator. */
    private boolean joined() {
        boolean out = term();
        char by = 0;
        while (position < text.length() && text.charAt(position) != ')') {
            char next = text.charAt(position) == ',' ? '&' : text.charAt(position);
            if (next != '&' && next != '|' || by != 0 && by != next) {
                throw new IllegalArgumentException(text);
            }
            position++;
            by = next;
            boolean other = term();
            out = by == '&' ? out && other : out || other;
        }
        return out;
    }

    private boolean term() {
        if (position < text.length() && text.charAt(position) == '(') {
            position++;
            boolean out = joined();
            if (position == text.length()) {
                throw new IllegalArgumentException(text);
            }
            position++;
            return out;
        }
        String key = word();
        String operator = operator();
        return compare(key, operator, word());
    }

    private String word() {
        int from = position;
        while (position < text.length() && OPERATORS.indexOf(text.charAt(position)) < 0) {
            position++;
        }
        String out = text.substring(from, position).strip();
        if (out.isEmpty()) {
            throw new IllegalArgumentException(text);
        }
        return out;
    }

    private String operator() {
        for (String o : new String[] {"!=", ">=", "<=", "=", ">", "<"}) {
            if (text.startsWith(o, position)) {
                position += o.length();
                return o;
            }
        }
        throw new IllegalArgumentException(text);
    }

    private boolean compare(String key, String operator, String wanted) {
        if (!node.containsKey(key)) {
            return false;
        }
        int order = order(node.get(key), wanted);
        return switch (operator) {
            case "=" -> order == 0;
            case "!=" -> order != 0;
            case ">" -> order > 0;
            case ">=" -> order >= 0;
            case "<" -> order < 0;
            default -> order <= 0;
        };
    }

    /** Compares two numbers by size, other values by their letters. */
    private static int order(Object actual, String wanted) {
        String own = String.valueOf(actual);
        if (NUMBER.matcher(own).matches() && NUMBER.matcher(wanted).matches()) {
            double difference = Double.parseDouble(own) - Double.parseDouble(wanted);
            if (Math.abs(difference) < EQUAL) {
                return 0;
            }
            if (difference > 0) {
                return 1;
            }
            return -1;
        }
        return actual instanceof Boolean ? own.compareToIgnoreCase(wanted) : own.compareTo(wanted);
    }
}
