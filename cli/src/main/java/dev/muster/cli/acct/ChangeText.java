package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.json.Json;
import dev.muster.model.accounting.LimitField;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Prints what a change of sacctmgr does. */
final class ChangeText {
    /** Properties of an account; all other settings are limits of its associations. */
    private static final List<String> OF_ACCOUNTS = List.of("description", "organization", "Flags");
    /** Names of limits that differ from the fields' own. */
    private static final Map<String, String> QOS_LABELS = Map.of(
            "MaxTRESPU",
            "MaxTRESPerUser",
            "MaxTRESPA",
            "MaxTRESPerAccount",
            "MaxJobsPU",
            "MaxJobsPerUser",
            "MaxJobsPA",
            "MaxJobsPerAccount",
            "MaxSubmitJobsPU",
            "MaxSubmitJobsPerUser",
            "MaxSubmitJobsPA",
            "MaxSubmitJobsPerAccount",
            "MinTRES",
            "MinTRESPerJob",
            "MaxTRES",
            "MaxTRESPerJob",
            "MaxTRESMins",
            "MaxTRESMinsPerJob");

    private final CommandContext context;
    private final String verb;
    private final Entity entity;
    private final Map<String, String> set;
    private final Map<String, String> conditions;

    ChangeText(
            CommandContext context,
            String verb,
            Entity entity,
            Map<String, String> set,
            Map<String, String> conditions) {
        this.context = context;
        this.verb = verb;
        this.entity = entity;
        this.set = set;
        this.conditions = conditions;
    }

    /** Prints the change. Returns false, with a message, if the change has no effect. */
    boolean print(Json.Obj reply) {
        return switch (verb + " " + entity.name()) {
            case "add account" -> addAccounts(reply);
            case "add user" -> addUsers(reply);
            case "add cluster" -> addClusters(reply);
            case "add qos" -> addQos(reply);
            case "add resource" -> addResources(reply);
            case "add coordinator" -> addCoordinators(reply);
            case "delete coordinator" -> deleteCoordinators(reply);
            case "modify cluster" -> modifyClusters(reply);
            case "modify account" ->
                modified(reply, "accounts", "account", OF_ACCOUNTS.stream().anyMatch(set::containsKey));
            case "modify user" ->
                modified(
                        reply,
                        "users",
                        "user",
                        set.containsKey("adminlevel")
                                || set.containsKey("defaultaccount")
                                || set.containsKey("defaultwckey")
                                || set.containsKey("newname"));
            case "modify job" -> jobs(reply);
            case "modify qos" -> names(reply, " Modified qos...", " Nothing modified");
            case "modify resource" -> names(reply, " Modified server resource ...", " Nothing modified");
            case "delete account" -> deleted(reply, "accounts", "account");
            case "delete user" -> deleted(reply, "users", "user");
            case "delete cluster" -> names(reply, " Deleting clusters...", "Nothing deleted");
            case "delete qos" -> names(reply, " Deleting QOS(s)...", " Nothing deleted");
            case "delete resource" -> names(reply, " Deleting resource(s)...", " Nothing deleted");
            default -> names(reply, " " + verb, "Nothing done");
        };
    }

    private void say(String line) {
        context.out().println(line);
    }

    private boolean nothing(String kinds) {
        say(" " + kinds);
        return false;
    }

    private boolean names(Json.Obj reply, String heading, String nothing) {
        List<String> names = reply.texts("names");
        if (names.isEmpty()) {
            return nothing(nothing);
        }
        say(heading);
        names.forEach(n -> say("  " + n));
        return true;
    }

    private boolean jobs(Json.Obj reply) {
        say(" Modified jobs...");
        for (String name : reply.texts("names")) {
            int tab = name.indexOf('\t');
            say("  " + name.substring(0, tab) + " submitted at "
                    + Times.strftime(
                            Long.parseLong(name.substring(tab + 1)),
                            context.host().zone(),
                            "%Y-%m-%dT%H:%M:%S"));
        }
        return true;
    }

    static String pad(String text, int width) {
        return text.length() >= width ? text : text + " ".repeat(width - text.length());
    }

    static String assoc(Json.Obj assoc) {
        StringBuilder out = new StringBuilder("  C = ")
                .append(pad(assoc.text("cluster"), 10))
                .append(" A = ");
        if (assoc.text("user").isEmpty()) {
            return out.append(assoc.text("account"))
                    .append(assoc.text("parent").isEmpty() ? "" : " of " + assoc.text("parent"))
                    .toString();
        }
        out.append(pad(assoc.text("account"), 20)).append(" U = ").append(pad(assoc.text("user"), 9));
        return (assoc.text("partition").isEmpty() ? out : out.append(" P = ").append(assoc.text("partition")))
                .toString();
    }

    // ---- limits

    private String value(LimitField field, String raw) {
        if (raw.isEmpty()) {
            return "NONE";
        }
        return switch (field.kind()) {
            case TRES -> Printer.tres(raw);
            case MINUTES -> Printer.shown(context, Entity.Kind.MINUTES, raw);
            case SECONDS -> field.name().equals("GraceTime") ? raw : Printer.shown(context, Entity.Kind.SECONDS, raw);
            case REAL -> raw.substring(0, raw.length() - 2);
            case FLAGS -> {
                if (field.name().equals("PreemptMode")) {
                    yield raw.toUpperCase(java.util.Locale.ROOT);
                }
                if (raw.startsWith("+=") || raw.startsWith("-=")) {
                    yield raw.charAt(0) + raw.substring(2);
                }
                yield raw;
            }
            default -> raw.startsWith("+=") || raw.startsWith("-=") ? raw.charAt(0) + raw.substring(2) : raw;
        };
    }

    private void limits(List<LimitField> table, int width, Map<String, String> labels) {
        List<LimitField> order = new ArrayList<>(table);
        for (LimitField field : order) {
            boolean standard = table == LimitField.ASSOC && field.kind() == LimitField.Kind.FLAGS
                    || field.name().equals("PreemptMode")
                            && set.getOrDefault("PreemptMode", "").matches("(?i)off|cluster");
            if (set.containsKey(field.name()) && !field.name().equals("Description") && !standard) {
                String raw = set.get(field.name());
                say("  " + pad(labels.getOrDefault(field.name(), field.name()), width) + " = " + value(field, raw));
            }
        }
    }

    private boolean limited(List<LimitField> table) {
        return table.stream()
                .anyMatch(f ->
                        set.containsKey(f.name()) && !(table == LimitField.ASSOC && OF_ACCOUNTS.contains(f.name())));
    }

    // ---- adding

    private boolean addAccounts(Json.Obj reply) {
        if (!reply.texts("names").isEmpty()) {
            say(" Adding Account(s)");
            reply.texts("names").forEach(n -> say("  " + n));
            say(" Settings");
            say("  Description     = " + set.getOrDefault("description", "Account Name"));
            say("  Organization    = " + set.getOrDefault("organization", "Parent/Account Name"));
        }
        List<Json.Obj> added = reply.objects("assocs");
        if (!added.isEmpty()) {
            List<String> there = existing(added);
            there.forEach(n -> say("Already existing account " + n + " on cluster "
                    + added.getFirst().text("cluster")));
            if (there.isEmpty()) {
                say(" Associations =");
            }
            added.forEach(
                    assoc -> say("  C = " + pad(assoc.text("cluster"), 10) + " A = " + pad(assoc.text("account"), 20)));
        }
        if (limited(LimitField.ASSOC) || set.containsKey("parent")) {
            say(" Settings");
            limits(LimitField.ASSOC, 13, Map.of("DefaultQOS", "DefQOS"));
            if (set.containsKey("parent")) {
                say("  Parent        = " + set.get("parent"));
            }
        }
        return true;
    }

    /** Accounts that were named and are not among those added. */
    private List<String> existing(List<Json.Obj> added) {
        List<String> out = new ArrayList<>();
        for (String name : conditions
                .getOrDefault("name", "")
                .toLowerCase(java.util.Locale.ROOT)
                .split(",")) {
            if (!name.isBlank()
                    && added.stream().noneMatch(assoc -> assoc.text("account").equals(name))) {
                out.add(name);
            }
        }
        return out;
    }

    private boolean addUsers(Json.Obj reply) {
        if (!reply.texts("names").isEmpty()) {
            say(" Adding User(s)");
            reply.texts("names").forEach(n -> say("  " + n));
        }
        if (!reply.texts("names").isEmpty()) {
            say(" Settings");
            if (set.containsKey("defaultaccount")) {
                say("  Default Account = " + set.get("defaultaccount"));
            }
            if (set.containsKey("defaultwckey")) {
                say("  Default WCKey   = " + set.get("defaultwckey"));
            }
            if (set.containsKey("adminlevel")) {
                say("  Admin Level     = " + level(set.get("adminlevel")));
            }
        }
        List<String[]> more =
                reply.texts("more").stream().map(m -> m.split("\n")).toList();
        userAssociations(
                reply.objects("assocs"),
                more.stream().filter(m -> m.length == 2).toList());
        if (more.stream().anyMatch(m -> m.length > 2)) {
            say(" Wckey(s)");
            for (String[] part : more.stream().filter(m -> m.length > 2).toList()) {
                say("  C = " + pad(part[0], 10) + " W = " + pad(part[2], 10) + " U = " + pad(part[1], 9));
            }
        }
        if (!reply.objects("assocs").isEmpty() && limited(LimitField.ASSOC)) {
            say(" Non Default Settings");
            limits(LimitField.ASSOC, 13, Map.of("DefaultQOS", "DefQOS"));
        }
        return true;
    }

    /** Prints new associations and accounts missing on a cluster, under the heading of the first of the two. */
    private void userAssociations(List<Json.Obj> added, List<String[]> skipped) {
        List<String> missing = skipped.stream()
                .map(m -> "No account " + m[1] + " on cluster " + m[0] + ", skipping.")
                .toList();
        String accounts = conditions.getOrDefault("account", "").toLowerCase(java.util.Locale.ROOT);
        boolean missingFirst = !skipped.isEmpty() && accounts.startsWith(skipped.getFirst()[1]);
        if (missingFirst) {
            missing.forEach(this::say);
        } else if (!added.isEmpty()) {
            say(" Associations =");
        }
        added.forEach(assoc -> say(assoc(assoc)));
        if (!missingFirst) {
            missing.forEach(this::say);
        }
    }

    private static String level(String typed) {
        return typed.isEmpty()
                ? "None"
                : switch (Character.toLowerCase(typed.charAt(0))) {
                    case 'o' -> "Operator";
                    case 'a', 's' -> "Administrator";
                    default -> "None";
                };
    }

    private boolean addClusters(Json.Obj reply) {
        say(" Adding Cluster(s)");
        reply.texts("names").forEach(n -> say("  Name           = " + n));
        if (limited(LimitField.ASSOC)) {
            say(" Setting");
            say("  Default Limits:");
            limits(LimitField.ASSOC, 13, Map.of("DefaultQOS", "DefQOS"));
        }
        return true;
    }

    private boolean addQos(Json.Obj reply) {
        say(" Adding QOS(s)");
        reply.texts("names").forEach(n -> say("  " + n));
        say(" Settings");
        say("  Description    = "
                + set.getOrDefault("Description", reply.texts("names").getLast()));
        limits(LimitField.QOS, 24, QOS_LABELS);
        return true;
    }

    private boolean addResources(Json.Obj reply) {
        say(" Adding Resource(s)");
        reply.texts("names").forEach(n -> say("  " + n));
        reply.texts("more").forEach(this::say);
        say(" Settings");
        say("  Name           = " + conditions.getOrDefault("name", ""));
        say("  Server         = " + set.getOrDefault("server", "slurmdb"));
        say("  Description    = " + set.getOrDefault("description", conditions.getOrDefault("name", "")));
        if (set.containsKey("servertype")) {
            say("  ServerType     = " + set.get("servertype"));
        }
        if (set.containsKey("count")) {
            say("  Count          = " + set.get("count"));
        }
        if (set.containsKey("flags")) {
            say("  Flags          = " + set.get("flags"));
        }
        say("  Type           = "
                + (set.getOrDefault("type", "license").equalsIgnoreCase("license") ? "License" : set.get("type")));
        return true;
    }

    // ---- coordinators

    private boolean addCoordinators(Json.Obj reply) {
        say(" Adding Coordinator User(s)");
        reply.texts("names").forEach(n -> say("  " + n));
        say(" To Account(s) and all sub-accounts");
        reply.texts("more").forEach(n -> say("  " + n));
        return true;
    }

    private boolean deleteCoordinators(Json.Obj reply) {
        if (!reply.texts("names").isEmpty()) {
            say(" Removing Coordinators with user name");
            reply.texts("names").forEach(n -> say("  " + n));
        }
        if (reply.texts("more").isEmpty()) {
            say(" From all accounts");
        } else {
            say(" From Account(s)");
            reply.texts("more").forEach(n -> say("  " + n));
        }
        List<Json.Obj> gone = reply.objects("assocs");
        if (gone.isEmpty()) {
            return nothing("Nothing removed");
        }
        say(" Removed Coordinators (sub accounts not listed)...");
        gone.forEach(assoc -> say("  U = " + pad(assoc.text("user"), 9) + " A = " + pad(assoc.text("account"), 10)));
        return true;
    }

    // ---- modifying

    private boolean modifyClusters(Json.Obj reply) {
        if (reply.texts("names").isEmpty()) {
            return nothing(" Nothing modified");
        }
        say(" Setting");
        if (limited(LimitField.ASSOC)) {
            say("  Default Limits:");
            limits(LimitField.ASSOC, 13, Map.of("DefaultQOS", "DefQOS"));
        }
        if (set.containsKey("classification")) {
            String typed = set.get("classification").toLowerCase(java.util.Locale.ROOT);
            say("  Classification = "
                    + (typed.isEmpty() ? "" : Character.toUpperCase(typed.charAt(0)) + typed.substring(1)));
        }
        if (set.containsKey("classification")) {
            say(" Modified cluster...");
            reply.texts("names").forEach(n -> say("  " + n));
        }
        if (!reply.objects("assocs").isEmpty()) {
            say(" Modified cluster defaults for associations...");
            reply.objects("assocs").forEach(assoc -> say(assoc(assoc)));
        }
        return true;
    }

    private boolean modified(Json.Obj reply, String plural, String single, boolean ownSet) {
        boolean any = false;
        if (ownSet) {
            say(" Modified " + plural + "...");
            reply.texts("names").forEach(n -> say("  " + n));
            any = !reply.texts("names").isEmpty() || nothing(" Nothing modified");
        }
        if (limited(LimitField.ASSOC) || set.containsKey("parent")) {
            say(" Modified " + single + " associations...");
            if (reply.objects("assocs").isEmpty()) {
                return nothing(" Nothing modified") || any;
            }
            reply.objects("assocs").forEach(assoc -> say(assoc(assoc)));
            any = true;
        }
        return any;
    }

    // ---- deleting

    private boolean deleted(Json.Obj reply, String plural, String single) {
        boolean any = false;
        if (!reply.objects("assocs").isEmpty()) {
            say(" Deleting " + single + " associations...");
            for (Json.Obj assoc : reply.objects("assocs")) {
                StringBuilder line = new StringBuilder(
                        "  C = " + pad(assoc.text("cluster"), 10) + " A = " + pad(assoc.text("account"), 10));
                if (assoc.text("user").isEmpty() && !assoc.text("parent").isEmpty()) {
                    line.setLength(line.toString().stripTrailing().length());
                    line.append(" of ").append(assoc.text("parent"));
                }
                if (!assoc.text("user").isEmpty()) {
                    line.append(" U = ").append(pad(assoc.text("user"), 9));
                }
                if (!assoc.text("partition").isEmpty()) {
                    line.append(" P = ").append(assoc.text("partition"));
                }
                say(line.toString());
            }
            any = true;
        }
        if (!reply.texts("more").isEmpty()) {
            say(" Deleting " + plural + " (No Associations)...");
            reply.texts("more").forEach(n -> say("  " + n));
        }
        if (!reply.texts("names").isEmpty()) {
            say(conditions.containsKey("wckey") ? " Deleting user WCKeys..." : " Deleting " + plural + "...");
            reply.texts("names").forEach(n -> say("  " + n));
            any = true;
        }
        return any || nothing("Nothing deleted");
    }
}
