package dev.muster.controller.view;

import dev.muster.accounting.table.AccountingStore;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.TresCounts;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.tres.TrackedTypes;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.AccountingRows.Usage;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.ResourceRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Jobs and steps as the accounting keeps them. */
public final class JobRows {
    public static final String REQUEUED = "REQUEUED";
    public static final String RESIZING = AccountingStore.RESIZING;
    private static final String BY = "by ";
    private static final int SIGTERM = 15;

    private JobRows() {}

    /**
     * The outcome of an attempt that a requeue leaves.
     *
     * @param failedNode node that failed and so ended the job, "" for none
     * @param exit that sent it back, if so
     */
    public record Left(String state, long endTime, String failedNode, ExitStatus exit) {
        /**
         * Returns what a requeue leaves of an attempt; empty for one that had ended: its row stays as it is, also where
         * a user asks for another attempt.
         */
        public static Optional<Left> by(Entry entry, Job job, Change.JobRequeued back) {
            if (!job.state().isActive()) {
                return Optional.empty();
            }
            boolean yields =
                    entry.changes().stream().anyMatch(c -> c instanceof Change.JobPreempted p && p.jobId() == job.id());
            String node = lost(entry, job);
            String state;
            if (yields) {
                state = JobState.PREEMPTED.name();
            } else if (node.isEmpty()) {
                state = REQUEUED;
            } else {
                state = JobState.NODE_FAIL.name();
            }

            return Optional.of(new Left(state, back.time(), node, back.exit()));
        }

        /** Returns the failed node that made the job requeue in this entry; "" for another cause. */
        private static String lost(Entry entry, Job job) {
            return entry.changes().stream()
                    .filter(c -> c instanceof Change.JobFailedNode f && f.jobId() == job.id())
                    .map(c -> ((Change.JobFailedNode) c).node())
                    .findFirst()
                    .orElse("");
        }
    }

    public static JobRow job(State state, Job job, long suspendedSeconds) {
        boolean pending = job.state() == JobState.PENDING;
        return row(
                state,
                job,
                pending ? Job.Run.NONE : job.run(),
                job.state().name(),
                job.run().endTime(),
                suspendedSeconds,
                job.state() == JobState.NODE_FAIL ? job.failedNode() : "",
                ExitStatus.NONE);
    }

    /** Returns the row of an attempt that went back to the queue. */
    public static JobRow left(State before, Job job, Left left, long suspendedSeconds) {
        return row(
                before,
                job,
                job.run(),
                left.state,
                left.endTime,
                suspendedSeconds,
                left.failedNode,
                left.exit.isSuccess() ? job.shownExit() : left.exit);
    }

    /**
     * Returns the row as accounting has it: with keys, comments and the like where the configuration wants them
     * (TrackWCKey, AccountingStoreFlags).
     */
    public static JobRow kept(State state, JobRow row) {
        Settings s = state.settings();
        return row.with(
                s.options().accounting().tracksWckeys() ? row.wckey() : "",
                s.accounts("job_comment") ? row.comment() : "",
                s.accounts("job_extra") ? row.extra() : "",
                !s.accounts("no_stdio"));
    }

    private static JobRow row(
            State state,
            Job job,
            Job.Run run,
            String stateName,
            long endTime,
            long suspendedS,
            String failedNode,
            ExitStatus left) {
        JobDesc d = job.desc();
        ResourceRequest r = d.request();
        Allocation a = run.allocation();
        boolean batch = d.kind() == JobDesc.Kind.BATCH;
        boolean pending = stateName.equals(JobState.PENDING.name());
        JobPaths.Paths files = JobPaths.patterns(job);
        TresCounts asked = TresCounts.requested(state, d);
        PartitionLimits.Memory memory = PartitionLimits.memory(state, job);
        List<Allocation.Resize> resizes = a.resizes();
        // of a later size the time before is the earlier ones': it counts as asked for and begun when the size before
        // ended
        long began = resizes.isEmpty() ? run.startTime() : resizes.getLast().time();
        return new JobRow(
                job.rowSluid(),
                job.restarts(),
                job.id(),
                job.array().jobId(),
                job.array().task(),
                job.isArrayRecord() ? job.array().pending().compact() : "",
                job.array().maxRunning(),
                d.name(),
                d.owner().uid(),
                d.owner().user(),
                d.owner().gid(),
                d.owner().group(),
                d.charge().account(),
                d.charge().firstQos(),
                d.charge().wckey(),
                d.partition(),
                reservation(state, job, a),
                stateName,
                reason(job),
                cancelledBy(stateName, job.reasonText()),
                exit(stateName, run, left),
                run.derivedExit(),
                resizes.isEmpty() ? job.submitTime() : began,
                resizes.isEmpty() ? JobViews.eligible(job) : began,
                began,
                pending ? 0 : endTime,
                suspendedS,
                run.startTime() > 0 ? run.limitMin() : d.timing().timeLimitMin(),
                job.priority(),
                a.isEmpty() ? "" : a.hostList(),
                a.isEmpty() ? asked.nodes() : a.nodes().size(),
                asked.cpus(),
                a.cpus(),
                memory.perNodeMb() > 0 ? memory.perNodeMb() : memory.perCpuMb(),
                memory.perNodeMb() == 0,
                TresText.requested(state, job),
                TresText.allocated(state, job, a),
                r.features(),
                d.files().workDir().text(),
                d.payload().submitLine().text(),
                files.stdin().text(),
                files.stdout().text(),
                d.files().stderr().isEmpty() ? "" : files.stderr().text(),
                d.extras().comment(),
                d.extras().adminComment(),
                d.extras().extra(),
                d.extras().container(),
                flags(pending, run, a),
                batch,
                job.het().jobId(),
                job.het().offset(),
                r.licenses(),
                d.extras().mcsLabel(),
                JobViews.oversubscribe(state, job),
                JobViews.exclusiveUse(state, job),
                0,
                0,
                r.segment(),
                d.charge().drawn() ? "" : d.charge().reservation(),
                0,
                failedNode,
                "",
                stateName.equals(JobState.SUSPENDED.name()) ? run.suspendTime() : 0,
                d.charge().qosAsked());
    }

    private static ExitStatus exit(String state, Job.Run run, ExitStatus left) {
        if (killed(state)) {
            return ExitStatus.NONE;
        }
        return left.isSuccess() ? run.exit() : left;
    }

    /** Returns the reason of the attempt: a hold that follows a requeue is not the reason of the attempt before. */
    private static String reason(Job job) {
        if (job.reason().isRequeuedHeld()) {
            return JobReason.JOB_HELD_USER.word(); // the longer words are for squeue
        }
        boolean held = job.reason() == JobReason.JOB_HELD_USER || job.reason() == JobReason.JOB_HELD_ADMIN;
        return held && job.run().startTime() > 0
                ? JobReason.NONE.word()
                : job.reason().word();
    }

    /** Returns the flags of sacct: the scheduler that started the job, and that accounting knows of the start. */
    private static String flags(boolean pending, Job.Run run, Allocation a) {
        if (pending) {
            return "";
        }
        if (run.startTime() == 0) {
            return "StartReceived";
        }
        return (a.backfilled() ? "SchedBackfill" : "SchedMain") + ",StartReceived";
    }

    /** Returns the reservation in which the job runs; all requested ones while it waits. */
    private static String reservation(State state, Job job, Allocation a) {
        String asked = job.desc().charge().reservation();
        if (asked.indexOf(',') < 0 || a.isEmpty()) {
            return asked;
        }
        return List.of(asked.split(",")).stream()
                .filter(name -> state.reservations()
                        .find(name)
                        .filter(r -> r.has(ReservationFlag.ANY_NODES)
                                || r.has(ReservationFlag.FLEX)
                                || r.nodes().containsAll(a.nodeNames()))
                        .isPresent())
                .findFirst()
                .orElse(asked);
    }

    /** Core keeps {@code by UID} with a cancelled job. */
    private static int cancelledBy(String state, String text) {
        if (!state.equals(JobState.CANCELLED.name()) || !text.startsWith(BY)) {
            return -1;
        }
        try {
            return Integer.parseInt(text.substring(BY.length()));
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** Tests whether the job was ended from outside: then the tables of Slurm have no exit code. */
    private static boolean killed(String state) {
        return state.equals(JobState.CANCELLED.name())
                || state.equals(JobState.TIMEOUT.name())
                || state.equals(JobState.PREEMPTED.name())
                || state.equals(RESIZING);
    }

    public static StepRow step(State all, Job job, Step step, Usage usage, long suspendedSeconds) {
        boolean running = step.state() == Step.State.RUNNING;
        String state;
        if (running) {
            state = (job.state() == JobState.SUSPENDED ? JobState.SUSPENDED : JobState.RUNNING).name();
        } else {
            state = ended(job, step);
        }

        return row(all, job, step, usage, state, running ? 0 : step.endTime(), step.exit(), suspendedSeconds);
    }

    /** Returns the row of a step of an attempt that was requeued: the node ends the step, by SIGTERM first. */
    public static StepRow left(State before, Job job, Step step, Usage usage, long endTime, long suspendedSeconds) {
        return row(
                before,
                job,
                step,
                usage,
                JobState.CANCELLED.name(),
                endTime,
                ExitStatus.signaled(SIGTERM),
                suspendedSeconds);
    }

    private static StepRow row(
            State all,
            Job job,
            Step step,
            Usage usage,
            String state,
            long endTime,
            ExitStatus exit,
            long suspendedSeconds) {
        int cpus = 0;
        long memoryMb = 0;
        Map<String, Integer> gres = new TreeMap<>();
        TrackedTypes types = TrackedTypes.of(all.settings());
        for (Step.Part part : step.nodes()) {
            cpus += part.cpus();
            memoryMb += part.memoryMb();
            part.gres().forEach((name, devices) -> gres.merge(name, devices.count(), Integer::sum));
            types.held(gres, all, part.node(), part.gres());
        }
        String nodes =
                HostList.of(step.nodes().stream().map(Step.Part::node).toList()).compressed();
        String name = step.id() < 0 ? step.name() : step.desc().name();
        boolean extern = step.id() == Step.EXTERN;
        return new StepRow(
                job.rowSluid(step.id()),
                job.restarts(),
                step.id(),
                job.id(),
                name,
                state,
                cancelledBy(state, step),
                extern ? ExitStatus.NONE : exit,
                step.startTime(),
                endTime,
                nodes,
                step.nodes().size(),
                Math.max(1, step.tasks()),
                cpus,
                extern
                        ? TresText.allocated(all, job, job.run().allocation())
                        : TresText.ofStep(
                                cpus, TresText.held(all, memoryMb), step.nodes().size(), gres),
                layout(job, step),
                step.desc().submitLine().text(),
                usage,
                step.isBatch() ? job.desc().extras().container() : step.desc().container(),
                step.id() < 0 ? "" : step.desc().cpuFreq(),
                suspendedSeconds);
    }

    private static int cancelledBy(String state, Step step) {
        return step.endedBy().map(uid -> cancelledBy(state, BY + uid)).orElse(-1);
    }

    /** Returns the layout of tasks as sacct and scontrol show it; Unknown for a batch script and the like. */
    static String layout(Job job, Step step) {
        if (step.id() < 0) {
            return "Unknown";
        }
        boolean few = job.desc().kind() != JobDesc.Kind.RUN
                && step.tasks() <= step.nodes().size();
        return layout(step.desc().request().distribution(), few);
    }

    /**
     * Returns the layout of tasks over nodes, and over the sockets and cores of each, in sacct's words.
     *
     * @param wanted as with --distribution
     * @param few there is a node for each task: one to each, if nothing else was said
     */
    static String layout(String wanted, boolean few) {
        String[] words = wanted.split(",");
        String[] levels = words[0].split(":");
        String first;
        if (levels[0].startsWith("plane")) {
            first = "Plane";
        } else if (levels[0].isEmpty() || levels[0].equals("*")) {
            first = few ? "Cyclic" : "Block";
        } else {
            first = capital(levels[0]);
        }

        if (first.equals("Arbitrary")) {
            return "arbitrary task distribution";
        }
        StringBuilder out = new StringBuilder(first);
        if (levels.length > 1 && !first.equals("Plane")) {
            out.setLength(1);
            out.append(levels[1].equals("*") ? "Cyclic" : capital(levels[1]));
            out.append(levels.length > 2 && !levels[2].equals("*") ? capital(levels[2]) : "");
        }
        for (int i = 1; i < words.length; i++) {
            out.append(
                    switch (words[i]) {
                        case "pack" -> ",Pack";
                        case "nopack" -> ",NoPack";
                        default -> "";
                    });
        }
        return out.toString();
    }

    private static String capital(String word) {
        return switch (word) {
            case "fcyclic" -> "FCyclic";
            case "" -> "";
            default -> Character.toUpperCase(word.charAt(0)) + word.substring(1);
        };
    }

    /** Returns a step's own end. One that was killed for its job's sake is CANCELLED, as in Slurm. */
    private static String ended(Job job, Step step) {
        if (step.id() == Step.EXTERN) {
            return JobState.COMPLETED.name();
        }
        JobState state = switch (step.reason()) {
            case "OutOfMemory" -> JobState.OUT_OF_MEMORY;
            case "TimeLimit" ->
                step.isBatch() || step.desc().timeLimitMin() <= 0 ? JobState.CANCELLED : JobState.TIMEOUT;
            case "NodeFail" -> JobState.NODE_FAIL;
            default -> {
                if (step.exit().isOutOfMemory()) {
                    yield JobState.OUT_OF_MEMORY;
                }
                if (!step.ending().isEmpty() && !step.isInterrupted()
                        || killedWith(job, step)
                        || step.exit().signal() != 0) {
                    yield JobState.CANCELLED;
                }
                if (step.exit().isSuccess()) {
                    yield JobState.COMPLETED;
                }
                yield JobState.FAILED;
            }
        };
        return state.name();
    }

    private static boolean killedWith(Job job, Step step) {
        boolean jobKilled = job.state() == JobState.CANCELLED
                || job.state() == JobState.TIMEOUT
                || job.state() == JobState.PREEMPTED;
        return jobKilled && step.exit().signal() != 0;
    }
}
