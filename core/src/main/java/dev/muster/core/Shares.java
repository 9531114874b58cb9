package dev.muster.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What associations and QOS have had, faded by half in each PriorityDecayHalfLife. It counts up to a moment; what runs is charged at the next.
 *
 * @param time    seconds since 1970 up to which everything is charged; 0 before the first time
 * @param tickMs  cluster time of that moment, by which usage fades
 * @param resetAt when all of it is forgotten next (PriorityUsageResetPeriod), seconds since 1970; 0 never
 * @param usage   thousandths of billed resource seconds by association
 * @param qos     the same by QOS
 */
public record Shares(long time, long tickMs, long resetAt, Table<Integer, Long> usage, Table<Integer, Long> qos) {
    public static final Shares NONE = new Shares(0, 0, 0, Table.empty(), Table.empty());

    /** @param id of an association or QOS */
    public record Had(int id, long thousandths) {}

    static Shares of(Change.UsageCharged c) {
        return new Shares(c.time(), c.tickMs(), c.resetAt(), table(c.usage()), table(c.qos()));
    }

    private static Table<Integer, Long> table(List<Had> had) {
        Table<Integer, Long> out = Table.empty();
        for (Had h : had) {
            out = out.with(h.id, h.thousandths);
        }
        return out;
    }

    static List<Had> list(Table<Integer, Long> table) {
        List<Had> out = new ArrayList<>();
        table.entries().forEach(e -> out.add(new Had(e.getKey(), e.getValue())));
        return List.copyOf(out);
    }

    /** The record that rebuilds this. */
    Optional<Change> snapshot() {
        return time == 0 ? Optional.empty() : Optional.of(new Change.UsageCharged(time, tickMs, resetAt, list(usage), list(qos)));
    }
}
