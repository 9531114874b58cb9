package dev.muster.core;

import dev.muster.model.ExitStatus;
import dev.muster.model.IndexSet;
import dev.muster.model.JobDesc;
import dev.muster.model.JobReason;
import java.util.List;

/** What the exit code of a batch script makes of its job: RequeueExit and RequeueExitHold send it back to the queue. */
final class Exits {
    private static final int CODE_MAX = 255;

    private Exits() {}

    /** Ended, or requeued where the configuration names the code, the job may be requeued and nothing but its script ended it. */
    static Change over(State state, Job job, ExitStatus exit, String why, Now now) {
        if (job.desc().kind() != JobDesc.Kind.BATCH || !why.isEmpty() || exit.signal() != 0 || !mayRequeue(state, job)) {
            return JobRules.over(job, exit, why, now);
        }
        if (names(state, Settings.REQUEUE_EXIT_HOLD, exit.code())) {
            return new Change.JobRequeued(job.id(), true, JobReason.JOB_HELD_USER, "", 0, now.seconds(), true);
        }
        if (names(state, Settings.REQUEUE_EXIT, exit.code())) {
            return new Change.JobRequeued(job.id(), false, JobReason.NONE, "", Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid()),
                    now.seconds(), false);
        }
        return JobRules.over(job, exit, why, now);
    }

    static boolean mayRequeue(State state, Job job) {
        return switch (job.desc().timing().requeue()) {
            case UNSET -> state.settings().requeueJobs();
            case YES -> true;
            case NO -> false;
        };
    }

    private static boolean names(State state, String option, int code) {
        String text = state.settings().options().getOrDefault(option, "");
        List<IndexSet.Spec> spec = text.isEmpty() ? List.of() : IndexSet.parseSpec(text, CODE_MAX);
        return !spec.isEmpty() && spec.getFirst().indexes().contains(code);
    }
}
