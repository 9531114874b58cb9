package dev.muster.core.job;

import static java.util.Objects.requireNonNull;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.limits.Priorities;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.api.JobMessages.JobError;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * {@code scontrol top}: moves jobs before all others of the same user, partition, account and QOS. The rule exchanges
 * priorities among these jobs by their nice values, so that no other job changes.
 */
public final class JobTopRules {
    private JobTopRules() {}

    public static Decision top(State state, Command.TopJobs c, DecisionTime now) {
        List<Change> changes = new ArrayList<>();
        List<String> done = new ArrayList<>();
        List<JobError> errors = new ArrayList<>();
        List<Job> wanted = new ArrayList<>();
        for (Command.JobRef ref : c.jobs()) {
            Optional<Job> job = state.job(ref.jobId(), ref.task());
            boolean some = Access.isOperator(state, c.uid())
                    || state.settings().options().users().top();
            boolean may =
                    some && job.filter(j -> Access.mayChange(state, c.uid(), j)).isPresent();
            Optional<SlurmErrno> errno;
            if (some && job.isEmpty()) {
                errno = Optional.of(SlurmErrno.INVALID_JOB_ID);
            } else if (!may) {
                errno = Optional.of(SlurmErrno.ACCESS_DENIED);
            } else if (!job.get().isPending()) {
                errno = Optional.of(SlurmErrno.JOB_NOT_PENDING);
            } else if (job.get().isHeld()) {
                errno = Optional.of(SlurmErrno.JOB_HELD);
            } else if (job.get().desc().partition().indexOf(',') >= 0) {
                errno = Optional.of(SlurmErrno.REQUESTED_PART_CONFIG_UNAVAILABLE);
            } else {
                errno = Optional.empty();
            }

            if (errno.isPresent()) {
                errors.add(new JobError(
                        ref.text(), errno.get().number(), errno.get().sentence()));
            } else {
                wanted.add(job.get());
                done.add(ref.text());
            }
        }
        if (!wanted.isEmpty()) {
            exchange(state, wanted, new Priorities(state, now.seconds()), changes);
        }
        return Decision.of(changes, new CancelReply(done, errors));
    }

    /**
     * Exchanges priorities among the jobs of the first one's kind; others keep theirs. Among equal priorities the lower
     * job number comes first, so a job that is to follow another gets a priority one lower.
     */
    private static void exchange(State state, List<Job> wanted, Priorities priorities, List<Change> changes) {
        List<Job> before = new ArrayList<>(state.jobs().values().stream()
                .filter(j -> j.isPending()
                        && !j.isHeld()
                        && isAlike(j.desc(), wanted.getFirst().desc()))
                .toList());
        Map<Integer, Long> had = new HashMap<>();
        before.forEach(j -> had.put(j.id(), priorities.of(j)));
        ToLongFunction<Job> priority = j -> requireNonNull(had.get(j.id()), "each job of the list has a priority");
        before.sort(Comparator.comparingLong(priority).reversed().thenComparingInt(Job::id));
        List<Job> after = new ArrayList<>(
                wanted.stream().filter(before::contains).distinct().toList());
        before.stream().filter(j -> !after.contains(j)).forEach(after::add);
        long last = Long.MAX_VALUE;
        for (int i = 0; i < after.size(); i++) {
            Job job = after.get(i);
            boolean lower = i > 0 && job.id() < after.get(i - 1).id();
            last = Math.max(1, Math.min(priority.applyAsLong(before.get(i)), lower ? last - 1 : last));
            long less = priority.applyAsLong(job) - last;
            if (less != 0) {
                JobDesc.Timing timing = job.desc().timing();
                changes.add(new Change.DescriptionChanged(
                        job.id(),
                        job.desc()
                                .withTiming(timing.withNice(
                                        Math.clamp(timing.nice() + less, Integer.MIN_VALUE, Integer.MAX_VALUE)))));
                changes.add(new Change.PriorityChanged(
                        job.id(), Math.max(1, job.priority() - less), job.holdUid(), job.reason(), job.reasonText()));
            }
        }
    }

    private static boolean isAlike(JobDesc a, JobDesc b) {
        return a.owner().uid() == b.owner().uid()
                && a.partition().equals(b.partition())
                && a.charge().account().equals(b.charge().account())
                && a.charge().qos().equals(b.charge().qos());
    }
}
