package dev.muster.rest.operation;

import dev.muster.cli.command.SlurmException;
import dev.muster.cli.shape.ConfJson;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.DiagJson;
import dev.muster.cli.shape.NodesJson;
import dev.muster.cli.shape.SharesJson;
import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.RestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code /slurm/…} but for jobs: nodes, partitions, reservations and slurmctld itself. */
public final class Cluster {
    private static final Freshness FRESH = new Freshness();

    private Cluster() {}

    public static Map<String, RestCall.Handler> handlers() {
        return Map.ofEntries(
                Map.entry("slurm_{v}_get_ping", Cluster::ping),
                Map.entry("slurm_{v}_get_nodes", Cluster::nodes),
                Map.entry("slurm_{v}_get_node", Cluster::node),
                Map.entry("slurm_{v}_get_partitions", Cluster::partitions),
                Map.entry("slurm_{v}_get_partition", Cluster::partitions),
                Map.entry("slurm_{v}_get_reservations", Cluster::reservations),
                Map.entry("slurm_{v}_get_reservation", Cluster::reservations),
                Map.entry("slurm_{v}_get_licenses", Cluster::licenses),
                Map.entry("slurm_{v}_get_diag", Cluster::diag),
                Map.entry("slurm_{v}_get_shares", Cluster::shares),
                Map.entry("slurm_{v}_get_conf", Cluster::conf),
                Map.entry("slurm_{v}_get_reconfigure", Cluster::reconfigure),
                Map.entry("slurm_{v}_post_nodes", ClusterChanges::nodes),
                Map.entry("slurm_{v}_post_node", ClusterChanges::node),
                Map.entry("slurm_{v}_delete_node", ClusterChanges::deleteNode),
                Map.entry("slurm_{v}_post_new_node", ClusterChanges::newNode),
                Map.entry("slurm_{v}_post_partitions", ClusterChanges::partitions),
                Map.entry("slurm_{v}_delete_partition", ClusterChanges::deletePartition),
                Map.entry("slurm_{v}_post_reservations", ClusterChanges::reservations),
                Map.entry("slurm_{v}_post_reservation", ClusterChanges::reservation),
                Map.entry("slurm_{v}_delete_reservation", ClusterChanges::deleteReservation));
    }

    /** slurmctld may be away: that is the answer then, no error. */
    private static void ping(RestCall call) throws RestException, SlurmException {
        List<String> configured = call.host().controllers();
        List<ControlJson.Ping> pings = new ArrayList<>();
        for (int i = 0; i < Math.max(1, configured.size()); i++) {
            pings.add(ping(call, i, i < configured.size() ? configured.get(i) : "", configured.size()));
        }
        call.out().with(ControlJson.slurmctldPings(pings, call.version()));
    }

    private static ControlJson.Ping ping(RestCall call, int index, String configured, int controllers)
            throws RestException, SlurmException {
        long beganNs = System.nanoTime();
        String host = configured;
        boolean up;
        try {
            Json.Obj reply = controllers > 1
                    ? call.host().callController(index, "Ping", new Json.Obj())
                    : call.controller("Ping");
            host = reply.text("host").isEmpty() ? host : reply.text("host");
            up = true;
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.CTLD_CONNECT.number() && e.errno() != SlurmErrno.CTLD_RECV.number()) {
                throw e;
            }
            up = false;
        }
        return new ControlJson.Ping(host, index, controllers, up, (System.nanoTime() - beganNs) / 1000, new Json.Obj());
    }

    // ---- lists

    /** Since when the caller could see this content. */
    private static long since(RestCall call, String list, @Nullable Object content, long now) {
        return FRESH.since(list + " " + call.user().name() + call.path(), content, now);
    }

    /** Returns whether the caller has all of it already. */
    static boolean unchanged(RestCall call, String list, @Nullable Object content, long now) throws RestException {
        long since = since(call, list, content, now);
        return !call.asked("update_time").isEmpty()
                && (call.time("update_time") - 1 >= since || call.time("update_time") > now);
    }

    private static void listed(RestCall call, String list, Json.Obj shape, long now) throws RestException {
        long since = since(call, list, shape.raw(list), now);
        if (unchanged(call, list, shape.raw(list), now)) {
            call.out().warning(SlurmErrno.NO_CHANGE_IN_DATA.sentence(), "slurm_load_" + list + "()");
            shape.put(list, new ArrayList<>());
        }
        call.out().with(shape.put("last_update", Tree.number(since)));
    }

    private static void nodes(RestCall call) throws RestException, SlurmException {
        Json.Obj reply = call.controller("QueryNodes", new Json.Obj().put("all", Boolean.TRUE));
        long now = reply.number("now");
        Json.Obj shape = NodesJson.nodes(call.names(), reply, reply.objects("nodes"));
        if (unchanged(call, "nodes", shape.raw("nodes"), now)) {
            call.out().status(304);
            return;
        }
        call.out().with(shape.put("last_update", Tree.number(since(call, "nodes", shape.raw("nodes"), now))));
    }

    private static void node(RestCall call) throws RestException, SlurmException {
        String name = call.path("node_name");
        Json.Obj reply = call.controller(
                "QueryNodes", new Json.Obj().put("all", Boolean.TRUE).put("nodes", RestCall.objects(List.of(name))));
        listed(call, "nodes", NodesJson.nodes(call.names(), reply, reply.objects("nodes")), reply.number("now"));
        if (reply.objects("nodes").isEmpty()) {
            none(call, "Failure to query node " + name, "_dump_nodes");
        }
    }

    private static void partitions(RestCall call) throws RestException, SlurmException {
        Json.Obj reply = call.controller("QueryPartitions", new Json.Obj().put("all", Boolean.TRUE));
        List<Json.Obj> all = named(call, reply.objects("partitions"), "partition_name");
        if (all.isEmpty() && call.path().containsKey("partition_name")) {
            call.out().warning("Unable to find partition " + call.path("partition_name"), "_partition_get");
        }
        listed(call, "partitions", NodesJson.partitions(reply, all), reply.number("now"));
    }

    /** A thing that is not there is an empty list and no failure: clients that have deleted it wait for this answer. */
    private static void none(RestCall call, String description, String source) {
        call.out().error(new RestException(200, 0, "No error", description, source));
    }

    private static List<Json.Obj> named(RestCall call, List<Json.Obj> all, String parameter) {
        String name = call.path().get(parameter);
        return name == null
                ? all
                : all.stream().filter(p -> p.text("name").equals(name)).toList();
    }

    private static void reservations(RestCall call) throws RestException, SlurmException {
        Json.Obj reply = call.controller("QueryReservations");
        List<Json.Obj> all = named(call, reply.objects("reservations"), "reservation_name");
        listed(call, "reservations", ControlJson.reservations(all, reply.number("now")), reply.number("now"));
        // without any reservation the answer is an empty list
        if (all.isEmpty()
                && !reply.objects("reservations").isEmpty()
                && call.path().containsKey("reservation_name")) {
            throw new RestException(
                    422,
                    RestException.INVALID_QUERY,
                    "Query empty or not RFC7320 compliant",
                    "Unable to find reservation " + call.path("reservation_name"),
                    "_get_single_reservation");
        }
    }

    private static void licenses(RestCall call) throws SlurmException {
        call.out()
                .with(ControlJson.licenses(
                        call.controller("QueryLicenses").objects("licenses"),
                        call.host().nowMs() / 1000));
    }

    private static void diag(RestCall call) throws SlurmException {
        call.out().with(DiagJson.of(call.controller("QueryDiagnostics")));
    }

    private static void shares(RestCall call) throws SlurmException {
        List<String> accounts = call.list("accounts");
        List<String> users = call.list("users");
        List<Json.Obj> rows = new ArrayList<>();
        for (Json.Obj row : call.controller("QueryShares").objects("rows")) {
            boolean account = accounts.isEmpty() || accounts.contains(row.text("account"));
            if (account && (users.isEmpty() || users.contains(row.text("user")))) {
                rows.add(row);
            }
        }
        call.out().with(SharesJson.of(rows, call.names().cluster()));
    }

    private static void reconfigure(RestCall call) throws SlurmException {
        call.controller("Reconfigure", call.change());
    }

    private static void conf(RestCall call) throws RestException, SlurmException {
        Json.Obj reply = call.controller("QueryConfig");
        if (call.time("update_time") > reply.number("now")) {
            call.out().warning(SlurmErrno.NO_CHANGE_IN_DATA.sentence(), "slurm_load_ctl_conf()");
            return;
        }
        call.out().with(ConfJson.slurm(reply, call.host().controllers()));
    }
}
