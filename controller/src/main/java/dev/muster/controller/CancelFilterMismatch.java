package dev.muster.controller;

import dev.muster.core.Job;
import dev.muster.model.HostList;
import dev.muster.model.api.JobMessages;
import java.util.List;
import java.util.Optional;

/** Which filter of scancel leaves a named job out, in scancel's words. Called by {@link CancelTargets}. */
final class MissedFilter {
    private MissedFilter() {}

    /** Empty if the job matches all filters. */
    static Optional<String> of(Job job, JobMessages.Cancel m) {
        String reservation = job.desc().charge().reservation();
        String wckey = job.desc().charge().wckey();
        if (isOther(m.userIds(), job.desc().owner().uid())) {
            return Optional.of("Job user id " + job.desc().owner().uid() + " != filter user id " + m.userIds().getFirst());
        }
        if (isOther(m.states(), job.state().name())) {
            return Optional.of("Job state " + job.state() + " != filter state " + String.join(",", m.states()));
        }
        if (isOther(m.names(), job.desc().name())) {
            return Optional.of("Job name " + job.desc().name() + " != filter name " + m.names().getFirst());
        }
        if (isOther(m.accounts(), job.desc().charge().account())) {
            return Optional.of("Job account " + job.desc().charge().account() + " != filter account " + String.join(",", m.accounts()));
        }
        if (isNone(m.partitions(), job.desc().partition())) {
            return Optional.of("Job partition " + job.desc().partition() + " does not include filter partition " + String.join(",", m.partitions()));
        }
        if (!m.qos().isEmpty() && job.desc().charge().eachQos().stream().noneMatch(m.qos()::contains)) {
            return Optional.of("Job qos " + job.desc().charge().qos() + " != filter qos " + String.join(",", m.qos()));
        }
        if (isNone(m.reservations(), reservation)) {
            return Optional.of("Job reservation " + (reservation.isEmpty() ? "(null)" : reservation) + " does not include filter reservation "
                    + String.join(",", m.reservations()));
        }
        if (isOther(m.wckeys(), wckey)) {
            return Optional.of("Job wckey " + (wckey.isEmpty() ? "(null)" : wckey) + " != filter wckey " + String.join(",", m.wckeys()));
        }
        return m.nodes().isEmpty() ? Optional.empty() : nodes(job, String.join(",", m.nodes()));
    }

    private static <T> boolean isOther(List<T> wanted, T value) {
        return !wanted.isEmpty() && !wanted.contains(value);
    }

    private static boolean isNone(List<String> wanted, String several) {
        return !wanted.isEmpty() && List.of(several.split(",")).stream().noneMatch(wanted::contains);
    }

    private static Optional<String> nodes(Job job, String wanted) {
        if (job.run().allocation().isEmpty()) {
            return Optional.of("Job does not have nodes but filter has nodes " + wanted);
        }
        List<String> own = job.run().allocation().nodes().stream().map(n -> n.node()).toList();
        boolean common = HostList.parse(wanted) instanceof HostList.Parsed.Ok ok && ok.list().names().stream().anyMatch(own::contains);
        return common ? Optional.empty() : Optional.of("Job nodes " + HostList.of(own).compressed() + " do not include filter nodes " + wanted);
    }
}
