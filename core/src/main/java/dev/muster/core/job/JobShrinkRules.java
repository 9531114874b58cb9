package dev.muster.core.job;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Job;
import dev.muster.json.RecordEditor;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import dev.muster.model.job.ResourceRequest;
import java.util.List;
import java.util.Optional;

/**
 * A running job gives up some of its nodes ({@code scontrol update NumNodes=, NodeList=}). The node of its script
 * stays.
 */
final class JobShrinkRules {
    private JobShrinkRules() {}

    /** Shrinks the job to the first nodes of its allocation. */
    static Optional<Decision.Rejected> toCount(
            Job job, String value, RecordEditor<JobDesc> desc, long now, List<Change> changes) {
        List<String> nodes = job.run().allocation().nodeNames();
        int count;
        try {
            // of a range the upper end, as for a job that waits
            count = Integer.parseInt(value.substring(value.indexOf('-') + 1));
        } catch (NumberFormatException e) {
            return refuse(SlurmErrno.INVALID_NODE_COUNT);
        }
        if (count > nodes.size()) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.NOT_SUPPORTED, "Expanding a running job is not supported by this version of Muster"));
        }
        return count < 1
                ? refuse(SlurmErrno.INVALID_NODE_COUNT)
                : keep(job, nodes.subList(0, count), desc, now, changes);
    }

    static Optional<Decision.Rejected> toList(
            Job job, String value, RecordEditor<JobDesc> desc, long now, List<Change> changes) {
        List<String> nodes = job.run().allocation().nodeNames();
        if (!(HostList.parse(value) instanceof HostList.Parsed.Ok ok)
                || ok.list().names().isEmpty()
                || !nodes.containsAll(ok.list().names())) {
            return refuse(SlurmErrno.INVALID_NODE_NAME);
        }
        return keep(job, ok.list().names(), desc, now, changes);
    }

    private static Optional<Decision.Rejected> keep(
            Job job, List<String> kept, RecordEditor<JobDesc> desc, long now, List<Change> changes) {
        List<Allocation.Share> nodes = job.run().allocation().nodes();
        List<String> dropped = nodes.stream()
                .map(Allocation.Share::node)
                .filter(n -> !kept.contains(n))
                .toList();
        if (job.state() != JobState.RUNNING || job.has(JobFlag.CONFIGURING)) {
            return refuse(SlurmErrno.TRANSITION_STATE_NO_UPDATE);
        }
        if (dropped.contains(nodes.getFirst().node())) {
            return refuse(SlurmErrno.INVALID_NODE_NAME);
        }
        if (dropped.isEmpty()) {
            return Optional.empty();
        }
        changes.add(new Change.JobShrunk(job.id(), dropped, now));
        ResourceRequest r = job.desc().request();
        desc.set("request.nodesMin", (long) (nodes.size() - dropped.size()));
        desc.set("request.nodesMax", (long) (nodes.size() - dropped.size()));
        if (r.tasks() > 0) {
            int cpus = nodes.stream()
                    .filter(s -> !dropped.contains(s.node()))
                    .mapToInt(Allocation.Share::cpus)
                    .sum();
            desc.set("request.tasks", (long) Math.max(1, Math.min(r.tasks(), cpus / Math.max(1, r.cpusPerTask()))));
        }
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> refuse(SlurmErrno errno) {
        return Optional.of(Decision.reject(errno));
    }
}
