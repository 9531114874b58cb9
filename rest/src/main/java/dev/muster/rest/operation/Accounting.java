package dev.muster.rest.operation;

import dev.muster.cli.command.SlurmException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.shape.AcctJson;
import dev.muster.cli.shape.ConfJson;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.SacctJson;
import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.rest.contract.LazyList;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.contract.Words;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** {@code GET /slurmdb/…}: what sacct and sacctmgr list. */
public final class Accounting {

    private Accounting() {}

    public static Map<String, RestCall.Handler> handlers() {
        Map<String, RestCall.Handler> out = new HashMap<>(AccountingChanges.handlers());
        out.put("slurmdb_{v}_get_job", Accounting::job);
        out.put("slurmdb_{v}_get_jobs", Accounting::jobs);
        out.put("slurmdb_{v}_get_config", Accounting::config);
        out.put("slurmdb_{v}_get_conf", Accounting::conf);
        out.put("slurmdb_{v}_get_associations", Accounting::associations);
        out.put("slurmdb_{v}_get_association", Accounting::associations);
        out.put("slurmdb_{v}_get_instances", Accounting::instances);
        out.put("slurmdb_{v}_get_instance", Accounting::instances);
        out.put("slurmdb_{v}_get_wckey", Accounting::wckey);
        out.put("slurmdb_{v}_get_diag", Accounting::diag);
        out.put("slurmdb_{v}_get_ping", Accounting::ping);
        lists(out);
        listsOfUsersAndAccounts(out);
        return out;
    }

    /** The operations that answer with rows of one kind. */
    private static void lists(Map<String, RestCall.Handler> out) {
        out.put("slurmdb_{v}_get_tres", c -> list(c, "tres", "TRES", new Json.Obj()));
        out.put("slurmdb_{v}_get_single_qos", c -> list(c, "qos", "qos", new Json.Obj().put("name", c.path("qos"))));
        out.put(
                "slurmdb_{v}_get_qos",
                c -> list(
                        c,
                        "qos",
                        "qos",
                        where(
                                c,
                                "description",
                                "description",
                                "id",
                                "id",
                                "name",
                                "name",
                                "preempt_mode",
                                "preemptmode")));
        out.put(
                "slurmdb_{v}_get_cluster",
                c -> list(
                        c,
                        "cluster",
                        "clusters",
                        where(c, "classification", "classification", "rpc_version", "rpc")
                                .put("name", c.path("cluster_name"))));
        out.put("slurmdb_{v}_get_clusters", c -> list(c, "cluster", "clusters", new Json.Obj()));
        out.put(
                "slurmdb_{v}_get_wckeys",
                c -> list(
                        c,
                        "wckey",
                        "wckeys",
                        where(c, "cluster", "cluster", "id", "id", "name", "name", "user", "user")));
    }

    private static void listsOfUsersAndAccounts(Map<String, RestCall.Handler> out) {
        out.put("slurmdb_{v}_get_user", c -> list(c, "user", "users", new Json.Obj().put("name", c.path("name"))));
        out.put(
                "slurmdb_{v}_get_users",
                c -> list(
                        c,
                        "user",
                        "users",
                        where(
                                c,
                                "admin_level",
                                "adminlevel",
                                "default_account",
                                "defaultaccount",
                                "default_wckey",
                                "defaultwckey")));
        out.put(
                "slurmdb_{v}_get_account",
                c -> list(c, "account", "accounts", new Json.Obj().put("name", c.path("account_name"))));
        out.put(
                "slurmdb_{v}_get_accounts",
                c -> list(c, "account", "accounts", where(c, "description", "description")));
    }

    // ---- the book

    static List<Json.Obj> rows(RestCall call, String entity, Json.Obj where, List<String> options)
            throws SlurmException {
        return call.host()
                .accounting()
                .call(
                        "Show",
                        new Json.Obj()
                                .put("entity", entity)
                                .put("where", where)
                                .put("options", RestCall.objects(options)))
                .objects("rows");
    }

    /** @param pairs parameter of the query and condition of slurmdbd, by turns */
    private static Json.Obj where(RestCall call, String... pairs) {
        Json.Obj out = new Json.Obj();
        for (int i = 0; i < pairs.length; i += 2) {
            if (!call.asked(pairs[i]).isEmpty()) {
                out.put(pairs[i + 1], call.asked(pairs[i]));
            }
        }
        return out;
    }

    /** Flags of queries, by the options that they mean. */
    private static final String[][] OPTIONS = {
        {"withdeleted", "with_deleted", "include_deleted_qos", "include_deleted_associations", "deleted"},
        {"withassoc", "with_assocs", "withassociations"},
        {"withcoord", "with_coords", "withcoordinators"},
        {"withsubaccounts", "include_sub_acct_information"},
        {"woplimits", "exclude_limits_from_parents"},
        {"onlydefaults", "filter_to_only_defaults"},
        {"rawqos", "include_the_raw_qos_or_delta_qos"}
    };

    private static List<String> options(RestCall call) {
        List<String> out = new ArrayList<>();
        for (String[] o : OPTIONS) {
            for (int i = 1; i < o.length; i++) {
                if (call.given(o[i])) {
                    out.add(o[0]);
                }
            }
        }
        return out;
    }

    private static void list(RestCall call, String entity, String field, Json.Obj where) throws SlurmException {
        List<String> options = options(call);
        List<Json.Obj> rows = rows(call, entity, where, options).stream()
                .filter(r -> fits(call, entity, r))
                .toList();
        rows.forEach(r -> clearUnwanted(call, r));
        Json.Obj shape = shape(call, entity, rows);
        if (entity.equals("user") && call.given("with_wckeys")) {
            wckeysOf(call, shape);
        }
        if (shape.list(field).isEmpty()) {
            call.nothing(field);
        }
        call.out().with(shape);
    }

    /** Conditions that slurmdbd does not know. */
    private static boolean fits(RestCall call, String entity, Json.Obj row) {
        return switch (entity) {
            case "wckey" -> !call.given("only_defaults") || row.text("WCKey").startsWith("*");
            case "account" ->
                !call.given("usersarecoords")
                        || Words.of(row.text("AccountFlags")).contains("UsersAreCoords");
            case "cluster" ->
                (call.list("cluster").isEmpty() || call.list("cluster").contains(row.text("Cluster")))
                        && call.list("federation").isEmpty()
                        && flagged(call, row.text("ClusterFlags"));
            default -> true;
        };
    }

    private static boolean flagged(RestCall call, String flags) {
        List<String> has = Words.of(flags.toUpperCase(Locale.ROOT));
        return call.list("flags").stream().allMatch(f -> has.contains(f.toUpperCase(Locale.ROOT)));
    }

    /** Removes fields that the request does not want. */
    private static void clearUnwanted(RestCall call, Json.Obj row) {
        if (call.given("exclude_parent_id/name")) {
            row.put("ParentID", "").put("ParentName", "");
        }
        if (call.operation().id().contains("_user") && !options(call).contains("withassoc")) {
            // a default account is that of an association
            row.put("DefaultAccount", "").put("DefaultQOSID", "");
        }
        if (call.operation().id().contains("_user") && !call.given("with_wckeys")) {
            row.put("DefaultWCKey", "");
        }
        if (call.given("without_defaults")) {
            row.put("DefaultAccount", "").put("DefaultWCKey", "").put("DefaultQOSID", "");
        }
    }

    static Json.Obj shape(RestCall call, String entity, List<Json.Obj> rows) throws SlurmException {
        return AcctJson.of(entity, rows, rows(call, "tres", new Json.Obj(), List.of()))
                .orElseThrow();
    }

    private static void wckeysOf(RestCall call, Json.Obj users) throws SlurmException {
        List<Json.Obj> all = shape(call, "wckey", rows(call, "wckey", new Json.Obj(), List.of()))
                .objects("wckeys");
        users.objects("users")
                .forEach(u -> u.put(
                        "wckeys",
                        RestCall.objects(all.stream()
                                .filter(w -> w.text("user").equals(u.text("name")))
                                .toList())));
    }

    private static void associations(RestCall call) throws SlurmException {
        list(
                call,
                "association",
                "associations",
                where(
                        call,
                        "account",
                        "account",
                        "cluster",
                        "cluster",
                        "default_qos",
                        "defaultqos",
                        "id",
                        "id",
                        "parent_account",
                        "parent",
                        "partition",
                        "partition",
                        "qos",
                        "qos",
                        "user",
                        "user"));
    }

    /** Finds a wckey by number; by name where none has that number. */
    private static void wckey(RestCall call) throws SlurmException {
        String id = call.path("id");
        List<Json.Obj> all = rows(call, "wckey", new Json.Obj(), List.of());
        List<Json.Obj> matching =
                all.stream().filter(w -> w.text("ID").equals(id)).toList();
        Json.Obj shape = shape(
                call,
                "wckey",
                matching.isEmpty()
                        ? all.stream()
                                .filter(w -> AccountingChanges.wckeyName(w).equals(id))
                                .toList()
                        : matching);
        if (shape.list("wckeys").isEmpty()) {
            call.nothing("wckeys");
        }
        call.out().with(shape);
    }

    private static void config(RestCall call) throws SlurmException {
        for (String entity : List.of("cluster", "tres", "account", "user", "qos", "wckey", "association")) {
            boolean tree = entity.equals("account") || entity.equals("user");
            Json.Obj shape = shape(
                    call,
                    entity,
                    rows(call, entity, new Json.Obj(), tree ? List.of("withassoc", "withcoord") : List.of()));
            shape.fields().forEach((k, v) -> call.out().put(k.equals("TRES") ? "tres" : k, v));
        }
    }

    private static void conf(RestCall call) throws SlurmException {
        List<Json.Obj> rows = rows(call, "configuration", new Json.Obj(), List.of());
        call.out().with(ConfJson.slurmdbd(rows.isEmpty() ? new Json.Obj() : rows.getFirst()));
    }

    private static void instances(RestCall call) throws SlurmException {
        List<Json.Obj> rows = rows(
                call,
                "instance",
                where(
                        call,
                        "cluster",
                        "cluster",
                        "extra",
                        "extra",
                        "instance_id",
                        "instanceid",
                        "instance_type",
                        "instancetype",
                        "node_list",
                        "node",
                        "time_end",
                        "end",
                        "time_start",
                        "start"),
                List.of());
        if (rows.isEmpty()) {
            call.nothing("instances");
        }
        call.out().with(AcctJson.of("instance", rows, List.of()).orElseThrow());
    }

    private static void diag(RestCall call) throws SlurmException {
        call.out().with(AcctJson.statistics(rows(call, "stats", new Json.Obj(), List.of())));
    }

    private static void ping(RestCall call) throws SlurmException {
        List<String> hosts = call.host().accountingHosts();
        List<ControlJson.Ping> pings = new ArrayList<>();
        for (int i = 0; i < hosts.size(); i++) {
            long beganNs = System.nanoTime();
            boolean up = answers(call, i);
            long latencyUs = (System.nanoTime() - beganNs) / 1000;
            pings.add(new ControlJson.Ping(hosts.get(i), i, hosts.size(), up, latencyUs, new Json.Obj()));
        }
        call.out().with(ControlJson.slurmdbdPings(pings));
    }

    private static boolean answers(RestCall call, int index) throws SlurmException {
        try {
            call.host().callAccounting(index, "Ping", new Json.Obj());
            return true;
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.CTLD_CONNECT.number() && e.errno() != SlurmErrno.CTLD_RECV.number()) {
                throw e;
            }
            return false;
        }
    }

    // ---- jobs

    private static void answer(RestCall call, Json.Obj query, Predicate<Json.Obj> conditions) throws SlurmException {
        EndedPages pages = new EndedPages(call.host(), query);
        boolean alone = query.flag("allocationsOnly");
        call.out().put("jobs", (LazyList) element -> {
            boolean[] any = {false};
            try {
                pages.each(reply -> reply.objects("jobs").stream()
                        .filter(e -> conditions.test(e.obj("job")))
                        .forEach(e -> {
                            any[0] = true;
                            element.accept(SacctJson.job(
                                    call.names(),
                                    e.obj("job"),
                                    alone ? List.of() : e.objects("steps"),
                                    reply.number("now"),
                                    reply.text("cluster")));
                        }));
            } catch (SlurmException e) {
                // what was read has gone out: errors stand behind it
                call.out().error(RestException.of(e, call.operation().id().replace("_{v}", "") + "()"));
            }
            if (!any[0]) {
                call.nothing("jobs");
            }
        });
    }

    private static void job(RestCall call) throws RestException, SlurmException {
        if (!call.path("job_id").matches("[0-9].*")) {
            throw RestException.query("\"" + call.path("job_id") + "\" is no job", "#/job_id/");
        }
        answer(
                call,
                new Json.Obj()
                        .put("allUsers", Boolean.TRUE)
                        .put("jobs", RestCall.objects(List.of(call.path("job_id")))),
                j -> true);
    }

    private static final String[] LISTS = {
        "account",
        "accounts",
        "cluster",
        "clusters",
        "job_name",
        "names",
        "partition",
        "partitions",
        "qos",
        "qos",
        "reason",
        "reasons",
        "step",
        "jobs",
        "wckey",
        "wckeys"
    };

    private static void jobs(RestCall call) throws RestException, SlurmException {
        Predicate<Json.Obj> conditions = EndedJobs.of(call);
        Json.Obj query = new Json.Obj();
        for (int i = 0; i < LISTS.length; i += 2) {
            if (!call.list(LISTS[i]).isEmpty()) {
                query.put(LISTS[i + 1], RestCall.objects(call.list(LISTS[i])));
            }
        }
        List<Object> states = new ArrayList<>();
        for (String state : call.list("state")) {
            states.add(state(state));
        }
        if (!states.isEmpty()) {
            query.put("states", states);
        }
        if (!call.asked("node").isEmpty()) {
            query.put("nodes", RestCall.objects(Tree.hosts(call.asked("node"))));
        }
        ids(call, query, "users", "userIds");
        ids(call, query, "groups", "groupIds");
        if (!query.has("userIds")) {
            query.put("allUsers", Boolean.TRUE);
        }
        query.put("from", call.time("start_time"))
                .put("to", call.time("end_time"))
                .put("duplicates", call.given("show_duplicates"))
                .put("allocationsOnly", call.given("skip_steps"));
        query.put("wholeHetjob", wholeHetjob(call));
        query.put("text", keptText(call));
        answer(call, query, conditions);
    }

    private static String wholeHetjob(RestCall call) {
        if (call.given("whole_hetjob")) {
            return "yes";
        }
        return call.given("disable_whole_hetjob") ? "no" : "";
    }

    /** Returns the kind of text that the answer has for each job; "" for none. */
    private static String keptText(RestCall call) {
        if (call.given("show_batch_script")) {
            return AccountingRows.Query.SCRIPT;
        }
        return call.given("show_job_environment") ? AccountingRows.Query.ENVIRONMENT : "";
    }

    /** Parses a state as sacct does: name or abbreviation, in any case. */
    private static String state(String word) throws RestException {
        String name = JobRows.stateName(word.toUpperCase(Locale.ROOT));
        if (name.isEmpty()) {
            throw new RestException(
                    422,
                    RestException.INVALID_FLAG,
                    "Data parser unable to parse invalid flag",
                    "Unknown flag \"" + word + "\"",
                    "#/state/");
        }
        return name;
    }

    private static void ids(RestCall call, Json.Obj query, String parameter, String field) throws RestException {
        List<Object> ids = new ArrayList<>();
        for (String name : call.list(parameter)) {
            int id = field.startsWith("u")
                    ? call.host().userId(name)
                    : call.host().groupId(name);
            if (id < 0) {
                throw RestException.query("\"" + name + "\" is not known", "#/" + parameter + "/");
            }
            ids.add((long) id);
        }
        if (!ids.isEmpty()) {
            query.put(field, ids);
        }
    }
}
