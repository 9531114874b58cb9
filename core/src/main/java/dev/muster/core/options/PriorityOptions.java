package dev.muster.core.options;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Options that decide how priorities of jobs are computed.
 *
 * @param type PriorityType; "" by default
 * @param multifactor whether that is priority/multifactor
 * @param flags PriorityFlags; none by default
 * @param weights PriorityWeight…
 * @param favorsSmall PriorityFavorSmall; no by default
 * @param maxAgeS PriorityMaxAge in seconds: the age factor is 1 from then on, -1 without limit; 604,800 by default
 * @param calcPeriodS PriorityCalcPeriod in seconds, at least 1; 300 by default
 */
public record PriorityOptions(
        String type,
        boolean multifactor,
        Set<Flag> flags,
        Weights weights,
        boolean favorsSmall,
        long maxAgeS,
        long calcPeriodS) {
    /** PriorityType. */
    public static final String TYPE = "priority_type";
    /** PriorityFlags, with commas. */
    public static final String FLAGS = "priority_flags";
    /** {@code true} or {@code false}. */
    public static final String FAVOR_SMALL = "priority_favor_small";
    /** Seconds; -1 without limit. */
    public static final String MAX_AGE_S = "priority_max_age";
    /** Seconds. */
    public static final String CALC_PERIOD_S = "priority_calc_period";
    /** Begins the name of a weight: age, assoc, fairshare, partition, qos, size, or tres for a list of weights. */
    public static final String WEIGHT = "priority_weight_";

    public static final String MULTIFACTOR = "priority/multifactor";

    /** A word of PriorityFlags. */
    public enum Flag {
        ACCRUE_ALWAYS,
        CALCULATE_RUNNING,
        DEPTH_OBLIVIOUS,
        NO_FAIR_TREE,
        INCR_ONLY,
        MAX_TRES,
        MAX_TRES_GRES,
        NO_NORMAL_ALL,
        NO_NORMAL_ASSOC,
        NO_NORMAL_PART,
        NO_NORMAL_QOS,
        NO_NORMAL_TRES,
        SMALL_RELATIVE_TO_TIME
    }

    /**
     * PriorityWeight…: what each factor counts; 0 by default.
     *
     * @param tres PriorityWeightTRES by name in lower case
     * @param tresText the same as written
     */
    public record Weights(
            long age,
            long assoc,
            long fairShare,
            long partition,
            long qos,
            long size,
            Map<String, Double> tres,
            String tresText) {
        /** Returns the weight of a resource; 0 if it has none. */
        public double tresWeight(String name) {
            Double weight = tres.get(name);
            return weight == null ? 0 : weight;
        }

        private static Weights of(OptionParser text) {
            String tres = text.text(WEIGHT + "tres");
            return new Weights(
                    text.number(WEIGHT + "age", 0),
                    text.number(WEIGHT + "assoc", 0),
                    text.number(WEIGHT + "fairshare", 0),
                    text.number(WEIGHT + "partition", 0),
                    text.number(WEIGHT + "qos", 0),
                    text.number(WEIGHT + "size", 0),
                    tres(tres),
                    tres);
        }

        private static Map<String, Double> tres(String text) {
            Map<String, Double> out = new TreeMap<>();
            for (String item : OptionParser.items(text, ",")) {
                int eq = item.indexOf('=');
                if (eq > 0) {
                    put(out, item.substring(0, eq).toLowerCase(Locale.ROOT), item.substring(eq + 1));
                }
            }
            return Collections.unmodifiableMap(out);
        }

        private static void put(Map<String, Double> out, String name, String weight) {
            try {
                out.put(name, Double.parseDouble(weight));
            } catch (NumberFormatException e) {
                // a weight that is not a number counts as 0
            }
        }

        /** Returns the weights of the single factors, by the name that ends their option. */
        public Map<String, Long> byName() {
            return new TreeMap<>(Map.of(
                    "age",
                    age,
                    "assoc",
                    assoc,
                    "fairshare",
                    fairShare,
                    "size",
                    size,
                    "partition",
                    partition,
                    "qos",
                    qos));
        }
    }

    static PriorityOptions of(OptionParser text) {
        String type = text.text(TYPE);
        return new PriorityOptions(
                type,
                type.equals(MULTIFACTOR),
                flags(text.list(FLAGS)),
                Weights.of(text),
                text.text(FAVOR_SMALL).equals("true"),
                text.number(MAX_AGE_S, 604_800),
                Math.max(1, text.number(CALC_PERIOD_S, 300)));
    }

    private static Set<Flag> flags(List<String> given) {
        Set<Flag> out = EnumSet.noneOf(Flag.class);
        for (Flag flag : Flag.values()) {
            if (given.stream().anyMatch(flag.name()::equalsIgnoreCase)) {
                out.add(flag);
            }
        }
        return Collections.unmodifiableSet(out);
    }

    public boolean has(Flag flag) {
        return flags.contains(flag);
    }
}
