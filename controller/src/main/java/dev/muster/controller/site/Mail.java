package dev.muster.controller.site;

import dev.muster.core.state.Change;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.format.Durations;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A mail about a job.
 *
 * @param environment what MailProg is told beyond what the programs of slurmctld always are
 */
record Mail(Job job, String subject, Map<String, String> environment) {
    /** An event in Slurm's words, and the word of --mail-type that asks for it. */
    enum Event {
        BEGIN("Began", "BEGIN"),
        END("Ended", "END"),
        FAIL("Failed", "FAIL"),
        REQUEUE("Requeued", "REQUEUE"),
        INVALID_DEPEND("Invalid dependency", "INVALID_DEPEND"),
        TIME_LIMIT("Reached time limit", "TIME_LIMIT"),
        TIME_90("Reached 90% of time limit", "TIME_LIMIT_90"),
        TIME_80("Reached 80% of time limit", "TIME_LIMIT_80"),
        TIME_50("Reached 50% of time limit", "TIME_LIMIT_50");

        private final String text;
        private final String word;

        Event(String text, String word) {
            this.text = text;
            this.word = word;
        }

        String text() {
            return text;
        }

        boolean isWanted(Job job) {
            return wants(job, word);
        }
    }

    static boolean wants(Job job, String word) {
        String types = job.desc().extras().mailType();
        if (types.isEmpty()) {
            return false;
        }
        List<String> words =
                Arrays.asList(types.toUpperCase(java.util.Locale.ROOT).split(","));
        if (words.contains("NONE")) {
            return false;
        }
        boolean inAll =
                List.of("BEGIN", "END", "FAIL", "REQUEUE", "INVALID_DEPEND").contains(word);
        return words.contains(word) || inAll && words.contains("ALL");
    }

    /**
     * Returns the mails that a durable entry calls for: one about an array as a whole comes once, however many of its
     * tasks the entry is about.
     */
    static List<Mail> of(List<Change> changes, State before, State after) {
        ArrayMail arrays = new ArrayMail(before, after);
        List<Mail> out = new ArrayList<>();
        for (Change change : changes) {
            for (Happened what : happened(change, before)) {
                about(what, arrays, after).forEach(out::add);
            }
        }
        return out;
    }

    /** @param jobId the job of the mail */
    private record Happened(Event event, int jobId) {}

    private static List<Happened> happened(Change change, State before) {
        return switch (change) {
            case Change.JobStarted c -> List.of(new Happened(Event.BEGIN, c.jobId()));
            case Change.JobEnded c
            when c.state() == JobState.TIMEOUT ->
                List.of(new Happened(Event.TIME_LIMIT, c.jobId()), new Happened(Event.FAIL, c.jobId()));
            case Change.JobEnded c -> List.of(new Happened(ending(c.state()), c.jobId()));
            case Change.PendingJobEnded c -> List.of(new Happened(ending(c.state()), c.jobId()));
            case Change.JobRequeued c ->
                before.jobs().find(c.jobId()).filter(j -> j.state().isActive()).isPresent()
                        ? List.of(new Happened(Event.REQUEUE, c.jobId()))
                        : List.of();
            case Change.PriorityChanged c
            when c.reason() == JobReason.DEPENDENCY_NEVER_SATISFIED ->
                List.of(new Happened(Event.INVALID_DEPEND, c.jobId()));
            default -> List.of();
        };
    }

    /** A mail of a task of an array is one about the whole, unless ARRAY_TASKS is wanted. */
    private static Stream<Mail> about(Happened what, ArrayMail arrays, State after) {
        Optional<Job> found = after.jobs().find(what.jobId);
        if (found.isEmpty()) {
            return Stream.empty();
        }
        Job job = found.get();
        if (job.array().jobId() != 0 && !wants(job, "ARRAY_TASKS") && ArrayMail.ABOUT.contains(what.event)) {
            return arrays.of(what.event, job).stream();
        }
        // END alone also mails the end of a failed job
        Event event = what.event == Event.FAIL && !Event.FAIL.isWanted(job) ? Event.END : what.event;
        return event.isWanted(job) ? Stream.of(single(event, job, ran(job.run()))) : Stream.empty();
    }

    /** A part of the time limit is reached. */
    static Optional<Mail> ofRunning(Event event, Job job, long ranS) {
        return event.isWanted(job) ? Optional.of(single(event, job, Durations.full(ranS))) : Optional.empty();
    }

    static Event ending(JobState state) {
        return switch (state) {
            case COMPLETED, CANCELLED, PENDING, RUNNING, SUSPENDED -> Event.END;
            case FAILED, TIMEOUT, NODE_FAIL, PREEMPTED, BOOT_FAIL, DEADLINE, OUT_OF_MEMORY -> Event.FAIL;
        };
    }

    private static Mail single(Event event, Job job, String ran) {
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("SLURM_JOB_MAIL_TYPE", event.text);
        variables.put("SLURM_JOB_STATE", job.state().name());
        String number = job.isArrayTask()
                ? "Array Task Job_id=" + job.array().jobId() + "_" + job.array().task() + " (" + job.id() + ")"
                : "Job_id=" + job.id();
        return new Mail(
                job,
                "Slurm " + number + " Name=" + job.desc().name() + " " + event.text
                        + details(event, job, ran, variables),
                variables);
    }

    private static String details(Event event, Job job, String ran, Map<String, String> variables) {
        Job.Run run = job.run();
        return switch (event) {
            case BEGIN -> {
                String queued = Durations.full(Math.max(0, run.startTime() - job.submitTime()));
                variables.put("SLURM_JOB_QUEUED_TIME", queued);
                yield ", Queued time " + queued;
            }
            case END, FAIL -> {
                variables.put("SLURM_JOB_RUN_TIME", ran);
                variables.put(
                        "SLURM_JOB_EXIT_CODE_MAX", Integer.toString(run.exit().code()));
                yield ", Run time " + ran + ", " + job.state().name()
                        + (run.exit().signal() == 0 || job.state() == JobState.TIMEOUT
                                ? ", ExitCode " + run.exit().code()
                                : "");
            }
            case REQUEUE, TIME_LIMIT, TIME_90, TIME_80, TIME_50 -> {
                variables.put("SLURM_JOB_RUN_TIME", ran);
                yield ", Run time " + ran;
            }
            case INVALID_DEPEND -> "";
        };
    }

    static String ran(Job.Run run) {
        long end = run.endTime() > 0 ? run.endTime() : run.startTime();
        return Durations.full(run.startTime() == 0 ? 0 : Math.max(0, end - run.startTime()));
    }
}
