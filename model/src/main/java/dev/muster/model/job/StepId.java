package dev.muster.model.job;

import java.util.Comparator;
import java.util.OptionalInt;

/**
 * The number that names a step within its job everywhere: in the state, in records, rows and messages. Steps that
 * people number have theirs, batch script and others a negative one.
 *
 * <p>A heterogeneous step within one job (srun with colons) is as many steps as it has components: each has its own
 * program, nodes, limits, output, exit status and row in accounting, and ends when its own tasks do. They have the
 * number in common, by which they are created, signalled and cancelled together. So the component stands in the upper
 * bits of the number: state, messages and counters per step need no second key for it, and records and messages are
 * unchanged. Only code that shows a step to users, or that looks for the components of a step, takes the two apart
 * here.
 */
public final class StepId {
    /** One more than the highest component of srun's --het-group, which counts from 0 to 127. */
    public static final int COMPONENTS_MAX = 128;

    private static final int BITS = 23;
    public static final int NUMBER_MAX = (1 << BITS) - 1;

    public static final int BATCH = -5;
    public static final int EXTERN = -4;
    public static final int INTERACTIVE = -6;

    /** Compares as steps are listed: by number, then by component. */
    public static final Comparator<Integer> ORDER =
            Comparator.<Integer>comparingInt(StepId::number).thenComparingInt(StepId::component);

    private StepId() {}

    /** Whether a user asked for the step: steps with numbers, and the shell that salloc has on the first node. */
    public static boolean isAsked(int id) {
        return id >= 0 || id == INTERACTIVE;
    }

    /** Returns the text of SLURM_STEP_ID. */
    public static String variable(int id) {
        return Integer.toUnsignedString(number(id));
    }

    /** The id of a component of a heterogeneous step. */
    public static int of(int number, int component) {
        return number | component + 1 << BITS;
    }

    /** The number that all components of the step have in common; of any other step its own. */
    public static int number(int id) {
        return id < 0 ? id : id & NUMBER_MAX;
    }

    /** Returns the step's component, counted from 0; -1 without components. */
    public static int component(int id) {
        return id < 0 ? -1 : (id >> BITS) - 1;
    }

    public static boolean isComponent(int id) {
        return component(id) >= 0;
    }

    /** Whether the name of a step means this one: the number alone means all components. */
    public static boolean means(int named, int id) {
        return named == id || named >= 0 && id >= 0 && named == number(id);
    }

    /** Returns the name as users type it: {@code 0}, {@code 3+1}, {@code batch}, {@code extern}. */
    public static String name(int id) {
        return switch (id) {
            case BATCH -> "batch";
            case EXTERN -> "extern";
            case INTERACTIVE -> "interactive";
            default -> isComponent(id) ? number(id) + "+" + component(id) : Integer.toString(id);
        };
    }

    /** The reverse of {@link #name}; empty for what is no step. */
    public static OptionalInt parse(String name) {
        switch (name) {
            case "batch":
                return OptionalInt.of(BATCH);
            case "extern":
                return OptionalInt.of(EXTERN);
            case "interactive":
                return OptionalInt.of(INTERACTIVE);
            default:
        }
        int plus = name.indexOf('+');
        int number = digits(plus < 0 ? name : name.substring(0, plus));
        int component = plus < 0 ? 0 : digits(name.substring(plus + 1));
        boolean good = number >= 0 && number <= NUMBER_MAX && component >= 0 && component < COMPONENTS_MAX;
        if (good) {
            return OptionalInt.of(plus < 0 ? number : of(number, component));
        }
        return OptionalInt.empty();
    }

    private static int digits(String text) {
        return text.isEmpty() || text.length() > 9 || !text.chars().allMatch(c -> c >= '0' && c <= '9')
                ? -1
                : Integer.parseInt(text);
    }
}
