package dev.muster.controller;

import dev.muster.core.Allocation;
import dev.muster.core.Change;
import dev.muster.core.Decision;
import dev.muster.core.Entry;
import dev.muster.core.Job;
import dev.muster.core.State;
import dev.muster.core.Step;
import dev.muster.core.Touched;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.JobReason;
import dev.muster.model.node.NodeMessages;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What durable records set in motion: launches, ends, signals, and the wake-up of whoever waits. */
final class NodeEffects implements CoreThread.Effects {
    private final NodeLinks links;
    private final Launches launches;
    private final Watch watch;
    private final DaemonLog log;
    private final java.util.function.BiConsumer<Entry, State> projection;

    NodeEffects(NodeLinks links, Launches launches, Watch watch, DaemonLog log,
            java.util.function.BiConsumer<Entry, State> projection) {
        this.links = links;
        this.launches = launches;
        this.watch = watch;
        this.log = log;
        this.projection = projection;
    }

    @Override
    public void direct(List<Decision.Direct> messages) {
        messages.forEach(m -> links.send(m.node(), m.message()));
    }

    @Override
    public void apply(Entry entry, State before, State after) {
        Set<String> launched = new HashSet<>();
        for (Change change : entry.changes()) {
            if (change instanceof Change.StepStarted c) {
                c.step().nodes().forEach(p -> launched.add(c.jobId() + "@" + p.node()));
            }
        }
        for (Change change : entry.changes()) {
            one(change, entry, after, launched);
            for (int job : Touched.jobs(change)) {
                watch.happened(job);
            }
        }
        projection.accept(entry, after);
    }

    private void one(Change change, Entry entry, State after, Set<String> launched) {
        switch (change) {
            case Change.JobSubmitted c -> log.info("_slurm_rpc_submit_batch_job: JobId=" + c.job().id());
            case Change.JobStarted c -> started(c, entry, after, launched);
            case Change.StepStarted c -> after.jobs().find(c.jobId()).ifPresent(j -> j.step(c.step().id()).ifPresent(s -> launch(after, j, s, entry)));
            case Change.JobEnded c -> {
                log.info("_job_complete: JobId=" + c.jobId() + " " + c.state() + " ExitCode=" + c.exit());
                end(after, c.jobId(), c.reason() == JobReason.NONE ? c.state().name() : c.reason().word());
            }
            case Change.JobRequeued c -> {
                log.info("requeue job JobId=" + c.jobId());
                end(after, c.jobId(), "Requeued");
            }
            case Change.StepEnding c -> after.jobs().find(c.jobId()).ifPresent(j -> j.step(c.stepId()).ifPresent(s -> s.nodes().stream()
                    .filter(p -> !p.done())
                    .forEach(p -> links.send(p.node(), new NodeMessages.EndStep(
                            j.id(), j.attempt(), s.id(), after.settings().killWaitS(), c.reason())))));
            case Change.JobSuspended c -> toAll(after, c.jobId(), j -> new NodeMessages.Suspend(j.id(), j.attempt(), true));
            case Change.JobResumed c -> toAll(after, c.jobId(), j -> new NodeMessages.Suspend(j.id(), j.attempt(), false));
            case Change.LimitChanged c -> toAll(after, c.jobId(), j -> new NodeMessages.SetTimeLimit(
                    j.id(), j.attempt(), Launches.secondsLeft(j, entry.tickMs())));
            case Change.NodeStateChanged c -> log.info("node " + c.node() + " state: "
                    + after.nodes().find(c.node()).map(n -> n.baseState()).orElse("?") + (c.reason().isEmpty() ? "" : " Reason=" + c.reason()));
            default -> { }
        }
    }

    private void started(Change.JobStarted c, Entry entry, State after, Set<String> launched) {
        after.jobs().find(c.jobId()).filter(j -> j.attempt() == c.attempt()).ifPresent(job -> {
            log.info("sched: Allocate JobId=" + job.id() + " NodeList=" + c.allocation().hostList()
                    + " #CPUs=" + c.allocation().cpus() + " Partition=" + job.desc().partition());
            for (Allocation.Share share : c.allocation().nodes()) {
                if (!launched.contains(job.id() + "@" + share.node())) {
                    links.send(share.node(), new NodeMessages.Prepare(Launches.share(after, job, share, entry.tickMs()), c.configuring()));
                }
            }
        });
    }

    private void launch(State state, Job job, Step step, Entry entry) {
        for (Step.Part part : step.nodes()) {
            if (!part.done() && job.run().allocation().on(part.node()).isPresent()) {
                try {
                    links.send(part.node(), launches.launch(state, job, step, part, entry.tickMs()));
                } catch (java.io.UncheckedIOException e) {
                    log.error("job " + job.id() + " cannot be launched on " + part.node(), e);
                }
            }
        }
    }

    private void end(State state, int jobId, String reason) {
        toAll(state, jobId, j -> new NodeMessages.EndJob(j.id(), j.attempt(), state.settings().killWaitS(), reason));
    }

    private void toAll(State state, int jobId, java.util.function.Function<Job, NodeMessages.ToNode> message) {
        state.jobs().find(jobId).ifPresent(job -> {
            for (Allocation.Share share : job.run().allocation().nodes()) {
                if (!share.released()) {
                    links.send(share.node(), message.apply(job));
                }
            }
        });
    }
}
