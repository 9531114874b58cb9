package dev.muster.simulator;

import dev.muster.controller.engine.Pipeline;
import dev.muster.controller.engine.Recovery;
import dev.muster.controller.nodes.NodeMessagesFromState;
import dev.muster.controller.nodes.NodeTimeouts;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * slurmctld as a process that can die anywhere: the real core, planner, pipeline, messages and recovery over a
 * simulated disk.
 */
final class SimController implements Pipeline.Effects {
    static final int STARTS_PER_PASS = 20;

    private final World world;
    private final SimParameters parameters;
    private final PlantedBug bug;
    private final DurableHistory history;
    private Command.ApplyConfig config;

    private final SimDisk disk;
    private final SimClock clock;
    private final CrashPoint crashPoint;
    private final StateChecks checks;

    // of the process
    private boolean up;
    private int life;
    private Scheduler scheduler = new Scheduler();
    private Core core = new Core(scheduler);

    @SuppressWarnings("NullAway.Init") // start() makes it, and nothing is asked of a controller before
    private Pipeline pipeline;

    @SuppressWarnings("NullAway.Init") // see pipeline
    private NodeMessagesFromState outgoing;

    private final NodeConnections connections = new NodeConnections();
    private boolean passing;
    private boolean schedulable;
    private long lastSnapshot;

    SimController(
            World world, SimParameters parameters, PlantedBug bug, DurableHistory history, Command.ApplyConfig config) {
        this.world = world;
        this.parameters = parameters;
        this.bug = bug;
        this.history = history;
        this.config = config;
        disk = new SimDisk(world);
        clock = new SimClock(world);
        crashPoint = new CrashPoint(world);
        checks = new StateChecks(history);
    }

    boolean isUp() {
        return up;
    }

    int life() {
        return life;
    }

    long startedMs() {
        return clock.startedMs();
    }

    State state() {
        return core.state();
    }

    private void log(String what) {
        world.log("ctld", what);
    }

    // ---- life and death

    /** Work of this process: forgotten when it dies; a crash inside it ends the process. */
    private void later(long delayMs, Runnable work) {
        int mine = life;
        world.at(delayMs, () -> {
            if (up && mine == life) {
                guarded(work);
            }
        });
    }

    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (CrashPoint.Crash e) {
            crash();
        }
    }

    void start() {
        if (up) {
            return;
        }
        up = true;
        life++;
        log("starts");
        guarded(this::recover);
    }

    private void recover() {
        scheduler = new Scheduler();
        core = new Core(scheduler);
        point("during-recovery");
        Recovery recovered = Recovery.of(disk.journal(), (hash, content) -> {
            point("during-recovery");
            disk.store(hash, content);
        });
        State state = recovered.state();
        if (bug == PlantedBug.ID_COUNTER_NOT_RESTORED) {
            state = PlantedMutations.withFirstJobId(state);
        } else if (!state.equals(history.state()) || disk.journal().lastIndex() != history.index()) {
            throw new Violation(
                    "I38 snapshot and journal give the state",
                    "recovered at " + disk.journal().lastIndex() + ", durable were " + history.index() + ": "
                            + StateDifferences.of(history.state(), state));
        }
        history.acknowledgedAreKnown();
        core.recovered(state);
        lastSnapshot = recovered.snapshotIndex();
        if (lastSnapshot > 0) {
            world.saw("recovered from a snapshot");
        }
        clock.start(state.tickMs());
        disk.journal().onDurable(index -> archive());
        pipeline = new Pipeline(core, disk.journal(), this, point -> point(point.name()));
        outgoing = new NodeMessagesFromState(disk::blob, (job, e) -> {
            throw new Violation("I36 blobs are durable before the journal forgets them", e);
        });
        boolean cut = disk.journal().repair().isPresent() && world.below(2) == 0;
        if (cut) {
            command(new Command.SkipReservedIds(), -1, d -> {});
        }
        configure();
        later(1_000, this::everySecond);
        log("recovered " + state.jobs().size() + " jobs at " + disk.journal().lastIndex());
    }

    /** Another slurm.conf; a process that is down finds it when it starts. */
    void reconfigure(Command.ApplyConfig to) {
        config = to;
        log("slurm.conf changes");
        request(c -> configure());
    }

    private void configure() {
        command(config, -1, d -> {
            for (SimConnection connection : connections.all()) {
                if (!pipeline.durable().nodes().has(connection.node().name())) {
                    world.saw("node sent away by its configuration");
                    close(connection);
                }
            }
        });
    }

    /** The process dies: what was not synced is kept, torn or lost as the disk pleases. */
    void crash() {
        if (!up) {
            return;
        }
        up = false;
        life++;
        long unsynced = disk.journal().lastIndex() - disk.journal().durableIndex();
        long kept = unsynced == 0 ? 0 : world.below((int) unsynced + 1);
        log("crashes, " + kept + " of " + unsynced + " unsynced entries kept");
        world.saw(kept < unsynced ? "unsynced entries lost" : "nothing lost");
        disk.crashJournal(kept);
        archive();
        disk.crashBlobs();
        connections.crash();
        passing = false;
        crashPoint.disarm();
        world.at(500 + world.below(20_000), this::start);
    }

    /** Has the process die when it comes to the point for the count-th time. */
    void arm(String point, int count) {
        crashPoint.arm(point, count);
    }

    private void point(String name) {
        crashPoint.reached(name);
    }

    void jumpClock(long ms) {
        clock.jump(ms);
        log("wall clock jumps by " + ms);
    }

    DecisionTime now() {
        return clock.now();
    }

    // ---- commands

    /** Decides now; the answer comes when it is durable. For the edge and for an operator without a network. */
    void command(Command command, int uid, Consumer<Decision> answer) {
        Decision decision;
        boolean early = bug == PlantedBug.REPLY_BEFORE_SYNC && !(command instanceof Command.Report);
        State before = core.state();
        try {
            decision = pipeline.decide(command, uid, now(), early ? d -> {} : answer);
        } catch (CrashPoint.Crash | Violation e) {
            throw e;
        } catch (RuntimeException e) {
            throw new Violation("no exception in a decision", e);
        }
        boolean changed =
                decision instanceof Decision.Accepted a && !a.changes().isEmpty();
        if (changed) {
            schedulable = true;
            if (bug == PlantedBug.EFFECTS_BEFORE_SYNC) {
                Decision.Accepted a = (Decision.Accepted) decision;
                DecisionTime now = now();
                outgoing.of(new Entry(now.tickMs(), now.timeMs(), uid, "", a.changes()), core.state())
                        .forEach(this::tell);
            }
            log(command.getClass().getSimpleName() + " → " + names((Decision.Accepted) decision));
            checks.decided(core, scheduler);
        }
        if (early) {
            answer.accept(decision);
        }
        planted(command, before);
        release();
        sync();
        if (core.due().urgent()) {
            later(1, () -> whatIsDue(new Command.Settle()));
        }
        pass();
    }

    private static String names(Decision.Accepted a) {
        StringBuilder out = new StringBuilder();
        for (Change c : a.changes()) {
            out.append(c.getClass().getSimpleName()).append(' ');
            dev.muster.core.index.AffectedEntities.jobs(c)
                    .forEach(id -> out.append(id).append(' '));
        }
        return out.toString();
    }

    private void planted(Command command, State before) {
        if (bug == PlantedBug.DOUBLE_RELEASE
                && command instanceof Command.Report r
                && r.message() instanceof NodeMessages.JobDone m) {
            Job job = before.jobs().find(m.jobId()).orElse(null);
            Node node = core.state().nodes().at(r.node());
            if (job != null && job.attempt() == m.attempt()) {
                job.run()
                        .allocation()
                        .on(r.node())
                        .filter(Allocation.Share::released)
                        .ifPresent(
                                share -> append(new Change.NodeRestored(PlantedMutations.releasedAgain(node, share))));
            }
        }
    }

    private void append(Change change) {
        Entry entry = new Entry(now().tickMs(), now().timeMs(), -1, "Planted", List.of(change));
        core.apply(entry);
        disk.journal().append(entry.encode());
    }

    private void whatIsDue(Command command) {
        command(command, -1, d -> {
            if (d instanceof Decision.Accepted a && Boolean.TRUE.equals(a.reply())) {
                later(1, () -> whatIsDue(new Command.Tick()));
            }
        });
    }

    private void pass() {
        if (!schedulable || passing) {
            return;
        }
        passing = true;
        later(1 + world.below(20), () -> {
            passing = false;
            schedulable = false;
            command(new Command.Schedule(STARTS_PER_PASS), -1, d -> {});
        });
    }

    private void everySecond() {
        later(1_000, this::everySecond);
        whatIsDue(new Command.Tick());
        if (core.due().takeLook(now().seconds())) {
            schedulable = true;
            pass();
        }
        State state = pipeline.durable();
        for (Node node : state.nodes().values()) {
            long silentS = (world.nowMs() - connections.heardMs(node.name(), clock.startedMs())) / 1000;
            NodeTimeouts.verdict(
                            node,
                            connections.isConnected(node.name()),
                            silentS,
                            state.settings().nodeTimeoutS())
                    .ifPresent(c -> command(c, -1, d -> {
                        Optional<SimConnection> connection = connections.of(node.name());
                        world.saw(c.getClass().getSimpleName() + (connection.isPresent() ? " although connected" : ""));
                        if (c instanceof Command.NodeLost) {
                            connection.ifPresent(this::close);
                        }
                    }));
        }
    }

    // ---- the disk

    private void sync() {
        if (!disk.beginSync()) {
            return;
        }
        long upTo = disk.journal().lastIndex();
        later(world.around(parameters.syncMs()), () -> {
            disk.endSync(upTo);
            release();
            sync();
        });
    }

    private void release() {
        while (pipeline.releaseNext()) {
            point("between-effects");
        }
        if (pipeline.durableIndex() == history.index() && bug != PlantedBug.ID_COUNTER_NOT_RESTORED) {
            checks.released(pipeline.durable());
        }
    }

    private void archive() {
        disk.journal().replay(history.index() + 1, history::durable);
    }

    void checkIndexes() {
        StateChecks.checkIndexes(core, scheduler);
    }

    private void snapshot(long index, State state) {
        point("during-snapshot");
        if (bug != PlantedBug.BLOBS_NOT_SYNCED) {
            disk.syncBlobs();
        }
        Iterator<byte[]> items = Recovery.items(state);
        State written = state;
        if (bug == PlantedBug.ANSWERS_NOT_IN_SNAPSHOT) {
            written = PlantedMutations.withoutAnswers(state);
            items = Recovery.items(written);
        }
        Iterator<byte[]> source = items;
        disk.journal().writeSnapshot(index, new Iterator<>() {
            @Override
            public boolean hasNext() {
                return source.hasNext();
            }

            @Override
            public byte[] next() {
                point("during-snapshot");
                return source.next();
            }
        });
        disk.journal().truncateBefore(index);
        world.saw("snapshot");
        log("snapshot at " + index);
    }

    // ---- effects

    @Override
    public void apply(Entry entry, State before, State after) {
        if (bug != PlantedBug.EFFECTS_BEFORE_SYNC) {
            direct(outgoing.of(entry, after));
        }
        long index = pipeline.durableIndex();
        if (index - lastSnapshot >= parameters.snapshotEvery()) {
            lastSnapshot = index;
            later(world.below(500), () -> snapshot(index, after));
        }
    }

    @Override
    public void direct(List<Decision.Direct> messages) {
        messages.forEach(m -> {
            tell(m);
            point("between-messages");
        });
    }

    private void tell(Decision.Direct m) {
        connections.of(m.node()).ifPresent(connection -> connection.send(m.message()));
    }

    // ---- nodes

    void received(SimConnection connection, ToController message) {
        guarded(() -> {
            String node = connection.node().name();
            connections.heard(node, world.nowMs());
            if (message instanceof NodeMessages.Register m) {
                register(connection, m);
                return;
            }
            switch (message) {
                case NodeMessages.Heartbeat m -> {}
                case NodeMessages.MemoryUsed m -> {}
                case NodeMessages.Register m -> {}
                case NodeMessages.Relayed m -> {}
                case NodeMessages.FileRead m -> {}
                case NodeMessages.UseRead m -> {}
                case NodeMessages.StepLaunched m -> report(connection, m, m.seq());
                case NodeMessages.LaunchFailed m -> report(connection, m, m.seq());
                case NodeMessages.StepExited m -> report(connection, m, m.seq());
                case NodeMessages.StepAborted m -> report(connection, m, m.seq());
                case NodeMessages.StepManaged m -> report(connection, m, m.seq());
                case NodeMessages.NodeTrouble m -> connection.send(new NodeMessages.Ack(m.seq()));
                case NodeMessages.JobDone m -> report(connection, m, m.seq());
                case NodeMessages.PrologDone m -> report(connection, m, m.seq());
            }
        });
    }

    private void report(SimConnection connection, ToController message, long seq) {
        log("hears " + message);
        if (bug == PlantedBug.ACK_BEFORE_DURABLE) {
            connection.send(new NodeMessages.Ack(seq));
        }
        command(new Command.Report(connection.node().name(), message), 0, d -> {
            if (d instanceof Decision.Accepted) {
                if (bug != PlantedBug.ACK_BEFORE_DURABLE) {
                    connection.send(new NodeMessages.Ack(seq));
                }
            } else {
                close(connection);
            }
        });
    }

    private void close(SimConnection connection) {
        connection.closeAtController();
        gone(connection);
    }

    private void register(SimConnection connection, NodeMessages.Register m) {
        NodeMessages.Register seen = m;
        Node known = core.state().nodes().find(m.node()).orElse(null);
        if (bug == PlantedBug.REBOOT_NOT_NOTICED
                && known != null
                && !known.bootId().isEmpty()) {
            seen = PlantedMutations.ofBoot(known.bootId(), m);
        }
        command(new Command.RegisterNode(seen), 0, d -> {
            if (!(d instanceof Decision.Accepted a)) {
                connection.closeAtController();
                return;
            }
            connections.register(connection);
            connection.send(new NodeMessages.Welcome(1, 5));
            List<ToNode> orders = new ArrayList<>();
            a.direct().forEach(x -> orders.add(x.message()));
            orders.addAll(outgoing.desired(pipeline.durable(), m.node(), now().tickMs()));
            for (ToNode order : orders) {
                boolean lost = bug == PlantedBug.LOST_END_NOT_DERIVED && order instanceof NodeMessages.EndJob
                        || bug == PlantedBug.LOST_LAUNCH_NOT_DERIVED && order instanceof NodeMessages.Launch;
                if (!lost) {
                    connection.send(order);
                }
            }
            scheduler.connected(m.node(), true);
            schedulable = true;
            pass();
            log("registered " + m.node());
        });
    }

    void accepted(SimConnection connection) {
        connections.accepted(connection);
    }

    void gone(SimConnection connection) {
        if (up && connections.remove(connection)) {
            log("lost " + connection.node().name());
            scheduler.connected(connection.node().name(), false);
            schedulable = true;
            later(1, this::pass);
        }
    }

    /** A request of a client: nothing happens if the process is down. */
    void request(Consumer<SimController> work) {
        if (up) {
            guarded(() -> work.accept(this));
        }
    }

    void storeBlob(String hash, Bytes content) {
        disk.store(hash, content);
    }
}
