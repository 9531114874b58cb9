package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.shape.AcctJson;
import dev.muster.cli.shape.ConfJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Runs {@code sacctmgr show …}. */
final class ShowCommand {
    private static final long DAY_S = 86_400;
    /** Actions that transactions record. */
    private static final List<String> ACTIONS = List.of(
            "add accounts",
            "add account coord",
            "add associations",
            "add clusters",
            "add qos",
            "add resource",
            "add users",
            "add wckeys",
            "modify accounts",
            "modify associations",
            "modify clusters",
            "modify qos",
            "modify resource",
            "modify users",
            "remove accounts",
            "remove account coord",
            "remove associations",
            "remove clusters",
            "remove qos",
            "remove resource",
            "remove users",
            "remove wckeys",
            "reset usage");
    /** Lists that say no more of an unknown condition. */
    private static final List<String> PLAINLY =
            List.of("association", "wckey", "transaction", "problem", "event", "runawayjob");
    /** Settings whose error message names the wrong word, as in the original. */
    private static final List<String> MISNAMED = List.of("qos", "resource");
    /** States that events are chosen by. */
    private static final List<String> STATES =
            List.of("DRAIN", "FAIL", "UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "MIXED", "FUTURE", "REBOOT");

    private static final List<String> NO_ENTITY = List.of(
            "No valid entity in list command",
            "Input line must include \"Account\", \"Association\", \"Cluster\", \"Configuration\",",
            "\"Event\", \"Federation\", \"Problem\", \"QOS\", \"Resource\", \"Reservation\",",
            "\"RunAwayJobs\", \"Stats\", \"Transaction\", \"TRES\", \"User\", or \"WCKey\"");

    private final CommandContext context;
    private final SacctmgrSwitches switches;
    private final Map<String, String> where = new LinkedHashMap<>();
    private final List<String> options = new ArrayList<>();
    private String format = "";

    ShowCommand(CommandContext context, SacctmgrSwitches switches) {
        this.context = context;
        this.switches = switches;
    }

    int run(List<String> words) throws UsageException, SlurmException {
        if (words.isEmpty()) {
            throw new UsageException(1, NO_ENTITY);
        }
        String typed = words.getFirst().toLowerCase(Locale.ROOT);
        if (Federations.means(typed)) {
            throw Federations.refused();
        }
        Entity entity = Entity.find(typed)
                .filter(e -> !List.of("job", "coordinator").contains(e.name()))
                .orElseThrow(() -> new UsageException(1, NO_ENTITY));
        if (switches.associations) {
            options.add("withassoc");
        }
        conditions(entity, Clause.of(words.subList(1, words.size())));
        if (entity.name().equals("instance")) {
            where.putIfAbsent("cluster", String.join(",", context.host().clusters()));
            where.putIfAbsent("start", Long.toString(TimeParser.seconds(context, "midnight") - DAY_S));
        }
        if (entity.name().equals("reservation")) {
            where.putIfAbsent("cluster", String.join(",", context.host().clusters()));
            where.putIfAbsent("start", Long.toString(TimeParser.seconds(context, "midnight")));
            where.putIfAbsent("end", Long.toString(context.host().nowMs() / 1000 + 1));
        }
        if (entity.name().equals("event")) {
            eventTimes();
        }
        return switch (entity.name()) {
            case "configuration" -> {
                if (switches.json.isEmpty()) {
                    yield ConfigText.print(context, rows(entity));
                }
                JsonOutput.require(context, switches.json, switches.parser, CONF_SINCE, 1);
                yield JsonOutput.print(
                        context,
                        switches.json,
                        switches.parser,
                        ConfJson.slurmdbd(rows(entity).getFirst()));
            }
            case "stats" ->
                switches.json.isEmpty()
                        ? StatsText.print(context, rows(entity))
                        : JsonOutput.print(context, switches.json, switches.parser, AcctJson.statistics(rows(entity)));
            case "runawayjob" -> runaway(entity);
            default -> list(entity);
        };
    }

    /** The data parser's first version with a shape for slurmdbd.conf. */
    private static final int CONF_SINCE = 45;

    /**
     * Sets the window of events: it begins yesterday, or shows the present where states are asked for. Only events of
     * nodes have states and users.
     */
    private void eventTimes() throws UsageException {
        if (where.containsKey("state") || where.containsKey("user")) {
            where.put("event", "node");
        }
        if (options.contains("alltime") || where.containsKey("start")) {
            return;
        }
        if (where.containsKey("state") && !where.containsKey("end")) {
            where.put("condflags", "open");
        } else {
            where.put("start", Long.toString(TimeParser.seconds(context, "midnight") - DAY_S));
        }
    }

    private void conditions(Entity entity, Clause words) throws UsageException {
        List<String> errors = new ArrayList<>();
        List<Clause.Item> all = new ArrayList<>(words.where());
        all.addAll(words.set());
        for (Clause.Item item : all) {
            if (item.key().isEmpty()) {
                bareWord(entity, item);
            } else if (item.key().length() >= 3
                    && "format".startsWith(item.key().toLowerCase(Locale.ROOT))) {
                if (item.value().isEmpty()) {
                    throw new UsageException(1, List.of("Unknown field ''"));
                }
                format = format.isEmpty() ? item.value() : format + "," + item.value();
            } else {
                Optional<String> key = entity.condition(item.key());
                if (key.isPresent()) {
                    where.merge(key.get(), value(key.get(), item.value()), (a, b) -> a + "," + b);
                    continue;
                }
                errors.add(" Unknown condition: " + item.typed());
                if (!PLAINLY.contains(entity.name())) {
                    errors.add(" Use keyword 'set' to modify "
                            + (MISNAMED.contains(entity.name()) ? "SLURM_PRINT_VALUE" : "value"));
                }
            }
        }
        if (!errors.isEmpty()) {
            throw new UsageException(1, errors);
        }
    }

    /** A word without a key is an option of the listing, or else a value of the entity's first condition. */
    private void bareWord(Entity entity, Clause.Item item) throws UsageException {
        Optional<String> option = Entity.option(item.value());
        if (option.isPresent()) {
            options.add(option.get());
            return;
        }
        boolean byId = entity.name().equals("association");
        if (byId && !item.value().matches("[\\d,]+")) {
            throw new UsageException(1, List.of("sacctmgr: error: Invalid value for AssocId (" + item.value() + ")"));
        }
        if (!entity.conditions().isEmpty() && !entity.name().equals("problem")) {
            String first = byId ? "id" : entity.conditions().getFirst().key();
            where.merge(first, item.value(), (a, b) -> a + "," + b);
        }
    }

    private String value(String key, String typed) throws UsageException {
        if (key.equals("id") && !typed.matches("[\\d,]*")) {
            throw new UsageException(1, List.of("sacctmgr: error: Invalid value for AssocId (" + typed + ")"));
        }
        boolean wrongEvent =
                key.equals("event") && !typed.toLowerCase(Locale.ROOT).matches("cluster|node");
        if (wrongEvent) {
            throw new UsageException(
                    1, List.of(" Unknown event type: '" + typed + "'  Valid events are Cluster and Node."));
        }
        if (key.equals("action")) {
            for (String action : typed.split(",")) {
                if (!ACTIONS.contains(action.toLowerCase(Locale.ROOT))) {
                    throw new UsageException(1, List.of("sacctmgr: error: You gave a bad action '" + action + "'."));
                }
            }
        }
        if (key.equals("state")) {
            List<String> states = new ArrayList<>();
            for (String state : typed.split(",")) {
                states.add(knownState(state.strip()));
            }
            return String.join(",", states);
        }
        if (!key.equals("start") && !key.equals("end")) {
            return typed;
        }
        return Long.toString(TimeParser.seconds(context, typed));
    }

    /** The state whose name begins so. */
    private static String knownState(String typed) throws UsageException {
        return STATES.stream()
                .filter(state -> state.startsWith(typed.toUpperCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new UsageException(
                        1,
                        List.of(
                                "Invalid state: " + typed,
                                "Valid node states are: DRAIN FAIL UNKNOWN DOWN IDLE ALLOCATED MIXED FUTURE ",
                                "sacctmgr: fatal: unrecognized job state value")));
    }

    private Json.Obj reply(Entity entity) throws SlurmException {
        Json.Obj conditions = new Json.Obj();
        where.forEach(conditions::put);
        switches.log(context, "show " + entity.name() + " where " + where + " with " + options);
        return context.host()
                .accounting()
                .call(
                        "Show",
                        new Json.Obj()
                                .put("entity", entity.name())
                                .put("where", conditions)
                                .put("options", new ArrayList<Object>(options)));
    }

    /** A QOS that is not there selects nothing: most likely another one was meant. */
    private void qosThere() throws SlurmException, UsageException {
        List<String> all =
                context.host().accounting().call("Show", new Json.Obj().put("entity", "qos")).objects("rows").stream()
                        .map(q -> q.text("Name"))
                        .toList();
        for (String name : where.getOrDefault("qos", "").split(",")) {
            if (!name.isBlank() && !all.contains(name.strip().toLowerCase(Locale.ROOT))) {
                throw new UsageException(
                        1,
                        List.of(
                                "sacctmgr: error: You gave a bad qos '" + name + "'. Valid QOS's are "
                                        + String.join(",", all),
                                " Unknown condition: qos=" + where.get("qos")));
            }
        }
    }

    /** Conditions of associations where none are listed: asked whether that is meant. */
    private boolean isMeant(Entity entity) {
        List<String> names = entity.name().equals("account")
                ? List.of("name", "description", "organization", "flags")
                : List.of("name", "adminlevel", "cluster", "defaultaccount", "defaultwckey", "wckey");
        boolean narrow = List.of("account", "user").contains(entity.name())
                && !options.contains("withassoc")
                && where.keySet().stream().anyMatch(k -> !names.contains(k));
        if (!narrow || switches.immediate || !switches.json.isEmpty()) {
            return true;
        }
        context.host().needsOwnProcess();
        boolean yes = Prompt.agrees(
                context,
                "You requested options that are only valid when querying with the withassoc option.\n"
                        + "Are you sure you want to continue? (You have 30 seconds to decide)\n");
        if (!yes) {
            context.out().println("Aborted");
        }
        return yes;
    }

    private List<Json.Obj> rows(Entity entity) throws SlurmException, UsageException {
        if (where.containsKey("qos")) {
            qosThere();
        }
        try {
            return reply(entity).objects("rows");
        } catch (SlurmException e) {
            if (e.errno() == SlurmErrno.ACCESS_DENIED.number() && entity.name().equals("stats")) {
                throw new UsageException(
                        1,
                        List.of("sacctmgr: error: acct_storage_p_get_stats: RC:2002 Your user doesn't have "
                                + "privilege to perform this action"));
            }
            if (e.errno() == SlurmErrno.ACCESS_DENIED.number()) {
                throw new UsageException(
                        1,
                        switch (entity.name()) {
                            case "wckey" ->
                                List.of(
                                        "sacctmgr: error: Your user doesn't have privilege to perform this action",
                                        " Error with request: " + e.getMessage());
                            case "event", "problem" ->
                                List.of("sacctmgr: error: " + e.getMessage(), " Error with request: " + e.getMessage());
                            case "runawayjob" ->
                                List.of("sacctmgr: error: You must have an AdminLevel>=Operator to fix runaway jobs");
                            default -> List.of("sacctmgr: error: " + e.getMessage(), " Problem with query.");
                        });
            }
            throw new UsageException(1, List.of(DbdErrors.line(e)));
        }
    }

    private int list(Entity entity) throws UsageException, SlurmException {
        if (!isMeant(entity)) {
            return 0;
        }
        Printer printer = new Printer(
                context,
                switches.style(),
                entity,
                format.isEmpty() ? standard(entity) : format,
                options.contains("tree") && entity.name().equals("association"));
        List<Json.Obj> rows = rows(entity);
        if (!switches.json.isEmpty()) {
            List<Json.Obj> tres = context.host()
                    .accounting()
                    .call("Show", new Json.Obj().put("entity", "tres"))
                    .objects("rows");
            Optional<Json.Obj> shaped = AcctJson.of(entity.name(), rows, tres);
            if (shaped.isPresent()) {
                return JsonOutput.print(context, switches.json, switches.parser, shaped.get());
            }
            // an entity without a shape in any data parser is printed as a table, with --json as well
        }
        printer.header();
        printer.rows(rows);
        return 0;
    }

    private String standard(Entity entity) {
        boolean assoc = options.contains("withassoc");
        boolean coord = options.contains("withcoord");
        return switch (entity.name()) {
            case "account" ->
                entity.format()
                        + (assoc
                                ? ",cluster,parentname,user,fairshare,priority,grpjobs,grpnodes,grpcpus,grpmem,"
                                        + "grpsubmitjobs,grpwall,"
                                        + "grpcpumins,maxjobs,maxnodes,maxcpus,maxsubmitjobs,maxwall,maxcpumins,qos,"
                                        + "defaultqos"
                                : "")
                        + (coord ? ",coordinators" : "");
            case "user" ->
                "user,defaultaccount," + (context.host().tracksWckeys() ? "defaultwckey," : "") + "adminlevel"
                        + (assoc
                                ? ",cluster,account,partition,fairshare,priority,maxjobs,maxnodes,maxcpus,"
                                        + "maxsubmitjobs,maxwall,"
                                        + "maxcpumins,qos,defaultqos"
                                : "")
                        + (coord ? ",coordinators" : "");
            case "association" ->
                options.contains("wolimits") || options.contains("woplimits")
                        ? "cluster,account,user,partition"
                        : entity.format();
            case "cluster" ->
                (options.contains("wolimits") ? "cluster,controlhost,controlport,rpc" : entity.format())
                        + (options.contains("withfed") ? ",federation,id,features,fedstate" : "");
            case "transaction" -> entity.format() + (assoc ? ",user,account,cluster" : "");
            case "resource" ->
                entity.format() + (options.contains("withclusters") ? ",cluster,allowed,flags" : ",flags");
            default -> entity.format();
        };
    }

    /** Jobs that are not over in the tables of slurmdbd and that the controller does not know. */
    private int runaway(Entity entity) throws UsageException, SlurmException {
        String clusters = String.join(",", context.host().clusters());
        String cluster = where.computeIfAbsent("cluster", k -> clusters);
        if (!cluster.equals(clusters)) {
            throw new UsageException(
                    1,
                    List.of("sacctmgr: error: show runawayjobs is not supported by this version for another "
                            + "cluster than "
                            + clusters));
        }
        if (!switches.immediate) {
            context.host().needsOwnProcess();
        }
        Printer printer =
                new Printer(context, switches.style(), entity, format.isEmpty() ? entity.format() : format, false);
        List<Json.Obj> rows = new ArrayList<>(rows(entity));
        Set<Integer> known = new HashSet<>();
        try {
            Json.Obj all = new Json.Obj().put("allStates", true).put("allPartitions", true);
            context.host()
                    .controller()
                    .call("QueryJobs", all)
                    .objects("jobs")
                    .forEach(j -> known.add(j.integer("jobId")));
        } catch (SlurmException e) {
            throw new UsageException(
                    1,
                    List.of("sacctmgr: error: Slurmctld running on cluster " + cluster
                            + " is not up, can't check running jobs"));
        }
        rows.removeIf(r -> known.contains(Integer.parseInt(r.text("ID"))));
        if (rows.isEmpty()) {
            context.out().println("Runaway Jobs: No runaway jobs found on cluster " + cluster);
            return 0;
        }
        context.out()
                .println("NOTE: Runaway jobs are jobs that don't exist in the controller but have a start "
                        + "time and no end time in the database");
        printer.header();
        printer.rows(rows);
        context.out().println("");
        if (!switches.immediate && !isFixWanted()) {
            return 0;
        }
        List<Object> keys = new ArrayList<>();
        rows.forEach(r -> keys.add(r.text("Key")));
        try {
            context.host()
                    .accounting()
                    .call("EndRunaways", new Json.Obj().put("cluster", cluster).put("keys", keys));
        } catch (SlurmException e) {
            throw new UsageException(1, List.of("sacctmgr: error: Failed to fix runaway job: " + e.getMessage()));
        }
        return 0;
    }

    /** Asks whether runaway jobs shall end. */
    private boolean isFixWanted() {
        return Prompt.agrees(
                context,
                "Would you like to fix these runaway jobs?\n(This will set the end time for each job "
                        + "to the latest out of the start, eligible, or submit times, and set the state to "
                        + "completed.)\n"
                        + "(You have 30 seconds to decide)\n");
    }
}
