package dev.muster.controller.edge;

import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.JobWatch;
import dev.muster.controller.view.AllocationView;
import dev.muster.controller.view.HostFunctions;
import dev.muster.controller.view.TresText;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.FieldRights;
import dev.muster.model.api.JobMessages;
import dev.muster.model.format.TextCheck;
import dev.muster.model.job.StepDesc;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Answers srun's requests for steps: stores the environment as a blob, and retries a step while its resources are busy.
 */
public final class StepHandler {
    private static final Reply REFUSED = Reply.error(400, SlurmErrno.ERROR, SubmitHandler.NUL);
    private final ControllerServices services;
    private final CoreThread core;
    private final BlobStore blobs;
    private final JobWatch watch;

    StepHandler(ControllerServices services, CoreThread core, BlobStore blobs, JobWatch watch) {
        this.services = services;
        this.core = core;
        this.blobs = blobs;
        this.watch = watch;
    }

    void register(MessageHandlers messages) {
        messages.onKnown(
                        "CreateStep",
                        JobMessages.CreateStep.class,
                        (caller, m) -> hasNul(List.of(m)) ? REFUSED : createStep(caller, m))
                .onKnown(
                        "CreateHetStep",
                        JobMessages.CreateHetStep.class,
                        (caller, m) -> hasNul(m.parts()) ? REFUSED : createHetStep(caller, m));
    }

    private static boolean hasNul(List<JobMessages.CreateStep> parts) {
        return parts.stream().anyMatch(p -> TextCheck.hasNul(FieldRights.texts(p.step())));
    }

    private Reply createStep(Caller caller, JobMessages.CreateStep m) {
        Command.CreateStep command = step(caller, m, services.randomToken());
        return switch (stepped(caller, m.jobId(), m.waitMs(), command, List.of(command))) {
            case Decision.Rejected r -> Replies.rejected(r);
            case Decision.Accepted a ->
                started(m.jobId(), (Integer) a.reply())
                        .map(Reply::of)
                        .orElseGet(() -> Reply.error(SlurmErrno.INVALID_JOB_ID));
        };
    }

    private Reply createHetStep(Caller caller, JobMessages.CreateHetStep m) {
        if (m.parts().isEmpty()) {
            return Reply.error(SlurmErrno.NOT_HET_JOB);
        }
        String token = services.randomToken();
        List<Command.CreateStep> parts =
                m.parts().stream().map(p -> step(caller, p, token)).toList();
        int leader = core.durable()
                .jobs()
                .find(m.parts().getFirst().jobId())
                .map(j -> j.het().jobId())
                .orElse(0);
        return switch (stepped(
                caller, leader, m.waitMs(), new Command.CreateHetStep(caller.uid(), m.requestId(), parts), parts)) {
            case Decision.Rejected r -> Replies.rejected(r);
            case Decision.Accepted a -> {
                List<JobMessages.StepStarted> all =
                        started(core.durable(), services.links()::address, m.parts(), (Integer) a.reply());
                yield all.size() == parts.size()
                        ? Reply.of(new JobMessages.HetStepStarted(all))
                        : Reply.error(SlurmErrno.INVALID_JOB_ID);
            }
        };
    }

    private Command.CreateStep step(Caller caller, JobMessages.CreateStep m, String token) {
        Bytes environment = SubmitHandler.joined(m.step().environment());
        String hash = BlobStore.hash(environment);
        blobs.offer(hash, environment);
        StepDesc step = HostFunctions.expanded(m.step(), core.durable());
        return new Command.CreateStep(
                caller.uid(), m.requestId(), m.jobId(), withEnvironment(step, hash), environment, token);
    }

    /** Asked again while what it needs is busy. */
    private Decision stepped(Caller caller, int jobId, int waitMs, Command command, List<Command.CreateStep> parts) {
        boolean accepted = false;
        try {
            Decision decision = stepped(caller, jobId, waitMs, command);
            accepted = decision instanceof Decision.Accepted;
            return decision;
        } finally {
            for (Command.CreateStep part : parts) {
                blobs.settle(BlobStore.hash(part.environment()), accepted);
            }
        }
    }

    private Decision stepped(Caller caller, int jobId, int waitMs, Command command) {
        Decision[] last = new Decision[1];
        Decision decision = watch.await(jobId, Math.min(waitMs, Replies.WAIT_MS_MAX), () -> {
            last[0] = core.execute(command, caller.uid());
            boolean later = last[0] instanceof Decision.Rejected r && r.errno().isStepToCome();
            return later ? null : last[0];
        });
        return decision == null ? last[0] : decision;
    }

    private static StepDesc withEnvironment(StepDesc d, String hash) {
        return d.withEnvironment(hash.isEmpty() ? List.of() : List.of(Bytes.of(hash)));
    }

    /**
     * Returns the commands for the step of each component, in the order of the request.
     *
     * @param number of the step
     */
    public static List<JobMessages.StepStarted> started(
            State state, Function<Node, String> address, List<JobMessages.CreateStep> parts, int number) {
        return parts.stream()
                .mapToInt(JobMessages.CreateStep::jobId)
                .distinct()
                .boxed()
                .flatMap(jobId -> state.jobs().find(jobId).stream())
                .flatMap(j -> j.steps(number).stream().flatMap(s -> started(state, address, j.id(), s.id()).stream()))
                .toList();
    }

    private Optional<JobMessages.StepStarted> started(int jobId, int stepId) {
        return started(core.durable(), services.links()::address, jobId, stepId);
    }

    /** @param address where a node is spoken to */
    public static Optional<JobMessages.StepStarted> started(
            State state, Function<Node, String> address, int jobId, int stepId) {
        Optional<Job> job = state.jobs().find(jobId);
        Optional<Step> step = job.flatMap(j -> j.step(stepId));
        if (step.isEmpty()) {
            return Optional.empty();
        }
        List<JobMessages.NodeShare> shares = new ArrayList<>();
        for (Step.Part p : step.get().nodes()) {
            shares.add(AllocationView.share(
                    state,
                    address,
                    p.node(),
                    p.cpus(),
                    p.memoryMb(),
                    TresText.gresDetail(state, p.node(), p.gres()),
                    p.tasks().size(),
                    p.tasks(),
                    p.cpus()));
        }
        return Optional.of(new JobMessages.StepStarted(
                jobId,
                stepId,
                job.get().attempt(),
                step.get().tasks(),
                shares,
                step.get().ioToken(),
                List.of(),
                step.get().desc().cpuBind()));
    }
}
