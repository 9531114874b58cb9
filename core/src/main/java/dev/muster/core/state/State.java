package dev.muster.core.state;

import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Everything the controller knows, as one immutable value. It changes by {@link #apply} alone.
 *
 * @param tickMs cluster time of the last entry
 * @param nextJobId next number to give out, below jobIdCeiling
 * @param ended numbers of jobs in a terminal state by end time, for purging: key endTime * 2^32 + id
 * @param children array number * 2^32 + id of a task split off → its index
 * @param blobs hash → how many jobs and steps refer to it
 * @param accounts associations, QOS and users as slurmdbd last said
 * @param reservations by name
 * @param preempted jobs that had to give way, by number
 * @param triggers of strigger
 * @param crontabs of scrontab, by the user's number
 * @param buffers burst buffers, and their pools
 * @param shares usage by association and QOS
 */
public record State(
        long tickMs,
        Settings settings,
        int nextJobId,
        int jobIdCeiling,
        long nextSluid,
        long sluidCeiling,
        Table<Integer, Job> jobs,
        Table<String, Node> nodes,
        Table<String, Partition> partitions,
        Table<String, AnsweredRequest> answers,
        Table<Long, Integer> ended,
        Table<Long, Integer> children,
        Table<String, Integer> blobs,
        Accounts accounts,
        Table<String, Reservation> reservations,
        Shares shares,
        Table<Integer, Preemption> preempted,
        Trigger.All triggers,
        Table<Integer, Crontab> crontabs,
        BurstBuffer.All buffers) {

    public static final State EMPTY = new State(
            0,
            Settings.DEFAULT,
            1,
            1,
            1,
            1,
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Accounts.NONE,
            Table.empty(),
            Shares.NONE,
            Table.empty(),
            Trigger.All.NONE,
            Table.empty(),
            BurstBuffer.All.NONE);

    /** Tests whether memory is allocated somewhere. */
    public boolean memoryConsumed() {
        return settings.memoryConsumed() || partitions.values().stream().anyMatch(p -> p.consumesMemory(settings));
    }

    /** Tests whether memory is allocated in the first of the job's partitions. */
    public boolean memoryConsumed(JobDesc desc) {
        return partitions
                .find(desc.firstPartition())
                .map(p -> p.consumesMemory(settings))
                .orElse(memoryConsumed());
    }

    public State apply(Entry entry) {
        StateDraft draft = new StateDraft(this, entry.tickMs());
        for (Change change : entry.changes()) {
            draft.apply(change, entry);
        }
        return draft.state();
    }

    /** Returns the state that a snapshot's items make, in their order. */
    public static State restored(Iterable<Change> items) {
        Restoration all = new Restoration();
        items.forEach(all::add);
        return all.state();
    }

    /**
     * A state from a snapshot's items, taken as they come: as if they were applied one by one, but long tables are
     * built at once.
     */
    public static final class Restoration {
        private static final Entry SNAPSHOT = new Entry(0, 0, -1, "Snapshot", List.of());
        private final StateDraft draft = new StateDraft(EMPTY, 0);
        private final TreeMap<String, AnsweredRequest> answers = new TreeMap<>();
        private StateDraft.RestoredJobs jobs = new StateDraft.RestoredJobs();

        /** Adds the next item. */
        public void add(Change item) {
            switch (item) {
                case Change.JobRestored c -> jobs.add(c.job());
                case Change.AnswerRestored c -> answers.put(c.requestId(), c.answer());
                default -> {
                    take();
                    draft.apply(item, SNAPSHOT);
                }
            }
        }

        private void take() {
            draft.restored(jobs);
            jobs = new StateDraft.RestoredJobs();
        }

        public State state() {
            take();
            draft.restored(Table.of(answers));
            return draft.state();
        }
    }

    /** Returns the jobs that were split off an array, by number. */
    public List<Job> tasksOf(int arrayJobId) {
        List<Job> tasks = new ArrayList<>();
        for (Map.Entry<Long, Integer> child : children.from((long) arrayJobId << 32)) {
            if (child.getKey() >>> 32 != arrayJobId) {
                break;
            }
            tasks.add(jobs.at((int) (long) child.getKey()));
        }
        return tasks;
    }

    /** Tests whether the test holds for one of {@link #tasksOf}: they are looked at only until it does. */
    public boolean isAnyTaskOf(int arrayJobId, Predicate<Job> test) {
        for (Map.Entry<Long, Integer> child : children.from((long) arrayJobId << 32)) {
            if (child.getKey() >>> 32 != arrayJobId) {
                return false;
            }
            if (test.test(jobs.at((int) (long) child.getKey()))) {
                return true;
            }
        }
        return false;
    }

    /** All components of the job, by offset; a job of none alone. Those that are forgotten are left out. */
    public List<Job> members(Job job) {
        if (!job.isHet()) {
            return List.of(job);
        }
        List<Job> out = new ArrayList<>();
        job.het()
                .members()
                .forEach(id -> jobs.find(id)
                        .filter(j -> j.het().jobId() == job.het().jobId())
                        .ifPresent(out::add));
        return out;
    }

    /**
     * Returns the job, pending record or task that a user's {@code 12} or {@code 12_3} names (task -1: no task named).
     */
    public Optional<Job> job(int id, int task) {
        Optional<Job> own = jobs.find(id);
        if (task < 0) {
            return own;
        }
        for (Map.Entry<Long, Integer> child : children.from((long) id << 32)) {
            if (child.getKey() >>> 32 != id) {
                break;
            }
            if (child.getValue() == task) {
                return jobs.find((int) (long) child.getKey());
            }
        }
        return own.filter(j -> j.array().jobId() == id
                && (j.array().task() == task || j.array().pending().contains(task)));
    }

    /** Writes the records that rebuild this state, in order. */
    public void snapshot(Consumer<Change> out) {
        out.accept(new Change.ClusterRestored("", tickMs, settings, nextJobId, jobIdCeiling, nextSluid, sluidCeiling));
        accounts.snapshot().ifPresent(out);
        nodes.values().forEach(n -> out.accept(new Change.NodeRestored(n)));
        partitions.values().forEach(p -> out.accept(new Change.PartitionRestored(p)));
        shares.snapshot().ifPresent(out);
        reservations.values().forEach(r -> out.accept(new Change.ReservationChanged(r)));
        if (triggers.lastId() > 0) {
            // says no more than that the number has been given
            out.accept(new Change.TriggerCleared(triggers.lastId()));
        }
        triggers.byId().values().forEach(t -> out.accept(new Change.TriggerSet(t)));
        if (buffers.pools().size() > 0) {
            out.accept(new Change.PoolsChanged(List.copyOf(buffers.pools().values())));
        }
        jobs.values().forEach(j -> out.accept(new Change.JobRestored(j)));
        buffers.byJob().values().forEach(b -> out.accept(new Change.BufferChanged(b)));
        crontabs.values().forEach(t -> out.accept(new Change.CrontabChanged(t)));
        preempted
                .values()
                .forEach(p -> out.accept(new Change.JobPreempted(p.jobId(), p.time(), p.mode(), p.endTick())));
        answers.entries().forEach(a -> out.accept(new Change.AnswerRestored(a.getKey(), a.getValue())));
    }

    static long childKey(Job task) {
        return (long) task.array().jobId() << 32 | task.id();
    }

    static long endedKey(Job job) {
        return job.run().endTime() << 32 | job.id() & 0xffffffffL;
    }
}
