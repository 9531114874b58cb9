package dev.muster.config;

import dev.muster.config.file.ConfLines;
import dev.muster.config.file.Pairs;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.key.KeyCheck;
import dev.muster.config.key.KeyRelations;
import dev.muster.config.key.Names;
import dev.muster.config.key.SelectWords;
import dev.muster.config.key.Values;
import dev.muster.config.sister.Topologies;
import dev.muster.model.cluster.HostCall;
import dev.muster.model.format.Durations;
import dev.muster.model.format.TresWeights;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Reads one slurm.conf. Every command does this on every start, so there is no regular expression, stream or lambda
 * here. Mistakes are collected; none of them stops the reading.
 */
public final class SlurmConfReader implements ConfLines.Sink, KeyRelations.Given {
    private static final Key[] KEYS = Key.values();
    private static final Map<String, Key> BY_NAME = byName();
    private static final long MAX_ARRAY_SIZE = 4_000_001;
    private static final long MIN_JOB_AGE_S = 2;
    private static final int MAX_CONTROLLERS = 16;

    public final String[] texts = new String[KEYS.length];
    public final long[] numbers = new long[KEYS.length];
    public final boolean[] given = new boolean[KEYS.length];
    final List<List<String>> lines = new ArrayList<>(KEYS.length);
    public final List<Controller> controllers = new ArrayList<>();
    final List<NodeConf> nodes = new ArrayList<>();
    final List<PartitionConf> partitions = new ArrayList<>();
    /** File of each key's last line: the names in its value can be checked only at the end. */
    final String[] files = new String[KEYS.length];

    final int[] at = new int[KEYS.length];
    private String path = "";
    final List<SlurmConf.NodeSet> nodeSets = new ArrayList<>();
    final List<SlurmConf.PowerAction> powerActions = new ArrayList<>();
    long contentHash = 0xCBF29CE484222325L;

    private record Down(String nodes, String state, String reason, String file, int line) {}

    private final KeyRelations relations = new KeyRelations(this);
    private final List<ConfigError> errors = new ArrayList<>();
    private final List<ConfigError> warnings = new ArrayList<>();
    private final Values values = new Values(errors, warnings);
    private final List<NodeLine> nodeLines = new ArrayList<>();
    private final List<PartitionLine> partitionLines = new ArrayList<>();
    private final List<Down> downs = new ArrayList<>();
    private NodeLine nodeDefaults = NodeLine.builtIn();
    private PartitionLine partitionDefaults = new PartitionLine();
    private String oldController = "";
    private String oldAddress = "";

    private static Map<String, Key> byName() {
        Map<String, Key> map = new HashMap<>(KEYS.length * 2);
        for (Key key : KEYS) {
            map.put(key.slurmName().toLowerCase(Locale.ROOT), key);
        }
        map.put("batchsubmitplugins", Key.JOB_SUBMIT_PLUGINS);
        map.put("taskpluginparams", Key.TASK_PLUGIN_PARAM);
        map.put("sbcastparameters", Key.BCAST_PARAMETERS);
        return map;
    }

    SlurmConf.Parsed read(File file) {
        for (Key key : KEYS) {
            lines.add(List.of());
            String fallback = key.fallback();
            texts[key.ordinal()] = fallback;
            if (!fallback.isEmpty()) {
                setNumber(key, fallback);
            }
        }
        path = file.getPath();
        new ConfLines(file, this, errors).read(file);
        values.at(file.getPath(), 0, "");
        checkWhole(file.getPath());
        expandNodes();
        for (SlurmConf.NodeSet set : nodeSets) {
            if (nodes.stream().anyMatch(n -> n.name().equals(set.name()))) {
                errors.add(new ConfigError(file.getPath(), 0, "NodeSet " + set.name() + " has the name of a node", ""));
            }
        }
        expandPartitions();
        exceptions(Key.SUSPEND_EXC_NODES);
        exceptions(Key.SUSPEND_EXC_PARTS);
        exceptions(Key.SUSPEND_EXC_STATES);
        if (!errors.isEmpty()) {
            return new SlurmConf.Parsed.Invalid(List.copyOf(errors));
        }
        return new SlurmConf.Parsed.Ok(new SlurmConf(this, file.getPath(), warnings));
    }

    @Override
    public String clusterName() {
        return texts[Key.CLUSTER_NAME.ordinal()];
    }

    @Override
    public void line(String text, String file, int line) {
        for (int i = 0; i < text.length(); i++) {
            contentHash = (contentHash ^ text.charAt(i)) * 0x100000001B3L;
        }
        values.at(file, line, text);
        Pairs pairs = new Pairs(text);
        if (!pairs.next()) {
            values.error("Parsing error");
            return;
        }
        String name = pairs.key();
        String value = pairs.value();
        String lower = name.toLowerCase(Locale.ROOT);
        switch (lower) {
            case "nodename" -> nodeLine(value, pairs);
            case "partitionname" -> partitionLine(value, pairs);
            case "nodeset" -> nodeSetLine(value, pairs);
            case "downnodes" -> downLine(value, pairs);
            case "poweraction" -> powerActionLine(value, pairs);
            case "frontendname" -> values.error("FrontendName: front end nodes are not supported");
            default -> {
                keyLine(name, lower, value);
                if (!pairs.atEnd()) {
                    pairs.next();
                    values.text(pairs.rest()).error("Parsing error");
                }
            }
        }
    }

    private void keyLine(String name, String lower, String value) {
        Key key = BY_NAME.get(lower);
        if (key != null) {
            if (given[key.ordinal()] && key.kind() != Key.Kind.LINES) {
                values.warning(key.slurmName().concat(" 1 specified more than once, latest value used"));
            }
            given[key.ordinal()] = true;
            files[key.ordinal()] = values.file();
            at[key.ordinal()] = values.line();
            set(key, value);
            return;
        }
        if (!Names.DEFUNCT.contains(" ".concat(lower).concat(" "))) {
            values.error("_parse_next_key: Parsing error at unrecognized key: ".concat(name));
            return;
        }
        if (lower.equals("controlmachine")) {
            oldController = value;
        } else if (lower.equals("controladdr")) {
            oldAddress = value;
        }
        values.warning("The option \""
                .concat(name)
                .concat("\" is defunct, please remove it from slurm.conf.")
                .concat(
                        switch (lower) {
                            case "fastschedule" ->
                                " SlurmdParameters=config_overrides has the function of FastSchedule=2 now.";
                            case "sallocdefaultcommand" ->
                                " LaunchParameters=use_interactive_step has its function now.";
                            default -> "";
                        }));
    }

    private void set(Key key, String value) {
        int index = key.ordinal();
        if (key.kind() == Key.Kind.LINES) {
            List<String> all = new ArrayList<>(lines.get(index));
            all.add(value);
            lines.set(index, List.copyOf(all));
            if (key == Key.SLURMCTLD_HOST) {
                controller(value);
            }
            return;
        }
        String checked = KeyCheck.normalized(key, value, values);
        texts[index] = checked;
        setNumber(key, checked);
    }

    private void setNumber(Key key, String value) {
        String name = key.slurmName();
        switch (key.kind()) {
            case U16 -> numbers[key.ordinal()] = values.number(name, value, Values.U16_MAX);
            case U32 ->
                numbers[key.ordinal()] = key == Key.MAX_DBD_MSGS
                        ? KeyCheck.databaseMessages(value, values)
                        : values.number(name, value, Values.U32_MAX);
            case U64 -> numbers[key.ordinal()] = values.number(name, value, Long.MAX_VALUE);
            case YES_NO -> numbers[key.ordinal()] = values.yesNo(name, value) ? 1 : 0;
            case DEBUG_LEVEL -> numbers[key.ordinal()] = value.isEmpty() ? 0 : KeyCheck.debugLevel(name, value, values);
            case DURATION ->
                numbers[key.ordinal()] = given[key.ordinal()] ? duration(name, value) : Long.parseLong(value);
            case TEXT, LIST, LINES -> {}
        }
    }

    private long duration(String name, String value) {
        OptionalLong parsed = Durations.parseSeconds(value);
        if (parsed.isEmpty() || parsed.getAsLong() <= 0 && name.equals(Key.PRIORITY_CALC_PERIOD.slurmName())) {
            values.error("Bad value \"" + value + "\" for " + name);
        }
        return parsed.orElse(1);
    }

    private void controller(String value) {
        int open = value.indexOf('(');
        String host = open < 0 ? value : value.substring(0, open);
        boolean closed = open < 0 || value.endsWith(")");
        if (host.isEmpty() || !closed || controllers.size() == MAX_CONTROLLERS) {
            values.error("Bad value \"" + value + "\" for SlurmctldHost");
            return;
        }
        controllers.add(new Controller(host, open < 0 ? host : value.substring(open + 1, value.length() - 1)));
    }

    private void nodeLine(String names, Pairs pairs) {
        NodeLine read = NodeLine.read(nodeDefaults, names, pairs, values);
        if (names.equalsIgnoreCase("DEFAULT")) {
            nodeDefaults = read;
        } else {
            nodeLines.add(read);
        }
    }

    private void partitionLine(String name, Pairs pairs) {
        PartitionLine read = PartitionLine.read(partitionDefaults, name, pairs, values);
        if (name.equalsIgnoreCase("DEFAULT")) {
            partitionDefaults = read;
        } else {
            read.settle(values);
            partitionLines.add(read);
        }
    }

    private void nodeSetLine(String name, Pairs pairs) {
        String feature = "";
        String members = "";
        while (pairs.next()) {
            values.text(pairs.rest());
            switch (pairs.key().toLowerCase(Locale.ROOT)) {
                case "feature" -> feature = pairs.value();
                case "nodes" -> members = pairs.value();
                default -> values.error("Parsing error at unrecognized key: " + pairs.key());
            }
        }
        requireEnd(pairs);
        nodeSets.add(new SlurmConf.NodeSet(name, feature, members));
    }

    private void powerActionLine(String name, Pairs pairs) {
        String location = "";
        String program = "";
        while (pairs.next()) {
            values.text(pairs.rest());
            switch (pairs.key().toLowerCase(Locale.ROOT)) {
                case "location" -> location = pairs.value().toLowerCase(Locale.ROOT);
                case "program" -> program = pairs.value();
                default -> values.error("Parsing error at unrecognized key: " + pairs.key());
            }
        }
        requireEnd(pairs);
        if (!location.equals("slurmctld") && !location.equals("slurmd") || program.isEmpty()) {
            values.error("PowerAction=" + name + " needs Location=slurmctld or slurmd, and Program");
        } else if (powerActions.stream().anyMatch(a -> a.name().equals(name))) {
            values.error("PowerAction=" + name + " is given twice");
        } else {
            powerActions.add(new SlurmConf.PowerAction(name, location, program));
        }
    }

    private void downLine(String names, Pairs pairs) {
        String state = "DOWN";
        String reason = "";
        while (pairs.next()) {
            values.text(pairs.rest());
            switch (pairs.key().toLowerCase(Locale.ROOT)) {
                case "state" -> state = NodeLine.state(pairs.value(), names, values);
                case "reason" -> reason = pairs.value();
                default -> values.error("Parsing error at unrecognized key: " + pairs.key());
            }
        }
        requireEnd(pairs);
        downs.add(new Down(names, state, reason, values.file(), values.line()));
    }

    private void requireEnd(Pairs pairs) {
        if (!pairs.atEnd()) {
            values.text(pairs.rest()).error("Parsing error");
        }
    }

    private void checkWhole(String file) {
        if (!oldController.isEmpty() && controllers.isEmpty()) {
            controllers.add(new Controller(oldController, oldAddress.isEmpty() ? oldController : oldAddress));
        }
        if (texts[Key.CLUSTER_NAME.ordinal()].isEmpty()) {
            errors.add(new ConfigError(file, 0, "ClusterName needs to be specified", ""));
        }
        String active = texts[Key.SLURMCTLD_ADDR.ordinal()];
        if (!active.isEmpty()) {
            // one address for whichever of them is active
            controllers.replaceAll(c -> new Controller(c.host(), active));
        }
        if (controllers.isEmpty()) {
            errors.add(new ConfigError(file, 0, "No SlurmctldHost defined.", ""));
        }
        if (numbers[Key.FIRST_JOB_ID.ordinal()] > numbers[Key.MAX_JOB_ID.ordinal()]) {
            errors.add(new ConfigError(file, 0, "FirstJobId > MaxJobId", ""));
        }
        if (numbers[Key.MAX_ARRAY_SIZE.ordinal()] > MAX_ARRAY_SIZE) {
            warnings.add(new ConfigError(
                    file,
                    0,
                    "MaxArraySize value (" + numbers[Key.MAX_ARRAY_SIZE.ordinal()] + ") is greater than "
                            + MAX_ARRAY_SIZE,
                    ""));
            numbers[Key.MAX_ARRAY_SIZE.ordinal()] = MAX_ARRAY_SIZE;
        }
        if (numbers[Key.MIN_JOB_AGE.ordinal()] < MIN_JOB_AGE_S) {
            warnings.add(new ConfigError(file, 0, "MinJobAge must be at least " + MIN_JOB_AGE_S, ""));
            numbers[Key.MIN_JOB_AGE.ordinal()] = MIN_JOB_AGE_S;
            texts[Key.MIN_JOB_AGE.ordinal()] = Long.toString(MIN_JOB_AGE_S);
        }
        preemption(file);
        int select = Key.SELECT_TYPE_PARAMETERS.ordinal();
        if (!isWrong(Key.SELECT_TYPE, Key.SELECT_TYPE_PARAMETERS)) {
            texts[select] = SelectWords.of(
                    texts[Key.SELECT_TYPE.ordinal()],
                    texts[select],
                    given[select],
                    valuesAt(Key.SELECT_TYPE_PARAMETERS));
        }
        startsAtNodes(Key.RESUME_PROGRAM);
        startsAtNodes(Key.RESUME_FAIL_PROGRAM);
        if (numbers[Key.PRIORITY_DECAY_HALF_LIFE.ordinal()] == 0
                && !given[Key.PRIORITY_USAGE_RESET_PERIOD.ordinal()]
                && !isWrong(Key.PRIORITY_DECAY_HALF_LIFE)) {
            errors.add(new ConfigError(
                    file,
                    0,
                    "You have to either have PriorityDecayHalfLife != 0 or PriorityUsageResetPeriod set to something "
                            + "or the priority plugin will result in rolling over.",
                    ""));
        }
        exclusive(file, Key.DEF_MEM_PER_CPU, Key.DEF_MEM_PER_NODE);
        exclusive(file, Key.MAX_MEM_PER_CPU, Key.MAX_MEM_PER_NODE);
        relations.check();
    }

    /** The line of one of the keys has a mistake already, of which others would only follow. */
    private boolean isWrong(Key... keys) {
        for (ConfigError e : errors) {
            for (Key key : keys) {
                if (given[key.ordinal()]
                        && e.line() == at[key.ordinal()]
                        && e.file().equals(files[key.ordinal()])) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Checks PreemptType and PreemptMode against each other. */
    private void preemption(String file) {
        String type = texts[Key.PREEMPT_TYPE.ordinal()];
        List<String> modes = Values.list(texts[Key.PREEMPT_MODE.ordinal()].toUpperCase(java.util.Locale.ROOT));
        boolean none = type.isEmpty() || type.equals("preempt/none");
        boolean how = modes.stream().anyMatch(m -> m.equals("CANCEL") || m.equals("REQUEUE") || m.equals("SUSPEND"));
        boolean odd = none
                ? !List.of("OFF", "GANG").containsAll(modes)
                : List.of("preempt/partition_prio", "preempt/qos").contains(type) && !how;
        if (odd && !isWrong(Key.PREEMPT_TYPE, Key.PREEMPT_MODE)) {
            errors.add(new ConfigError(file, 0, "PreemptType and PreemptMode values incompatible", ""));
        }
    }

    /** Refuses a power-up action at the node itself: a node without power has no slurmd. */
    private void startsAtNodes(Key key) {
        for (SlurmConf.PowerAction action : powerActions) {
            if (action.name().equals(texts[key.ordinal()]) && action.isAtNode()) {
                valuesAt(key)
                        .error(key.slurmName() + "=" + action.name() + " needs a PowerAction with Location=slurmctld");
            }
        }
    }

    private void exclusive(String file, Key perCpu, Key perNode) {
        if (numbers[perCpu.ordinal()] < 0) {
            numbers[perCpu.ordinal()] = 0;
        }
        if (numbers[perNode.ordinal()] < 0) {
            numbers[perNode.ordinal()] = 0;
        }
        if (numbers[perCpu.ordinal()] > 0 && numbers[perNode.ordinal()] > 0) {
            warnings.add(new ConfigError(
                    file,
                    0,
                    perCpu.slurmName() + " ignored, since it's mutually exclusive with " + perNode.slurmName(),
                    ""));
            numbers[perCpu.ordinal()] = 0;
        }
    }

    private void expandNodes() {
        for (NodeLine nodeLine : nodeLines) {
            nodeLine.expand((int) numbers[Key.SLURMD_PORT.ordinal()], nodes, warnings, values);
        }
        relations.checkNodes(nodes.size());
        Set<String> seen = new HashSet<>(nodes.size() * 2);
        for (NodeConf node : nodes) {
            if (!seen.add(node.name())) {
                errors.add(new ConfigError(
                        node.file(),
                        node.line(),
                        "Duplicated NodeHostName " + node.name() + " in config file",
                        node.name()));
            }
        }
        for (Down down : downs) {
            values.at(down.file, down.line, down.nodes);
            Set<String> names =
                    new LinkedHashSet<>(values.hosts(down.nodes, "DownNodes").names());
            for (int i = 0; i < nodes.size(); i++) {
                if (names.remove(nodes.get(i).name())) {
                    nodes.set(i, marked(nodes.get(i), down));
                }
            }
            for (String name : names) {
                warnings.add(new ConfigError(down.file, down.line, "DownNode \"" + name + "\" does not exist!", name));
            }
        }
    }

    private static NodeConf marked(NodeConf node, Down down) {
        return new NodeConf(
                node.name(),
                node.hostname(),
                node.address(),
                node.bcastAddress(),
                node.port(),
                node.cpus(),
                node.boards(),
                node.sockets(),
                node.coresPerSocket(),
                node.threadsPerCore(),
                node.realMemoryMb(),
                node.tmpDiskMb(),
                node.features(),
                node.weight(),
                node.gres(),
                node.gresText(),
                down.state,
                down.reason.isEmpty() ? node.reason() : down.reason,
                node.memSpecLimitMb(),
                node.coreSpecCount(),
                node.cpuSpecList(),
                node.cpuBind(),
                node.topology(),
                node.restrictedCoresPerGpu(),
                node.suspendTime(),
                node.parameters(),
                node.file(),
                node.line());
    }

    private void expandPartitions() {
        Map<String, Integer> order = new HashMap<>(nodes.size() * 2);
        for (int i = 0; i < nodes.size(); i++) {
            order.put(nodes.get(i).name(), i);
        }
        valuesAt(Key.PRIORITY_WEIGHT_TRES);
        texts[Key.ACCOUNTING_STORAGE_TRES.ordinal()] = withGpuUse(texts[Key.ACCOUNTING_STORAGE_TRES.ordinal()]);
        weights(texts[Key.PRIORITY_WEIGHT_TRES.ordinal()]);
        oneDefault();
        Set<String> seen = new HashSet<>();
        for (PartitionLine part : partitionLines) {
            values.at(part.file(), part.line(), part.name());
            if (!seen.add(part.name())) {
                values.error("duplicate entry for partition " + part.name());
            }
            weights(part.tresBillingWeights());
            List<String> sets = new ArrayList<>();
            List<String> members = members(part, order, sets);
            partitions.add(part.finish(members, List.copyOf(sets), numbers[Key.DISABLE_ROOT_JOBS.ordinal()] != 0));
        }
    }

    /** The last partition with Default=YES is the default, and the only one. */
    private void oneDefault() {
        PartitionLine before = null;
        for (PartitionLine part : partitionLines) {
            if (!part.isDefault()) {
                continue;
            }
            if (before != null && !before.name().equals(part.name())) {
                values.at(part.file(), part.line(), part.name())
                        .warning("changing default partition from " + before.name() + " to " + part.name());
                before.notDefault();
            }
            before = part;
        }
    }

    @Override
    public boolean isGiven(Key key) {
        return given[key.ordinal()];
    }

    @Override
    public long number(Key key) {
        return numbers[key.ordinal()];
    }

    @Override
    public String text(Key key) {
        return texts[key.ordinal()];
    }

    @Override
    public List<String> controllerHosts() {
        return controllers.stream().map(Controller::host).toList();
    }

    @Override
    public Values valuesAt(Key key) {
        return values.at(given[key.ordinal()] ? files[key.ordinal()] : "", at[key.ordinal()], "");
    }

    /** Words of SuspendExc... that name no node, partition or state are reported and left out. */
    private void exceptions(Key key) {
        List<String> all = lines.get(key.ordinal());
        if (!all.isEmpty()) {
            List<String> meant = key == Key.SUSPEND_EXC_NODES
                    ? all.stream().map(this::expandCalls).toList()
                    : all;
            lines.set(
                    key.ordinal(),
                    new PowerExceptions(
                                    nodes,
                                    (name, into) -> addSet(name, into, new ArrayList<>()),
                                    partitions,
                                    given[Key.MAX_NODE_COUNT.ordinal()])
                            .known(key, meant, valuesAt(key)));
        }
    }

    /** Accounting of GPUs includes gpumem and gpuutil. */
    private static String withGpuUse(String tres) {
        List<String> out = new ArrayList<>();
        for (String name : Values.list(tres)) {
            out.add(name);
            if (name.equals("gres/gpu")) {
                List.of("gres/gpumem", "gres/gpuutil").stream()
                        .filter(use -> !Values.list(tres).contains(use))
                        .forEach(out::add);
            }
        }
        return String.join(",", out);
    }

    /** Refuses TRES weights of unknown resources. The syntax was checked with their line. */
    private void weights(String weights) {
        if (weights.isEmpty() || !TresWeights.isValid(weights, true)) {
            return;
        }
        List<String> tres = new ArrayList<>(Values.list(texts[Key.ACCOUNTING_STORAGE_TRES.ordinal()]));
        Values.list(texts[Key.GRES_TYPES.ordinal()]).forEach(name -> tres.add("gres/" + name));
        Values.list(texts[Key.LICENSES.ordinal()]).forEach(item -> tres.add("license/" + item.split("[:=@]")[0]));
        TresWeights.unknown(weights, tres)
                .ifPresent(name -> values.error(
                        "TRES weight '" + name.replaceFirst("/", ":") + "' is not a configured TRES type."));
    }

    /** The names of a partition's nodes in the order of the node lines. */
    private List<String> members(PartitionLine part, Map<String, Integer> order, List<String> sets) {
        if (part.nodes.equalsIgnoreCase("ALL")) {
            String[] all = new String[nodes.size()];
            for (int i = 0; i < all.length; i++) {
                all[i] = nodes.get(i).name();
            }
            return List.of(all);
        }
        Set<String> wanted = new LinkedHashSet<>();
        List<String> unknown = new ArrayList<>();
        for (String name : values.hosts(expandCalls(part.nodes), "Nodes").names()) {
            if (order.containsKey(name)) {
                wanted.add(name);
            } else if (!addSet(name, wanted, sets)) {
                unknown.add(name);
            }
        }
        // a NodeSet may name dynamic nodes that register later
        if (!given[Key.MAX_NODE_COUNT.ordinal()]) {
            wanted.stream().filter(name -> !order.containsKey(name)).forEach(unknown::add);
        }
        if (!unknown.isEmpty()) {
            values.error("Invalid node names in partition " + part.name() + ": " + String.join(",", unknown));
        }
        int[] positions = new int[wanted.size()];
        int count = 0;
        for (String name : wanted) {
            Integer position = order.get(name);
            if (position != null) {
                positions[count++] = position;
            }
        }
        Arrays.sort(positions, 0, count);
        String[] sorted = new String[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = nodes.get(positions[i]).name();
        }
        return List.of(sorted);
    }

    /** Replaces {@code feature{f}}, {@code block{b}} and the like by their nodes. */
    private String expandCalls(String list) {
        return list.indexOf('{') < 0
                ? list
                : HostCall.expanded(
                        list,
                        call -> call.isOfFeature()
                                ? nodes.stream()
                                        .filter(n -> n.features().contains(call.word()))
                                        .map(NodeConf::name)
                                        .toList()
                                // slurmctld and slurmd report mistakes in topology files when they read the files
                                // themselves
                                : call.of(Topologies.read(new SlurmConf(this, path, List.of()), new ArrayList<>())));
    }

    private boolean addSet(String name, Set<String> wanted, List<String> sets) {
        boolean found = false;
        for (SlurmConf.NodeSet set : nodeSets) {
            if (!set.name().equals(name)) {
                continue;
            }
            if (!found) {
                sets.add(name);
            }
            found = true;
            if (!set.nodes().isEmpty()) {
                wanted.addAll(values.hosts(expandCalls(set.nodes()), "Nodes").names());
            }
            if (!set.feature().isEmpty()) {
                for (NodeConf node : nodes) {
                    if (node.features().contains(set.feature())) {
                        wanted.add(node.name());
                    }
                }
            }
        }
        return found;
    }
}
