package dev.muster.core.tres;

import dev.muster.model.format.IndexSet;

/**
 * Cores of a node that are left to the system where only their number is said: of each socket in turn the last one, or
 * the first.
 */
public final class SpecialCores {
    private SpecialCores() {}

    /**
     * @param kept those that the node's line keeps from jobs anyway: they are given back, or others come to them, in
     *     the order of taking
     */
    public static IndexSet of(IndexSet kept, int units, int sockets, int count, boolean fromFirst) {
        int groups = units % Math.max(1, sockets) == 0 ? Math.max(1, sockets) : 1;
        boolean more = kept.count() < count;
        IndexSet out = kept;
        for (int i = 0; i < units && out.count() != count; i++) {
            int fromEnd = i % groups * (units / groups) + i / groups;
            int unit = fromFirst ? fromEnd : units - 1 - fromEnd;
            out = more ? out.with(unit) : out.without(unit);
        }
        return out;
    }
}
