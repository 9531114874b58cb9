package dev.muster.scheduler;

import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.LimitCacheTest;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.job.JobReason;

/** The cache of limits that the scheduler itself renews says the same as well. */
class QueueLimitsTest extends LimitCacheTest {
    @Override
    protected void follow(Cluster c) {
        // the scheduler follows its core
    }

    @Override
    protected void refresh(Cluster c, AccountRules rules) {
        scheduler(c).queue().limits().at(c.state(), rules, scheduler(c).use(), c.seconds());
    }

    @Override
    protected JobReason cached(Cluster c, Job job) {
        return scheduler(c).queue().limited(job, job.desc().timing().timeLimitMin());
    }

    private static Scheduler scheduler(Cluster c) {
        return (Scheduler) c.core().planner();
    }
}
