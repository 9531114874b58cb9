package dev.muster.controller.nodes;

import dev.muster.controller.view.JobEnvironment;
import dev.muster.controller.view.LaunchMessages;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.ToNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Makes the messages for nodes: by durable records as they come, and all that is open when a node registers. Sends
 * nothing itself.
 */
public final class NodeMessagesFromState {
    private static final int SIGINT = 2;

    private final LaunchMessages launches;
    private final BiConsumer<Job, RuntimeException> unlaunchable;

    /**
     * @param blobs content by hash
     * @param unlaunchable hears of a launch that cannot be made because its script or environment cannot be read
     */
    public NodeMessagesFromState(Function<String, Bytes> blobs, BiConsumer<Job, RuntimeException> unlaunchable) {
        this.launches = new LaunchMessages(blobs);
        this.unlaunchable = unlaunchable;
    }

    // ---- as records come

    /** Returns the messages to nodes that follow from an entry, in order. */
    public List<Decision.Direct> of(Entry entry, State after) {
        List<Decision.Direct> out = new ArrayList<>();
        Set<String> launched = new HashSet<>();
        for (Change change : entry.changes()) {
            if (change instanceof Change.StepStarted c) {
                c.step().nodes().forEach(p -> launched.add(c.jobId() + "@" + p.node()));
            }
        }
        for (Change change : entry.changes()) {
            one(out, change, entry, after, launched);
        }
        StepManagerStates.of(out, entry, after);
        return out;
    }

    private void one(List<Decision.Direct> out, Change change, Entry entry, State after, Set<String> launched) {
        switch (change) {
            case Change.JobStarted c -> started(out, c, entry, after, launched);
            case Change.StepStarted c ->
                after.jobs()
                        .find(c.jobId())
                        .ifPresent(j -> j.step(c.step().id()).ifPresent(s -> launch(out, after, j, s, entry.tickMs())));
            case Change.JobEnded c ->
                end(
                        out,
                        after,
                        c.jobId(),
                        c.reason() == JobReason.NONE
                                ? c.state().name()
                                : c.reason().word());
            case Change.JobRequeued c ->
                end(
                        out,
                        after,
                        c.jobId(),
                        entry.changes().stream()
                                        .anyMatch(o -> o instanceof Change.JobPreempted p && p.jobId() == c.jobId())
                                ? "Preempted"
                                : "Requeued");
            case Change.JobShrunk c -> after.jobs().find(c.jobId()).ifPresent(j -> endOnDropped(out, after, j, c));
            case Change.StepEnding c ->
                after.jobs()
                        .find(c.jobId())
                        .ifPresent(j -> j.step(c.stepId())
                                .ifPresent(s -> s.nodes().stream()
                                        .filter(p -> !p.done())
                                        .forEach(p -> out.add(new Decision.Direct(p.node(), ending(c, after, j, s))))));
            case Change.JobMemoryLowered c ->
                after.jobs()
                        .find(c.jobId())
                        .ifPresent(j -> c.memoryMb()
                                .forEach((node, mb) -> out.add(new Decision.Direct(
                                        node, new NodeMessages.SetMemory(j.id(), j.attempt(), mb)))));
            case Change.JobSuspended c ->
                toAll(out, after, c.jobId(), j -> new NodeMessages.Suspend(j.id(), j.attempt(), true));
            case Change.JobResumed c ->
                toAll(out, after, c.jobId(), j -> new NodeMessages.Suspend(j.id(), j.attempt(), false));
            case Change.LimitChanged c ->
                toAll(
                        out,
                        after,
                        c.jobId(),
                        j -> new NodeMessages.SetTimeLimit(
                                j.id(), j.attempt(), LaunchMessages.enforcedSecondsLeft(after, j, entry.tickMs())));
            default -> {}
        }
    }

    private static void endOnDropped(List<Decision.Direct> out, State after, Job job, Change.JobShrunk c) {
        int killWaitS = after.settings().killWaitS();
        c.dropped()
                .forEach(node -> out.add(new Decision.Direct(
                        node, new NodeMessages.EndJob(job.id(), job.attempt(), killWaitS, "Resized"))));
    }

    private static void started(
            List<Decision.Direct> out, Change.JobStarted c, Entry entry, State after, Set<String> launched) {
        after.jobs().find(c.jobId()).filter(j -> j.attempt() == c.attempt()).ifPresent(job -> {
            // a node that comes up for this job hears of it when it registers
            List<Allocation.Share> told = c.allocation().nodes().stream()
                    .filter(s -> !s.bootId().isEmpty() && !launched.contains(job.id() + "@" + s.node()))
                    .toList();
            List<String> hooks = told.isEmpty() ? List.of() : JobEnvironment.ofHooks(after, job);
            for (Allocation.Share share : told) {
                out.add(new Decision.Direct(
                        share.node(),
                        new NodeMessages.Prepare(
                                LaunchMessages.share(after, job, share, entry.tickMs(), hooks),
                                after.settings().awaitProlog() && !share.prologDone())));
            }
        });
    }

    private void launch(List<Decision.Direct> out, State state, Job job, Step step, long tickMs) {
        LaunchMessages.StepLaunches all = launches.of(state, job, step, tickMs);
        for (Step.Part part : step.nodes()) {
            if (!part.done()
                    && !part.launched()
                    && job.run().allocation().on(part.node()).isPresent()) {
                try {
                    out.add(new Decision.Direct(part.node(), all.on(part)));
                } catch (java.io.UncheckedIOException e) {
                    unlaunchable.accept(job, e);
                }
            }
        }
    }

    private static void end(List<Decision.Direct> out, State state, int jobId, String reason) {
        toAll(
                out,
                state,
                jobId,
                j -> new NodeMessages.EndJob(
                        j.id(), j.attempt(), state.settings().killWaitS(), reason, JobEnvironment.ofEpilog(j)));
    }

    private static void toAll(List<Decision.Direct> out, State state, int jobId, Function<Job, ToNode> message) {
        state.jobs().find(jobId).ifPresent(job -> {
            for (Allocation.Share share : job.run().allocation().held()) {
                if (!share.released()) {
                    out.add(new Decision.Direct(share.node(), message.apply(job)));
                }
            }
        });
    }

    // ---- when a node registers

    /**
     * Returns the state's work for a node that it may not know of: unlaunched steps, unfinished ends. Idempotent on the
     * node.
     */
    public List<ToNode> desired(State state, String nodeName, long tickMs) {
        List<ToNode> out = new ArrayList<>();
        Node node = state.nodes().find(nodeName).orElse(null);
        if (node == null) {
            return out;
        }
        for (int id : node.jobs()) {
            Job job = state.jobs().at(id);
            job.run()
                    .allocation()
                    .on(nodeName)
                    .filter(s -> !s.released() && s.bootId().equals(node.bootId()))
                    .ifPresent(share -> {
                        desired(out, state, job, share, tickMs);
                        StepManagerStates.whole(state, job, nodeName, tickMs).ifPresent(out::add);
                    });
        }
        return out;
    }

    private static ToNode ending(Change.StepEnding c, State after, Job job, Step step) {
        if (step.isInterrupted() && !c.atOnce()) {
            return new NodeMessages.Signal(job.id(), job.attempt(), step.id(), SIGINT, false, false);
        }
        return endStep(job, step, c.atOnce() ? 0 : after.settings().killWaitS());
    }

    /** A node is told of an interrupt as of a cancellation. */
    private static ToNode endStep(Job job, Step step, int killWaitS) {
        return new NodeMessages.EndStep(
                job.id(),
                job.attempt(),
                step.id(),
                killWaitS,
                step.isInterrupted()
                        ? step.endedBy().map(uid -> Step.CANCELLED_BY + uid).orElseThrow()
                        : step.ending());
    }

    private void desired(List<ToNode> out, State state, Job job, Allocation.Share share, long tickMs) {
        if (job.has(JobFlag.COMPLETING) || job.run().allocation().isLeaving(share.node())) {
            out.add(new NodeMessages.EndJob(
                    job.id(),
                    job.attempt(),
                    state.settings().killWaitS(),
                    job.reason().word(),
                    JobEnvironment.ofEpilog(job)));
            return;
        }
        if (job.has(JobFlag.CONFIGURING) && !share.prologDone()) {
            out.add(new NodeMessages.Prepare(LaunchMessages.share(state, job, share, tickMs), true));
        }
        for (Step step : job.run().steps()) {
            step.on(share.node())
                    .filter(p -> !p.done() && step.state() == Step.State.RUNNING)
                    .ifPresent(part -> desired(out, state, job, step, part, tickMs));
        }
        if (job.state() == JobState.SUSPENDED) {
            out.add(new NodeMessages.Suspend(job.id(), job.attempt(), true));
        }
    }

    private void desired(List<ToNode> out, State state, Job job, Step step, Step.Part part, long tickMs) {
        if (!part.launched()) {
            try {
                out.add(launches.of(state, job, step, tickMs).on(part));
            } catch (java.io.UncheckedIOException e) {
                unlaunchable.accept(job, e);
            }
        }
        if (!step.ending().isEmpty()) {
            out.add(endStep(job, step, state.settings().killWaitS()));
        }
    }
}
