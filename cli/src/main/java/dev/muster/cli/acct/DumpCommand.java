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
    private record Wanted(String cluster, String file, boolean withQos) {
        static Wanted of(List<String> words) throws UsageException {
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
            return new Wanted(cluster, file, withQos);
        }
    }

    private final CommandContext c;
    private final List<String> lines = new ArrayList<>();

    DumpCommand(CommandContext c) {
        this.c = c;
    }

    int run(List<String> words) throws UsageException, SlurmException {
        Wanted wanted = Wanted.of(words);
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
            c.out().println(" No filename given, using " + target + ".");
        }
        try {
            c.host()
                    .writeFile(
                            target.startsWith("/") ? target : c.host().workDir() + "/" + target,
                            (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8),
                            0644);
        } catch (IOException e) {
            c.error("Can't write " + target + ": " + ErrorSentence.of(e));
            return 1;
        }
        // QOS and cluster form one message with one "sacctmgr: " prefix
        boolean within = false;
        for (String l : lines.stream().filter(l -> !l.startsWith("#")).toList()) {
            c.err().println((within ? "" : "sacctmgr: ") + l);
            within = l.startsWith(HEAD);
        }
        return 0;
    }

    /** Makes the lines of the file. */
    private void describe(Wanted wanted) throws UsageException, SlurmException {
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
        String me = c.host().userName(c.host().uid());
        return c.host().uid() == 0
                || me.equals(c.host().slurmUser())
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
        return c.host()
                .accounting()
                .call(
                        "Show",
                        new Json.Obj().put("entity", entity).put("where", where).put("options", options))
                .objects("rows");
    }

    private void below(
            String parent, List<Json.Obj> tree, List<Json.Obj> accounts, List<Json.Obj> users, List<Json.Obj> wckeys) {
        List<String> own = new ArrayList<>();
        for (Json.Obj a : tree) {
            boolean user = !a.text("User").isEmpty();
            if (user ? a.text("Account").equals(parent) : a.text("ParentName").equals(parent)) {
                own.add(user ? user(a, tree, users, wckeys) : account(a, accounts));
            }
        }
        if (!own.isEmpty()) {
            lines.add("Parent - '" + parent + "'");
            lines.addAll(own);
        }
    }

    /** Writes all QOS: a QOS belongs to no single cluster. */
    private void qos() throws SlurmException {
        for (Json.Obj q : rows("qos", new Json.Obj(), "")) {
            StringBuilder line = new StringBuilder(HEAD + q.text("Name") + "'");
            if (!q.text("Description").isEmpty()) {
                line.append(":Description=").append(quoted(q.text("Description")));
            }
            for (LimitField f : LimitField.QOS) {
                if (!f.name().equals("Description") && !standard(f, q.text(f.name()))) {
                    line.append(':')
                            .append(NAMES.getOrDefault(f.name(), f.name()))
                            .append('=')
                            .append(value(f, q.text(f.name())));
                }
            }
            lines.add(line.toString());
        }
    }

    /** Whether a QOS has that of which nothing was said. A limit of 0 is one. */
    private static boolean standard(LimitField f, String value) {
        return value.isEmpty()
                || value.equals("0") && (f.name().equals("Priority") || f.name().equals("GraceTime"))
                || f.name().equals("UsageFactor") && value.matches("1|1\\.0+")
                || f.name().equals("PreemptMode") && value.equalsIgnoreCase("cluster");
    }

    private static String user(Json.Obj a, List<Json.Obj> tree, List<Json.Obj> users, List<Json.Obj> wckeys) {
        StringBuilder out = new StringBuilder("User - '" + a.text("User") + "'");
        if (!a.text("Partition").isEmpty()) {
            out.append(":Partition='").append(a.text("Partition")).append('\'');
        }
        for (Json.Obj u : users) {
            if (u.text("User").equals(a.text("User"))) {
                String account = tree.stream()
                        .filter(o -> o.text("User").equals(a.text("User"))
                                && o.text("IsDefault").equals("1"))
                        .map(o -> o.text("Account"))
                        .findFirst()
                        .orElse("");
                out.append(":DefaultAccount='").append(account).append('\'');
                List<String> own = wckeys.stream()
                        .filter(w -> w.text("User").equals(a.text("User")))
                        .map(w -> w.text("WCKey"))
                        .sorted()
                        .toList();
                own.stream()
                        .filter(w -> w.length() > 1 && w.startsWith("*"))
                        .findFirst()
                        .ifPresent(w -> out.append(":DefaultWCKey='")
                                .append(w.substring(1))
                                .append('\''));
                if (!u.text("AdminLevel").equals("NONE")) {
                    out.append(":AdminLevel='")
                            .append(u.text("AdminLevel").charAt(0))
                            .append(u.text("AdminLevel").substring(1).toLowerCase(Locale.ROOT))
                            .append('\'');
                }
                if (!u.text("Coordinators").isEmpty()) {
                    out.append(":Coordinator='").append(u.text("Coordinators")).append('\'');
                }
                List<String> plain = own.stream()
                        .map(w -> w.replace("*", ""))
                        .filter(w -> !w.isEmpty())
                        .sorted()
                        .toList();
                if (!plain.isEmpty()) {
                    out.append(":WCKeys='").append(String.join(",", plain)).append('\'');
                }
            }
        }
        return out + limits(a);
    }

    private static String account(Json.Obj a, List<Json.Obj> accounts) {
        StringBuilder out = new StringBuilder("Account - '" + a.text("Account") + "'");
        for (Json.Obj record : accounts) {
            if (record.text("Account").equals(a.text("Account"))) {
                out.append(":Description=")
                        .append(quoted(record.text("Descr")))
                        .append(":Organization=")
                        .append(quoted(record.text("Org")));
            }
        }
        return out + limits(a);
    }

    private static String limits(Json.Obj a) {
        StringBuilder out = new StringBuilder();
        List<LimitField> sorted = new ArrayList<>(LimitField.ASSOC);
        sorted.sort(java.util.Comparator.comparingInt(
                f -> ORDER.contains(f.name()) ? ORDER.indexOf(f.name()) : ORDER.size()));
        for (LimitField f : sorted) {
            // with its signs: without them a load would lose the QOS of the parents
            String value = a.text(f.name().equals("QOS") ? "RawQOS" : f.name());
            if (!value.isEmpty()) {
                out.append(':')
                        .append(NAMES.getOrDefault(f.name(), f.name()))
                        .append('=')
                        .append(value(f, value));
            }
        }
        return out.toString();
    }

    private static String value(LimitField f, String value) {
        return switch (f.kind()) {
            case NAME, TEXT -> quoted(value);
            case NAMES -> quoted(String.join(",", new TreeSet<>(List.of(value.split(",")))));
            case TRES -> Printer.tres(value);
            case SHARES -> value.equals(LimitField.PARENT_SHARES) ? LimitField.PARENT_SHARES_NUMBER : value;
            case SECONDS -> f.name().equals("GraceTime") ? value : minutes(Long.parseLong(value));
            case COUNT, MINUTES, REAL, FLAGS -> value;
        };
    }

    /** PreemptExemptTime, of which a plain number is minutes. */
    private static String minutes(long seconds) {
        return seconds % SECONDS_PER_MINUTE == 0
                ? Long.toString(seconds / SECONDS_PER_MINUTE)
                : quoted(Durations.full(seconds));
    }

    /** The file knows no quotes within quotes: the original keeps such signs as these from the start. */
    private static String quoted(String value) {
        return "'" + value.replace('\'', '`').replace('"', '`') + "'";
    }
}
