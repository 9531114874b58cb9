package dev.muster.core.job;

import dev.muster.core.limits.Priorities;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import java.util.List;

/**
 * --requeue=expedite: a job that fails goes back to the queue and is held there, unless one of its nodes turns out to
 * have failed: then it comes before all others, for what is left of its time.
 */
public final class ExpeditedRequeue {
    /** Added to what is left of a job's time: what it did since its last checkpoint is done again. */
    static final int SLACK_MIN = 10;

    private ExpeditedRequeue() {}

    public static boolean isAsked(Job job) {
        return job.desc().timing().expedite() && job.desc().kind() == JobDesc.Kind.BATCH;
    }

    /** Returns the changes for a job whose script failed: whether its nodes are to blame, their epilogs will say. */
    static List<Change> failed(Job job, ExitStatus exit, DecisionTime now) {
        return List.of(
                new Change.JobRequeued(
                        job.id(), true, JobReason.JOB_REQUEUED_IN_HELD, "", 0, now.seconds(), false, exit),
                new Change.JobFlagged(job.id(), JobFlag.REQUEUE_HOLD, true));
    }

    /** Tests whether the job waits for epilogs that may yet say that a node has failed. */
    public static boolean isJudged(Job job) {
        return job.has(JobFlag.REQUEUE_HOLD) && job.has(JobFlag.COMPLETING) && isAsked(job);
    }

    /** Returns the changes for a job under which a node has failed while it ran. */
    public static List<Change> lost(Job job, DecisionTime now) {
        return concat(
                List.of(new Change.JobRequeued(
                        job.id(), false, JobReason.NONE, "", Priorities.EXPEDITED, now.seconds(), false)),
                first(job, now));
    }

    /** Returns the changes by which the job comes first from now on. */
    public static List<Change> first(Job job, DecisionTime now) {
        return List.of(
                new Change.DescriptionChanged(job.id(), left(job, now)),
                new Change.PriorityChanged(job.id(), Priorities.EXPEDITED, -1, JobReason.NONE, ""),
                new Change.JobFlagged(job.id(), JobFlag.EXPEDITING, true));
    }

    private static List<Change> concat(List<Change> a, List<Change> b) {
        return java.util.stream.Stream.concat(a.stream(), b.stream()).toList();
    }

    /** Returns the description with the rest of its time limit, with some to spare. */
    private static JobDesc left(Job job, DecisionTime now) {
        Job.Run r = job.run();
        if (r.limitMin() <= 0 || r.startTime() == 0) {
            return job.desc();
        }
        long end = r.endTime() > 0 ? r.endTime() : now.seconds();
        long minutes = Math.max(1, Math.min(r.limitMin(), r.limitMin() - (end - r.startTime()) / 60 + SLACK_MIN));
        return job.desc().withTiming(job.desc().timing().withTimeLimitMin((int) minutes));
    }
}
