package dev.muster.core.state;

import dev.muster.model.job.ExitStatus;
import java.util.List;

/** Returns changed copies of {@link Job.Run}. */
final class JobRunUpdates {
    private JobRunUpdates() {}

    static Job.Run start(long now, long tickMs, Change.JobStarted c) {
        return new Job.Run(
                now,
                0,
                0,
                0,
                tickMs,
                c.limitMin(),
                c.limitTick(),
                -1,
                c.allocation(),
                0,
                List.of(),
                ExitStatus.NONE,
                ExitStatus.NONE,
                Job.Suspension.NONE);
    }

    /** Returns the run of a job that is held after a failure. */
    static Job.Run failed(ExitStatus exit) {
        Job.Run r = Job.Run.NONE;
        return new Job.Run(
                r.startTime(),
                r.endTime(),
                r.suspendTime(),
                r.preSuspendMs(),
                r.sinceTickMs(),
                r.limitMin(),
                r.limitTickMs(),
                r.endingSinceMs(),
                r.allocation(),
                r.nextStep(),
                r.steps(),
                exit,
                r.derivedExit(),
                r.paused());
    }

    static Job.Run limit(Job.Run r, Change.LimitChanged c, long now, long tickMs) {
        return new Job.Run(
                c.begins() ? now : r.startTime(),
                r.endTime(),
                r.suspendTime(),
                r.preSuspendMs(),
                c.begins() ? tickMs : r.sinceTickMs(),
                c.limitMin(),
                c.limitTick(),
                r.endingSinceMs(),
                r.allocation(),
                r.nextStep(),
                r.steps(),
                r.exit(),
                r.derivedExit(),
                r.paused());
    }

    static Job.Run ended(Job.Run r, long endTime, long tickMs, ExitStatus exit) {
        return new Job.Run(
                r.startTime(),
                endTime,
                r.suspendTime(),
                r.preSuspendMs(),
                r.sinceTickMs(),
                r.limitMin(),
                -1,
                tickMs,
                r.allocation(),
                r.nextStep(),
                r.steps(),
                exit,
                r.derivedExit(),
                r.paused());
    }

    /** Returns the run of a job that ended suspended. */
    static Job.Run pausedUpTo(Job.Run r, long endTime, long charged) {
        return new Job.Run(
                r.startTime(),
                r.endTime(),
                r.suspendTime(),
                r.preSuspendMs(),
                r.sinceTickMs(),
                r.limitMin(),
                r.limitTickMs(),
                r.endingSinceMs(),
                r.allocation(),
                r.nextStep(),
                r.steps(),
                r.exit(),
                r.derivedExit(),
                r.paused().and(charged, r.suspendTime(), endTime));
    }

    static Job.Run withoutSteps(Job.Run r) {
        return new Job.Run(
                r.startTime(),
                r.endTime(),
                r.suspendTime(),
                r.preSuspendMs(),
                r.sinceTickMs(),
                r.limitMin(),
                r.limitTickMs(),
                r.endingSinceMs(),
                r.allocation(),
                0,
                List.of(),
                r.exit(),
                r.derivedExit(),
                r.paused());
    }

    static Job.Run suspended(Job.Run r, long time, long tickMs) {
        return new Job.Run(
                r.startTime(),
                r.endTime(),
                time,
                r.preSuspendMs() + tickMs - r.sinceTickMs(),
                tickMs,
                r.limitMin(),
                -1,
                r.endingSinceMs(),
                r.allocation(),
                r.nextStep(),
                r.steps(),
                r.exit(),
                r.derivedExit(),
                r.paused());
    }

    /** @param charged when usage was charged last */
    static Job.Run resumed(Job.Run r, long time, long tickMs, long limitTick, long charged) {
        return new Job.Run(
                r.startTime(),
                r.endTime(),
                time,
                r.preSuspendMs(),
                tickMs,
                r.limitMin(),
                limitTick,
                r.endingSinceMs(),
                r.allocation(),
                r.nextStep(),
                r.steps(),
                r.exit(),
                r.derivedExit(),
                r.paused().and(charged, r.suspendTime(), time));
    }

    /**
     * Returns the derived exit code: the highest of all steps but the batch script's, by the status of wait(2): a code
     * outranks a signal.
     */
    static Job derive(Job job, Step ended) {
        ExitStatus exit = ended.exit();
        if (ended.isBatch()
                || ended.id() == Step.EXTERN
                || exit.waitStatus() <= job.run().derivedExit().waitStatus()) {
            return job;
        }
        Job.Run r = job.run();
        return job.with(new Job.Run(
                r.startTime(),
                r.endTime(),
                r.suspendTime(),
                r.preSuspendMs(),
                r.sinceTickMs(),
                r.limitMin(),
                r.limitTickMs(),
                r.endingSinceMs(),
                r.allocation(),
                r.nextStep(),
                r.steps(),
                r.exit(),
                exit,
                r.paused()));
    }
}
