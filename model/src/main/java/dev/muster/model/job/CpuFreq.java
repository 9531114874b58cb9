package dev.muster.model.job;

import java.util.List;
import java.util.Optional;

/**
 * {@code --cpu-freq}: {@code p1[-p2[:governor]]} or a governor.
 *
 * @param min {@code Low}, {@code Medium}, {@code Highm1}, {@code High} or kHz; "" where only one value was said
 * @param max that one value, or the upper end; "" where only a governor was said
 * @param governor {@code Performance}, …; "" for what there is
 */
public record CpuFreq(String min, String max, String governor) {
    private static final List<String> LEVELS = List.of("Low", "Medium", "Highm1", "High");
    private static final List<String> GOVERNORS =
            List.of("Conservative", "OnDemand", "Performance", "PowerSave", "SchedUtil", "UserSpace");

    private static final String ONE_VALUE_GOVERNOR = "UserSpace";

    /** Reads an argument of {@code --cpu-freq}, or what {@link #stored} makes; empty for a mistake. */
    public static Optional<CpuFreq> parse(String text) {
        String[] parts = text.split(":", -1);
        String[] ends = parts[0].split("-", -1);
        boolean stored = text.length() > 2
                && parts.length <= 2
                && ends.length == 2
                && isEmptyOr(ends[0], value(ends[0]))
                && isEmptyOr(ends[1], value(ends[1]))
                && isEmptyOr(parts[parts.length - 1], parts.length < 2 ? Optional.of("") : word(GOVERNORS, parts[1]));
        boolean isRange = stored && !ends[0].isEmpty() && !ends[1].isEmpty();
        boolean isAscending = !isRange || rank(ends[0]) < rank(ends[1]);
        return stored && isAscending || mistake(text).isEmpty() ? Optional.of(read(text)) : Optional.empty();
    }

    private static boolean isEmptyOr(String text, Optional<String> known) {
        return text.isEmpty() || known.isPresent();
    }

    private static CpuFreq read(String text) {
        Optional<String> governor = word(GOVERNORS, text);
        if (governor.isPresent()) {
            return new CpuFreq("", "", governor.get());
        }
        String[] parts = text.split(":", 2);
        int dash = parts[0].indexOf('-');
        String standard = dash < 0 ? ONE_VALUE_GOVERNOR : "";
        return new CpuFreq(
                dash < 0 ? "" : value(parts[0].substring(0, dash)).orElse(""),
                value(parts[0].substring(dash + 1)).orElse(""),
                parts.length > 1 ? word(GOVERNORS, parts[1]).orElse("") : standard);
    }

    /**
     * Returns the request of three numbers as {@link #number} makes them; a part is empty if its number stands for no
     * value.
     */
    public static CpuFreq of(long min, long max, long governor) {
        return new CpuFreq(
                end(min),
                end(max),
                GOVERNORS.stream()
                        .filter(word -> number(word) == governor)
                        .findFirst()
                        .orElse(""));
    }

    private static String end(long number) {
        return LEVELS.stream()
                .filter(word -> number(word) == number)
                .findFirst()
                .orElse(number > 0 && number < NO_NUMBER ? Long.toString(number) : "");
    }

    /**
     * Returns {@code min-max:governor} with empty parts, or "" if all are empty: unlike {@link #text} it has any
     * combination of parts.
     */
    public String stored() {
        return min.isEmpty() && max.isEmpty() && governor.isEmpty() ? "" : min + "-" + max + ":" + governor;
    }

    private static final String NO_GOVERNOR =
            "You must explicitly choose a governor when defining a range. Please specify only one value for the "
                    + "desired frequency (p1) or choose a specific governor (p3).";

    /** The mistake in the text, in the commands' words; "" if there is none. */
    public static String mistake(String text) {
        if (word(GOVERNORS, text).isPresent()) {
            return "";
        }
        String[] parts = text.split(":", 2);
        String[] ends = parts[0].split("-", 2);
        if (parts.length == 1 && ends.length > 1) {
            return NO_GOVERNOR;
        }
        for (String end : ends) {
            if (value(end).isEmpty()) {
                return "unrecognized --cpu-freq argument \"" + end + "\"";
            }
        }
        if (parts.length > 1 && ends.length < 2) {
            return "gov on cpu-frec (" + parts[1] + ") illegal without max";
        }
        if (parts.length > 1 && word(GOVERNORS, parts[1]).isEmpty()) {
            return "illegal governor: " + parts[1] + " on --cpu-freq";
        }
        return ends.length > 1 && rank(ends[0]) >= rank(ends[1])
                ? "min cpu-frec (" + ends[0] + ") must be < max cpu-freq (" + ends[1] + ")"
                : "";
    }

    /** Levels lie above all numbers, as these are compared. */
    private static long rank(String value) {
        int level = LEVELS.indexOf(value(value).orElse(""));
        return level >= 0 ? Long.MAX_VALUE - LEVELS.size() + level : Long.parseLong(value);
    }

    /**
     * How Slurm's interfaces count what is no number of kHz: a high bit, and the level or one bit for each governor.
     */
    private static final long NO_NUMBER = 0x8000_0000L;

    private static final java.util.Map<String, Long> NUMBERS = java.util.Map.of(
            "Low",
            NO_NUMBER + 1,
            "Medium",
            NO_NUMBER + 2,
            "High",
            NO_NUMBER + 3,
            "Highm1",
            NO_NUMBER + 4,
            "Conservative",
            NO_NUMBER + (1 << 27),
            "OnDemand",
            NO_NUMBER + (1 << 26),
            "Performance",
            NO_NUMBER + (1 << 25),
            "PowerSave",
            NO_NUMBER + (1 << 24),
            "UserSpace",
            NO_NUMBER + (1 << 23),
            "SchedUtil",
            NO_NUMBER + (1 << 22));

    /**
     * {@link #min}, {@link #max} or {@link #governor} as the REST interface has it: kHz, or a number that stands for
     * the word.
     */
    public static long number(String word) {
        return NUMBERS.containsKey(word) ? NUMBERS.get(word) : Long.parseLong(word);
    }

    private static Optional<String> value(String text) {
        return text.matches("[0-9]{1,9}") ? Optional.of(text) : word(LEVELS, text);
    }

    private static Optional<String> word(List<String> words, String text) {
        return words.stream().filter(w -> w.equalsIgnoreCase(text)).findFirst();
    }

    /** Returns whether the request is one value, which brings its governor with it. */
    public boolean isGovernorImplied() {
        return min.isEmpty() && !max.isEmpty() && governor.equals(ONE_VALUE_GOVERNOR);
    }

    /** Returns the text of SLURM_CPU_FREQ_REQ: {@code Low-High:Performance}. */
    public String text() {
        String range = min.isEmpty() ? max : min + "-" + max;
        if (range.isEmpty()) {
            return governor;
        }
        if (governor.isEmpty() || isGovernorImplied()) {
            return range;
        }
        return range + ":" + governor;
    }
}
