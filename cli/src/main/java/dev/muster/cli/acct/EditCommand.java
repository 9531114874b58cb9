package dev.muster.cli.acct;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Runs {@code sacctmgr add, modify, delete …}: asks slurmdbd for the effect, shows it, and commits it. */
final class EditCommand {
    private static final Map<String, List<String>> NO_ENTITY = Map.of(
            "add",
                    List.of(
                            "No valid entity in add command",
                            "Input line must include \"Account\", \"Cluster\", \"Coordinator\", \"Federation\", "
                                    + "\"QOS\", \"Resource\", or \"User\""),
            "delete",
                    List.of(
                            "No valid entity in delete command",
                            "Input line must include \"Account\", \"Cluster\", \"Coordinator\", \"Federation\", "
                                    + "\"QOS\", \"Resource\", or \"User\""),
            "modify",
                    List.of(
                            "No valid entity in modify command",
                            "Input line must include \"Account\", \"Cluster\", \"Federation\", \"Job\", \"QOS\", "
                                    + "\"Resource\" or \"User\""));

    private static final List<String> OWN_SETTINGS =
            List.of("adminlevel", "defaultaccount", "defaultwckey", "newname", "description", "organization", "Flags");
    private static final String NO_TRES = "sacctmgr: error: slurmdb_format_tres_str: no TRES known by type ";
    private static final String BAD_QOS = "sacctmgr: error: You gave a bad qos '";

    /** Refusals that the original prints as results. */
    private static final String NOTHING_NEW = " Nothing new added.";

    private static final List<String> ON_STDOUT = List.of(
            NOTHING_NEW,
            " Unknown QOS flag",
            " Can't modify",
            "  U = ",
            "  Requested parent account",
            " If you are changing a users name",
            "No account ",
            "Nothing added.",
            "  Parent account ");
    private static final List<Entity.Name> ACCOUNT_SET =
            Entity.names("description:3=description organization:1=organization parent:1=parent");
    private static final List<Entity.Name> USER_SET = Entity.names(
            "adminlevel:2=adminlevel defaultaccount:8=defaultaccount defaultwckey:8=defaultwckey newname:1=newname");
    private static final String USAGE = "rawusage";
    private static final List<Entity.Name> CLUSTER_SET = Entity.names("classification:3=classification");
    private static final List<Entity.Name> RESOURCE_SET =
            Entity.names("count:2=count description:1=description flags:2=flags "
                    + "lastconsumed:1=lastconsumed server:6=server servertype:7=servertype manager:1=servertype "
                    + "type:2=type "
                    + "percentallowed:1=allowed allowed:2=allowed");

    private static final List<Entity.Name> JOB_SET =
            Entity.names("admincomment:12=admincomment comment:7=comment derivedexitcode:12=derivedexitcode "
                    + "derivedes:9=comment extra:5=extra newwckey:1=wckey systemcomment:13=systemcomment tres:1=tres");

    /** Words of before TRES: each sets one resource of a limit. */
    private static final List<Entity.Name> RESOURCE_WORDS =
            Entity.names("grpcpumins:8=GrpTRESMins:cpu grpcpurunmins:8=GrpTRESRunMins:cpu grpcpus:7=GrpTRES:cpu "
                    + "grpmemory:5=GrpTRES:mem grpnodes:4=GrpTRES:node maxcpumins:7=MaxTRESMins:cpu "
                    + "maxcpuminsperjob:7=MaxTRESMins:cpu "
                    + "maxcpurunmins:8=MaxTRESRunMinsPU:cpu maxcpus:7=MaxTRES:cpu maxcpusperjob:7=MaxTRES:cpu "
                    + "maxcpusperuser:11=MaxTRESPU:cpu "
                    + "maxnodes:4=MaxTRES:node maxnodesperjob:4=MaxTRES:node maxnodesperuser:12=MaxTRESPU:node "
                    + "mincpus:4=MinTRES:cpu");

    private final CommandContext context;
    private final SacctmgrSwitches switches;
    private final String verb;

    @SuppressWarnings("NullAway.Init") // run() sets it before it reads the words
    private Entity entity;

    private boolean clusterNamed;
    private final Map<String, String> set = new LinkedHashMap<>();
    private final Map<String, String> where = new LinkedHashMap<>();
    /** Names under which the user set each field, for error messages. */
    private final Map<String, String> typed = new LinkedHashMap<>();

    private String settingHint = "";

    EditCommand(CommandContext context, SacctmgrSwitches switches, String verb) {
        this.context = context;
        this.switches = switches;
        this.verb = verb;
    }

    int run(List<String> words) throws UsageException, SlurmException {
        entity = entity(words);
        if (!switches.immediate) {
            context.host().needsOwnProcess();
        }
        Clause parsed = Clause.of(words.subList(1, words.size()));
        boolean modifies = verb.equals("modify");
        if (verb.equals("add")) {
            List<Clause.Item> all = new ArrayList<>(parsed.where());
            all.addAll(parsed.set());
            added(all);
        } else {
            conditions(parsed.where());
            for (Clause.Item item : parsed.set()) {
                setting(item, " Use keyword 'where' to modify condition");
            }
            jobsOfThisCluster();
            if (modifies && set.isEmpty()) {
                throw new UsageException(1, List.of(" You didn't give me anything to set"));
            }
        }
        if (modifies && set.containsKey(USAGE)) {
            int rc = resetUsage();
            set.remove(USAGE);
            where.keySet().removeIf(key -> key.equals("cluster") && !clusterNamed);
            if (rc != 0 || set.isEmpty()) {
                return rc;
            }
        }
        return switches.immediate && modifies ? inParts() : execute();
    }

    /** The entity that the first word names, among those that the verb edits. */
    private Entity entity(List<String> words) throws UsageException {
        if (!words.isEmpty() && Federations.means(words.getFirst())) {
            throw Federations.refused();
        }
        Optional<Entity> found = words.isEmpty() ? Optional.empty() : Entity.edited(words.getFirst());
        List<String> known = verb.equals("modify")
                ? List.of("account", "cluster", "job", "qos", "resource", "user")
                : List.of("account", "cluster", "coordinator", "qos", "resource", "user");
        if (found.isEmpty() || !known.contains(found.get().name())) {
            throw new UsageException(1, requireNonNull(NO_ENTITY.get(verb), verb));
        }
        return found.get();
    }

    /** {@code RawUsage=0}, by itself and before anything else that is set. */
    private int resetUsage() throws UsageException, SlurmException {
        clusterNamed = where.containsKey("cluster");
        if (entity.name().equals("user") && !where.containsKey("account")) {
            throw new UsageException(1, List.of("sacctmgr: error: An account must be specified"));
        }
        if (!clusterNamed) {
            String local = String.join(",", context.host().clusters());
            context.out().println("No cluster specified, resetting on local cluster " + local);
            where.put("cluster", local);
        }
        Json.Obj planned = reset(switches.immediate);
        if (!planned.list("error").isEmpty()) {
            return refused(planned);
        }
        if (switches.immediate) {
            return 0;
        }
        if (!Prompt.agrees(context, "Would you like to reset usage? (You have 30 seconds to decide)\n")) {
            context.out().println(" Changes Discarded");
            return 0;
        }
        Json.Obj done = reset(true);
        return done.list("error").isEmpty() ? 0 : refused(done);
    }

    private Json.Obj reset(boolean commit) throws SlurmException {
        Json.Obj conditions = new Json.Obj();
        where.forEach(conditions::put);
        return context.host()
                .accounting()
                .call(
                        "Change",
                        new Json.Obj()
                                .put("verb", verb)
                                .put("entity", entity.name())
                                .put("set", new Json.Obj().put(USAGE, set.get(USAGE)))
                                .put("where", conditions)
                                .put("commit", commit));
    }

    /** Job ids refer to the caller's cluster. */
    private void jobsOfThisCluster() {
        if (entity.name().equals("job")) {
            where.putIfAbsent("cluster", String.join(",", context.host().clusters()));
        }
    }

    /**
     * Changes the user or account itself first, then its associations, and shows each when it is done, as Slurm does.
     */
    private int inParts() throws UsageException {
        Map<String, String> all = new LinkedHashMap<>(set);
        Map<String, String> userSettings = new LinkedHashMap<>(set);
        userSettings.keySet().retainAll(OWN_SETTINGS);
        if (userSettings.isEmpty()
                || userSettings.size() == all.size()
                || List.of("resource", "job").contains(entity.name())) {
            return execute();
        }
        set.clear();
        set.putAll(userSettings);
        int first = execute();
        context.out().flush();
        set.clear();
        set.putAll(all);
        set.keySet().removeAll(userSettings.keySet());
        where.computeIfPresent("name", (key, name) -> userSettings.getOrDefault("newname", name));
        return Math.max(first, execute());
    }

    // ---- words

    private List<LimitField> limits() {
        return entity.name().equals("qos") ? LimitField.QOS : LimitField.ASSOC;
    }

    private List<Entity.Name> ownSettings() {
        return switch (entity.name()) {
            case "account" -> ACCOUNT_SET;
            case "user" -> USER_SET;
            case "cluster" -> CLUSTER_SET;
            case "resource" -> RESOURCE_SET;
            case "job" -> JOB_SET;
            default -> List.of();
        };
    }

    /** Names and settings stand side by side. */
    private void added(List<Clause.Item> items) throws UsageException {
        for (Clause.Item item : items) {
            String lower = item.key().toLowerCase(Locale.ROOT);
            Optional<String> place = item.key().isEmpty()
                    ? Optional.of(first())
                    : switch (entity.name()) {
                        case "account" ->
                            key(Entity.names("names:1=name accounts:3=name acct:4=name clusters:1=cluster"), lower);
                        case "user" ->
                            key(
                                    Entity.names("names:1=name users:1=name accounts:3=account acct:4=account "
                                            + "clusters:1=cluster "
                                            + "partitions:3=partition wckeys:1=wckey"),
                                    lower);
                        case "coordinator" ->
                            key(Entity.names("names:1=name users:1=name accounts:1=account acct:4=account"), lower);
                        case "resource" -> key(Entity.names("names:1=name clusters:2=cluster"), lower);
                        default -> key(Entity.names("names:1=name"), lower);
                    };
            if (place.isPresent()
                    && !(entity.name().equals("user")
                            && lower.startsWith("accounts".substring(0, 2))
                            && lower.length() < 3)) {
                if (item.sign() != '=') {
                    throw operator(item);
                }
                where.merge(place.get(), item.value(), (a, b) -> a + "," + b);
            } else if (entity.name().equals("coordinator")) {
                throw new UsageException(
                        1, List.of(" Unknown condition: " + item.typed(), " Use keyword 'set' to modify value"));
            } else {
                setting(item, entity.name().equals("user") ? "" : " Use keyword 'where' to modify condition");
            }
        }
    }

    /** The key of a bare word. */
    private String first() {
        return entity.name().equals("job") ? "jobid" : "name";
    }

    private static Optional<String> key(List<Entity.Name> table, String lower) {
        return table.stream().filter(n -> n.means(lower)).findFirst().map(Entity.Name::key);
    }

    private void conditions(List<Clause.Item> items) throws UsageException {
        for (Clause.Item item : items) {
            if (item.sign() != '=') {
                throw operator(item);
            }
            Optional<String> key = !item.key().isEmpty() ? entity.condition(item.key()) : Optional.of(first());
            if (key.isEmpty()) {
                throw new UsageException(
                        1, List.of(" Unknown condition: " + item.typed(), " Use keyword 'set' to modify value"));
            }
            String value = entity.name().equals("job")
                    ? ModifyJobOptions.checked(context, key.get(), item.value())
                    : item.value();
            where.merge(key.get(), value, (a, b) -> a + "," + b);
        }
    }

    private void setting(Clause.Item item, String hint) throws UsageException {
        if (ownSetting(item)) {
            return;
        }
        Optional<String> resource = item.key().isEmpty()
                ? Optional.empty()
                : key(RESOURCE_WORDS, item.key().toLowerCase(Locale.ROOT));
        if (resource.isPresent()) {
            resource(item, resource.get(), hint);
            return;
        }
        if (usage(item)) {
            return;
        }
        if (entity.name().equals("cluster") && Federations.isSetting(item.key())) {
            throw Federations.refused();
        }
        LimitField field = limitField(item, hint);
        requireOperator(item, field, hint);
        boolean changesList = item.sign() != '=' && isList(field);
        Optional<String> value = changesList ? Optional.of(item.value()) : field.canonical(item.value());
        typed.putIfAbsent(field.name(), item.typed());
        settingHint = hint;
        if (value.isEmpty()) {
            throw entity.name().equals("qos") ? wrongOfQos(field, item) : unknown(item, hint, invalid(field, item));
        }
        if (field.kind() == LimitField.Kind.TRES) {
            new Limit(field, value.get()).mergeInto(set);
        } else {
            set.put(field.name(), (changesList ? item.sign() + "=" : "") + value.get());
        }
    }

    /** Takes a setting that is no limit: a description, a parent, an exit code. */
    private boolean ownSetting(Clause.Item item) throws UsageException {
        Optional<String> setting = item.key().isEmpty()
                ? Optional.empty()
                : key(ownSettings(), item.key().toLowerCase(Locale.ROOT));
        if (setting.isEmpty()) {
            return false;
        }
        if (item.sign() != '=') {
            throw operator(item);
        }
        boolean lower = entity.name().equals("account") && !setting.get().equals("parent");
        set.put(
                setting.get(),
                switch (setting.get()) {
                    case "derivedexitcode" -> ModifyJobOptions.exitCode(item.value());
                    case "tres" -> ModifyJobOptions.tres(item.value());
                    default -> lower ? item.value().toLowerCase(Locale.ROOT) : item.value();
                });
        return true;
    }

    /** The limit that a setting names. */
    private LimitField limitField(Clause.Item item, String hint) throws UsageException {
        if (item.key().isEmpty() && verb.equals("modify")) {
            throw bare(item, hint);
        }
        boolean limited = !List.of("coordinator", "resource", "job").contains(entity.name());
        Optional<LimitField> field =
                item.key().isEmpty() || !limited ? Optional.empty() : LimitField.find(limits(), item.key());
        if (field.isEmpty() && entity.name().equals("qos") && verb.equals("modify")) {
            unknown(item, hint, "").lines().forEach(context.out()::println);
            throw new UsageException(1, List.of());
        }
        if (field.isEmpty()) {
            throw unknown(item, hint, "");
        }
        return field.get();
    }

    private static boolean isList(LimitField field) {
        return field.kind() == LimitField.Kind.NAMES || field.kind() == LimitField.Kind.FLAGS;
    }

    /** Only lists take {@code +=} and {@code -=}, and an account's flags not even those. */
    private void requireOperator(Clause.Item item, LimitField field, String hint) throws UsageException {
        if (item.sign() == '=' && item.value().isBlank()) {
            refuseEmpty(field, item, hint);
        }
        if (entity.name().equals("account") && field.kind() == LimitField.Kind.FLAGS) {
            if (item.sign() != '=') {
                throw new UsageException(1, List.of(" Invalid operator '" + item.sign() + "=' in " + item.typed()));
            }
            knownFlags(item.value());
        }
        if (item.sign() != '=' && !isList(field)) {
            throw operator(item);
        }
    }

    /** Builds the error for an invalid value of a QOS. */
    private UsageException wrongOfQos(LimitField field, Clause.Item item) {
        List<String> lines = new ArrayList<>(List.of(
                switch (field.kind()) {
                    case TRES -> "sacctmgr: error: slurmdb_format_tres_str: no TRES id found for " + item.value();
                    case REAL ->
                        "sacctmgr: error: " + field.name() + " value (" + item.value() + ") is not a valid number";
                    default -> invalid(field, item);
                }));
        if (verb.equals("modify") && field.kind() != LimitField.Kind.TRES) {
            lines.add(" You didn't give me anything to set");
        }
        return new UsageException(1, lines);
    }

    private static void knownFlags(String value) throws UsageException {
        for (String word : value.split(",")) {
            if (!word.equalsIgnoreCase(LimitField.USERS_ARE_COORDS)
                    && !word.equalsIgnoreCase("No" + LimitField.USERS_ARE_COORDS)) {
                throw new UsageException(1, List.of(" Unknown Flag(s)=" + word));
            }
        }
    }

    /** A word without a value, where settings stand. */
    private UsageException bare(Clause.Item item, String hint) {
        return switch (entity.name()) {
            case "user", "job" ->
                new UsageException(1, List.of(" Bad format on " + item.typed() + ": End your option with an '=' sign"));
            case "account" -> new UsageException(1, List.of(" Can't modify the name of an account"));
            default -> unknown(item, hint, "");
        };
    }

    /** Refuses an empty value for a limit that -1 clears: an empty variable of a script would remove limits. */
    private void refuseEmpty(LimitField field, Clause.Item item, String hint) throws UsageException {
        switch (field.kind()) {
            case TRES -> throw unknown(item, hint, "");
            case NAME ->
                throw new UsageException(
                        1, List.of("You gave a bad default qos ''.  Use 'list qos' to get complete list."));
            case FLAGS -> {
                if (entity.name().equals("account")) {
                    throw new UsageException(
                            1, List.of(" Error with request: Data has not changed since time specified"));
                }
                if (field.name().equals("Flags") && entity.name().equals("qos")) {
                    context.out()
                            .println(" Unknown QOS flag used in:\n  ''\n Valid QOS flags are\n  '"
                                    + String.join(",", LimitField.QOS_FLAGS) + "'");
                    throw new UsageException(1, List.of());
                }
            }
            default -> {}
        }
    }

    private static String invalid(LimitField field, Clause.Item item) {
        return switch (field.kind()) {
            case MINUTES -> " Bad " + field.name() + " time format: " + item.typed();
            case SHARES -> "sacctmgr: error: Invalid value for FairShare (" + item.value() + ")";
            default -> "sacctmgr: error: Invalid value for " + field.name() + " (" + item.value() + ")";
        };
    }

    /** Whether the word is the one that is no setting. */
    private boolean usage(Clause.Item item) throws UsageException {
        boolean meant = verb.equals("modify")
                && List.of("account", "user", "qos").contains(entity.name())
                && item.key().equalsIgnoreCase(USAGE);
        if (meant && !item.value().equals("0")) {
            throw new UsageException(1, List.of("sacctmgr: error: Raw usage can only be set to 0 (zero)"));
        }
        if (meant) {
            set.put(USAGE, item.value());
        }
        return meant;
    }

    /** A limit and its value in canonical form. */
    record Limit(LimitField field, String value) {
        /** Several words may set one field's resources: {@code GrpNodes=4 GrpTRES=billing=-1}. */
        void mergeInto(Map<String, String> set) {
            set.merge(field.name(), value, (a, b) -> {
                Map<String, String> each = new LinkedHashMap<>();
                for (String item : field.canonical(a + "," + b).orElse(a).split(",")) {
                    each.put(item.substring(0, item.indexOf('=')), item);
                }
                return String.join(",", each.values());
            });
        }
    }

    /**
     * The limit that a word sets, be it a field's name or a word of before TRES; empty if it is neither or the value is
     * none of its kind.
     */
    static Optional<Limit> limit(List<LimitField> fields, String word, String value) {
        Optional<LimitField> field = LimitField.find(fields, word);
        if (field.isPresent()) {
            return field.get().canonical(value).map(v -> new Limit(field.get(), v));
        }
        return key(RESOURCE_WORDS, word.toLowerCase(Locale.ROOT)).flatMap(meaning -> {
            int colon = meaning.indexOf(':');
            return LimitField.find(fields, meaning.substring(0, colon))
                    .flatMap(f -> f.canonical(meaning.substring(colon + 1) + "=" + value)
                            .map(v -> new Limit(f, v)));
        });
    }

    private static UsageException operator(Clause.Item item) {
        return new UsageException(1, List.of(" Invalid operator '" + item.sign() + "=' in " + item.typed()));
    }

    private void resource(Clause.Item item, String meaning, String hint) throws UsageException {
        int colon = meaning.indexOf(':');
        LimitField field =
                LimitField.find(limits(), meaning.substring(0, colon)).orElseThrow(() -> unknown(item, hint, ""));
        String value = field.canonical(meaning.substring(colon + 1) + "=" + item.value())
                .orElseThrow(() -> unknown(
                        item, hint, "sacctmgr: error: Invalid value for " + item.key() + " (" + item.value() + ")"));
        new Limit(field, value).mergeInto(set);
    }

    private static List<String> unknown(String word, String hint) {
        return hint.isEmpty() ? List.of(" Unknown option: " + word) : List.of(" Unknown option: " + word, hint);
    }

    private static UsageException unknown(Clause.Item item, String hint, String before) {
        List<String> lines = new ArrayList<>(unknown(item.typed(), hint));
        if (!before.isEmpty()) {
            lines.addFirst(before);
        }
        return new UsageException(1, lines);
    }

    // ---- doing it

    private Json.Obj call(boolean commit) throws SlurmException {
        Json.Obj sets = new Json.Obj();
        set.forEach(sets::put);
        Json.Obj conditions = new Json.Obj();
        where.forEach(conditions::put);
        switches.log(context, verb + " " + entity.name() + " where " + where + " set " + set);
        return context.host()
                .accounting()
                .call(
                        "Change",
                        new Json.Obj()
                                .put("verb", verb)
                                .put("entity", entity.name())
                                .put("set", sets)
                                .put("where", conditions)
                                .put("commit", commit));
    }

    private int execute() throws UsageException {
        try {
            Json.Obj planned = call(switches.immediate);
            if (!planned.list("error").isEmpty()) {
                return refused(planned);
            }
            boolean any = new ChangeText(reports(), verb, entity, set, where).print(planned);
            if (!any) {
                return 1;
            }
            if (switches.immediate) {
                return 0;
            }
            if (!Prompt.commits(context)) {
                context.out().println(" Changes Discarded");
                return 0;
            }
            Json.Obj done = call(true);
            return done.list("error").isEmpty() ? 0 : refused(done);
        } catch (SlurmException e) {
            throw new UsageException(1, List.of(DbdErrors.line(e)));
        }
    }

    /** The context for reports, which {@code -Q} silences; questions are printed all the same. */
    private CommandContext reports() {
        return switches.quiet && switches.immediate
                ? new CommandContext(
                        context.name(),
                        context.program(),
                        context.args(),
                        context.env(),
                        context.host(),
                        new Output(java.io.OutputStream.nullOutputStream(), false),
                        context.err(),
                        context.in())
                : context;
    }

    private int refused(Json.Obj reply) {
        boolean access = reply.integer("errno") == SlurmErrno.ACCESS_DENIED.number();
        if (entity.name().equals("job") && reply.integer("errno") == SlurmErrno.NO_CHANGE_IN_DATA.number()) {
            context.err().println(" Error with request: " + SlurmErrno.NO_CHANGE_IN_DATA.sentence());
            context.out().println(" Modified jobs...");
            return 1;
        }
        if (verb.equals("add") && access) {
            return notAdded(reply.texts("error").getFirst());
        }
        if (verb.equals("modify") && List.of("account", "user").contains(entity.name()) && !valueIsWrong(reply)) {
            boolean setsUser = set.keySet().stream().anyMatch(OWN_SETTINGS::contains);
            context.out().println(" Modified " + entity.name() + (setsUser ? "s..." : " associations..."));
            context.out().flush();
        }
        for (String sentence : reply.texts("error")) {
            printRefusal(sentence, access);
        }
        return 1;
    }

    /** @param access whether slurmdbd refused the request because of the user's rights */
    private void printRefusal(String sentence, boolean access) {
        if (verb.equals("add")
                && sentence.equals(NOTHING_NEW)
                && List.of("account", "user").contains(entity.name())) {
            nothingNew();
        } else if (access) {
            context.err().println("sacctmgr: error: Your user doesn't have privilege to perform this action");
            context.err().println(" Error with request: " + sentence);
            if (entity.name().equals("job")) {
                context.out().println(" Modified jobs...");
            }
        } else if (ON_STDOUT.stream().anyMatch(sentence::startsWith) || sentence.endsWith("Not adding.")) {
            context.out().println(sentence);
        } else {
            context.err().println(sentence);
            settingOf(sentence).ifPresent(word -> unknown(word, settingHint).forEach(context.err()::println));
        }
    }

    /** Returns whether slurmdbd refused a value, before any lookup. */
    private static boolean valueIsWrong(Json.Obj reply) {
        return reply.texts("error").stream()
                .anyMatch(e -> e.startsWith(NO_TRES) || e.startsWith(BAD_QOS) || e.startsWith("You gave a bad"));
    }

    /** Returns the option whose value slurmdbd does not know. */
    private Optional<String> settingOf(String sentence) {
        if (entity.name().equals("qos")) {
            return Optional.empty();
        }
        if (sentence.startsWith(BAD_QOS)) {
            return Optional.ofNullable(typed.get("QOS"));
        }
        String tres = sentence.startsWith(NO_TRES) ? sentence.substring(NO_TRES.length()) : "";
        return tres.isEmpty()
                ? Optional.empty()
                : typed.values().stream().filter(word -> word.contains(tres)).findFirst();
    }

    /** Returns the sentence for a caller without the right to add this entity. */
    private int notAdded(String sentence) {
        switch (entity.name()) {
            case "account" -> context.err().println(" error: Only admins/operators/coordinators can add accounts");
            case "user" ->
                context.err()
                        .println(" error: Problem adding user associations: " + sentence + " (Only admins/operators"
                                + (set.containsKey("adminlevel")
                                        ? " can add an admin/operator)"
                                        : "/coordinators can add accounts)"));
            case "resource" -> context.err().println(" Problem adding system resource: " + sentence);
            default -> {
                Json.Obj query = new Json.Obj()
                        .put(
                                "names",
                                new ArrayList<Object>(
                                        List.of(where.getOrDefault("name", "").split(","))))
                        .put(
                                "more",
                                new ArrayList<Object>(List.of(
                                        where.getOrDefault("account", "").split(","))));
                new ChangeText(reports(), verb, entity, set, where).print(query);
                context.out().flush();
                context.err()
                        .println(" Problem adding "
                                + switch (entity.name()) {
                                    case "qos" -> "QOS";
                                    case "cluster" -> "clusters";
                                    default -> entity.name();
                                }
                                + ": " + sentence);
            }
        }
        return 1;
    }

    /** All of it was there before. */
    private void nothingNew() {
        if (entity.name().equals("user")) {
            context.out()
                    .println("Request didn't affect anything\nNothing added.\nMake sure the accounts "
                            + "requested here have been added to the "
                            + "system/cluster. (sacctmgr add account...)");
            return;
        }
        String clusters =
                where.getOrDefault("cluster", String.join(",", context.host().clusters()));
        for (String name :
                where.getOrDefault("name", "").toLowerCase(Locale.ROOT).split(",")) {
            for (String cluster : clusters.split(",")) {
                context.out().println(" Already existing account " + name + " on cluster " + cluster);
            }
        }
    }
}
