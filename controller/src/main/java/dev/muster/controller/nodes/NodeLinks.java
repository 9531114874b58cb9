package dev.muster.controller.nodes;

import static java.util.Objects.requireNonNull;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.controller.engine.Clock;
import dev.muster.controller.engine.CoreThread;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.SharedLaunch;
import dev.muster.transport.Caller;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The connections to the nodes. Each has its own writer, so that a slow node delays no other. */
public final class NodeLinks {
    /**
     * Seconds between two heartbeats of a node at least; longer with many nodes, so that no more than
     * {@link #BEATS_PER_SECOND} come in a second.
     */
    static final int HEARTBEAT_S = 5;

    private static final int BEATS_PER_SECOND = 200;
    /** Heartbeats of a node within SlurmdTimeout. */
    private static final int BEATS_PER_TIMEOUT = 10;
    /**
     * Messages waiting for one node; a node that falls behind further is cut off and re-derives everything when it is
     * back.
     */
    static final int OUTBOX_MAX = 20_000;
    /** Most messages that one write sends together: the write is the dearest part of sending a small message. */
    private static final int TOGETHER_MAX = 64;
    /** A larger message waits for no other. */
    private static final int LARGE_BYTES = 1 << 16;
    /**
     * Bytes up to which the launches of one step leave slurmctld directly, each node told by itself: about a second's
     * worth of a slow network.
     */
    static final long DIRECT_BYTES_MAX = 128L << 20;
    /** Files that are read at a time, on all nodes together. */
    static final int READING_MAX = 1024;

    /**
     * Longest time that an acknowledgement waits for another message to travel with: a message of its own costs more
     * than all else at the end of a short job. Only the node's record of the report waits for it.
     */
    private static final long ACK_MS = 50;

    private final Map<String, Link> links = new ConcurrentHashMap<>();
    /** Connections with a report to acknowledge, each once. */
    private final LinkedBlockingQueue<Link> late = new LinkedBlockingQueue<>();

    private final Map<String, Long> lastHeardNs = new ConcurrentHashMap<>();
    /** Nodes that have come to this slurmctld: the configuration may be another since the one before it. */
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    private final Map<String, NodeMessages.Heartbeat> beats = new ConcurrentHashMap<>();
    private final DaemonLog log;
    private final Supplier<SlurmConf> conf;
    private final NodeMessagesFromState outgoing;
    private final Clock clock;
    private final BiConsumer<String, Boolean> onConnection;
    private final LaunchRelays relays;
    /** Files that are being read on nodes, by the question's number. */
    private final Map<Long, CompletableFuture<ToController>> reading = new ConcurrentHashMap<>();

    private final AtomicLong questions = new AtomicLong();
    private final MemoryUpdates memory = new MemoryUpdates();
    private final PendingNodeMessages unheard = new PendingNodeMessages();
    private @Nullable CoreThread core;

    public NodeLinks(
            DaemonLog log,
            Supplier<SlurmConf> conf,
            NodeMessagesFromState outgoing,
            Clock clock,
            BiConsumer<String, Boolean> onConnection) {
        this.log = log;
        this.conf = conf;
        this.outgoing = outgoing;
        this.clock = clock;
        this.onConnection = onConnection;
        relays = new LaunchRelays(clock.now().timeMs(), log);
        Thread.ofVirtual().name("acknowledge").start(this::acknowledge);
    }

    private void acknowledge() {
        List<Link> some = new ArrayList<>();
        try {
            while (true) {
                some.add(late.take());
                Thread.sleep(ACK_MS);
                late.drainTo(some);
                some.forEach(Link::acknowledgeNow);
                some.clear();
            }
        } catch (InterruptedException e) {
            // no code interrupts this thread
        }
    }

    /** Returns the number of messages that wait for their node to take them. */
    public int queued() {
        return links.values().stream().mapToInt(l -> l.outbox.size()).sum();
    }

    /** Returns the number of nodes that messages wait for. */
    public int busy() {
        return (int) links.values().stream().filter(l -> !l.outbox.isEmpty()).count();
    }

    public void core(CoreThread thread) {
        core = thread;
    }

    private CoreThread core() {
        return requireNonNull(core, "core(thread) comes before the port is open");
    }

    /** An item in the queue to a node. */
    private sealed interface Item {
        record Direct(ToNode message) implements Item {}

        /** An item of nothing but acknowledgements. */
        record Acks() implements Item {}

        /**
         * A launch that comes through another node. Nothing overtakes it: an end that did would find nothing to end.
         */
        record Relayed(LaunchRelays.Tree tree, NodeMessages.Launch launch) implements Item {}

        /** One of many launches whose common part is encoded once. */
        record Alike(SharedLaunchEncoder all, SharedLaunch.Part own) implements Item {}
    }

    private final class Link {
        final String node;
        final Frames frames;
        final LinkedBlockingQueue<Item> outbox = new LinkedBlockingQueue<>(OUTBOX_MAX);
        final Thread writer;
        private final AckBatcher reports = new AckBatcher();

        Link(String node, Frames frames) {
            this.node = node;
            this.frames = frames;
            writer = Thread.ofVirtual().name("to-" + node).start(this::write);
        }

        public void send(ToNode message) {
            send(new Item.Direct(message));
        }

        private void add(List<byte[]> together, ToNode message) throws IOException {
            add(together, Codec.encode(message, ToNode.class));
        }

        private void add(List<byte[]> together, byte[] message) throws IOException {
            together.add(message);
            if (together.getLast().length > LARGE_BYTES) {
                flush(together);
            }
        }

        void acknowledge(long seq) {
            if (reports.noteDurable(seq)) {
                late.add(this);
            }
        }

        void acknowledgeNow() {
            if (reports.endWait()) {
                send(new Item.Acks());
            }
        }

        private void flush(List<byte[]> together) throws IOException {
            if (!together.isEmpty()) {
                frames.sendAll(together);
                together.clear();
            }
        }

        public void send(Item item) {
            if (!outbox.offer(item)) {
                log.error("node " + node + " does not take its messages: connection dropped");
                frames.close();
            }
        }

        private void write() {
            List<Item> taken = new ArrayList<>();
            List<byte[]> together = new ArrayList<>();
            try {
                while (true) {
                    taken.add(outbox.take());
                    outbox.drainTo(taken, TOGETHER_MAX - 1);
                    for (Item item : taken) {
                        switch (item) {
                            case Item.Acks a -> {}
                            case Item.Direct d -> add(together, d.message());
                            case Item.Alike a -> add(together, a.all().to(a.own()));
                            case Item.Relayed r -> {
                                flush(together);
                                if (!r.tree().reached(node)) {
                                    add(
                                            together,
                                            new NodeMessages.StaleRelay(r.tree().id()));
                                    add(together, r.launch());
                                }
                            }
                        }
                    }
                    long newest = reports.takeNewest();
                    if (newest > 0) {
                        add(together, new NodeMessages.Ack(newest));
                    }
                    flush(together);
                    taken.clear();
                }
            } catch (IOException e) {
                frames.close();
            } catch (InterruptedException e) {
                // the link was replaced or the daemon ends
            } catch (RuntimeException e) {
                log.error("node " + node + " cannot be told: " + e);
                frames.close();
            }
        }
    }

    /** Serves a node's stream until it breaks. */
    public void serve(Caller caller, Frames frames) {
        State state = core().durable();
        if (caller.uid() != 0 && caller.uid() != state.settings().slurmUid()) {
            log.error("Security violation, node stream from uid " + caller.uid());
            return;
        }
        Link link = null;
        try {
            if (!(Codec.decode(frames.receive(), ToController.class) instanceof NodeMessages.Register m)) {
                return;
            }
            link = register(m, frames);
            while (link != null) {
                received(link, Codec.decode(frames.receive(), ToController.class));
            }
        } catch (IOException e) {
            log.debug("node stream: " + ErrorSentence.of(e));
        } catch (Json.MalformedException e) {
            log.error("node stream: " + e.getMessage());
        } finally {
            if (link != null) {
                gone(link);
            }
        }
    }

    /** Returns null where the node is refused. */
    private @Nullable Link register(NodeMessages.Register m, Frames frames) throws IOException {
        lastHeardNs.put(m.node(), System.nanoTime());
        Decision decision = m.dynamic().isEmpty() ? Decision.of(List.of(), "") : introduce(m);
        if (decision instanceof Decision.Accepted) {
            int next = core().durable().nextJobId();
            decision = core().execute(new Command.RegisterNode(m), 0);
            if (m.highestJobId() >= next && core().durable().nextJobId() > m.highestJobId()) {
                log.error("Node " + m.node() + " has launched JobId=" + m.highestJobId()
                        + ", the state knew none above " + (next - 1)
                        + ": it is an older copy, or was cleared. Numbers of jobs go on above that of the node");
            }
        }
        if (decision instanceof Decision.Rejected r) {
            log.error("node " + m.node() + " refused: " + r.sentence());
            frames.send(Codec.encode(new NodeMessages.Refused(r.sentence(), false), ToNode.class));
            return null;
        }
        Link link = new Link(m.node(), frames);
        Link old = links.put(m.node(), link);
        if (old != null) {
            old.writer.interrupt();
            old.frames.close();
            keep(old);
        }
        link.send(new NodeMessages.Welcome(
                1, heartbeatSeconds(core().durable().nodes().size(), conf.get().slurmdTimeoutSec()), relays.newest()));
        log.verbose("Node " + m.node() + " now responding");
        if (decision instanceof Decision.Accepted a) {
            a.direct().forEach(d -> link.send(d.message()));
        }
        outgoing.desired(core().durable(), m.node(), clock.now().tickMs()).forEach(link::send);
        unheard.take(m.node()).forEach(link::send);
        if (seen.add(m.node()) && conf.get().has(Key.SLURMCTLD_PARAMETERS, "reconfig_on_restart")) {
            link.send(new NodeMessages.ReadConfig());
        }
        onConnection.accept(m.node(), true);
        return link;
    }

    /** @param timeoutS SlurmdTimeout; 0 for none */
    public static int heartbeatSeconds(int nodes, int timeoutS) {
        return Math.max(HEARTBEAT_S, Math.min(nodes / BEATS_PER_SECOND, timeoutS / BEATS_PER_TIMEOUT));
    }

    /** slurmd -Z says what it is: the node comes into being with its first registration. */
    private Decision introduce(NodeMessages.Register m) {
        List<ConfigError> errors = new ArrayList<>();
        List<Node.Spec> specs = ConfigBridge.nodes(m.dynamic(), conf.get(), errors);
        if (!errors.isEmpty() || specs.size() != 1 || !specs.getFirst().name().equals(m.node())) {
            return new Decision.Rejected(
                    SlurmErrno.ERROR,
                    errors.isEmpty()
                            ? "not one node of that name: " + m.dynamic()
                            : String.valueOf(errors.getFirst().sentence()));
        }
        return core().execute(new Command.AddNodes(0, specs, true), 0);
    }

    private void gone(Link link) {
        link.writer.interrupt();
        relays.lost(link.node);
        if (links.remove(link.node, link)) {
            keep(link);
            hear(link.node);
            onConnection.accept(link.node, false);
            log.verbose("Node " + link.node + " is not connected any more");
        }
    }

    private void received(Link link, ToController message) {
        lastHeardNs.put(link.node, System.nanoTime());
        switch (message) {
            case NodeMessages.Heartbeat m -> beats.put(link.node, m);
            case NodeMessages.MemoryUsed m ->
                memory.told(core().durable(), link.node, m).ifPresent(core()::post);
            case NodeMessages.Register m -> log.error("node " + link.node + " registered twice on one stream");
            case NodeMessages.Relayed m -> relays.told(m);
            case NodeMessages.FileRead m -> answered(m.id(), m);
            case NodeMessages.UseRead m -> answered(m.id(), m);
            case NodeMessages.StepLaunched m -> report(link, message, m.seq());
            case NodeMessages.LaunchFailed m -> {
                log.error("node " + link.node + ": launch of job " + m.jobId() + " step " + StepId.name(m.stepId())
                        + " failed: " + m.reason());
                report(link, message, m.seq());
            }
            case NodeMessages.StepExited m -> report(link, message, m.seq());
            case NodeMessages.StepAborted m -> report(link, message, m.seq());
            case NodeMessages.StepManaged m -> report(link, message, m.seq());
            case NodeMessages.JobDone m -> report(link, message, m.seq());
            case NodeMessages.PrologDone m -> report(link, message, m.seq());
            case NodeMessages.NodeTrouble m -> report(link, message, m.seq());
        }
    }

    /** Hands a node's report to the core and acknowledges it once it is durable: until then the node keeps it. */
    private void report(Link link, ToController message, long seq) {
        CompletableFuture<Decision> done = core().await(new Command.Report(link.node, message), 0);
        var _ = done.thenAccept(d -> {
            if (d instanceof Decision.Accepted) {
                link.acknowledge(seq);
            } else {
                log.error("report of node " + link.node + " not taken: " + d);
                link.frames.close();
            }
        });
    }

    /**
     * Returns the address at which a node is spoken to. Of one that comes from a cloud the configuration need not know
     * that: it is where the node is connected from, or, if that is this machine, this controller's own address.
     * SlurmctldParameters=cloud_dns: its name is enough.
     */
    public String address(Node node) {
        Node.Spec s = node.spec();
        Link link = links.get(node.name());
        if (link == null
                || link.frames.peer().isEmpty()
                || !node.has(Node.Flag.CLOUD)
                || !s.address().equals(node.name())
                || conf.get().has(Key.SLURMCTLD_PARAMETERS, "cloud_dns")) {
            return s.address();
        }
        String peer = link.frames.peer();
        return peer.startsWith("127.") || peer.equals("0:0:0:0:0:0:0:1")
                ? conf.get().controllers().getFirst().address()
                : peer;
    }

    public MemoryUpdates memory() {
        return memory;
    }

    /**
     * Sends if the node is connected; if not, it has what matters when it registers: derived again, or kept until then.
     */
    public void send(String node, ToNode message) {
        Link link = links.get(node);
        if (link != null) {
            link.send(message);
        } else if (unheard.keep(node, message)) {
            hear(node);
        }
    }

    /** Sends a node the messages kept for it, if it has come meanwhile. */
    private void hear(String node) {
        Link link = links.get(node);
        if (link != null) {
            unheard.take(node).forEach(link::send);
        }
    }

    /** Keeps the messages that were not sent when a connection ends. */
    private void keep(Link old) {
        for (Item item = old.outbox.poll(); item != null; item = old.outbox.poll()) {
            if (item instanceof Item.Direct d) {
                unheard.keep(old.node, d.message);
            }
        }
    }

    /** Sends in order. The launches of a step on many nodes say what is alike once. */
    public void send(List<Decision.Direct> messages) {
        int width = Math.toIntExact(Math.max(1, conf.get().number(Key.TREE_WIDTH)));
        int from = 0;
        while (from < messages.size()) {
            int to = LaunchRelays.together(messages, from);
            if (to - from > width) {
                launch(messages.subList(from, to), width);
            } else {
                messages.subList(from, to).forEach(m -> send(m.node(), m.message()));
            }
            from = to;
        }
    }

    /**
     * Sends a step's launches to more nodes than TreeWidth: directly as long as that is little, else, or where
     * slurm.conf names a width, through some of them.
     */
    private void launch(List<Decision.Direct> launches, int width) {
        List<Decision.Direct> connected =
                launches.stream().filter(m -> links.containsKey(m.node())).toList();
        Optional<SharedLaunch> shared = connected.size() > width ? LaunchRelays.shared(connected) : Optional.empty();
        if (shared.isEmpty()) {
            connected.forEach(m -> send(m.node(), m.message()));
            return;
        }
        SharedLaunchEncoder alike = new SharedLaunchEncoder(shared.get());
        if (!conf.get().given(Key.TREE_WIDTH) && alike.bytes() <= DIRECT_BYTES_MAX) {
            shared.get().parts().forEach(part -> send(part.node(), new Item.Alike(alike, part)));
            return;
        }
        LaunchRelays.Tree tree = relays.plant(shared.get(), width);
        connected.forEach(m -> send(
                m.node(),
                tree.head(m.node())
                        .<Item>map(Item.Direct::new)
                        .orElseGet(() -> new Item.Relayed(tree, (NodeMessages.Launch) m.message()))));
    }

    private void send(String node, Item item) {
        Link link = links.get(node);
        if (link != null) {
            link.send(item); // else it derives again what it is to do when it is back
        }
    }

    /** Ends the connection to a node that is taken for lost: should it be there after all, it registers again. */
    public void drop(String node) {
        Link link = links.get(node);
        if (link != null) {
            link.frames.close();
        }
    }

    /**
     * Nodes that the configuration does not name any more are sent away; should they be named again, they register
     * anew.
     */
    public void dropUnknown(State state) {
        links.values().stream().filter(l -> !state.nodes().has(l.node)).forEach(l -> l.frames.close());
    }

    public boolean isConnected(String node) {
        return links.containsKey(node);
    }

    /** Returns the seconds since the node was last heard of, since this controller started if it never was. */
    public long silentSeconds(String node, long startedNs) {
        return (System.nanoTime() - lastHeardNs.getOrDefault(node, startedNs)) / 1_000_000_000L;
    }

    public NodeMessages.Heartbeat beat(String node) {
        return beats.getOrDefault(node, new NodeMessages.Heartbeat(0, 0));
    }

    private void answered(long id, ToController answer) {
        Optional.ofNullable(reading.remove(id)).ifPresent(r -> r.complete(answer));
    }

    /**
     * Asks a node for a part of a file.
     *
     * @param question by its number
     * @param waitMs for the answer, which says why there is none
     */
    public NodeMessages.FileRead read(String node, LongFunction<NodeMessages.ReadFile> question, long waitMs) {
        return ask(node, question, NodeMessages.FileRead.class, why -> new NodeMessages.FileRead(0, why), waitMs);
    }

    /**
     * Asks a node for what a job uses and has used there.
     *
     * @param waitMs for the answer, which says why there is none
     */
    public NodeMessages.UseRead use(String node, Job job, long waitMs) {
        return ask(
                node,
                id -> new NodeMessages.ReadUse(id, job.id(), job.attempt()),
                NodeMessages.UseRead.class,
                why -> new NodeMessages.UseRead(0, List.of(), why),
                waitMs);
    }

    private <T extends ToController> T ask(
            String node,
            LongFunction<? extends ToNode> question,
            Class<T> kind,
            Function<String, T> without,
            long waitMs) {
        long id = questions.incrementAndGet();
        CompletableFuture<ToController> answer = new CompletableFuture<>();
        if (!isConnected(node) || reading.size() >= READING_MAX) {
            return without.apply(isConnected(node) ? "too many files are being read" : "it is not connected");
        }
        reading.put(id, answer);
        try {
            send(node, question.apply(id));
            ToController a = answer.get(waitMs, TimeUnit.MILLISECONDS);
            return kind.isInstance(a) ? kind.cast(a) : without.apply("it answers something else");
        } catch (TimeoutException e) {
            return without.apply("it does not answer");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return without.apply("slurmctld is going away");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            reading.remove(id);
        }
    }

    /** Sends a message to all connected nodes. */
    public void broadcast(ToNode message) {
        links.values().forEach(l -> l.send(message));
    }

    public int connectedCount() {
        return links.size();
    }
}
