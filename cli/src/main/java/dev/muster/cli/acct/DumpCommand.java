package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.accounting.LimitField;
import dev.muster.model.format.Durations;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/** Runs {@code sacctmgr dump CLUSTER}: writes a cluster's accounts and users as lines that Slurm's load reads. */
final class DumpCommand {
    /** Names that differ in the file from the fields' own. */
    private static final Map<String, String> NAMES =
            Map.of("MaxTRES", "MaxTRESPerJob", "MaxTRESMins", "MaxTRESMinsPerJob", "MaxWall", "MaxWallDurationPerJob");

    /** The order of limits in the file; what is not here follows. */
    private static final List<String> ORDER = List.of(
            "DefaultQOS",
            "Fairshare",
            "GrpTRESMins",
            "GrpTRESRunMins",
            "GrpTRES",
            "GrpJobs",
            "GrpJobsAccrue",
            "GrpSubmitJobs",
            "GrpWall",
            "MaxTRESMins",
            "MaxTRES",
            "MaxTRESPerNode",
            "MaxJobs",
            "MaxJobsAccrue",
            "MaxSubmitJobs",
            "MaxWall",
            "Priority",
            "QOS");

    private static final String HEAD = "QOS - '";
    /** Leaves QOS out: Slurm before 25.05 has no lines for them and refuses a file with one. */
    private static final String WITHOUT_QOS = "woqos";

    private static final int SECONDS_PER_MINUTE = 60;

    /**
     * The words of the command line.
     *
     * @param file "" for one named after the cluster
     */
    private record DumpTarget(String cluster, String file, boolean withQos) {
        static DumpTarget of(List<String> words) throws UsageException {
            String cluster = "";
            String file = "";
            boolean withQos = true;
            for (String word : words) {
                if (word.equalsIgnoreCase(WITHOUT_QOS)) {
                    withQos = false;
                    continue;
                }
                Clause.Item item = Clause.item(word);
                String key = item.key().toLowerCase(Locale.ROOT);
                if (key.isEmpty() || "cluster".startsWith(key) || "name".startsWith(key)) {
                    cluster = item.value();
                } else if ("file".startsWith(key)) {
                    file = item.value();
                } else {
                    throw new UsageException(1, List.of(" Unknown option: " + word));
                }
            }
            return new DumpTarget(cluster, file, withQos);
        }
    }

    private final CommandContext context;
    private final List<String> lines = new ArrayList<>();

    DumpCommand(CommandContext context) {
        this.context = context;
    }

    int run(List<String> words) throws UsageException, SlurmException {
        DumpTarget wanted = DumpTarget.of(words);
        if (wanted.cluster.isEmpty()) {
            throw new UsageException(1, List.of(" We need a cluster to dump."));
        }
        if (!mayDump()) {
            throw new UsageException(1, List.of(" Your user does not have sufficient privileges to dump clusters."));
        }
        describe(wanted);
        String target = wanted.file;
        if (target.isEmpty()) {
            target = "./" + wanted.cluster + ".cfg";
            context.out().println(" No filename given, using " + target + ".");
        }
        try {
            context.host()
                    .writeFile(
                            target.startsWith("/") ? target : context.host().workDir() + "/" + target,
                            (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8),
                            0644);
        } catch (IOException e) {
            context.error("Can't write " + target + ": " + ErrorSentence.reason(e));
            return 1;
        }
        // QOS and cluster form one message with one "sacctmgr: " prefix
        boolean within = false;
        for (String l : lines.stream().filter(l -> !l.startsWith("#")).toList()) {
            context.err().println((within ? "" : "sacctmgr: ") + l);
            within = l.startsWith(HEAD);
        }
        return 0;
    }

    /** Makes the lines of the file. */
    private void describe(DumpTarget wanted) throws UsageException, SlurmException {
        Json.Obj ofCluster = new Json.Obj().put("cluster", wanted.cluster);
        List<Json.Obj> tree = rows("association", ofCluster, "woplimits");
        if (tree.isEmpty()) {
            throw new UsageException(1, List.of(" Cluster " + wanted.cluster + " doesn't exist."));
        }
        List<Json.Obj> accounts = rows("account", new Json.Obj(), "");
        List<Json.Obj> users = rows("user", new Json.Obj(), "");
        lines.add("# A cluster, its accounts and their users. After a line Parent come the accounts and users "
                + "directly below that account.");
        List<Json.Obj> wckeys = rows("wckey", new Json.Obj().put("cluster", wanted.cluster), "");
        if (wanted.withQos) {
            qos();
        }
        lines.add("Cluster - '" + wanted.cluster + "'" + classification(wanted.cluster) + limits(tree.getFirst()));
        for (Json.Obj parent : tree) {
            if (parent.text("User").isEmpty()) {
                below(parent.text("Account"), tree, accounts, users, wckeys);
            }
        }
    }

    private boolean mayDump() throws SlurmException {
        String me = context.host().userName(context.host().uid());
        return context.host().uid() == 0
                || me.equals(context.host().slurmUser())
                || rows("user", new Json.Obj().put("name", me), "").stream()
                        .anyMatch(u -> u.text("AdminLevel").equals("ADMINISTRATOR"));
    }

    private String classification(String cluster) throws SlurmException {
        return rows("cluster", new Json.Obj().put("name", cluster), "").stream()
                .map(k -> k.text("Classification"))
                .filter(k -> !k.isEmpty())
                .map(k -> ":Classification='" + k + "'")
                .findFirst()
                .orElse("");
    }

    private List<Json.Obj> rows(String entity, Json.Obj where, String option) throws SlurmException {
        List<Object> options = option.isEmpty() ? new ArrayList<>() : new ArrayList<>(List.of(option));
        return context.host()
                .accounting()
                .call(
                        "Show",
                        new Json.Obj().put("entity", entity).put("where", where).put("options", options))
                .objects("rows");
    }

    private void below(
            String parent, List<Json.Obj> tree, List<Json.Obj> accounts, List<Json.Obj> users, List<Json.Obj> wckeys) {
        List<String> ownUsers = new ArrayList<>();
        for (Json.Obj assoc : tree) {
            boolean user = !assoc.text("User").isEmpty();
            if (user
                    ? assoc.text("Account").equals(parent)
                    : assoc.text("ParentName").equals(parent)) {
                ownUsers.add(user ? user(assoc, tree, users, wckeys) : account(assoc, accounts));
            }
        }
        if (!ownUsers.isEmpty()) {
            lines.add("Parent - '" + parent + "'");
            lines.addAll(ownUsers);
        }
    }

    /** Writes all QOS: a QOS belongs to no single cluster. */
    private void qos() throws SlurmException {
        for (Json.Obj query : rows("qos", new Json.Obj(), "")) {
            StringBuilder line = new StringBuilder(HEAD + query.text("Name") + "'");
            if (!query.text("Description").isEmpty()) {
                line.append(":Description=").append(quoted(query.text("Description")));
            }
            for (LimitField field : LimitField.QOS) {
                if (!field.name().equals("Description") && !standard(field, query.text(field.name()))) {
                    line.append(':')
                            .append(NAMES.getOrDefault(field.name(), field.name()))
                            .append('=')
                            .append(value(field, query.text(field.name())));
                }
            }
            lines.add(line.toString());
        }
    }

    /** Whether a value is the default of a QOS field. A limit of 0 is a limit. */
    private static boolean standard(LimitField field, String value) {
        return value.isEmpty()
                || value.equals("0")
                        && (field.name().equals("Priority") || field.name().equals("GraceTime"))
                || field.name().equals("UsageFactor") && value.matches("1|1\\.0+")
                || field.name().equals("PreemptMode") && value.equalsIgnoreCase("cluster");
    }

    private static String user(Json.Obj assoc, List<Json.Obj> tree, List<Json.Obj> users, List<Json.Obj> wckeys) {
        StringBuilder out = new StringBuilder("User - '" + assoc.text("User") + "'");
        if (!assoc.text("Partition").isEmpty()) {
            out.append(":Partition='").append(assoc.text("Partition")).append('\'');
        }
        for (Json.Obj row : users) {
            if (row.text("User").equals(assoc.text("User"))) {
                String account = tree.stream()
                        .filter(o -> o.text("User").equals(assoc.text("User"))
                                && o.text("IsDefault").equals("1"))
                        .map(o -> o.text("Account"))
                        .findFirst()
                        .orElse("");
                out.append(":DefaultAccount='").append(account).append('\'');
                List<String> keys = wckeys.stream()
                        .filter(w -> w.text("User").equals(assoc.text("User")))
                        .map(w -> w.text("WCKey"))
                        .sorted()
                        .toList();
                keys.stream()
                        .filter(w -> w.length() > 1 && w.startsWith("*"))
                        .findFirst()
                        .ifPresent(w -> out.append(":DefaultWCKey='")
                                .append(w.substring(1))
                                .append('\''));
                if (!row.text("AdminLevel").equals("NONE")) {
                    out.append(":AdminLevel='")
                            .append(row.text("AdminLevel").charAt(0))
                            .append(row.text("AdminLevel").substring(1).toLowerCase(Locale.ROOT))
                            .append('\'');
                }
                if (!row.text("Coordinators").isEmpty()) {
                    out.append(":Coordinator='")
                            .append(row.text("Coordinators"))
                            .append('\'');
                }
                List<String> plain = keys.stream()
                        .map(w -> w.replace("*", ""))
                        .filter(w -> !w.isEmpty())
                        .sorted()
                        .toList();
                if (!plain.isEmpty()) {
                    out.append(":WCKeys='").append(String.join(",", plain)).append('\'');
                }
            }
        }
        return out + limits(assoc);
    }

    private static String account(Json.Obj assoc, List<Json.Obj> accounts) {
        StringBuilder out = new StringBuilder("Account - '" + assoc.text("Account") + "'");
        for (Json.Obj record : accounts) {
            if (record.text("Account").equals(assoc.text("Account"))) {
                out.append(":Description=")
                        .append(quoted(record.text("Descr")))
                        .append(":Organization=")
                        .append(quoted(record.text("Org")));
            }
        }
        return out + limits(assoc);
    }

    private static String limits(Json.Obj assoc) {
        StringBuilder out = new StringBuilder();
        List<LimitField> sorted = new ArrayList<>(LimitField.ASSOC);
        sorted.sort(java.util.Comparator.comparingInt(
                f -> ORDER.contains(f.name()) ? ORDER.indexOf(f.name()) : ORDER.size()));
        for (LimitField field : sorted) {
            // with its signs: without them a load would lose the QOS of the parents
            String value = assoc.text(field.name().equals("QOS") ? "RawQOS" : field.name());
            if (!value.isEmpty()) {
                out.append(':')
                        .append(NAMES.getOrDefault(field.name(), field.name()))
                        .append('=')
                        .append(value(field, value));
            }
        }
        return out.toString();
    }

    private static String value(LimitField field, String value) {
        return switch (field.kind()) {
            case NAME, TEXT -> quoted(value);
            case NAMES -> quoted(String.join(",", new TreeSet<>(List.of(value.split(",")))));
            case TRES -> Printer.tres(value);
            case SHARES -> value.equals(LimitField.PARENT_SHARES) ? LimitField.PARENT_SHARES_NUMBER : value;
            case SECONDS -> field.name().equals("GraceTime") ? value : minutes(Long.parseLong(value));
            case COUNT, MINUTES, REAL, FLAGS -> value;
        };
    }

    /** PreemptExemptTime, of which a plain number is minutes. */
    private static String minutes(long seconds) {
        return seconds % SECONDS_PER_MINUTE == 0
                ? Long.toString(seconds / SECONDS_PER_MINUTE)
                : quoted(Durations.full(seconds));
    }

    /** Quotes a value. The file has no quotes within quotes, so those of the value become backquotes. */
    private static String quoted(String value) {
        return "'" + value.replace('\'', '`').replace('"', '`') + "'";
    }
}
