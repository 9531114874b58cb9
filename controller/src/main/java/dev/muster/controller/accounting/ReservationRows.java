package dev.muster.controller.accounting;

import dev.muster.core.reservation.ReservedDevices;
import dev.muster.core.state.Node;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.model.accounting.AccountingRows.ReservationRow;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rows of reservations for accounting. A floating reservation never begins and has no row. */
final class ReservationRows {
    private ReservationRows() {}

    /** A new time of it is a row of its own; a time that was given up before it came leaves none. */
    static List<ReservationRow> changed(State before, State state, Reservation r, long now) {
        List<ReservationRow> out = new ArrayList<>();
        Optional<Reservation> was =
                before.reservations().find(r.name()).filter(o -> !o.has(ReservationFlag.TIME_FLOAT));
        if (was.isPresent() && (was.get().start() != r.start() || r.has(ReservationFlag.TIME_FLOAT))) {
            out.add(over(
                    before, was.get(), Math.min(now, was.get().end()), was.get().start() >= now));
        }
        if (!r.has(ReservationFlag.TIME_FLOAT)) {
            out.add(over(state, r, r.end(), false));
        }
        return out;
    }

    static List<ReservationRow> removed(State before, String name, long now) {
        return before.reservations()
                .find(name)
                .filter(r -> !r.has(ReservationFlag.TIME_FLOAT))
                .map(r -> List.of(over(before, r, Math.min(now, r.end()), r.start() >= now)))
                .orElse(List.of());
    }

    private static ReservationRow over(State state, Reservation r, long end, boolean removed) {
        int cpus = 0;
        for (String name : r.nodes()) {
            Optional<Node> node = state.nodes().find(name);
            if (node.isPresent()) {
                cpus += r.unitsOf(node.get().spec()).count() * node.get().spec().cpusPerUnit();
            }
        }
        List<String> flags = new ArrayList<>();
        for (ReservationFlag f : ReservationFlag.shown()) {
            if (r.has(f)) {
                flags.add(f.word());
            }
        }
        return new ReservationRow(
                r.name(),
                r.start(),
                end,
                HostList.of(r.nodes()).compressed(),
                String.join(",", flags),
                r.who().accounts().text(),
                r.who().users().text(),
                "cpu=" + cpus + (ReservedDevices.requested(r).isEmpty() ? "" : "," + ReservedDevices.requested(r)),
                removed);
    }
}
