package dev.muster.controller;

import dev.muster.controller.edge.StepHandler;
import dev.muster.controller.edge.SubmitHandler;
import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.nodes.NodeMessagesFromState;
import dev.muster.controller.view.AllocationView;
import dev.muster.core.Core;
import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.node.ManagedSteps;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.daemon.StepAllocator;
import dev.muster.json.Bytes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.JobReason;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** The core, with one job in it, or the components of one: its steps are decided on the node as they would be here. */
final class ManagedJob implements StepAllocator.Job {
    private final Core core = new Core(new Scheduler());
    private final Consumer<Bytes> keep;
    /** Cluster time and this machine's, when slurmctld last spoke of the job. */
    private long tickMs;

    private long heardNs;

    ManagedJob(Bytes entry, Consumer<Bytes> keep) {
        this.keep = keep;
        Entry whole = Entry.decode(entry.toArray());
        core.reset(State.EMPTY.apply(whole));
        heard(whole);
    }

    private void heard(Entry entry) {
        tickMs = entry.tickMs();
        heardNs = System.nanoTime();
    }

    private DecisionTime now(long timeMs) {
        return new DecisionTime(tickMs + (System.nanoTime() - heardNs) / 1_000_000, timeMs);
    }

    private Job job(int jobId) {
        return core.state().jobs().at(jobId);
    }

    @Override
    public void follow(Bytes more) {
        Entry entry = Entry.decode(more.toArray());
        core.apply(entry);
        heard(entry);
    }

    @Override
    public List<Integer> jobs() {
        return core.state().jobs().values().stream()
                .filter(j -> !j.run().allocation().isEmpty())
                .map(Job::id)
                .toList();
    }

    @Override
    public int attempt(int jobId) {
        return job(jobId).attempt();
    }

    @Override
    public List<String> nodes(int jobId) {
        return job(jobId).run().allocation().nodeNames();
    }

    @Override
    public int nextStep() {
        return core.state().jobs().values().stream()
                .mapToInt(j -> j.run().nextStep())
                .max()
                .orElse(0);
    }

    @Override
    public Set<Integer> open(int jobId, String node) {
        return job(jobId).run().steps().stream()
                .filter(s -> s.isAsked()
                        && s.state() == Step.State.RUNNING
                        && s.nodes().stream().anyMatch(p -> p.node().equals(node) && !p.done()))
                .map(Step::id)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public void over(int jobId, int stepId, String node, long timeMs) {
        // with which status slurmctld will hear from the node itself
        apply(
                core.decide(
                        new Command.Report(
                                node,
                                new NodeMessages.StepExited(
                                        0,
                                        jobId,
                                        attempt(jobId),
                                        stepId,
                                        Map.of(),
                                        "",
                                        timeMs,
                                        new NodeMessages.Usage(0, 0, 0, 0, 0, 0, 0))),
                        now(timeMs)),
                timeMs);
    }

    private void apply(Decision decision, long timeMs) {
        List<Change> changes = decision instanceof Decision.Accepted a ? a.changes() : List.of();
        if (!changes.isEmpty()) {
            Entry entry = new Entry(now(timeMs).tickMs(), timeMs, -1, "StepManager", changes);
            keep.accept(Bytes.of(entry.encode()));
            core.apply(entry);
        }
    }

    @Override
    public StepAllocator.Answer<JobMessages.Allocation> allocation(int uid, int jobId) {
        Job job = job(jobId);
        return Access.mayChange(core.state(), uid, job)
                ? new StepAllocator.Given<>(AllocationView.of(
                        core.state(),
                        ManagedJob::address,
                        job,
                        JobReason.NONE.word(),
                        job.state().isActive(),
                        0,
                        List.of()))
                : refused(SlurmErrno.ACCESS_DENIED);
    }

    @Override
    public StepAllocator.Answer<StepAllocator.Begun> create(
            int uid, String requestId, List<JobMessages.CreateStep> parts, String ioToken, long timeMs) {
        Map<String, Bytes> environments = new TreeMap<>();
        List<Command.CreateStep> asked = new ArrayList<>();
        for (JobMessages.CreateStep m : parts) {
            Bytes environment = SubmitHandler.joined(m.step().environment());
            String hash = BlobStore.hash(environment);
            environments.put(hash, environment);
            asked.add(new Command.CreateStep(
                    uid,
                    requestId,
                    m.jobId(),
                    m.step().withEnvironment(hash.isEmpty() ? List.of() : List.of(Bytes.of(hash))),
                    environment,
                    ioToken));
        }
        Decision decision = core.decide(
                asked.size() == 1 ? asked.getFirst() : new Command.CreateHetStep(uid, requestId, asked), now(timeMs));
        if (decision instanceof Decision.Rejected r) {
            return new StepAllocator.Refused<>(r.errno(), r.sentence());
        }
        Decision.Accepted accepted = (Decision.Accepted) decision;
        if (accepted.changes().stream().anyMatch(Change.StepQueued.class::isInstance)) {
            // only slurmctld queues steps: while it is away, srun has to ask again
            return refused(SlurmErrno.NODES_BUSY);
        }
        apply(decision, timeMs);
        int stepId = (Integer) accepted.reply();
        List<StepAllocator.Piece> pieces = parts.stream()
                .mapToInt(JobMessages.CreateStep::jobId)
                .distinct()
                .boxed()
                .flatMap(id -> job(id).steps(stepId).stream()
                        .map(s -> piece(uid, requestId, job(id), s, environments, timeMs)))
                .toList();
        return new StepAllocator.Given<>(new StepAllocator.Begun(stepId, pieces));
    }

    private StepAllocator.Piece piece(
            int uid, String requestId, Job job, Step step, Map<String, Bytes> environments, long timeMs) {
        // asked again, it may not have come to its nodes; those that know it take no harm
        Entry entry = new Entry(
                now(timeMs).tickMs(),
                timeMs,
                -1,
                "StepManager",
                step.state() == Step.State.RUNNING ? List.of(new Change.StepStarted(job.id(), step)) : List.of());
        Map<String, Launch> launches = new TreeMap<>();
        new NodeMessagesFromState(h -> environments.getOrDefault(h, Bytes.EMPTY), (j, e) -> {})
                .of(entry, core.state())
                .forEach(d -> {
                    if (d.message() instanceof Launch l) {
                        launches.put(d.node(), l);
                    }
                });
        List<StepAllocator.NodeLaunch> inOrder = new ArrayList<>();
        step.nodes().forEach(p -> {
            Launch launch = launches.get(p.node());
            if (launch != null) {
                inOrder.add(new StepAllocator.NodeLaunch(p.node(), launch));
            }
        });
        return new StepAllocator.Piece(
                StepHandler.started(core.state(), ManagedJob::address, job.id(), step.id())
                        .orElseThrow(),
                inOrder,
                new NodeMessages.StepManaged(
                        0, job.id(), job.attempt(), uid, requestId, ManagedSteps.written(step), List.of()));
    }

    private static <T> StepAllocator.Answer<T> refused(SlurmErrno errno) {
        return new StepAllocator.Refused<>(errno, errno.sentence());
    }

    /** The service by which slurmd finds the manager of a job's steps. */
    public static final class Allocator implements StepAllocator {
        @Override
        public StepAllocator.Job open(Bytes entry, Consumer<Bytes> keep) {
            return new ManagedJob(entry, keep);
        }
    }

    private static String address(Node node) {
        return node.spec().address();
    }
}
