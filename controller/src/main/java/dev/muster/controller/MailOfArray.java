package dev.muster.controller;

import dev.muster.core.Job;
import dev.muster.core.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Mails about an array as a whole: with its first task's start and its last task's end. */
final class MailOfArray {
    private MailOfArray() {}

    static Optional<Mail> of(Mail.Event event, Job job, State state) {
        List<Job> tasks = new ArrayList<>(state.tasksOf(job.array().jobId()));
        // the last task to be split off keeps the array's own number
        state.jobs().find(job.array().jobId()).filter(j -> j.isArrayTask() && tasks.stream().noneMatch(t -> t.id() == j.id())).ifPresent(tasks::add);
        return event == Mail.Event.BEGIN ? began(job, tasks) : ended(job, tasks, state);
    }

    private static Optional<Mail> began(Job job, List<Job> tasks) {
        boolean first = job.restarts() == 0 && tasks.stream().allMatch(t -> t.id() == job.id() || t.run().startTime() == 0);
        return first ? Optional.of(mail(Mail.Event.BEGIN, job, "", new LinkedHashMap<>())) : Optional.empty();
    }

    private static Optional<Mail> ended(Job job, List<Job> tasks, State state) {
        boolean waiting = state.jobs().find(job.array().jobId()).filter(Job::isArrayRecord).isPresent();
        if (waiting || tasks.stream().anyMatch(t -> !t.state().isTerminal())) {
            return Optional.empty();
        }
        int least = Integer.MAX_VALUE;
        int most = 0;
        boolean failed = false;
        boolean same = true;
        for (Job t : tasks) {
            least = Math.min(least, t.run().exit().code());
            most = Math.max(most, t.run().exit().code());
            failed |= Mail.ending(t.state()) == Mail.Event.FAIL;
            same &= t.state() == job.state();
        }
        Mail.Event event = failed ? Mail.Event.FAIL : Mail.Event.END;
        Map<String, String> told = new LinkedHashMap<>();
        told.put("SLURM_JOB_EXIT_CODE_MIN", Integer.toString(least));
        told.put("SLURM_JOB_EXIT_CODE_MAX", Integer.toString(most));
        return event.isWanted(job) ? Optional.of(mail(event, job,
                ", " + (same ? job.state().name() : "Mixed") + ", ExitCode [" + least + "-" + most + "]", told)) : Optional.empty();
    }

    private static Mail mail(Mail.Event event, Job job, String rest, Map<String, String> told) {
        told.put("SLURM_JOB_MAIL_TYPE", event.text());
        told.put("SLURM_JOB_STATE", job.state().name());
        int array = job.array().jobId();
        return new Mail(job, "Slurm Array Summary Job_id=" + array + "_* (" + array + ") Name=" + job.desc().name() + " " + event.text() + rest,
                told);
    }
}
