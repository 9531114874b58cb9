package dev.muster.core.job;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Change;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.Identity;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Updates the groups of waiting jobs: a job in a partition with AllowGroups has the groups that its owner was last
 * found in.
 */
public final class GroupRules {
    /** Number of jobs that one command changes; the caller repeats the command while more jobs differ. */
    public static final int JOBS_MAX = 1000;

    private GroupRules() {}

    /** Returns with how many jobs it was about. */
    public static Decision renew(State state, Command.RenewGroups c) {
        List<Change> changes = new ArrayList<>();
        for (Job job : state.jobs().values()) {
            Identity owner = job.desc().owner();
            List<Integer> found = c.gids().get(owner.uid());
            if (changes.size() == JOBS_MAX || found == null || !asks(state, job)) {
                continue;
            }
            List<Integer> now = withOwn(found, owner.gid());
            if (!now.equals(owner.gids())) {
                changes.add(new Change.DescriptionChanged(
                        job.id(),
                        job.desc()
                                .withOwner(new Identity(
                                        owner.uid(),
                                        owner.gid(),
                                        owner.user(),
                                        owner.group(),
                                        now,
                                        owner.home(),
                                        owner.shell()))));
            }
        }
        return Decision.of(changes, changes.size());
    }

    /** Keeps the group of {@code --gid}, which its user need not be in. */
    private static List<Integer> withOwn(List<Integer> found, int gid) {
        return found.contains(gid)
                ? found
                : Stream.concat(found.stream(), Stream.of(gid)).toList();
    }

    /** Tests whether the job waits for a partition that takes some groups only. */
    public static boolean asks(State state, Job job) {
        return job.state() == JobState.PENDING
                && job.desc().partitionList().stream()
                        .flatMap(p -> state.partitions().find(p).stream())
                        .anyMatch(p -> PartitionLimits.restricts(p.info().allowGroups()));
    }
}
