package dev.muster.simulator;

import static java.util.Objects.requireNonNull;

import dev.muster.model.Release;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.NodeMessages.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A node: its kernel, its disk and its slurmd, by the contract of docs/contracts.md. */
final class SimNode {
    private static final Usage USAGE = new Usage(0, 0, 0, 0, 0, 0, 0);
    private static final long SEQUENCE_ROOM = 1L << 32;

    enum Phase {
        PREPARING,
        READY,
        ENDING,
        EPILOG,
        DONE
    }

    enum StepPhase {
        STARTING,
        RUNNING,
        ENDED
    }

    /** A step on disk, without what only a running slurmd knows. */
    static final class Step {
        final int id;
        StepPhase phase = StepPhase.STARTING;

        @Nullable
        StepProcesses proc;

        String endReason = "";
        boolean ending;
        boolean terminated;

        Step(int id) {
            this.id = id;
        }
    }

    static final class Attempt {
        final JobShare share;
        final TreeMap<Integer, Step> steps = new TreeMap<>();
        final List<NodeMessages.Launch> waiting = new ArrayList<>();
        Phase phase = Phase.PREPARING;
        boolean prologWanted;
        int killWaitS;
        String reason = "";
        long deadlineMs = -1;
        int limitVersion;

        Attempt(JobShare share) {
            this.share = share;
        }

        boolean isEnding() {
            return phase.compareTo(Phase.ENDING) >= 0;
        }
    }

    private final World world;
    private final SimParameters swarm;
    private final PlantedBug plant;
    private final ExecutionLedger reality;
    private final String name;
    private final TreeMap<String, Attempt> disk = new TreeMap<>();
    private final TreeMap<Long, ToController> pending = new TreeMap<>();
    private final TreeMap<Long, Attempt> doneReports = new TreeMap<>();

    @SuppressWarnings("NullAway.Init") // the cluster connects its nodes before it starts them
    private SimController controller;

    private @Nullable SimConnection wire;
    private boolean welcome;
    private long welcomeMs;
    private boolean on;
    private boolean slurmdUp;
    private int life;
    private int boots;
    private int starts;
    private long nextSeq;
    private long cutOffUntilMs;

    SimNode(World world, SimParameters swarm, PlantedBug plant, ExecutionLedger reality, String name) {
        this.world = world;
        this.swarm = swarm;
        this.plant = plant;
        this.reality = reality;
        this.name = name;
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

    boolean isOn() {
        return on;
    }

    boolean isCutOff() {
        return world.nowMs() < cutOffUntilMs;
    }

    /** Attempts that the node still knows of. */
    java.util.Set<String> known() {
        return disk.keySet();
    }

    /** Since when reports of this node reach the controller, or long in the future. */
    long talkingSinceMs() {
        return slurmdUp && welcome && !isCutOff() ? Math.max(welcomeMs, cutOffUntilMs) : Long.MAX_VALUE / 2;
    }

    private void log(String what) {
        world.log(name, what);
    }

    /** Work of this slurmd: forgotten when it dies. */
    private void later(long delayMs, Runnable work) {
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
        for (Attempt a : disk.values()) {
            for (Step s : a.steps.values()) {
                if (s.proc != null && s.proc.alive) {
                    reality.ended(s.proc, ExitStatus.signaled(9), false);
                    s.proc.lostInReboot = true;
                }
            }
        }
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

    void resetWire() {
        if (wire != null && wire.nodeOpen) {
            log("connection reset");
            wire.reset();
        }
    }

    /** One stepd dies, its tasks are killed by slurmd. */
    void killStepd() {
        List<Step> live = new ArrayList<>();
        List<Attempt> of = new ArrayList<>();
        for (Attempt a : disk.values()) {
            for (Step s : a.steps.values()) {
                if (s.phase == StepPhase.RUNNING && s.proc != null && s.proc.alive) {
                    live.add(s);
                    of.add(a);
                }
            }
        }
        if (live.isEmpty() || !slurmdUp) {
            return;
        }
        int i = world.below(live.size());
        Step step = live.get(i);
        StepProcesses proc = requireNonNull(step.proc, "it runs");
        log("stepd killed " + proc);
        reality.ended(proc, ExitStatus.signaled(9), false);
        proc.killed = true;
        world.saw("stepd killed");
        stepEnded(of.get(i), step, "StepdKilled");
    }

    private void stopSlurmd(boolean silently) {
        slurmdUp = false;
        life++;
        welcome = false;
        if (wire != null) {
            wire.closeAtNode(silently);
            wire = null;
        }
        pending.clear();
        doneReports.clear();
    }

    private void startSlurmd() {
        slurmdUp = true;
        life++;
        starts++;
        nextSeq = starts * SEQUENCE_ROOM;
        log("slurmd starts");
        new ArrayList<>(disk.values()).forEach(this::adopt);
        later(world.below(200), this::connect);
    }

    // ---- the connection

    private void connect() {
        if (wire != null) {
            return;
        }
        if (isCutOff() || !controller.isUp()) {
            later(500 + world.below(4_500), this::connect);
            return;
        }
        wire = new SimConnection(world, swarm, this, controller);
        List<NodeMessages.Attempt> attempts = new ArrayList<>();
        for (Attempt a : disk.values()) {
            List<Integer> live = a.steps.values().stream()
                    .filter(s -> s.phase != StepPhase.ENDED)
                    .map(s -> s.id)
                    .toList();
            attempts.add(new NodeMessages.Attempt(
                    a.share.jobId(), a.share.attempt(), a.share.bootId(), live, a.phase == Phase.DONE));
        }
        log("connects with " + attempts.size() + " attempts");
        wire.send(new NodeMessages.Register(
                name,
                "sim",
                bootId(),
                Release.VERSION,
                1 + boots * 1000L + starts,
                new Hardware(swarm.cpus(), 1, 1, swarm.cpus(), 1, 4096, 0, "", "sim", "sim", boots),
                attempts,
                "",
                ""));
        heartbeat(wire);
    }

    private void heartbeat(SimConnection of) {
        later(5_000, () -> {
            if (wire == of) {
                of.send(new NodeMessages.Heartbeat(0, 1024));
                heartbeat(of);
            }
        });
    }

    void disconnected(SimConnection of) {
        if (of != wire) {
            return;
        }
        log("connection lost");
        wire = null;
        welcome = false;
        if (plant == PlantedBug.REPORT_NOT_KEPT) {
            pending.clear();
        }
        later(200 + world.below(2_000), this::connect);
    }

    void received(SimConnection of, ToNode message) {
        if (of != wire || !slurmdUp) {
            return;
        }
        switch (message) {
            case NodeMessages.Welcome m -> {
                welcome = true;
                welcomeMs = world.nowMs();
                pending.values().forEach(wire::send);
            }
            case NodeMessages.Refused m -> wire.endNodeSide();
            case NodeMessages.Ack m -> acknowledged(m.seq());
            default -> obey(message);
        }
    }

    /** A frame that a relay held back while the node was booted anew. */
    void late(String boot, ToNode message) {
        if (slurmdUp && !boot.equals(bootId()) && message instanceof NodeMessages.Launch) {
            log("late frame for " + boot);
            world.saw("late frame of an earlier boot");
            obey(message);
        }
    }

    private void report(LongFunction<ToController> make) {
        ToController report = make.apply(nextSeq);
        pending.put(nextSeq++, report);
        if (welcome && wire != null) {
            wire.send(report);
        }
    }

    private void acknowledged(long seq) {
        pending.headMap(seq, true).values().forEach(report -> reality.forgotten(name, report));
        pending.headMap(seq, true).clear();
        Map<Long, Attempt> done = doneReports.headMap(seq, true);
        done.values().forEach(a -> disk.remove(key(a.share.jobId(), a.share.attempt()), a));
        done.clear();
    }

    // ---- orders

    private static String key(int jobId, int attempt) {
        return jobId + "." + attempt;
    }

    private void obey(ToNode order) {
        log("told " + brief(order));
        switch (order) {
            case NodeMessages.Launch m -> launch(m);
            case NodeMessages.Prepare m -> {
                Attempt known = admit(m.share(), NodeMessages.STEP_BATCH, m.runProlog());
                if (known != null && m.runProlog() && known.phase != Phase.PREPARING) {
                    report(seq -> new NodeMessages.PrologDone(
                            seq, m.share().jobId(), m.share().attempt(), ""));
                }
            }
            case NodeMessages.EndJob m -> endJob(m);
            case NodeMessages.EndStep m -> {
                Attempt a = disk.get(key(m.jobId(), m.attempt()));
                if (a != null && a.steps.containsKey(m.stepId())) {
                    endStep(a, a.steps.get(m.stepId()), m.killWaitSeconds(), m.reason());
                }
            }
            case NodeMessages.Suspend m -> suspend(m);
            case NodeMessages.SetMemory m -> {} // its processes use none
            case NodeMessages.MeasureMemory m -> {}
            case NodeMessages.SetTimeLimit m -> {
                Attempt a = disk.get(key(m.jobId(), m.attempt()));
                if (a != null) {
                    arm(a, m.secondsLeft());
                }
            }
            case NodeMessages.Relay m ->
                launch(m.launches().launch(m.launches().parts().getFirst()));
            case NodeMessages.StaleRelay m -> {}
            case NodeMessages.Charter m -> {} // no client asks the node for steps
            case NodeMessages.Notify m -> {}
            case NodeMessages.Signal m -> {}
            case NodeMessages.Welcome m -> {}
            case NodeMessages.Refused m -> {}
            case NodeMessages.CheckHealth m -> {}
            case NodeMessages.Reboot m -> {}
            case NodeMessages.Ack m -> {}
            case NodeMessages.ReadConfig m -> {}
            case NodeMessages.SetDebug m -> {}
            case NodeMessages.StopDaemon m -> {}
            case NodeMessages.ReadFile m -> {}
            case NodeMessages.ReadUse m -> {}
        }
    }

    private static String brief(ToNode order) {
        return switch (order) {
            case NodeMessages.Launch m ->
                "Launch " + m.share().jobId() + "." + m.share().attempt() + "." + m.stepId() + " "
                        + m.share().bootId();
            case NodeMessages.Prepare m ->
                "Prepare " + m.share().jobId() + "." + m.share().attempt();
            default -> order.toString();
        };
    }

    private @Nullable Attempt admit(JobShare share, int stepId, boolean prolog) {
        Attempt known = disk.get(key(share.jobId(), share.attempt()));
        if (known != null) {
            return known;
        }
        if (!share.bootId().equals(bootId()) && plant != PlantedBug.NO_BOOT_FENCE) {
            reality.refused(share.jobId(), share.attempt());
            report(seq -> new NodeMessages.LaunchFailed(
                    seq, share.jobId(), share.attempt(), stepId, "other boot", false, false));
            return null;
        }
        Attempt a = new Attempt(share);
        disk.put(key(share.jobId(), share.attempt()), a);
        a.prologWanted = prolog;
        arm(a, share.secondsLeft());
        prepare(a);
        return a;
    }

    private void prepare(Attempt a) {
        if (!a.prologWanted) {
            ready(a);
            return;
        }
        later(world.below(3_000), () -> {
            if (a.phase == Phase.PREPARING || a.phase == Phase.ENDING) {
                report(seq -> new NodeMessages.PrologDone(seq, a.share.jobId(), a.share.attempt(), ""));
                if (a.phase == Phase.PREPARING) {
                    ready(a);
                } else {
                    settle(a);
                }
            }
        });
    }

    private void ready(Attempt a) {
        a.phase = Phase.READY;
        if (a.share.externStep() && !a.steps.containsKey(NodeMessages.STEP_EXTERN)) {
            Step step = new Step(NodeMessages.STEP_EXTERN);
            a.steps.put(step.id, step);
            start(a, step, SimScript.FOREVER);
        }
        List<NodeMessages.Launch> waiting = List.copyOf(a.waiting);
        a.waiting.clear();
        waiting.forEach(this::launch);
    }

    private void launch(NodeMessages.Launch m) {
        Attempt a = admit(m.share(), m.stepId(), false);
        if (a == null) {
            return;
        }
        if (a.phase == Phase.PREPARING) {
            a.waiting.add(m);
            return;
        }
        if (a.steps.containsKey(m.stepId())
                && (plant != PlantedBug.NODE_WITHOUT_TOMBSTONES || m.stepId() == NodeMessages.STEP_EXTERN)) {
            world.saw("launch repeated");
            return;
        }
        if (!m.share().bootId().equals(bootId()) && plant != PlantedBug.NO_BOOT_FENCE) {
            reality.refused(m.share().jobId(), m.share().attempt());
            report(seq -> new NodeMessages.LaunchFailed(
                    seq, a.share.jobId(), a.share.attempt(), m.stepId(), "other boot", false, false));
            return;
        }
        if (a.isEnding()) {
            world.saw("launch of an ending job");
            report(seq -> new NodeMessages.LaunchFailed(
                    seq, a.share.jobId(), a.share.attempt(), m.stepId(), "the job is ending", false, false));
            return;
        }
        Step step = new Step(m.stepId());
        a.steps.put(step.id, step);
        start(a, step, program(m));
    }

    private static SimScript program(NodeMessages.Launch m) {
        if (m.stepId() == NodeMessages.STEP_EXTERN) {
            return SimScript.FOREVER;
        }
        return SimScript.of(
                m.stepId() >= 0
                        ? m.step().arguments().getFirst().text()
                        : m.script().text());
    }

    private void start(Attempt a, Step step, SimScript program) {
        later(world.below(40), () -> {
            if (a.isEnding() && step.terminated) {
                step.phase = StepPhase.ENDED;
                settle(a);
                return;
            }
            step.phase = StepPhase.RUNNING;
            step.proc = reality.started(a.share.jobId(), a.share.attempt(), step.id, name, program);
            report(seq -> new NodeMessages.StepLaunched(seq, a.share.jobId(), a.share.attempt(), step.id, List.of(1)));
            runOn(a, step, step.proc);
            if (step.ending) {
                step.ending = false;
                endStep(a, step, a.killWaitS, step.endReason);
            }
        });
    }

    /** The kernel's part: the process ends when its time is over, whatever slurmd does. */
    private void runOn(Attempt a, Step step, StepProcesses proc) {
        int version = ++proc.version;
        proc.resumedMs = world.nowMs();
        if (proc.program == SimScript.FOREVER) {
            return;
        }
        world.at(proc.remainingMs, () -> {
            if (proc.alive && proc.version == version) {
                reality.ended(proc, proc.program.exit(), true);
                seen(a, step);
            }
        });
    }

    /** slurmd sees the end at once if it is there, else when it is back. */
    private void seen(Attempt a, Step step) {
        if (slurmdUp) {
            stepEnded(a, step, step.endReason);
        }
    }

    private void kill(Attempt a, Step step, int signal) {
        StepProcesses proc = step.proc;
        if (proc == null || !proc.alive || signal == 15 && proc.program.ignoresTerm()) {
            return;
        }
        long delay;
        if (signal == 15) {
            delay = world.below(500);
        } else if (swarm.unkillable() && world.chance(100)) {
            delay = world.below(20_000);
        } else {
            delay = world.below(100);
        }

        world.at(delay, () -> {
            if (proc.alive) {
                reality.ended(proc, ExitStatus.signaled(signal), false);
                seen(a, step);
            }
        });
    }

    // ---- ends

    private void stepEnded(Attempt a, Step step, String reason) {
        if (step.phase == StepPhase.ENDED) {
            return;
        }
        step.phase = StepPhase.ENDED;
        StepProcesses proc = requireNonNull(step.proc, "what ends has begun");
        Map<String, ExitStatus> exits = new TreeMap<>();
        // a stepd that was killed early has left no status at all
        if (step.id != NodeMessages.STEP_EXTERN && !((proc.killed || proc.lostInReboot) && world.below(2) == 0)) {
            exits.put("0", proc.exit);
        }
        report(seq -> new NodeMessages.StepExited(
                seq, a.share.jobId(), a.share.attempt(), step.id, exits, reason, proc.endMs, USAGE));
        settle(a);
    }

    private void endJob(NodeMessages.EndJob m) {
        Attempt a = disk.get(key(m.jobId(), m.attempt()));
        if (a == null) {
            world.saw("end of an unknown attempt");
            report(seq -> new NodeMessages.JobDone(seq, m.jobId(), m.attempt(), ""));
            return;
        }
        if (a.isEnding()) {
            return;
        }
        boolean preparing = a.phase == Phase.PREPARING;
        a.killWaitS = m.killWaitSeconds();
        a.reason = m.reason();
        a.phase = Phase.ENDING;
        a.waiting.clear();
        if (!preparing) {
            endSteps(a, m.reason());
            settle(a);
        }
    }

    private void endSteps(Attempt a, String reason) {
        for (Step s : List.copyOf(a.steps.values())) {
            if (s.id != NodeMessages.STEP_EXTERN) {
                endStep(a, s, a.killWaitS, reason);
            }
        }
    }

    private void endStep(Attempt a, Step step, int killWaitS, String reason) {
        if (step.phase == StepPhase.ENDED || step.ending) {
            return;
        }
        if (step.endReason.isEmpty()) {
            step.endReason = reason;
        }
        step.ending = true;
        if (killWaitS > 0) {
            kill(a, step, 15);
        }
        later(killWaitS * 1000L, () -> {
            step.terminated = true;
            kill(a, step, 9);
        });
    }

    private void settle(Attempt a) {
        if (a.phase != Phase.ENDING) {
            return;
        }
        Step extern = a.steps.get(NodeMessages.STEP_EXTERN);
        boolean live = a.steps.values().stream().anyMatch(s -> s.phase != StepPhase.ENDED && s != extern);
        if (live) {
            return;
        }
        if (extern != null && extern.phase != StepPhase.ENDED) {
            extern.terminated = true;
            kill(a, extern, 9);
            return;
        }
        a.phase = Phase.EPILOG;
        later(world.below(300), () -> done(a));
    }

    private void done(Attempt a) {
        a.phase = Phase.DONE;
        doneReports.put(nextSeq, a);
        report(seq -> new NodeMessages.JobDone(seq, a.share.jobId(), a.share.attempt(), ""));
    }

    private void suspend(NodeMessages.Suspend m) {
        Attempt a = disk.get(key(m.jobId(), m.attempt()));
        if (a == null) {
            return;
        }
        for (Step s : a.steps.values()) {
            StepProcesses p = s.proc;
            if (p != null && p.alive && p.stopped != m.stop()) {
                p.stopped = m.stop();
                if (m.stop()) {
                    p.remainingMs -= world.nowMs() - p.resumedMs;
                    p.version++;
                } else {
                    runOn(a, s, p);
                }
            }
        }
    }

    private void arm(Attempt a, long secondsLeft) {
        a.deadlineMs = secondsLeft < 0 ? -1 : world.nowMs() + secondsLeft * 1000;
        int version = ++a.limitVersion;
        if (secondsLeft >= 0) {
            later(secondsLeft * 1000, () -> {
                if (version == a.limitVersion && !a.isEnding()) {
                    a.killWaitS = a.share.killWaitSeconds();
                    endSteps(a, "TimeLimit");
                }
            });
        }
    }

    // ---- after a restart of slurmd

    private void adopt(Attempt a) {
        a.waiting.clear();
        if (a.phase == Phase.DONE) {
            done(a);
            return;
        }
        boolean rebooted = !a.share.bootId().equals(bootId());
        if (a.phase == Phase.PREPARING && !rebooted) {
            prepare(a);
        } else if (a.phase == Phase.PREPARING) {
            a.phase = Phase.READY; // there is no prolog to wait for any more
        }
        if (a.deadlineMs >= 0) {
            arm(a, Math.max(0, (a.deadlineMs - world.nowMs()) / 1000));
        }
        if (a.phase == Phase.EPILOG) {
            a.phase = Phase.ENDING;
        }
        for (Step s : List.copyOf(a.steps.values())) {
            boolean wasEnding = s.ending;
            s.ending = false;
            if (s.proc == null) {
                a.steps.remove(s.id);
                world.saw("slurmd died while it launched");
                report(seq -> new NodeMessages.LaunchFailed(
                        seq,
                        a.share.jobId(),
                        a.share.attempt(),
                        s.id,
                        "slurmd was ended while it launched the step",
                        true,
                        false));
            } else if (s.proc.alive) {
                s.phase = StepPhase.RUNNING;
                if (wasEnding && a.phase != Phase.ENDING) {
                    endStep(a, s, a.killWaitS, s.endReason);
                }
            } else {
                s.phase = StepPhase.RUNNING;
                String reason = s.proc.killed ? "StepdKilled" : s.endReason;
                stepEnded(a, s, s.proc.lostInReboot ? "NodeReboot" : reason);
            }
        }
        if (a.phase == Phase.ENDING) {
            endSteps(a, a.reason);
            settle(a);
        }
    }
}
