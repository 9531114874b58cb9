package dev.muster.scheduler.node;

import dev.muster.model.format.IndexSet;

/** Choices among a node's allocation units. */
final class UnitSets {
    private UnitSets() {}

    /** Adds units to a set until it has {@code count}, idle units first. A set that has as many stays as it is. */
    static IndexSet fillUp(IndexSet had, IndexSet from, IndexSet idle, int count) {
        return had.count() >= count ? had : had.union(idleFirst(from.minus(had), idle, count - had.count()));
    }

    /** Chooses idle units before shared ones. */
    static IndexSet idleFirst(IndexSet may, IndexSet idle, int count) {
        IndexSet first = firstOf(may.intersect(idle), count);
        return first.count() == count ? first : first.union(firstOf(may.minus(first), count - first.count()));
    }

    /** Returns the first {@code count} units; all, if there are fewer. */
    static IndexSet firstOf(IndexSet set, int count) {
        if (count >= set.count()) {
            return set;
        }
        int[] ids = new int[count];
        int id = set.first();
        for (int k = 0; k < count; k++) {
            ids[k] = id;
            id = set.next(id + 1);
        }
        return IndexSet.of(ids);
    }
}
