package dev.muster.benchmarks;

import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.HostList;
import dev.muster.model.node.NodeMessages;
import dev.muster.node.config.Settings;
import dev.muster.node.config.SettingsReader;
import dev.muster.node.config.SlurmdOptions;
import dev.muster.node.io.LaunchRelay;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.transport.Caller;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Thousands of nodes in one process: each has slurmd's logic and its own connection to slurmctld, none has processes
 * ({@link EmulatedSteps}). They share one port, the one that slurm.conf gives each of them, for launches that come
 * through other nodes.
 */
final class EmulatedNodes implements AutoCloseable {
    /** Stands in place of a step's number for the job's share: the node knows its share of the job. */
    static final int PREPARED = -100;

    private static final int THREADS = 2;

    private final Map<String, EmulatedNode> nodes = new LinkedHashMap<>();
    private final EventLoop.Threads threads = new EventLoop.Threads(THREADS);
    private final SlurmConf conf;
    private final Server server;
    private final AtomicLong launches = new AtomicLong();
    private final AtomicLong ends = new AtomicLong();
    private final AtomicLong freed = new AtomicLong();
    private final Map<List<Integer>, Seen> seen = new ConcurrentHashMap<>();
    private volatile CompletableFuture<Void> gate = new CompletableFuture<>();

    /** @param count of nodes; lastNs: when the last of them heard of it, by {@link System#nanoTime} */
    record Seen(int count, long lastNs) {}

    /**
     * Connects from {@link #start} on.
     *
     * @throws IOException with the sentence, if slurm.conf does not do
     */
    EmulatedNodes(Path file, String names, DaemonLog log) throws IOException {
        conf = switch (SlurmConf.read(file.toFile())) {
            case SlurmConf.Parsed.Ok ok -> ok.conf();
            case SlurmConf.Parsed.Invalid invalid ->
                throw new IOException(invalid.errors().toString());
        };
        Sessions sessions = new Sessions(conf, new Caller(Os.uid(), Os.gid()), Os.uid(), false);
        if (!(SlurmdOptions.parse(List.of("-f", file.toString())) instanceof SlurmdOptions.Parsed.Ok parsed)) {
            throw new IOException("slurmd does not take -f " + file);
        }
        SlurmdOptions options = parsed.options();
        List<String> all = HostList.parse(names) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : List.of();
        NodeConf first = conf.node(all.getFirst()).orElseThrow();
        List<ConfigError> errors = new ArrayList<>();
        SettingsReader.Sisters sisters = SettingsReader.Sisters.read(conf, first, "localhost", errors);
        for (String name : all) {
            Settings settings = SettingsReader.read(
                    conf, conf.node(name).orElseThrow(), "", options, Path.of("/usr"), Os.uid(), sisters);
            nodes.put(name, new EmulatedNode(settings, this, log, sessions, threads));
        }
        server = Server.start(
                "127.0.0.1",
                first.port(),
                sessions.verifier().as(dev.muster.transport.Audience.SLURMD),
                (caller, message, body) -> Server.Reply.of(new NodeMessages.Ack(0)),
                Map.of(LaunchRelay.STREAM, (caller, frames) -> relayed(frames)),
                path -> Optional.empty());
    }

    private void relayed(Frames frames) {
        try (frames) {
            NodeMessages.Relay relay = Codec.decode(frames.receive(), NodeMessages.Relay.class);
            EmulatedNode node = nodes.get(relay.launches().parts().getFirst().node());
            if (node != null) {
                node.relayed(relay, frames);
            }
        } catch (IOException | Json.MalformedException e) {
            // the node that passed it on finds that it was not answered
        }
    }

    void start() {
        nodes.values().forEach(EmulatedNode::start);
    }

    /** Where a node of the cluster listens, in this process or another. */
    Settings.Address address(String node) throws IOException {
        NodeConf at = conf.node(node).orElseThrow(() -> new IOException(node + " is not in slurm.conf"));
        return new Settings.Address(at.address(), at.port());
    }

    int connected() {
        return (int) nodes.values().stream().filter(EmulatedNode::isConnected).count();
    }

    // ---- what steps tell

    void launched(int jobId, int stepId) {
        if (stepId != PREPARED) {
            launches.incrementAndGet();
        }
        seen.merge(
                List.of(jobId, stepId),
                new Seen(1, System.nanoTime()),
                (a, b) -> new Seen(a.count + b.count, b.lastNs));
    }

    void ended() {
        ends.incrementAndGet();
    }

    void freed(int jobs) {
        freed.addAndGet(jobs);
    }

    CompletableFuture<Void> gate() {
        return gate;
    }

    /** Every step that waits at the gate ends now; later ones wait for the next time. */
    void open() {
        CompletableFuture<Void> now = gate;
        gate = new CompletableFuture<>();
        now.complete(null);
    }

    // ---- what others ask

    /** Steps begun. */
    long launches() {
        return launches.get();
    }

    long ends() {
        return ends.get();
    }

    /** Shares of jobs of which nothing is left, and slurmctld has said that it knows. */
    long freed() {
        return freed.get();
    }

    /**
     * Counts the nodes that saw one step, or a job's shares.
     *
     * @param stepId or {@link #PREPARED}
     */
    Seen seen(int jobId, int stepId) {
        return seen.getOrDefault(List.of(jobId, stepId), new Seen(0, 0));
    }

    @Override
    public void close() {
        nodes.values().forEach(EmulatedNode::close);
        server.close();
        threads.close();
    }

    /**
     * Runs as a process: {@code EmulatedNodes SLURM.CONF NODES}. Asked on standard input, it answers a line each:
     * {@code start}, {@code connected}, {@code launches}, {@code ends}, {@code freed}, {@code seen JOB STEP} (how many
     * nodes, and the time of the last), {@code open}. It ends with its input.
     */
    public static void main(String[] args) throws Exception {
        DaemonLog log = new DaemonLog("emulated", "", true, 1, "");
        try (EmulatedNodes nodes = new EmulatedNodes(Path.of(args[0]), args[1], log);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(nodes.answer(line.split(" ")));
            }
        }
        System.exit(0);
    }

    private String answer(String[] words) {
        return switch (words[0]) {
            case "start" -> {
                start();
                yield "ok";
            }
            case "connected" -> "" + connected();
            case "launches" -> "" + launches();
            case "ends" -> "" + ends();
            case "freed" -> "" + freed();
            case "seen" -> {
                Seen s = seen(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                yield s.count + " " + s.lastNs;
            }
            case "open" -> {
                open();
                yield "ok";
            }
            default -> "?";
        };
    }
}
