package dev.muster.controller.edge;

import dev.muster.controller.view.JobName;
import dev.muster.controller.view.JobQuery;
import dev.muster.controller.view.OwnedJobs;
import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The jobs, array tasks and steps that a request to cancel or signal means: those named, or those that all its filters
 * match. Called by {@link ControllerApi}, which hands the references to the core.
 */
final class CancelTargets {
    private final State state;
    private final OwnedJobs owned;
    private final Predicate<Job> mayChange;
    private final Predicate<Job> forbidden;
    private final List<Command.JobRef> refs = new ArrayList<>();
    private final List<JobMessages.JobError> errors = new ArrayList<>();

    /**
     * @param mayChange jobs that the caller may cancel
     * @param forbidden jobs that a filter matches and the caller may not cancel, where this is an error
     */
    CancelTargets(State state, OwnedJobs owned, Predicate<Job> mayChange, Predicate<Job> forbidden) {
        this.state = state;
        this.owned = owned;
        this.mayChange = mayChange;
        this.forbidden = forbidden;
    }

    List<Command.JobRef> refs() {
        return refs;
    }

    List<JobMessages.JobError> errors() {
        return errors;
    }

    CancelTargets find(JobMessages.Cancel m) {
        if (hasFilter(m) || m.jobs().isEmpty()) {
            filtered(m);
        } else {
            m.jobs().forEach(this::named);
        }
        return this;
    }

    private static boolean hasFilter(JobMessages.Cancel m) {
        return !m.userIds().isEmpty()
                || !m.accounts().isEmpty()
                || !m.partitions().isEmpty()
                || !m.names().isEmpty()
                || !m.qos().isEmpty()
                || !m.states().isEmpty()
                || !m.nodes().isEmpty()
                || !m.reservations().isEmpty()
                || !m.wckeys().isEmpty();
    }

    private void named(String text) {
        Optional<JobName> name = JobName.parse(text, state);
        if (name.isPresent()) {
            refs.addAll(name.get().refs());
            return;
        }
        boolean plain = text.endsWith("+0")
                && JobName.parse(text.substring(0, text.length() - 2), state)
                        .flatMap(n -> state.jobs().find(n.jobId()))
                        .isPresent();
        SlurmErrno no = plain ? SlurmErrno.NOT_HET_JOB : SlurmErrno.INVALID_JOB_ID;
        errors.add(new JobMessages.JobError(text, no.number(), no.sentence()));
    }

    private void filtered(JobMessages.Cancel m) {
        List<String> steps = m.jobs().stream().filter(j -> j.indexOf('.') > 0).toList();
        List<String> jobs = m.jobs().stream().filter(j -> j.indexOf('.') <= 0).toList();
        // a step is meant where its job matches, and then the step alone
        steps.stream()
                .filter(s -> !hits(m, List.of(s)).isEmpty())
                .forEach(s -> JobName.parse(s, state).ifPresent(n -> refs.addAll(n.refs())));
        List<JobQuery.Hit> hits = jobs.isEmpty() && !steps.isEmpty() ? List.of() : JobQuery.waitingFirst(hits(m, jobs));
        if (m.ctld()) {
            jobs.forEach(text -> missed(text, m, hits));
        }
        Set<Integer> leaders = hits.stream()
                .map(JobQuery.Hit::job)
                .filter(Job::isHetLeader)
                .map(Job::id)
                .collect(Collectors.toSet());
        for (JobQuery.Hit hit : hits) {
            Job job = hit.job();
            boolean allowed = mayChange.test(job);
            if (!allowed && forbidden.test(job)) {
                SlurmErrno no = SlurmErrno.ACCESS_DENIED;
                errors.add(new JobMessages.JobError(job.displayId(), no.number(), no.sentence()));
            }
            // a component that goes with its leader is not one that is cancelled alone
            boolean goesAlong = job.isHet()
                    && !job.isHetLeader()
                    && leaders.contains(job.het().jobId());
            boolean asked = m.ctld() || jobs.isEmpty() || !standsForItsLeader(job, jobs);
            if (allowed && !goesAlong && asked) {
                refs.add(Command.JobRef.found(job, hit.tasks()));
            }
        }
    }

    /**
     * Tests whether an id stands for a heterogeneous job's leader and not for this component, without --ctld. A filter
     * selects a component only by the component's own id.
     */
    private static boolean standsForItsLeader(Job job, List<String> named) {
        return job.isHet()
                && !job.isHetLeader()
                && named.contains(Integer.toString(job.het().jobId()))
                && !named.contains(Integer.toString(job.id()))
                && !named.contains(job.displayId());
    }

    /** Adds an error for each job of the id that a filter excludes, with the first such filter. */
    private void missed(String text, JobMessages.Cancel m, List<JobQuery.Hit> hits) {
        for (Command.JobRef ref : JobName.parse(text, state).map(JobName::refs).orElse(List.of())) {
            for (Job job : namedBy(ref)) {
                if (!job.state().isTerminal()
                        && hits.stream().noneMatch(h -> h.job().id() == job.id())) {
                    String name =
                            job.isArrayRecord() || job.isHetLeader() ? Integer.toString(job.id()) : job.displayId();
                    CancelFilterMismatch.of(job, m, query(m, List.of()))
                            .ifPresent(
                                    why -> errors.add(new JobMessages.JobError(name, 0, why + ": Cannot signal job")));
                }
            }
        }
    }

    private Set<Job> namedBy(Command.JobRef ref) {
        Set<Job> out = new LinkedHashSet<>();
        if (ref.task() >= 0) {
            state.job(ref.jobId(), ref.task()).ifPresent(out::add);
        } else {
            state.jobs().find(ref.jobId()).ifPresent(j -> out.addAll(j.isHetLeader() ? state.members(j) : List.of(j)));
            out.addAll(state.tasksOf(ref.jobId()));
        }
        return out;
    }

    private List<JobQuery.Hit> hits(JobMessages.Cancel m, List<String> jobs) {
        return query(m, jobs).hits();
    }

    private JobQuery query(JobMessages.Cancel m, List<String> jobs) {
        JobMessages.QueryJobs q = new JobMessages.QueryJobs(
                jobs,
                m.userIds(),
                m.accounts(),
                m.partitions(),
                m.qos(),
                m.states(),
                m.names(),
                m.reservations(),
                List.of(),
                m.nodes(),
                false,
                true,
                false,
                false,
                false,
                List.of(),
                false,
                false);
        return new JobQuery(
                state,
                q,
                owned,
                j -> m.wckeys().isEmpty()
                        || m.wckeys().contains(j.desc().charge().wckey()));
    }

    /** Returns the states of a filter; empty where a flag is among them, which a job can have in several states. */
    static Set<JobState> basicStates(List<String> names) {
        Set<JobState> out = EnumSet.noneOf(JobState.class);
        for (String name : names) {
            Optional<JobState> state = Arrays.stream(JobState.values())
                    .filter(s -> s.name().equals(name))
                    .findFirst();
            if (state.isEmpty()) {
                return Set.of();
            }
            out.add(state.get());
        }
        return out;
    }
}
