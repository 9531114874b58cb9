package dev.muster.scheduler.pass;

import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.SuspendedJobs;
import dev.muster.scheduler.preempt.PassAllocations;
import dev.muster.scheduler.preempt.Preemptor;
import dev.muster.scheduler.queue.PriorityIndex;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/** Jobs that are suspended for others by preemption, by descending tier, and those that a pass resumes. */
final class ResumeQueue {
    private final ClusterIndex cluster;
    private final PriorityIndex ranks;
    private final Preemptor preemptor;
    private final PassAllocations allocations;
    private final State state;
    private final List<Job> waiting = new ArrayList<>();
    /** Number of jobs of {@link Preemptor#suspended} that were added to the queue. */
    private int added;

    private final List<Integer> resumed = new ArrayList<>();

    ResumeQueue(
            ClusterIndex cluster, PriorityIndex ranks, Preemptor preemptor, PassAllocations allocations, State state) {
        this.cluster = cluster;
        this.ranks = ranks;
        this.preemptor = preemptor;
        this.allocations = allocations;
        this.state = state;
        if (state.preempted().size() > 0) {
            for (Job job : cluster.holders()) {
                if (SuspendedJobs.gaveWay(state, job)) {
                    waiting.add(job);
                }
            }
            sort();
        }
    }

    private void sort() {
        waiting.sort(Comparator.comparingInt(j -> -ranks.tier(j)));
    }

    boolean isEmpty() {
        return waiting.isEmpty() && added >= preemptor.suspended().size();
    }

    /** Returns the numbers of the jobs that this pass resumes. */
    List<Integer> resumed() {
        return resumed;
    }

    /**
     * Resumes suspended jobs whose priority is not below that of the next job in the queue, as soon as all their cores
     * are free. Until then their free cores are barred to jobs of the same or a lower priority; a stream of such jobs
     * would keep them suspended for ever.
     */
    void resumeBefore(Job next) {
        for (; added < preemptor.suspended().size(); added++) {
            waiting.add(preemptor.suspended().get(added));
            sort();
        }
        int tier = ranks.tier(next);
        resume(first -> ranks.tier(first) >= tier && !preemptor.outranksByQos(next, first));
    }

    void resumeAll() {
        resume(first -> true);
    }

    private void resume(Predicate<Job> comesBefore) {
        while (!waiting.isEmpty() && comesBefore.test(waiting.getFirst())) {
            Job next = waiting.removeFirst();
            if (!SuspendedJobs.gaveWay(state, next)) {
                allocations.await(next);
                continue;
            }
            List<Job> whole = SuspendedJobs.together(state, next);
            boolean first = !resumed.contains(whole.getFirst().id());
            if (first && SuspendedJobs.haveTheirCores(cluster, whole)) {
                whole.forEach(j -> resumed.add(j.id()));
                whole.forEach(allocations::back);
            } else if (first) {
                whole.forEach(allocations::await);
            }
        }
    }
}
