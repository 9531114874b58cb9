package dev.muster.controller.accounting;

import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.Projection;
import dev.muster.accounting.table.ProjectionWriter;
import dev.muster.accounting.table.RowSink;
import dev.muster.controller.engine.HighestIds;
import dev.muster.controller.view.JobRows;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.EventRow;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.AccountingRows.Usage;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobState;
import dev.muster.model.job.StepId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Accounting inside the controller: every durable entry becomes the rows that it changed. What a row sums up over
 * several entries (usage of a step's nodes, suspended time) is kept here while the job is known, and taken from the
 * tables after a restart.
 */
public final class EmbeddedAccounting implements Accounting {
    /** Milliseconds that a question waits for the rows of what was durable when it came. */
    private static final long CATCH_UP_MS = 30_000;

    private record StepKey(long sluid, int restarts, int stepId) {}

    private record JobKey(long sluid, int restarts) {}

    private final RowSink store;
    private final RowQueries questions;
    private final ProjectionWriter projector;
    private final Map<StepKey, Usage> usages = new HashMap<>();
    /** The last rows of steps that run on several nodes. */
    private final Map<StepKey, StepRow> running = new HashMap<>();

    private final ScriptUploads texts;
    private final Map<JobKey, Long> suspendedSeconds = new HashMap<>();
    private final Map<StepKey, Long> stepSuspendedSeconds = new HashMap<>();
    private final WaitReasons waits;
    private volatile State last = State.EMPTY;
    private long index;
    private HighestIds ahead = HighestIds.NONE;

    /**
     * Opens the tables beside the journal.
     *
     * @param journalLast the last index of the journal. Tables ahead of it (its tail was cut) go on from there.
     * @param contents scripts and environments by their hash
     */
    public static EmbeddedAccounting open(
            Path stateDir, UUID clusterId, long journalLast, Function<String, Bytes> contents, Consumer<String> log) {
        Projection store = AccountingStore.open(stateDir.resolve("accounting"), clusterId);
        HighestIds ahead = HighestIds.NONE;
        if (store.sequence() > journalLast) {
            Projection.Highest rows = store.highest();
            ahead = new HighestIds(store.sequence(), rows.jobId(), rows.sluid());
            log.accept("accounting: the tables hold entries up to " + store.sequence() + ", the journal ends with "
                    + journalLast);
            store.rewind(journalLast);
        }
        EmbeddedAccounting out = new EmbeddedAccounting(
                store,
                new RowQueries() {
                    @Override
                    public AccountingRows.Answer answer(AccountingRows.Query query, String cluster) {
                        return store.answer(query.of(List.of()), System.currentTimeMillis() / 1000, cluster);
                    }

                    @Override
                    public Optional<byte[]> written(AccountingRows.Query query, String cluster) {
                        return query.packed()
                                ? Optional.of(
                                        store.packed(query.of(List.of()), System.currentTimeMillis() / 1000, cluster))
                                : Optional.empty();
                    }

                    @Override
                    public void close() {
                        store.close();
                    }
                },
                contents,
                log,
                ProjectionWriter.MAX_WAITING_ROWS);
        out.ahead = ahead;
        return out;
    }

    @Override
    public HighestIds highest() {
        return ahead;
    }

    /** Answers queries for rows. */
    interface RowQueries {
        AccountingRows.Answer answer(AccountingRows.Query query, String cluster);

        /** Returns the answer as it is written, where no record is made of it. */
        default Optional<byte[]> written(AccountingRows.Query query, String cluster) {
            return Optional.empty();
        }

        void close();
    }

    EmbeddedAccounting(
            RowSink store,
            RowQueries questions,
            Function<String, Bytes> contents,
            Consumer<String> log,
            int waitingMax) {
        this(store, questions, contents, log, waitingMax, false);
    }

    /**
     * @param waitingMax rows that may wait for the tables before no job is taken
     * @param discards or some are thrown away
     */
    EmbeddedAccounting(
            RowSink store,
            RowQueries questions,
            Function<String, Bytes> contents,
            Consumer<String> log,
            int waitingMax,
            boolean discards) {
        this.texts = new ScriptUploads(contents, log);
        this.store = store;
        this.waits = new WaitReasons(j -> store.answers() ? store.job(j.rowSluid(), j.restarts()) : Optional.empty());
        this.questions = questions;
        this.projector = new ProjectionWriter(store, log, waitingMax, discards);
    }

    /** Returns the rows of all that the state knows, as of the last entry followed. */
    synchronized Batch everything() {
        return all(index, last);
    }

    private Batch all(long index, State state) {
        Rows rows = new Rows(state);
        texts.forget();
        for (Job job : state.jobs().values()) {
            rows.job(job);
            rows.texts.add(state, job);
            job.run().steps().forEach(step -> rows.step(job, step));
        }
        return rows.batch(index);
    }

    /** Waits until the rows of the entries so far are in the tables, for at most {@code ms} milliseconds. */
    boolean awaitRows(long ms) {
        return projector.await(projector.submitted(), ms);
    }

    /**
     * Takes the point where following begins: the snapshot's index and state, or 0 and the empty state. Tables that are
     * older than the snapshot (another disk, a restored copy) get the rows of all jobs that the state still knows.
     */
    @Override
    public synchronized void begin(long index, State state) {
        last = state;
        this.index = index;
        if (index > store.sequence()) {
            projector.submit(all(index, state));
        }
    }

    @Override
    public synchronized void follow(long index, Entry entry, State after) {
        State before = last;
        last = after;
        this.index = index;
        if (index <= store.sequence()) {
            return;
        }
        Rows rows = new Rows(after);
        for (Change change : entry.changes()) {
            follow(change, entry, before, rows);
        }
        waited(entry, before, rows);
        entry.changes().stream()
                .map(NodeEvents::ofInstance)
                .filter(node -> !node.isEmpty())
                .distinct()
                .forEach(node -> NodeEvents.instance(before, after, node, entry.timeMs() / 1000)
                        .ifPresent(rows.instanceRows::add));
        projector.submit(rows.finish(index));
    }

    /**
     * Notes why the jobs of this entry waited. When time passes, the thread that makes rows looks through all waiting
     * jobs.
     */
    private void waited(Entry entry, State before, Rows rows) {
        for (int id : rows.jobs) {
            before.jobs().find(id).ifPresent(waits::leaves);
        }
        for (Change change : entry.changes()) {
            if (change instanceof Change.ArrayTaskSplit split) {
                before.jobs()
                        .find(split.arrayJobId())
                        .ifPresent(a -> rows.state.jobs().find(split.jobId()).ifPresent(t -> waits.splits(a, t)));
            }
        }
        rows.looked = entry.changes().stream().anyMatch(c -> c instanceof Change.TimePassed);
    }

    @Override
    public void queue(WaitReasons.Queue queue) {
        waits.queue(queue);
    }

    private void follow(Change change, Entry entry, State before, Rows rows) {
        switch (change) {
            case Change.JobSubmitted c -> {
                rows.jobs.add(c.job().id());
                rows.fresh.add(c.job().id());
            }
            case Change.ArrayTaskSplit c -> {
                rows.jobs.add(c.arrayJobId());
                rows.jobs.add(c.jobId());
                rows.fresh.add(c.jobId());
            }
            case Change.JobEligible c -> rows.jobs.add(c.jobId());
            case Change.PriorityChanged c -> rows.jobs.add(c.jobId());
            case Change.DescriptionChanged c -> rows.jobs.add(c.jobId());
            case Change.ArrayLimitChanged c -> rows.jobs.add(c.jobId());
            case Change.JobStarted c -> rows.jobs.add(c.jobId());
            case Change.LimitChanged c -> rows.jobs.add(c.jobId());
            case Change.JobShrunk c -> {
                before.jobs()
                        .find(c.jobId())
                        .filter(_ -> c.time() > 0)
                        .ifPresent(j -> resized(before, j, c.time(), rows));
                rows.jobs.add(c.jobId());
            }
            case Change.JobMemoryLowered c -> rows.jobs.add(c.jobId());
            case Change.JobEnded c -> {
                before.jobs()
                        .find(c.jobId())
                        .filter(j -> j.state() == JobState.SUSPENDED)
                        .ifPresent(j -> resumed(j, c.endTime(), rows));
                rows.jobs.add(c.jobId());
            }
            case Change.PendingJobEnded c -> rows.jobs.add(c.jobId());
            case Change.JobSuspended c -> {
                before.jobs().find(c.jobId()).ifPresent(j -> rows.stepsOf(j));
                rows.jobs.add(c.jobId());
            }
            case Change.JobResumed c -> {
                before.jobs().find(c.jobId()).ifPresent(j -> resumed(j, c.time(), rows));
                rows.jobs.add(c.jobId());
            }
            case Change.JobRequeued c -> {
                before.jobs().find(c.jobId()).ifPresent(j -> requeued(before, j, c, entry, rows));
                rows.jobs.add(c.jobId());
            }
            case Change.StepStarted c -> {
                rows.state
                        .jobs()
                        .find(c.jobId())
                        .ifPresent(j -> usages.put(
                                new StepKey(
                                        j.rowSluid(c.step().id()),
                                        j.restarts(),
                                        c.step().id()),
                                Usage.NONE));
                rows.steps.add(new StepRef(c.jobId(), c.step().id()));
            }
            case Change.StepEnding c -> rows.steps.add(new StepRef(c.jobId(), c.stepId()));
            case Change.StepLimitChanged c -> rows.steps.add(new StepRef(c.jobId(), c.stepId()));
            case Change.StepPartEnded c -> {
                rows.state.jobs().find(c.jobId()).ifPresent(j -> partEnded(j, c, rows));
            }
            case Change.StepEnded c -> {
                rows.steps.add(new StepRef(c.jobId(), c.stepId()));
                rows.jobs.add(c.jobId());
            }
            case Change.JobPurged c -> before.jobs().find(c.jobId()).ifPresent(this::forget);
            case Change.ReservationLost c -> rows.jobs.add(c.jobId());
            case Change.NodeStateChanged c -> rows.node(before, c, entry.timeMs() / 1000);
            case Change.ReservationChanged c ->
                rows.reservations.addAll(
                        ReservationRows.changed(before, rows.state, c.reservation(), entry.timeMs() / 1000));
            case Change.ReservationRemoved c ->
                rows.reservations.addAll(ReservationRows.removed(before, c.name(), entry.timeMs() / 1000));
            case Change.JobRestored c -> rows.jobs.add(c.job().id());
            // of no row
            case Change.JobFlagged _,
                    Change.JobFailedNode _,
                    Change.AccrualChanged _,
                    Change.StepQueued _,
                    Change.JobStopped _,
                    Change.ConfigApplied _,
                    Change.PolicyChanged _,
                    Change.JobPreempted _,
                    Change.UsageCharged _,
                    Change.JobIdsReserved _,
                    Change.BlobStored _,
                    Change.ControllerPrologDone _,
                    Change.Answered _,
                    Change.AnswersForgotten _,
                    Change.TimePassed _,
                    Change.DependenciesChanged _,
                    Change.PrologDone _,
                    Change.StepLaunched _,
                    Change.NodeReleased _,
                    Change.NodeRegistered _,
                    Change.NodeTextsChanged _,
                    Change.NodeMarked _,
                    Change.NodePowerActionChosen _,
                    Change.OptionsChanged _,
                    Change.NodeFeaturesChanged _,
                    Change.NodeAdded _,
                    Change.NodeRemoved _,
                    Change.NodeSpecChanged _,
                    Change.PartitionChanged _,
                    Change.PartitionRemoved _,
                    Change.NodeRestored _,
                    Change.PartitionRestored _,
                    Change.AnswerRestored _,
                    Change.ClusterRestored _,
                    Change.TriggerSet _,
                    Change.TriggerCleared _,
                    Change.TriggerFired _,
                    Change.CrontabChanged _,
                    Change.BufferChanged _,
                    Change.PoolsChanged _ -> {}
        }
    }

    private record StepRef(int jobId, int stepId) implements Comparable<StepRef> {
        @Override
        public int compareTo(StepRef other) {
            return jobId != other.jobId ? Integer.compare(jobId, other.jobId) : Integer.compare(stepId, other.stepId);
        }
    }

    /** The jobs, steps and nodes that one entry changes; their rows are made once, from the state after it. */
    private final class Rows {
        private final State state;
        private final TreeSet<Integer> jobs = new TreeSet<>();
        private final TreeSet<StepRef> steps = new TreeSet<>();
        private final List<JobRow> jobRows = new ArrayList<>();
        private final List<StepRow> stepRows = new ArrayList<>();
        private final List<EventRow> events = new ArrayList<>();
        private final List<AccountingRows.ReservationRow> reservations = new ArrayList<>();
        private final List<AccountingRows.InstanceRow> instanceRows = new ArrayList<>();
        private final TreeSet<Integer> fresh = new TreeSet<>();
        private boolean looked;
        private final ScriptUploads.Batch texts = EmbeddedAccounting.this.texts.next();

        private Rows(State state) {
            this.state = state;
        }

        private void job(Job job) {
            jobRows.add(JobRows.kept(state, waits.of(state, job, JobRows.job(state, job, suspended(job)), false)));
        }

        /** Adds the rows of the running steps of a job. */
        private void stepsOf(Job job) {
            job.run().steps().stream()
                    .filter(s -> s.state() == Step.State.RUNNING)
                    .forEach(s -> steps.add(new StepRef(job.id(), s.id())));
        }

        private void step(Job job, Step step) {
            StepRow row = JobRows.step(state, job, step, usage(job, step), suspended(job, step));
            stepRows.add(row);
            StepKey key = new StepKey(row.sluid(), row.restarts(), row.stepId());
            if (step.state() == Step.State.RUNNING && step.nodes().size() > 1) {
                running.put(key, row);
            } else {
                running.remove(key);
            }
        }

        /** Opens an event of a node that became unfit, and ends it when the node is fit again. */
        private void node(State before, Change.NodeStateChanged c, long time) {
            Optional<Node> was = before.nodes().find(c.node());
            Optional<Node> current = state.nodes().find(c.node());
            String old = was.map(NodeEvents::state).orElse("");
            String now = current.map(NodeEvents::state).orElse("");
            if (!old.equals(now)
                    || !now.isEmpty()
                            && !was.map(Node::reason)
                                    .orElse("")
                                    .equals(current.map(Node::reason).orElse(""))) {
                events.add(NodeEvents.row(state, c.node(), time, now));
            }
        }

        private PendingRows finish(long index) {
            for (StepRef ref : steps) {
                Optional<Job> job = state.jobs().find(ref.jobId);
                job.flatMap(j -> j.step(ref.stepId)).ifPresent(s -> step(job.get(), s));
            }
            List<Job> later = new ArrayList<>(jobs.size());
            for (int id : jobs) {
                state.jobs().find(id).ifPresent(j -> {
                    if (j.run().suspendTime() == 0) {
                        later.add(j);
                    } else {
                        job(j);
                    }
                });
            }
            for (int id : fresh) {
                state.jobs().find(id).ifPresent(j -> texts.add(state, j));
            }
            boolean noJobs =
                    state.settings().options().accounting().enforcement().has(AccountingEnforcement.Word.NOJOBS);
            return new PendingRows(state, waits, noJobs ? List.of() : later, !noJobs, looked, batch(index));
        }

        /**
         * AccountingStorageEnforce=nosteps leaves out the rows of steps, nojobs those of jobs too. Limits are not
         * affected.
         */
        private Batch batch(long index) {
            AccountRules rules = new AccountRules(state);
            boolean noJobs = rules.enforces(AccountingEnforcement.Word.NOJOBS);
            boolean noSteps = noJobs || rules.enforces(AccountingEnforcement.Word.NOSTEPS);
            int max = state.settings().options().accounting().stepRecordsMax();
            // numbered steps count from 0, the others are below
            if (max < Integer.MAX_VALUE) {
                stepRows.removeIf(s -> StepId.number(s.stepId()) >= max);
            }
            return new Batch(
                    index,
                    noJobs ? List.of() : List.copyOf(jobRows),
                    noSteps ? List.of() : List.copyOf(stepRows),
                    List.copyOf(events),
                    noJobs ? List.of() : texts.rows(),
                    noJobs ? List.of() : texts.contents(),
                    List.copyOf(reservations),
                    List.copyOf(instanceRows));
        }
    }

    /**
     * An entry without its rows of jobs, which are made later from the state after it. When a later entry has the job
     * too, the row is made for that entry.
     *
     * @param kept whether accounting keeps jobs
     * @param looks whether jobs that wait for something new get rows as well in any case
     */
    private record PendingRows(State state, WaitReasons waits, List<Job> jobs, boolean kept, boolean looks, Batch rest)
            implements ProjectionWriter.Waiting {
        @Override
        public long seq() {
            return rest.seq();
        }

        @Override
        public int rows() {
            return jobs.size() + ProjectionWriter.rows(rest);
        }

        @Override
        public Batch batch(Set<Object> later) {
            return batch(later, true);
        }

        @Override
        public Batch atOnce() {
            return batch(new HashSet<>(), false);
        }

        private Batch batch(Set<Object> later, boolean looksUp) {
            rest.jobs().forEach(j -> later.add(new JobKey(j.sluid(), j.restarts())));
            List<Job> all = new ArrayList<>(jobs);
            if (kept) {
                all.addAll(waits.changed(state, looks));
            }
            if (all.isEmpty()) {
                return rest;
            }
            List<JobRow> rows = new ArrayList<>(rest.jobs());
            for (Job job : all) {
                if (later.add(key(job))) {
                    rows.add(JobRows.kept(state, waits.of(state, job, JobRows.job(state, job, 0), looksUp)));
                }
            }
            return new Batch(
                    rest.seq(),
                    List.copyOf(rows),
                    rest.steps(),
                    rest.events(),
                    rest.texts(),
                    rest.contents(),
                    rest.reservations(),
                    rest.instances());
        }
    }

    /** Ends the row of an attempt that is requeued. */
    private void requeued(State before, Job job, Change.JobRequeued back, Entry entry, Rows rows) {
        long time = back.time();
        Optional<JobRows.Left> left = JobRows.Left.by(entry, job, back);
        if (left.isEmpty()) {
            return;
        }
        if (job.state() == JobState.SUSPENDED) {
            resumed(job, time, rows);
        }
        rows.jobRows.add(JobRows.kept(before, JobRows.left(before, job, left.get(), suspended(job))));
        for (Step step : job.run().steps()) {
            if (step.state() == Step.State.RUNNING) {
                rows.stepRows.add(JobRows.left(before, job, step, usage(job, step), time, suspended(job, step)));
            }
        }
        forget(job);
    }

    /** Ends the row of a job's size; one that is beyond those counted shares the last. */
    private void resized(State before, Job job, long time, Rows rows) {
        if (job.run().allocation().resizes().size() < Sluid.SIZES_MAX) {
            JobRows.Left left = new JobRows.Left(JobRows.RESIZING, time, "", ExitStatus.NONE);
            rows.jobRows.add(JobRows.kept(before, JobRows.left(before, job, left, suspended(job))));
            suspendedSeconds.remove(key(job));
        }
    }

    /** Adds the suspension to a job that goes on: its steps were suspended as long, or since they began. */
    private void resumed(Job suspended, long time, Rows rows) {
        long since = suspended.run().suspendTime();
        suspendedSeconds.put(key(suspended), suspended(suspended) + Math.max(0, time - since));
        for (Step step : suspended.run().steps()) {
            if (step.state() == Step.State.RUNNING) {
                stepSuspendedSeconds.put(
                        key(suspended, step),
                        suspended(suspended, step) + Math.max(0, time - Math.max(since, step.startTime())));
            }
        }
        rows.stepsOf(suspended);
    }

    private long suspended(Job job) {
        if (job.run().suspendTime() == 0) {
            return 0;
        }
        return suspendedSeconds.computeIfAbsent(
                key(job),
                k -> store.job(k.sluid, k.restarts)
                        .map(JobRow::suspendedSeconds)
                        .orElse(0L));
    }

    private long suspended(Job job, Step step) {
        if (job.run().suspendTime() == 0) {
            return 0;
        }
        return stepSuspendedSeconds.computeIfAbsent(
                key(job, step),
                k -> store.step(k.sluid, k.restarts, k.stepId)
                        .map(StepRow::suspendedSeconds)
                        .orElse(0L));
    }

    private static JobKey key(Job job) {
        return new JobKey(job.rowSluid(), job.restarts());
    }

    private static StepKey key(Job job, Step step) {
        return new StepKey(job.rowSluid(step.id()), job.restarts(), step.id());
    }

    /**
     * Returns the usage of a step so far: known here, or in the tables if the step began before this start of
     * slurmctld.
     */
    private Usage usage(Job job, Step step) {
        return usages.computeIfAbsent(
                key(job, step),
                k -> store.step(k.sluid, k.restarts, k.stepId)
                        .map(StepRow::usage)
                        .orElse(Usage.NONE));
    }

    private void used(Job job, Change.StepPartEnded c) {
        Optional<Step> step = job.step(c.stepId());
        if (c.usage() != null && step.isPresent()) {
            StepKey key = new StepKey(job.rowSluid(c.stepId()), job.restarts(), c.stepId());
            int tasks = Optional.ofNullable(running.get(key))
                    .map(StepRow::tasks)
                    .orElseGet(() -> Math.max(1, step.get().tasks()));
            usages.put(key, plus(usage(job, step.get()), c.usage(), c.node(), step.get(), tasks));
        }
    }

    /**
     * Adds the end of a step's part on a node. Where the step goes on on other nodes, nothing else of its row changes.
     */
    private void partEnded(Job job, Change.StepPartEnded c, Rows rows) {
        used(job, c);
        StepKey key = new StepKey(job.rowSluid(c.stepId()), job.restarts(), c.stepId());
        StepRow known = running.get(key);
        // a cancelled job gets the same report from each of its nodes: one row is enough for a step that ends anyway
        if (known == null
                || job.step(c.stepId())
                        .filter(s -> s.state() == Step.State.RUNNING)
                        .isEmpty()) {
            rows.steps.add(new StepRef(c.jobId(), c.stepId()));
            return;
        }
        ExitStatus exit = c.stepId() == Step.EXTERN || c.exit().compareTo(known.exit()) <= 0 ? known.exit() : c.exit();
        StepRow now = known.with(exit, usages.getOrDefault(key, known.usage()));
        running.put(key, now);
        rows.stepRows.add(now);
    }

    /** Adds what a node's tasks used. Averages are over the tasks, by the nodes' own averages. */
    private static Usage plus(Usage a, Change.Usage b, String node, Step step, int all) {
        List<Integer> ranks = step.on(node).map(Step.Part::tasks).orElse(List.of());
        int tasks = Math.max(1, ranks.size());
        int firstTask = ranks.isEmpty() ? 0 : ranks.getFirst();
        if (b.peaks().tasks() > 0) {
            return StepUsage.plus(a, b, node, all);
        }
        long cpuUs = (b.userCpuUs() + b.systemCpuUs()) / tasks;
        boolean rss = b.maxRssKb() > a.maxRssKb();
        boolean vm = b.maxVmKb() > a.maxVmKb();
        return new Usage(
                a.userCpuUs() + b.userCpuUs(),
                a.systemCpuUs() + b.systemCpuUs(),
                Math.max(a.maxRssKb(), b.maxRssKb()),
                rss ? node : a.maxRssNode(),
                rss ? firstTask : a.maxRssTask(),
                a.aveRssKb() + b.maxRssKb() * tasks / all,
                Math.max(a.maxVmKb(), b.maxVmKb()),
                vm ? node : a.maxVmNode(),
                vm ? firstTask : a.maxVmTask(),
                a.aveVmKb() + b.maxVmKb() * tasks / all,
                Math.max(a.maxPages(), b.maxPages()),
                a.readBytes() + b.readBytes(),
                a.writeBytes() + b.writeBytes(),
                a.equals(Usage.NONE) ? cpuUs : Math.min(a.minCpuUs(), cpuUs),
                a.aveCpuUs() + cpuUs * tasks / all,
                a.energyJ() + b.energyJ(),
                a.netInBytes() + b.netInBytes(),
                a.netOutBytes() + b.netOutBytes(),
                a.avePages(),
                a.extremes(),
                StepUsage.khz(a, b),
                StepUsage.metered(a, b));
    }

    private void forget(Job job) {
        waits.forget(job);
        suspendedSeconds.remove(key(job));
        for (Step step : job.run().steps()) {
            StepKey key = key(job, step);
            usages.remove(key);
            stepSuspendedSeconds.remove(key);
            running.remove(key);
        }
    }

    @Override
    public AccountingRows.Answer query(AccountingRows.Query query, long index) {
        projector.await(index, CATCH_UP_MS);
        return questions.answer(query, last.settings().clusterName());
    }

    @Override
    public Optional<byte[]> written(AccountingRows.Query query, long index) {
        projector.await(index, CATCH_UP_MS);
        return questions.written(query, last.settings().clusterName());
    }

    @Override
    public long projected() {
        return projector.durableSequence();
    }

    /**
     * Waits until the tables hold everything up to the index for good, before a snapshot lets the journal forget it.
     */
    @Override
    public boolean settle(long index, long timeoutMs) {
        return projector.awaitDurable(index, timeoutMs);
    }

    /** Tests whether too much waits for the database, so that no new jobs should be taken. */
    @Override
    public boolean overloaded() {
        return projector.overloaded();
    }

    @Override
    public void close() {
        projector.close();
        questions.close();
    }
}
