package dev.muster.controller.accounting;

import dev.muster.core.limits.Priorities;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * Reasons why jobs waited, for their rows: the last reason but their turn and what is free, which stays when they run
 * and when they are over. A reason that a pass told a job is in no record; it is looked up when the job's row is made,
 * and now and then for all that wait. After a restart it is the one that the tables have.
 */
public final class WaitReasons {
    /** Number of jobs above which a look does not visit all of them. */
    private static final int LOOK_MAX = 50_000;
    /** Number of jobs up to which a look visits all of them for each batch of rows, at most every {@link #OFTEN_MS}. */
    private static final int OFTEN_MAX = 10_000;

    private static final long OFTEN_MS = 2_000;

    /** Results of the last pass by number of the job: why it waits, and its computed priority if it has one. */
    public record Queue(IntFunction<JobReason> reason, IntFunction<OptionalLong> priority) {}

    /** One attempt of a job. */
    private record Key(long sluid, int restarts) {
        static Key of(Job job) {
            return new Key(job.rowSluid(), job.restarts());
        }
    }

    private final Map<Key, JobReason> last = new ConcurrentHashMap<>();
    private final Function<Job, Optional<JobRow>> tables;
    private volatile Queue queue = new Queue(_ -> JobReason.NONE, _ -> OptionalLong.empty());
    /** Jobs from before are those of which the tables may know more, seconds since 1970. */
    private final long since = System.currentTimeMillis() / 1000;

    private Optional<Priorities> priorities = Optional.empty();
    private long prioritiesOf;
    private long lookedMs = System.nanoTime() / 1_000_000;

    /** @param tables the row that is there of a job */
    WaitReasons(Function<Job, Optional<JobRow>> tables) {
        this.tables = tables;
    }

    void queue(Queue known) {
        queue = known;
    }

    private static boolean isKept(JobReason reason) {
        return reason != JobReason.NONE && reason != JobReason.PRIORITY && reason != JobReason.RESOURCES;
    }

    /** Notes the reason of a job that waits, just before an entry that changes it. */
    void leaves(Job before) {
        JobReason reason = before.reason() == JobReason.NONE ? JobReason.NONE : now(before);
        if (before.state() == JobState.PENDING && isKept(reason)) {
            last.put(Key.of(before), reason);
        }
    }

    /** Reads the stored reason of a job that may have got its row before this start of slurmctld. */
    private void recallStored(Job job) {
        if (job.submitTime() < since && !last.containsKey(Key.of(job))) {
            last.put(
                    Key.of(job),
                    tables.apply(job).flatMap(r -> word(r.reason())).orElse(JobReason.NONE));
        }
    }

    /** Hands the array's reason to a task that leaves its record: it waited for what that did. */
    void splits(Job array, Job task) {
        JobReason reason = last.getOrDefault(Key.of(array), JobReason.NONE);
        if (isKept(reason)) {
            last.putIfAbsent(Key.of(task), reason);
        }
    }

    private static Optional<JobReason> word(String reason) {
        for (JobReason r : JobReason.values()) {
            if (isKept(r) && r.word().equals(reason)) {
                return Optional.of(r);
            }
        }
        return Optional.empty();
    }

    /** Forgets all attempts of a job. */
    void forget(Job job) {
        for (int attempt = 0; attempt <= job.restarts(); attempt++) {
            last.remove(new Key(job.rowSluid(), attempt));
        }
    }

    private JobReason now(Job job) {
        if (job.reason() == JobReason.NONE) {
            return queue.reason.apply(job.id());
        }
        if (job.reason().isRequeuedHeld()) {
            return JobReason.JOB_HELD_USER;
        }
        return job.reason();
    }

    /**
     * Returns the job's row with why it waited, and with the priority that it has in the queue.
     *
     * @param looksUp the tables may be read: the caller is the thread that writes them, for which no other thread waits
     */
    JobRow of(State state, Job job, JobRow row, boolean looksUp) {
        if (looksUp) {
            recallStored(job);
        }
        if (job.state() == JobState.PENDING) {
            JobReason reason = now(job);
            if (isKept(reason)) {
                last.put(Key.of(job), reason);
            }
            return row.waited(last.getOrDefault(Key.of(job), JobReason.NONE).word(), priority(state, job));
        }
        if (job.run().startTime() == 0 && job.restarts() == 0) {
            // a job that never began has waited for nothing
            return row.waited(JobReason.NONE.word(), priority(state, job));
        }
        // that it is over says the row's state: in place of how it ended stands why it waited
        JobReason waited = last.getOrDefault(Key.of(job), JobReason.NONE);
        long priority = job.run().startTime() == 0 ? priority(state, job) : row.priority();
        return waited == JobReason.NONE ? row.waited(row.reason(), priority) : row.waited(waited.word(), priority);
    }

    /** Returns the priority of a job that has not begun. */
    private long priority(State state, Job job) {
        if (job.isHeld() || Priorities.isFixed(job) || !Priorities.isActive(state.settings())) {
            return job.priority();
        }
        return queue.priority.apply(job.id()).orElseGet(() -> computed(state, job));
    }

    /**
     * Returns the priority of a job outside the queue, which waits for a dependency or a time; computed with factors
     * that are at most a second old.
     */
    private synchronized long computed(State state, Job job) {
        long now = System.currentTimeMillis() / 1000;
        if (priorities.isEmpty() || prioritiesOf != now) {
            priorities = Optional.of(new Priorities(state, now));
            prioritiesOf = now;
        }
        return priorities.get().of(job);
    }

    private synchronized boolean beginLook(State state) {
        long now = System.nanoTime() / 1_000_000;
        if (state.jobs().size() > OFTEN_MAX || now - lookedMs < OFTEN_MS) {
            return false;
        }
        lookedMs = now;
        return true;
    }

    /**
     * Returns the jobs that wait for another reason than their rows have.
     *
     * @param isTime whether it is time to look, as it is now and then
     */
    List<Job> changed(State state, boolean isTime) {
        List<Job> out = new ArrayList<>();
        if (state.jobs().size() > LOOK_MAX || !isTime && !beginLook(state)) {
            return out;
        }
        for (Job job : state.jobs().values()) {
            if (job.state() == JobState.PENDING) {
                JobReason reason = now(job);
                if (isKept(reason) && reason != last.get(Key.of(job))) {
                    out.add(job);
                }
            }
        }
        return out;
    }
}
