package dev.muster.controller.site;

import dev.muster.core.command.Command;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.model.cluster.ReservationFlag;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The begins and ends of reservations in a journal entry, for ResvProlog and ResvEpilog. They come from durable
 * entries, not from a clock: each program runs once, also when slurmctld restarts at that moment or is down when the
 * time comes.
 */
final class ReservationTimes {
    private static final String DELETION = Command.DeleteReservation.class.getSimpleName();

    private ReservationTimes() {}

    /** A begin or an end of the named reservation. */
    record Event(String name, boolean begins) {}

    /**
     * Returns the begins and ends in an entry, in order. A reservation that an administrator deletes has no end, as in
     * Slurm.
     */
    static List<Event> of(Entry entry, State before, State after) {
        List<Event> out = new ArrayList<>();
        for (Change change : entry.changes()) {
            switch (change) {
                case Change.ReservationChanged c ->
                    add(
                            c.reservation().name(),
                            entry,
                            known(before, c.reservation().name()),
                            known(after, c.reservation().name()),
                            out);
                case Change.ReservationRemoved c
                when !entry.cause().equals(DELETION) ->
                    add(c.name(), entry, known(before, c.name()), Optional.empty(), out);
                default -> {}
            }
        }
        return out;
    }

    private static Optional<Reservation> known(State state, String name) {
        return state.reservations().find(name);
    }

    private static void add(
            String name, Entry entry, Optional<Reservation> before, Optional<Reservation> after, List<Event> out) {
        boolean was = before.filter(ReservationTimes::hasBegun).isPresent();
        boolean is = after.filter(ReservationTimes::hasBegun).isPresent();
        // its time was over before its begin was seen: slurmctld was down all the while
        boolean passed =
                before.filter(r -> !was && r.end() <= entry.timeMs() / 1000).isPresent()
                        && after.map(r -> r.start() != before.get().start()).orElse(true);
        if (!was && is || passed) {
            out.add(new Event(name, true));
        }
        if (was && !is || passed) {
            out.add(new Event(name, false));
        }
    }

    /** Tests whether the reservation has begun; a floating one begins when it is made. */
    private static boolean hasBegun(Reservation r) {
        return r.begun() || r.has(ReservationFlag.TIME_FLOAT);
    }
}
