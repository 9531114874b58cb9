package dev.muster.controller.edge;

import dev.muster.controller.view.JobQuery;
import dev.muster.core.state.Job;
import dev.muster.model.api.JobMessages;
import dev.muster.model.format.HostList;
import java.util.List;
import java.util.Optional;

/**
 * Words the filter of {@code scancel --ctld} that excludes a named job. Called by {@link CancelTargets};
 * {@link JobQuery} defines the filters.
 */
final class CancelFilterMismatch {
    private CancelFilterMismatch() {}

    /**
     * Returns scancel's sentence about the first filter that excludes the job; empty if the job matches all filters.
     *
     * @param q the query that the request's filters make
     */
    static Optional<String> of(Job job, JobMessages.Cancel m, JobQuery q) {
        Optional<JobQuery.Filter> filter = q.excludedBy(job);
        if (filter.isPresent()) {
            return filter.map(f -> sentence(f, job, m));
        }
        String wckey = job.desc().charge().wckey();
        return m.wckeys().isEmpty() || m.wckeys().contains(wckey)
                ? Optional.empty()
                : Optional.of("Job wckey " + orNull(wckey) + " != filter wckey " + String.join(",", m.wckeys()));
    }

    private static String sentence(JobQuery.Filter filter, Job job, JobMessages.Cancel m) {
        return switch (filter) {
            case USER ->
                "Job user id " + job.desc().owner().uid() + " != filter user id "
                        + m.userIds().getFirst();
            case STATE -> "Job state " + job.state() + " != filter state " + String.join(",", m.states());
            case NAME ->
                "Job name " + job.desc().name() + " != filter name " + m.names().getFirst();
            case ACCOUNT ->
                "Job account " + job.desc().charge().account() + " != filter account " + String.join(",", m.accounts());
            case PARTITION ->
                "Job partition " + job.desc().partition() + " does not include filter partition "
                        + String.join(",", m.partitions());
            case QOS -> "Job qos " + job.desc().charge().qos() + " != filter qos " + String.join(",", m.qos());
            case RESERVATION ->
                "Job reservation " + orNull(job.desc().charge().reservation()) + " does not include filter reservation "
                        + String.join(",", m.reservations());
            case NODES -> nodes(job, String.join(",", m.nodes()));
        };
    }

    private static String nodes(Job job, String wanted) {
        if (job.run().allocation().isEmpty()) {
            return "Job does not have nodes but filter has nodes " + wanted;
        }
        List<String> own =
                job.run().allocation().nodes().stream().map(n -> n.node()).toList();
        return "Job nodes " + HostList.of(own).compressed() + " do not include filter nodes " + wanted;
    }

    private static String orNull(String text) {
        return text.isEmpty() ? "(null)" : text;
    }
}
