package dev.muster.core.preempt;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * PreemptMode=GANG: of the jobs on the same cores one runs at a time. It runs for SchedulerTimeSlice, then the jobs
 * that have waited longest go on. A waiting job is suspended and keeps its allocation, cores included: no further job
 * is placed on them.
 */
public final class GangRules {
    private final State state;
    private final DecisionTime now;
    private final long sliceMs;

    public GangRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
        this.sliceMs = Math.max(0, state.settings().options().preemption().gangSliceS()) * 1000;
    }

    /** Tests whether the job is suspended because others have their turn. */
    static boolean awaitsTurn(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted()
                        .find(job.id())
                        .filter(p -> p.mode() == Preemption.Mode.GANG)
                        .isPresent();
    }

    public void due(List<Change> changes) {
        boolean waiting = state.preempted().values().stream().anyMatch(p -> p.mode() == Preemption.Mode.GANG);
        if (!waiting
                && (sliceMs == 0
                        || state.nodes().values().stream()
                                .noneMatch(n -> n.jobs().size() > 1))) {
            return;
        }
        Map<String, IndexSet> taken = new HashMap<>();
        Set<Integer> had = new HashSet<>();
        for (Job job : inTurn()) {
            // components of one job have their turns together, also those that share nothing
            List<Job> whole = state.members(job).stream()
                    .filter(j -> j.id() == job.id() || takesPart(j))
                    .toList();
            if (had.add(job.id()) && whole.stream().allMatch(j -> j.id() == job.id() || had.add(j.id()))) {
                give(whole, sliceMs == 0 || whole.stream().allMatch(j -> isFree(j, taken)), taken, changes);
            }
        }
    }

    private void give(List<Job> whole, boolean runs, Map<String, IndexSet> taken, List<Change> changes) {
        for (Job job : whole) {
            if (runs) {
                take(job, taken);
            }
            if (runs && job.state() == JobState.SUSPENDED) {
                changes.add(PreemptRules.resumed(job, now));
            } else if (!runs && job.state() == JobState.RUNNING) {
                changes.add(new Change.JobPreempted(job.id(), now.seconds(), Preemption.Mode.GANG, 0));
                changes.add(new Change.JobSuspended(job.id(), now.seconds()));
            }
        }
    }

    /**
     * Returns the jobs in the order of their turns: jobs within their time slice, then waiting jobs by descending wait,
     * then jobs after their slice.
     */
    private List<Job> inTurn() {
        Map<Integer, Job> sharing = new TreeMap<>();
        for (Node node : state.nodes().values()) {
            for (int id : node.jobs().size() > 1 ? node.jobs() : List.<Integer>of()) {
                state.jobs().find(id).filter(this::takesPart).ifPresent(j -> sharing.put(id, j));
            }
        }
        for (Preemption p : state.preempted().values()) {
            // alone by now
            state.jobs().find(p.jobId()).filter(j -> awaitsTurn(state, j)).ifPresent(j -> sharing.put(j.id(), j));
        }
        List<Job> jobs = new ArrayList<>(sharing.values());
        jobs.sort(Comparator.comparingInt(this::turn)
                .thenComparingLong(j -> j.run().sinceTickMs())
                .thenComparingInt(Job::id));
        return jobs;
    }

    private boolean takesPart(Job job) {
        return awaitsTurn(state, job) || job.state() == JobState.RUNNING && !job.has(JobFlag.CONFIGURING);
    }

    private int turn(Job job) {
        if (job.state() == JobState.SUSPENDED) {
            return 1;
        }
        if (now.tickMs() - job.run().sinceTickMs() < sliceMs) {
            return 0;
        }
        return 2;
    }

    private static boolean isFree(Job job, Map<String, IndexSet> taken) {
        for (Allocation.Share share : job.run().allocation().nodes()) {
            IndexSet takenCores = taken.getOrDefault(share.node(), IndexSet.empty());
            if (!share.released() && !takenCores.intersect(share.cores()).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    private static void take(Job job, Map<String, IndexSet> taken) {
        for (Allocation.Share share : job.run().allocation().nodes()) {
            taken.merge(share.node(), share.cores(), IndexSet::union);
        }
    }
}
