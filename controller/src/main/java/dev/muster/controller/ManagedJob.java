package dev.muster.controller;

import dev.muster.core.Access;
import dev.muster.core.Change;
import dev.muster.core.Command;
import dev.muster.core.Core;
import dev.muster.core.Decision;
import dev.muster.core.Entry;
import dev.muster.core.Job;
import dev.muster.core.ManagedSteps;
import dev.muster.core.Node;
import dev.muster.core.Now;
import dev.muster.core.State;
import dev.muster.core.Step;
import dev.muster.daemon.StepDesk;
import dev.muster.model.Bytes;
import dev.muster.model.JobReason;
import dev.muster.model.SlurmErrno;
import dev.muster.model.StepDesc;
import dev.muster.model.api.JobMessages;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The core, with one job in it: its steps are decided on the node as they would be here. */
final class ManagedJob implements StepDesk.Job {
    private static final Function<Node, String> ADDRESS = n -> n.spec().address();

    private final Core core = new Core(new Scheduler());
    private final int jobId;
    /** Cluster time and this machine's, when slurmctld last spoke of the job. */
    private long tickMs;
    private long heardNs;

    ManagedJob(Bytes entry) {
        Entry whole = Entry.decode(entry.toArray());
        core.reset(State.EMPTY.apply(whole));
        jobId = core.state().jobs().values().iterator().next().id();
        heard(whole);
    }

    private void heard(Entry entry) {
        tickMs = entry.tickMs();
        heardNs = System.nanoTime();
    }

    private Now now(long timeMs) {
        return new Now(tickMs + (System.nanoTime() - heardNs) / 1_000_000, timeMs);
    }

    private Job job() {
        return core.state().jobs().at(jobId);
    }

    @Override
    public void follow(Bytes more) {
        Entry entry = Entry.decode(more.toArray());
        core.apply(entry);
        heard(entry);
    }

    @Override
    public List<String> nodes() {
        return job().run().allocation().nodeNames();
    }

    @Override
    public int nextStep() {
        return job().run().nextStep();
    }

    @Override
    public Set<Integer> open(String node) {
        return job().run().steps().stream().filter(s -> s.id() >= 0 && s.state() == Step.State.RUNNING
                && s.nodes().stream().anyMatch(p -> p.node().equals(node) && !p.done())).map(Step::id).collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public void over(int stepId, String node, long timeMs) {
        // with which status slurmctld will hear from the node itself
        apply(core.decide(new Command.Report(node, new NodeMessages.StepExited(0, jobId, job().attempt(), stepId, Map.of(), "", timeMs,
                new NodeMessages.Usage(0, 0, 0, 0, 0, 0, 0))), now(timeMs)), timeMs);
    }

    private Entry apply(Decision decision, long timeMs) {
        List<Change> changes = decision instanceof Decision.Accepted a ? a.changes() : List.of();
        Entry entry = new Entry(now(timeMs).tickMs(), timeMs, -1, "StepManager", changes);
        core.apply(entry);
        return entry;
    }

    @Override
    public StepDesk.Answer<JobMessages.Allocation> allocation(int uid) {
        Job job = job();
        return Access.mayChange(core.state(), uid, job) ? new StepDesk.Given<>(AllocationView.of(core.state(), ADDRESS, job, JobReason.NONE.word(),
                job.state().isActive(), 0, List.of())) : refused(SlurmErrno.ACCESS_DENIED);
    }

    @Override
    public StepDesk.Answer<StepDesk.Begun> create(int uid, JobMessages.CreateStep m, String ioToken, long timeMs) {
        if (m.step().async()) {
            return refused(SlurmErrno.CTLD_CONNECT);        // its place in the queue would be known here alone
        }
        Bytes environment = SubmitEdge.joined(m.step().environment());
        String hash = Blobs.hash(environment);
        StepDesc desc = m.step().withEnvironment(hash.isEmpty() ? List.of() : List.of(Bytes.of(hash)));
        Decision decision = core.decide(new Command.CreateStep(uid, m.requestId(), jobId, desc, environment, ioToken), now(timeMs));
        if (decision instanceof Decision.Rejected r) {
            return new StepDesk.Refused<>(r.errno(), r.sentence());
        }
        Entry entry = apply(decision, timeMs);
        int stepId = (Integer) ((Decision.Accepted) decision).reply();
        Job job = job();
        Step step = job.step(stepId).orElseThrow();
        Map<String, Launch> launches = new TreeMap<>();
        new Outgoing(h -> h.equals(hash) ? environment : Bytes.EMPTY, (j, e) -> { }).of(entry, core.state()).forEach(d -> {
            if (d.message() instanceof Launch l) {
                launches.put(d.node(), l);
            }
        });
        List<StepDesk.NodeLaunch> inOrder = new ArrayList<>();
        step.nodes().stream().filter(p -> launches.containsKey(p.node()))
                .forEach(p -> inOrder.add(new StepDesk.NodeLaunch(p.node(), launches.get(p.node()))));
        return new StepDesk.Given<>(new StepDesk.Begun(StepEdge.started(core.state(), ADDRESS, jobId, stepId).orElseThrow(), inOrder,
                new NodeMessages.StepManaged(0, jobId, job.attempt(), uid, m.requestId(), ManagedSteps.written(step), List.of())));
    }

    private static <T> StepDesk.Answer<T> refused(SlurmErrno errno) {
        return new StepDesk.Refused<>(errno, errno.sentence());
    }

    /** How slurmd finds it. */
    public static final class Desk implements StepDesk {
        @Override
        public StepDesk.Job open(Bytes entry) {
            return new ManagedJob(entry);
        }
    }
}
