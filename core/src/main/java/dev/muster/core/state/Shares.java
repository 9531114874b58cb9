package dev.muster.core.state;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Usage of associations and QOS, faded by half in each PriorityDecayHalfLife. It counts up to a moment; what runs is
 * charged at the next.
 *
 * @param time seconds since 1970 up to which everything is charged; 0 before the first time
 * @param tickMs cluster time of that moment, by which usage fades
 * @param resetAt when all of it is forgotten next (PriorityUsageResetPeriod), seconds since 1970; 0 never
 * @param usage thousandths of billed resource seconds by association
 * @param qos the same by QOS
 * @param each by association: thousandths of seconds of each resource, and of elapsed time as {@link #WALL}
 * @param qosEach the same by QOS
 */
public record Shares(
        long time,
        long tickMs,
        long resetAt,
        Table<Integer, Long> usage,
        Table<Integer, Long> qos,
        Table<Integer, Map<String, Long>> each,
        Table<Integer, Map<String, Long>> qosEach) {
    /** Name that stands for the time that jobs ran, in place of a resource. */
    public static final String WALL = "wall";

    public static final Shares NONE = new Shares(0, 0, 0, Table.empty(), Table.empty(), Table.empty(), Table.empty());

    /**
     * @param id of an association or QOS
     * @param each as in {@link Shares}
     */
    public record UsageRecord(int id, long thousandths, Map<String, Long> each) {
        /** Puts the amounts into the order of their names: what is written must not depend on a run of the machine. */
        public UsageRecord {
            each = java.util.Collections.unmodifiableMap(new java.util.TreeMap<>(each == null ? Map.of() : each));
        }

        public UsageRecord(int id, long thousandths) {
            this(id, thousandths, Map.of());
        }
    }

    static Shares of(Change.UsageCharged c) {
        return new Shares(
                c.time(), c.tickMs(), c.resetAt(), table(c.usage()), table(c.qos()), each(c.usage()), each(c.qos()));
    }

    private static Table<Integer, Long> table(List<UsageRecord> had) {
        Table<Integer, Long> out = Table.empty();
        for (UsageRecord h : had) {
            out = out.with(h.id, h.thousandths);
        }
        return out;
    }

    private static Table<Integer, Map<String, Long>> each(List<UsageRecord> had) {
        Table<Integer, Map<String, Long>> out = Table.empty();
        for (UsageRecord h : had) {
            out = h.each.isEmpty() ? out : out.with(h.id, h.each);
        }
        return out;
    }

    static List<UsageRecord> list(Table<Integer, Long> table, Table<Integer, Map<String, Long>> each) {
        List<UsageRecord> out = new ArrayList<>();
        table.entries()
                .forEach(e -> out.add(new UsageRecord(
                        e.getKey(), e.getValue(), each.find(e.getKey()).orElse(Map.of()))));
        return List.copyOf(out);
    }

    /** Returns the record that rebuilds this usage. */
    Optional<Change> snapshot() {
        return time == 0
                ? Optional.empty()
                : Optional.of(new Change.UsageCharged(time, tickMs, resetAt, list(usage, each), list(qos, qosEach)));
    }
}
