package dev.muster.core.partition;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.job.SubmitRules;
import dev.muster.core.limits.QosRules;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** scontrol create, update and delete partition. */
public final class PartitionRules {
    private final State state;

    public PartitionRules(State state) {
        this.state = state;
    }

    public Decision create(Command.CreatePartition c) {
        if (state.partitions().has(c.partition().name())) {
            return Decision.reject(SlurmErrno.INVALID_PARTITION_NAME);
        }
        return taken(c.partition()).orElseGet(() -> Decision.of(changes(c.partition()), ""));
    }

    private Optional<Decision> taken(Partition partition) {
        return QosRules.alreadyOf(state, partition)
                .map(other -> new Decision.Rejected(
                        SlurmErrno.INVALID_QOS,
                        SlurmErrno.INVALID_QOS.sentence() + ": "
                                + partition.info().qos() + " is Relative, and the QOS of partition " + other));
    }

    /** Returns the changes of partitions: there is one default at most, and a new one takes the place of the old. */
    private List<Change> changes(Partition changed) {
        List<Change> out = new ArrayList<>();
        if (changed.info().isDefault()) {
            for (Partition p : state.partitions().values()) {
                if (p.info().isDefault()
                        && !p.name().equals(changed.name())
                        && PartitionEdit.edit(p, Map.of("default", "NO"), state) instanceof PartitionEdit.Edited e) {
                    out.add(new Change.PartitionChanged(e.partition()));
                }
            }
        }
        out.add(new Change.PartitionChanged(changed));
        return out;
    }

    /**
     * Returns the changes of jobs in partitions that are not configured any more: they wait for those that are left;
     * without any they end, as in Slurm. A partition that comes back, say after a typing mistake in slurm.conf, brings
     * its batch jobs back to the queue.
     */
    public List<Change> without(List<Partition> configured, DecisionTime now) {
        Set<String> names = configured.stream().map(Partition::name).collect(Collectors.toSet());
        List<Change> out = new ArrayList<>();
        // many jobs, and few lists of partitions
        Map<String, String> leftOf = new HashMap<>();
        for (Job job : state.jobs().values()) {
            String asked = job.desc().partition();
            if (isLost(job) && names.containsAll(List.of(asked.split(",")))) {
                out.addAll(back(job, now));
            }
            if (job.state().isTerminal() || asked.isEmpty()) {
                continue;
            }
            String left = leftOf.computeIfAbsent(
                    asked,
                    a -> Arrays.stream(a.split(",")).filter(names::contains).collect(Collectors.joining(",")));
            if (left.isEmpty()) {
                out.add(new Change.JobEnded(
                        job.id(),
                        JobState.NODE_FAIL,
                        JobReason.PARTITION_DOWN,
                        "",
                        ExitStatus.exited(1),
                        now.seconds()));
            } else if (left.length() < asked.length()) {
                out.add(new Change.DescriptionChanged(job.id(), job.desc().inPartition(left)));
            }
        }
        return out;
    }

    /** Tests whether the job ended because its partition was not configured any more. */
    public static boolean isLost(Job job) {
        return job.state() == JobState.NODE_FAIL && job.reason() == JobReason.PARTITION_DOWN;
    }

    /**
     * Returns the changes that bring a job back. Held jobs are held as before. What ran is requeued if it may be;
     * clients that waited for an allocation have gone.
     */
    private List<Change> back(Job job, DecisionTime now) {
        boolean ran = job.attempt() > 0 && !job.run().allocation().nodes().isEmpty();
        boolean follows = job.isHet() && !job.isHetLeader();
        if (job.desc().kind() != JobDesc.Kind.BATCH || follows || ran && !job.mayRequeue(state.settings())) {
            return List.of();
        }
        List<Change> out = new ArrayList<>();
        for (Job member : job.isHet() ? state.members(job) : List.of(job)) {
            out.add(new Change.JobRequeued(
                    member.id(),
                    false,
                    JobReason.NONE,
                    "",
                    Math.max(1, SubmitRules.PRIORITY_TOP - member.sluid()),
                    now.seconds(),
                    false));
            if (member.isHeld()) {
                JobReason reason = member.holdUid() == member.desc().owner().uid()
                        ? JobReason.JOB_HELD_USER
                        : JobReason.JOB_HELD_ADMIN;
                out.add(new Change.PriorityChanged(member.id(), 0, member.holdUid(), reason, ""));
            }
        }
        return out;
    }

    public Decision delete(Command.DeletePartition c) {
        if (!state.partitions().has(c.partition())) {
            return Decision.reject(SlurmErrno.INVALID_PARTITION_NAME);
        }
        for (Job job : state.jobs().values()) {
            if (!job.state().isTerminal() && job.desc().partitionList().contains(c.partition())) {
                return Decision.reject(SlurmErrno.PARTITION_IN_USE);
            }
        }
        return Decision.of(List.of(new Change.PartitionRemoved(c.partition())), "");
    }

    public Decision update(Command.UpdatePartition c) {
        Optional<Partition> found = state.partitions().find(c.partition());
        if (found.isEmpty()) {
            return Decision.reject(SlurmErrno.INVALID_PARTITION_NAME);
        }
        return switch (PartitionEdit.edit(found.get(), c.changes(), c.gids(), state)) {
            case PartitionEdit.Edited e ->
                taken(e.partition()).orElseGet(() -> Decision.of(changes(e.partition()), ""));
            case PartitionEdit.Refused r -> new Decision.Rejected(r.errno(), r.sentence());
        };
    }
}
