package dev.muster.core.limits;

import dev.muster.model.job.JobReason;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values of the limits of associations and QOS, which the database stores as text. */
final class LimitValues {
    /** The numbers that these have come first. */
    private static final List<String> NUMBERED =
            List.of("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages");

    private LimitValues() {}

    /** "" if there is none. */
    static String text(Map<String, String> limits, String name) {
        return limits.getOrDefault(name, "");
    }

    /** -1 if there is none. */
    static long number(Map<String, String> limits, String name) {
        String value = text(limits, name);
        return value.isEmpty() ? -1 : Long.parseLong(value);
    }

    /**
     * Returns the amounts of a TRES limit in the order in which they are tested: resources that every cluster has come
     * first, in the order of their numbers.
     */
    static Map<String, Long> tres(Map<String, String> limits, String name) {
        Map<String, Long> out = new LinkedHashMap<>();
        String[] items = text(limits, name).split(",");
        if (items.length > 1) {
            Arrays.sort(items, Comparator.comparingInt(LimitValues::rank));
        }
        for (String item : items) {
            int eq = item.indexOf('=');
            if (eq > 0) {
                out.put(item.substring(0, eq), count(item.substring(eq + 1)));
            }
        }
        return out;
    }

    private static int rank(String item) {
        int rank = NUMBERED.indexOf(item.substring(0, Math.max(0, item.indexOf('='))));
        return rank < 0 ? NUMBERED.size() : rank;
    }

    /** Counts may be larger than a long: those limit nothing. */
    private static long count(String digits) {
        return digits.length() > 18 ? Long.MAX_VALUE : Long.parseLong(digits);
    }

    /** Returns the limits of an association as a QOS stretches them: LimitFactor. */
    static Map<String, Long> stretched(Map<String, Long> limits, Map<String, String> ofQos) {
        String factor = text(ofQos, "LimitFactor");
        if (!factor.matches("[0-9]{1,9}(\\.[0-9]{1,9})?") || Double.parseDouble(factor) == 0) {
            return limits;
        }
        limits.replaceAll((name, most) -> (long) (most * Double.parseDouble(factor)));
        return limits;
    }

    /** Returns the resource minutes of a whole run; one without a limit has no bound. */
    static Map<String, Long> times(Map<String, Long> wanted, int limitMin, double factor) {
        Map<String, Long> out = new LinkedHashMap<>();
        wanted.forEach((name, count) -> out.put(
                name, limitMin < 0 && count > 0 ? Long.MAX_VALUE : (long) (count * Math.max(0, limitMin) * factor)));
        return out;
    }

    /** Returns the reason for a resource: Slurm has a word for each of the common ones. */
    static JobReason named(
            String prefix, String tres, String cpu, String memory, String node, String billing, String gres) {
        return JobReason.ofWord(prefix
                + switch (tres) {
                    case "cpu" -> cpu;
                    case "mem" -> memory;
                    case "node" -> node;
                    case "billing" -> billing;
                    default -> {
                        if (tres.startsWith("license/")) {
                            yield gres.replace("GRES", "License");
                        }
                        if (tres.startsWith("bb/")) {
                            yield gres.replace("GRES", "BB");
                        }
                        yield gres;
                    }
                });
    }
}
