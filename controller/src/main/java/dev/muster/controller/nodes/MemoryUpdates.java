package dev.muster.controller.nodes;

import dev.muster.core.command.Command;
import dev.muster.core.job.MemoryRules;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.ToNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Lets nodes measure the memory of jobs with {@code --mem-update} when it is time: once in each run, on all their
 * nodes. Called by several threads.
 */
public final class MemoryUpdates {
    /** Milliseconds after which a node that has said nothing is asked again. */
    private static final long AGAIN_MS = 5_000;

    private static final class Measurement {
        private final int attempt;
        private final Map<String, Long> usedKb = new HashMap<>();
        private long askedMs;
        private boolean done;

        Measurement(int attempt) {
            this.attempt = attempt;
        }
    }

    private final Map<Integer, Measurement> byJob = new HashMap<>();

    /** Asks the nodes of jobs whose memory is due to be measured. Called every second with the jobs that have nodes. */
    public synchronized void tick(State state, List<Job> active, long tickMs, BiConsumer<String, ToNode> send) {
        Set<Integer> due = new HashSet<>();
        for (Job job : active) {
            if (!MemoryRules.isDue(state, job, tickMs)) {
                continue;
            }
            due.add(job.id());
            Measurement a = byJob.compute(
                    job.id(),
                    (id, old) -> old == null || old.attempt != job.attempt() ? new Measurement(job.attempt()) : old);
            if (!a.done && (a.askedMs == 0 || tickMs - a.askedMs >= AGAIN_MS)) {
                a.askedMs = tickMs;
                job.run().allocation().nodeNames().stream()
                        .filter(n -> !a.usedKb.containsKey(n))
                        .forEach(n -> send.accept(n, new NodeMessages.MeasureMemory(job.id(), job.attempt())));
            }
        }
        // what is due no more will not be again in this run
        byJob.keySet().retainAll(due);
    }

    /** Notes the report of a node; the last of a job's nodes gives the command that follows. */
    synchronized Optional<Command> told(State state, String node, NodeMessages.MemoryUsed m) {
        Measurement a = byJob.get(m.jobId());
        Optional<Job> job = state.jobs().find(m.jobId()).filter(j -> j.attempt() == m.attempt());
        if (a == null || a.done || a.attempt != m.attempt() || job.isEmpty()) {
            return Optional.empty();
        }
        a.usedKb.put(node, m.residentKb());
        List<String> nodes = job.get().run().allocation().nodeNames();
        if (!a.usedKb.keySet().containsAll(nodes)) {
            return Optional.empty();
        }
        a.done = true;
        return Optional.of(new Command.MemoryMeasured(
                m.jobId(),
                m.attempt(),
                nodes.stream().mapToLong(a.usedKb::get).max().orElse(0)));
    }
}
