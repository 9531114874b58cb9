package dev.muster.core.job;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.api.JobMessages.JobError;
import dev.muster.model.format.IndexSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Collects the outcomes of a request for several tasks of an array: tasks with the same outcome are reported together,
 * in order.
 */
public final class TaskOutcomes {
    private static final String DONE = "No error";

    private final int arrayJobId;
    private final Map<JobError, IndexSet> tasks = new LinkedHashMap<>();

    public TaskOutcomes(int arrayJobId) {
        this.arrayJobId = arrayJobId;
    }

    /** @param refused empty where it was done */
    public void put(IndexSet of, Optional<Decision.Rejected> refused) {
        put(
                of,
                refused.map(r -> new JobError("", r.errno().number(), r.sentence()))
                        .orElse(done("")));
    }

    /** @param outcome without the job's name */
    public void put(IndexSet of, JobError outcome) {
        tasks.merge(outcome, of, IndexSet::union);
    }

    /** @param lines lines of job_submit.lua */
    public static JobError done(String lines) {
        return new JobError("", 0, DONE, lines);
    }

    /** Returns the tasks of an array in the state, pending or not. */
    public static IndexSet ofArray(State state, int arrayJobId) {
        IndexSet waiting = state.jobs().find(arrayJobId).map(TaskOutcomes::of).orElse(IndexSet.empty());
        return state.tasksOf(arrayJobId).stream().map(TaskOutcomes::of).reduce(waiting, IndexSet::union);
    }

    /** Returns the tasks that a job of an array stands for. */
    static IndexSet of(Job job) {
        if (job.isArrayRecord()) {
            return job.array().pending();
        }
        if (job.isArrayTask()) {
            return IndexSet.of(job.array().task());
        }
        return IndexSet.empty();
    }

    /** Returns the outcomes as {@code 7_1-3}; none for tasks without an error and without lines of job_submit.lua. */
    public List<JobError> told() {
        if (tasks.keySet().stream().allMatch(e -> e.errno() == 0 && e.said().isEmpty())) {
            return List.of();
        }
        return tasks.entrySet().stream()
                .sorted(Comparator.comparingInt(e -> e.getValue().first()))
                .map(e -> new JobError(
                        arrayJobId + "_" + e.getValue().compact(),
                        e.getKey().errno(),
                        e.getKey().error(),
                        e.getKey().said()))
                .toList();
    }
}
