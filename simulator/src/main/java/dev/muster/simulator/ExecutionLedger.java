package dev.muster.simulator;

import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.ToController;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The outside ledger: what really ran, whatever anybody believes. */
final class ExecutionLedger {
    private final World world;
    private final DurableHistory history;
    private final Map<String, StepProcesses> all = new TreeMap<>();
    private final Map<Integer, List<StepProcesses>> byJob = new TreeMap<>();
    private final Set<String> refused = new HashSet<>();
    private int launches;
    private java.util.function.ToLongFunction<String> talkingForMs = n -> 0;

    ExecutionLedger(World world, DurableHistory history) {
        this.world = world;
        this.history = history;
    }

    private static String key(int jobId, int attempt, int stepId, String node) {
        return jobId + "." + attempt + "." + stepId + (stepId == -5 ? "" : "@" + node);
    }

    StepProcesses started(int jobId, int attempt, int stepId, String node, SimScript program) {
        StepProcesses processes = new StepProcesses(jobId, attempt, stepId, node, program, world.nowMs());
        world.log(node, "runs " + processes + " for " + program.runMs());
        if (all.put(key(jobId, attempt, stepId, node), processes) != null) {
            throw new Violation("I3 one launch per attempt", processes + " ran before");
        }
        for (StepProcesses other : byJob.getOrDefault(jobId, List.of())) {
            // of two the older one must have been given up: a node that is cut off cannot know
            StepProcesses older = other.attempt < attempt ? other : processes;
            if (other.alive && other.attempt != attempt && !history.fenced(jobId, older.attempt, older.node)) {
                throw new Violation("I4 one live attempt", processes + " starts while " + other + " lives");
            }
        }
        if (!history.hasStarted(jobId, attempt)) {
            throw new Violation("I36 effects after durability", processes + " runs without a durable record");
        }
        byJob.computeIfAbsent(jobId, k -> new ArrayList<>()).add(processes);
        launches++;
        return processes;
    }

    void ended(StepProcesses processes, ExitStatus exit, boolean byItself) {
        processes.alive = false;
        processes.byItself = byItself;
        processes.endMs = world.nowMs();
        processes.exit = exit;
        world.log(processes.node, "ended " + processes + " " + exit + (byItself ? "" : " killed"));
    }

    /** The batch script of an attempt, or null if it never ran. */
    @Nullable
    StepProcesses batch(int jobId, int attempt) {
        return all.get(key(jobId, attempt, -5, ""));
    }

    @Nullable
    StepProcesses step(int jobId, int attempt, int stepId, String node) {
        return all.get(key(jobId, attempt, stepId, node));
    }

    List<StepProcesses> alive() {
        return all.values().stream().filter(p -> p.alive).toList();
    }

    /** Tells for how long a node and the controller have been able to talk, milliseconds. */
    void talkingFor(java.util.function.ToLongFunction<String> source) {
        talkingForMs = source;
    }

    /** The node keeps a report no more: now the controller's journal must. */
    void forgotten(String node, ToController report) {
        if (report instanceof NodeMessages.StepExited m
                && m.stepId() != NodeMessages.STEP_EXTERN
                && !history.hasTaken(node, m)) {
            throw new Violation("I36 acknowledged after durability", node + " was told to forget " + m);
        }
    }

    /** The node would not run an attempt that was meant for another boot. */
    void refused(int jobId, int attempt) {
        refused.add(jobId + "." + attempt);
    }

    boolean wasRefused(int jobId, int attempt) {
        return refused.contains(jobId + "." + attempt);
    }

    boolean couldReport(String node) {
        return talkingForMs.applyAsLong(node) > Simulation.REPORT_WITHIN_MS;
    }

    int launches() {
        return launches;
    }
}
