package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A job as people name it: {@code 12}, {@code 12_3}, {@code 12_[3-5]}, {@code 12+1}, {@code 12.0}, {@code 12_3.batch},
 * {@code s000000000001V}.
 *
 * @param tasks of the array; empty for the whole of it
 * @param offset of one component of a heterogeneous job, -1 if none is named
 * @param whole {@code yes}, {@code no} or "", as in the query
 * @param sluid that names one attempt at one size, -1 if none is named
 * @param step name of a step; empty for the job and all its steps
 */
record JobSelector(int jobId, Optional<IndexSet> tasks, int offset, String whole, String step, long sluid) {
    /** Selectors of the valid words; an invalid word selects nothing. */
    static List<JobSelector> all(List<String> words, String whole) {
        List<JobSelector> found = new ArrayList<>();
        for (String word : words) {
            found.add(of(word, whole).orElse(new JobSelector(-1, Optional.empty(), -1, whole, "", -1)));
        }
        return List.copyOf(found);
    }

    static Optional<JobSelector> of(String word, String whole) {
        int dot = word.indexOf('.');
        String step = dot < 0 ? "" : word.substring(dot + 1);
        String job = dot < 0 ? word : word.substring(0, dot);
        OptionalLong number = Sluid.parse(job);
        if (number.isPresent()) {
            return Optional.of(new JobSelector(-1, Optional.empty(), -1, whole, step, number.getAsLong()));
        }
        int plus = job.indexOf('+');
        int offset = -1;
        if (plus >= 0) {
            String component = job.substring(plus + 1);
            if (component.isEmpty()
                    || component.length() > 9
                    || !component.chars().allMatch(c -> c >= '0' && c <= '9')) {
                return Optional.empty();
            }
            offset = Integer.parseInt(component);
            job = job.substring(0, plus);
        }
        int underscore = job.indexOf('_');
        String id = underscore < 0 ? job : job.substring(0, underscore);
        if (id.isEmpty() || id.length() > 9 || !id.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return Optional.empty();
        }
        if (underscore < 0) {
            return Optional.of(new JobSelector(Integer.parseInt(id), Optional.empty(), offset, whole, step, -1));
        }
        return indexes(job.substring(underscore + 1))
                .map(set -> new JobSelector(Integer.parseInt(id), Optional.of(set), -1, whole, step, -1));
    }

    private static Optional<IndexSet> indexes(String text) {
        return IndexSet.parseSpec(text, IndexSet.MAX_INDEX).stream().findFirst().map(IndexSet.Spec::indexes);
    }

    boolean matches(JobRow job) {
        if (sluid >= 0) {
            return Sluid.shown(job.sluid(), job.restarts()) == sluid;
        }
        if (job.hetJobId() > 0) {
            boolean named = offset >= 0 ? job.hetJobId() == jobId && job.hetOffset() == offset : job.jobId() == jobId;
            // with yes, the query has already found whole jobs only
            return named || whole.equals("yes") || whole.isEmpty() && offset < 0 && job.hetJobId() == jobId;
        }
        if (offset >= 0) {
            return false;
        }
        if (job.jobId() != jobId && job.arrayJobId() != jobId) {
            return false;
        }
        if (tasks.isEmpty()) {
            return true;
        }
        if (job.arrayTaskId() >= 0) {
            return tasks.get().contains(job.arrayTaskId());
        }
        // The record of the pending tasks stands for each of them.
        return job.arrayJobId() == jobId
                && indexes(job.arrayTasks())
                        .filter(pending -> !pending.intersect(tasks.get()).isEmpty())
                        .isPresent();
    }

    boolean matches(JobRow job, StepRow row) {
        return matches(job) && (step.isEmpty() || meansStep(row.stepId()));
    }

    boolean matches(JobRow job, List<StepRow> steps) {
        return matches(job) && (step.isEmpty() || steps.stream().anyMatch(s -> matches(job, s)));
    }

    private boolean meansStep(int stepId) {
        OptionalInt named = StepId.parse(step);
        return named.isPresent() && StepId.means(named.getAsInt(), stepId);
    }
}
