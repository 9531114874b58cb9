package dev.muster.simulator;

import dev.muster.model.Release;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A node by the contract of docs/contracts.md: its power, its slurmd's life, its connection and its reports. Its jobs
 * are {@link SimNodeJobs}.
 */
final class SimNode {
    private static final long SEQUENCE_ROOM = 1L << 32;

    private final World world;
    private final SimParameters parameters;
    private final PlantedBug bug;
    private final ExecutionLedger ledger;
    private final String name;
    private final SimNodeJobs jobs;
    private final TreeMap<Long, ToController> pending = new TreeMap<>();

    @SuppressWarnings("NullAway.Init") // the cluster connects its nodes before it starts them
    private SimController controller;

    private @Nullable SimConnection connection;
    private boolean welcome;
    private long welcomeMs;
    private boolean on;
    private boolean slurmdUp;
    private int life;
    private int boots;
    private int starts;
    private long nextSeq;
    private long cutOffUntilMs;

    SimNode(World world, SimParameters parameters, PlantedBug bug, ExecutionLedger ledger, String name) {
        this.world = world;
        this.parameters = parameters;
        this.bug = bug;
        this.ledger = ledger;
        this.name = name;
        this.jobs = new SimNodeJobs(this, world, parameters, bug, ledger);
    }

    void connectTo(SimController c) {
        controller = c;
    }

    String name() {
        return name;
    }

    String bootId() {
        return "boot-" + name + "-" + boots;
    }

    boolean isSlurmdUp() {
        return slurmdUp;
    }

    /** Sequence number of the next report. */
    long nextSeq() {
        return nextSeq;
    }

    boolean isOn() {
        return on;
    }

    boolean isCutOff() {
        return world.nowMs() < cutOffUntilMs;
    }

    /** Attempts that the node still knows of. */
    java.util.Set<String> known() {
        return jobs.known();
    }

    /** Since when reports of this node reach the controller, or long in the future. */
    long talkingSinceMs() {
        return slurmdUp && welcome && !isCutOff() ? Math.max(welcomeMs, cutOffUntilMs) : Long.MAX_VALUE / 2;
    }

    void log(String what) {
        world.log(name, what);
    }

    /** Work of this slurmd: forgotten when it dies. */
    void later(long delayMs, Runnable work) {
        int mine = life;
        world.at(delayMs, () -> {
            if (mine == life && slurmdUp) {
                work.run();
            }
        });
    }

    // ---- faults

    void powerOn() {
        on = true;
        boots++;
        log("boots " + bootId());
        startSlurmd();
    }

    void reboot() {
        if (!on) {
            return;
        }
        boolean silently = world.below(2) == 0;
        log("goes down" + (silently ? " silently" : ""));
        stopSlurmd(silently);
        on = false;
        jobs.powerLost();
        world.at(2_000 + world.below(60_000), this::powerOn);
    }

    void restartSlurmd() {
        if (!on || !slurmdUp) {
            return;
        }
        log("slurmd killed");
        stopSlurmd(false);
        int boot = boots;
        world.at(world.below(15_000), () -> {
            if (on && !slurmdUp && boot == boots) {
                startSlurmd();
            }
        });
    }

    void cutOff(long ms) {
        cutOffUntilMs = world.nowMs() + ms;
        log("cut off for " + ms);
    }

    void heal() {
        cutOffUntilMs = Math.min(cutOffUntilMs, world.nowMs());
    }

    /** One stepd dies, its tasks are killed by slurmd. */
    void killStepd() {
        jobs.killStepd();
    }

    void resetWire() {
        if (connection != null && connection.nodeOpen) {
            log("connection reset");
            connection.reset();
        }
    }

    private void stopSlurmd(boolean silently) {
        slurmdUp = false;
        life++;
        welcome = false;
        if (connection != null) {
            connection.closeAtNode(silently);
            connection = null;
        }
        pending.clear();
        jobs.slurmdStopped();
    }

    private void startSlurmd() {
        slurmdUp = true;
        life++;
        starts++;
        nextSeq = starts * SEQUENCE_ROOM;
        log("slurmd starts");
        jobs.adoptAll();
        later(world.below(200), this::connect);
    }

    // ---- the connection

    private void connect() {
        if (connection != null) {
            return;
        }
        if (isCutOff() || !controller.isUp()) {
            later(500 + world.below(4_500), this::connect);
            return;
        }
        connection = new SimConnection(world, parameters, this, controller);
        List<NodeMessages.Attempt> attempts = jobs.registered();
        log("connects with " + attempts.size() + " attempts");
        connection.send(new NodeMessages.Register(
                name,
                "sim",
                bootId(),
                Release.VERSION,
                1 + boots * 1000L + starts,
                new Hardware(parameters.cpus(), 1, 1, parameters.cpus(), 1, 4096, 0, "", "sim", "sim", boots),
                attempts,
                "",
                ""));
        heartbeat(connection);
    }

    private void heartbeat(SimConnection of) {
        later(5_000, () -> {
            if (connection == of) {
                of.send(new NodeMessages.Heartbeat(0, 1024));
                heartbeat(of);
            }
        });
    }

    void disconnected(SimConnection of) {
        if (of != connection) {
            return;
        }
        log("connection lost");
        connection = null;
        welcome = false;
        if (bug == PlantedBug.REPORT_NOT_KEPT) {
            pending.clear();
        }
        later(200 + world.below(2_000), this::connect);
    }

    void received(SimConnection of, ToNode message) {
        if (of != connection || !slurmdUp) {
            return;
        }
        switch (message) {
            case NodeMessages.Welcome m -> {
                welcome = true;
                welcomeMs = world.nowMs();
                pending.values().forEach(connection::send);
            }
            case NodeMessages.Refused m -> connection.endNodeSide();
            case NodeMessages.Ack m -> acknowledged(m.seq());
            default -> jobs.obey(message);
        }
    }

    /** A frame that a relay held back while the node was booted anew. */
    void late(String boot, ToNode message) {
        if (slurmdUp && !boot.equals(bootId()) && message instanceof NodeMessages.Launch) {
            log("late frame for " + boot);
            world.saw("late frame of an earlier boot");
            jobs.obey(message);
        }
    }

    void report(LongFunction<ToController> make) {
        ToController report = make.apply(nextSeq);
        pending.put(nextSeq++, report);
        if (welcome && connection != null) {
            connection.send(report);
        }
    }

    private void acknowledged(long seq) {
        pending.headMap(seq, true).values().forEach(report -> ledger.forgotten(name, report));
        pending.headMap(seq, true).clear();
        jobs.acknowledged(seq);
    }
}
