package dev.muster.simulator;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Every entry that ever became durable, replayed from its bytes: what the controller must agree with after any crash,
 * and what clients and nodes may rely on.
 */
final class DurableHistory {
    private final World world;

    @SuppressWarnings("NullAway.Init") // the cluster sets it before the first entry
    private ExecutionLedger ledger;

    private State state = State.EMPTY;
    private long index;
    private final Set<String> started = new HashSet<>();
    private final Map<String, String> releasedBy = new HashMap<>();
    private final Map<Integer, String> nameOf = new HashMap<>();
    private final Map<String, Integer> idOf = new HashMap<>();
    private final Set<Integer> purged = new HashSet<>();
    private final Set<Integer> completed = new HashSet<>();
    private final Set<Integer> requeued = new HashSet<>();
    private final Map<Integer, Integer> arrayOf = new HashMap<>();
    private final Map<String, Integer> acknowledged = new HashMap<>();
    private final Set<Integer> cancelled = new HashSet<>();

    DurableHistory(World world) {
        this.world = world;
    }

    void ledger(ExecutionLedger r) {
        ledger = r;
    }

    State state() {
        return state;
    }

    long index() {
        return index;
    }

    boolean hasStarted(int jobId, int attempt) {
        return started.contains(jobId + "." + attempt);
    }

    /** The report is in the journal, or about what the controller has given up. */
    boolean hasTaken(String node, NodeMessages.StepExited m) {
        return state
                .jobs()
                .find(m.jobId())
                .filter(j -> j.attempt() == m.attempt())
                .filter(j ->
                        j.run().allocation().on(node).filter(s -> !s.released()).isPresent())
                .flatMap(j -> j.step(m.stepId()))
                .stream()
                .flatMap(s -> s.nodes().stream())
                .noneMatch(p -> p.node().equals(node) && !p.done());
    }

    /** The controller gave the attempt's part on this node up without word from the node. */
    boolean fenced(int jobId, int attempt, String node) {
        String cause = releasedBy.getOrDefault(jobId + "." + attempt + "." + node, "");
        return cause.equals("NodeLost") || cause.equals("UpdateNode");
    }

    // ---- what clients were told

    void acknowledgedSubmit(String name, int jobId) {
        Integer before = acknowledged.put(name, jobId);
        if (before != null && before != jobId) {
            throw new Violation("I44 same request, same answer", name + " is " + before + " and " + jobId);
        }
        if (acknowledged.entrySet().stream()
                .anyMatch(e -> e.getValue() == jobId && !e.getKey().equals(name))) {
            throw new Violation("I6 ids are never reused", "job " + jobId + " was acknowledged twice");
        }
        if (!name.equals(nameOf.get(jobId))) {
            throw new Violation(
                    "I7 acknowledged means durable",
                    name + " was answered with job " + jobId + ", the journal has " + nameOf.get(jobId));
        }
    }

    /** The client was told that the job (or all of the array) is cancelled. */
    void acknowledgedCancel(int jobId) {
        cancelled.add(jobId);
    }

    void requeueAsked(int jobId) {
        requeued.add(jobId);
    }

    // ---- entries

    void durable(long at, byte[] bytes) {
        if (at != index + 1) {
            throw new Violation("I38 replay", "entry " + at + " follows " + index);
        }
        Entry entry = Entry.decode(bytes);
        State before = state;
        state = before.apply(entry);
        index = at;
        // records of one entry follow each other: what a record is about is looked up in the state it meets
        State met = before;
        for (Change change : entry.changes()) {
            look(change, entry, met);
            met = met.apply(
                    new Entry(entry.tickMs(), entry.timeMs(), entry.uid(), entry.cause(), java.util.List.of(change)));
        }
        if (!met.equals(state)) {
            throw new Violation("I38 replay", "records one by one give another state than their entry");
        }
        Invariants.transitions(before, state, entry);
        Invariants.check(state);
    }

    private void look(Change change, Entry entry, State met) {
        switch (change) {
            case Change.JobSubmitted c -> submitted(c.job());
            case Change.ArrayTaskSplit c -> {
                arrayOf.put(c.jobId(), c.arrayJobId());
                if (c.jobId() != c.arrayJobId()) {
                    fresh(c.jobId(), nameOf.get(c.arrayJobId()) + "_" + c.task());
                }
            }
            case Change.JobStarted c -> started(c, met);
            case Change.JobEnded c -> ended(c, met);
            case Change.StepPartEnded c -> partEnded(c, entry, met);
            case Change.NodeReleased c -> releasedBy.put(c.jobId() + "." + c.attempt() + "." + c.node(), entry.cause());
            case Change.JobRequeued c -> {
                world.saw("requeued by " + entry.cause());
                if (!met.jobs().at(c.jobId()).state().isActive()) {
                    requeued.add(c.jobId());
                }
            }
            case Change.JobPurged c -> {
                purged.add(c.jobId());
                if (!met.jobs().at(c.jobId()).state().isTerminal()) {
                    throw new Violation(
                            "I2",
                            "job " + c.jobId() + " was forgotten while it was "
                                    + met.jobs().at(c.jobId()).state());
                }
            }
            default -> {}
        }
    }

    private void fresh(int id, String name) {
        String other = nameOf.put(id, name);
        if (other != null) {
            throw new Violation("I6 ids are never reused", "number " + id + " of " + other + " is given to " + name);
        }
    }

    private void submitted(Job job) {
        fresh(job.id(), job.desc().name());
        Integer other = idOf.put(job.desc().name(), job.id());
        if (other != null) {
            throw new Violation(
                    "I44 same request, same answer", job.desc().name() + " became job " + other + " and " + job.id());
        }
    }

    private void started(Change.JobStarted c, State met) {
        Job job = met.jobs().at(c.jobId());
        if (!started.add(c.jobId() + "." + c.attempt()) || c.attempt() != job.attempt() + 1) {
            throw new Violation("I3 one start per attempt", "job " + c.jobId() + " attempt " + c.attempt());
        }
        if (!job.isPending() || job.isHeld() || job.eligibleTime() == 0) {
            throw new Violation(
                    "I8 only eligible jobs start", job.displayId() + " " + job.state() + " " + job.reason());
        }
        int array = arrayOf.getOrDefault(c.jobId(), c.jobId());
        if ((cancelled.contains(c.jobId()) || cancelled.contains(array))
                && !requeued.contains(c.jobId())
                && !requeued.contains(array)) {
            throw new Violation("I10 a cancelled job never starts", "job " + c.jobId());
        }
        dependenciesHold(job);
        for (Allocation.Share share : c.allocation().nodes()) {
            Node node = met.nodes().at(share.node());
            if (!node.isUsable() || !node.bootId().equals(share.bootId())) {
                throw new Violation("I15 nodes are usable at the decision", "job " + c.jobId() + " on " + share.node());
            }
        }
    }

    private void dependenciesHold(Job job) {
        boolean any = job.dependencies().stream().anyMatch(Dependency::any);
        for (Dependency d : job.dependencies()) {
            if (!any && d.status() != Dependency.Status.FULFILLED) {
                throw new Violation("I9 dependencies", "job " + job.id() + " starts with " + d);
            }
            if (d.kind() == Dependency.Kind.AFTEROK
                    && d.status() == Dependency.Status.FULFILLED
                    && !completed.contains(d.jobId())) {
                throw new Violation(
                        "I9 dependencies", "job " + job.id() + " starts, but " + d.jobId() + " never completed");
            }
        }
    }

    private void partEnded(Change.StepPartEnded c, Entry entry, State met) {
        ExitStatus told = c.exits().get("0");
        if (!entry.cause().equals("Report") || told == null) {
            return;
        }
        Job job = met.jobs().at(c.jobId());
        StepProcesses processes = ledger.step(c.jobId(), job.attempt(), c.stepId(), c.node());
        if (processes == null || processes.alive || !processes.exit.equals(told)) {
            throw new Violation(
                    "I11 true exit status",
                    "job " + c.jobId() + " step " + c.stepId() + ": recorded " + told + ", really "
                            + really(processes));
        }
    }

    private void ended(Change.JobEnded c, State met) {
        Job job = met.jobs().at(c.jobId());
        if (!job.state().isActive()) {
            throw new Violation("I2", "job " + c.jobId() + " ended while " + job.state());
        }
        if (c.state() == JobState.COMPLETED) {
            completed.add(c.jobId());
        }
        StepProcesses batch = ledger.batch(c.jobId(), job.attempt());
        if (isEndOfScript(c) && (batch == null || batch.alive || !batch.exit.equals(c.exit()))) {
            throw new Violation(
                    "I11 true exit status",
                    "job " + c.jobId() + " " + c.state() + " " + c.exit() + ", really " + really(batch));
        }
        if (c.reason() == JobReason.JOB_LAUNCH_FAILURE && ledger.wasRefused(c.jobId(), job.attempt())) {
            throw new Violation(
                    "I40 launches name the node's boot",
                    "job " + c.jobId() + " failed because its launch named another boot");
        }
        world.saw("job " + c.state());
        if (c.state() == JobState.TIMEOUT) {
            timedOut(job, batch);
        }
    }

    private static boolean isEndOfScript(Change.JobEnded c) {
        return c.state() == JobState.COMPLETED
                || c.state() == JobState.FAILED
                        && (c.reason() == JobReason.NON_ZERO_EXIT_CODE || c.reason() == JobReason.RAISED_SIGNAL);
    }

    private static String really(@Nullable StepProcesses processes) {
        if (processes == null) {
            return "never ran";
        }
        return processes.alive ? "runs" : processes.exit.toString();
    }

    /** A job that times out was launched, and its end was not reported in time. */
    private void timedOut(Job job, @Nullable StepProcesses batch) {
        if (batch == null) {
            if (ledger.couldReport(job.run().allocation().ofScript().node())) {
                throw new Violation(
                        "I23 what was started is launched", "job " + job.id() + " is TIMEOUT and never ran");
            }
        } else if (!batch.alive
                && batch.byItself
                && batch.endMs < world.nowMs() - Simulation.REPORT_WITHIN_MS
                && ledger.couldReport(batch.node)) {
            throw new Violation(
                    "I11 true exit status",
                    "job " + job.id() + " is TIMEOUT although it ended " + batch.exit + " at " + batch.endMs);
        }
    }

    // ---- at the end

    /** Every acknowledged job is still known, or was forgotten after it had ended. */
    void acknowledgedAreKnown() {
        acknowledged.forEach((name, id) -> {
            if (!state.jobs().has(id) && !purged.contains(id)) {
                throw new Violation("I7 acknowledged means durable", name + " (job " + id + ") is lost");
            }
        });
    }

    int jobsSeen() {
        return nameOf.size();
    }

    /** Jobs that are not over yet. */
    long unfinished() {
        return state.jobs().values().stream()
                .filter(j -> !j.state().isTerminal() || j.has(JobFlag.COMPLETING))
                .count();
    }
}
