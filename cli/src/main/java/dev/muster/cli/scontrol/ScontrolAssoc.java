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

    static int show(CommandContext context, ScontrolSwitches switches, List<String> filters) {
        Filter filter = new Filter(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (String word : filters) {
            if (!filter.add(word)) {
                context.error("invalid option:" + word);
                return 1;
            }
        }
        Json.Obj reply;
        try {
            reply = context.host().controller().call("QueryAssocMgr", new Json.Obj());
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_assoc_mgr_info error", e);
        }
        context.out().println("Current Association Manager state");
        if (filter.shows("user")) {
            users(context, reply, filter.users, switches.oneLine);
        }
        if (filter.shows("assoc")) {
            associations(context, reply, filter, switches.oneLine);
        }
        if (filter.shows("qos")) {
            qos(context, reply, filter, switches.oneLine);
        }
        return 0;
    }

    /** The words behind {@code show assoc_mgr}; an empty list selects everything. */
    private record Filter(List<String> users, List<String> accounts, List<String> qos, List<String> flags) {
        /** Returns false if the word is no filter. */
        boolean add(String word) {
            int equalSign = word.indexOf('=');
            String key = Texts.lower(equalSign < 0 ? word : word.substring(0, equalSign));
            List<String> values = equalSign < 0 ? List.of() : Texts.split(word.substring(equalSign + 1), ',');
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

    private static void associations(CommandContext context, Json.Obj reply, Filter filter, boolean oneLine) {
        title(
                context,
                oneLine,
                reply.objects("assocs").isEmpty()
                        ? "No associations currently cached in Slurm."
                        : "Association Records");
        for (Json.Obj assoc : reply.objects("assocs")) {
            Json.Obj share = assoc.obj("share");
            if (filter.takes(share)) {
                context.out().println(assoc(reply, assoc, share, oneLine));
            }
        }
    }

    private static void qos(CommandContext context, Json.Obj reply, Filter filter, boolean oneLine) {
        title(context, oneLine, reply.objects("qos").isEmpty() ? "No QOS currently cached in Slurm." : "QOS Records");
        for (Json.Obj query : reply.objects("qos")) {
            if (filter.qos.isEmpty() || filter.qos.contains(query.text("name"))) {
                context.out().println(qos(reply, query, oneLine));
            }
        }
    }

    private static void title(CommandContext context, boolean oneLine, String text) {
        context.out().println(oneLine ? text : "\n" + text + "\n");
    }

    private static void users(CommandContext context, Json.Obj reply, List<String> wanted, boolean oneLine) {
        if (reply.objects("users").isEmpty()) {
            title(context, oneLine, "No users currently cached in Slurm.");
            return;
        }
        title(context, oneLine, "User Records");
        for (Json.Obj user : reply.objects("users")) {
            if (wanted.isEmpty() || wanted.contains(user.text("user"))) {
                context.out()
                        .println("UserName=" + user.text("user") + "(" + user.number("userId") + ") DefAccount="
                                + JobRows.orNull(user.text("defaultAccount")) + " DefWckey="
                                + JobRows.orNull(user.text("defaultWckey")) + " AdminLevel=" + user.text("adminLevel"));
            }
        }
    }

    private static String assoc(Json.Obj reply, Json.Obj assoc, Json.Obj share, boolean oneLine) {
        Json.Obj limits = assoc.obj("limits");
        String next = oneLine ? " " : "\n    ";
        String user = share.text("user");
        String raw = share.text("rawShares").equals("parent") ? "2147483647" : share.text("rawShares");
        return "ClusterName=" + reply.text("cluster") + " Account=" + share.text("account")
                + " UserName=" + (user.isEmpty() ? "" : user + "(" + assoc.number("userId") + ")")
                + " Partition=" + share.text("partition") + " Priority="
                + (limits.text("Priority").isEmpty() ? "0" : limits.text("Priority"))
                + " ID=" + assoc.number("id")
                + next + "SharesRaw/Norm/Level/Factor=" + raw + "/" + two(share.real("normShares")) + "/"
                + levelShares(reply, assoc) + "/"
                + two(share.real("fairShare"))
                + next + "UsageRaw/Norm/Efctv=" + two(assoc.real("usage")) + "/" + two(share.real("normUsage")) + "/"
                + two(share.real("effectiveUsage"))
                + next + "ParentAccount=" + parent(reply, assoc.text("parent")) + " Lineage=" + lineage(reply, assoc)
                + " DefAssoc=" + (assoc.flag("isDefault") ? "Yes" : "No")
                + jobs(assoc, limits, next) + next + submitted(assoc, limits) + group(reply, assoc, limits, next)
                + next + "MaxJobs=" + used(limits, "MaxJobs", assoc.number("running")) + " MaxJobsAccrue="
                + limits.text("MaxJobsAccrue")
                + " MaxSubmitJobs=" + used(limits, "MaxSubmitJobs", assoc.number("submitted")) + " MaxWallPJ="
                + limits.text("MaxWall")
                + next + "MaxTRESPJ=" + limits.text("MaxTRES") + next + "MaxTRESPN=" + limits.text("MaxTRESPerNode")
                + next + "MaxTRESMinsPJ=" + limits.text("MaxTRESMins")
                + next + "MinPrioThresh=" + limits.text("MinPrioThresh")
                + next + "Comment=" + JobRows.orNull(limits.text("Comment"));
    }

    /** The sum of the shares of an association and of those beside it; 1 for the root. */
    private static long levelShares(Json.Obj reply, Json.Obj assoc) {
        String above = above(assoc);
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
    private static String above(Json.Obj assoc) {
        return assoc.obj("share").text("user").isEmpty()
                ? assoc.text("parent")
                : assoc.obj("share").text("account");
    }

    /** Returns sacctmgr's Lineage: the accounts from below the root, and a user behind {@code 0-}. */
    private static String lineage(Json.Obj reply, Json.Obj assoc) {
        Json.Obj share = assoc.obj("share");
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

    private static String qos(Json.Obj reply, Json.Obj query, boolean oneLine) {
        Json.Obj limits = query.obj("limits");
        String next = oneLine ? " " : "\n    ";
        Map<String, String> rest = new LinkedHashMap<>();
        rest.put("MaxWallPJ", "MaxWall");
        rest.put("MaxTRESPJ", "MaxTRES");
        rest.put("MaxTRESPN", "MaxTRESPerNode");
        rest.put("MaxTRESMinsPJ", "MaxTRESMins");
        rest.put("MinPrioThresh", "MinPrioThresh");
        rest.put("MinTRESPJ", "MinTRES");
        StringBuilder out = new StringBuilder("QOS=")
                .append(query.text("name"))
                .append('(')
                .append(query.number("id"))
                .append(')')
                .append(next)
                .append("UsageRaw=")
                .append(String.format(Locale.ROOT, "%.6f", query.real("usage")))
                .append(jobs(query, limits, next))
                .append(' ')
                .append(submitted(query, limits))
                .append(group(reply, query, limits, next));
        rest.forEach((shown, field) -> out.append(next)
                .append(shown)
                .append('=')
                .append(limits.text(field))
                .append(shown.equals("MinPrioThresh") ? " " : ""));
        return out.append(next)
                .append("PreemptMode=")
                .append(limits.text("PreemptMode").matches("|CLUSTER|OFF") ? "OFF" : limits.text("PreemptMode"))
                .append(next)
                .append("Priority=")
                .append(limits.text("Priority").isEmpty() ? "0" : limits.text("Priority"))
                .append(parts(reply, limits, query.objects("accounts"), "PA", oneLine))
                .append(parts(reply, limits, query.objects("users"), "PU", oneLine))
                .toString();
    }

    private static String parts(Json.Obj reply, Json.Obj limits, List<Json.Obj> parts, String owner, boolean oneLine) {
        String next = oneLine ? " " : "\n    ";
        String whose = owner.equals("PA") ? "Account" : "User";
        StringBuilder out = new StringBuilder(next).append(whose).append(oneLine ? " Limits=" : " Limits");
        if (parts.isEmpty()) {
            out.append(oneLine ? "" : next + "    ").append("No ").append(whose).append('s');
        }
        for (Json.Obj part : parts) {
            String below = oneLine ? " " : next + "    ";
            out.append(oneLine ? " " : next + "  ")
                    .append(part.text("name"))
                    .append(oneLine ? "={" : below)
                    .append("MaxJobs")
                    .append(owner)
                    .append('=')
                    .append(limit(limits, "MaxJobs" + owner, part.number("running")))
                    .append(" MaxJobsAccrue")
                    .append(owner)
                    .append('=')
                    .append(limit(limits, "MaxJobsAccrue" + owner, part.number("accruing")))
                    .append(" MaxSubmitJobs")
                    .append(owner)
                    .append('=')
                    .append(limit(limits, "MaxSubmitJobs" + owner, part.number("submitted")))
                    .append(below)
                    .append("MaxTRES")
                    .append(owner)
                    .append('=')
                    .append(tres(reply, limits.text("MaxTRES" + owner), part.obj("tres")))
                    .append(oneLine ? "}" : "");
        }
        return out.toString();
    }

    private static String jobs(Json.Obj row, Json.Obj limits, String next) {
        return next + "GrpJobs=" + limit(limits, "GrpJobs", row.number("running")) + " GrpJobsAccrue="
                + limit(limits, "GrpJobsAccrue", row.number("accruing"));
    }

    private static String submitted(Json.Obj row, Json.Obj limits) {
        return "GrpSubmitJobs=" + limit(limits, "GrpSubmitJobs", row.number("submitted")) + " GrpWall="
                + none(limits.text("GrpWall")) + "(" + two(row.real("wallMin")) + ")";
    }

    private static String group(Json.Obj reply, Json.Obj row, Json.Obj limits, String next) {
        return next + "GrpTRES=" + tres(reply, limits.text("GrpTRES"), row.obj("tres"))
                + next + "GrpTRESMins=" + tres(reply, limits.text("GrpTRESMins"), row.obj("usedMins"))
                + next + "GrpTRESRunMins=" + tres(reply, limits.text("GrpTRESRunMins"), row.obj("runMins"));
    }

    private static String none(String limit) {
        return limit.isEmpty() ? "N" : limit;
    }

    private static String limit(Json.Obj limits, String name, long used) {
        return none(limits.text(name)) + "(" + used + ")";
    }

    private static String used(Json.Obj limits, String name, long used) {
        return limits.text(name).isEmpty() ? "" : limits.text(name) + "(" + used + ")";
    }

    private static String tres(Json.Obj reply, String limits, Json.Obj used) {
        Map<String, String> set = new LinkedHashMap<>();
        for (String item : Texts.split(limits, ',')) {
            int equalSign = item.indexOf('=');
            if (equalSign > 0) {
                set.put(item.substring(0, equalSign), item.substring(equalSign + 1));
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
