package dev.muster.core.node;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.job.BufferRules;
import dev.muster.core.job.ExpeditedRequeue;
import dev.muster.core.job.HetRules;
import dev.muster.core.job.RequeueExit;
import dev.muster.core.job.SubmitRules;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.step.StepPart;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Attempt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Applies the reports of nodes, and what follows when nodes come, go or disagree with their record. */
public final class NodeRules {
    /** Reason of a node that is DOWN because it came back without what it was rebooted for. */
    private static final String FEATURES_NOT_SET = "requested node features not set";

    static final String NOT_RESPONDING = "Not responding";
    /** A node's reason for a step that ended while the node was down. */
    static final String NODE_REBOOT = "NodeReboot";
    /** A node's reason for a step whose processes the kernel killed for lack of memory. */
    private static final String OUT_OF_MEMORY = "OutOfMemory";

    private final State state;
    private final DecisionTime now;
    private final List<Change> changes = new ArrayList<>();
    private final List<Decision.Direct> direct = new ArrayList<>();
    private final NodeLoss loss;

    public NodeRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
        this.loss = new NodeLoss(state, now, changes, direct);
    }

    // ---- registration reconciles

    /**
     * The controller's state × the node's state → action:
     *
     * <pre>
     *   controller              node                     action
     *   holds it, this boot     alive                    nothing; steps it lacks are launched again (it
     *                                                    refuses what it ran)
     *   holds it, this boot     over, unacknowledged     its reports follow
     *   holds it, this boot     knows nothing            launched again
     *   holds it, older boot    knows it                 told to end: true statuses come first and count,
     *                                                    then JobDone: the rest is lost
     *   holds it, older boot    knows nothing            the part is lost: requeue or NODE_FAIL
     *   completing              alive                    told to end again
     *   completing              knows nothing            released
     *   does not hold it        alive                    told to end
     * </pre>
     */
    public Decision register(NodeMessages.Register m) {
        Optional<Node> found = state.nodes().find(m.node());
        if (found.isEmpty()) {
            return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
        }
        Node node = found.get();
        if (isAhead(state, m)) {
            changes.add(IdAllocator.above(state, m.highestJobId(), 0));
        }
        identityChanged(node, m);
        List<String> wanted = stateReported(node, m) ? node.wanted() : List.of();
        List<String> active = ChangingFeatures.active(state, node, m);
        if (!m.features().equals(node.changeable()) || !active.equals(node.active()) || !wanted.equals(node.wanted())) {
            changes.add(new Change.NodeFeaturesChanged(m.node(), m.features(), active, wanted));
        }
        Set<Integer> onNode = new HashSet<>();
        for (Attempt attempt : m.attempts()) {
            Optional<Job> job = state.jobs().find(attempt.jobId()).filter(j -> holds(j, attempt.attempt(), m.node()));
            if (job.isPresent()) {
                onNode.add(attempt.jobId());
            }
            if (job.isEmpty()
                    || !job.get().state().isActive()
                    || job.get().run().allocation().isLeaving(m.node())
                    || !attempt.bootId().equals(m.bootId())) {
                direct.add(new Decision.Direct(
                        m.node(), new NodeMessages.EndJob(attempt.jobId(), attempt.attempt(), 0, "Revoked")));
            }
        }
        for (int jobId : node.jobs()) {
            if (!onNode.contains(jobId)) {
                missing(state.jobs().at(jobId), m);
            }
        }
        return Decision.of(changes, "", direct);
    }

    /** Tests whether the job's current attempt has the node and has not released it. */
    private static boolean holds(Job job, int attempt, String node) {
        return job.attempt() == attempt
                && job.run().allocation().on(node).filter(s -> !s.released()).isPresent();
    }

    /** Records boot, hardware, version, extra text and instance of the node where they differ from before. */
    private void identityChanged(Node node, NodeMessages.Register m) {
        if (!m.bootId().equals(node.bootId())
                || !m.hardware().equals(node.hardware())
                || m.startTime() != node.startTime()
                || !m.version().equals(node.version())) {
            changes.add(new Change.NodeRegistered(m.node(), m.bootId(), m.version(), m.startTime(), m.hardware()));
        }
        if (!m.extra().isEmpty() && !m.extra().equals(node.extra())) {
            changes.add(new Change.NodeTextsChanged(m.node(), node.comment(), m.extra(), node.resumeAfter()));
        }
        if (!m.instanceId().isEmpty() || !m.instanceType().isEmpty()) {
            Node.CloudIdentity before = node.marks();
            Node.CloudIdentity after = new Node.CloudIdentity(
                    m.instanceId(), m.instanceType(), before.certToken(), before.certRenewal(), before.certTime());
            if (!after.equals(before)) {
                changes.add(new Change.NodeMarked(m.node(), after));
            }
        }
    }

    /**
     * Returns whether the node launched jobs with ids that this state has not assigned yet, so that this state is an
     * older copy. Ids more than {@code AHEAD_MAX} above date from before the ids wrapped to FirstJobId.
     */
    private static boolean isAhead(State state, NodeMessages.Register m) {
        return m.highestJobId() >= state.nextJobId() && m.highestJobId() - state.nextJobId() < AHEAD_MAX;
    }

    private void missing(Job job, NodeMessages.Register m) {
        Allocation.Share share = job.run().allocation().on(m.node()).orElseThrow();
        if (share.released()) {
            return;
        }
        if (job.has(JobFlag.COMPLETING) || job.run().allocation().isLeaving(m.node())) {
            loss.partsLost(job, m.node(), "");
            changes.add(new Change.NodeReleased(job.id(), job.attempt(), m.node()));
        } else if (!share.bootId().isEmpty() && (!share.bootId().equals(m.bootId()) || isMissing(job, m.node()))) {
            loss.jobLostNode(job, m.node());
        }
    }

    /**
     * Tests whether a batch script is given up by BatchStartTimeout: its node has not begun it in that time, and does
     * not know it; else it is launched again.
     */
    private boolean isMissing(Job job, String node) {
        int patience = state.settings().batchStartTimeoutS();
        return patience > 0
                && job
                        .step(Step.BATCH)
                        .filter(s -> s.state() == Step.State.RUNNING && now.seconds() > s.startTime() + patience)
                        .stream()
                        .flatMap(s -> s.nodes().stream())
                        .anyMatch(p -> p.node().equals(node) && !p.launched() && !p.done());
    }

    /** Tests whether ReturnToService lets a registration end the node's DOWN. */
    private boolean returnsToService(Node node) {
        int mode = state.settings().returnToService();
        return !node.has(Node.Flag.NEXT_DOWN)
                && (mode == 2 || mode == 1 && node.reason().equals(NOT_RESPONDING));
    }

    /** Records the node's state after it registered, and returns whether it is still powering up. */
    private boolean stateReported(Node node, NodeMessages.Register m) {
        Node after = PowerRules.registered(
                node.with(Node.Flag.UNKNOWN, false).with(Node.Flag.NOT_RESPONDING, false),
                m,
                state.settings().slurmUid(),
                now.seconds());
        String shortfall =
                state.settings().believes(node.name()) ? "" : NodeSpecs.shortfall(state.settings(), node, m.hardware());
        if (!shortfall.isEmpty()) {
            after = after.with(Node.Flag.INVALID_REG, true)
                    .with(Node.Flag.DRAIN, true)
                    .withReason(shortfall, state.settings().slurmUid(), now.seconds());
        } else {
            after = after.with(Node.Flag.INVALID_REG, false);
            if (after.has(Node.Flag.DOWN) && returnsToService(node)) {
                after = after.with(Node.Flag.DOWN, false);
                after = after.has(Node.Flag.DRAIN) ? after : after.withReason("", 0, 0);
            }
        }
        boolean rebooting = after.has(Node.Flag.POWERING_UP);
        if (!rebooting && !m.active().containsAll(node.wanted())) {
            loss.down(after, FEATURES_NOT_SET, state.settings().slurmUid());
        } else if (after.flags() != node.flags() || !after.reason().equals(node.reason())) {
            changes.add(new Change.NodeStateChanged(
                    node.name(), after.flags(), after.reason(), after.reasonUid(), after.reasonTime()));
            if (node.isAsleep() && !after.isAsleep() && !after.has(Node.Flag.DOWN)) {
                PowerRules.begin(state, node, now, changes);
            }
        }
        return rebooting;
    }

    // ---- reports

    public Decision report(Command.Report c) {
        switch (c.message()) {
            case NodeMessages.StepLaunched m ->
                holder(m.jobId(), m.attempt(), c.node())
                        .flatMap(j -> j.step(m.stepId()))
                        .filter(s -> s.on(c.node()).filter(p -> !p.launched()).isPresent())
                        .ifPresent(s -> changes.add(new Change.StepLaunched(m.jobId(), m.stepId(), c.node())));
            case NodeMessages.LaunchFailed m ->
                holder(m.jobId(), m.attempt(), c.node())
                        .filter(j -> isOfThisBoot(j, c.node()))
                        .ifPresent(j -> launchFailed(j, c.node(), m));
            case NodeMessages.StepExited m ->
                holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> stepExited(j, c.node(), m));
            case NodeMessages.StepAborted m ->
                holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> stepAborted(j, m.stepId()));
            case NodeMessages.StepManaged m -> {
                return holder(m.jobId(), m.attempt(), c.node())
                        .map(j -> new ManagedSteps(state, now).told(j, c.node(), m))
                        .orElse(Decision.of(List.of(), ""));
            }
            case NodeMessages.JobDone m ->
                holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> jobDone(j, c.node(), m));
            case NodeMessages.PrologDone m ->
                holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> prologDone(j, c.node(), m));
            case NodeMessages.NodeTrouble m -> state.nodes().find(c.node()).ifPresent(n -> drain(n.name(), m.reason()));
            case NodeMessages.Heartbeat m -> {}
            case NodeMessages.MemoryUsed m -> {}
            case NodeMessages.Relayed m -> {}
            case NodeMessages.FileRead m -> {}
            case NodeMessages.UseRead m -> {}
            case NodeMessages.Register m -> {
                return register(m);
            }
        }
        return Decision.of(changes, "", direct);
    }

    /** Returns the job, if this attempt of it still holds the node: reports of any other change nothing. */
    private Optional<Job> holder(int jobId, int attempt, String node) {
        return state.jobs()
                .find(jobId)
                .filter(j -> j.attempt() == attempt
                        && j.run()
                                .allocation()
                                .on(node)
                                .filter(s -> !s.released())
                                .isPresent());
    }

    /**
     * Tests whether the job is of this boot. A refused launch of an earlier boot says nothing of the job: its part is
     * lost with that boot, as JobDone will say.
     */
    private boolean isOfThisBoot(Job job, String node) {
        return job.run()
                .allocation()
                .on(node)
                .filter(s -> s.bootId().equals(state.nodes().at(node).bootId()))
                .isPresent();
    }

    private void stepExited(Job job, String node, NodeMessages.StepExited m) {
        Optional<Step> found = job.step(m.stepId());
        if (found.flatMap(s -> s.on(node)).filter(p -> !p.done()).isEmpty()) {
            return;
        }
        // a stepd that died before it wrote a status leaves no exits: its tasks count as killed
        boolean unseen = m.tasks().isEmpty() && m.stepId() != Step.EXTERN;
        ExitStatus worst = unseen ? ExitStatus.signaled(9) : ExitStatus.NONE;
        for (ExitStatus exit : m.tasks().values()) {
            worst = exit.compareTo(worst) > 0 ? exit : worst;
        }
        NodeMessages.Usage u = m.usage();
        partEnded(
                job,
                found.get(),
                node,
                worst,
                m.tasks(),
                m.reason(),
                new Change.Usage(
                        u.userCpuUs(),
                        u.systemCpuUs(),
                        u.maxRssKb(),
                        u.maxVmKb(),
                        u.readBytes(),
                        u.writeBytes(),
                        u.maxPages(),
                        u.energyJ(),
                        u.netInBytes(),
                        u.netOutBytes(),
                        u.peaks(),
                        u.cpuKhz(),
                        u.metered()));
    }

    /**
     * Ends a step as one of its tasks asked, which is the same as if its user had. A step over several components ends
     * in all of them.
     */
    private void stepAborted(Job job, int stepId) {
        job.step(stepId)
                .ifPresent(step -> StepPart.of(state, job, step).forEach(p -> {
                    if (p.step().state() == Step.State.RUNNING
                            && p.step().ending().isEmpty()) {
                        changes.add(new Change.StepEnding(
                                p.job().id(),
                                p.step().id(),
                                Step.CANCELLED_BY + p.job().desc().owner().uid(),
                                true));
                    }
                }));
    }

    private static final int AHEAD_MAX = 1_000_000;
    private static final String BATCH_FAILURE = "batch job complete failure";
    static final Change.Usage NO_USAGE = new Change.Usage(0, 0, 0, 0, 0, 0, 0);

    private void partEnded(
            Job job,
            Step step,
            String node,
            ExitStatus worst,
            Map<String, ExitStatus> exits,
            String reason,
            Change.Usage usage) {
        changes.add(new Change.StepPartEnded(
                job.id(), step.id(), node, worst, new java.util.TreeMap<>(exits), reason, usage));
        // what is found of this version its successors know: asked of the next one alone, it would be looked for anew
        // with every node
        step.allDone();
        Step after = step.with(node, p -> p.ended(worst, exits, reason));
        if (!after.allDone()) {
            if (reason.equals(OUT_OF_MEMORY)
                    && step.desc().oomKillStep().equals("1")
                    && step.ending().isEmpty()) {
                changes.add(new Change.StepEnding(job.id(), step.id(), OUT_OF_MEMORY, true));
            }
            return;
        }
        changes.add(new Change.StepEnded(job.id(), step.id(), now.seconds()));
        if (!job.state().isActive() || reason.equals(NODE_REBOOT)) {
            return;
        }
        if (step.isBatch()) {
            changes.addAll(RequeueExit.over(state, job, after.exit(), after.reason(), now));
        } else if (job.desc().kind() == JobDesc.Kind.RUN && step.isAsked()) {
            ownStepEnded(job, after);
        }
    }

    /** Ends an allocation that was made for its step: in all components, so with the first of them. */
    private void ownStepEnded(Job job, Step ended) {
        List<Job> components = StepPart.of(state, job, ended).stream()
                .map(StepPart::job)
                .distinct()
                .toList();
        ExitStatus worst = ended.exit();
        for (Job one : components) {
            for (Step s : one.run().steps()) {
                boolean isThis = one.id() == job.id() && s.id() == ended.id();
                if (s.isAsked() && s.state() == Step.State.RUNNING && !isThis) {
                    return;
                }
                worst = s.number() == ended.number() && !isThis && s.exit().compareTo(worst) > 0 ? s.exit() : worst;
            }
        }
        changes.addAll(RequeueExit.over(state, components.getFirst(), worst, ended.reason(), now));
    }

    private void jobDone(Job job, String node, NodeMessages.JobDone m) {
        if (job.state().isActive() && !job.run().allocation().isLeaving(node)) {
            // nothing is left although the job goes on: the node was rebooted under it, its part is lost
            loss.jobLostNode(job, node);
        } else {
            loss.partsLost(job, node, "");
            if (ExpeditedRequeue.isJudged(job) && !m.epilogError().isEmpty()) {
                changes.addAll(ExpeditedRequeue.first(job, now));
            }
            changes.add(new Change.NodeReleased(job.id(), m.attempt(), node));
            Node free = state.nodes().at(node);
            if (free.jobs().size() == 1 && !free.isPowerOrdered() && PowerSavingTimes.stopsAtOnce(state, free)) {
                changes.add(PowerRules.changed(free.with(Node.Flag.POWER_DOWN, true)));
            }
        }
        if (!m.epilogError().isEmpty()) {
            drain(node, m.epilogError());
        }
    }

    private void prologDone(Job job, String node, NodeMessages.PrologDone m) {
        if (!m.error().isEmpty()) {
            drain(node, m.error());
            relaunch(job, JobReason.JOB_LAUNCH_FAILURE, true, false, false);
            return;
        }
        changes.add(new Change.PrologDone(job.id(), m.attempt(), node));
        Allocation after = job.run().allocation().with(node, Allocation.Share::withPrologDone);
        boolean first = !job.isHet()
                && job.desc().kind() == JobDesc.Kind.BATCH
                && !after.awaitsController()
                && !after.awaitsNodes()
                && after.ofScript().node().equals(node)
                && !state.settings().options().prolog().defersBatch();
        if (job.has(JobFlag.CONFIGURING) && job.run().steps().isEmpty() && (first || after.allPrologsDone())) {
            changes.addAll(HetRules.ready(state, job, now));
        }
    }

    /** Starts the job's first step unless its nodes are still at work; the prolog's time is none of the job's. */
    private void controllerPrologDone(Job job, Command.ControllerProlog c) {
        changes.add(new Change.ControllerPrologDone(job.id(), c.attempt()));
        if (job.run().limitTickMs() >= 0 && !job.run().allocation().awaitsNodes()) {
            changes.add(new Change.LimitChanged(
                    job.id(),
                    job.run().limitMin(),
                    PartitionLimits.endTick(job.desc().timing(), job.run().limitMin(), 0, now),
                    false));
        }
        if (!c.environment().isEmpty()) {
            state.buffers()
                    .byJob()
                    .find(job.id())
                    .ifPresent(b -> changes.add(new Change.BufferChanged(
                            b.at(BurstBuffer.Stage.RUNNING, now.seconds()).giving(c.environment()))));
        }
        Allocation after = job.run().allocation().controllerDone();
        boolean scriptStarts = !job.isHet()
                && job.desc().kind() == JobDesc.Kind.BATCH
                && after.ofScript().prologDone()
                && !after.awaitsNodes()
                && !state.settings().options().prolog().defersBatch();
        if (job.run().steps().isEmpty() && (scriptStarts || after.allPrologsDone())) {
            changes.addAll(HetRules.ready(state, job, now));
        }
    }

    /**
     * Takes the outcome of PrologSlurmctld for an attempt that still waits for it. A failure ends the attempt: a batch
     * job that may be requeued is tried again later.
     */
    public Decision controllerProlog(Command.ControllerProlog c) {
        Optional<Job> found = state.jobs()
                .find(c.jobId())
                .filter(j -> j.attempt() == c.attempt()
                        && j.has(JobFlag.CONFIGURING)
                        && j.state().isActive()
                        && j.run().allocation().awaitsController());
        if (found.isEmpty()) {
            return Decision.of(List.of(), "");
        }
        Job job = found.get();
        if (c.success()) {
            controllerPrologDone(job, c);
        } else if (!c.isReady()) {
            changes.add(new BufferRules(state, now).failedBeforeStart(job));
        } else if (job.desc().kind() == JobDesc.Kind.BATCH && job.mayRequeue(state.settings())) {
            changes.addAll(RequeueExit.later(state, job, now));
        } else {
            changes.add(new Change.JobEnded(
                    job.id(), JobState.CANCELLED, JobReason.JOB_LAUNCH_FAILURE, "", ExitStatus.NONE, now.seconds()));
        }
        return Decision.of(changes, "", direct);
    }

    private void launchFailed(Job job, String node, NodeMessages.LaunchFailed m) {
        // a failed prolog and a missing login environment have rules of their own
        boolean unfit = m.drain()
                && m.nodeFault()
                && !List.of(NodeMessages.LaunchFailed.PROLOG_ERROR, NodeMessages.LaunchFailed.NO_ENVIRONMENT)
                        .contains(m.reason());
        if (m.drain()) {
            drain(
                    node,
                    unfit && m.stepId() == NodeMessages.STEP_BATCH ? BATCH_FAILURE + ": " + m.reason() : m.reason());
        }
        if (StepId.isAsked(m.stepId()) && !m.nodeFault()) {
            job.step(m.stepId())
                    .ifPresent(s ->
                            partEnded(job, s, node, ExitStatus.exited(1), failedTasks(s, node), m.reason(), NO_USAGE));
            return;
        }
        if (job.state().isActive()) {
            relaunch(
                    job,
                    JobReason.JOB_LAUNCH_FAILURE,
                    m.nodeFault(),
                    m.reason().equals(NodeMessages.LaunchFailed.NO_ENVIRONMENT),
                    unfit);
        }
    }

    private static Map<String, ExitStatus> failedTasks(Step step, String node) {
        Map<String, ExitStatus> out = new LinkedHashMap<>();
        for (Step.Part p : step.nodes()) {
            if (p.node().equals(node)) {
                p.tasks().forEach(t -> out.put(Integer.toString(t), ExitStatus.exited(1)));
            }
        }
        return out;
    }

    /**
     * Sends a job that could not be launched back to the queue, held, where it may be requeued; FAILED otherwise.
     *
     * @param unfit the node is drained for a fault that is not the job's, which is tried on others and so is not held
     */
    private void relaunch(Job job, JobReason reason, boolean mayRequeue, boolean hold, boolean unfit) {
        boolean forced = state.settings().options().prolog().forcesRequeue();
        if (mayRequeue && job.desc().kind() == JobDesc.Kind.BATCH && (forced || job.mayRequeue(state.settings()))) {
            boolean often =
                    job.restarts() >= state.settings().options().prolog().batchRequeueMax();
            boolean held = often
                    || hold
                    || !unfit && state.settings().options().prolog().holdsFailed();
            JobReason why;
            if (often) {
                why = JobReason.JOB_HOLD_MAX_REQUEUE;
            } else if (held) {
                why = JobReason.LAUNCH_FAILED_HELD;
            } else {
                why = JobReason.NONE;
            }

            changes.add(new Change.JobRequeued(
                    job.id(),
                    held,
                    why,
                    "",
                    held ? 0 : Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid()),
                    now.seconds(),
                    false));
        } else {
            changes.add(
                    new Change.JobEnded(job.id(), JobState.FAILED, reason, "", ExitStatus.exited(1), now.seconds()));
        }
    }

    private void drain(String name, String reason) {
        Node node = state.nodes().at(name);
        if (!node.has(Node.Flag.DRAIN)) {
            changes.add(new Change.NodeStateChanged(
                    name,
                    node.with(Node.Flag.DRAIN, true).flags(),
                    reason,
                    state.settings().slurmUid(),
                    now.seconds()));
        }
    }

    // ---- loss

    public Decision lost(String name) {
        Optional<Node> node = state.nodes().find(name);
        if (node.isEmpty()
                || node.get().has(Node.Flag.DOWN)
                || node.get().has(Node.Flag.FUTURE)
                || node.get().isSilentByOrder()) {
            return Decision.of(List.of(), "");
        }
        loss.down(node.get(), NOT_RESPONDING, state.settings().slurmUid());
        return Decision.of(changes, "", direct);
    }

    public Decision responding(Command.NodeResponding c) {
        Optional<Node> node = state.nodes().find(c.node());
        if (node.isEmpty()
                || node.get().has(Node.Flag.NOT_RESPONDING) != c.responding()
                || !c.responding() && node.get().isSilentByOrder()) {
            return Decision.of(List.of(), "");
        }
        Node after = node.get().with(Node.Flag.NOT_RESPONDING, !c.responding());
        return Decision.of(
                List.of(new Change.NodeStateChanged(
                        c.node(), after.flags(), after.reason(), after.reasonUid(), after.reasonTime())),
                "");
    }

    /**
     * Records that a node's certificate was signed. A token that counts once is used up, and there is another for the
     * next time.
     */
    public Decision signed(Command.CertificateSigned c) {
        Optional<Node> node = state.nodes().find(c.node());
        if (node.isEmpty()) {
            return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
        }
        Node.CloudIdentity k = node.get().marks();
        return Decision.of(
                List.of(new Change.NodeMarked(
                        c.node(),
                        new Node.CloudIdentity(
                                k.instanceId(),
                                k.instanceType(),
                                c.next().isEmpty() ? k.certToken() : "",
                                c.next(),
                                now.seconds()))),
                "",
                List.of());
    }
}
