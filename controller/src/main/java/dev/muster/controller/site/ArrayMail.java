package dev.muster.controller.site;

import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Mails about arrays as a whole that one entry calls for: with the first task's start and requeue and with the last
 * task's end.
 */
final class ArrayMail {
    static final Set<Mail.Event> ABOUT = Set.of(Mail.Event.BEGIN, Mail.Event.END, Mail.Event.FAIL, Mail.Event.REQUEUE);

    private static final int KILLED = 9;

    private final State before;
    private final State after;
    /** Arrays of which mails were sent that they began, were requeued or ended. */
    private final Set<Integer> begun = new HashSet<>();

    private final Set<Integer> requeued = new HashSet<>();
    private final Set<Integer> ended = new HashSet<>();

    ArrayMail(State before, State after) {
        this.before = before;
        this.after = after;
    }

    /** @param job a task of the array, or what has not been split off */
    Optional<Mail> of(Mail.Event event, Job job) {
        boolean ends = event == Mail.Event.END || event == Mail.Event.FAIL;
        if (!event.isWanted(job) && !(ends && (Mail.Event.END.isWanted(job) || Mail.Event.FAIL.isWanted(job)))) {
            // an array may have a hundred thousand tasks, and most want no mail
            return Optional.empty();
        }
        int array = job.array().jobId();
        boolean now = switch (event) {
            case BEGIN ->
                !isAny(before, array, t -> t.restarts() > 0 || t.run().startTime() != 0) && !isPartlyForgotten(array);
            case REQUEUE -> !isAny(before, array, t -> t.restarts() > 0);
            default -> !isAny(after, array, t -> !t.state().isTerminal());
        };
        Set<Integer> reported = switch (event) {
            case BEGIN -> begun;
            case REQUEUE -> requeued;
            default -> ended;
        };
        if (!now || !reported.add(array)) {
            return Optional.empty();
        }
        return switch (event) {
            case BEGIN, REQUEUE ->
                event.isWanted(job) ? Optional.of(mail(event, job, "", new LinkedHashMap<>())) : Optional.empty();
            default -> ended(job, all(after, array));
        };
    }

    /** Tests whether some tasks of the array were purged: then it has begun long ago. */
    private boolean isPartlyForgotten(int array) {
        List<Job> known = all(before, array);
        int tasks = known.stream()
                .mapToInt(t -> t.isArrayRecord() ? t.array().pending().count() : 1)
                .sum();
        return known.stream().anyMatch(t -> tasks < t.array().size());
    }

    /** Tests whether one of {@link #all} passes a test: the array's record comes first. */
    private static boolean isAny(State state, int array, Predicate<Job> test) {
        return state.jobs().find(array).filter(test).isPresent() || state.isAnyTaskOf(array, test);
    }

    /** Returns the tasks with a job of their own, and the record of those that have none. */
    private static List<Job> all(State state, int array) {
        List<Job> tasks = new ArrayList<>(state.tasksOf(array));
        // the last task to be split off keeps the array's own number
        state.jobs()
                .find(array)
                .filter(j -> tasks.stream().noneMatch(t -> t.id() == j.id()))
                .ifPresent(tasks::add);
        return tasks;
    }

    private static Optional<Mail> ended(Job job, List<Job> tasks) {
        int minCode = Integer.MAX_VALUE;
        int maxCode = 0;
        int signal = 0;
        boolean same = true;
        boolean requeued = false;
        for (Job t : tasks) {
            minCode = Math.min(minCode, t.run().exit().code());
            maxCode = Math.max(maxCode, t.run().exit().code());
            signal = Math.max(signal, signal(t));
            same &= t.state() == job.state();
            requeued |= t.restarts() > 0;
        }
        boolean anyFailed = tasks.stream().anyMatch(t -> Mail.ending(t.state()) == Mail.Event.FAIL);
        // mail of a failure names an exit code; with --mail-type=FAIL alone, other failures are reported too
        Mail.Event event = anyFailed && (maxCode > 0 || !Mail.Event.END.isWanted(job)) && Mail.Event.FAIL.isWanted(job)
                ? Mail.Event.FAIL
                : Mail.Event.END;
        Map<String, String> variables = new LinkedHashMap<>();
        if (signal == 0) {
            variables.put("SLURM_JOB_EXIT_CODE_MIN", Integer.toString(minCode));
            variables.put("SLURM_JOB_EXIT_CODE_MAX", Integer.toString(maxCode));
        }
        variables.put("SLURM_JOB_RUN_TIME", Mail.ran(job.run()));
        String how;
        if (signal > 0) {
            how = ", Mixed, " + (maxCode > 0 ? "MaxExitCode [" + maxCode : "MaxSignal [" + signal) + "]";
        } else {
            how = ", " + (same ? job.state().name() : "Mixed") + ", ExitCode [" + minCode + "-" + maxCode + "]";
        }

        if (event.isWanted(job)) {
            return Optional.of(mail(event, job, how + (requeued ? ", with requeued tasks" : ""), variables));
        }
        return Optional.empty();
    }

    /** A task that was cancelled, or ran out of time, counts as one that was killed. */
    private static int signal(Job task) {
        return task.state() == JobState.CANCELLED || task.state() == JobState.TIMEOUT
                ? KILLED
                : task.run().exit().signal();
    }

    private static Mail mail(Mail.Event event, Job job, String rest, Map<String, String> variables) {
        variables.put("SLURM_JOB_MAIL_TYPE", event.text());
        variables.put("SLURM_JOB_STATE", job.state().name());
        int array = job.array().jobId();
        return new Mail(
                job,
                "Slurm Array Summary Job_id=" + array + "_* (" + array + ") Name="
                        + job.desc().name() + " " + event.text() + rest,
                variables);
    }
}
