package dev.muster.cli.shape;

import dev.muster.json.Json;
import dev.muster.model.accounting.Entities.Wckey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Shapes accounting's entities for {@code --json} and {@code --yaml} as data parser v0.0.45 does. */
public final class AcctJson {
    /** Place in the tree, kind of value, field of the row. */
    private static final String QOS = """
        description S Description
        flags QF Flags
        id I ID
        limits.grace_time I GraceTime
        limits.max.active_jobs.accruing N GrpJobsAccrue
        limits.max.active_jobs.count N GrpJobs
        limits.max.jobs.count N GrpSubmitJobs
        limits.max.jobs.active_jobs.per.account N MaxJobsPA
        limits.max.jobs.active_jobs.per.user N MaxJobsPU
        limits.max.jobs.per.account N MaxSubmitJobsPA
        limits.max.jobs.per.user N MaxSubmitJobsPU
        limits.max.tres.total T GrpTRES
        limits.max.tres.minutes.total T GrpTRESMins
        limits.max.tres.minutes.per.qos T GrpTRESRunMins
        limits.max.tres.minutes.per.job T MaxTRESMins
        limits.max.tres.minutes.per.account T MaxTRESRunMinsPA
        limits.max.tres.minutes.per.user T MaxTRESRunMinsPU
        limits.max.tres.per.account T MaxTRESPA
        limits.max.tres.per.job T MaxTRES
        limits.max.tres.per.node T MaxTRESPerNode
        limits.max.tres.per.user T MaxTRESPU
        limits.max.wall_clock.per.qos N GrpWall
        limits.max.wall_clock.per.job N MaxWall
        limits.max.accruing.per.account N MaxJobsAccruePA
        limits.max.accruing.per.user N MaxJobsAccruePU
        limits.factor R LimitFactor
        limits.min.priority_threshold N MinPrioThresh
        limits.min.tres.per.job T MinTRES
        name S Name
        preempt.list L Preempt
        preempt.mode PM PreemptMode
        preempt.exempt_time N PreemptExemptTime
        priority Z Priority
        usage_factor R1 UsageFactor
        usage_threshold R UsageThreshold\
        """;

    private static final String ASSOC = """
        accounting E -
        account S Account
        cluster S Cluster
        comment S Comment
        default.qos S DefaultQOS
        flags AF Flags
        max.jobs.per.count N GrpJobs
        max.jobs.per.accruing N GrpJobsAccrue
        max.jobs.per.submitted N GrpSubmitJobs
        max.jobs.per.wall_clock N MaxWall
        max.jobs.active N MaxJobs
        max.jobs.accruing N MaxJobsAccrue
        max.jobs.total N MaxSubmitJobs
        max.tres.total T GrpTRES
        max.tres.group.minutes T GrpTRESMins
        max.tres.group.active T GrpTRESRunMins
        max.tres.minutes.total T MaxTRESRunMins
        max.tres.minutes.per.job T MaxTRESMins
        max.tres.per.job T MaxTRES
        max.tres.per.node T MaxTRESPerNode
        max.per.account.wall_clock N GrpWall
        id I ID
        is_default B IsDefault
        lineage S Lineage
        min.priority_threshold N MinPrioThresh
        parent_account S ParentName
        partition S Partition
        priority N Priority
        qos L QOS
        shares_raw SH Fairshare
        user S User\
        """;

    private static final Map<String, String> QOS_FLAGS = Map.ofEntries(
            Map.entry("DenyOnLimit", "DENY_LIMIT"),
            Map.entry("EnforceUsageThreshold", "ENFORCE_USAGE_THRESHOLD"),
            Map.entry("NoReserve", "NO_RESERVE"),
            Map.entry("PartitionMaxNodes", "PARTITION_MAXIMUM_NODE"),
            Map.entry("PartitionMinNodes", "PARTITION_MINIMUM_NODE"),
            Map.entry("OverPartQOS", "OVERRIDE_PARTITION_QOS"),
            Map.entry("PartitionTimeLimit", "PARTITION_TIME_LIMIT"),
            Map.entry("RequiresReservation", "REQUIRED_RESERVATION"),
            Map.entry("NoDecay", "NO_DECAY"),
            Map.entry("UsageFactorSafe", "USAGE_FACTOR_SAFE"),
            Map.entry("Relative", "RELATIVE"));
    private static final int EVERYBODYS_SHARES = 1;
    private static final long PARENT_SHARES = 0x7fff_ffffL;

    private AcctJson() {}

    /**
     * @param entity as slurmdbd calls it
     * @param tres the rows of all of them
     * @return empty for an entity that has no shape
     */
    public static Optional<Json.Obj> of(String entity, List<Json.Obj> rows, List<Json.Obj> tres) {
        Map<String, String> ids = new LinkedHashMap<>();
        for (Json.Obj t : tres) {
            ids.put(t.text("Name").isEmpty() ? t.text("Type") : t.text("Type") + "/" + t.text("Name"), t.text("ID"));
        }
        return Optional.ofNullable(
                switch (entity) {
                    case "qos" -> new Json.Obj().put("qos", shapeAll(rows, r -> tree(QOS, r, ids)));
                    case "association" -> new Json.Obj().put("associations", shapeAll(rows, r -> tree(ASSOC, r, ids)));
                    case "user" -> new Json.Obj().put("users", users(rows));
                    case "account" -> new Json.Obj().put("accounts", accounts(rows));
                    case "cluster" -> new Json.Obj().put("clusters", shapeAll(rows, r -> cluster(r, ids)));
                    case "tres" ->
                        new Json.Obj()
                                .put(
                                        "TRES",
                                        shapeAll(
                                                rows,
                                                r -> new Json.Obj()
                                                        .put("type", r.text("Type"))
                                                        .put("name", r.text("Name"))
                                                        .put(
                                                                "id",
                                                                r.number("ID") == 0
                                                                        ? number(r.text("ID"))
                                                                        : r.number("ID"))
                                                        .put("count", 0L)));
                    case "instance" -> new Json.Obj().put("instances", shapeAll(rows, AcctJson::instance));
                    case "wckey" -> new Json.Obj().put("wckeys", shapeAll(rows, AcctJson::wckey));
                    default -> null;
                });
    }

    /**
     * The way back: what a body in one of these shapes sets, by the names of fields and with values as they are kept.
     * What it does not say, or says it is not set, is left out; infinite clears.
     *
     * @param entity qos or association
     */
    public static Map<String, String> settings(String entity, Json.Obj body) {
        Map<String, String> out = new LinkedHashMap<>();
        for (String line : (entity.equals("qos") ? QOS : ASSOC).split("\n")) {
            String[] word = line.split(" ");
            String[] path = word[0].split("\\.");
            Json.Obj at = body;
            for (int i = 0; i < path.length - 1; i++) {
                at = at.obj(path[i]);
            }
            if (at.has(path[path.length - 1]) && !word[2].equals("ID")) {
                setting(word[1], at.raw(path[path.length - 1])).ifPresent(v -> out.put(word[2], v));
            }
        }
        out.keySet()
                .removeAll(List.of(
                        "-", "Account", "Cluster", "User", "Partition", "ParentName", "Lineage", "IsDefault", "Name"));
        return out;
    }

    private static Optional<String> setting(String kind, @Nullable Object raw) {
        List<?> list = raw instanceof List<?> l ? l : List.of();
        return switch (kind) {
            case "S" -> Optional.of(String.valueOf(raw)).filter(t -> !t.isEmpty());
            case "N", "Z" -> optional(raw, n -> Long.toString(n.longValue()));
            case "R", "R1" -> optional(raw, n -> String.format(Locale.ROOT, "%.6f", n.doubleValue()));
            case "I" -> Optional.of(String.valueOf(raw)).filter(t -> !t.equals("0"));
            case "T" ->
                list.isEmpty()
                        ? Optional.empty()
                        : Optional.of(String.join(
                                ",", list.stream().map(t -> tres((Json.Obj) t)).toList()));
            case "L" ->
                list.isEmpty()
                        ? Optional.empty()
                        : Optional.of(String.join(
                                ",", list.stream().map(String::valueOf).toList()));
            case "SH" -> Optional.of(raw != null && raw.equals(PARENT_SHARES) ? "parent" : String.valueOf(raw));
            case "QF" -> qosFlags(list);
            // DISABLED alone: as the cluster has it
            case "PM" ->
                Optional.of(String.join(
                                ",",
                                list.stream()
                                        .map(String::valueOf)
                                        .filter(m -> !m.equals("DISABLED"))
                                        .toList()))
                        .filter(t -> !list.isEmpty());
            default -> Optional.empty();
        };
    }

    /** ADD and REMOVE among them say that they are some more, or some less, than there are. */
    private static Optional<String> qosFlags(List<?> list) {
        String flags = String.join(
                ",",
                list.stream()
                        .map(f -> QOS_FLAGS.entrySet().stream()
                                .filter(e -> e.getValue().equals(f))
                                .map(Map.Entry::getKey)
                                .findFirst()
                                .orElse(""))
                        .filter(f -> !f.isEmpty())
                        .toList());
        if (flags.isEmpty()) {
            return Optional.empty();
        }
        if (list.contains("ADD")) {
            return Optional.of("+=" + flags);
        }
        return Optional.of((list.contains("REMOVE") ? "-=" : "") + flags);
    }

    private static Optional<String> optional(@Nullable Object raw, Function<Number, String> text) {
        if (raw instanceof Json.Obj o) {
            if (o.flag("infinite")) {
                return Optional.of("");
            }
            if (o.flag("set") && o.raw("number") instanceof Number n) {
                return Optional.of(text.apply(n));
            }
            return Optional.empty();
        }
        return raw instanceof Number n ? Optional.of(text.apply(n)) : Optional.empty();
    }

    /** {@code gres/gpu=2} */
    public static String tres(Json.Obj t) {
        return t.text("type") + (t.text("name").isEmpty() ? "" : "/" + t.text("name")) + "=" + t.number("count");
    }

    private interface Shape {
        Object of(Json.Obj row);
    }

    private static List<Object> shapeAll(List<Json.Obj> rows, Shape shape) {
        List<Object> out = new ArrayList<>();
        rows.forEach(r -> out.add(shape.of(r)));
        return out;
    }

    private static Json.Obj tree(String table, Json.Obj row, Map<String, String> tres) {
        Json.Obj root = new Json.Obj();
        for (String line : table.split("\n")) {
            String[] word = line.split(" ");
            String[] path = word[0].split("\\.");
            Json.Obj at = root;
            for (int i = 0; i < path.length - 1; i++) {
                if (!at.has(path[i])) {
                    at.put(path[i], new Json.Obj());
                }
                at = at.obj(path[i]);
            }
            at.put(path[path.length - 1], value(word[1], row.text(word[2]), row, tres));
        }
        return root;
    }

    private static Object value(String kind, String raw, Json.Obj row, Map<String, String> tres) {
        return switch (kind) {
            case "S" -> raw;
            case "I" -> number(raw);
            case "B" -> raw.equals("1");
            case "N" -> raw.isEmpty() ? Tree.infinite() : Tree.number(number(raw));
            case "Z" -> Tree.number(number(raw));
            case "R" -> raw.isEmpty() ? Tree.infinite().put("number", 0.0) : real(raw);
            case "R1" -> real(raw.isEmpty() ? "1" : raw);
            case "T" -> counts(raw, tres);
            case "L" -> texts(raw);
            case "E" -> new ArrayList<>();
            case "SH" -> {
                if (raw.isEmpty()) {
                    yield (Object) (long) EVERYBODYS_SHARES;
                }
                if (raw.equals("parent")) {
                    yield (Object) PARENT_SHARES;
                }
                yield (Object) number(raw);
            }
            case "QF" ->
                new ArrayList<Object>(texts(raw).stream()
                        .map(f -> (Object) QOS_FLAGS.getOrDefault(String.valueOf(f), String.valueOf(f)))
                        .toList());
            case "AF" ->
                row.text("Deleted").equals("1")
                        ? List.<Object>of("DELETED")
                        : new ArrayList<Object>(texts(row.text("Flags")));
            case "PM" -> new ArrayList<Object>(texts(raw.isEmpty() || raw.equals("CLUSTER") ? "DISABLED" : raw));
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private static Json.Obj real(String raw) {
        return new Json.Obj()
                .put("set", Boolean.TRUE)
                .put("infinite", Boolean.FALSE)
                .put("number", raw.matches("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?") ? Double.parseDouble(raw) : 0.0);
    }

    private static List<Object> texts(String list) {
        List<Object> out = new ArrayList<>();
        for (String word : list.split(",")) {
            if (!word.isEmpty()) {
                out.add(word);
            }
        }
        return out;
    }

    private static List<Object> counts(String raw, Map<String, String> ids) {
        List<Object> out = new ArrayList<>();
        for (Object item : texts(raw)) {
            String text = String.valueOf(item);
            int equalSign = text.indexOf('=');
            String full = equalSign < 0 ? text : text.substring(0, equalSign);
            int slash = full.indexOf('/');
            out.add(new Json.Obj()
                    .put("type", slash < 0 ? full : full.substring(0, slash))
                    .put("name", slash < 0 ? "" : full.substring(slash + 1))
                    .put("id", number(ids.getOrDefault(full, "0")))
                    .put("count", equalSign < 0 ? 0 : number(text.substring(equalSign + 1))));
        }
        return out;
    }

    /** Returns 0 for text that is no number, because slurmdbd may be of another release. */
    private static long number(String digits) {
        if (!digits.matches("-?[0-9]+")) {
            return 0;
        }
        if (digits.length() > 18) {
            return Long.MAX_VALUE;
        }
        return Long.parseLong(digits);
    }

    private static Json.Obj shortAssoc(Json.Obj row) {
        return new Json.Obj()
                .put("account", row.text("Account"))
                .put("cluster", row.text("Cluster"))
                .put("partition", row.text("Partition"))
                .put("user", row.text("User"))
                .put("id", wholeNumber(row, "ID"));
    }

    private static long wholeNumber(Json.Obj row, String key) {
        return number(row.text(key));
    }

    private static Json.Obj instance(Json.Obj row) {
        return new Json.Obj()
                .put("cluster", row.text("Cluster"))
                .put("extra", row.text("Extra"))
                .put("instance_id", row.text("InstanceId"))
                .put("instance_type", row.text("InstanceType"))
                .put("node_name", row.text("NodeName"))
                .put(
                        "time",
                        new Json.Obj()
                                .put("time_end", wholeNumber(row, "TimeEnd"))
                                .put("time_start", wholeNumber(row, "TimeStart")));
    }

    /** Converts slurmdbd's statistics of requests; its rows are projections that are never rolled up. */
    public static Json.Obj statistics(List<Json.Obj> rows) {
        Json.Obj statistics = new Json.Obj().put("time_start", 0L);
        Json.Obj rollups = new Json.Obj();
        for (String period : List.of("hourly", "daily", "monthly")) {
            rollups.put(
                    period,
                    new Json.Obj()
                            .put("count", 0L)
                            .put("last_run", 0L)
                            .put(
                                    "duration",
                                    new Json.Obj()
                                            .put("last", 0L)
                                            .put("max", 0L)
                                            .put("time", 0L)));
        }
        List<Object> rpcs = new ArrayList<>();
        List<Object> users = new ArrayList<>();
        for (Json.Obj row : rows) {
            Json.Obj one = new Json.Obj()
                    .put("count", wholeNumber(row, "Count"))
                    .put(
                            "time",
                            new Json.Obj()
                                    .put("average", wholeNumber(row, "Average"))
                                    .put("total", wholeNumber(row, "Total")));
            switch (row.text("Kind")) {
                case "since" -> statistics.put("time_start", wholeNumber(row, "Name"));
                case "type" -> rpcs.add(one.put("rpc", row.text("Name")));
                default -> users.add(one.put("user", row.text("Name")));
            }
        }
        return new Json.Obj()
                .put(
                        "statistics",
                        statistics.put("rollups", rollups).put("RPCs", rpcs).put("users", users));
    }

    /** Rows with associations are one for each: they belong to one user. */
    private static List<Object> users(List<Json.Obj> rows) {
        Map<String, Json.Obj> out = new LinkedHashMap<>();
        for (Json.Obj row : rows) {
            Json.Obj user = out.computeIfAbsent(
                    row.text("User"),
                    n -> new Json.Obj()
                            .put(
                                    "administrator_level",
                                    new ArrayList<Object>(List.of(administratorLevel(row.text("AdminLevel")))))
                            .put("associations", new ArrayList<>())
                            .put("coordinators", coordinators(row))
                            .put(
                                    "default",
                                    new Json.Obj()
                                            .put("qos", wholeNumber(row, "DefaultQOSID"))
                                            .put("account", row.text("DefaultAccount"))
                                            .put("wckey", row.text("DefaultWCKey")))
                            .put("flags", Tree.texts(row.text("UserDeleted").equals("1") ? "DELETED" : "NONE"))
                            .put("name", n)
                            .put("old_name", "")
                            .put("wckeys", new ArrayList<>()));
            if (!row.text("Account").isEmpty()) {
                user.list("associations").add(shortAssoc(row));
            }
        }
        return new ArrayList<>(out.values());
    }

    private static String administratorLevel(String word) {
        return switch (word) {
            case "NONE" -> "None";
            case "OPERATOR" -> "Operator";
            default -> "Administrator";
        };
    }

    /**
     * Returns the coordinators; {@code direct} is false for those inherited from a parent account or from
     * UsersAreCoords.
     */
    private static List<Object> coordinators(Json.Obj row) {
        List<Object> out = new ArrayList<>();
        List<Object> named = texts(row.text("Coordinators"));
        texts(row.text("AllCoordinators"))
                .forEach(n -> out.add(new Json.Obj().put("name", n).put("direct", named.contains(n))));
        return out;
    }

    private static List<Object> accountFlags(Json.Obj row) {
        List<Object> out = new ArrayList<>(texts(row.text("AccountFlags")));
        if (row.text("Deleted").equals("1")) {
            out.add("DELETED");
        }
        return out;
    }

    private static List<Object> accounts(List<Json.Obj> rows) {
        Map<String, Json.Obj> out = new LinkedHashMap<>();
        for (Json.Obj row : rows) {
            Json.Obj account = out.computeIfAbsent(
                    row.text("Account"),
                    n -> new Json.Obj()
                            .put("associations", new ArrayList<>())
                            .put("coordinators", coordinators(row))
                            .put("description", row.text("Descr"))
                            .put("name", n)
                            .put("organization", row.text("Org"))
                            .put("flags", accountFlags(row)));
            if (!row.text("Cluster").isEmpty()) {
                account.list("associations").add(shortAssoc(row));
            }
        }
        return new ArrayList<>(out.values());
    }

    private static Json.Obj cluster(Json.Obj row, Map<String, String> ids) {
        return new Json.Obj()
                .put(
                        "controller",
                        new Json.Obj()
                                .put("host", row.text("ControlHost"))
                                .put("port", number(row.text("ControlPort"))))
                .put("flags", texts(row.text("ClusterFlags")))
                .put("name", row.text("Cluster"))
                .put("nodes", row.text("ClusterNodes"))
                .put(
                        "associations",
                        new Json.Obj()
                                .put(
                                        "root",
                                        new Json.Obj()
                                                .put("account", "root")
                                                .put("cluster", row.text("Cluster"))
                                                .put("partition", "")
                                                .put("user", "")
                                                .put("id", wholeNumber(row, "RootID"))))
                .put("rpc_version", number(row.text("RPC")))
                .put("tres", counts(row.text("TRES"), ids));
    }

    private static Json.Obj wckey(Json.Obj row) {
        String name = row.text("WCKey");
        return new Json.Obj()
                .put("accounting", new ArrayList<>())
                .put("cluster", row.text("Cluster"))
                .put("id", number(row.text("ID")))
                .put("name", Wckey.plain(name))
                .put("user", row.text("User"))
                .put("flags", new ArrayList<>());
    }
}
