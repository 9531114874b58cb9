package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.TextTable;
import dev.muster.json.Json;
import dev.muster.model.accounting.LimitField;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Runs {@code sacctmgr load}: creates a cluster's accounts and users from a dumped file. Existing ones that the file
 * lacks stay, unless {@code clean} is given. slurmdbd applies all of it or nothing.
 */
final class LoadCommand {
    private static final int FILE_MAX = 64 << 20;
    private static final int NS_PER_US = 1_000;
    private static final String ROOT = "root";
    private static final String RULE = "-".repeat(62);
    private static final String SHORT_RULE = "-".repeat(51);
    /**
     * Options other than limits. As in the original, a line may carry the options of another kind of line, which have
     * no effect there.
     */
    private static final List<String> RECORDS = List.of(
            "classification",
            "description",
            "organization",
            "partition",
            "defaultaccount",
            "defaultwckey",
            "adminlevel",
            "coordinator",
            "wckeys");
    /** Names of limits in the report of changes, where they differ from the field's name. */
    private static final Map<String, String> TOLD = Map.of(
            "Fairshare",
            "fairshare",
            "GrpWall",
            "GrpWallDuration",
            "MaxTRES",
            "MaxTRESPerJob",
            "MaxTRESMins",
            "MaxTRESMinsPerJob",
            "MaxWall",
            "MaxWallDurationPerJob");
    /** Titles in the tables of accounts and of users. */
    private static final Map<String, String> NAME = Map.of("Account", "Name", "User", "Name");

    private static final String ASSOC_FORMAT = "parentname,fairshare,grptresmins,grptresrunmins,grptres,grpjobs,"
            + "grpjobsaccrue,grpmem,grpnodes,grpsubmit,"
            + "grpwall,maxtresmins,maxtres,maxtrespernode,maxjobs,maxsubmit,maxnodes,maxwall,qos,defaultqos";

    private final CommandContext context;
    private final SacctmgrSwitches switches;
    private String file = "";
    private String cluster = "";
    private boolean clean;
    private String classified = "";
    private long began;
    private List<Json.Obj> tree = List.of();
    private List<Json.Obj> accounts = List.of();
    private List<Json.Obj> users = List.of();
    private List<Json.Obj> wckeys = List.of();
    private List<Json.Obj> qos = List.of();
    private final List<Object> changes = new ArrayList<>();
    private final List<Object> last = new ArrayList<>();
    private final List<String> messages = new ArrayList<>();
    private final Added added = new Added();
    /** Resource ids by resource name. */
    private final Map<String, String> ids = new HashMap<>();
    /** Whether the load creates the cluster's root association. */
    private boolean isNew;

    private final Map<String, String> defaults = new LinkedHashMap<>();
    private final Set<String> seen = new LinkedHashSet<>();

    /** Rows that the load adds, for its tables. */
    private static final class Added {
        private final List<Json.Obj> accounts = new ArrayList<>();
        private final List<Json.Obj> accountAssocs = new ArrayList<>();
        private final List<Json.Obj> users = new ArrayList<>();
        private final List<Json.Obj> userAssocs = new ArrayList<>();
    }

    LoadCommand(CommandContext context, SacctmgrSwitches switches) {
        this.context = context;
        this.switches = switches;
    }

    int run(List<String> words) throws UsageException, SlurmException {
        began = System.nanoTime();
        words(words);
        if (!switches.immediate) {
            context.host().needsOwnProcess();
        }
        LoadFile read = LoadFile.read(text());
        if (read.wrong > 0) {
            throw new UsageException(
                    1,
                    List.of(
                            " error: Problem with line(" + read.wrong + ")",
                            " Problem with requests: Unspecified error"));
        }
        Optional<LoadFile.Line> of =
                read.lines.stream().filter(l -> l.kind().equals("cluster")).findFirst();
        if (of.isEmpty()) {
            throw new UsageException(
                    1,
                    List.of(
                            " You need to specify a cluster name first with 'Cluster - $NAME' in your file",
                            " Nothing new added."));
        }
        cluster = (cluster.isEmpty() ? of.get().name() : cluster).toLowerCase(Locale.ROOT);
        boolean exists = loadExisting();
        plan(read, of.get(), exists);
        return commit(of.get());
    }

    private void words(List<String> words) throws UsageException {
        for (String word : words) {
            Clause.Item item = Clause.item(word);
            String key = item.key().toLowerCase(Locale.ROOT);
            if (key.isEmpty() && item.value().equalsIgnoreCase("clean")) {
                clean = true;
            } else if (key.isEmpty() || "file".startsWith(key)) {
                if (!file.isEmpty()) {
                    throw new UsageException(1, List.of(" File name already set to " + file));
                }
                file = item.value();
            } else if ("cluster".startsWith(key)) {
                cluster = item.value();
            } else {
                throw new UsageException(1, List.of(" Unknown option: " + word));
            }
        }
        if (file.isEmpty()) {
            throw new UsageException(1, List.of(" No filename given, specify one with file=''"));
        }
    }

    private String text() throws UsageException {
        try {
            byte[] bytes = context.host()
                    .readFile(file.startsWith("/") ? file : context.host().workDir() + "/" + file, FILE_MAX);
            if (bytes.length > FILE_MAX) {
                throw new UsageException(1, List.of(" \"" + file + "\" has more than " + FILE_MAX + " bytes"));
            }
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IOException e) {
            // the file's name alone, or with the reason behind it
            String message = String.valueOf(e.getMessage());
            String reason;
            if (message.contains("Permission denied") || e instanceof java.nio.file.AccessDeniedException) {
                reason = "Permission denied";
            } else if (message.endsWith(file) || message.contains("No such file")) {
                reason = "No such file or directory";
            } else {
                reason = message;
            }

            throw new UsageException(1, List.of(" Unable to read \"" + file + "\": " + reason));
        }
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

    /** Loads the existing entities. Returns whether the cluster is known. */
    private boolean loadExisting() throws SlurmException {
        List<Json.Obj> known = rows("cluster", new Json.Obj().put("name", cluster), "");
        boolean exists = !known.isEmpty();
        classified = exists ? known.getFirst().text("Classification") : "";
        accounts = rows("account", new Json.Obj(), "");
        users = rows("user", new Json.Obj(), "");
        qos = rows("qos", new Json.Obj(), "");
        if (exists) {
            tree = rows("association", new Json.Obj().put("cluster", cluster), "woplimits");
            wckeys = rows("wckey", new Json.Obj().put("cluster", cluster), "");
        }
        for (Json.Obj t : rows("tres", new Json.Obj(), "")) {
            ids.put(t.text("Type") + (t.text("Name").isEmpty() ? "" : "/" + t.text("Name")), t.text("ID"));
        }
        isNew = !exists || clean;
        return exists;
    }

    private static Json.Obj change(
            String verb, String entity, Map<String, String> conditions, Map<String, String> set) {
        Json.Obj w = new Json.Obj();
        conditions.forEach(w::put);
        Json.Obj v = new Json.Obj();
        set.forEach(v::put);
        return new Json.Obj()
                .put("verb", verb)
                .put("entity", entity)
                .put("where", w)
                .put("set", v)
                .put("commit", true);
    }

    /**
     * The limits of a line as the database stores them.
     *
     * @param setHere words of the line that are none
     */
    private Map<String, String> limits(LoadFile.Line line, List<LimitField> fields, List<String> setHere)
            throws UsageException {
        Map<String, String> out = new LinkedHashMap<>();
        for (Map.Entry<String, String> entry : line.options().entrySet()) {
            if (setHere.contains(entry.getKey())) {
                continue;
            }
            Optional<EditCommand.Limit> limit = EditCommand.limit(fields, entry.getKey(), entry.getValue());
            if (limit.isEmpty()) {
                throw new UsageException(
                        1,
                        List.of(
                                " Unknown option: " + entry.getKey() + "=" + entry.getValue(),
                                " Problem with line(" + line.number() + ")",
                                " Problem with requests: Unspecified error"));
            }
            limit.get().mergeInto(out);
        }
        return out;
    }

    private void plan(LoadFile read, LoadFile.Line of, boolean exists) throws UsageException {
        qos(read);
        Map<String, String> root = limits(of, LimitField.ASSOC, RECORDS);
        String classification = of.option("classification");
        if (exists) {
            modifyCluster(root, classification);
        } else {
            Map<String, String> set = new LinkedHashMap<>(root);
            if (!classification.isEmpty()) {
                set.put("classification", classification);
            }
            changes.add(change("add", "cluster", Map.of("name", cluster), set));
        }
        seen.add(ROOT);
        tree.stream().filter(a -> a.text("User").isEmpty()).forEach(a -> seen.add(a.text("Account")));
        String parent = "";
        for (LoadFile.Line line : read.lines) {
            if (line.kind().equals("parent")) {
                parent = line.name().toLowerCase(Locale.ROOT);
                if (!seen.contains(parent)) {
                    throw new UsageException(
                            1,
                            List.of(" line(" + line.number() + ") You need to add this parent (" + parent
                                    + ") as a child before you can add children to it."));
                }
            } else if (line.kind().equals("account") || line.kind().equals("user")) {
                if (parent.isEmpty()) {
                    messages.add(" No parent given creating off root, If incorrect specify 'Parent - name' before "
                            + "any children in your file");
                    parent = ROOT;
                }
                if (line.kind().equals("account")) {
                    account(line, parent);
                } else {
                    user(line, parent);
                }
            }
        }
    }

    /** @param root the limits of the cluster's root account */
    private void modifyCluster(Map<String, String> root, String classification) {
        if (clean) {
            changes.add(change("clean", "cluster", Map.of("name", cluster), Map.of()));
            tree = tree.stream()
                    .filter(a -> a.text("Account").equals(ROOT)
                            && (a.text("User").isEmpty() || a.text("User").equals(ROOT)))
                    .toList();
            wckeys = List.of();
        }
        if (!classification.isEmpty() && !classification.equalsIgnoreCase(classified)) {
            changed("Classification", "Cluster", cluster, capitalised(classified), capitalised(classification));
            changes.add(change("modify", "cluster", Map.of("name", cluster), Map.of("classification", classification)));
        }
        Optional<Json.Obj> before = place(ROOT, "", "");
        differing(root, before).ifPresent(set -> {
            if (!isNew) {
                limitsChanged("Cluster", cluster, before, set);
            }
            changes.add(change("modify", "cluster", Map.of("name", cluster), set));
        });
    }

    /** Adds missing QOS first, so that each may name any other. Fields that a line omits stay as they are. */
    private void qos(LoadFile read) throws UsageException {
        Map<String, Map<String, String>> wanted = new LinkedHashMap<>();
        for (LoadFile.Line line : read.lines) {
            if (line.kind().equals("qos")) {
                wanted.put(line.name().toLowerCase(Locale.ROOT), limits(line, LimitField.QOS, List.of()));
            }
        }
        Map<String, Json.Obj> are = new HashMap<>();
        qos.forEach(q -> are.put(q.text("Name").toLowerCase(Locale.ROOT), q));
        wanted.keySet().stream()
                .filter(name -> !are.containsKey(name))
                .forEach(name -> changes.add(change("add", "qos", Map.of("name", name), Map.of())));
        wanted.forEach((name, set) -> differing(set, Optional.ofNullable(are.get(name)))
                .ifPresent(d -> {
                    if (are.containsKey(name)) {
                        d.forEach((key, to) ->
                                changed(key, "QOS", name, or(are.get(name).text(key), "None"), or(to, "None")));
                    }
                    changes.add(change("modify", "qos", Map.of("name", name), d));
                }));
    }

    private Optional<Json.Obj> place(String account, String user, String partition) {
        return tree.stream()
                .filter(a -> a.text("Account").equals(account)
                        && a.text("User").equals(user)
                        && a.text("Partition").equals(partition))
                .findFirst();
    }

    private static Optional<Map<String, String>> differing(Map<String, String> wanted, Optional<Json.Obj> is) {
        Map<String, String> out = new LinkedHashMap<>(wanted);
        is.ifPresent(row -> out.entrySet().removeIf(e -> row.text(e.getKey()).equals(e.getValue())));
        return out.isEmpty() ? Optional.empty() : Optional.of(out);
    }

    private void changed(String label, String kind, String name, String from, String to) {
        messages.add(
                String.format(Locale.ROOT, " Changed %-21s for %-7s %-10s %8s -> %s", label, kind, name, from, to));
    }

    private void account(LoadFile.Line line, String parent) throws UsageException {
        String name = line.name().toLowerCase(Locale.ROOT);
        Map<String, String> set = limits(line, LimitField.ASSOC, RECORDS);
        Optional<Json.Obj> known =
                accounts.stream().filter(a -> a.text("Account").equals(name)).findFirst();
        Optional<Json.Obj> here = place(name, "", "");
        if (here.isEmpty() && !seen.contains(name)) {
            Map<String, String> add = new LinkedHashMap<>(set);
            add.put("parent", parent);
            if (known.isEmpty()) {
                add.put("description", line.option("description"));
                add.put("organization", line.option("organization"));
                added.accounts.add(new Json.Obj()
                        .put("Account", name)
                        .put("Descr", or(line.option("description"), name))
                        .put("Org", or(line.option("organization"), parent.equals(ROOT) ? name : parent)));
            }
            changes.add(change("add", "account", Map.of("name", name, "cluster", cluster), add));
            added.accountAssocs.add(row(set).put("Account", name).put("ParentName", parent));
            recordsChanged(line, name, known);
        } else {
            recordsChanged(line, name, known);
            Map<String, String> d = new LinkedHashMap<>(differing(set, here).orElse(Map.of()));
            limitsChanged("Account", name, here, d);
            String above = here.map(a -> a.text("ParentName")).orElse(parent);
            if (!above.equals(parent) && !name.equals(ROOT)) {
                changed("Parent", "Account", name, above, parent);
                d.put("parent", parent);
            }
            if (!d.isEmpty()) {
                changes.add(change("modify", "account", Map.of("name", name, "cluster", cluster), d));
            }
        }
        seen.add(name);
    }

    private void recordsChanged(LoadFile.Line line, String name, Optional<Json.Obj> known) {
        for (String key : List.of("description", "organization")) {
            String column = key.equals("description") ? "Descr" : "Org";
            if (known.isPresent()
                    && !line.option(key).isEmpty()
                    && !known.get().text(column).equals(line.option(key))) {
                changed(key, "Account", name, known.get().text(column), line.option(key));
                changes.add(change("modify", "account", Map.of("name", name), Map.of(key, line.option(key))));
            }
        }
    }

    private static String or(String value, String otherwise) {
        return value.isEmpty() ? otherwise : value;
    }

    private static Json.Obj row(Map<String, String> limits) {
        Json.Obj out = new Json.Obj();
        limits.forEach(out::put);
        return out;
    }

    private void user(LoadFile.Line line, String parent) throws UsageException {
        String name = line.name();
        String partition = line.option("partition");
        Map<String, String> set = limits(line, LimitField.ASSOC, RECORDS);
        Optional<Json.Obj> known = users.stream()
                .filter(u -> u.text("User").equalsIgnoreCase(name))
                .findFirst();
        boolean isNew = known.isEmpty()
                && added.users.stream().noneMatch(u -> u.text("User").equals(name));
        Map<String, String> conditions =
                new LinkedHashMap<>(Map.of("name", name, "cluster", cluster, "account", parent));
        if (!partition.isEmpty()) {
            conditions.put("partition", partition);
        }
        Optional<Json.Obj> here = place(parent, name, partition);
        if (here.isEmpty() && !(parent.equals(ROOT) && name.equals(ROOT))) {
            Map<String, String> add = new LinkedHashMap<>(set);
            if (isNew && !line.option("adminlevel").isEmpty()) {
                add.put("adminlevel", line.option("adminlevel"));
            }
            changes.add(change("add", "user", conditions, add));
            added.userAssocs.add(row(set).put("User", name).put("Account", parent));
        } else {
            differing(set, here).ifPresent(d -> changes.add(change("modify", "user", conditions, d)));
        }
        if (isNew) {
            added.users.add(new Json.Obj()
                    .put("User", name)
                    .put("DefaultAccount", or(line.option("defaultaccount"), parent))
                    .put("DefaultWCKey", line.option("defaultwckey"))
                    .put("AdminLevel", or(line.option("adminlevel"), Printer.NOT_SET))
                    .put("AllCoordinators", line.option("coordinator")));
        } else if (known.isPresent()
                && !line.option("adminlevel").isEmpty()
                && !known.get().text("AdminLevel").equalsIgnoreCase(line.option("adminlevel"))) {
            changed(
                    "Admin Level",
                    "User",
                    name,
                    capitalised(known.get().text("AdminLevel")),
                    capitalised(line.option("adminlevel")));
            last.add(change("modify", "user", Map.of("name", name), Map.of("adminlevel", line.option("adminlevel"))));
        }
        userSettings(line, name, isNew);
        if (here.isPresent()) {
            differing(set, here).ifPresent(d -> limitsChanged("User", name, here, d));
        }
    }

    /** Reports each limit that the line changes. Values are numbers: -1 means unset, resources appear by id. */
    private void limitsChanged(String kind, String name, Optional<Json.Obj> is, Map<String, String> set) {
        set.forEach((key, to) -> {
            String from = is.map(row -> row.text(key)).orElse("");
            Optional<LimitField> field =
                    LimitField.ASSOC.stream().filter(f -> f.name().equals(key)).findFirst();
            switch (field.map(LimitField::kind).orElse(LimitField.Kind.TEXT)) {
                case NAME ->
                    messages.add(String.format(Locale.ROOT, " Set %-25s for %-7s %-10s %8s", key, kind, name, to));
                case NAMES ->
                    messages.add(String.format(Locale.ROOT, " Added %-23s for %-7s %-10s %8s", key, kind, name, to));
                case TRES ->
                    changed(TOLD.getOrDefault(key, key), kind, name, or(byId(from), "(null)"), or(byId(to), "(null)"));
                default -> changed(TOLD.getOrDefault(key, key), kind, name, or(from, "-1"), or(to, "-1"));
            }
        });
    }

    private String byId(String resources) {
        List<String> out = new ArrayList<>();
        for (String item : resources.split(",")) {
            int equalSign = item.indexOf('=');
            if (equalSign > 0 && !item.endsWith("=-1")) {
                out.add(ids.getOrDefault(item.substring(0, equalSign), item.substring(0, equalSign))
                        + item.substring(equalSign));
            }
        }
        return String.join(",", out);
    }

    /** Loads a user's own settings, which stand in each of its lines and are applied once. */
    private void userSettings(LoadFile.Line line, String name, boolean isNew) {
        if (!seen.add("user " + name)) {
            return;
        }
        defaultAccount(line, name, isNew);
        String adding = wckeys(line, name);
        coordinator(line, name, isNew);
        if (!adding.isEmpty()) {
            messages.add(adding);
        }
    }

    private void defaultAccount(LoadFile.Line line, String name, boolean isNew) {
        String account = line.option("defaultaccount").toLowerCase(Locale.ROOT);
        String before = tree.stream()
                .filter(a -> a.text("User").equals(name) && a.text("IsDefault").equals("1"))
                .map(a -> a.text("Account"))
                .findFirst()
                .orElse("(null)");
        if (!account.isEmpty() && !account.equals(before)) {
            if (!isNew && !clean) {
                changed("Default Account", "User", name, before, account);
            }
            defaults.put(name, account);
        }
    }

    /**
     * Adds a user's missing WCKeys and sets the default one.
     *
     * @return the sentence to print about them, "" if none is missing
     */
    private String wckeys(LoadFile.Line line, String name) {
        List<String> have = wckeys.stream()
                .filter(w -> w.text("User").equals(name))
                .map(w -> w.text("WCKey"))
                .toList();
        String key = line.option("defaultwckey").toLowerCase(Locale.ROOT);
        String before = have.stream()
                .filter(w -> w.startsWith("*"))
                .map(w -> w.substring(1))
                .findFirst()
                .orElse("");
        List<String> missing = new ArrayList<>();
        for (String w : line.option("wckeys").toLowerCase(Locale.ROOT).split(",")) {
            if (!w.isBlank() && !have.contains(w) && !have.contains("*" + w)) {
                missing.add(w);
            }
        }
        boolean otherDefault = !key.isEmpty() && !key.equals(before);
        if (otherDefault) {
            changed("Default WCKey", "User", name, before, key);
        }
        Map<String, String> set = otherDefault ? Map.of("defaultwckey", key) : Map.of();
        if (!missing.isEmpty()) {
            last.add(change(
                    "add", "user", Map.of("name", name, "cluster", cluster, "wckey", String.join(",", missing)), set));
            return " Adding WCKey(s) '" + String.join("', '", missing) + "' for user '" + name + "'";
        }
        if (otherDefault) {
            last.add(change("modify", "user", Map.of("name", name, "cluster", cluster), set));
        }
        return "";
    }

    private void coordinator(LoadFile.Line line, String name, boolean isNew) {
        List<String> coordinated = new ArrayList<>();
        for (String account :
                line.option("coordinator").toLowerCase(Locale.ROOT).split(",")) {
            boolean already = users.stream()
                    .anyMatch(u -> u.text("User").equals(name)
                            && List.of(u.text("Coordinators").split(",")).contains(account));
            if (!account.isBlank() && !already) {
                coordinated.add(account);
                last.add(change("add", "coordinator", Map.of("name", name, "account", account), Map.of()));
            }
        }
        if (!coordinated.isEmpty() && !isNew) {
            messages.add(" Making User '" + name + "' coordinator for account(s) " + String.join(",", coordinated));
        }
    }

    private int commit(LoadFile.Line line) throws UsageException, SlurmException {
        defaults.forEach((user, account) -> {
            // one that the file promises and does not make cannot be a default
            boolean there = place(account, user, "").isPresent()
                    || added.userAssocs.stream()
                            .anyMatch(a -> a.text("User").equals(user)
                                    && a.text("Account").equals(account));
            if (there) {
                last.add(change(
                        "modify", "user", Map.of("name", user, "cluster", cluster), Map.of("defaultaccount", account)));
            }
        });
        changes.addAll(last);
        boolean quiet = switches.quiet && switches.immediate;
        if (!quiet) {
            context.out().println("For cluster " + cluster);
        }
        if (changes.isEmpty()) {
            if (!quiet) {
                context.out().println(" Nothing new added.");
            }
            return 0;
        }
        if (!quiet) {
            print(line);
        }
        if (!switches.immediate && !Prompt.commits(context)) {
            context.out().println(" Changes Discarded");
            return 0;
        }
        Json.Obj done = context.host()
                .accounting()
                .call("ChangeAll", new Json.Obj().put("changes", changes).put("commit", true));
        if (done.list("error").isEmpty()) {
            return 0;
        }
        done.texts("error").forEach(context.err()::println);
        return 1;
    }

    private void print(LoadFile.Line line) throws UsageException {
        // an existing cluster is reported by its changes only
        if (isNew) {
            String classification = capitalised(line.option("classification"));
            if (!classification.isEmpty()) {
                context.out().println("Classification: " + classification);
            }
            table(
                    "",
                    "association",
                    "account," + ASSOC_FORMAT,
                    List.of(row(limits(line, LimitField.ASSOC, RECORDS)).put("Account", ROOT)),
                    RULE);
        }
        messages.forEach(context.out()::println);
        table("Accounts", "account", "account%10,description%20,organization%20,qos%20", added.accounts, SHORT_RULE);
        table("Account Associations", "association", "account," + ASSOC_FORMAT, added.accountAssocs, RULE);
        table(
                "Users",
                "user",
                "user,defaultaccount%10,defaultwckey%10,qos%20,adminlevel%9,coordinators%20",
                added.users,
                SHORT_RULE);
        table(
                "User Associations",
                "association",
                "user,account," + ASSOC_FORMAT.substring("parentname,".length()),
                added.userAssocs,
                RULE);
        context.info("Done adding cluster in usec=" + (System.nanoTime() - began) / NS_PER_US);
    }

    private static String capitalised(String word) {
        return word.isEmpty()
                ? ""
                : word.substring(0, 1).toUpperCase(Locale.ROOT)
                        + word.substring(1).toLowerCase(Locale.ROOT);
    }

    private void table(String title, String entity, String format, List<Json.Obj> rows, String rule)
            throws UsageException {
        if (rows.isEmpty()) {
            return;
        }
        if (!title.isEmpty()) {
            context.out().println(title);
        }
        Printer printer = new Printer(
                context,
                new TextTable.Style(true, false, false),
                Entity.find(entity).orElseThrow(),
                format.replace("grptresrunmins", "grptresrunmins%13"),
                false,
                List.of("account", "user").contains(entity) ? NAME : Map.of());
        printer.header();
        printer.rows(rows);
        context.out().println(rule);
        context.out().println("");
    }
}
