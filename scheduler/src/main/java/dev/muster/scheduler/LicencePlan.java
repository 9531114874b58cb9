package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.core.Licences;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How many of each licence are free when, on the same grid of times as the nodes. */
final class LicencePlan {
    private final Map<String, int[]> free = new HashMap<>();

    LicencePlan(Map<String, Integer> configured) {
        configured.forEach((name, count) -> {
            int[] slots = new int[Grid.STARTS.length];
            java.util.Arrays.fill(slots, count);
            free.put(name, slots);
        });
    }

    /** A running job has them for so many seconds more. */
    void running(Job job, long secondsLeft) {
        take(Licences.held(job), 0, Math.max(1, Grid.slotAt(secondsLeft)));
    }

    /** What the job would be given in these slots: all it asks for, or the first alternative that is there; empty if it must wait. */
    Optional<List<Licences.Item>> choose(Licences.Wanted wanted, int fromSlot, int toSlot) {
        if (!wanted.any()) {
            return wanted.items().stream().allMatch(i -> isFree(i, fromSlot, toSlot)) ? Optional.of(wanted.items()) : Optional.empty();
        }
        return wanted.items().stream().filter(i -> isFree(i, fromSlot, toSlot)).findFirst().map(List::of);
    }

    private boolean isFree(Licences.Item item, int fromSlot, int toSlot) {
        int[] slots = free.get(item.name());
        if (slots == null) {
            return item.count() == 0;
        }
        for (int slot = fromSlot; slot < toSlot; slot++) {
            if (slots[slot] < item.count()) {
                return false;
            }
        }
        return true;
    }

    void take(List<Licences.Item> items, int fromSlot, int toSlot) {
        for (Licences.Item item : items) {
            int[] slots = free.get(item.name());
            for (int slot = fromSlot; slots != null && slot < Math.min(toSlot, slots.length); slot++) {
                slots[slot] -= item.count();
            }
        }
    }
}
