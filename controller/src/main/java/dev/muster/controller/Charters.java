package dev.muster.controller;

import dev.muster.core.Change;
import dev.muster.core.Decision;
import dev.muster.core.Entry;
import dev.muster.core.Job;
import dev.muster.core.ManagedSteps;
import dev.muster.core.State;
import dev.muster.core.Touched;
import dev.muster.model.Bytes;
import dev.muster.model.JobFlag;
import dev.muster.model.node.NodeMessages.Charter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the first node of a job with a step manager is told of it: a state with nothing in it but the job, its nodes and the settings, and then each
 * durable record about its steps. With it the node decides while slurmctld is away.
 */
final class Charters {
    private Charters() {}

    /** The node that manages the job's steps; empty where none does, or does not yet. */
    private static Optional<String> manager(Job job) {
        return ManagedSteps.isManaged(job) && !job.has(JobFlag.CONFIGURING) ? Optional.of(job.run().allocation().nodes().getFirst().node())
                : Optional.empty();
    }

    /** After the launches of the entry, so that the node knows the job. */
    static void of(List<Decision.Direct> out, Entry entry, State after) {
        Map<Integer, List<Change>> byJob = new TreeMap<>();
        for (Change change : entry.changes()) {
            Touched.jobs(change).forEach(id -> byJob.computeIfAbsent(id, x -> new ArrayList<>()).add(change));
        }
        byJob.forEach((id, changes) -> after.jobs().find(id).ifPresent(job -> manager(job).ifPresent(node -> {
            boolean more = changes.stream().allMatch(Charters::isOfSteps);
            Charter charter = more ? new Charter(id, job.attempt(), false, Bytes.of(new Entry(entry.tickMs(), entry.timeMs(), -1, "Charter",
                    changes).encode())) : whole(after, job, entry.tickMs());
            out.add(new Decision.Direct(node, charter));
        })));
    }

    static Optional<Charter> whole(State state, Job job, String node, long tickMs) {
        return manager(job).filter(node::equals).map(n -> whole(state, job, tickMs));
    }

    private static Charter whole(State state, Job job, long tickMs) {
        List<Change> changes = new ArrayList<>();
        changes.add(new Change.ClusterRestored("", tickMs, state.settings(), job.id() + 1, job.id() + 1, 1, 1));
        job.run().allocation().nodeNames().forEach(name -> state.nodes().find(name)
                .ifPresent(n -> changes.add(new Change.NodeRestored(n.holding(List.of(job.id()))))));
        state.partitions().find(job.desc().partition()).ifPresent(p -> changes.add(new Change.PartitionRestored(p)));
        changes.add(new Change.JobRestored(job));
        return new Charter(job.id(), job.attempt(), true, Bytes.of(new Entry(tickMs, 0, -1, "Charter", changes).encode()));
    }

    private static boolean isOfSteps(Change change) {
        return change instanceof Change.StepStarted || change instanceof Change.StepQueued || change instanceof Change.StepLaunched
                || change instanceof Change.StepPartEnded || change instanceof Change.StepEnding || change instanceof Change.StepEnded;
    }
}
