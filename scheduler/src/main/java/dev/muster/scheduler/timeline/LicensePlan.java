package dev.muster.scheduler.timeline;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Free licenses by time, on the time grid of the nodes. */
public final class LicensePlan {
    private final Map<String, int[]> free = new HashMap<>();
    private final TimeGrid times;
    /** Licenses of running jobs by the slot before which they are released; counted on the first look. */
    private final Map<String, int[]> held = new HashMap<>();

    public LicensePlan(Map<String, Integer> configured, TimeGrid times) {
        this.times = times;
        configured.forEach((name, count) -> {
            int[] slots = new int[times.count()];
            java.util.Arrays.fill(slots, count);
            free.put(name, slots);
        });
    }

    private static final int[] NO_SLOTS = {};

    private record ReservedLicenses(String reservation, Map<String, Integer> left, int fromSlot, int toSlot) {}

    private final List<ReservedLicenses> kept = new ArrayList<>();
    private final Map<String, Map<String, Integer>> usedIn = new HashMap<>();

    /**
     * Keeps licenses for jobs of a reservation in these slots, as far as its jobs do not have them already. Running
     * jobs come first.
     */
    private void keep(Reservation r, int fromSlot, int toSlot) {
        Map<String, Integer> left = new HashMap<>();
        r.licenses().forEach(i -> left.merge(i.name(), i.count(), Integer::sum));
        usedIn.getOrDefault(r.name(), Map.of())
                .forEach((name, count) -> left.computeIfPresent(name, (n, c) -> Math.max(0, c - count)));
        kept.add(new ReservedLicenses(r.name(), left, fromSlot, toSlot));
    }

    /**
     * Takes the licenses of all reservations in their times.
     *
     * @param nowS seconds since 1970
     */
    public void keep(State state, long nowS) {
        for (Reservation r : state.reservations().values()) {
            for (Reservation.Window w : r.licenses().isEmpty()
                    ? List.<Reservation.Window>of()
                    : r.windows(nowS, nowS, nowS + times.reachS())) {
                keep(r, times.slotAt(Math.max(0, w.from() - nowS)), Math.max(1, times.slotAt(w.to() - nowS)));
            }
        }
    }

    private int keptFor(String name, int slot, String own) {
        int sum = 0;
        for (ReservedLicenses k : kept) {
            sum += !k.reservation.equals(own) && slot >= k.fromSlot && slot < k.toSlot
                    ? k.left.getOrDefault(name, 0)
                    : 0;
        }
        return sum;
    }

    /**
     * Notes that a running job of that reservation, "" for none, has the licenses for {@code secondsLeft} seconds more.
     */
    public void running(String reservation, List<LicenseRequest.Item> items, long secondsLeft) {
        if (!reservation.isEmpty()) {
            items.forEach(i ->
                    usedIn.computeIfAbsent(reservation, r -> new HashMap<>()).merge(i.name(), i.count(), Integer::sum));
        }
        int end = Math.min(times.count(), Math.max(1, times.slotAt(secondsLeft)));
        for (LicenseRequest.Item item : items) {
            held.computeIfAbsent(item.name(), n -> new int[times.count() + 1])[end] += item.count();
        }
    }

    /** Returns the free number of a license in each slot; empty if there is no such license. */
    private int[] slots(String name) {
        int[] slots = free.getOrDefault(name, NO_SLOTS);
        int[] ends = held.isEmpty() ? null : held.remove(name);
        if (ends == null) {
            return slots;
        }
        int taken = 0;
        for (int slot = slots.length - 1; slot >= 0; slot--) {
            taken += ends[slot + 1];
            slots[slot] -= taken;
        }
        return slots;
    }

    /**
     * Returns the licenses that the job would be given in these slots: all it asks for, or the first alternative that
     * is there; empty if it must wait.
     */
    public Optional<List<LicenseRequest.Item>> choose(
            LicenseRequest.Wanted wanted, int fromSlot, int toSlot, String reservation) {
        if (!wanted.any()) {
            return wanted.items().stream().allMatch(i -> isFree(i, fromSlot, toSlot, reservation))
                    ? Optional.of(wanted.items())
                    : Optional.empty();
        }
        return wanted.items().stream()
                .filter(i -> isFree(i, fromSlot, toSlot, reservation))
                .findFirst()
                .map(List::of);
    }

    private boolean isFree(LicenseRequest.Item item, int fromSlot, int toSlot, String reservation) {
        return item.count() == 0 || left(item.name(), fromSlot, toSlot, reservation) >= item.count();
    }

    /** Returns how many licenses a job of that reservation, "" for none, can have in all these slots. */
    public int left(String name, int fromSlot, int toSlot, String reservation) {
        int[] slots = slots(name);
        if (slots.length == 0) {
            return 0;
        }
        int least = Integer.MAX_VALUE;
        for (int slot = fromSlot; slot < toSlot; slot++) {
            least = Math.min(least, slots[slot] - keptFor(name, slot, reservation));
        }
        return least;
    }

    public void take(List<LicenseRequest.Item> items, int fromSlot, int toSlot) {
        for (LicenseRequest.Item item : items) {
            int[] slots = slots(item.name());
            for (int slot = fromSlot; slot < Math.min(toSlot, slots.length); slot++) {
                slots[slot] -= item.count();
            }
        }
    }
}
