package dev.muster.controller.edge;

import dev.muster.config.key.Key;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.view.HostFunctions;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.controller.view.TresText;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.reservation.ReservedDevices;
import dev.muster.core.state.Node;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.daemon.Identities;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.ClusterMessages.Done;
import dev.muster.model.api.ClusterMessages.ReservationInfo;
import dev.muster.model.api.ClusterMessages.ReservedCores;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The edge of reservations: users and groups are resolved here, and days are this host's. */
final class ReservationHandler {
    private final CoreThread core;
    private final ControllerServices services;
    private final Identities identities;

    ReservationHandler(ControllerServices services, CoreThread core, Identities identities) {
        this.services = services;
        this.core = core;
        this.identities = identities;
    }

    void register(MessageHandlers messages) {
        messages.onKnown("CreateReservation", ClusterMessages.CreateReservation.class, this::create)
                .onKnown("UpdateReservation", ClusterMessages.UpdateReservation.class, this::update)
                .onKnown("DeleteReservation", ClusterMessages.DeleteReservation.class, this::delete)
                .on("QueryReservations", ClusterMessages.QueryReservations.class, this::query);
    }

    Reply create(Caller caller, ClusterMessages.CreateReservation m) {
        Map<String, Integer> gids = new TreeMap<>();
        Optional<SlurmErrno> unknown = resolve(m.values(), gids);
        if (unknown.isPresent()) {
            return Reply.error(unknown.get());
        }
        Map<String, String> values = HostFunctions.expanded(m.values(), core.durable());
        values.put("zone", ZoneId.systemDefault().getId());
        return switch (core.execute(
                new Command.CreateReservation(caller.uid(), m.name(), values, gids), caller.uid())) {
            case Decision.Accepted a -> Reply.of(new ClusterMessages.CreateReservationReply((String) a.reply()));
            case Decision.Rejected r -> Reply.error(400, r.errno(), r.sentence());
        };
    }

    Reply update(Caller caller, ClusterMessages.UpdateReservation m) {
        Map<String, Integer> gids = new TreeMap<>();
        Optional<SlurmErrno> unknown = resolve(m.values(), gids);
        if (unknown.isPresent()) {
            return Reply.error(unknown.get());
        }
        Optional<Identity> identity = identities.byUid(caller.uid());
        return done(core.execute(
                new Command.UpdateReservation(
                        caller.uid(),
                        identity.map(Identity::user).orElse(""),
                        identity.map(Identity::gids).orElse(List.of()),
                        m.name(),
                        HostFunctions.expanded(m.values(), core.durable()),
                        gids),
                caller.uid()));
    }

    Reply delete(Caller caller, ClusterMessages.DeleteReservation m) {
        Optional<Identity> identity = identities.byUid(caller.uid());
        return done(core.execute(
                new Command.DeleteReservation(
                        caller.uid(),
                        identity.map(Identity::user).orElse(""),
                        identity.map(Identity::gids).orElse(List.of()),
                        m.name()),
                caller.uid()));
    }

    private static Reply done(Decision decision) {
        return switch (decision) {
            case Decision.Accepted a -> Reply.of(Done.OK);
            case Decision.Rejected r -> Reply.error(400, r.errno(), r.sentence());
        };
    }

    /** Users and groups must exist on this host; what they are taken away from need not. */
    private Optional<SlurmErrno> resolve(Map<String, String> values, Map<String, Integer> gids) {
        for (String key : List.of("users", "users+", "users-")) {
            for (String name : names(values.getOrDefault(key, ""))) {
                if (identities.byName(name).isEmpty()) {
                    return Optional.of(SlurmErrno.USER_ID_MISSING);
                }
            }
        }
        for (String key : List.of("groups", "groups+", "groups-")) {
            for (String name : names(values.getOrDefault(key, ""))) {
                var group = identities.group(name);
                if (group.isEmpty()) {
                    return Optional.of(SlurmErrno.GROUP_ID_MISSING);
                }
                gids.put(name, group.get().gid());
            }
        }
        return Optional.empty();
    }

    private static List<String> names(String list) {
        List<String> out = new ArrayList<>();
        for (String item : list.split(",")) {
            String name = item.startsWith("-") || item.startsWith("+") ? item.substring(1) : item;
            if (!name.isEmpty()) {
                out.add(name);
            }
        }
        return out;
    }

    Reply query(Caller caller, ClusterMessages.QueryReservations q) {
        State state = core.durable();
        long now = System.currentTimeMillis() / 1000;
        boolean all = !new PrivateDataFilter(
                        services.conf().list(Key.PRIVATE_DATA), state, caller.uid(), identities.userName(caller.uid()))
                .hides("reservations");
        Optional<Identity> identity = all ? Optional.empty() : identities.byUid(caller.uid());
        List<ReservationInfo> out = new ArrayList<>();
        List<Reservation> inOrder = new ArrayList<>();
        state.reservations().values().forEach(inOrder::add);
        inOrder.sort(Comparator.comparingInt(Reservation::serial).thenComparing(Reservation::name));
        for (Reservation r : inOrder) {
            boolean visible = all
                    || identity.filter(i -> r.concerns(state.accounts(), i.user(), i.gids()))
                            .isPresent();
            if (visible && (q.name().isEmpty() || q.name().equals(r.name()))) {
                out.add(info(state, r, now));
            }
        }
        return Reply.of(new ClusterMessages.ReservationsReply(now, now, out));
    }

    /** Returns the TRES of a reservation: its devices, and those of its licenses that AccountingStorageTRES has. */
    private static String tres(State state, Reservation r) {
        String licenses = TresText.licenses(state, r.want().licenses());
        return ReservedDevices.requested(r).isEmpty() && !licenses.isEmpty()
                ? licenses.substring(1)
                : ReservedDevices.requested(r) + licenses;
    }

    private static ReservationInfo info(State state, Reservation r, long now) {
        int cores = 0;
        int cpus = 0;
        List<ReservedCores> details = new ArrayList<>();
        for (String name : r.nodes()) {
            Optional<Node> node = state.nodes().find(name);
            if (node.isEmpty()) {
                continue;
            }
            IndexSet units = r.unitsOf(node.get().spec());
            cores += units.count();
            cpus += units.count() * node.get().spec().cpusPerUnit();
            if (!r.units().isEmpty()) {
                details.add(new ReservedCores(name, units.ranges()));
            }
        }
        List<String> flags = new ArrayList<>();
        for (ReservationFlag f : ReservationFlag.shown()) {
            if (r.has(f)) {
                flags.add(f.word());
            }
        }
        Reservation.AccessList w = r.who();
        return new ReservationInfo(
                r.name(),
                r.startAt(now),
                r.endAt(now),
                HostList.of(r.nodes()).compressed(),
                r.nodes().size(),
                cores,
                cpus,
                r.want().features(),
                r.want().partition(),
                flags,
                w.users().text(),
                w.groups().text(),
                w.accounts().text(),
                w.qos().text(),
                w.partitions().text(),
                r.isActive(now),
                r.maxStartDelayS(),
                r.purgeAfterS(),
                r.comment(),
                details,
                r.want().licenses(),
                tres(state, r));
    }
}
