package dev.muster.core.partition;

import dev.muster.core.options.GpuJobDefaults;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.tres.Billing;
import dev.muster.core.tres.Keyword;
import dev.muster.json.Json;
import dev.muster.json.RecordEditor;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.UpdateSign;
import dev.muster.model.job.CpuBind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Applies {@code Key=value} pairs to a partition; keys are lower case. */
public final class PartitionEdit {
    private PartitionEdit() {}

    public sealed interface Outcome {}

    public record Edited(Partition partition) implements Outcome {}

    public record Refused(SlurmErrno errno, String sentence) implements Outcome {}

    /** Target of a key: the component of {@link PartitionInfo} and how its value reads. */
    private record Key(String field, Kind kind) {}

    private enum Kind {
        TEXT,
        FLAG,
        NUMBER,
        MINUTES,
        STATE,
        WEIGHTS,
        SHARES,
        EXCLUSIVE,
        CPUS,
        BINDING,
        JOB_DEFAULTS,
        PREEMPTION,
        TOPOLOGY,
        /** Names, or all. */
        ALLOWED,
        /** Names of existing QOS, or ALL. */
        QOS,
        /** A priority: no more than {@link #PRIORITY_MAX}. */
        PRIORITY,
        /** MiB, for each node or each CPU: what was said last counts. */
        MEMORY
    }

    private static final long PRIORITY_MAX = 65_533;
    /** Slurm's own sentence. */
    private static final String SHARES_ACCEPTED =
            "Acceptable OverSubscribe values are \"NO\", \"EXCLUSIVE\", " + "\"YES:#\", and \"FORCE:#\"";

    /** Pattern of a partition's PreemptMode, without GANG, which only the whole cluster can have. */
    private static final String PREEMPTIONS =
            "|((PRIORITY|WITHIN),)*(OFF|CANCEL|REQUEUE|SUSPEND|PRIORITY)(,(PRIORITY|WITHIN))*";
    /** Modes that a partition may name in PreemptMode without effect: they are QOS'. */
    private static final List<String> NOT_OF_PARTITIONS = List.of("WITHIN");

    private static final Key PRIORITY_TIER = new Key("priorityTier", Kind.PRIORITY);
    private static final Key PRIORITY_JOB_FACTOR = new Key("priorityJobFactor", Kind.PRIORITY);
    private static final Map<String, Key> KEYS = new java.util.TreeMap<>(Map.ofEntries(
            Map.entry("state", new Key("state", Kind.STATE)),
            Map.entry("default", new Key("isDefault", Kind.FLAG)),
            Map.entry("hidden", new Key("hidden", Kind.FLAG)),
            Map.entry("rootonly", new Key("rootOnly", Kind.FLAG)),
            Map.entry("reqresv", new Key("requireReservation", Kind.FLAG)),
            Map.entry("disablerootjobs", new Key("disableRootJobs", Kind.FLAG)),
            Map.entry("maxtime", new Key("maxTimeMin", Kind.MINUTES)),
            Map.entry("defaulttime", new Key("defaultTimeMin", Kind.MINUTES)),
            Map.entry("maxnodes", new Key("maxNodes", Kind.NUMBER)),
            Map.entry("minnodes", new Key("minNodes", Kind.NUMBER)),
            Map.entry("maxcpuspernode", new Key("maxCpusPerNode", Kind.CPUS)),
            Map.entry("prioritytier", PRIORITY_TIER),
            Map.entry("priorityjobfactor", PRIORITY_JOB_FACTOR),
            Map.entry("maxcpuspersocket", new Key("maxCpusPerSocket", Kind.CPUS)),
            Map.entry("allocnodes", new Key("allocNodes", Kind.TEXT)),
            Map.entry("tresbillingweights", new Key("tresBillingWeights", Kind.WEIGHTS)),
            Map.entry("overtimelimit", new Key("overTimeLimitMin", Kind.NUMBER)),
            Map.entry("allowgroups", new Key("allowGroups", Kind.ALLOWED)),
            Map.entry("allowaccounts", new Key("allowAccounts", Kind.ALLOWED)),
            Map.entry("denyaccounts", new Key("denyAccounts", Kind.TEXT)),
            Map.entry("allowqos", new Key("allowQos", Kind.QOS)),
            Map.entry("denyqos", new Key("denyQos", Kind.QOS)),
            Map.entry("oversubscribe", new Key("overSubscribe", Kind.SHARES)),
            Map.entry("shared", new Key("overSubscribe", Kind.SHARES)),
            Map.entry("exclusive", new Key("exclusive", Kind.EXCLUSIVE)),
            Map.entry("exclusiveuser", new Key("exclusiveUser", Kind.FLAG)),
            Map.entry("exclusivetopo", new Key("exclusiveTopo", Kind.FLAG)),
            Map.entry("defmempercpu", new Key("defMemPerCpuMb", Kind.MEMORY)),
            Map.entry("defmempernode", new Key("defMemPerNodeMb", Kind.MEMORY)),
            Map.entry("maxmempercpu", new Key("maxMemPerCpuMb", Kind.MEMORY)),
            Map.entry("preemptmode", new Key("preemptMode", Kind.PREEMPTION)),
            Map.entry("gracetime", new Key("graceTimeSeconds", Kind.NUMBER)),
            Map.entry("cpubind", new Key("cpuBind", Kind.BINDING)),
            Map.entry("jobdefaults", new Key("jobDefaults", Kind.JOB_DEFAULTS)),
            Map.entry("powerdownonidle", new Key("powerDownOnIdle", Kind.FLAG)),
            Map.entry("topology", new Key("topology", Kind.TOPOLOGY)),
            Map.entry("lln", new Key("leastLoadedNodes", Kind.FLAG)),
            Map.entry("alternate", new Key("alternate", Kind.TEXT)),
            Map.entry("qos", new Key("qos", Kind.QOS)),
            Map.entry("maxmempernode", new Key("maxMemPerNodeMb", Kind.MEMORY))));

    private static final Set<String> WORDS = new TreeSet<>(KEYS.keySet());

    static {
        WORDS.addAll(List.of("nodes", "priority"));
    }

    /** Returns the keys that {@link #edit} takes, in lower case. */
    static Set<String> keys() {
        return Set.copyOf(WORDS);
    }

    public static Outcome edit(Partition partition, Map<String, String> changes, State state) {
        return edit(partition, changes, Map.of(), state);
    }

    /** @param gids of the groups that the changes name */
    public static Outcome edit(
            Partition partition, Map<String, String> changes, Map<String, Integer> gids, State state) {
        RecordEditor<PartitionInfo> fields = RecordEditor.of(partition.info());
        List<String> nodes = partition.nodes();
        for (Map.Entry<String, String> change : Keyword.whole(changes, WORDS).entrySet()) {
            String value = change.getValue();
            if (change.getKey().equals("priority")) {
                // the older word for both
                if (!put(fields, PRIORITY_TIER, value) || !put(fields, PRIORITY_JOB_FACTOR, value)) {
                    return new Refused(SlurmErrno.ERROR, "Invalid input: priority=" + value);
                }
                continue;
            }
            if (change.getKey().equals("nodes")) {
                Optional<List<String>> named = nodes(partition.nodes(), value, state);
                if (named.isEmpty()) {
                    return new Refused(SlurmErrno.INVALID_NODE_NAME, SlurmErrno.INVALID_NODE_NAME.sentence());
                }
                nodes = named.get();
                fields.set(
                        "nodes", UpdateSign.isSigned(value) ? HostList.of(nodes).compressed() : value);
                continue;
            }
            Key key = KEYS.get(change.getKey());
            if (key == null) {
                return new Refused(
                        SlurmErrno.NOT_SUPPORTED,
                        "Updating " + change.getKey() + " of a partition is not supported by this version of Muster");
            }
            Optional<SlurmErrno> unknown = unknownName(key.kind, value, state);
            if (unknown.isPresent()) {
                return new Refused(unknown.get(), unknown.get().sentence());
            }
            if (!put(fields, key, value)) {
                return new Refused(
                        SlurmErrno.ERROR,
                        key.kind == Kind.SHARES ? SHARES_ACCEPTED : "Invalid input: " + change.getKey() + "=" + value);
            }
        }
        if (!fields.text("allowGroups").equals(partition.info().allowGroups()) || !gids.isEmpty()) {
            putGids(fields, gids);
        }
        if (isBeyond(fields)) {
            fields.set("defaultTimeMin", (long) partition.info().defaultTimeMin());
        }
        return new Edited(withTotals(fields.record(), nodes, state));
    }

    /** Returns the error for a value that names a resource, topology or QOS which the cluster does not have. */
    private static Optional<SlurmErrno> unknownName(Kind kind, String value, State state) {
        boolean known = switch (kind) {
            case WEIGHTS -> Billing.isValid(value, state.settings());
            case TOPOLOGY ->
                value.isEmpty()
                        || state.settings().topologies().stream()
                                .anyMatch(t -> t.name().equals(value));
            case JOB_DEFAULTS -> GpuJobDefaults.parse(value).isPresent();
            case QOS -> isQos(value, state);
            default -> true;
        };
        if (known) {
            return Optional.empty();
        }
        return Optional.of(
                switch (kind) {
                    case WEIGHTS -> SlurmErrno.INVALID_TRES_BILLING_WEIGHTS;
                    case TOPOLOGY -> SlurmErrno.REQUESTED_TOPO_CONFIG_UNAVAILABLE;
                    case JOB_DEFAULTS -> SlurmErrno.INVALID_JOB_DEFAULTS;
                    default -> SlurmErrno.INVALID_QOS;
                });
    }

    /** Tests whether the new DefaultTime exceeds MaxTime: then the old one is kept. */
    private static boolean isBeyond(RecordEditor<PartitionInfo> fields) {
        long maxMin = fields.number("maxTimeMin");
        return maxMin >= 0
                && fields.number("defaultTimeMin") != PartitionInfo.NO_TIME
                && fields.number("defaultTimeMin") > maxMin;
    }

    /** Returns whether all named QOS exist. As in 26.05.3, none exists without accounting. */
    private static boolean isQos(String value, State state) {
        return value.isEmpty()
                || value.equalsIgnoreCase("ALL")
                || Stream.of(value.split(","))
                        .map(UpdateSign::unsigned)
                        .allMatch(name -> state.accounts().qosNames().stream().anyMatch(name::equalsIgnoreCase));
    }

    private static void putGids(RecordEditor<PartitionInfo> fields, Map<String, Integer> gids) {
        fields.set(
                "allowGids",
                Stream.of(fields.text("allowGroups").split(","))
                        .filter(gids::containsKey)
                        .map(gids::get)
                        .toList());
    }

    /**
     * Returns the partition's nodes: all nodes of the cluster for ALL, those of a list, or those of before with
     * {@code +n1,-n[2-4]} applied. Empty if a node does not exist.
     */
    private static Optional<List<String>> nodes(List<String> before, String value, State state) {
        if (value.equalsIgnoreCase("ALL")) {
            return Optional.of(state.nodes().values().stream()
                    .sorted(java.util.Comparator.comparingInt(n -> n.spec().order()))
                    .map(Node::name)
                    .toList());
        }
        if (!UpdateSign.isSigned(value)) {
            return HostList.parse(value) instanceof HostList.Parsed.Ok ok
                            && ok.list().names().stream().allMatch(state.nodes()::has)
                    ? Optional.of(ok.list().names())
                    : Optional.empty();
        }
        Set<String> out = new LinkedHashSet<>(before);
        // each sign counts up to the next one
        for (String part : value.split("(?<=,)(?=[+-])")) {
            if (!(HostList.parse(part.substring(1).replaceAll(",$", "")) instanceof HostList.Parsed.Ok ok)
                    || !ok.list().names().stream().allMatch(state.nodes()::has)) {
                return Optional.empty();
            }
            if (part.startsWith("+")) {
                out.addAll(ok.list().names());
            } else {
                out.removeAll(ok.list().names());
            }
        }
        return Optional.of(out.stream()
                .sorted(java.util.Comparator.comparingInt(
                        n -> state.nodes().at(n).spec().order()))
                .toList());
    }

    private static boolean put(RecordEditor<PartitionInfo> fields, Key key, String value) {
        switch (key.kind) {
            case TEXT, WEIGHTS, TOPOLOGY -> fields.set(key.field, value);
            case ALLOWED -> fields.set(key.field, value.isEmpty() || value.equalsIgnoreCase("ALL") ? "ALL" : value);
            case QOS ->
                fields.set(
                        key.field,
                        key.field.equals("allowQos") && (value.isEmpty() || value.equalsIgnoreCase("ALL"))
                                ? "ALL"
                                : value);
            case JOB_DEFAULTS ->
                fields.set(
                        key.field,
                        GpuJobDefaults.parse(value).map(GpuJobDefaults::text).orElse(""));
            case BINDING, PREEMPTION, PRIORITY, MEMORY -> {
                return checked(fields, key, value);
            }
            case CPUS -> {
                return putCpus(fields, key, value);
            }
            case SHARES, EXCLUSIVE, STATE, FLAG -> {
                return putWord(fields, key, value.toUpperCase(java.util.Locale.ROOT));
            }
            case NUMBER -> {
                boolean unlimited = value.equalsIgnoreCase("UNLIMITED") || value.equalsIgnoreCase("INFINITE");
                long all = key.field.equals("overTimeLimitMin") ? PartitionInfo.OVER_UNLIMITED : -1;
                if (!unlimited && !value.matches("[-+]?[0-9]{1,18}")) {
                    return false;
                }
                return putNumber(fields, key, unlimited ? all : Long.parseLong(value));
            }
            case MINUTES -> {
                OptionalLong minutes = Durations.parseMinutes(value);
                if (minutes.isEmpty()) {
                    return false;
                }
                boolean none = key.field.equals("defaultTimeMin") && minutes.getAsLong() == 0;
                return putNumber(fields, key, none ? PartitionInfo.NO_TIME : minutes.getAsLong());
            }
        }
        return true;
    }

    /** Sets a number; false if its component is an int and cannot hold it. */
    private static boolean putNumber(RecordEditor<PartitionInfo> fields, Key key, long number) {
        try {
            fields.set(key.field, number);
            return true;
        } catch (Json.MalformedException e) {
            return false;
        }
    }

    private static boolean putCpus(RecordEditor<PartitionInfo> fields, Key key, String value) {
        if (!put(fields, new Key(key.field, Kind.NUMBER), value)) {
            return false;
        }
        if (fields.number(key.field) == 0) {
            fields.set(key.field, (long) Partition.NO_CPUS);
        }
        return true;
    }

    /** Sets a field that has a few words as values. OverSubscribe and Exclusive reset each other. */
    private static boolean putWord(RecordEditor<PartitionInfo> fields, Key key, String word) {
        String words = switch (key.kind) {
            case SHARES -> "NO|EXCLUSIVE|(YES|FORCE)(:[1-9][0-9]{0,4})?";
            case EXCLUSIVE -> "NO|NONE|NODE|USER|TOPO";
            case STATE -> "UP|DOWN|DRAIN|INACTIVE";
            default -> "Y|YE|YES|N|NO";
        };
        if (!word.matches(words)) {
            return false;
        }
        switch (key.kind) {
            case SHARES -> {
                fields.set(key.field, word.equals("YES") || word.equals("FORCE") ? word + ":4" : word);
                fields.set("exclusiveNode", false);
            }
            case EXCLUSIVE -> {
                fields.set("exclusiveNode", word.equals("NODE"));
                fields.set("exclusiveUser", word.equals("USER"));
                fields.set("exclusiveTopo", word.equals("TOPO"));
                if (fields.text("overSubscribe").equals("EXCLUSIVE")) {
                    fields.set("overSubscribe", "NO");
                }
            }
            case STATE -> fields.set(key.field, word);
            default -> {
                fields.set(key.field, word.startsWith("Y"));
                if (key.field.equals("exclusiveTopo") && word.startsWith("Y")) {
                    fields.set("overSubscribe", "NO");
                }
            }
        }
        return true;
    }

    /** Sets a key that has only certain texts as values; returns false if this text is none of them. */
    private static boolean checked(RecordEditor<PartitionInfo> fields, Key key, String value) {
        Optional<String> mode = CpuBind.defaultMode(value);
        String word = value.toUpperCase(java.util.Locale.ROOT);
        boolean good = switch (key.kind) {
            case BINDING -> mode.isPresent();
            case PREEMPTION -> word.matches(PREEMPTIONS);
            case PRIORITY -> value.matches("[0-9]{1,5}") && Long.parseLong(value) <= PRIORITY_MAX;
            default -> put(fields, new Key(key.field, Kind.NUMBER), value);
        };
        if (!good) {
            return false;
        }
        switch (key.kind) {
            case BINDING -> fields.set(key.field, mode.get());
            case PREEMPTION -> {
                String own = String.join(
                        ",",
                        Stream.of(word.split(","))
                                .filter(w -> !NOT_OF_PARTITIONS.contains(w))
                                .toList());
                fields.set(key.field, own.isEmpty() && !word.isEmpty() ? "OFF" : own);
            }
            case PRIORITY -> fields.set(key.field, Long.parseLong(value));
            default ->
                fields.set(
                        key.field.contains("Cpu") ? key.field.replace("Cpu", "Node") : key.field.replace("Node", "Cpu"),
                        0L);
        }
        return true;
    }

    private static Partition withTotals(PartitionInfo info, List<String> nodes, State state) {
        int cpus = 0;
        List<String> known = new ArrayList<>();
        for (String name : nodes) {
            known.add(name);
            cpus += state.nodes().find(name).map(n -> n.spec().cpus()).orElse(0);
        }
        return new Partition(info.withTotals(nodes.size(), cpus), List.copyOf(known));
    }
}
