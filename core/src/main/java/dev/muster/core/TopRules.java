package dev.muster.core;

import dev.muster.model.Codec;
import dev.muster.model.JobDesc;
import dev.muster.model.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.api.JobMessages.JobError;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * {@code scontrol top}: jobs go before all others of the same user, partition, account and QOS. Priorities are exchanged among these, by
 * their nice values, so that nobody else's jobs are touched.
 */
final class TopRules {
    /** An option: users may do this with their own jobs. */
    private static final String USERS_MAY = "enable_user_top";

    private TopRules() {}

    static Decision top(State state, Command.TopJobs c) {
        List<Change> changes = new ArrayList<>();
        List<String> done = new ArrayList<>();
        List<JobError> errors = new ArrayList<>();
        List<Job> wanted = new ArrayList<>();
        for (Command.JobRef ref : c.jobs()) {
            Optional<Job> job = state.job(ref.jobId(), ref.task());
            boolean some = Access.isOperator(state, c.uid()) || state.settings().options().containsKey(USERS_MAY);
            boolean may = some && job.filter(j -> Access.mayChange(state, c.uid(), j)).isPresent();
            Optional<SlurmErrno> errno = some && job.isEmpty() ? Optional.of(SlurmErrno.INVALID_JOB_ID)
                    : !may ? Optional.of(SlurmErrno.ACCESS_DENIED)
                    : !job.get().isPending() ? Optional.of(SlurmErrno.JOB_NOT_PENDING)
                    : job.get().isHeld() ? Optional.of(SlurmErrno.JOB_HELD) : Optional.empty();
            if (errno.isPresent()) {
                errors.add(new JobError(ref.text(), errno.get().number(), errno.get().sentence()));
            } else {
                wanted.add(job.get());
                done.add(ref.text());
            }
        }
        if (!wanted.isEmpty()) {
            exchange(state, wanted, changes);
        }
        return Decision.of(changes, new CancelReply(done, errors));
    }

    /** Those that are not of the first one's kind stay where they are. */
    private static void exchange(State state, List<Job> wanted, List<Change> changes) {
        List<Job> before = new ArrayList<>(state.jobs().values().stream()
                .filter(j -> j.isPending() && !j.isHeld() && isAlike(j.desc(), wanted.getFirst().desc())).toList());
        before.sort(Comparator.comparingLong(Job::priority).reversed().thenComparingInt(Job::id));
        List<Job> after = new ArrayList<>(wanted.stream().filter(before::contains).distinct().toList());
        before.stream().filter(j -> !after.contains(j)).forEach(after::add);
        for (int i = 0; i < after.size(); i++) {
            Job job = after.get(i);
            long priority = before.get(i).priority();
            if (priority != job.priority()) {
                Json.Obj desc = Json.object(Codec.encode(job.desc()));
                UpdateRules.put(desc, "timing.nice", job.desc().timing().nice() + job.priority() - priority);
                changes.add(new Change.DescriptionChanged(job.id(), Codec.bind(desc, JobDesc.class)));
                changes.add(new Change.PriorityChanged(job.id(), priority, job.holdUid(), job.reason(), job.reasonText()));
            }
        }
    }

    private static boolean isAlike(JobDesc a, JobDesc b) {
        return a.owner().uid() == b.owner().uid() && a.partition().equals(b.partition())
                && a.charge().account().equals(b.charge().account()) && a.charge().qos().equals(b.charge().qos());
    }
}
