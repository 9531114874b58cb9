package dev.muster.core.state;

import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The mutable form of a {@link State} while one entry is applied: all state change is here. Never leaves its thread.
 */
final class StateDraft {
    private long tickMs;
    private Settings settings;
    private int nextJobId;
    private int jobIdCeiling;
    private long nextSluid;
    private long sluidCeiling;
    private Table<Integer, Job> jobs;
    private Table<String, Node> nodes;
    private Table<String, Partition> partitions;
    private Table<String, AnsweredRequest> answers;
    private Table<Long, Integer> ended;
    private Table<Long, Integer> children;
    private Table<String, Integer> blobs;
    private Accounts accounts;
    private Table<String, Reservation> reservations;
    private Trigger.All triggers;
    private Shares shares;
    private Table<Integer, Preemption> preempted;
    private Table<Integer, Crontab> crontabs;
    private BurstBuffer.All buffers;

    StateDraft(State s, long tick) {
        tickMs = Math.max(s.tickMs(), tick);
        settings = s.settings();
        nextJobId = s.nextJobId();
        jobIdCeiling = s.jobIdCeiling();
        nextSluid = s.nextSluid();
        sluidCeiling = s.sluidCeiling();
        jobs = s.jobs();
        nodes = s.nodes();
        partitions = s.partitions();
        answers = s.answers();
        ended = s.ended();
        children = s.children();
        blobs = s.blobs();
        accounts = s.accounts();
        reservations = s.reservations();
        shares = s.shares();
        preempted = s.preempted();
        triggers = s.triggers();
        crontabs = s.crontabs();
        buffers = s.buffers();
    }

    State state() {
        return new State(
                tickMs,
                settings,
                nextJobId,
                jobIdCeiling,
                nextSluid,
                sluidCeiling,
                jobs,
                nodes,
                partitions,
                answers,
                ended,
                children,
                blobs,
                accounts,
                reservations,
                shares,
                preempted,
                triggers,
                crontabs,
                buffers);
    }

    /** Sets the remembered answers of a snapshot. */
    void restored(Table<String, AnsweredRequest> all) {
        answers = all;
    }

    /** Applies a change: all state change on one page. */
    void apply(Change change, Entry entry) {
        long now = entry.timeMs() / 1000;
        switch (change) {
            case Change.ConfigApplied c -> config(c, now);
            case Change.JobIdsReserved c -> reserved(c);
            case Change.BlobStored c -> {}
            case Change.Answered c ->
                answers = answers.with(c.requestId(), new AnsweredRequest(c.uid(), tickMs, c.reply()));
            case Change.TimePassed c -> {}
            case Change.AnswersForgotten c -> c.requestIds().forEach(id -> answers = answers.without(id));
            case Change.JobSubmitted c -> {
                submitted(c.job());
                buffers = buffers.submitted(c.job(), now);
            }
            case Change.BufferChanged c -> buffered(c.buffer());
            case Change.PoolsChanged c -> buffers = buffers.withPools(c.pools());
            case Change.ArrayTaskSplit c -> split(c);
            case Change.JobEligible c -> job(c.jobId(), j -> j.withEligibleTime(c.eligibleTime()));
            case Change.DependenciesChanged c -> job(c.jobId(), j -> j.withDependencies(c.dependencies()));
            case Change.PriorityChanged c ->
                job(
                        c.jobId(),
                        j -> j.withPriority(c.priority(), c.holdUid())
                                .with(c.reason(), c.reasonText())
                                .with(JobFlag.SPECIAL_EXIT, j.has(JobFlag.SPECIAL_EXIT) && c.priority() == 0)
                                .with(JobFlag.REQUEUE_HOLD, j.has(JobFlag.REQUEUE_HOLD) && c.priority() == 0)
                                .with(JobFlag.RESV_DEL_HOLD, j.has(JobFlag.RESV_DEL_HOLD) && c.priority() == 0));
            case Change.AccrualChanged c -> job(c.jobId(), j -> j.withAccrueTime(c.time()));
            case Change.DescriptionChanged c -> job(c.jobId(), j -> described(j, c.desc()));
            case Change.ArrayLimitChanged c ->
                job(
                        c.jobId(),
                        j -> j.with(new Job.Array(
                                j.array().jobId(),
                                j.array().task(),
                                j.array().pending(),
                                c.maxRunning(),
                                j.array().size())));
            case Change.JobStarted c -> started(c, now);
            case Change.PrologDone c -> prologDone(c);
            case Change.ControllerPrologDone c -> controllerPrologDone(c, now);
            case Change.LimitChanged c -> job(c.jobId(), j -> j.with(JobRunUpdates.limit(j.run(), c, now, tickMs)));
            case Change.JobMemoryLowered c -> c.memoryMb().forEach((node, mb) -> lowered(c.jobId(), node, mb));
            case Change.JobShrunk c ->
                job(
                        c.jobId(),
                        j -> j.withAllocation(j.run()
                                .allocation()
                                .without(
                                        c.dropped(),
                                        c.time() == 0
                                                ? Optional.empty()
                                                : Optional.of(new Allocation.Resize(
                                                        c.time(), j.run().nextStep())))));
            case Change.StepStarted c -> stepStarted(c.jobId(), c.step());
            case Change.StepQueued c -> stepStarted(c.jobId(), c.step());
            case Change.StepLaunched c -> step(c.jobId(), c.stepId(), s -> s.with(c.node(), Step.Part::started));
            case Change.StepPartEnded c ->
                step(c.jobId(), c.stepId(), s -> s.with(c.node(), p -> p.ended(c.exit(), c.exits(), c.reason())));
            case Change.StepEnding c -> step(c.jobId(), c.stepId(), s -> s.withEnding(c.reason()));
            case Change.StepLimitChanged c -> step(c.jobId(), c.stepId(), s -> s.withTimeLimit(c.limitMin()));
            case Change.StepEnded c -> stepEnded(c);
            case Change.JobEnded c -> ended(c);
            case Change.PendingJobEnded c -> pendingEnded(c);
            case Change.NodeReleased c -> released(c, now);
            case Change.JobRequeued c -> requeued(c);
            case Change.JobFailedNode c -> job(c.jobId(), j -> j.withFailedNode(c.node()));
            case Change.JobFlagged c -> job(c.jobId(), j -> j.with(c.flag(), c.on()));
            case Change.JobSuspended c ->
                job(
                        c.jobId(),
                        j -> j.with(JobState.SUSPENDED).with(JobRunUpdates.suspended(j.run(), c.time(), tickMs)));
            case Change.CrontabChanged c ->
                crontabs = c.crontab().text().isEmpty() && c.crontab().entries().isEmpty()
                        ? crontabs.without(c.crontab().uid())
                        : crontabs.with(c.crontab().uid(), c.crontab());
            case Change.JobPreempted c ->
                preempted = preempted.with(c.jobId(), new Preemption(c.jobId(), c.time(), c.mode(), c.endTick()));
            case Change.JobResumed c -> resumed(c);
            case Change.JobStopped c -> job(c.jobId(), j -> j.with(JobFlag.STOPPED, c.stopped()));
            case Change.JobPurged c -> purged(c.jobId());
            case Change.NodeRegistered c ->
                node(c.node(), n -> n.registered(c.bootId(), c.version(), c.startTime(), c.hardware()));
            case Change.NodeStateChanged c -> turned(c, now);
            case Change.NodeFeaturesChanged c ->
                node(c.node(), n -> n.withFeatures(c.changeable(), c.active(), c.wanted()));
            case Change.OptionsChanged c -> settings = settings.with(c.options(), c.topologies());
            case Change.NodePowerActionChosen c -> node(c.node(), n -> n.withPowerAction(c.action()));
            case Change.NodeMarked c ->
                node(c.node(), n -> n.withMarks(c.marks().booted(n.marks().bootS())));
            case Change.NodeTextsChanged c -> node(c.node(), n -> n.withTexts(c.comment(), c.extra(), c.resumeAfter()));
            case Change.NodeAdded c ->
                nodes = nodes.with(c.spec().name(), Node.of(c.spec()).withFlags(c.flags()));
            case Change.NodeRemoved c -> nodes = nodes.without(c.node());
            case Change.NodeSpecChanged c -> node(c.node(), n -> n.withSpec(c.spec()));
            case Change.PartitionChanged c ->
                partitions = partitions.with(c.partition().name(), c.partition());
            case Change.PartitionRemoved c -> partitions = partitions.without(c.partition());
            case Change.PolicyChanged c -> accounts = accounts.with(c);
            case Change.TriggerSet c -> triggers = triggers.with(c.trigger());
            case Change.TriggerCleared c -> triggers = triggers.without(c.id());
            case Change.TriggerFired c -> triggers = triggers.fired(c.id());
            case Change.ReservationChanged c ->
                reservations = reservations.with(c.reservation().name(), c.reservation());
            case Change.ReservationRemoved c -> reservations = reservations.without(c.name());
            case Change.UsageCharged c -> shares = Shares.of(c);
            case Change.ReservationLost c ->
                job(
                        c.jobId(),
                        j -> c.held()
                                ? j.inReservation(c.reservation())
                                        .withPriority(0, settings.slurmUid())
                                        .with(JobReason.RESV_DELETED, "")
                                        .with(JobFlag.RESV_DEL_HOLD, true)
                                : j.inReservation(c.reservation()));
            case Change.JobRestored c -> restored(c.job());
            case Change.NodeRestored c -> nodes = nodes.with(c.node().name(), c.node());
            case Change.PartitionRestored c ->
                partitions = partitions.with(c.partition().name(), c.partition());
            case Change.AnswerRestored c -> answers = answers.with(c.requestId(), c.answer());
            case Change.ClusterRestored c -> {
                tickMs = c.tickMs();
                settings = c.settings();
                nextJobId = c.nextJobId();
                jobIdCeiling = c.jobIdCeiling();
                nextSluid = c.nextSluid();
                sluidCeiling = c.sluidCeiling();
            }
        }
    }

    /** Marks a job whose data is not fetched yet. */
    private void buffered(BurstBuffer b) {
        buffers = buffers.with(b);
        jobs.find(b.jobId())
                .filter(j -> j.has(JobFlag.STAGE_OUT)
                        != (b.stage().isOut() && j.state().isTerminal()))
                .ifPresent(j -> job(j.id(), x -> x.with(JobFlag.STAGE_OUT, !x.has(JobFlag.STAGE_OUT))));
    }

    private void job(int id, UnaryOperator<Job> change) {
        jobs = jobs.with(id, change.apply(jobs.at(id)));
    }

    private void node(String name, UnaryOperator<Node> change) {
        nodes = nodes.with(name, change.apply(nodes.at(name)));
    }

    /** Sets a node's flags; jobs that waited for the node belong to the boot that it came up with. */
    private void turned(Change.NodeStateChanged c, long now) {
        boolean asleep = nodes.at(c.node()).isAsleep();
        node(c.node(), n -> n.turned(c.flags(), now).withReason(c.reason(), c.reasonUid(), c.reasonTime()));
        Node node = nodes.at(c.node());
        if (asleep && !node.isAsleep() && !node.has(Node.Flag.DOWN)) {
            for (int id : node.jobs()) {
                job(
                        id,
                        j -> j.withAllocation(j.run()
                                .allocation()
                                .with(c.node(), s -> s.bootId().isEmpty() ? s.onBoot(node.bootId()) : s)));
            }
        }
    }

    private void step(int jobId, int stepId, UnaryOperator<Step> change) {
        job(jobId, j -> j.step(stepId).map(s -> j.withStep(change.apply(s))).orElse(j));
    }

    private void config(Change.ConfigApplied c, long time) {
        settings = c.settings();
        Table<String, Node> kept = Table.empty();
        for (Node.Spec spec : c.nodes()) {
            kept = kept.with(
                    spec.name(),
                    nodes.find(spec.name())
                            .map(n -> n.withSpec(spec))
                            .orElseGet(() -> Node.configured(spec, settings.slurmUid(), time)));
        }
        // A node that the file no longer names stays, as DOWN and empty-handed, until its jobs are gone.
        for (Node n : nodes.values()) {
            if (!kept.has(n.name()) && n.has(Node.Flag.DYNAMIC_NORM)) {
                kept = kept.with(n.name(), n);
            } else if (!kept.has(n.name()) && !n.jobs().isEmpty()) {
                kept = kept.with(n.name(), n.with(Node.Flag.DOWN, true));
            }
        }
        nodes = kept;
        Table<String, Partition> parts = Table.empty();
        for (Partition p : c.partitions()) {
            parts = parts.with(p.name(), p);
        }
        partitions = parts;
    }

    private void reserved(Change.JobIdsReserved c) {
        nextJobId = c.nextJobId();
        jobIdCeiling = c.ceiling();
        nextSluid = c.nextSluid();
        sluidCeiling = c.sluidCeiling();
    }

    private void submitted(Job job) {
        jobs = jobs.with(job.id(), job);
        nextJobId = job.id() + 1;
        nextSluid = job.sluid() + 1;
        refer(job, 1);
    }

    /** Tables that are still empty are made at once. */
    void restored(RestoredJobs all) {
        if (jobs.size() > 0) {
            all.byId.values().forEach(this::restored);
            return;
        }
        jobs = Table.of(all.byId);
        children = Table.of(all.tasks);
        ended = Table.of(all.over);
        all.contents.forEach(this::refer);
    }

    private void restored(Job job) {
        jobs = jobs.with(job.id(), job);
        refer(job, 1);
        for (Step s : job.run().steps()) {
            if (s.state() != Step.State.ENDED) {
                refer(s.envHash(), 1);
            }
        }
        if (job.isArrayTask() && job.id() != job.array().jobId()) {
            children = children.with(State.childKey(job), job.array().task());
        }
        if (job.state().isTerminal() && !job.has(JobFlag.COMPLETING)) {
            ended = ended.with(State.endedKey(job), job.id());
        }
    }

    private void split(Change.ArrayTaskSplit c) {
        Job array = jobs.at(c.arrayJobId());
        IndexSet rest = array.array().pending().without(c.task());
        if (c.jobId() == c.arrayJobId()) {
            // the last pending task keeps the array's own number
            jobs = jobs.with(
                    array.id(),
                    array.with(new Job.Array(
                            array.id(),
                            c.task(),
                            IndexSet.empty(),
                            array.array().maxRunning(),
                            array.array().size())));
            return;
        }
        Job task = array.splitOff(c.jobId(), c.sluid(), c.task());
        buffers = buffers.split(array.id(), task.id());
        jobs = jobs.with(
                        array.id(),
                        array.with(new Job.Array(
                                array.id(),
                                -1,
                                rest,
                                array.array().maxRunning(),
                                array.array().size())))
                .with(task.id(), task);
        children = children.with(State.childKey(task), c.task());
        nextJobId = Math.max(nextJobId, c.jobId() + 1);
        nextSluid = c.sluid() + 1;
        refer(task, 1);
    }

    private void started(Change.JobStarted c, long now) {
        job(
                c.jobId(),
                j -> j.with(JobState.RUNNING)
                        .with(JobFlag.CONFIGURING, c.configuring())
                        .with(JobFlag.REQUEUED, false)
                        .with(JobFlag.EXPEDITING, false)
                        .with(JobReason.NONE, "")
                        .withAttempt(c.attempt(), j.restarts())
                        .withFailedNode("")
                        .with(JobRunUpdates.start(now, tickMs, c)));
        for (Allocation.Share s : c.allocation().nodes()) {
            node(s.node(), n -> n.withJob(c.jobId(), s.chargedCpus(), s.memoryMb()));
        }
        buffers = buffers.started(c.jobId(), now);
    }

    private void prologDone(Change.PrologDone c) {
        job(c.jobId(), j -> {
            Allocation a = j.run().allocation().with(c.node(), Allocation.Share::withPrologDone);
            return j.withAllocation(a).with(JobFlag.CONFIGURING, j.has(JobFlag.CONFIGURING) && !a.allPrologsDone());
        });
    }

    private void controllerPrologDone(Change.ControllerPrologDone c, long now) {
        job(c.jobId(), j -> {
            Allocation a = j.run().allocation().controllerDone();
            return j.withAllocation(a).with(JobFlag.CONFIGURING, j.has(JobFlag.CONFIGURING) && !a.allPrologsDone());
        });
        buffers = buffers.ready(c.jobId(), now);
    }

    private void stepStarted(int jobId, Step step) {
        boolean known = jobs.at(jobId).step(step.id()).isPresent(); // it was queued
        job(jobId, j -> j.withStep(step));
        refer(step.envHash(), known ? 0 : 1);
    }

    /** Describes a job anew: other licenses of a job that has some are what it has from then on. */
    private static Job described(Job job, JobDesc desc) {
        Job after = job.with(desc);
        return !job.state().isActive()
                        || desc.request().licenses().equals(job.desc().request().licenses())
                ? after
                : after.withAllocation(
                        after.run().allocation().withLicenses(desc.request().licenses()));
    }

    private void stepEnded(Change.StepEnded c) {
        jobs.at(c.jobId()).step(c.stepId()).ifPresent(s -> {
            refer(s.envHash(), -1);
            job(c.jobId(), j -> JobRunUpdates.derive(j.withStep(s.ended(c.endTime())), s));
        });
    }

    private void ended(Change.JobEnded c) {
        for (Step s : jobs.at(c.jobId()).run().steps()) {
            if (s.isQueued()) {
                refer(s.envHash(), -1);
                job(c.jobId(), j -> j.withStep(s.ended(c.endTime())));
            }
        }
        job(
                c.jobId(),
                j -> j.state() != JobState.SUSPENDED
                        ? j
                        : j.with(JobRunUpdates.pausedUpTo(j.run(), c.endTime(), shares.time())));
        job(c.jobId(), j -> {
            Job over = j.with(c.state())
                    .with(c.reason(), c.reasonText())
                    .with(JobFlag.CONFIGURING, false)
                    .with(JobFlag.STOPPED, false)
                    .with(JobFlag.COMPLETING, true)
                    .with(JobRunUpdates.ended(j.run(), c.endTime(), tickMs, c.exit()));
            return over.run().allocation().allReleased() ? over.with(JobFlag.COMPLETING, false) : over;
        });
        buffers = buffers.ended(c.jobId(), c.endTime());
        buffers.byJob().find(c.jobId()).ifPresent(this::buffered);
        finish(c.jobId());
    }

    private void pendingEnded(Change.PendingJobEnded c) {
        job(
                c.jobId(),
                j -> j.over(
                        c.state(),
                        c.reason(),
                        c.reasonText(),
                        JobRunUpdates.ended(
                                j.run(),
                                c.endTime(),
                                tickMs,
                                c.state() == JobState.DEADLINE
                                        ? ExitStatus.exited(1)
                                        : j.run().exit())));
        buffers = buffers.pendingEnded(c.jobId(), c.endTime());
        finish(c.jobId());
    }

    private void finish(int id) {
        Job job = jobs.at(id);
        if (job.state().isTerminal() && !job.has(JobFlag.COMPLETING)) {
            ended = ended.with(State.endedKey(job), id);
        }
    }

    private void lowered(int jobId, String node, long memoryMb) {
        Optional<Allocation.Share> share = jobs.at(jobId).run().allocation().on(node);
        if (share.isEmpty() || share.get().released()) {
            return;
        }
        job(jobId, j -> j.withAllocation(j.run().allocation().with(node, s -> s.withMemory(memoryMb))));
        if (nodes.has(node)) {
            node(
                    node,
                    n -> n.withMemoryAllocated(
                            n.memoryAllocatedMb() - share.get().memoryMb() + memoryMb));
        }
    }

    private void released(Change.NodeReleased c, long now) {
        Job job = jobs.at(c.jobId());
        Optional<Allocation.Share> share = job.run().allocation().on(c.node());
        if (share.isEmpty() || share.get().released()) {
            return;
        }
        if (nodes.has(c.node())) {
            node(
                    c.node(),
                    n -> n.withoutJob(
                            c.jobId(), share.get().chargedCpus(), share.get().memoryMb(), now));
        }
        boolean left = job.run().allocation().isLeaving(c.node());
        if (left && job.state().isActive()) {
            jobs = jobs.with(
                    c.jobId(), job.withAllocation(job.run().allocation().left(c.node())));
            return;
        }
        Job freed = job.withAllocation(
                left
                        ? job.run().allocation().left(c.node())
                        : job.run().allocation().with(c.node(), Allocation.Share::withReleased));
        boolean last = freed.run().allocation().allReleased();
        if (last) {
            freed = freed.with(JobFlag.COMPLETING, false);
            if (freed.state() == JobState.PENDING) {
                freed = freed.with(
                        freed.run().exit().isSuccess() || freed.has(JobFlag.EXPEDITING)
                                ? Job.Run.NONE
                                : JobRunUpdates.failed(freed.run().exit()));
            }
        }
        jobs = jobs.with(c.jobId(), freed);
        if (last) {
            finish(c.jobId());
        }
    }

    private void resumed(Change.JobResumed c) {
        preempted = preempted.without(c.jobId());
        job(
                c.jobId(),
                j -> j.with(JobState.RUNNING)
                        .with(JobRunUpdates.resumed(j.run(), c.time(), tickMs, c.limitTick(), shares.time())));
    }

    /**
     * Returns the job with the reason and priority that it has after a requeue. A job that was held while it ran stays
     * held.
     */
    private Job requeuedPriority(Job before, Change.JobRequeued c, boolean waits, boolean early) {
        if (before.isHeld() && before.state().isActive() && !c.held()) {
            return before.with(before.reason(), c.reasonText()).withPriority(0, before.holdUid());
        }
        JobReason reason;
        if (c.held() || c.reason() != JobReason.NONE) {
            reason = c.reason();
        } else if (waits) {
            reason = JobReason.DEPENDENCY;
        } else if (early) {
            reason = JobReason.BEGIN_TIME;
        } else {
            reason = JobReason.NONE;
        }
        return before.with(reason, c.reasonText())
                .withPriority(c.held() ? 0 : c.priority(), c.held() ? settings.slurmUid() : -1);
    }

    private void requeued(Change.JobRequeued c) {
        preempted = preempted.without(c.jobId());
        buffers = buffers.requeued(c.jobId(), c.time());
        Job before = jobs.at(c.jobId());
        if (before.state().isTerminal()) {
            ended = ended.without(State.endedKey(before));
        }
        boolean holding = before.holdsNodes();
        // a job that was cancelled while pending still waits for its dependencies
        boolean waits = !Dependency.fulfilled(before.dependencies());
        boolean early = before.desc().timing().beginTime() > c.time();
        Job job = requeuedPriority(before, c, waits, early)
                .with(before.desc().anywhere())
                .with(JobState.PENDING)
                .with(JobFlag.STOPPED, false)
                .with(JobFlag.CONFIGURING, false)
                .with(JobFlag.REQUEUED, true)
                .with(JobFlag.SPECIAL_EXIT, c.special())
                .withAttempt(before.attempt(), before.restarts() + 1)
                .withSubmitTime(c.anew() ? c.time() : before.submitTime())
                .withEligibleTime(waits || early ? 0 : c.time());
        for (Step s : before.run().steps()) {
            if (s.state() != Step.State.ENDED) {
                refer(s.envHash(), -1);
            }
        }
        ExitStatus exit = c.exit().isSuccess() ? job.run().exit() : c.exit();
        jobs = jobs.with(
                job.id(),
                holding
                        ? job.with(JobFlag.COMPLETING, true)
                                .with(JobRunUpdates.ended(
                                        JobRunUpdates.withoutSteps(job.run()), c.time(), tickMs, exit))
                        : job.with(Job.Run.NONE));
    }

    private void purged(int id) {
        Job job = jobs.at(id);
        ended = ended.without(State.endedKey(job));
        preempted = preempted.without(id);
        buffers = buffers.without(id);
        jobs = jobs.without(id);
        refer(job, -1);
        if (job.array().jobId() != 0 && id != job.array().jobId()) {
            children = children.without(State.childKey(job));
        }
    }

    private void refer(Job job, int count) {
        refer(job.desc().payload().scriptHash(), count);
        refer(job.desc().payload().envHash(), count);
    }

    private void refer(String hash, int count) {
        if (hash.isEmpty()) {
            return;
        }
        int total = blobs.find(hash).orElse(0) + count;
        blobs = total > 0 ? blobs.with(hash, total) : blobs.without(hash);
    }

    /** Jobs of a snapshot and their indexes, as tables that a draft takes over at once. */
    static final class RestoredJobs {
        final TreeMap<Integer, Job> byId = new TreeMap<>();
        final TreeMap<Long, Integer> tasks = new TreeMap<>();
        final TreeMap<Long, Integer> over = new TreeMap<>();
        final TreeMap<String, Integer> contents = new TreeMap<>();

        void add(Job job) {
            byId.put(job.id(), job);
            contents.merge(job.desc().payload().scriptHash(), 1, Integer::sum);
            contents.merge(job.desc().payload().envHash(), 1, Integer::sum);
            for (Step s : job.run().steps()) {
                if (s.state() != Step.State.ENDED) {
                    contents.merge(s.envHash(), 1, Integer::sum);
                }
            }
            if (job.isArrayTask() && job.id() != job.array().jobId()) {
                tasks.put(State.childKey(job), job.array().task());
            }
            if (job.state().isTerminal() && !job.has(JobFlag.COMPLETING)) {
                over.put(State.endedKey(job), job.id());
            }
        }
    }
}
