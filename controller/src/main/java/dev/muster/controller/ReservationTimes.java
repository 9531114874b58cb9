package dev.muster.controller;

import dev.muster.core.Reservation;
import dev.muster.core.State;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Which reservations have begun or ended since it was last asked. */
final class ReservationTimes {
    record Event(String name, boolean begins) {}

    private final TreeSet<String> active = new TreeSet<>();
    private boolean known;

    /** Those that are on already at the first call began before. One that is removed while it is on ends. */
    List<Event> follow(State state, long nowS) {
        List<Event> out = new ArrayList<>();
        TreeSet<String> now = new TreeSet<>();
        for (Reservation r : state.reservations().values()) {
            if (r.isActive(nowS)) {
                now.add(r.name());
            }
        }
        if (known) {
            active.stream().filter(n -> !now.contains(n)).forEach(n -> out.add(new Event(n, false)));
            now.stream().filter(n -> !active.contains(n)).forEach(n -> out.add(new Event(n, true)));
        }
        known = true;
        active.clear();
        active.addAll(now);
        return out;
    }
}
