package dev.muster.accounting.report;

import java.util.Map;

/**
 * A time in which a cluster had resources, or a node had not.
 *
 * @param node "" for the cluster itself
 * @param end 0 while it lasts
 * @param state of the node, as events have it
 */
public record NodeTime(String cluster, String node, long start, long end, String state, Map<String, Long> tres) {
    /** The state of what a reservation kept and did not use: as good as allocated. */
    public static final String RESERVED = "RESERVED";

    long overlap(long from, long to, long now) {
        return Math.max(0, Math.min(to, end == 0 ? now : Math.min(end, now)) - Math.max(from, start));
    }

    /** Whether the node was powered off or not there yet: planned down time. */
    boolean planned() {
        return state.contains("POWERED_DOWN") || state.contains("FUTURE") || state.contains("MAINT");
    }
}
