package dev.muster.core.step;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.command.Requests;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Steps: their share of an allocation and the layout of their tasks. */
public final class StepRules {
    private static final StepDesc NO_DESC = Codec.bind(new Json.Obj(), StepDesc.class);

    private final State state;
    private final DecisionTime now;
    private final Planner planner;

    public StepRules(State state, DecisionTime now, Planner planner) {
        this.state = state;
        this.planner = planner;
        this.now = now;
    }

    /** Returns the extern step where it is configured, as soon as the nodes are ready. */
    public static List<Change> extern(int jobId, Allocation allocation, Settings settings, DecisionTime now) {
        if (!settings.externSteps()) {
            return List.of();
        }
        List<Step.Part> parts =
                allocation.nodes().stream().map(s -> part(s, List.of())).toList();
        return List.of(new Change.StepStarted(jobId, step(Step.EXTERN, parts, now)));
    }

    /** Returns the batch script's step. */
    public static List<Change> script(int jobId, JobDesc desc, Allocation allocation, DecisionTime now) {
        return desc.kind() != JobDesc.Kind.BATCH
                ? List.of()
                : List.of(new Change.StepStarted(
                        jobId, step(Step.BATCH, List.of(part(allocation.ofScript(), List.of(0))), now)));
    }

    private static Step step(int id, List<Step.Part> parts, DecisionTime now) {
        return new Step(
                id, NO_DESC, "", parts, Step.State.RUNNING, now.seconds(), 0, "", "", List.of(), IndexSet.empty());
    }

    private static Step.Part part(Allocation.Share s, List<Integer> tasks) {
        return new Step.Part(
                s.node(),
                tasks,
                s.cores(),
                s.cpus(),
                s.memoryMb(),
                s.gres(),
                false,
                false,
                ExitStatus.NONE,
                Map.of(),
                "");
    }

    public Decision create(Command.CreateStep c) {
        return create(c.uid(), c.requestId(), List.of(c));
    }

    /**
     * A step over components, of a heterogeneous job or its own, has the same number in each, and ranks that go on from
     * one to the next.
     */
    public Decision create(Command.CreateHetStep c) {
        List<Integer> jobs = c.parts().stream().map(Command.CreateStep::jobId).toList();
        if (HetStep.isOfOneJob(c.parts())
                && state.jobs().find(jobs.getFirst()).filter(Job::isHet).isEmpty()) {
            return create(c.uid(), c.requestId(), c.parts());
        }
        boolean oneJob = jobs.stream()
                        .map(id ->
                                state.jobs().find(id).map(j -> j.het().jobId()).orElse(0))
                        .distinct()
                        .count()
                == 1;
        boolean known = state.jobs()
                .find(jobs.isEmpty() ? 0 : jobs.getFirst())
                .filter(Job::isHet)
                .isPresent();
        if (!state.settings().options().requests().hetSteps() && jobs.size() > 1) {
            return new Decision.Rejected(
                    SlurmErrno.NOT_SUPPORTED,
                    "Job steps that span multiple components of a heterogeneous job are not currently supported");
        }
        return !oneJob || !known || new HashSet<>(jobs).size() < jobs.size()
                ? Decision.reject(SlurmErrno.NOT_HET_JOB)
                : create(c.uid(), c.requestId(), c.parts());
    }

    private Decision create(int uid, String requestId, List<Command.CreateStep> parts) {
        Optional<Bytes> before = Requests.answered(state, requestId, uid);
        if (before.isPresent()) {
            return Decision.of(List.of(), Integer.parseInt(before.get().text()));
        }
        Optional<HetStep> ofOneJob = HetStep.isOfOneJob(parts) ? Optional.of(new HetStep()) : Optional.empty();
        List<Integer> together = parts.size() < 2 || ofOneJob.isPresent()
                ? List.of()
                : parts.stream().map(Command.CreateStep::jobId).toList();
        TreeMap<String, Bytes> environments = new TreeMap<>();
        List<Change> steps = new ArrayList<>();
        int id = -1;
        int firstRank = 0;
        for (Command.CreateStep part : parts) {
            Optional<Decision.Rejected> refusal = refusal(uid, part)
                    .or(() -> ofOneJob.flatMap(h ->
                            h.refusal(state.jobs().at(part.jobId()), part.step().request())));
            if (refusal.isPresent()) {
                return refusal.get();
            }
            Job job = state.jobs().at(part.jobId());
            id = id >= 0 ? id : newStepId(parts, job);
            if (part.step().async() && (parts.size() > 1 || job.isHet())) {
                return new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED,
                        job.isHet()
                                ? "Asynchronous steps are not for heterogeneous jobs"
                                : "A heterogeneous step cannot be asynchronous");
            }
            int number = id;
            Step asked = asked(job, part, ofOneJob.map(h -> h.id(number)).orElse(id), together);
            switch (place(job, asked, ofOneJob.map(HetStep::nodes).orElse(Set.of()))) {
                case NotPlaced n
                when part.step().async() && n.why().isStepToCome() -> steps.add(new Change.StepQueued(job.id(), asked));
                case NotPlaced n -> {
                    return Decision.reject(n.why());
                }
                case Placed w -> {
                    Step step = asked.begun(w.ranked(firstRank), w.ports(), now.seconds());
                    firstRank += step.tasks();
                    ofOneJob.ifPresent(h -> h.add(step));
                    steps.add(new Change.StepStarted(job.id(), step));
                }
            }
            environments.put(asked.envHash(), part.environment());
        }
        List<Change> changes = new ArrayList<>(Requests.stored(state, environments));
        changes.addAll(steps);
        Requests.remember(changes, requestId, uid, Bytes.of(Integer.toString(id)));
        return Decision.of(changes, id);
    }

    private int newStepId(List<Command.CreateStep> parts, Job job) {
        return isShell(parts, job)
                ? StepId.INTERACTIVE
                : state.members(job).stream()
                        .mapToInt(j -> j.run().nextStep())
                        .max()
                        .orElse(0);
    }

    /**
     * Tests for the first step of {@code srun --interactive}, which has the id "interactive"; a second one has a
     * number.
     */
    private static boolean isShell(List<Command.CreateStep> parts, Job job) {
        StepDesc first = parts.getFirst().step();
        return parts.size() == 1
                && first.interactive()
                && !first.async()
                && job.step(StepId.INTERACTIVE).isEmpty();
    }

    /**
     * Begins the first queued step that finds what it needs now; another look shows whether there is more for others.
     */
    public Optional<Change> next(Job job) {
        if (job.state() != JobState.RUNNING) {
            return Optional.empty();
        }
        for (Step s : job.run().steps()) {
            if (s.isQueued() && place(job, s, Set.of()) instanceof Placed w) {
                return Optional.of(new Change.StepStarted(job.id(), s.begun(w.nodes(), w.ports(), now.seconds())));
            }
        }
        return Optional.empty();
    }

    /** Verdict on where a step can begin now. */
    private sealed interface Place {}

    private record Placed(List<Step.Part> nodes, IndexSet ports) implements Place {
        List<Step.Part> ranked(int first) {
            return first == 0
                    ? nodes
                    : nodes.stream().map(p -> p.rankedFrom(first)).toList();
        }
    }

    private record NotPlaced(SlurmErrno why) implements Place {}

    /** @param excluded nodes that it may not have */
    private Place place(Job job, Step step, Set<String> excluded) {
        Object placed = new StepPlacement(job, step, state, planner, excluded).parts();
        if (placed instanceof SlurmErrno errno) {
            return new NotPlaced(errno);
        }
        @SuppressWarnings("unchecked")
        List<Step.Part> nodes = (List<Step.Part>) placed;
        int maxTasks = state.settings().maxTasksPerNode();
        if (maxTasks > 0 && nodes.stream().anyMatch(p -> p.tasks().size() > maxTasks)) {
            return new NotPlaced(SlurmErrno.BAD_TASK_COUNT);
        }
        return switch (Ports.ofStep(state, job, nodes, step.desc().resvPorts(), job.id() + step.number())) {
            case SlurmErrno errno -> new NotPlaced(errno);
            case Object ports -> new Placed(nodes, (IndexSet) ports);
        };
    }

    private Optional<Decision.Rejected> refusal(int uid, Command.CreateStep c) {
        Optional<Job> found = state.jobs().find(c.jobId());
        if (found.isEmpty()) {
            return Optional.of(Decision.unknownJob());
        }
        Job job = found.get();
        boolean may = uid == job.desc().owner().uid() || Access.isSuperUser(state, uid);
        Optional<SlurmErrno> errno;
        if (!may) {
            errno = Optional.of(SlurmErrno.ACCESS_DENIED);
        } else if (job.state() == JobState.PENDING) {
            errno = Optional.of(SlurmErrno.JOB_PENDING);
        } else if (job.state() == JobState.SUSPENDED) {
            errno = Optional.of(SlurmErrno.DISABLED);
        } else if (job.state() != JobState.RUNNING) {
            errno = Optional.of(SlurmErrno.ALREADY_DONE);
        } else if (job.has(JobFlag.CONFIGURING)) {
            errno = Optional.of(SlurmErrno.PROLOG_RUNNING);
        } else if (job.run().nextStep()
                >= Math.min(StepId.NUMBER_MAX, state.settings().maxStepCount())) {
            errno = Optional.of(SlurmErrno.STEP_LIMIT);
        } else {
            errno = Optional.empty();
        }

        return errno.map(Decision::reject)
                .or(() -> StepLimits.refusal(c.step(), state.settings()))
                .or(() -> SamplingInterval.refusal(
                        state.settings(), c.step().acctgFreq(), job.desc().request()));
    }

    /** Returns the step as it waits for its place. */
    private Step asked(Job job, Command.CreateStep c, int id, List<Integer> together) {
        String hash = c.step().environment().isEmpty()
                ? ""
                : c.step().environment().getFirst().text();
        return new Step(
                id,
                withoutEnvironment(c.step(), job),
                hash,
                List.of(),
                Step.State.QUEUED,
                0,
                0,
                c.ioToken(),
                "",
                together,
                IndexSet.empty());
    }

    /**
     * Returns the description as it is kept: without the environment, and with the job's or the configuration's words
     * where the step has none.
     */
    private StepDesc withoutEnvironment(StepDesc d, Job job) {
        JobDesc.Extras ofJob = job.desc().extras();
        return d.withEnvironment(List.of())
                .withDefaults(
                        TaskBinding.of(state, job),
                        ofJob.tresBind(),
                        ofJob.oomKillStep().isEmpty()
                                ? state.settings().options().steps().oomKillStep()
                                : ofJob.oomKillStep(),
                        ofJob.acctgFreq(),
                        ofJob.profile());
    }
}
