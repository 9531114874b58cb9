package dev.muster.cli.acct;

import dev.muster.cli.CommandContext;
import dev.muster.cli.Tree;
import dev.muster.cli.UsageException;
import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code --json} and {@code --yaml}: the shapes of data parser v0.0.45. */
final class AcctJson {
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
            usage_threshold R UsageThreshold""";

    private static final String ASSOC = """
            accounting E -
            account S Account
            cluster S Cluster
            comment S Comment
            default.qos S DefaultQOS
            flags AF -
            max.jobs.per.count N MaxJobs
            max.jobs.per.accruing N MaxJobsAccrue
            max.jobs.per.submitted N MaxSubmitJobs
            max.jobs.per.wall_clock N MaxWall
            max.jobs.active N GrpJobs
            max.jobs.accruing N GrpJobsAccrue
            max.jobs.total N GrpSubmitJobs
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
            user S User""";

    private static final Map<String, String> QOS_FLAGS = Map.ofEntries(Map.entry("DenyOnLimit", "DENY_LIMIT"),
            Map.entry("EnforceUsageThreshold", "ENFORCE_USAGE_THRESHOLD"), Map.entry("NoReserve", "NO_RESERVE"),
            Map.entry("PartitionMaxNodes", "PARTITION_MAXIMUM_NODE"), Map.entry("PartitionMinNodes", "PARTITION_MINIMUM_NODE"),
            Map.entry("OverPartQOS", "OVERRIDE_PARTITION_QOS"), Map.entry("PartitionTimeLimit", "PARTITION_TIME_LIMIT"),
            Map.entry("RequiresReservation", "REQUIRED_RESERVATION"), Map.entry("NoDecay", "NO_DECAY"),
            Map.entry("UsageFactorSafe", "USAGE_FACTOR_SAFE"), Map.entry("Relative", "RELATIVE"));
    private static final int EVERYBODYS_SHARES = 1;
    private static final long PARENT_SHARES = 0x7fff_ffffL;

    private AcctJson() {}

    static int print(CommandContext c, Sacctmgr.Settings s, Entity entity, List<Json.Obj> rows, List<Json.Obj> tres) throws UsageException {
        Map<String, String> ids = new LinkedHashMap<>();
        for (Json.Obj t : tres) {
            ids.put(t.text("Name").isEmpty() ? t.text("Type") : t.text("Type") + "/" + t.text("Name"), t.text("ID"));
        }
        Json.Obj answer = switch (entity.name()) {
            case "qos" -> new Json.Obj().put("qos", each(rows, r -> tree(QOS, r, ids)));
            case "association" -> new Json.Obj().put("associations", each(rows, r -> tree(ASSOC, r, ids)));
            case "user" -> new Json.Obj().put("users", users(rows));
            case "account" -> new Json.Obj().put("accounts", accounts(rows));
            case "cluster" -> new Json.Obj().put("clusters", each(rows, r -> cluster(r, ids)));
            case "tres" -> new Json.Obj().put("TRES", each(rows, r -> new Json.Obj().put("type", r.text("Type")).put("name", r.text("Name"))
                    .put("id", r.number("ID") == 0 ? Long.parseLong(r.text("ID")) : r.number("ID")).put("count", 0L)));
            case "wckey" -> new Json.Obj().put("wckeys", each(rows, AcctJson::wckey));
            default -> throw new UsageException(1, List.of("sacctmgr: error: --" + s.json + " is not supported by this version for "
                    + entity.name()));
        };
        return Tree.print(c, s.json, s.parser, answer);
    }

    private interface Shape {
        Object of(Json.Obj row);
    }

    private static List<Object> each(List<Json.Obj> rows, Shape shape) {
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
            case "I" -> raw.isEmpty() ? 0L : Long.parseLong(raw);
            case "B" -> raw.equals("1");
            case "N" -> raw.isEmpty() ? Tree.infinite() : Tree.number(Long.parseLong(raw));
            case "Z" -> Tree.number(raw.isEmpty() ? 0 : Long.parseLong(raw));
            case "R" -> raw.isEmpty() ? Tree.infinite() : real(raw);
            case "R1" -> real(raw.isEmpty() ? "1" : raw);
            case "T" -> counts(raw, tres);
            case "L" -> texts(raw);
            case "E" -> new ArrayList<>();
            case "SH" -> raw.isEmpty() ? (Object) (long) EVERYBODYS_SHARES : raw.equals("parent") ? (Object) PARENT_SHARES
                    : (Object) Long.parseLong(raw);
            case "QF" -> new ArrayList<Object>(texts(raw).stream().map(f -> (Object) QOS_FLAGS.getOrDefault(String.valueOf(f),
                    String.valueOf(f))).toList());
            case "AF" -> row.text("Deleted").equals("1") ? List.<Object>of("DELETED") : new ArrayList<>();
            case "PM" -> new ArrayList<Object>(texts(raw.isEmpty() || raw.equals("CLUSTER") ? "DISABLED" : raw));
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private static Json.Obj real(String raw) {
        return new Json.Obj().put("set", Boolean.TRUE).put("infinite", Boolean.FALSE).put("number", Double.parseDouble(raw));
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
            int eq = text.indexOf('=');
            String full = text.substring(0, eq);
            int slash = full.indexOf('/');
            out.add(new Json.Obj().put("type", slash < 0 ? full : full.substring(0, slash)).put("name", slash < 0 ? "" : full.substring(slash + 1))
                    .put("id", Long.parseLong(ids.getOrDefault(full, "0"))).put("count", number(text.substring(eq + 1))));
        }
        return out;
    }

    private static long number(String digits) {
        return digits.length() > 18 ? Long.MAX_VALUE : Long.parseLong(digits);
    }

    private static Json.Obj shortAssoc(Json.Obj r) {
        return new Json.Obj().put("account", r.text("Account")).put("cluster", r.text("Cluster")).put("partition", r.text("Partition"))
                .put("user", r.text("User")).put("id", r.text("ID").isEmpty() ? 0L : Long.parseLong(r.text("ID")));
    }

    /** Rows with associations are one for each: they belong to one user. */
    private static List<Object> users(List<Json.Obj> rows) {
        Map<String, Json.Obj> out = new LinkedHashMap<>();
        for (Json.Obj r : rows) {
            Json.Obj user = out.computeIfAbsent(r.text("User"), n -> new Json.Obj()
                    .put("administrator_level", new ArrayList<Object>(List.of(r.text("AdminLevel").equals("NONE") ? "None"
                            : r.text("AdminLevel").equals("OPERATOR") ? "Operator" : "Administrator")))
                    .put("associations", new ArrayList<>()).put("coordinators", coordinators(r.text("Coordinators")))
                    .put("default", new Json.Obj().put("qos", 0L).put("account", r.text("DefaultAccount")).put("wckey", r.text("DefaultWCKey")))
                    .put("flags", r.text("UserDeleted").equals("1") ? new ArrayList<Object>(List.of("DELETED")) : new ArrayList<Object>())
                    .put("name", n).put("old_name", "").put("wckeys", new ArrayList<>()));
            if (!r.text("Account").isEmpty()) {
                user.list("associations").add(shortAssoc(r));
            }
        }
        return new ArrayList<>(out.values());
    }

    private static List<Object> coordinators(String names) {
        List<Object> out = new ArrayList<>();
        texts(names).forEach(n -> out.add(new Json.Obj().put("name", n).put("direct", Boolean.TRUE)));
        return out;
    }

    private static List<Object> accounts(List<Json.Obj> rows) {
        Map<String, Json.Obj> out = new LinkedHashMap<>();
        for (Json.Obj r : rows) {
            Json.Obj account = out.computeIfAbsent(r.text("Account"), n -> new Json.Obj().put("associations", new ArrayList<>())
                    .put("coordinators", coordinators(r.text("Coordinators"))).put("description", r.text("Descr")).put("name", n)
                    .put("organization", r.text("Org")).put("flags", r.text("Deleted").equals("1") ? new ArrayList<Object>(List.of("DELETED"))
                            : new ArrayList<Object>()));
            if (!r.text("Cluster").isEmpty()) {
                account.list("associations").add(shortAssoc(r));
            }
        }
        return new ArrayList<>(out.values());
    }

    private static Json.Obj cluster(Json.Obj r, Map<String, String> ids) {
        return new Json.Obj().put("controller", new Json.Obj().put("host", r.text("ControlHost")).put("port", Long.parseLong(r.text("ControlPort"))))
                .put("flags", texts(r.text("ClusterFlags"))).put("name", r.text("Cluster")).put("nodes", r.text("ClusterNodes"))
                .put("associations", new Json.Obj().put("root", new Json.Obj().put("account", "root").put("cluster", r.text("Cluster"))
                        .put("partition", "").put("user", "").put("id", 0L)))
                .put("rpc_version", Long.parseLong(r.text("RPC"))).put("tres", counts(r.text("TRES"), ids));
    }

    private static Json.Obj wckey(Json.Obj r) {
        String name = r.text("WCKey");
        return new Json.Obj().put("accounting", new ArrayList<>()).put("cluster", r.text("Cluster")).put("id", Long.parseLong(r.text("ID")))
                .put("name", name.startsWith("*") ? name.substring(1) : name).put("user", r.text("User")).put("flags", new ArrayList<>());
    }
}
