package dev.muster.core.testkit;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.partition.PartitionEdit;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A small cluster for tables of tests: nodes, partitions and jobs as words, through the real core. Words of a job are
 * components of JobDesc's records: {@code tasks=2 timing.deadline=500 charge.account=a}.
 */
public final class Cluster {
    public static final int USER = 1000;
    /** Groups that the host knows. */
    public static final Map<String, Integer> GIDS = Map.of("staff", 50, "lab", 60);

    private final Planner planner = PlannerSource.find();
    private final Core core = new Core(planner);
    private final Map<String, NodeMessages.Hardware> hardware = new TreeMap<>();
    private final List<Entry> opening = new ArrayList<>();
    private Consumer<Entry> recorder = opening::add;
    private final Command.ApplyConfig configuration;
    private long seconds = 1_000_000;
    private int ms;

    /**
     * @param nodes {@code n[1-2] cpus=4 threads=2 mem=1000} lines; partitions in the same form, with keys as scontrol's
     */
    public Cluster(String nodes, String partitions, String settings) {
        this(nodes, partitions, settings, Topology.FLAT);
    }

    public Cluster(String nodes, String partitions, String settings, Topology topology) {
        this(nodes, partitions, settings, topology, List.of());
    }

    public Cluster(String nodes, String partitions, String settings, Topology topology, List<LayeredResource> layered) {
        this(nodes, partitions, settings, topology.equals(Topology.FLAT) ? List.of() : List.of(topology), layered);
    }

    /** @param topologies the cluster's first */
    public Cluster(
            String nodes,
            String partitions,
            String settings,
            List<Topology> topologies,
            List<LayeredResource> layered) {
        List<Node.Spec> specs = new ArrayList<>();
        for (String line : nodes.strip().split("\n")) {
            Map<String, String> w = words(line);
            for (String name : names(line.strip().split(" ")[0])) {
                specs.add(spec(name, w, specs.size()));
            }
        }
        Json.Obj s = values(
                "memoryConsumed=true maxJobCount=1000 maxJobId=100000 maxArraySize=1001 maxStepCount=100 firstJobId=1"
                        + " enforcePartLimits=NO minJobAgeS=300 " + settings);
        if (!layered.isEmpty()) {
            s.put(
                    "layered",
                    new ArrayList<Object>(layered.stream()
                            .map(r -> Json.object(Codec.encode(r)))
                            .toList()));
        }
        if (!topologies.isEmpty()) {
            s.put(
                    "topologies",
                    new ArrayList<Object>(topologies.stream()
                            .map(t -> Json.object(Codec.encode(t)))
                            .toList()));
        }
        apply(new Command.ApplyConfig(Codec.bind(s, Settings.class), specs, List.of()));
        List<Partition> made = new ArrayList<>();
        for (String line : partitions.strip().split("\n")) {
            made.add(partition(line));
        }
        configuration = new Command.ApplyConfig(Codec.bind(s, Settings.class), specs, made);
        apply(configuration);
        for (Node.Spec n : specs) {
            hardware.put(n.name(), hardware(n));
            if (!n.configState().equals("CLOUD")) {
                apply(new Command.RegisterNode(registration(n.name(), "boot", List.of())));
            }
        }
    }

    public Partition partition(String line) {
        String name = line.strip().split(" ")[0];
        Json.Obj info =
                values("name=" + name + " state=UP maxTimeMin=-1 maxNodes=-1 maxCpusPerNode=-1 overTimeLimitMin=-1"
                        + " priorityTier=1 allowGroups=ALL allowAccounts=ALL allowQos=ALL allocNodes=ALL "
                        + "overSubscribe=NO");
        Map<String, String> keys = words(line);
        if (keys.containsKey("allocnodes")) {
            info.put("allocNodes", keys.remove("allocnodes"));
        }
        if (keys.containsKey("select")) {
            info.put("selectTypeParameters", keys.remove("select"));
        }
        // slurm.conf is read before slurmdbd's QOS are known; an update is refused then
        for (String[] qos : new String[][] {{"allowqos", "allowQos"}, {"denyqos", "denyQos"}, {"qos", "qos"}}) {
            Optional.ofNullable(keys.remove(qos[0])).ifPresent(value -> info.put(qos[1], value));
        }
        return switch (PartitionEdit.edit(
                new Partition(Codec.bind(info, PartitionInfo.class), List.of()), keys, GIDS, core.state())) {
            case PartitionEdit.Edited e -> e.partition();
            case PartitionEdit.Refused r -> throw new IllegalArgumentException(line + ": " + r.sentence());
        };
    }

    private static Node.Spec spec(String name, Map<String, String> w, int order) {
        int cpus = Integer.parseInt(w.get("cpus"));
        int threads = Integer.parseInt(w.getOrDefault("threads", "1"));
        int sockets = Integer.parseInt(w.getOrDefault("sockets", "1"));
        return new Node.Spec(
                name,
                name,
                name,
                1,
                cpus,
                1,
                sockets,
                cpus / threads / sockets,
                threads,
                cpus / threads,
                threads,
                Long.parseLong(w.getOrDefault("mem", "1000")),
                0,
                0,
                w.containsKey("feature") ? List.of(w.get("feature").split(";")) : List.of(),
                1,
                gres(w),
                w.containsKey("kept") ? IndexSet.parse(w.get("kept")) : IndexSet.empty(),
                w.getOrDefault("state", "UNKNOWN"),
                "",
                order,
                Integer.parseInt(w.getOrDefault("restricted", "0")),
                w.getOrDefault("suspendtime", ""),
                List.of(),
                "",
                "");
    }

    private static List<Node.Gres> gres(Map<String, String> w) {
        List<Node.Gres> out = new ArrayList<>();
        for (String[] word : new String[][] {{"gpus", "gpu"}, {"mps", "mps"}, {"shards", "shard"}}) {
            int first = 0;
            // 4, or by types: a:2,b:2
            for (String part : w.containsKey(word[0]) ? w.get(word[0]).split(",") : new String[0]) {
                String type = part.contains(":") ? part.split(":")[0] : "";
                int count = Integer.parseInt(part.substring(part.indexOf(':') + 1));
                out.add(new Node.Gres(
                        word[1],
                        type,
                        first,
                        count,
                        "",
                        w.containsKey("sharing") ? List.of(w.get("sharing")) : List.of(),
                        word[0].equals("gpus") ? near(w.getOrDefault("near", ""), count) : List.of(),
                        w.containsKey("links") ? List.of(w.get("links").split(";")) : List.of(),
                        word[0].equals("gpus") || !w.containsKey("parts")
                                ? List.of()
                                : java.util.stream.Stream.of(w.get("parts").split(","))
                                        .map(Integer::valueOf)
                                        .toList()));
                first += count;
            }
        }
        return out;
    }

    /** Returns the cores near the GPUs, as {@code 0-7;8-15}: an equal number of GPUs for each of the sets. */
    private static List<IndexSet> near(String text, int gpus) {
        List<IndexSet> out = new ArrayList<>();
        String[] sets = text.split(";");
        for (int g = 0; g < gpus && !text.isEmpty(); g++) {
            out.add(IndexSet.parse(sets[g * sets.length / gpus]));
        }
        return out;
    }

    /** Returns the priority of a pending job, as it was last computed. */
    public long priority(int job) {
        return planner.priority(job).orElseThrow();
    }

    /** Returns the nodes of one line, whose slurmds may register. */
    public List<Node.Spec> specs(String line) {
        List<Node.Spec> out = new ArrayList<>();
        for (String name : names(line.strip().split(" ")[0])) {
            out.add(spec(name, words(line), 0));
            hardware.put(name, hardware(out.getLast()));
        }
        return out;
    }

    private static NodeMessages.Hardware hardware(Node.Spec n) {
        return new NodeMessages.Hardware(
                n.cpus(), 1, n.sockets(), n.coresPerSocket(), n.threadsPerCore(), n.memoryMb(), 0, "", "", "", 0);
    }

    /** Reads the configuration again, unchanged. */
    public void reconfigure() {
        apply(configuration);
    }

    /** Reads the configuration again, with this partition alone. */
    public void reconfigure(String partition) {
        apply(new Command.ApplyConfig(
                configuration.settings(),
                configuration.nodes(),
                configuration.partitions().stream()
                        .filter(p -> p.name().equals(partition))
                        .toList()));
    }

    public static List<String> names(String list) {
        return ((HostList.Parsed.Ok) HostList.parse(list)).list().names();
    }

    private static Map<String, String> words(String line) {
        Map<String, String> out = new TreeMap<>();
        for (String word : line.strip().split(" +")) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                out.put(word.substring(0, equals), word.substring(equals + 1));
            }
        }
        return out;
    }

    private static Json.Obj values(String line) {
        Json.Obj out = new Json.Obj();
        Json.Obj options = new Json.Obj();
        words(line).forEach((k, v) -> {
            if (k.startsWith("options.")) {
                options.put(k.substring(8), v);
            } else {
                out.put(k, k.equals("gresTypes") ? new ArrayList<Object>(List.of(v.split(","))) : value(v));
            }
        });
        return line.contains("options.") ? out.put("options", options) : out;
    }

    private static Object value(String v) {
        return v.matches("-?[0-9]+")
                ? (Object) Long.valueOf(v)
                : v.equals("true") ? (Object) Boolean.TRUE : v.equals("false") ? Boolean.FALSE : v;
    }

    public static JobDesc desc(String line) {
        Json.Obj job = new Json.Obj();
        Map<String, Json.Obj> parts = new TreeMap<>();
        parts.put("request", new Json.Obj());
        parts.put("owner", new Json.Obj().put("uid", (long) USER).put("user", "alice"));
        parts.put("payload", new Json.Obj().put("submitHost", "login"));
        job.put("kind", "ALLOCATION");
        words(line).forEach((k, v) -> {
            int dot = k.indexOf('.');
            if (k.equals("partition") || k.equals("kind") || k.equals("name")) {
                job.put(k, v);
            } else {
                parts.computeIfAbsent(dot < 0 ? "request" : k.substring(0, dot), x -> new Json.Obj())
                        .put(k.substring(dot + 1), value(v));
            }
        });
        parts.forEach(job::put);
        return Codec.bind(job, JobDesc.class);
    }

    /** Returns the message with which a node registers. */
    public NodeMessages.Register registration(String node, String bootId, List<NodeMessages.Attempt> attempts) {
        return new NodeMessages.Register(node, "c", bootId, "v", 1_000_000, hardware.get(node), attempts, "", "");
    }

    /** Hands every entry from now on to the consumer. */
    public void record(Consumer<Entry> to) {
        recorder = to;
    }

    /** Returns the entries until then. */
    public List<Entry> opening() {
        return opening;
    }

    public Decision apply(Command c) {
        DecisionTime now = new DecisionTime(seconds * 1000 + ms, seconds * 1000 + ms);
        Decision decision = core.decide(c, now);
        if (decision instanceof Decision.Accepted a && !a.changes().isEmpty()) {
            List<Change> changes = a.changes();
            Entry entry = new Entry(now.tickMs(), now.timeMs(), 0, c.getClass().getSimpleName(), changes);
            recorder.accept(entry);
            core.apply(entry);
        }
        return decision;
    }

    public Core core() {
        return core;
    }

    private Decision last = Decision.of(List.of(), "");

    public State state() {
        return core.state();
    }

    public long seconds() {
        return seconds;
    }

    /** {@code starttime=+60} is a minute from now. */
    public Map<String, String> moments(Map<String, String> values) {
        Map<String, String> out = new TreeMap<>(values);
        for (String key : List.of("starttime", "endtime")) {
            out.computeIfPresent(key, (k, v) -> Long.toString(seconds + Long.parseLong(v)));
        }
        return out;
    }

    public void pass(long more) {
        seconds += more;
        last = apply(new Command.Tick());
    }

    /** Does what slurmctld does at once instead of at the next tick, if there is any. */
    public void settle() {
        if (core.due().urgent()) {
            apply(new Command.Settle());
        }
    }

    /**
     * Moves the clock without a word to the daemon.
     *
     * @param ofSecond milliseconds
     */
    public void jump(long more, int ofSecond) {
        seconds += more;
        ms = ofSecond;
    }

    /** Returns the messages that the last passing of time sent to nodes directly. */
    public List<Decision.Direct> told() {
        return last instanceof Decision.Accepted a ? a.direct() : List.of();
    }

    public Decision submit(String line) {
        return apply(new Command.SubmitJob(USER, desc(line), "", Bytes.EMPTY, Bytes.EMPTY, false, false));
    }

    /** Returns when such a job would start: nothing is submitted. */
    public long wouldStart(String line) {
        Decision said = apply(new Command.SubmitJob(USER, desc(line), "", Bytes.EMPTY, Bytes.EMPTY, false, true));
        return ((SubmitReply) ((Decision.Accepted) said).reply()).testStart();
    }

    /** Returns the job's number. */
    public int accept(String line) {
        return switch (submit(line)) {
            case Decision.Accepted a -> ((SubmitReply) a.reply()).jobId();
            case Decision.Rejected r -> throw new AssertionError(line + ": " + r.sentence());
        };
    }

    public void schedule() {
        apply(new Command.Schedule(100));
    }

    /** {@code n1:2 n2:2} for nodes and CPUs, {@code (Reason)} if it waits, or the sentence it is refused with. */
    public String place(String line) {
        Decision decision = submit(line);
        if (decision instanceof Decision.Rejected r) {
            return r.sentence().split("\n")[0];
        }
        schedule();
        return shown(((SubmitReply) ((Decision.Accepted) decision).reply()).jobId());
    }

    public String shown(int id) {
        Job job = core.state().jobs().at(id);
        if (job.isPending()) {
            return "(" + core.planner().reason(id).word() + ")";
        }
        StringBuilder out = new StringBuilder();
        job.run()
                .allocation()
                .nodes()
                .forEach(s -> out.append(out.isEmpty() ? "" : " ")
                        .append(s.node())
                        .append(':')
                        .append(s.cpus()));
        return out.toString();
    }
}
