package dev.muster.simulator;

import static java.util.Objects.requireNonNull;

import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.NodeMessages.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a {@link SimNode}: what slurmd has of them on its disk, and the processes that the kernel runs for them.
 * Obeys slurmctld's orders, and takes up the jobs again after a restart of slurmd.
 */
final class SimNodeJobs {
    private static final Usage USAGE = new Usage(0, 0, 0, 0, 0, 0, 0);

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
        StepProcesses processes;

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

    private final SimNode node;
    private final World world;
    private final SimParameters parameters;
    private final PlantedBug bug;
    private final ExecutionLedger ledger;
    private final TreeMap<String, Attempt> disk = new TreeMap<>();
    private final TreeMap<Long, Attempt> doneReports = new TreeMap<>();

    SimNodeJobs(SimNode node, World world, SimParameters parameters, PlantedBug bug, ExecutionLedger ledger) {
        this.node = node;
        this.world = world;
        this.parameters = parameters;
        this.bug = bug;
        this.ledger = ledger;
    }

    /** Attempts that the node still knows of. */
    java.util.Set<String> known() {
        return disk.keySet();
    }

    /** Returns the attempts as slurmd registers them. */
    List<NodeMessages.Attempt> registered() {
        List<NodeMessages.Attempt> attempts = new ArrayList<>();
        for (Attempt a : disk.values()) {
            List<Integer> live = a.steps.values().stream()
                    .filter(s -> s.phase != StepPhase.ENDED)
                    .map(s -> s.id)
                    .toList();
            attempts.add(new NodeMessages.Attempt(
                    a.share.jobId(), a.share.attempt(), a.share.bootId(), live, a.phase == Phase.DONE));
        }
        return attempts;
    }

    /** The kernel is gone, and all processes with it. */
    void powerLost() {
        for (Attempt a : disk.values()) {
            for (Step s : a.steps.values()) {
                if (s.processes != null && s.processes.alive) {
                    ledger.ended(s.processes, ExitStatus.signaled(9), false);
                    s.processes.lostInReboot = true;
                }
            }
        }
    }

    /** slurmd has ended: reports of ends that were not acknowledged are made again when it is back. */
    void slurmdStopped() {
        doneReports.clear();
    }

    /** slurmd is back. */
    void adoptAll() {
        new ArrayList<>(disk.values()).forEach(this::adopt);
    }

    /** Forgets the attempts whose ends slurmctld has acknowledged. */
    void acknowledged(long seq) {
        Map<Long, Attempt> done = doneReports.headMap(seq, true);
        done.values().forEach(a -> disk.remove(key(a.share.jobId(), a.share.attempt()), a));
        done.clear();
    }

    /** One stepd dies, its tasks are killed by slurmd. */
    void killStepd() {
        List<Step> live = new ArrayList<>();
        List<Attempt> of = new ArrayList<>();
        for (Attempt a : disk.values()) {
            for (Step s : a.steps.values()) {
                if (s.phase == StepPhase.RUNNING && s.processes != null && s.processes.alive) {
                    live.add(s);
                    of.add(a);
                }
            }
        }
        if (live.isEmpty() || !node.isSlurmdUp()) {
            return;
        }
        int i = world.below(live.size());
        Step step = live.get(i);
        StepProcesses processes = requireNonNull(step.processes, "it runs");
        node.log("stepd killed " + processes);
        ledger.ended(processes, ExitStatus.signaled(9), false);
        processes.killed = true;
        world.saw("stepd killed");
        stepEnded(of.get(i), step, "StepdKilled");
    }

    private static String key(int jobId, int attempt) {
        return jobId + "." + attempt;
    }

    void obey(ToNode order) {
        node.log("told " + brief(order));
        switch (order) {
            case NodeMessages.Launch m -> launch(m);
            case NodeMessages.Prepare m -> {
                Attempt known = admit(m.share(), NodeMessages.STEP_BATCH, m.runProlog());
                if (known != null && m.runProlog() && known.phase != Phase.PREPARING) {
                    node.report(seq -> new NodeMessages.PrologDone(
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
        if (!share.bootId().equals(node.bootId()) && bug != PlantedBug.NO_BOOT_FENCE) {
            ledger.refused(share.jobId(), share.attempt());
            node.report(seq -> new NodeMessages.LaunchFailed(
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
        node.later(world.below(3_000), () -> {
            if (a.phase == Phase.PREPARING || a.phase == Phase.ENDING) {
                node.report(seq -> new NodeMessages.PrologDone(seq, a.share.jobId(), a.share.attempt(), ""));
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
                && (bug != PlantedBug.NODE_WITHOUT_TOMBSTONES || m.stepId() == NodeMessages.STEP_EXTERN)) {
            world.saw("launch repeated");
            return;
        }
        if (!m.share().bootId().equals(node.bootId()) && bug != PlantedBug.NO_BOOT_FENCE) {
            ledger.refused(m.share().jobId(), m.share().attempt());
            node.report(seq -> new NodeMessages.LaunchFailed(
                    seq, a.share.jobId(), a.share.attempt(), m.stepId(), "other boot", false, false));
            return;
        }
        if (a.isEnding()) {
            world.saw("launch of an ending job");
            node.report(seq -> new NodeMessages.LaunchFailed(
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
        node.later(world.below(40), () -> {
            if (a.isEnding() && step.terminated) {
                step.phase = StepPhase.ENDED;
                settle(a);
                return;
            }
            step.phase = StepPhase.RUNNING;
            step.processes = ledger.started(a.share.jobId(), a.share.attempt(), step.id, node.name(), program);
            node.report(
                    seq -> new NodeMessages.StepLaunched(seq, a.share.jobId(), a.share.attempt(), step.id, List.of(1)));
            runOn(a, step, step.processes);
            if (step.ending) {
                step.ending = false;
                endStep(a, step, a.killWaitS, step.endReason);
            }
        });
    }

    /** The kernel's part: the process ends when its time is over, whatever slurmd does. */
    private void runOn(Attempt a, Step step, StepProcesses processes) {
        int version = ++processes.version;
        processes.resumedMs = world.nowMs();
        if (processes.program == SimScript.FOREVER) {
            return;
        }
        world.at(processes.remainingMs, () -> {
            if (processes.alive && processes.version == version) {
                ledger.ended(processes, processes.program.exit(), true);
                seen(a, step);
            }
        });
    }

    /** slurmd sees the end at once if it is there, else when it is back. */
    private void seen(Attempt a, Step step) {
        if (node.isSlurmdUp()) {
            stepEnded(a, step, step.endReason);
        }
    }

    private void kill(Attempt a, Step step, int signal) {
        StepProcesses processes = step.processes;
        if (processes == null || !processes.alive || signal == 15 && processes.program.ignoresTerm()) {
            return;
        }
        long delay;
        if (signal == 15) {
            delay = world.below(500);
        } else if (parameters.unkillable() && world.chance(100)) {
            delay = world.below(20_000);
        } else {
            delay = world.below(100);
        }

        world.at(delay, () -> {
            if (processes.alive) {
                ledger.ended(processes, ExitStatus.signaled(signal), false);
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
        StepProcesses processes = requireNonNull(step.processes, "what ends has begun");
        Map<String, ExitStatus> exits = new TreeMap<>();
        // a stepd that was killed early has left no status at all
        if (step.id != NodeMessages.STEP_EXTERN
                && !((processes.killed || processes.lostInReboot) && world.below(2) == 0)) {
            exits.put("0", processes.exit);
        }
        node.report(seq -> new NodeMessages.StepExited(
                seq, a.share.jobId(), a.share.attempt(), step.id, exits, reason, processes.endMs, USAGE));
        settle(a);
    }

    private void endJob(NodeMessages.EndJob m) {
        Attempt a = disk.get(key(m.jobId(), m.attempt()));
        if (a == null) {
            world.saw("end of an unknown attempt");
            node.report(seq -> new NodeMessages.JobDone(seq, m.jobId(), m.attempt(), ""));
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
        node.later(killWaitS * 1000L, () -> {
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
        node.later(world.below(300), () -> done(a));
    }

    private void done(Attempt a) {
        a.phase = Phase.DONE;
        doneReports.put(node.nextSeq(), a);
        node.report(seq -> new NodeMessages.JobDone(seq, a.share.jobId(), a.share.attempt(), ""));
    }

    private void suspend(NodeMessages.Suspend m) {
        Attempt a = disk.get(key(m.jobId(), m.attempt()));
        if (a == null) {
            return;
        }
        for (Step s : a.steps.values()) {
            StepProcesses p = s.processes;
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
            node.later(secondsLeft * 1000, () -> {
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
        boolean rebooted = !a.share.bootId().equals(node.bootId());
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
            if (s.processes == null) {
                a.steps.remove(s.id);
                world.saw("slurmd died while it launched");
                node.report(seq -> new NodeMessages.LaunchFailed(
                        seq,
                        a.share.jobId(),
                        a.share.attempt(),
                        s.id,
                        "slurmd was ended while it launched the step",
                        true,
                        false));
            } else if (s.processes.alive) {
                s.phase = StepPhase.RUNNING;
                if (wasEnding && a.phase != Phase.ENDING) {
                    endStep(a, s, a.killWaitS, s.endReason);
                }
            } else {
                s.phase = StepPhase.RUNNING;
                String reason = s.processes.killed ? "StepdKilled" : s.endReason;
                stepEnded(a, s, s.processes.lostInReboot ? "NodeReboot" : reason);
            }
        }
        if (a.phase == Phase.ENDING) {
            endSteps(a, a.reason);
            settle(a);
        }
    }
}
