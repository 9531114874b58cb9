package dev.muster.core.state;

import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.StepId;
import java.util.List;
import java.util.Optional;

/**
 * A job, or the pending tasks of an array. Times are seconds since 1970, 0 for none.
 *
 * @param id the number users see; of an array's pending record the array's number
 * @param sluid never used twice in the life of the cluster
 * @param flags bits by {@link JobFlag#ordinal}
 * @param reason why it is held or how it ended; why it waits for its turn is the planner's to say
 * @param priority 0 while held
 * @param holdUid the user who holds the job, -1 if it is not held
 * @param attempt 0 before its first start; grows with each start
 * @param restarts how often it was requeued after a start
 * @param het its place in a heterogeneous job
 * @param accrueTime since when its age accrues under a limit of accruing jobs (GrpJobsAccrue and its like);
 *     {@link #KEPT_YOUNG} while it does not; below that, the negated time of ResetAccrueTime; 0 if it accrues since it
 *     is eligible
 * @param failedNode the node whose failure ended the last attempt, "" if none did
 */
public record Job(
        int id,
        long sluid,
        Array array,
        JobDesc desc,
        JobState state,
        int flags,
        JobReason reason,
        String reasonText,
        long priority,
        int holdUid,
        long submitTime,
        long eligibleTime,
        int attempt,
        int restarts,
        List<Dependency> dependencies,
        Run run,
        Het het,
        long accrueTime,
        String failedNode) {
    /** Accrue time of a job that does not grow older. */
    public static final long KEPT_YOUNG = -1;

    /**
     * @param jobId of the array, 0 for a job of none
     * @param task this task's index, or -1 for the record of the pending ones
     * @param pending indices not yet split off (of the pending record)
     * @param maxRunning {@code %limit}, 0 for none
     * @param size tasks at submission
     */
    public record Array(int jobId, int task, IndexSet pending, int maxRunning, int size) {
        public static final Array NONE = new Array(0, -1, IndexSet.empty(), 0, 0);
    }

    /**
     * The component that a job is of a heterogeneous job, whose components start and end together.
     *
     * @param jobId of the first component, the number users call the whole by; 0 for a job of none
     * @param offset 0 for the first
     * @param members of all components, by offset
     */
    public record Het(int jobId, int offset, List<Integer> members) {
        public static final Het NONE = new Het(0, 0, List.of());
    }

    /**
     * The part of a job that exists from its first start on.
     *
     * @param limitMin effective time limit, minutes; -1 for none
     * @param limitTickMs cluster tick at which the limit is reached; -1 for none
     * @param endingSinceMs cluster tick at which it was told to end, -1 if it was not
     * @param preSuspendMs run time before the last resume, milliseconds
     * @param sinceTickMs tick of the last start or resume
     * @param steps running and ended steps of this attempt
     * @param paused earlier suspensions, which are not charged
     */
    public record Run(
            long startTime,
            long endTime,
            long suspendTime,
            long preSuspendMs,
            long sinceTickMs,
            int limitMin,
            long limitTickMs,
            long endingSinceMs,
            Allocation allocation,
            int nextStep,
            List<Step> steps,
            ExitStatus exit,
            ExitStatus derivedExit,
            Suspension paused) {
        public static final Run NONE = new Run(
                0,
                0,
                0,
                0,
                0,
                0,
                -1,
                -1,
                Allocation.NONE,
                0,
                List.of(),
                ExitStatus.NONE,
                ExitStatus.NONE,
                Suspension.NONE);

        /**
         * Returns the planned end in seconds since 1970, of a job that has a limit and was never suspended; what
         * PrologSlurmctld took is beside the limit.
         */
        public long plannedEnd() {
            return startTime
                    + (limitTickMs < 0 || allocation.awaitsNodes()
                            ? limitMin * 60L
                            : (limitTickMs - sinceTickMs + 500) / 1000);
        }
    }

    /**
     * An earlier suspension: how many seconds of the time since a charge of usage, the last one when this was noted, a
     * job was suspended and went on or ended.
     */
    public record Suspension(long since, long seconds) {
        public static final Suspension NONE = new Suspension(0, 0);

        public long after(long charged) {
            return since == charged ? seconds : 0;
        }

        Suspension and(long charged, long from, long to) {
            return new Suspension(charged, after(charged) + Math.max(0, to - Math.max(from, charged)));
        }
    }

    public boolean has(JobFlag flag) {
        return (flags & 1 << flag.ordinal()) != 0;
    }

    /** Returns the job's number in accounting, at its present size. */
    public long rowSluid() {
        return Sluid.sized(sluid, run.allocation().resizes().size());
    }

    /** Returns the number in accounting of the size that a step was started in. */
    public long rowSluid(int stepId) {
        return Sluid.sized(sluid, (int) run.allocation().resizes().stream()
                .filter(r -> StepId.number(stepId) >= r.firstStep())
                .count());
    }

    /** Returns the job's number as users see it: another for each attempt and size. */
    public long shownSluid() {
        return Sluid.shown(rowSluid(), restarts);
    }

    /** Returns the exit status to show: of a cancelled job how its script ended. */
    public ExitStatus shownExit() {
        return state != JobState.CANCELLED || !run.exit().isSuccess()
                ? run.exit()
                : step(Step.BATCH).filter(Step::allDone).map(Step::exit).orElse(run.exit());
    }

    public boolean isPending() {
        return state == JobState.PENDING && !has(JobFlag.COMPLETING);
    }

    /** Tests whether the job holds resources: running, suspended, or ended with something left on its nodes. */
    public boolean holdsNodes() {
        return !run.allocation.isEmpty() && (state.isActive() || has(JobFlag.COMPLETING));
    }

    public boolean isHeld() {
        return priority == 0;
    }

    /** Tests for the record that stands for all pending tasks of an array. */
    public boolean isArrayRecord() {
        return array.jobId == id && array.task < 0 && !array.pending.isEmpty();
    }

    public boolean isArrayTask() {
        return array.jobId != 0 && array.task >= 0;
    }

    public Optional<Step> step(int stepId) {
        for (Step s : run.steps) {
            if (s.id() == stepId) {
                return Optional.of(s);
            }
        }
        return Optional.empty();
    }

    /** Returns the steps that a number means: one, or the components of a heterogeneous step. */
    public List<Step> steps(int named) {
        return run.steps.stream().filter(s -> StepId.means(named, s.id())).toList();
    }

    /**
     * Returns whether it goes back to the queue where something sends it there: as it says itself, else as JobRequeue
     * says.
     */
    public boolean mayRequeue(Settings settings) {
        return switch (desc.timing().requeue()) {
            case UNSET -> settings.requeueJobs();
            case YES -> true;
            case NO -> false;
        };
    }

    /** Tests for a component of a heterogeneous job. */
    public boolean isHet() {
        return het.jobId != 0;
    }

    /**
     * Tests for the component that stands for the whole heterogeneous job: its script runs, its number is the job's.
     */
    public boolean isHetLeader() {
        return het.jobId == id;
    }

    /** Returns the job's id as users write it: {@code 12}, {@code 12_3}, {@code 12_[4-9]}, {@code 12+1}. */
    public String displayId() {
        if (isArrayTask()) {
            return array.jobId + "_" + array.task;
        }
        if (isHet()) {
            return het.jobId + "+" + het.offset;
        }
        return isArrayRecord() ? id + "_[" + array.pending.compact() + "]" : Integer.toString(id);
    }

    // Copies with one thing changed; the names say which.

    public Job with(JobState s) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                s,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    public Job with(JobFlag flag, boolean on) {
        int bit = 1 << flag.ordinal();
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                on ? flags | bit : flags & ~bit,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    public Job with(JobReason why, String text) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                why,
                text,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    public Job with(Run r) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                r,
                het,
                accrueTime,
                failedNode);
    }

    public Job with(Array a) {
        return new Job(
                id,
                sluid,
                a,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    public Job with(Het h) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                h,
                accrueTime,
                failedNode);
    }

    public Job with(JobDesc d) {
        return new Job(
                id,
                sluid,
                array,
                d,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    /** Returns the job under one of several QOS that it may have. */
    public Job underQos(String name) {
        return name.equals(desc.charge().qos())
                ? this
                : with(desc.withCharge(desc.charge().withQos(name)));
    }

    /** Returns the job as one that never starts: what kept it in the queue does so no more. */
    Job over(JobState s, JobReason why, String text, Run r) {
        int kept = flags
                & ~(1 << JobFlag.REQUEUE_HOLD.ordinal()
                        | 1 << JobFlag.SPECIAL_EXIT.ordinal()
                        | 1 << JobFlag.EXPEDITING.ordinal()
                        | 1 << JobFlag.RESV_DEL_HOLD.ordinal());
        return new Job(
                id,
                sluid,
                array,
                desc,
                s,
                kept,
                why,
                text,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                r,
                het,
                accrueTime,
                failedNode);
    }

    /** Returns the job in another reservation, "" for none. */
    Job inReservation(String name) {
        JobDesc.Charge c = desc.charge();
        return with(desc.withCharge(new JobDesc.Charge(
                c.account(), c.qos(), c.wckey(), name, c.licensesTag(), false, c.qosAsked(), c.defaulted())));
    }

    Job withDependencies(List<Dependency> d) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                d,
                run,
                het,
                accrueTime,
                failedNode);
    }

    /** Returns the job with the time from which it grows older. */
    Job withEligibleTime(long time) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                time,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                0,
                failedNode);
    }

    Job withSubmitTime(long time) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                time,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    Job withFailedNode(String node) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                node);
    }

    Job withAccrueTime(long time) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                time,
                failedNode);
    }

    Job withPriority(long p, int holder) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                p,
                holder,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    Job withAttempt(int a, int restartCount) {
        return new Job(
                id,
                sluid,
                array,
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                a,
                restartCount,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    /** Returns a task that is split off an array's pending record under a number of its own. */
    public Job splitOff(int newId, long newSluid, int task) {
        return new Job(
                newId,
                newSluid,
                new Array(array.jobId, task, IndexSet.empty(), array.maxRunning, array.size),
                desc,
                state,
                flags,
                reason,
                reasonText,
                priority,
                holdUid,
                submitTime,
                eligibleTime,
                attempt,
                restarts,
                dependencies,
                run,
                het,
                accrueTime,
                failedNode);
    }

    Job withStep(Step step) {
        java.util.ArrayList<Step> steps = new java.util.ArrayList<>(run.steps.size() + 1);
        boolean found = false;
        for (Step s : run.steps) {
            steps.add(s.id() == step.id() ? step : s);
            found |= s.id() == step.id();
        }
        if (!found) {
            steps.add(step);
        }
        int next = Math.max(run.nextStep, step.number() + 1);
        return with(new Run(
                run.startTime,
                run.endTime,
                run.suspendTime,
                run.preSuspendMs,
                run.sinceTickMs,
                run.limitMin,
                run.limitTickMs,
                run.endingSinceMs,
                run.allocation,
                next,
                List.copyOf(steps),
                run.exit,
                run.derivedExit,
                run.paused));
    }

    Job withAllocation(Allocation a) {
        return with(new Run(
                run.startTime,
                run.endTime,
                run.suspendTime,
                run.preSuspendMs,
                run.sinceTickMs,
                run.limitMin,
                run.limitTickMs,
                run.endingSinceMs,
                a,
                run.nextStep,
                run.steps,
                run.exit,
                run.derivedExit,
                run.paused));
    }
}
