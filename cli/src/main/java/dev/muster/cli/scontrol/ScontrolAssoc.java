package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.TresText;
import dev.muster.cli.option.CommonOptions;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Runs {@code scontrol show assoc_mgr}: limits of associations and QOS, and their current usage. */
final class ScontrolAssoc {

    private ScontrolAssoc() {}

    static int show(CommandContext c, ScontrolSwitches s, List<String> filters) {
        Filter filter = new Filter(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (String word : filters) {
            if (!filter.add(word)) {
                c.error("invalid option:" + word);
                return 1;
            }
        }
        Json.Obj reply;
        try {
            reply = c.host().controller().call("QueryAssocMgr", new Json.Obj());
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_assoc_mgr_info error", e);
        }
        c.out().println("Current Association Manager state");
        if (filter.shows("user")) {
            users(c, reply, filter.users, s.oneLine);
        }
        if (filter.shows("assoc")) {
            associations(c, reply, filter, s.oneLine);
        }
        if (filter.shows("qos")) {
            qos(c, reply, filter, s.oneLine);
        }
        return 0;
    }

    /** The words behind {@code show assoc_mgr}; an empty list selects everything. */
    private record Filter(List<String> users, List<String> accounts, List<String> qos, List<String> flags) {
        /** Returns false if the word is no filter. */
        boolean add(String word) {
            int eq = word.indexOf('=');
            String key = Texts.lower(eq < 0 ? word : word.substring(0, eq));
            List<String> values = eq < 0 ? List.of() : Texts.split(word.substring(eq + 1), ',');
            if (key.startsWith("user")) {
                users.addAll(values);
            } else if (key.startsWith("acc")) {
                accounts.addAll(values);
            } else if (key.startsWith("qos")) {
                qos.addAll(values);
            } else if (key.startsWith("flag")) {
                flags.addAll(values);
            } else {
                return false;
            }
            return true;
        }

        boolean shows(String section) {
            return flags.isEmpty()
                    || flags.stream().anyMatch(f -> Texts.lower(f).startsWith(section));
        }

        boolean takes(Json.Obj share) {
            String user = share.text("user");
            // an account's own record has no user: it passes every filter of users
            return (users.isEmpty() || user.isEmpty() || users.contains(user))
                    && (accounts.isEmpty() || accounts.contains(share.text("account")));
        }
    }

    private static void associations(CommandContext c, Json.Obj reply, Filter filter, boolean oneLine) {
        title(
                c,
                oneLine,
                reply.objects("assocs").isEmpty()
                        ? "No associations currently cached in Slurm."
                        : "Association Records");
        for (Json.Obj a : reply.objects("assocs")) {
            Json.Obj share = a.obj("share");
            if (filter.takes(share)) {
                c.out().println(assoc(reply, a, share, oneLine));
            }
        }
    }

    private static void qos(CommandContext c, Json.Obj reply, Filter filter, boolean oneLine) {
        title(c, oneLine, reply.objects("qos").isEmpty() ? "No QOS currently cached in Slurm." : "QOS Records");
        for (Json.Obj q : reply.objects("qos")) {
            if (filter.qos.isEmpty() || filter.qos.contains(q.text("name"))) {
                c.out().println(qos(reply, q, oneLine));
            }
        }
    }

    private static void title(CommandContext c, boolean oneLine, String text) {
        c.out().println(oneLine ? text : "\n" + text + "\n");
    }

    private static void users(CommandContext c, Json.Obj reply, List<String> wanted, boolean oneLine) {
        if (reply.objects("users").isEmpty()) {
            title(c, oneLine, "No users currently cached in Slurm.");
            return;
        }
        title(c, oneLine, "User Records");
        for (Json.Obj u : reply.objects("users")) {
            if (wanted.isEmpty() || wanted.contains(u.text("user"))) {
                c.out()
                        .println("UserName=" + u.text("user") + "(" + u.number("userId") + ") DefAccount="
                                + JobRows.orNull(u.text("defaultAccount")) + " DefWckey="
                                + JobRows.orNull(u.text("defaultWckey")) + " AdminLevel=" + u.text("adminLevel"));
            }
        }
    }

    private static String assoc(Json.Obj reply, Json.Obj a, Json.Obj share, boolean oneLine) {
        Json.Obj l = a.obj("limits");
        String next = oneLine ? " " : "\n    ";
        String user = share.text("user");
        String raw = share.text("rawShares").equals("parent") ? "2147483647" : share.text("rawShares");
        return "ClusterName=" + reply.text("cluster") + " Account=" + share.text("account")
                + " UserName=" + (user.isEmpty() ? "" : user + "(" + a.number("userId") + ")")
                + " Partition=" + share.text("partition") + " Priority="
                + (l.text("Priority").isEmpty() ? "0" : l.text("Priority"))
                + " ID=" + a.number("id")
                + next + "SharesRaw/Norm/Level/Factor=" + raw + "/" + two(share.real("normShares")) + "/"
                + levelShares(reply, a) + "/"
                + two(share.real("fairShare"))
                + next + "UsageRaw/Norm/Efctv=" + two(a.real("usage")) + "/" + two(share.real("normUsage")) + "/"
                + two(share.real("effectiveUsage"))
                + next + "ParentAccount=" + parent(reply, a.text("parent")) + " Lineage=" + lineage(reply, a)
                + " DefAssoc=" + (a.flag("isDefault") ? "Yes" : "No")
                + jobs(a, l, next) + next + submitted(a, l) + group(reply, a, l, next)
                + next + "MaxJobs=" + used(l, "MaxJobs", a.number("running")) + " MaxJobsAccrue="
                + l.text("MaxJobsAccrue")
                + " MaxSubmitJobs=" + used(l, "MaxSubmitJobs", a.number("submitted")) + " MaxWallPJ="
                + l.text("MaxWall")
                + next + "MaxTRESPJ=" + l.text("MaxTRES") + next + "MaxTRESPN=" + l.text("MaxTRESPerNode")
                + next + "MaxTRESMinsPJ=" + l.text("MaxTRESMins")
                + next + "MinPrioThresh=" + l.text("MinPrioThresh")
                + next + "Comment=" + JobRows.orNull(l.text("Comment"));
    }

    /** The sum of the shares of an association and of those beside it; 1 for the root. */
    private static long levelShares(Json.Obj reply, Json.Obj a) {
        String above = above(a);
        return above.isEmpty()
                ? 1
                : reply.objects("assocs").stream()
                        .filter(o -> above(o).equals(above))
                        .map(o -> o.obj("share").text("rawShares"))
                        .filter(shares -> shares.matches("[0-9]{1,9}"))
                        .mapToLong(Long::parseLong)
                        .sum();
    }

    /** The account that an association is in: a user's own, an account's parent; "" for the root. */
    private static String above(Json.Obj a) {
        return a.obj("share").text("user").isEmpty()
                ? a.text("parent")
                : a.obj("share").text("account");
    }

    /** Returns sacctmgr's Lineage: the accounts from below the root, and a user behind {@code 0-}. */
    private static String lineage(Json.Obj reply, Json.Obj a) {
        Json.Obj share = a.obj("share");
        Map<String, String> parents = new HashMap<>();
        reply.objects("assocs").stream()
                .filter(o -> o.obj("share").text("user").isEmpty())
                .forEach(o -> parents.put(o.obj("share").text("account"), o.text("parent")));
        StringBuilder out = new StringBuilder();
        String account = share.text("account");
        for (int depth = 0;
                depth < parents.size() && !parents.getOrDefault(account, "").isEmpty();
                depth++) {
            out.insert(0, account + "/");
            account = parents.get(account);
        }
        out.insert(0, "/");
        if (!share.text("user").isEmpty()) {
            out.append("0-").append(share.text("user")).append('/');
        }
        return share.text("partition").isEmpty()
                ? out.toString()
                : out.append(share.text("partition")).append('/').toString();
    }

    private static String parent(Json.Obj reply, String account) {
        return account.isEmpty()
                ? ""
                : reply.objects("assocs").stream()
                        .filter(o -> o.obj("share").text("account").equals(account)
                                && o.obj("share").text("user").isEmpty())
                        .map(o -> account + "(" + o.number("id") + ")")
                        .findFirst()
                        .orElse(account);
    }

    private static String qos(Json.Obj reply, Json.Obj q, boolean oneLine) {
        Json.Obj l = q.obj("limits");
        String next = oneLine ? " " : "\n    ";
        Map<String, String> rest = new LinkedHashMap<>();
        rest.put("MaxWallPJ", "MaxWall");
        rest.put("MaxTRESPJ", "MaxTRES");
        rest.put("MaxTRESPN", "MaxTRESPerNode");
        rest.put("MaxTRESMinsPJ", "MaxTRESMins");
        rest.put("MinPrioThresh", "MinPrioThresh");
        rest.put("MinTRESPJ", "MinTRES");
        StringBuilder out = new StringBuilder("QOS=")
                .append(q.text("name"))
                .append('(')
                .append(q.number("id"))
                .append(')')
                .append(next)
                .append("UsageRaw=")
                .append(String.format(Locale.ROOT, "%.6f", q.real("usage")))
                .append(jobs(q, l, next))
                .append(' ')
                .append(submitted(q, l))
                .append(group(reply, q, l, next));
        rest.forEach((shown, field) -> out.append(next)
                .append(shown)
                .append('=')
                .append(l.text(field))
                .append(shown.equals("MinPrioThresh") ? " " : ""));
        return out.append(next)
                .append("PreemptMode=")
                .append(l.text("PreemptMode").matches("|CLUSTER|OFF") ? "OFF" : l.text("PreemptMode"))
                .append(next)
                .append("Priority=")
                .append(l.text("Priority").isEmpty() ? "0" : l.text("Priority"))
                .append(parts(reply, l, q.objects("accounts"), "PA", oneLine))
                .append(parts(reply, l, q.objects("users"), "PU", oneLine))
                .toString();
    }

    private static String parts(Json.Obj reply, Json.Obj l, List<Json.Obj> parts, String of, boolean oneLine) {
        String next = oneLine ? " " : "\n    ";
        String whose = of.equals("PA") ? "Account" : "User";
        StringBuilder out = new StringBuilder(next).append(whose).append(oneLine ? " Limits=" : " Limits");
        if (parts.isEmpty()) {
            out.append(oneLine ? "" : next + "    ").append("No ").append(whose).append('s');
        }
        for (Json.Obj p : parts) {
            String below = oneLine ? " " : next + "    ";
            out.append(oneLine ? " " : next + "  ")
                    .append(p.text("name"))
                    .append(oneLine ? "={" : below)
                    .append("MaxJobs")
                    .append(of)
                    .append('=')
                    .append(limit(l, "MaxJobs" + of, p.number("running")))
                    .append(" MaxJobsAccrue")
                    .append(of)
                    .append('=')
                    .append(limit(l, "MaxJobsAccrue" + of, p.number("accruing")))
                    .append(" MaxSubmitJobs")
                    .append(of)
                    .append('=')
                    .append(limit(l, "MaxSubmitJobs" + of, p.number("submitted")))
                    .append(below)
                    .append("MaxTRES")
                    .append(of)
                    .append('=')
                    .append(tres(reply, l.text("MaxTRES" + of), p.obj("tres")))
                    .append(oneLine ? "}" : "");
        }
        return out.toString();
    }

    private static String jobs(Json.Obj row, Json.Obj l, String next) {
        return next + "GrpJobs=" + limit(l, "GrpJobs", row.number("running")) + " GrpJobsAccrue="
                + limit(l, "GrpJobsAccrue", row.number("accruing"));
    }

    private static String submitted(Json.Obj row, Json.Obj l) {
        return "GrpSubmitJobs=" + limit(l, "GrpSubmitJobs", row.number("submitted")) + " GrpWall="
                + none(l.text("GrpWall")) + "(" + two(row.real("wallMin")) + ")";
    }

    private static String group(Json.Obj reply, Json.Obj row, Json.Obj l, String next) {
        return next + "GrpTRES=" + tres(reply, l.text("GrpTRES"), row.obj("tres"))
                + next + "GrpTRESMins=" + tres(reply, l.text("GrpTRESMins"), row.obj("usedMins"))
                + next + "GrpTRESRunMins=" + tres(reply, l.text("GrpTRESRunMins"), row.obj("runMins"));
    }

    private static String none(String limit) {
        return limit.isEmpty() ? "N" : limit;
    }

    private static String limit(Json.Obj l, String name, long used) {
        return none(l.text(name)) + "(" + used + ")";
    }

    private static String used(Json.Obj l, String name, long used) {
        return l.text(name).isEmpty() ? "" : l.text(name) + "(" + used + ")";
    }

    private static String tres(Json.Obj reply, String limits, Json.Obj used) {
        Map<String, String> set = new LinkedHashMap<>();
        for (String item : Texts.split(limits, ',')) {
            int eq = item.indexOf('=');
            if (eq > 0) {
                set.put(item.substring(0, eq), item.substring(eq + 1));
            }
        }
        List<String> names = new ArrayList<>(TresText.EVERYWHERE);
        names.addAll(reply.texts("tracked"));
        set.keySet().stream().filter(n -> !names.contains(n)).forEach(names::add);
        used.fields().keySet().stream().filter(n -> !names.contains(n)).forEach(names::add);
        List<String> out = new ArrayList<>();
        names.forEach(n -> out.add(n + "=" + none(set.getOrDefault(n, "")) + "(" + used.number(n) + ")"));
        return String.join(",", out);
    }

    private static String two(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
