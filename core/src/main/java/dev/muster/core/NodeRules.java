package dev.muster.core;

import dev.muster.model.Affiliation;
import dev.muster.model.CpuBind;
import dev.muster.model.ExitStatus;
import dev.muster.model.HostList;
import dev.muster.model.JobDesc;
import dev.muster.model.JobFlag;
import dev.muster.model.JobReason;
import dev.muster.model.JobState;
import dev.muster.model.SlurmErrno;
import dev.muster.model.Topology;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Attempt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What nodes report, and what follows when they come, go or disagree. */
final class NodeRules {
    /** Why a node is DOWN that came back without what it was rebooted for. */
    private static final String FEATURES_NOT_SET = "requested node features not set";
    private static final String FEATURES_REPORTED = "The features of a node with changeable ones are those that its helpers report";
    static final String NOT_RESPONDING = "Not responding";
    /** What a node says of a step whose end it slept through. */
    static final String NODE_REBOOT = "NodeReboot";
    /** What a node says of a step whose processes the kernel killed for want of memory. */
    private static final String OUT_OF_MEMORY = "OutOfMemory";
    private final State state;
    private final Now now;
    private final List<Change> changes = new ArrayList<>();
    private final List<Decision.Direct> direct = new ArrayList<>();
    /** Batch jobs go back to the queue, whatever they say of that. */
    private boolean requeueAll;
    /** CpuBind of nodes that get another one. */
    private final Map<String, String> bindings = new LinkedHashMap<>();
    /** How nodes hang together with those that are moved. */
    private Optional<List<Topology>> topologies = Optional.empty();

    NodeRules(State state, Now now) {
        this.state = state;
        this.now = now;
    }

    // ---- registration reconciles

    /**
     * The controller's state × the node's state → action:
     * <pre>
     *   controller              node                     action
     *   holds it, this boot     alive                    nothing; steps it lacks are launched again (it refuses what it ran)
     *   holds it, this boot     over, unacknowledged     its reports follow
     *   holds it, this boot     knows nothing            launched again
     *   holds it, older boot    knows it                 told to end: true statuses come first and count, then JobDone: the rest is lost
     *   holds it, older boot    knows nothing            the part is lost: requeue or NODE_FAIL
     *   completing              alive                    told to end again
     *   completing              knows nothing            released
     *   does not hold it        alive                    told to end
     * </pre>
     */
    Decision register(NodeMessages.Register m) {
        Optional<Node> found = state.nodes().find(m.node());
        if (found.isEmpty()) {
            return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
        }
        Node node = found.get();
        if (!m.bootId().equals(node.bootId()) || !m.hardware().equals(node.hardware()) || m.startTime() != node.startTime()
                || !m.version().equals(node.version())) {
            changes.add(new Change.NodeRegistered(m.node(), m.bootId(), m.version(), m.startTime(), m.hardware()));
        }
        if (!m.extra().isEmpty() && !m.extra().equals(node.extra())) {
            changes.add(new Change.NodeTextsChanged(m.node(), node.comment(), m.extra(), node.resumeAfter()));
        }
        if (!m.instanceId().isEmpty() || !m.instanceType().isEmpty()) {
            Node.Marks k = node.marks();
            Node.Marks said = new Node.Marks(m.instanceId(), m.instanceType(), k.certToken(), k.certRenewal(), k.certTime());
            if (!said.equals(k)) {
                changes.add(new Change.NodeMarked(m.node(), said));
            }
        }
        List<String> wanted = returned(node, m) ? node.wanted() : List.of();
        if (!m.features().equals(node.changeable()) || !m.active().equals(node.active()) || !wanted.equals(node.wanted())) {
            changes.add(new Change.NodeFeaturesChanged(m.node(), m.features(), m.active(), wanted));
        }
        Set<Integer> onNode = new HashSet<>();
        for (Attempt attempt : m.attempts()) {
            Optional<Job> job = state.jobs().find(attempt.jobId());
            boolean current = job.isPresent() && job.get().attempt() == attempt.attempt()
                    && job.get().run().allocation().on(m.node()).filter(s -> !s.released()).isPresent();
            if (current) {
                onNode.add(attempt.jobId());
            }
            if (!current || !job.get().state().isActive() || job.get().run().allocation().isLeaving(m.node())
                    || !attempt.bootId().equals(m.bootId())) {
                direct.add(new Decision.Direct(m.node(), new NodeMessages.EndJob(attempt.jobId(), attempt.attempt(), 0, "Revoked")));
            }
        }
        for (int jobId : node.jobs()) {
            if (!onNode.contains(jobId)) {
                missing(state.jobs().at(jobId), m);
            }
        }
        return Decision.of(changes, "", direct);
    }

    private void missing(Job job, NodeMessages.Register m) {
        Allocation.Share share = job.run().allocation().on(m.node()).orElseThrow();
        if (share.released()) {
            return;
        }
        if (job.has(JobFlag.COMPLETING) || job.run().allocation().isLeaving(m.node())) {
            partsLost(job, m.node(), "");
            changes.add(new Change.NodeReleased(job.id(), job.attempt(), m.node()));
        } else if (!share.bootId().isEmpty() && (!share.bootId().equals(m.bootId()) || isMissing(job, m.node()))) {
            jobLostNode(job, m.node());
        }
    }

    /** BatchStartTimeout: a script that its node has not begun in that time, and does not know, is given up; else it is launched again. */
    private boolean isMissing(Job job, String node) {
        int patience = state.settings().batchStartTimeoutS();
        return patience > 0 && job.step(Step.BATCH).filter(s -> s.state() == Step.State.RUNNING && now.seconds() > s.startTime() + patience)
                .stream().flatMap(s -> s.nodes().stream()).anyMatch(p -> p.node().equals(node) && !p.launched() && !p.done());
    }

    /** Answers whether the node is still on its way up. */
    private boolean returned(Node node, NodeMessages.Register m) {
        Node after = PowerRules.registered(node.with(Node.Flag.UNKNOWN, false).with(Node.Flag.NOT_RESPONDING, false), m,
                state.settings().slurmUid(), now.seconds());
        String low = state.settings().believes(node.name()) ? "" : NodeSpecs.shortfall(state.settings(), node, m.hardware());
        if (!low.isEmpty()) {
            after = after.with(Node.Flag.INVALID_REG, true).with(Node.Flag.DRAIN, true).withReason(low, state.settings().slurmUid(), now.seconds());
        } else {
            after = after.with(Node.Flag.INVALID_REG, false);
            boolean back = !node.has(Node.Flag.NEXT_DOWN) && (state.settings().returnToService() == 2
                    || state.settings().returnToService() == 1 && node.reason().equals(NOT_RESPONDING));
            if (after.has(Node.Flag.DOWN) && back) {
                after = after.with(Node.Flag.DOWN, false);
                after = after.has(Node.Flag.DRAIN) ? after : after.withReason("", 0, 0);
            }
        }
        boolean rebooting = after.has(Node.Flag.POWERING_UP);
        if (!rebooting && !m.active().containsAll(node.wanted())) {
            down(after, FEATURES_NOT_SET, state.settings().slurmUid());
        } else if (after.flags() != node.flags() || !after.reason().equals(node.reason())) {
            changes.add(new Change.NodeStateChanged(node.name(), after.flags(), after.reason(), after.reasonUid(), after.reasonTime()));
            if (node.isAsleep() && !after.isAsleep() && !after.has(Node.Flag.DOWN)) {
                PowerRules.begin(state, node, now, changes);
            }
        }
        return rebooting;
    }

    // ---- reports

    Decision report(Command.Report c) {
        switch (c.message()) {
            case NodeMessages.StepLaunched m -> holder(m.jobId(), m.attempt(), c.node())
                    .flatMap(j -> j.step(m.stepId()))
                    .filter(s -> s.on(c.node()).filter(p -> !p.launched()).isPresent())
                    .ifPresent(s -> changes.add(new Change.StepLaunched(m.jobId(), m.stepId(), c.node())));
            case NodeMessages.LaunchFailed m -> holder(m.jobId(), m.attempt(), c.node()).filter(j -> isOfThisBoot(j, c.node()))
                    .ifPresent(j -> launchFailed(j, c.node(), m));
            case NodeMessages.StepExited m -> holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> stepExited(j, c.node(), m));
            case NodeMessages.StepAborted m -> holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> stepAborted(j, m.stepId()));
            case NodeMessages.StepManaged m -> {
                return holder(m.jobId(), m.attempt(), c.node()).map(j -> new ManagedSteps(state, now).told(j, c.node(), m))
                        .orElse(Decision.of(List.of(), ""));
            }
            case NodeMessages.JobDone m -> holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> jobDone(j, c.node(), m));
            case NodeMessages.PrologDone m -> holder(m.jobId(), m.attempt(), c.node()).ifPresent(j -> prologDone(j, c.node(), m));
            case NodeMessages.NodeTrouble m -> state.nodes().find(c.node()).ifPresent(n -> drain(n.name(), m.reason()));
            case NodeMessages.Heartbeat m -> { }
            case NodeMessages.MemoryUsed m -> { }
            case NodeMessages.Relayed m -> { }
            case NodeMessages.FileRead m -> { }
            case NodeMessages.UseRead m -> { }
            case NodeMessages.Register m -> {
                return register(m);
            }
        }
        return Decision.of(changes, "", direct);
    }

    /** The job, if this attempt of it still holds the node: reports of any other change nothing. */
    private Optional<Job> holder(int jobId, int attempt, String node) {
        return state.jobs().find(jobId).filter(j -> j.attempt() == attempt
                && j.run().allocation().on(node).filter(s -> !s.released()).isPresent());
    }

    /** A refused launch of an earlier boot says nothing of the job: its part is lost with that boot, as JobDone will say. */
    private boolean isOfThisBoot(Job job, String node) {
        return job.run().allocation().on(node).filter(s -> s.bootId().equals(state.nodes().at(node).bootId())).isPresent();
    }

    private void stepExited(Job job, String node, NodeMessages.StepExited m) {
        Optional<Step> found = job.step(m.stepId());
        if (found.flatMap(s -> s.on(node)).filter(p -> !p.done()).isEmpty()) {
            return;
        }
        // a stepd that died before it wrote a status leaves no exits: nobody saw its tasks end, they were killed
        boolean unseen = m.tasks().isEmpty() && m.stepId() != Step.EXTERN;
        ExitStatus worst = unseen ? ExitStatus.signaled(9) : ExitStatus.NONE;
        for (ExitStatus exit : m.tasks().values()) {
            worst = exit.compareTo(worst) > 0 ? exit : worst;
        }
        NodeMessages.Usage u = m.usage();
        partEnded(job, found.get(), node, worst, m.tasks(), m.reason(), new Change.Usage(
                u.userCpuUs(), u.systemCpuUs(), u.maxRssKb(), u.maxVmKb(), u.readBytes(), u.writeBytes(), u.maxPages(),
                u.energyJ(), u.netInBytes(), u.netOutBytes(), u.peaks(), u.cpuKhz(), u.metered()));
    }

    /** A task asked for it, which is the same as if its user had. In a step over several components it is in all of them. */
    private void stepAborted(Job job, int stepId) {
        for (Job one : together(job, stepId)) {
            one.step(stepId).filter(s -> s.state() == Step.State.RUNNING && s.ending().isEmpty()).ifPresent(s ->
                    changes.add(new Change.StepEnding(one.id(), stepId, "Cancelled by " + one.desc().owner().uid(), true)));
        }
    }

    /** The components that a step is in; of most steps its job alone. */
    private List<Job> together(Job job, int stepId) {
        return job.isHet() && job.step(stepId).filter(s -> !s.het().isEmpty()).isPresent()
                ? job.step(stepId).get().het().stream().flatMap(id -> state.jobs().find(id).stream()).toList() : List.of(job);
    }

    static final Change.Usage NO_USAGE = new Change.Usage(0, 0, 0, 0, 0, 0, 0);

    private void partEnded(
            Job job, Step step, String node, ExitStatus worst, Map<String, ExitStatus> exits, String reason, Change.Usage usage) {
        changes.add(new Change.StepPartEnded(job.id(), step.id(), node, worst, new java.util.TreeMap<>(exits), reason, usage));
        // what is found of this version its successors know: asked of the next one alone, it would be looked for anew with every node
        step.allDone();
        Step after = step.with(node, p -> p.ended(worst, exits, reason));
        if (!after.allDone()) {
            if (reason.equals(OUT_OF_MEMORY) && step.desc().oomKillStep().equals("1") && step.ending().isEmpty()) {
                changes.add(new Change.StepEnding(job.id(), step.id(), OUT_OF_MEMORY, true));
            }
            return;
        }
        changes.add(new Change.StepEnded(job.id(), step.id(), now.seconds()));
        if (!job.state().isActive() || reason.equals(NODE_REBOOT)) {
            return;
        }
        if (step.isBatch()) {
            changes.addAll(Exits.over(state, job, after.exit(), after.reason(), now));
        } else if (job.desc().kind() == JobDesc.Kind.RUN && step.id() >= 0) {
            ownStepEnded(job, after);
        }
    }

    /** An allocation that was made for its step ends with it: in all components, so with the first of them. */
    private void ownStepEnded(Job job, Step ended) {
        List<Job> components = together(job, ended.id());
        ExitStatus worst = ended.exit();
        for (Job one : components) {
            for (Step s : one.run().steps()) {
                boolean isThis = one.id() == job.id() && s.id() == ended.id();
                if (s.id() >= 0 && s.state() == Step.State.RUNNING && !isThis) {
                    return;
                }
                worst = s.id() == ended.id() && !isThis && s.exit().compareTo(worst) > 0 ? s.exit() : worst;
            }
        }
        changes.addAll(Exits.over(state, components.getFirst(), worst, ended.reason(), now));
    }

    private void jobDone(Job job, String node, NodeMessages.JobDone m) {
        if (job.state().isActive() && !job.run().allocation().isLeaving(node)) {
            // nothing is left although the job goes on: the node was rebooted under it, its part is lost
            jobLostNode(job, node);
        } else {
            partsLost(job, node, "");
            if (Expediting.isJudged(job) && !m.epilogError().isEmpty()) {
                changes.addAll(Expediting.first(job, now));
            }
            changes.add(new Change.NodeReleased(job.id(), m.attempt(), node));
        }
        if (!m.epilogError().isEmpty()) {
            drain(node, m.epilogError());
        }
    }

    private void prologDone(Job job, String node, NodeMessages.PrologDone m) {
        if (!m.error().isEmpty()) {
            drain(node, m.error());
            relaunch(job, JobReason.JOB_LAUNCH_FAILURE, true, false);
            return;
        }
        changes.add(new Change.PrologDone(job.id(), m.attempt(), node));
        Allocation after = job.run().allocation().with(node, Allocation.Share::withPrologDone);
        boolean first = !job.isHet() && job.desc().kind() == JobDesc.Kind.BATCH && !after.awaitsController() && !after.awaitsNodes()
                && after.ofScript().node().equals(node) && !state.settings().options().containsKey(Settings.PROLOG_DEFER_BATCH);
        if (job.has(JobFlag.CONFIGURING) && job.run().steps().isEmpty() && (first || after.allPrologsDone())) {
            changes.addAll(HetRules.ready(state, job, now));
        }
    }

    /** Of an attempt that still waits for it; a failure ends the attempt: what may be requeued is tried again later. */
    Decision controllerProlog(Command.ControllerProlog c) {
        Optional<Job> found = state.jobs().find(c.jobId()).filter(j -> j.attempt() == c.attempt() && j.has(JobFlag.CONFIGURING)
                && j.state().isActive() && j.run().allocation().awaitsController());
        if (found.isEmpty()) {
            return Decision.of(List.of(), "");
        }
        Job job = found.get();
        if (c.success()) {
            changes.add(new Change.ControllerPrologDone(job.id(), c.attempt()));
            if (job.run().limitTickMs() >= 0 && !job.run().allocation().awaitsNodes()) {    // what it takes is no time of the job's
                changes.add(new Change.LimitChanged(job.id(), job.run().limitMin(), Limits.endTick(job.desc().timing(),
                        job.run().limitMin(), 0, now), false));
            }
            if (!c.environment().isEmpty()) {
                state.buffers().byJob().find(job.id()).ifPresent(b -> changes.add(new Change.BufferChanged(
                        b.at(BurstBuffer.Stage.RUNNING, now.seconds()).giving(c.environment()))));
            }
            Allocation after = job.run().allocation().controllerDone();
            boolean first = !job.isHet() && job.desc().kind() == JobDesc.Kind.BATCH && after.ofScript().prologDone()
                    && !after.awaitsNodes()
                    && !state.settings().options().containsKey(Settings.PROLOG_DEFER_BATCH);
            if (job.run().steps().isEmpty() && (first || after.allPrologsDone())) {
                changes.addAll(HetRules.ready(state, job, now));
            }
        } else if (!c.isReady()) {
            changes.add(new BufferRules(state, now).failedBeforeStart(job));
        } else if (job.desc().kind() == JobDesc.Kind.BATCH && Exits.mayRequeue(state, job)) {
            changes.addAll(Exits.later(state, job, now));
        } else {
            changes.add(new Change.JobEnded(job.id(), JobState.CANCELLED, JobReason.JOB_LAUNCH_FAILURE, "", ExitStatus.NONE, now.seconds()));
        }
        return Decision.of(changes, "", direct);
    }

    private void launchFailed(Job job, String node, NodeMessages.LaunchFailed m) {
        if (m.drain()) {
            drain(node, m.reason());
        }
        if (m.stepId() >= 0 && !m.nodeFault()) {
            job.step(m.stepId()).ifPresent(s -> partEnded(job, s, node, ExitStatus.exited(1), failedTasks(s, node), m.reason(), NO_USAGE));
            return;
        }
        if (job.state().isActive()) {
            relaunch(job, JobReason.JOB_LAUNCH_FAILURE, m.nodeFault(), m.reason().equals(NodeMessages.LaunchFailed.NO_ENVIRONMENT));
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

    /** A job that could not be launched: back to the queue, held, where it may be requeued; FAILED otherwise. */
    private void relaunch(Job job, JobReason reason, boolean mayRequeue, boolean hold) {
        boolean forced = state.settings().options().containsKey(Settings.PROLOG_FORCE_REQUEUE);
        if (mayRequeue && job.desc().kind() == JobDesc.Kind.BATCH && (forced || Exits.mayRequeue(state, job))) {
            boolean often = job.restarts() >= Integer.parseInt(state.settings().options().getOrDefault(Settings.MAX_BATCH_REQUEUE, "5"));
            boolean held = often || hold || !state.settings().options().containsKey(Settings.NO_HOLD_ON_PROLOG_FAIL);
            JobReason why = often ? JobReason.JOB_HOLD_MAX_REQUEUE : held ? JobReason.LAUNCH_FAILED_HELD : JobReason.NONE;
            changes.add(new Change.JobRequeued(job.id(), held, why, "",
                    held ? 0 : Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid()), now.seconds(), false));
        } else {
            changes.add(new Change.JobEnded(job.id(), JobState.FAILED, reason, "", ExitStatus.exited(1), now.seconds()));
        }
    }

    private void drain(String name, String reason) {
        Node node = state.nodes().at(name);
        if (!node.has(Node.Flag.DRAIN)) {
            changes.add(new Change.NodeStateChanged(name, node.with(Node.Flag.DRAIN, true).flags(), reason,
                    state.settings().slurmUid(), now.seconds()));
        }
    }

    // ---- loss

    Decision lost(String name) {
        Optional<Node> node = state.nodes().find(name);
        if (node.isEmpty() || node.get().has(Node.Flag.DOWN) || node.get().has(Node.Flag.FUTURE) || node.get().isSilentByOrder()) {
            return Decision.of(List.of(), "");
        }
        down(node.get(), NOT_RESPONDING, state.settings().slurmUid());
        return Decision.of(changes, "", direct);
    }

    /** It was started, or rebooted, and has not come in time. */
    Decision notResumed(Node node, String reason) {
        if (!node.wanted().isEmpty()) {
            changes.add(new Change.NodeFeaturesChanged(node.name(), node.changeable(), node.active(), List.of()));
        }
        requeueAll = state.settings().options().containsKey("requeue_on_resume_failure");
        down(node.with(Node.Flag.POWERING_UP, false).with(Node.Flag.REBOOT_ISSUED, false).with(Node.Flag.NEXT_DOWN, false)
                .with(Node.Flag.NEXT_RESUME, false).with(Node.Flag.DRAINED_FOR_THIS, false), reason, state.settings().slurmUid());
        return Decision.of(changes, "", direct);
    }

    private void down(Node node, String reason, int uid) {
        // what is there already stays: it may be an administrator's
        String old = node.reason();
        boolean keep = !old.isEmpty() && (!old.equals(reason) || reason.equals(NOT_RESPONDING));
        String said = !keep ? reason : old.contains(reason) ? old : old + " : " + reason;
        changes.add(new Change.NodeStateChanged(node.name(),
                node.with(Node.Flag.DOWN, true).with(Node.Flag.UNKNOWN, false).flags(),
                said, keep ? node.reasonUid() : uid, keep ? node.reasonTime() : now.seconds()));
        for (int jobId : node.jobs()) {
            Job job = state.jobs().at(jobId);
            // the node may well be there: taken down by hand, its part of the job is released and must not run on
            direct.add(new Decision.Direct(node.name(), new NodeMessages.EndJob(jobId, job.attempt(), 0, "NodeFail")));
            if (job.has(JobFlag.COMPLETING) || job.run().allocation().isLeaving(node.name())) {
                partsLost(job, node.name(), "NodeFail");
                if (Expediting.isJudged(job)) {
                    changes.addAll(Expediting.first(job, now));
                }
                changes.add(new Change.NodeReleased(jobId, job.attempt(), node.name()));
            } else {
                jobLostNode(job, node.name());
            }
        }
    }

    /** A running job lost one of its nodes: requeued or NODE_FAIL; its other nodes are told to end it. */
    private void jobLostNode(Job job, String node) {
        partsLost(job, node, "NodeFail");
        boolean again = Expediting.isAsked(job) || job.desc().kind() == JobDesc.Kind.BATCH && (requeueAll || Exits.mayRequeue(state, job));
        if (again || !job.desc().extras().noKill() || !goesOnWithout(job, node)) {
            changes.add(new Change.JobFailedNode(job.id(), node));
            changes.addAll(Expediting.isAsked(job) ? Expediting.lost(job, now) : again ? Exits.later(state, job, now) : List.of(
                    new Change.JobEnded(job.id(), JobState.NODE_FAIL, JobReason.NODE_DOWN, "", ExitStatus.exited(1), now.seconds())));
        }
        changes.add(new Change.NodeReleased(job.id(), job.attempt(), node));
    }

    /** --no-kill: the job keeps its other nodes, unless its script ran here. */
    private static boolean goesOnWithout(Job job, String node) {
        return job.run().allocation().nodes().stream().anyMatch(s -> !s.released() && !s.node().equals(node))
                && job.step(Step.BATCH).stream().flatMap(s -> s.nodes().stream()).noneMatch(p -> p.node().equals(node));
    }

    /** Steps that still had a part on the node: nothing of it will be heard any more. */
    private void partsLost(Job job, String node, String reason) {
        for (Step step : job.run().steps()) {
            if (step.state() == Step.State.RUNNING && step.on(node).filter(p -> !p.done()).isPresent()) {
                ExitStatus killed = step.id() == Step.EXTERN ? ExitStatus.NONE : ExitStatus.signaled(9);
                changes.add(new Change.StepPartEnded(job.id(), step.id(), node, killed, Map.of(), reason, NO_USAGE));
                step.allDone();
                if (step.with(node, p -> p.ended(killed, Map.of(), reason)).allDone()) {
                    changes.add(new Change.StepEnded(job.id(), step.id(), now.seconds()));
                }
            }
        }
    }

    Decision responding(Command.NodeResponding c) {
        Optional<Node> node = state.nodes().find(c.node());
        if (node.isEmpty() || node.get().has(Node.Flag.NOT_RESPONDING) != c.responding() || !c.responding() && node.get().isSilentByOrder()) {
            return Decision.of(List.of(), "");
        }
        Node after = node.get().with(Node.Flag.NOT_RESPONDING, !c.responding());
        return Decision.of(List.of(new Change.NodeStateChanged(
                c.node(), after.flags(), after.reason(), after.reasonUid(), after.reasonTime())), "");
    }

    // ---- scontrol update

    Decision update(Command.UpdateNode c) {
        Optional<Decision> tooMany = PowerRules.tooMany(state, c);
        if (tooMany.isPresent()) {
            return tooMany.get();
        }
        // a state that one of the nodes cannot take is told, but it does not keep the others from theirs
        Optional<Decision.Rejected> wrongState = Optional.empty();
        for (int i = 0; i < c.nodes().size(); i++) {
            Optional<Node> node = state.nodes().find(c.nodes().get(i));
            if (node.isEmpty()) {
                return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
            }
            Optional<Map<String, String>> own = own(c, i);
            if (own.isEmpty()) {
                return new Decision.Rejected(SlurmErrno.INVALID_NODE_NAME, "There must be one value or as many as nodes");
            }
            Optional<Decision.Rejected> refused = update(node.get(), new Command.UpdateNode(c.uid(), c.nodes(), own.get()));
            if (refused.isPresent() && refused.get().errno() != SlurmErrno.INVALID_NODE_STATE) {
                return refused.get();
            }
            wrongState = wrongState.or(() -> refused);
        }
        if (wrongState.isPresent() && changes.isEmpty()) {
            return wrongState.get();
        }
        if (!bindings.isEmpty() || topologies.isPresent()) {
            changes.add(new Change.OptionsChanged(TaskBinding.changed(state.settings(), bindings), topologies.orElse(List.of())));
        }
        return Decision.of(changes, wrongState.isPresent() ? SlurmErrno.INVALID_NODE_STATE.sentence() : "", direct);
    }

    /** The changes of one of several nodes: where a value names as many things as there are nodes, each has its own. */
    private static Optional<Map<String, String>> own(Command.UpdateNode c, int index) {
        if (c.nodes().size() < 2) {
            return Optional.of(c.changes());
        }
        Map<String, String> out = new java.util.TreeMap<>();
        for (Map.Entry<String, String> e : Keyword.whole(c.changes(), NODE_WORDS).entrySet()) {
            List<String> values = EACH.contains(e.getKey()) && HostList.parse(e.getValue()) instanceof HostList.Parsed.Ok ok
                    ? ok.list().names() : List.of(e.getValue());
            if (values.size() != 1 && values.size() != c.nodes().size()) {
                return Optional.empty();
            }
            out.put(e.getKey(), values.size() == 1 ? e.getValue() : values.get(index));
        }
        return Optional.of(out);
    }

    private static final List<String> NODE_WORDS = List.of("reason", "comment", "extra", "weight", "gres", "nodeaddr", "nodehostname",
            "features", "availablefeatures", "activefeatures", "state", "poweraction", "certtoken", "instanceid", "instancetype", "resumeafter",
            "cpubind", "topology");
    /** Words with a value for each of several nodes. */
    private static final List<String> EACH = List.of("nodeaddr", "nodehostname", "instanceid", "instancetype");

    private Optional<Decision.Rejected> update(Node node, Command.UpdateNode c) {
        Node after = node;
        if (c.changes().containsKey("reason")) {
            after = after.withReason(c.changes().get("reason"), c.uid(), now.seconds());
        }
        for (Map.Entry<String, String> change : Keyword.whole(c.changes(), NODE_WORDS).entrySet()) {
            String value = change.getValue();
            switch (change.getKey()) {
                case "reason", "poweraction", "resumeafter" -> { }     // they come with the state
                case "certtoken", "instanceid", "instancetype" -> after = after.withMarks(marked(after.marks(), change.getKey(), value));
                case "comment" -> after = after.withTexts(value, after.extra(), after.resumeAfter());
                case "extra" -> after = after.withTexts(after.comment(), value, after.resumeAfter());
                case "weight" -> {
                    try {
                        after = after.withSpec(NodeSpecs.withWeight(after.spec(), Integer.parseInt(value)));
                    } catch (NumberFormatException e) {
                        return Optional.of(new Decision.Rejected(SlurmErrno.ERROR, "Invalid weight value: " + value));
                    }
                }
                case "gres" -> {
                    Optional<List<Node.Gres>> gres = gres(after, value);
                    if (gres.isEmpty()) {
                        return Optional.of(Decision.reject(SlurmErrno.INVALID_GRES));
                    }
                    after = after.withSpec(NodeSpecs.withGres(after.spec(), gres.get()));
                }
                case "nodeaddr" -> after = after.withSpec(NodeSpecs.withAddress(after.spec(), after.spec().hostname(), value));
                case "nodehostname" -> after = after.withSpec(NodeSpecs.withAddress(after.spec(), value, after.spec().address()));
                case "features", "availablefeatures", "activefeatures" -> {
                    if (!after.changeable().isEmpty()) {
                        return Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, FEATURES_REPORTED));
                    }
                    Optional<Node.Spec> featured = featured(after.spec(), Keyword.whole(c.changes(), NODE_WORDS));
                    if (featured.isEmpty()) {
                        return Optional.of(Decision.reject(SlurmErrno.ACTIVE_FEATURE_NOT_SUBSET));
                    }
                    after = after.withSpec(featured.get());
                }
                case "cpubind" -> {
                    if (CpuBind.defaultMode(value).isEmpty()) {
                        return Optional.of(new Decision.Rejected(SlurmErrno.ERROR, "Invalid CpuBind value " + value));
                    }
                    bindings.put(node.name(), CpuBind.defaultMode(value).get());
                }
                case "topology" -> {
                    Optional<Decision.Rejected> nowhere = moved(node.name(), value);
                    if (nowhere.isPresent()) {
                        return nowhere;
                    }
                    after = after.withSpec(NodeSpecs.withTopology(after.spec(), value));
                }
                case "state" -> {
                    boolean power = PowerRules.isPowerWord(value);
                    String action = c.changes().getOrDefault("poweraction", "");
                    Optional<Decision.Rejected> wrong = Power.wrongAction(state.settings(), action, PowerRules.isUp(value));
                    if (wrong.isPresent() || power && action.isEmpty() && !Power.isOn(state.settings())) {
                        return wrong.or(() -> Optional.of(Decision.reject(SlurmErrno.INVALID_NODE_STATE)));
                    }
                    after = power ? after.withPowerAction(action) : after;
                    Optional<Node> changed = power ? power(after, value) : state(after, value, c);
                    if (changed.isEmpty()) {
                        return Optional.of(Decision.reject(SlurmErrno.INVALID_NODE_STATE));
                    }
                    after = changed.get();
                }
                default -> {
                    return Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED,
                            "Updating " + change.getKey() + " of a node is not supported by this version of Muster"));
                }
            }
        }
        Outcome resumed = resumeAfter(after, Keyword.whole(c.changes(), NODE_WORDS).getOrDefault("resumeafter", ""));
        resumed.after().ifPresent(n -> emit(node, n, c.uid()));
        return resumed.refused();
    }

    /** Notes the node's new place, or says why it has none. */
    private Optional<Decision.Rejected> moved(String node, String words) {
        return switch (Affiliation.place(topologies.orElse(state.settings().topologies()), node, words)) {
            case Affiliation.Placed p -> {
                topologies = Optional.of(p.topologies());
                yield Optional.empty();
            }
            case Affiliation.Wrong w -> Optional.of(new Decision.Rejected(SlurmErrno.REQUESTED_TOPO_CONFIG_UNAVAILABLE, w.sentence()));
        };
    }

    /** One of both. */
    private record Outcome(Optional<Node> after, Optional<Decision.Rejected> refused) {}

    /** With the time at which it is put back into service; one that is in service has none. */
    private Outcome resumeAfter(Node node, String resume) {
        boolean out = node.has(Node.Flag.DOWN) || node.has(Node.Flag.DRAIN);
        if (!resume.isEmpty() && !resume.matches("-1|[0-9]{1,9}")) {
            return new Outcome(Optional.empty(), Optional.of(new Decision.Rejected(SlurmErrno.ERROR, "Invalid resumeafter value: " + resume)));
        }
        if (!resume.isEmpty() && !resume.equals("-1") && !out) {
            return new Outcome(Optional.empty(), Optional.of(Decision.reject(SlurmErrno.INVALID_NODE_STATE)));
        }
        long at = resume.isEmpty() ? out ? node.resumeAfter() : 0 : resume.equals("-1") ? 0 : now.seconds() + Long.parseLong(resume);
        return new Outcome(Optional.of(node.withTexts(node.comment(), node.extra(), at)), Optional.empty());
    }

    /**
     * AvailableFeatures are what a node can have, and ActiveFeatures those of them that it has: all, where only the former are said. What it has
     * already must stay available.
     *
     * @return empty where some would be active that are not available
     */
    private static Optional<Node.Spec> featured(Node.Spec s, Map<String, String> changes) {
        Optional<List<String>> can = Optional.ofNullable(changes.getOrDefault("availablefeatures", changes.get("features"))).map(NodeRules::words);
        Optional<List<String>> has = Optional.ofNullable(changes.get("activefeatures")).map(NodeRules::words);
        List<String> available = can.orElse(s.features());
        List<String> active = has.orElseGet(() -> s.features().stream().filter(f -> !s.inactive().contains(f)).toList());
        return !available.containsAll(active) ? Optional.empty() : Optional.of(NodeSpecs.withFeatures(s, available,
                has.isEmpty() ? List.of() : available.stream().filter(f -> !active.contains(f)).toList()));
    }

    private static List<String> words(String value) {
        return value.isEmpty() || value.equals("(null)") ? List.of() : List.of(value.split(","));
    }

    private static Node.Marks marked(Node.Marks k, String word, String value) {
        return switch (word) {
            case "instanceid" -> new Node.Marks(value, k.instanceType(), k.certToken(), k.certRenewal(), k.certTime());
            case "instancetype" -> new Node.Marks(k.instanceId(), value, k.certToken(), k.certRenewal(), k.certTime());
            default -> new Node.Marks(k.instanceId(), k.instanceType(), value.isEmpty() ? "" : Node.Marks.hash(value), "", k.certTime());
        };
    }

    /** The node's certificate was signed. A token that counts once is used up, and there is another for the next time. */
    Decision signed(Command.CertificateSigned c) {
        Optional<Node> node = state.nodes().find(c.node());
        if (node.isEmpty()) {
            return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
        }
        Node.Marks k = node.get().marks();
        return Decision.of(List.of(new Change.NodeMarked(c.node(), new Node.Marks(k.instanceId(), k.instanceType(),
                c.next().isEmpty() ? k.certToken() : "", c.next(), now.seconds()))), "", List.of());
    }

    /** ResumeAfter is over. Who is not out of service any more is left alone. */
    List<Change> resumed(Node node) {
        Command.UpdateNode nothing = new Command.UpdateNode(state.settings().slurmUid(), List.of(node.name()), Map.of());
        boolean out = node.has(Node.Flag.DOWN) || node.has(Node.Flag.DRAIN) || node.has(Node.Flag.REBOOT_REQUESTED)
                || node.has(Node.Flag.REBOOT_ISSUED);
        Node after = out ? state(node, "RESUME", nothing).orElse(node) : node;
        emit(node, after.withTexts(node.comment(), node.extra(), 0), state.settings().slurmUid());
        return changes;
    }

    private void emit(Node before, Node after, int uid) {
        if (!after.spec().equals(before.spec())) {
            changes.add(new Change.NodeSpecChanged(after.name(), after.spec()));
        }
        if (!after.marks().equals(before.marks())) {
            changes.add(new Change.NodeMarked(after.name(), after.marks()));
        }
        if (!after.comment().equals(before.comment()) || !after.extra().equals(before.extra()) || after.resumeAfter() != before.resumeAfter()) {
            changes.add(new Change.NodeTextsChanged(after.name(), after.comment(), after.extra(), after.resumeAfter()));
        }
        if (!after.powerAction().equals(before.powerAction())) {
            changes.add(new Change.NodePowerActionChosen(after.name(), after.powerAction()));
        }
        if (after.has(Node.Flag.DOWN) && !before.has(Node.Flag.DOWN)) {
            down(after, after.reason(), uid);
        } else if (after.flags() != before.flags() || !after.reason().equals(before.reason())
                || after.reasonTime() != before.reasonTime()) {
            changes.add(new Change.NodeStateChanged(after.name(), after.flags(), after.reason(), after.reasonUid(), after.reasonTime()));
        }
    }

    private Optional<Node> power(Node node, String word) {
        Optional<Node> after = PowerRules.asked(node, word);
        if (word.equalsIgnoreCase("power_down_force") && after.isPresent() && !node.isSilentByOrder()) {
            freed(node);
        }
        return after;
    }

    /** Its jobs are taken from the node, which goes down in order. */
    Decision freed(Node node) {
        for (int jobId : node.jobs()) {
            Job job = state.jobs().at(jobId);
            direct.add(new Decision.Direct(node.name(), new NodeMessages.EndJob(jobId, job.attempt(), 0, "NodeFail")));
            if (!job.has(JobFlag.COMPLETING) && !job.run().allocation().isLeaving(node.name())) {
                jobLostNode(job, node.name());
            } else {
                partsLost(job, node.name(), "NodeFail");
                changes.add(new Change.NodeReleased(jobId, job.attempt(), node.name()));
            }
        }
        return Decision.of(changes, "", direct);
    }

    private static Optional<Node> state(Node node, String word, Command.UpdateNode c) {
        return switch (word.toUpperCase(java.util.Locale.ROOT)) {
            case "DOWN" -> Optional.of(node.with(Node.Flag.DOWN, true));
            case "DRAIN" -> c.changes().containsKey("reason") || !node.reason().isEmpty()
                    ? Optional.of(node.with(Node.Flag.DRAIN, true)) : Optional.empty();
            case "UNDRAIN" -> Optional.of(cleared(node.with(Node.Flag.DRAIN, false), c));
            case "FAIL" -> Optional.of(node.with(Node.Flag.FAIL, true));
            case "RESUME" -> {
                boolean stopping = node.has(Node.Flag.POWERING_DOWN);
                // without power it answers to nobody, and need not
                Node after = stopping || node.has(Node.Flag.POWERED_DOWN) ? PowerRules.stopped(node) : node;
                yield resumable(after) ? state(after, "IDLE", c) : stopping ? Optional.of(after) : Optional.empty();
            }
            // it would be kept from knowing when the reboot is over
            case "IDLE" -> node.has(Node.Flag.REBOOT_ISSUED) && c.changes().getOrDefault("state", "").equalsIgnoreCase("IDLE") ? Optional.empty()
                    : Optional.of(cleared(inService(node).with(Node.Flag.DOWN, false).with(Node.Flag.DRAIN, false)
                    .with(Node.Flag.FAIL, false).with(Node.Flag.INVALID_REG, false), c));
            case "CANCEL_REBOOT" -> node.has(Node.Flag.REBOOT_REQUESTED) ? Optional.of(PowerRules.cancelled(node)) : Optional.empty();
            case "NORESP", "NO_RESPOND" -> Optional.of(node.with(Node.Flag.NOT_RESPONDING, true));
            case "FUTURE" -> node.jobs().isEmpty() ? Optional.of(node.with(Node.Flag.FUTURE, true)) : Optional.empty();
            default -> Optional.empty();
        };
    }

    /**
     * New counts of what the node has already. Devices that gres.conf names files for are as many as there are files, and what jobs
     * hold must stay.
     */
    private Optional<List<Node.Gres>> gres(Node node, String text) {
        Map<String, Integer> next = new java.util.TreeMap<>();
        List<Node.Gres> out = new ArrayList<>();
        if (!text.isEmpty() && !Tres.isValid(text)) {
            return Optional.empty();
        }
        for (Tres.Item item : Tres.gres(text)) {
            Optional<Node.Gres> known = node.spec().gres().stream()
                    .filter(g -> g.name().equals(item.name()) && g.type().equals(item.type())).findFirst();
            if (known.isEmpty() || !known.get().file().isEmpty() && known.get().count() != item.count()) {
                return Optional.empty();
            }
            int first = next.merge(item.name(), item.count(), Integer::sum) - item.count();
            out.add(new Node.Gres(item.name(), item.type(), first, item.count(), known.get().file(), known.get().flags(),
                    known.get().near(), known.get().links()));
        }
        boolean fixedGone = node.spec().gres().stream().anyMatch(g -> !g.file().isEmpty() && !out.contains(g));
        return fixedGone || inUseBeyond(node, next) ? Optional.empty() : Optional.of(List.copyOf(out));
    }

    private boolean inUseBeyond(Node node, Map<String, Integer> counts) {
        return node.jobs().stream().map(state.jobs()::at).flatMap(j -> j.run().allocation().on(node.name()).stream())
                .filter(s -> !s.released()).flatMap(s -> s.gres().entrySet().stream())
                .anyMatch(e -> e.getValue().last() >= counts.getOrDefault(e.getKey(), 0));
    }

    /** There is something that keeps it out of service. */
    private static boolean resumable(Node node) {
        return node.bootId().isEmpty() || node.has(Node.Flag.DOWN) || node.has(Node.Flag.DRAIN) || node.has(Node.Flag.FAIL)
                || node.has(Node.Flag.FUTURE) || node.has(Node.Flag.INVALID_REG) || node.has(Node.Flag.NOT_RESPONDING) || node.has(Node.Flag.UNKNOWN)
                || node.has(Node.Flag.POWERED_DOWN) || node.has(Node.Flag.REBOOT_ISSUED) || node.has(Node.Flag.REBOOT_REQUESTED);
    }

    /** A FUTURE node is one of the cluster's from now on, and may be there already. */
    private static Node inService(Node node) {
        return node.has(Node.Flag.FUTURE) ? node.with(Node.Flag.FUTURE, false).with(Node.Flag.UNKNOWN, node.bootId().isEmpty()) : node;
    }

    private static Node cleared(Node node, Command.UpdateNode c) {
        return c.changes().containsKey("reason") || node.has(Node.Flag.DOWN) ? node : node.withReason("", 0, 0);
    }
}
