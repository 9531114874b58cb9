package dev.muster.rest.operation;

import dev.muster.cli.command.SlurmException;
import dev.muster.cli.shape.AcctJson;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.Entities;
import dev.muster.model.accounting.LimitField;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.contract.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * {@code POST} and {@code DELETE /slurmdb/…}: what sacctmgr adds, modifies and deletes. What is there is modified, what
 * is not is added.
 */
final class AccountingChanges {
    private AccountingChanges() {}

    static Map<String, RestCall.Handler> handlers() {
        return Map.ofEntries(
                Map.entry("slurmdb_{v}_post_job", EndedJobChanges::job),
                Map.entry("slurmdb_{v}_post_jobs", EndedJobChanges::jobs),
                Map.entry("slurmdb_{v}_post_config", AccountingChanges::config),
                Map.entry("slurmdb_{v}_post_tres", AccountingChanges::tres),
                Map.entry("slurmdb_{v}_post_qos", AccountingChanges::qos),
                Map.entry("slurmdb_{v}_delete_single_qos", AccountingChanges::deleteQos),
                Map.entry("slurmdb_{v}_post_associations", AccountingChanges::associations),
                Map.entry("slurmdb_{v}_delete_associations", AccountingChanges::deleteAssociations),
                Map.entry("slurmdb_{v}_delete_association", AccountingChanges::deleteAssociations),
                Map.entry("slurmdb_{v}_post_users", AccountingChanges::users),
                Map.entry("slurmdb_{v}_delete_user", AccountingChanges::deleteUser),
                Map.entry("slurmdb_{v}_post_users_association", AccountingChanges::usersAssociation),
                Map.entry("slurmdb_{v}_post_clusters", AccountingChanges::clusters),
                Map.entry("slurmdb_{v}_delete_cluster", AccountingChanges::deleteCluster),
                Map.entry("slurmdb_{v}_post_wckeys", AccountingChanges::wckeys),
                Map.entry("slurmdb_{v}_delete_wckey", AccountingChanges::deleteWckey),
                Map.entry("slurmdb_{v}_post_accounts", AccountingChanges::accounts),
                Map.entry("slurmdb_{v}_delete_account", AccountingChanges::deleteAccount),
                Map.entry("slurmdb_{v}_post_accounts_association", AccountingChanges::accountsAssociation));
    }

    // ---- one change

    private static Json.Obj of(Map<String, String> map) {
        Json.Obj out = new Json.Obj();
        map.forEach(out::put);
        return out;
    }

    /**
     * Sends one change to slurmdbd.
     *
     * @throws RestException with the first of slurmdbd's sentences, if it was refused
     */
    static Json.Obj change(
            RestCall call, String verb, String entity, Map<String, String> set, Map<String, String> conditions)
            throws RestException, SlurmException {
        Json.Obj done = call.host()
                .accounting()
                .call(
                        "Change",
                        new Json.Obj()
                                .put("verb", verb)
                                .put("entity", entity)
                                .put("set", of(set))
                                .put("where", of(conditions))
                                .put("commit", Boolean.TRUE));
        if (!done.texts("error").isEmpty()) {
            int errno = done.integer("errno");
            String sentence = String.join("\n", done.texts("error")).strip();
            boolean adding = call.operation().id().contains("_post_users_association");
            if (sentence.equals("Nothing new added.") || adding && sentence.contains("\nNothing added.")) {
                unchanged(call);
                return done;
            }
            throw refused(call, errno, sentence);
        }
        return done;
    }

    /**
     * Returns the error for a refused change. An entity that slurmdbd does not remove has an error number of Slurm;
     * other refusals have their sentence.
     */
    private static RestException refused(RestCall call, int errno, String sentence) {
        String first = sentence.lines().findFirst().orElse("").strip();
        Optional<SlurmErrno> known = !first.startsWith(REFUSED)
                ? Optional.empty()
                : Arrays.stream(SlurmErrno.values())
                        .filter(e -> e.sentence().equals(first.substring(REFUSED.length())))
                        .findFirst();
        String[] names = REMOVALS.get(call.operation().id().replaceAll(".*_delete_", ""));
        if (known.isPresent() && names != null) {
            return RestException.of(known.get(), names[0] + " failed", names[1]);
        }
        return call.refused(errno > 0 ? SlurmErrno.of(errno) : SlurmErrno.ERROR, sentence);
    }

    private static final String REFUSED = "Error with request: ";
    /** Operations that delete: the description and the source of their error. */
    private static final Map<String, String[]> REMOVALS = Map.of(
            "user",
            new String[] {"slurmdb_users_remove", "_delete_user"},
            "account",
            new String[] {"slurmdb_accounts_remove", "_delete_account"},
            "association",
            new String[] {"slurmdb_associations_remove", "_delete_assoc"},
            "associations",
            new String[] {"slurmdb_associations_remove", "_delete_assoc"},
            "single_qos",
            new String[] {"slurmdb_qos_remove", "_op_handler_qos"},
            "cluster",
            new String[] {"slurmdb_clusters_remove", "_delete_cluster"});

    static Map<String, String> map(String... pairs) {
        Map<String, String> out = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            out.put(pairs[i], pairs[i + 1]);
        }
        return out;
    }

    /** Pairs of which those with an empty value are left out. */
    static Map<String, String> withoutEmpty(String... pairs) {
        Map<String, String> out = map(pairs);
        out.values().removeIf(String::isEmpty);
        return out;
    }

    private static boolean exists(RestCall call, String entity, String name) throws SlurmException {
        return !Accounting.rows(call, entity, new Json.Obj().put("name", name), List.of())
                .isEmpty();
    }

    private static String named(Json.Obj o, String field) throws RestException {
        if (o.text("name").isEmpty()) {
            throw RestException.incomplete(field + " needs a name");
        }
        return o.text("name");
    }

    private static void deleted(RestCall call, String entity, Map<String, String> conditions, String field, String name)
            throws RestException, SlurmException {
        List<String> names =
                change(call, "delete", entity, Map.of(), conditions).texts("names");
        if (names.isEmpty()) {
            unchanged(call);
        }
        call.out().put(field, RestCall.objects(names.isEmpty() ? List.of() : List.of(name)));
    }

    /** Nothing was deleted, as the entity does not exist. */
    private static void unchanged(RestCall call) {
        call.out().status(304);
    }

    // ---- QOS, clusters, TRES

    private static void qos(RestCall call) throws RestException, SlurmException {
        for (Json.Obj query : call.body().objects("qos")) {
            if (query.text("name").isEmpty()) {
                throw RestException.query("Cannot create a QOS without a name", "_foreach_update_qos");
            }
            String name = query.text("name");
            Map<String, String> set = AcctJson.settings("qos", query);
            if (!exists(call, "qos", name)) {
                change(call, "add", "qos", set, map("name", name));
            } else if (!set.isEmpty()) {
                change(call, "modify", "qos", set, map("name", name));
            }
        }
    }

    private static void deleteQos(RestCall call) throws RestException, SlurmException {
        deleted(call, "qos", map("name", call.path("qos")), "removed_qos", call.path("qos"));
    }

    private static void clusters(RestCall call) throws RestException, SlurmException {
        for (Json.Obj cluster : call.body().objects("clusters")) {
            String name = named(cluster, "A cluster");
            if (!exists(call, "cluster", name)) {
                change(call, "add", "cluster", Map.of(), map("name", name));
            }
        }
    }

    private static void deleteCluster(RestCall call) throws RestException, SlurmException {
        deleted(call, "cluster", map("name", call.path("cluster_name")), "deleted_clusters", call.path("cluster_name"));
    }

    private static void tres(RestCall call) throws RestException, SlurmException {
        List<Json.Obj> known = Accounting.shape(call, "tres", Accounting.rows(call, "tres", new Json.Obj(), List.of()))
                .objects("TRES");
        List<Json.Obj> wanted = call.body().objects("TRES").isEmpty()
                ? call.body().objects("tres")
                : call.body().objects("TRES");
        for (Json.Obj t : wanted) {
            if (known.stream()
                    .noneMatch(k -> k.text("type").equals(t.text("type"))
                            && k.text("name").equals(t.text("name")))) {
                throw call.refused(
                        SlurmErrno.NOT_SUPPORTED,
                        "TRES come from the clusters that register: none is added by hand in this version");
            }
        }
    }

    // ---- accounts

    private static void accounts(RestCall call) throws RestException, SlurmException {
        for (Json.Obj a : call.body().objects("accounts")) {
            String name = named(a, "An account");
            Map<String, String> set = withoutEmpty(
                    "description",
                    a.text("description"),
                    "organization",
                    a.text("organization"),
                    "Flags",
                    coordFlag(a.texts("flags")));
            if (!exists(call, "account", name)) {
                change(call, "add", "account", set, map("name", name));
            } else if (!set.isEmpty()) {
                change(call, "modify", "account", set, map("name", name));
            }
            if (!a.objects("associations").isEmpty()) {
                call.out()
                        .warning(
                                "What an account's associations are is said with POST associations: those of " + name
                                        + " are passed over",
                                "#/accounts/associations/");
            }
            if (a.has("coordinators")) {
                coordinators(
                        call,
                        name,
                        a.objects("coordinators").stream()
                                .map(o -> o.text("name").toLowerCase(Locale.ROOT))
                                .toList());
            }
        }
    }

    private static String coordFlag(List<String> flags) {
        return String.join(
                ",", flags.stream().filter(f -> f.endsWith("UsersAreCoords")).toList());
    }

    /** These and no others. */
    private static void coordinators(RestCall call, String account, List<String> wanted)
            throws RestException, SlurmException {
        List<Json.Obj> rows =
                Accounting.rows(call, "account", new Json.Obj().put("name", account), List.of("withcoord"));
        List<String> had = rows.isEmpty() ? List.of() : Words.of(rows.getFirst().text("Coordinators"));
        List<String> fresh = wanted.stream().filter(n -> !had.contains(n)).toList();
        List<String> gone = had.stream().filter(n -> !wanted.contains(n)).toList();
        if (!fresh.isEmpty()) {
            change(call, "add", "coordinator", Map.of(), map("name", String.join(",", fresh), "account", account));
        }
        if (!gone.isEmpty()) {
            change(call, "delete", "coordinator", Map.of(), map("name", String.join(",", gone), "account", account));
        }
    }

    private static void deleteAccount(RestCall call) throws RestException, SlurmException {
        deleted(call, "account", map("name", call.path("account_name")), "removed_accounts", call.path("account_name"));
    }

    private static void accountsAssociation(RestCall call) throws RestException, SlurmException {
        Json.Obj condition = call.body().obj("association_condition");
        Map<String, String> set = limits(condition.obj("association"));
        set.putAll(withoutEmpty(
                "parent",
                condition.obj("association").text("parent"),
                "description",
                call.body().obj("account").text("description"),
                "organization",
                call.body().obj("account").text("organization")));
        Json.Obj done = change(
                call,
                "add",
                "account",
                set,
                withoutEmpty("name", joined(condition, "accounts"), "cluster", joined(condition, "clusters")));
        call.out()
                .put(
                        "added_accounts",
                        summary(
                                done,
                                "Adding Account(s)",
                                withoutEmpty(
                                        "Description",
                                        call.body().obj("account").text("description"),
                                        "Organization",
                                        call.body().obj("account").text("organization"))));
    }

    private static String joined(Json.Obj from, String field) {
        return String.join(",", from.texts(field));
    }

    /** Fields by the words of sacctmgr. */
    private static Map<String, String> limits(Json.Obj record) throws RestException {
        Map<String, String> out = new LinkedHashMap<>();
        for (Map.Entry<String, Object> entry : record.fields().entrySet()) {
            Optional<LimitField> field = entry.getKey().equals("parent")
                    ? Optional.empty()
                    : LimitField.find(LimitField.ASSOC, entry.getKey());
            String value = switch (entry.getValue()) {
                case Json.Obj o -> o.flag("set") ? Long.toString(o.number("number")) : "";
                case List<?> l ->
                    String.join(
                            ",",
                            l.stream()
                                    .map(i -> i instanceof Json.Obj t ? AcctJson.tres(t) : String.valueOf(i))
                                    .toList());
                default -> String.valueOf(entry.getValue());
            };
            // infinite clears
            boolean clears = entry.getValue() instanceof Json.Obj o && o.flag("infinite");
            if (field.isPresent() && (clears || !value.isEmpty())) {
                out.put(field.get().name(), value);
            }
        }
        return out;
    }

    /** The text that sacctmgr prints, with columns of fixed widths. */
    private static String summary(Json.Obj done, String head, Map<String, String> settings) {
        StringBuilder out = new StringBuilder();
        if (!done.texts("names").isEmpty()) {
            out.append(' ')
                    .append(head)
                    .append("\n  ")
                    .append(String.join("\n  ", done.texts("names")))
                    .append("\n Settings\n");
            settings.forEach((name, value) -> out.append(String.format(Locale.ROOT, "  %-15s = %s\n", name, value)));
        }
        for (Json.Obj a : done.objects("assocs")) {
            out.append(out.indexOf(" Associations") < 0 ? " Associations =\n" : "")
                    .append(column("  C = ", a.text("cluster"), 10))
                    .append(column(" A = ", a.text("account"), 20))
                    .append(a.text("user").isEmpty() ? "" : column(" U = ", a.text("user"), 9))
                    .append(a.text("partition").isEmpty() ? "" : column(" P = ", a.text("partition"), 9))
                    .append('\n');
        }
        return out.toString();
    }

    private static String column(String head, String text, int width) {
        return head + (text.length() < width ? text + " ".repeat(width - text.length()) : text);
    }

    /** Keys that users were given with their associations. */
    private static String keys(Json.Obj done, Json.Obj condition) {
        StringBuilder out = new StringBuilder();
        for (String key : condition.texts("wckeys")) {
            for (Json.Obj a : done.objects("assocs")) {
                out.append(out.isEmpty() ? " Wckey(s)\n" : "")
                        .append(column("  C = ", a.text("cluster"), 10))
                        .append(column(" W = ", key, 10))
                        .append(column(" U = ", a.text("user"), 9))
                        .append('\n');
            }
        }
        return out.toString();
    }

    // ---- users

    private static void users(RestCall call) throws RestException, SlurmException {
        for (Json.Obj user : call.body().objects("users")) {
            String name = named(user, "A user");
            if (!user.text("old_name").isEmpty()) {
                throw call.refused(SlurmErrno.NOT_SUPPORTED, "A user's name cannot be changed by this version");
            }
            String level = user.texts("administrator_level").stream()
                    .filter(l -> !l.equals("Not Set"))
                    .findFirst()
                    .orElse("");
            Json.Obj standard = user.obj("default");
            Map<String, String> set = withoutEmpty(
                    "adminlevel",
                    level,
                    "defaultaccount",
                    standard.text("account"),
                    "defaultwckey",
                    standard.text("wckey"));
            boolean isNew = !exists(call, "user", name);
            if (isNew) {
                List<String> accounts = user.objects("associations").stream()
                        .filter(a -> a.text("cluster").isEmpty()
                                && a.text("partition").isEmpty())
                        .map(a -> a.text("account"))
                        .distinct()
                        .toList();
                boolean first = accounts.isEmpty()
                        && standard.text("account").isEmpty()
                        && !user.objects("associations").isEmpty();
                if (user.objects("associations").isEmpty()
                        && standard.text("account").isEmpty()
                        && standard.text("wckey").isEmpty()) {
                    // other requests add its associations
                    set.put("alone", "yes");
                }
                change(
                        call,
                        "add",
                        "user",
                        set,
                        first
                                ? where(name, user.objects("associations").getFirst())
                                : withoutEmpty("name", name, "account", String.join(",", accounts)));
            }
            userAssociations(call, name, user.objects("associations"));
            if (!isNew) {
                modify(call, name, set);
            }
            defaultQos(call, standard.number("qos"), map("name", name));
            coordinated(call, name, user.objects("coordinators"));
            for (Json.Obj w : user.objects("wckeys")) {
                addWckey(call, w.text("cluster"), w.text("user").isEmpty() ? name : w.text("user"), w.text("name"));
            }
        }
    }

    private static Map<String, String> where(String user, Json.Obj a) {
        return withoutEmpty(
                "name",
                user,
                "account",
                a.text("account"),
                "cluster",
                a.text("cluster"),
                "partition",
                a.text("partition"));
    }

    /** Adds the named associations that do not exist. */
    private static void userAssociations(RestCall call, String user, List<Json.Obj> wanted)
            throws RestException, SlurmException {
        for (Json.Obj a : wanted) {
            if (!a.text("user").isEmpty() && !a.text("user").equals(user)) {
                throw call.refused(
                        SlurmErrno.NOT_SUPPORTED, "An association of " + a.text("user") + " is none of " + user + "'s");
            }
            if (a.text("account").isEmpty()) {
                throw call.refused(SlurmErrno.INVALID_ACCOUNT, "An association needs an account");
            }
            Json.Obj place = new Json.Obj().put("account", a.text("account"));
            if (!a.text("cluster").isEmpty()) {
                place.put("cluster", a.text("cluster"));
            }
            if (Accounting.rows(call, "association", place, List.of()).stream()
                    .noneMatch(r ->
                            r.text("User").equals(user) && r.text("Partition").equals(a.text("partition")))) {
                change(call, "add", "user", Map.of(), where(user, a));
            }
        }
    }

    /** Accounts that the user is made a coordinator of; what he coordinates otherwise stays. */
    private static void coordinated(RestCall call, String user, List<Json.Obj> accounts)
            throws RestException, SlurmException {
        for (Json.Obj a : accounts) {
            boolean inherited = a.has("direct") && !a.flag("direct");
            List<Json.Obj> rows =
                    Accounting.rows(call, "account", new Json.Obj().put("name", a.text("name")), List.of("withcoord"));
            if (!inherited
                    && (rows.isEmpty()
                            || !Words.of(rows.getFirst().text("Coordinators")).contains(user))) {
                change(call, "add", "coordinator", Map.of(), map("name", user, "account", a.text("name")));
            }
        }
    }

    /** The row of the QOS with a number; 0 for none. */
    private static Map<String, String> qosOf(RestCall call, long id) throws RestException, SlurmException {
        if (id == 0) {
            return Map.of();
        }
        List<Json.Obj> found = Accounting.rows(call, "qos", new Json.Obj(), List.of()).stream()
                .filter(q -> q.text("ID").equals(Long.toString(id)))
                .toList();
        if (found.isEmpty()) {
            throw call.refused(SlurmErrno.INVALID_QOS, "There is no QOS with the number " + id);
        }
        return map("DefaultQOS", found.getFirst().text("Name"));
    }

    private static void defaultQos(RestCall call, long id, Map<String, String> conditions)
            throws RestException, SlurmException {
        if (id != 0) {
            change(call, "modify", "user", qosOf(call, id), conditions);
        }
    }

    /** A default wckey that is not the user's yet becomes it. */
    private static void modify(RestCall call, String name, Map<String, String> set)
            throws RestException, SlurmException {
        String wckey = set.getOrDefault("defaultwckey", "");
        if (!wckey.isEmpty()) {
            addWckey(call, "", name, wckey);
        }
        if (!set.isEmpty()) {
            change(call, "modify", "user", set, map("name", name));
        }
    }

    private static void deleteUser(RestCall call) throws RestException, SlurmException {
        deleted(call, "user", map("name", call.path("name")), "removed_users", call.path("name"));
    }

    private static void usersAssociation(RestCall call) throws RestException, SlurmException {
        Json.Obj condition = call.body().obj("association_condition");
        Json.Obj user = call.body().obj("user");
        Map<String, String> set = limits(condition.obj("association"));
        if (!condition.obj("association").text("parent").isEmpty()) {
            throw call.refused(
                    SlurmErrno.NOT_SUPPORTED, "An account has a parent, a user's association is in its account");
        }
        set.putAll(qosOf(call, user.number("defaultqos")));
        set.putAll(withoutEmpty(
                "adminlevel",
                user.texts("adminlevel").stream()
                        .filter(l -> !l.equals("Not Set"))
                        .findFirst()
                        .orElse(""),
                "defaultaccount",
                user.text("defaultaccount"),
                "defaultwckey",
                user.text("defaultwckey")));
        Json.Obj done = change(
                call,
                "add",
                "user",
                set,
                withoutEmpty(
                        "name",
                        joined(condition, "users"),
                        "account",
                        joined(condition, "accounts"),
                        "cluster",
                        joined(condition, "clusters"),
                        "partition",
                        joined(condition, "partitions"),
                        "wckey",
                        joined(condition, "wckeys")));
        String level = set.getOrDefault("adminlevel", "");
        call.out()
                .put(
                        "added_users",
                        summary(done, "Adding User(s)", withoutEmpty("Admin Level", level)) + keys(done, condition));
    }

    // ---- wckeys

    /** Returns the name without the mark of a default one. */
    static String wckeyName(Json.Obj row) {
        String name = row.text("WCKey");
        return Entities.Wckey.plain(name);
    }

    private static void addWckey(RestCall call, String cluster, String user, String name)
            throws RestException, SlurmException {
        Json.Obj where = new Json.Obj().put("user", user);
        if (!cluster.isEmpty()) {
            where.put("cluster", cluster);
        }
        if (Accounting.rows(call, "wckey", where, List.of()).stream()
                .noneMatch(w -> wckeyName(w).equals(name))) {
            change(call, "add", "user", Map.of(), withoutEmpty("name", user, "wckey", name, "cluster", cluster));
        }
    }

    private static void wckeys(RestCall call) throws RestException, SlurmException {
        for (Json.Obj w : call.body().objects("wckeys")) {
            addWckey(call, w.text("cluster"), w.text("user"), named(w, "A wckey"));
        }
    }

    /** Deletes a wckey by number, or all of a name. */
    private static void deleteWckey(RestCall call) throws RestException, SlurmException {
        String id = call.path("id");
        List<Json.Obj> all = Accounting.rows(call, "wckey", new Json.Obj(), List.of());
        List<Json.Obj> byId = all.stream().filter(w -> w.text("ID").equals(id)).toList();
        List<Json.Obj> matching = byId.isEmpty()
                ? all.stream().filter(w -> wckeyName(w).equals(id)).toList()
                : byId;
        List<Object> gone = new ArrayList<>();
        for (Json.Obj w : matching) {
            change(
                    call,
                    "delete",
                    "user",
                    Map.of(),
                    map("name", w.text("User"), "wckey", wckeyName(w), "cluster", w.text("Cluster")));
            gone.add(wckeyName(w));
        }
        if (gone.isEmpty()) {
            call.nothing("deleted_wckeys");
        }
        call.out().put("deleted_wckeys", gone);
    }

    // ---- associations

    private static void associations(RestCall call) throws RestException, SlurmException {
        for (Json.Obj a : call.body().objects("associations")) {
            association(call, a);
        }
    }

    /** Refuses what only an account's association may have. */
    private static void requireFieldsOfUser(RestCall call, Json.Obj a) throws RestException {
        if (!a.text("parent_account").isEmpty() && !a.text("parent_account").equals(a.text("account"))) {
            throw call.refused(SlurmErrno.NOT_SUPPORTED, "The parent of a user's association is its account");
        }
        if (!coordFlag(a.texts("flags")).isEmpty()) {
            throw call.refused(SlurmErrno.NOT_SUPPORTED, "UsersAreCoords is a flag of an account's association");
        }
    }

    private static void association(RestCall call, Json.Obj a) throws RestException, SlurmException {
        String cluster = a.text("cluster").isEmpty() ? call.names().cluster() : a.text("cluster");
        String account = a.text("account");
        String user = a.text("user");
        String partition = a.text("partition");
        if (account.isEmpty()) {
            throw call.refused(SlurmErrno.INVALID_ACCOUNT, "An association needs an account");
        }
        boolean there = Accounting.rows(
                        call,
                        "association",
                        new Json.Obj().put("cluster", cluster).put("account", account),
                        List.of())
                .stream()
                .anyMatch(
                        r -> r.text("User").equals(user) && r.text("Partition").equals(partition));
        Map<String, String> set = AcctJson.settings("association", a);
        if (!user.isEmpty()) {
            requireFieldsOfUser(call, a);
        }
        if (user.isEmpty()) {
            set.putAll(withoutEmpty("Flags", coordFlag(a.texts("flags"))));
            set.putAll(withoutEmpty("parent", a.text("parent_account")));
            if (!there || !set.isEmpty()) {
                change(call, there ? "modify" : "add", "account", set, map("name", account, "cluster", cluster));
            }
            return;
        }
        if (!there) {
            change(
                    call,
                    "add",
                    "user",
                    set,
                    withoutEmpty("name", user, "account", account, "cluster", cluster, "partition", partition));
        } else if (!set.isEmpty()) {
            change(
                    call,
                    "modify",
                    "user",
                    set,
                    map("name", user, "account", account, "cluster", cluster, "partition", partition));
        }
        if (a.flag("is_default")) {
            change(call, "modify", "user", map("defaultaccount", account), map("name", user, "cluster", cluster));
        }
    }

    private static void deleteAssociations(RestCall call) throws RestException, SlurmException {
        Map<String, String> conditions = withoutEmpty(
                "account",
                call.asked("account"),
                "cluster",
                call.asked("cluster"),
                "partition",
                call.asked("partition"));
        for (String name : call.query().keySet()) {
            if (!List.of("account", "cluster", "partition", "user").contains(name) && call.flag(name)) {
                throw call.refused(
                        SlurmErrno.NOT_SUPPORTED,
                        "The filter " + name + " of a deletion is not supported by this version");
            }
        }
        if (call.asked("user").isEmpty() && call.asked("account").isEmpty()) {
            throw RestException.query("No conditions given to remove, not executing.", "#/");
        }
        Json.Obj place = new Json.Obj();
        List.of("account", "cluster", "partition", "user").stream()
                .filter(k -> !call.asked(k).isEmpty())
                .forEach(k -> place.put(k, call.asked(k)));
        List<Json.Obj> matching = Accounting.rows(call, "association", place, List.of());
        if (matching.size() > 1 && call.operation().id().endsWith("_association")) {
            throw RestException.ambiguous(
                    "ambiguous request: More than 1 association would have been deleted.", "_delete_assoc");
        }
        Json.Obj done;
        if (call.asked("user").isEmpty()) {
            conditions.put("name", conditions.remove("account"));
            done = change(call, "delete", "account", Map.of(), conditions);
        } else {
            conditions.put("name", call.asked("user"));
            // without one of these conditions it would be the user that goes, not what it has
            conditions.putIfAbsent("cluster", call.names().cluster());
            done = change(call, "delete", "user", Map.of(), conditions);
        }
        if (done.objects("assocs").isEmpty() && done.texts("names").isEmpty()) {
            unchanged(call);
        }
        call.out()
                .put(
                        "removed_associations",
                        matching.stream().map(a -> (Object) removed(a)).toList());
    }

    /** An association that was removed, as sacctmgr tells it. */
    private static String removed(Json.Obj row) {
        String cluster = column("C = ", row.text("Cluster"), 10);
        if (row.text("User").isEmpty()) {
            return cluster + " A = " + row.text("Account")
                    + (row.text("ParentName").isEmpty() ? "" : " of " + row.text("ParentName"));
        }
        return cluster
                + column(" A = ", row.text("Account"), 10)
                + column(" U = ", row.text("User"), 9)
                + (row.text("Partition").isEmpty() ? "" : " P = " + row.text("Partition"));
    }

    // ---- everything

    private static void config(RestCall call) throws RestException, SlurmException {
        clusters(call);
        if (!call.body().objects("tres").isEmpty()) {
            tres(call);
        }
        accounts(call);
        qos(call);
        users(call);
        wckeys(call);
        associations(call);
    }
}
