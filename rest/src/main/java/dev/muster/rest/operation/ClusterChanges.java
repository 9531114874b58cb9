package dev.muster.rest.operation;

import dev.muster.cli.command.SlurmException;
import dev.muster.cli.shape.NodesJson;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.rest.contract.RestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** {@code POST} and {@code DELETE /slurm/…} of nodes, partitions and reservations: the words of scontrol. */
final class ClusterChanges {
    private static final long YEAR_MINUTES = 365L * 24 * 60;

    private ClusterChanges() {}

    private static String joined(Json.Obj from, String field) {
        return String.join(",", from.texts(field));
    }

    // ---- nodes

    private static void update(RestCall call, String nodes) throws RestException, SlurmException {
        Json.Obj b = call.body();
        Json.Obj changes = new Json.Obj();
        String[][] words = {{"comment", "comment"}, {"extra", "extra"}, {"gres", "gres"}, {"reason", "reason"}};
        for (String[] w : words) {
            if (b.has(w[0])) {
                changes.put(w[1], b.text(w[0]));
            }
        }
        String[][] lists = {
            {"features", "availablefeatures"},
            {"features_act", "activefeatures"},
            {"address", "nodeaddr"},
            {"hostname", "nodehostname"}
        };
        for (String[] w : lists) {
            if (b.has(w[0])) {
                changes.put(w[1], joined(b, w[0]));
            }
        }
        if (b.obj("weight").flag("set")) {
            changes.put("weight", Long.toString(b.obj("weight").number("number")));
        }
        if (b.texts("state").size() > 1) {
            throw call.refused(SlurmErrno.INVALID_NODE_STATE, "state says one thing to do: DRAIN, RESUME, …");
        }
        b.texts("state").forEach(state -> changes.put("state", state));
        if (b.number("cpu_bind") != 0) {
            changes.put(
                    "cpubind",
                    NodesJson.binding(b.number("cpu_bind"))
                            .orElseThrow(() -> RestException.unfit(
                                    "cpu_bind is none of 2 (threads),"
                                            + " 4 (cores), 8 (sockets), 16 (ldoms) and 32 (none)",
                                    "#/cpu_bind/")));
        }
        if (!b.text("topology_str").isEmpty()) {
            changes.put("topology", b.text("topology_str"));
        }
        if (b.obj("resume_after").flag("set")) {
            changes.put("resumeafter", Long.toString(b.obj("resume_after").number("number")));
        } else if (b.obj("resume_after").flag("infinite")) {
            changes.put("resumeafter", "-1");
        }
        String by = b.text("reason_uid");
        if (!by.isEmpty()
                && call.host().userId(by) != call.host().userId(call.user().name())) {
            call.out().warning("The reason is the caller's: reason_uid is passed over", "#/reason_uid/");
        }
        if (changes.fields().isEmpty()) {
            if (call.controller("QueryNodes", new Json.Obj().put("nodes", RestCall.objects(List.of(nodes))))
                    .objects("nodes")
                    .isEmpty()) {
                throw RestException.of(SlurmErrno.INVALID_NODE_NAME, "Failure to update node " + nodes, "_update_node");
            }
            return;
        }
        call.controller("UpdateNode", call.change().put("nodes", nodes).put("changes", changes));
    }

    static void node(RestCall call) throws RestException, SlurmException {
        String name = joined(call.body(), "name");
        if (!name.isEmpty() && !name.equals(call.path("node_name"))) {
            throw call.refused(SlurmErrno.INVALID_NODE_NAME, "name is another than the path's");
        }
        update(call, call.path("node_name"));
    }

    static void nodes(RestCall call) throws RestException, SlurmException {
        String names = joined(call.body(), "name");
        if (names.isEmpty()) {
            throw call.refused(SlurmErrno.INVALID_NODE_NAME, "name must say which nodes");
        }
        update(call, names);
    }

    static void deleteNode(RestCall call) throws SlurmException {
        call.controller("DeleteNodes", call.change().put("nodes", call.path("node_name")));
    }

    static void newNode(RestCall call) throws SlurmException {
        call.controller("CreateNodes", call.change().put("line", call.body().text("node_conf")));
    }

    // ---- partitions

    private static final String[] PARTITION_TEXTS = {
        "nodes.configured",
        "nodes",
        "nodes.allowed_allocation",
        "allocnodes",
        "accounts.allowed",
        "allowaccounts",
        "accounts.deny",
        "denyaccounts",
        "groups.allowed",
        "allowgroups",
        "qos.allowed",
        "allowqos",
        "qos.deny",
        "denyqos",
        "qos.assigned",
        "qos",
        "alternate",
        "alternate",
        "tres.billing_weights",
        "tresbillingweights",
        "partition.oversubscribe",
        "oversubscribe",
        "partition.exclusive",
        "exclusive",
        "partition.state",
        "state",
        "preempt_mode",
        "preemptmode",
        "grace_time",
        "gracetime",
        "priority.job_factor",
        "priorityjobfactor",
        "priority.tier",
        "prioritytier",
        "minimums.nodes",
        "minnodes",
        "maximums.nodes",
        "maxnodes",
        "maximums.cpus_per_node",
        "maxcpuspernode",
        "maximums.cpus_per_socket",
        "maxcpuspersocket",
        "maximums.time",
        "maxtime",
        "maximums.over_time_limit",
        "overtimelimit",
        "maximums.partition_memory_per_cpu",
        "maxmempercpu",
        "maximums.partition_memory_per_node",
        "maxmempernode",
        "defaults.time",
        "defaulttime",
        "defaults.partition_memory_per_cpu",
        "defmempercpu",
        "defaults.partition_memory_per_node",
        "defmempernode",
        "topology",
        "topology",
        "defaults.job",
        "jobdefaults"
    };
    private static final Map<String, String> PARTITION_FLAGS = Map.of(
            "DEFAULT",
            "default",
            "HIDDEN",
            "hidden",
            "NO_ROOT",
            "disablerootjobs",
            "ROOT_ONLY",
            "rootonly",
            "REQ_RESV",
            "reqresv",
            "LLN",
            "lln",
            "PDOI",
            "powerdownonidle");

    /** The fields of a partition as words of scontrol, without unset ones. */
    private static Map<String, String> words(Json.Obj partition) {
        Map<String, String> out = new LinkedHashMap<>();
        for (int i = 0; i < PARTITION_TEXTS.length; i += 2) {
            Object raw = raw(partition, PARTITION_TEXTS[i]);
            String word = PARTITION_TEXTS[i + 1];
            text(raw).ifPresent(text -> out.put(word, text));
        }
        for (String flag : partition.texts("flags")) {
            boolean clear = flag.endsWith("_CLEAR");
            out.put(
                    PARTITION_FLAGS.getOrDefault(clear ? flag.substring(0, flag.length() - 6) : flag, flag),
                    clear ? "NO" : "YES");
        }
        return out;
    }

    private static @Nullable Object raw(Json.Obj partition, String path) {
        int dot = path.indexOf('.');
        return dot < 0
                ? partition.raw(path)
                : partition.obj(path.substring(0, dot)).raw(path.substring(dot + 1));
    }

    private static Optional<String> text(@Nullable Object raw) {
        return switch (raw) {
            case Json.Obj o -> {
                if (o.flag("infinite")) {
                    yield Optional.of("UNLIMITED");
                }
                if (o.flag("set")) {
                    yield Optional.of(Long.toString(o.number("number")));
                }
                yield Optional.empty();
            }
            case List<?> l ->
                l.isEmpty()
                        ? Optional.empty()
                        : Optional.of(
                                String.join(",", l.stream().map(String::valueOf).toList())
                                        .replace("DISABLED", "OFF")
                                        .replace("CLUSTER_GLOBAL", ""));
            case null -> Optional.empty();
            default -> Optional.of(String.valueOf(raw));
        };
    }

    /** Pairs of a field and its older form or list of flags. The older form counts if the request changes it. */
    private static final List<String> OTHER_WAYS = List.of(
            "defaults.memory_per_cpu",
            "defmempercpu",
            "maximums.memory_per_cpu",
            "maxmempercpu",
            "maximums.shares",
            "oversubscribe",
            "maximums.oversubscribe",
            "oversubscribe",
            "cpus.task_binding",
            "cpubind");

    private static void otherWays(Json.Obj partition, Json.Obj now, Map<String, String> words) throws RestException {
        for (int i = 0; i < OTHER_WAYS.size(); i += 2) {
            String path = OTHER_WAYS.get(i);
            Object raw = raw(partition, path);
            if (raw == null
                    || IgnoredFields.isEmpty(raw)
                    || raw.equals(raw(now, path))
                    || raw instanceof Json.Obj o
                            && raw(now, path) instanceof Json.Obj node
                            && o.fields().equals(node.fields())) {
                continue;
            }
            String text = switch (raw) {
                case Json.Obj o -> !o.list("flags").isEmpty() ? "FORCE:" + o.number("jobs") : shares(o.number("jobs"));
                case List<?> l ->
                    String.join(
                            ",",
                            l.stream()
                                    .map(w -> String.valueOf(w)
                                            .toLowerCase(Locale.ROOT)
                                            .replaceFirst("cpu_bind_(to_)?", ""))
                                    .toList());
                default -> path.endsWith("shares") ? shares(((Number) raw).longValue()) : String.valueOf(raw);
            };
            String earlier = words.put(OTHER_WAYS.get(i + 1), text);
            if (earlier != null
                    && !earlier.equalsIgnoreCase(text)
                    && !earlier.equalsIgnoreCase(words(now).getOrDefault(OTHER_WAYS.get(i + 1), ""))) {
                throw RestException.unfit(
                        "It says " + text + ", and elsewhere the body says " + earlier,
                        "#/partitions/" + path.replace('.', '/') + "/");
            }
        }
    }

    private static String shares(long jobs) {
        return jobs <= 1 ? "NO" : "YES:" + jobs;
    }

    static void partitions(RestCall call) throws RestException, SlurmException {
        Json.Obj known = call.controller("QueryPartitions", new Json.Obj().put("all", Boolean.TRUE));
        for (Json.Obj partition : call.body().objects("partitions")) {
            String name = partition.text("name");
            if (name.isEmpty()) {
                throw call.refused(SlurmErrno.INVALID_PARTITION_NAME, "A partition needs a name");
            }
            Map<String, String> words = words(partition);
            List<Json.Obj> there = known.objects("partitions").stream()
                    .filter(o -> o.text("name").equals(name))
                    .toList();
            Json.Obj now = there.isEmpty() ? new Json.Obj() : NodesJson.partition(there.getFirst());
            otherWays(partition, now, words);
            if (there.isEmpty()) {
                words.values().removeIf(String::isEmpty);
            } else {
                // a value that is sent back as it was read changes nothing
                Map<String, String> before = words(now);
                PARTITION_FLAGS.values().forEach(flag -> before.putIfAbsent(flag, "NO"));
                words.entrySet().removeIf(e -> e.getValue().equalsIgnoreCase(before.getOrDefault(e.getKey(), "")));
                if (words.isEmpty()) {
                    continue;
                }
            }
            Json.Obj values = new Json.Obj();
            words.forEach(values::put);
            call.controller(
                    there.isEmpty() ? "CreatePartition" : "UpdatePartition",
                    call.change().put("partition", name).put(there.isEmpty() ? "values" : "changes", values));
        }
    }

    static void deletePartition(RestCall call) throws SlurmException {
        call.controller("DeletePartition", call.change().put("partition", call.path("partition_name")));
    }

    // ---- reservations

    static void reservations(RestCall call) throws RestException, SlurmException {
        List<Object> done = new ArrayList<>();
        for (Json.Obj row : call.body().objects("reservations")) {
            done.add(put(call, row));
        }
        call.out().put("reservations", done);
    }

    static void reservation(RestCall call) throws RestException, SlurmException {
        call.out().put("reservations", new ArrayList<>(List.of(put(call, call.body()))));
    }

    static void deleteReservation(RestCall call) throws SlurmException {
        call.controller("DeleteReservation", call.change().put("name", call.path("reservation_name")));
    }

    private static Json.Obj put(RestCall call, Json.Obj row) throws RestException, SlurmException {
        String name = row.text("name");
        boolean there = !name.isEmpty()
                && call.controller("QueryReservations", new Json.Obj()).objects("reservations").stream()
                        .anyMatch(o -> o.text("name").equals(name));
        Json.Obj values = values(call, row);
        boolean unsaid = List.of("nodes", "nodecnt", "corecnt", "licenses", "tres").stream()
                .noneMatch(values::has);
        if (!there && unsaid && values.has("partitionname")) {
            // a partition alone means all of it
            values.put("nodes", "ALL");
        }
        if (!there && !values.has("starttime")) {
            throw call.refused(SlurmErrno.INVALID_TIME_VALUE, "start_time must be given");
        }
        Json.Obj reply = call.controller(
                there ? "UpdateReservation" : "CreateReservation",
                call.change().put("name", name).put("values", values));
        return row.put("name", there ? name : reply.text("name"));
    }

    private static Json.Obj values(RestCall call, Json.Obj row) throws RestException {
        Json.Obj v = new Json.Obj();
        if (!row.text("name").isEmpty()) {
            v.put("reservationname", row.text("name"));
        }
        String[][] texts = {
            {"comment", "comment"},
            {"burst_buffer", "burstbuffer"},
            {"features", "features"},
            {"partition", "partitionname"}
        };
        for (String[] t : texts) {
            if (row.has(t[0]) && !row.text(t[0]).isEmpty()) {
                v.put(t[1], row.text(t[0]));
            }
        }
        String[][] lists = {
            {"accounts", "accounts"},
            {"groups", "groups"},
            {"users", "users"},
            {"licenses", "licenses"},
            {"node_list", "nodes"},
            {"qos", "qos"},
            {"allowed_partitions", "allowedpartitions"}
        };
        for (String[] t : lists) {
            if (!joined(row, t[0]).isEmpty()) {
                v.put(t[1], joined(row, t[0]));
            }
        }
        if (v.has("nodes") && HostList.parse(v.text("nodes")) instanceof HostList.Parsed.Ok ok) {
            v.put("nodes", ok.list().compressed());
        }
        number(row, "node_count", v, "nodecnt", 1);
        number(row, "core_count", v, "corecnt", 1);
        number(row, "start_time", v, "starttime", 1);
        number(row, "end_time", v, "endtime", 1);
        number(row, "max_start_delay", v, "maxstartdelay", 1);
        number(row, "duration", v, "duration", 60);
        List<String> tres = new ArrayList<>();
        row.objects("tres")
                .forEach(t -> tres.add(t.text("type") + (t.text("name").isEmpty() ? "" : "/" + t.text("name")) + "="
                        + t.number("count")));
        if (!tres.isEmpty()) {
            v.put("tres", String.join(",", tres));
        }
        flags(call, row, v);
        return v;
    }

    private static void number(Json.Obj from, String field, Json.Obj to, String key, long by) {
        Json.Obj node = from.obj(field);
        if (node.flag("infinite")) {
            to.put(key, Long.toString(by * YEAR_MINUTES));
        } else if (node.flag("set")) {
            to.put(key, Long.toString(by * node.number("number")));
        }
    }

    private static void flags(RestCall call, Json.Obj row, Json.Obj v) throws RestException {
        List<String> on = new ArrayList<>();
        List<String> off = new ArrayList<>();
        for (String word : row.texts("flags")) {
            boolean clear = word.startsWith("NO_") && !word.startsWith("NO_HOLD");
            String name = clear ? word.substring(3) : word;
            if (ReservationFlag.of(name).filter(f -> f.word().equals(name)).isEmpty()) {
                throw call.refused(
                        SlurmErrno.NOT_SUPPORTED,
                        "The flag " + word + " of a reservation is not supported by this version");
            }
            (clear ? off : on).add(name);
        }
        if (row.obj("purge_completed").obj("time").flag("set")) {
            v.put(
                    "purge_comp",
                    Long.toString(row.obj("purge_completed").obj("time").number("number")));
            on.add("PURGE_COMP");
        }
        if (row.has("flags") && off.isEmpty() || !on.isEmpty()) {
            v.put("flags", String.join(",", on));
        }
        if (!off.isEmpty()) {
            v.put("flags-", String.join(",", off));
        }
    }
}
