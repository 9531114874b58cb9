package dev.muster.controller.nodes;

import dev.muster.controller.engine.ChangeLog;
import dev.muster.controller.engine.JobWatch;
import dev.muster.controller.engine.Pipeline;
import dev.muster.controller.site.JobPrograms;
import dev.muster.controller.stats.DebugFlags;
import dev.muster.controller.stats.SchedulerLog;
import dev.muster.core.command.Decision;
import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.job.JobReason;
import java.util.List;

/** Carries out durable records: launches, ends and signals of jobs, and the wake-up of waiting requests. */
public final class NodeEffects implements Pipeline.Effects {
    private final NodeLinks links;
    private final NodeMessagesFromState outgoing;
    private final JobWatch watch;
    private final DaemonLog log;
    private final DebugFlags flags;
    private final JobPrograms programs;
    private final SchedulerLog scheduling;
    private final ChangeLog news;
    private final Follower projection;

    /** Goes along with what is durable. */
    @FunctionalInterface
    public interface Follower {
        void follow(Entry entry, State before, State after);
    }

    public NodeEffects(
            NodeLinks links,
            NodeMessagesFromState outgoing,
            JobWatch watch,
            DaemonLog log,
            DebugFlags flags,
            JobPrograms programs,
            SchedulerLog scheduling,
            ChangeLog news,
            Follower projection) {
        this.news = news;
        this.links = links;
        this.outgoing = outgoing;
        this.watch = watch;
        this.log = log;
        this.flags = flags;
        this.programs = programs;
        this.scheduling = scheduling;
        this.projection = projection;
    }

    @Override
    public void direct(List<Decision.Direct> messages) {
        flags.direct(messages);
        links.send(messages);
    }

    @Override
    public void apply(Entry entry, State before, State after) {
        for (Change change : entry.changes()) {
            say(change, after);
            flags.tell(change, after);
        }
        direct(outgoing.of(entry, after));
        programs.follow(entry, before, after);
        if (!watch.isIdle()) {
            wake(entry, after);
        }
        news.follow(entry, before, after);
        projection.follow(entry, before, after);
    }

    private void wake(Entry entry, State after) {
        for (Change change : entry.changes()) {
            for (int job : AffectedEntities.jobs(change)) {
                watch.happened(job);
                // requests for a whole heterogeneous job wait for its leader
                after.jobs()
                        .find(job)
                        .filter(Job::isHet)
                        .ifPresent(j -> watch.happened(j.het().jobId()));
            }
        }
    }

    private void say(Change change, State after) {
        switch (change) {
            case Change.JobSubmitted c ->
                log.info("_slurm_rpc_submit_batch_job: JobId=" + c.job().id());
            case Change.JobStarted c ->
                after.jobs()
                        .find(c.jobId())
                        .ifPresent(job -> scheduling.event("sched: Allocate JobId=" + job.id() + " NodeList="
                                + c.allocation().hostList() + " #CPUs="
                                + c.allocation().cpus() + " Partition="
                                + job.desc().partition()));
            case Change.JobEnded c
            when c.reason() == JobReason.PARTITION_DOWN ->
                after.jobs()
                        .find(c.jobId())
                        .ifPresent(job -> log.error(
                                job.run().allocation().nodes().isEmpty()
                                        ? "Invalid partition (" + job.desc().partition() + ") for JobId=" + logId(job)
                                        : "Killing JobId=" + logId(job) + " on defunct partition "
                                                + job.desc().partition()));
            case Change.JobEnded c ->
                log.info("_job_complete: JobId=" + c.jobId() + " " + c.state() + " ExitCode=" + c.exit());
            case Change.JobRequeued c -> log.info("requeue job JobId=" + c.jobId());
            case Change.NodeStateChanged c ->
                log.info("node " + c.node() + " state: "
                        + after.nodes().find(c.node()).map(n -> n.baseState()).orElse("?")
                        + (c.reason().isEmpty() ? "" : " Reason=" + c.reason()));
            default -> {}
        }
    }

    /** Returns the name of a job in Slurm's log: {@code 9_1(14)}, {@code 9_*}, {@code 10+0(10)}. */
    private static String logId(Job job) {
        if (job.isArrayRecord()) {
            return job.id() + "_*";
        }
        if (job.isArrayTask() || job.isHet()) {
            return job.displayId() + "(" + job.id() + ")";
        }
        return Integer.toString(job.id());
    }
}
