package dev.muster.core.node;

import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobFlag;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * CompleteWait: the nodes of a completing job may fit a waiting job better than the nodes that are free now. So no job
 * starts meanwhile; with reduce_completing_frag no job starts in the partition of the completing job and in partitions
 * that share its nodes.
 */
public final class CompleteWait {
    private CompleteWait() {}

    public static boolean holdsAll(State state, DecisionTime now) {
        return !state.settings().options().scheduling().completesByPartition()
                && !completing(state, now).isEmpty();
    }

    /** Returns the partitions in which no job starts now. */
    public static Set<String> partitions(State state, DecisionTime now) {
        if (!state.settings().options().scheduling().completesByPartition()) {
            return Set.of();
        }
        Set<String> out = new HashSet<>();
        for (Job job : completing(state, now)) {
            String name = job.desc().firstPartition();
            Set<String> nodes = state.partitions()
                    .find(name)
                    .map(p -> Set.copyOf(p.nodes()))
                    .orElse(Set.of());
            out.add(name);
            state.partitions().values().stream()
                    .filter(p -> !Collections.disjoint(nodes, p.nodes()))
                    .forEach(p -> out.add(p.name()));
        }
        return out;
    }

    /**
     * Returns when the wait for the next completing job ends, in seconds since 1970; Long.MAX_VALUE if no job is waited
     * for.
     */
    public static long ends(State state, DecisionTime now) {
        return completing(state, now).stream()
                .mapToLong(j -> j.run().endTime() + waitS(state))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private static int waitS(State state) {
        return state.settings().options().scheduling().completeWaitS();
    }

    private static List<Job> completing(State state, DecisionTime now) {
        int wait = waitS(state);
        return wait == 0
                ? List.of()
                : state.nodes().values().stream()
                        .flatMap(n -> n.jobs().stream())
                        .map(state.jobs()::at)
                        .filter(j -> j.has(JobFlag.COMPLETING)
                                && now.seconds() - j.run().endTime() < wait)
                        .toList();
    }
}
