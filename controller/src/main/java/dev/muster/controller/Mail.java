package dev.muster.controller;

import dev.muster.core.Change;
import dev.muster.core.Job;
import dev.muster.core.State;
import dev.muster.model.Durations;
import dev.muster.model.JobReason;
import dev.muster.model.JobState;
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
    /** What happened, in Slurm's words, and the word of --mail-type that asks for it. */
    enum Event {
        BEGIN("Began", "BEGIN"), END("Ended", "END"), FAIL("Failed", "FAIL"), REQUEUE("Requeued", "REQUEUE"),
        INVALID_DEPEND("Invalid dependency", "INVALID_DEPEND"), TIME_LIMIT("Reached time limit", "TIME_LIMIT"),
        TIME_90("Reached 90% of time limit", "TIME_LIMIT_90"), TIME_80("Reached 80% of time limit", "TIME_LIMIT_80"),
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
        List<String> words = Arrays.asList(types.toUpperCase(java.util.Locale.ROOT).split(","));
        boolean inAll = List.of("BEGIN", "END", "FAIL", "REQUEUE", "INVALID_DEPEND").contains(word);
        return words.contains(word) || inAll && words.contains("ALL");
    }

    /** The mails that a durable record calls for. */
    static List<Mail> of(Change change, State before, State after) {
        return switch (change) {
            case Change.JobStarted c -> about(Event.BEGIN, c.jobId(), after);
            case Change.JobEnded c when c.state() == JobState.TIMEOUT -> Stream.concat(
                    about(Event.TIME_LIMIT, c.jobId(), after).stream(), about(Event.FAIL, c.jobId(), after).stream()).toList();
            case Change.JobEnded c -> about(ending(c.state()), c.jobId(), after);
            case Change.PendingJobEnded c -> about(ending(c.state()), c.jobId(), after);
            case Change.JobRequeued c -> before.jobs().find(c.jobId()).filter(j -> j.state().isActive()).isPresent()
                    ? about(Event.REQUEUE, c.jobId(), after) : List.of();
            case Change.PriorityChanged c when c.reason() == JobReason.DEPENDENCY_NEVER_SATISFIED ->
                    about(Event.INVALID_DEPEND, c.jobId(), after);
            default -> List.of();
        };
    }

    private static List<Mail> about(Event event, int jobId, State after) {
        return after.jobs().find(jobId).flatMap(j -> of(event, j, after)).stream().toList();
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

    /** A mail of a task of an array is one about the whole, unless ARRAY_TASKS is wanted. */
    static Optional<Mail> of(Event event, Job job, State state) {
        if (!event.isWanted(job)) {
            return Optional.empty();
        }
        boolean wholeArray = job.array().jobId() != 0 && !wants(job, "ARRAY_TASKS");
        return wholeArray && (event == Event.BEGIN || event == Event.END || event == Event.FAIL)
                ? MailOfArray.of(event, job, state) : Optional.of(single(event, job, ran(job.run())));
    }

    private static Mail single(Event event, Job job, String ran) {
        Map<String, String> told = new LinkedHashMap<>();
        told.put("SLURM_JOB_MAIL_TYPE", event.text);
        told.put("SLURM_JOB_STATE", job.state().name());
        String number = job.isArrayTask() ? "Array Task Job_id=" + job.array().jobId() + "_" + job.array().task() + " (" + job.id() + ")"
                : "Job_id=" + job.id();
        return new Mail(job, "Slurm " + number + " Name=" + job.desc().name() + " " + event.text + details(event, job, ran, told), told);
    }

    private static String details(Event event, Job job, String ran, Map<String, String> told) {
        Job.Run run = job.run();
        return switch (event) {
            case BEGIN -> {
                String queued = Durations.full(Math.max(0, run.startTime() - job.submitTime()));
                told.put("SLURM_JOB_QUEUED_TIME", queued);
                yield ", Queued time " + queued;
            }
            case END, FAIL -> {
                told.put("SLURM_JOB_RUN_TIME", ran);
                told.put("SLURM_JOB_EXIT_CODE_MAX", Integer.toString(run.exit().code()));
                yield ", Run time " + ran + ", " + job.state().name() + (run.exit().signal() == 0 || job.state() == JobState.TIMEOUT
                        ? ", ExitCode " + run.exit().code() : "");
            }
            case REQUEUE, TIME_LIMIT, TIME_90, TIME_80, TIME_50 -> {
                told.put("SLURM_JOB_RUN_TIME", ran);
                yield ", Run time " + ran;
            }
            case INVALID_DEPEND -> "";
        };
    }

    private static String ran(Job.Run run) {
        long end = run.endTime() > 0 ? run.endTime() : run.startTime();
        return Durations.full(run.startTime() == 0 ? 0 : Math.max(0, end - run.startTime()));
    }
}
