package dev.muster.controller.nodes;

import dev.muster.core.command.Decision;
import dev.muster.core.index.AffectedEntities;
import dev.muster.core.node.ManagedSteps;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.model.job.JobFlag;
import dev.muster.model.node.NodeMessages.Charter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Makes the messages for the first node of a job with a step manager: a state with nothing in it but the job, its nodes
 * and the settings, and then each durable record about its steps. With it the node decides while slurmctld is away. Of
 * a heterogeneous job the first component's first node is told of all components.
 */
public final class StepManagerStates {
    private StepManagerStates() {}

    /**
     * Returns the node that manages the steps of the job, a leader or of no other; empty where none does, or does not
     * yet.
     */
    private static Optional<String> manager(State state, Job job) {
        return ManagedSteps.isManaged(job)
                        && members(state, job).stream()
                                .allMatch(j -> ManagedSteps.isManaged(j) && !j.has(JobFlag.CONFIGURING))
                ? Optional.of(job.run().allocation().nodes().getFirst().node())
                : Optional.empty();
    }

    /** Returns the components of the job that have not ended. */
    private static List<Job> members(State state, Job job) {
        return state.members(job).stream()
                .filter(j -> j.state().isActive() && !j.run().allocation().isEmpty())
                .toList();
    }

    /** Adds the messages of an entry, after its launches, so that the node knows the job. */
    static void of(List<Decision.Direct> out, Entry entry, State after) {
        if (entry.changes().stream().noneMatch(c -> mayConcern(c, after))) {
            return;
        }
        Map<Integer, List<Change>> byJob = new TreeMap<>();
        for (Change change : entry.changes()) {
            AffectedEntities.jobs(change).stream()
                    .map(id -> after.jobs()
                            .find(id)
                            .filter(Job::isHet)
                            .map(j -> j.het().jobId())
                            .orElse(id))
                    .distinct()
                    .forEach(id ->
                            byJob.computeIfAbsent(id, x -> new ArrayList<>()).add(change));
        }
        byJob.forEach((id, changes) -> after.jobs()
                .find(id)
                .ifPresent(job -> manager(after, job).ifPresent(node -> {
                    boolean more = changes.stream().allMatch(StepManagerStates::isOfSteps);
                    Charter charter = more
                            ? new Charter(
                                    id,
                                    job.attempt(),
                                    false,
                                    Bytes.of(
                                            new Entry(entry.tickMs(), entry.timeMs(), -1, "Charter", changes).encode()))
                            : whole(after, job, entry.tickMs());
                    out.add(new Decision.Direct(node, charter));
                })));
    }

    private static boolean mayConcern(Change change, State after) {
        for (int id : AffectedEntities.jobs(change)) {
            Optional<Job> job = after.jobs().find(id);
            if (job.isPresent() && (job.get().isHet() || ManagedSteps.isManaged(job.get()))) {
                return true;
            }
        }
        return false;
    }

    public static Optional<Charter> whole(State state, Job job, String node, long tickMs) {
        return job.isHet() && !job.isHetLeader()
                ? Optional.empty()
                : manager(state, job).filter(node::equals).map(n -> whole(state, job, tickMs));
    }

    private static Charter whole(State state, Job job, long tickMs) {
        List<Job> members = members(state, job);
        int next = members.stream().mapToInt(Job::id).max().orElse(job.id()) + 1;
        Map<String, List<Integer>> onNode = new TreeMap<>();
        members.forEach(j -> j.run()
                .allocation()
                .nodeNames()
                .forEach(n -> onNode.computeIfAbsent(n, x -> new ArrayList<>()).add(j.id())));
        List<Change> changes = new ArrayList<>();
        changes.add(new Change.ClusterRestored("", tickMs, state.settings(), next, next, 1, 1));
        onNode.forEach((name, jobs) ->
                state.nodes().find(name).ifPresent(n -> changes.add(new Change.NodeRestored(n.holding(jobs)))));
        members.stream()
                .map(j -> j.desc().partition())
                .distinct()
                .forEach(name ->
                        state.partitions().find(name).ifPresent(p -> changes.add(new Change.PartitionRestored(p))));
        members.forEach(j -> changes.add(new Change.JobRestored(j)));
        return new Charter(
                job.id(), job.attempt(), true, Bytes.of(new Entry(tickMs, 0, -1, "Charter", changes).encode()));
    }

    private static boolean isOfSteps(Change change) {
        return change instanceof Change.StepStarted
                || change instanceof Change.StepQueued
                || change instanceof Change.StepLaunched
                || change instanceof Change.StepPartEnded
                || change instanceof Change.StepEnding
                || change instanceof Change.StepEnded;
    }
}
