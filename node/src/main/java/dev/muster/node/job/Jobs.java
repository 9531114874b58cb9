package dev.muster.node.job;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Attempt;
import dev.muster.model.node.NodeMessages.EndJob;
import dev.muster.model.node.NodeMessages.EndStep;
import dev.muster.model.node.NodeMessages.JobDone;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.LaunchFailed;
import dev.muster.model.node.NodeMessages.Prepare;
import dev.muster.model.node.NodeMessages.PrologDone;
import dev.muster.model.node.NodeMessages.SetTimeLimit;
import dev.muster.model.node.NodeMessages.Signal;
import dev.muster.model.node.NodeMessages.StepExited;
import dev.muster.model.node.NodeMessages.StepLaunched;
import dev.muster.model.node.NodeMessages.Suspend;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.node.SlurmdApi;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.config.Settings;
import dev.muster.node.io.MpiLinks;
import dev.muster.node.meter.TaskSamples;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.OrphanProcesses;
import dev.muster.node.os.Os;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.os.StepMessages;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import dev.muster.node.step.Launcher;
import dev.muster.node.step.NodeJob;
import dev.muster.node.step.NodeStep;
import dev.muster.node.step.RunningSteps;
import dev.muster.node.step.StepWatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The jobs of this node: starts, signals, ends and reports them. Every method runs on the {@link EventLoop}; blocking
 * work runs on other threads and posts its result.
 */
public final class Jobs {
    public static final String REASON_TIME_LIMIT = "TimeLimit";
    public static final String REASON_STEPD_KILLED = "StepdKilled";
    static final String REASON_OUT_OF_MEMORY = "OutOfMemory";
    static final String REASON_NODE_REBOOT = "NodeReboot";
    /** How long a finished step of an ended job may keep output for srun to fetch: with srun there, and without. */
    static final long LINGER_ATTACHED_MS = 60_000;

    static final long LINGER_ALONE_MS = 10_000;
    /** How long the end of a step is kept for an srun that has not come yet. */
    static final long UNCLAIMED_MS = 30_000;
    /** Between two looks whether it is; rarer the longer it takes, since a process may stand for thousands of nodes. */
    private static final long UNUSED_FIRST_MS = 500;

    private static final long UNUSED_MOST_MS = 8_000;

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final JobSpool spool;
    private final UnacknowledgedReports reports;
    private final Hooks hooks;
    private final Cgroups cgroups;
    private final Launcher starter;
    private final MpiLinks mpi;
    private final Executor starters;
    private final String bootId;
    private final StepTermination termination;
    private final JobFiles files;
    private final Map<String, NodeJob> jobs = new TreeMap<>();
    /** Over and acknowledged, but with output or an end that srun has not fetched. */
    private final Map<String, NodeJob> unclaimed = new TreeMap<>();

    public Jobs(
            Settings settings,
            DaemonLog log,
            EventLoop loop,
            JobSpool spool,
            UnacknowledgedReports reports,
            Hooks hooks,
            Cgroups cgroups,
            Launcher starter,
            MpiLinks mpi,
            Executor starters,
            String bootId) {
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.spool = spool;
        this.reports = reports;
        this.hooks = hooks;
        this.cgroups = cgroups;
        this.starter = starter;
        this.mpi = mpi;
        this.starters = starters;
        this.bootId = bootId;
        termination = new StepTermination(settings, log, loop, spool, reports, hooks, starter);
        files = new JobFiles(settings, log, spool, reports);
    }

    Optional<NodeJob> job(int jobId, int attempt) {
        return Optional.ofNullable(jobs.get(NodeJob.key(jobId, attempt)));
    }

    /** The attempt, or the newest one for 0, also when it is over. */
    public Optional<NodeJob> forRelay(int jobId, int attempt) {
        if (attempt > 0) {
            return job(jobId, attempt).or(() -> Optional.ofNullable(unclaimed.get(NodeJob.key(jobId, attempt))));
        }
        return java.util.stream.Stream.concat(jobs.values().stream(), unclaimed.values().stream())
                .filter(j -> j.jobId() == jobId)
                .max(java.util.Comparator.comparingInt(NodeJob::attempt));
    }

    public List<Attempt> attempts() {
        List<Attempt> out = new ArrayList<>();
        for (NodeJob job : jobs.values().stream()
                .filter(j -> !NoAllocateSteps.is(j.jobId()))
                .toList()) {
            List<Integer> live = job.steps.values().stream()
                    .filter(s -> s.phase != NodeStep.Phase.ENDED)
                    .map(s -> s.stepId)
                    .toList();
            out.add(new Attempt(job.jobId(), job.attempt(), job.share.bootId(), live, job.phase == NodeJob.Phase.DONE));
        }
        return out;
    }

    // ---- start ----
    /** Asked again, or where there is no prolog to run, the answer is given at once: the controller waits for it. */
    public void prepare(Prepare order) {
        admit(order.share(), NodeMessages.STEP_BATCH, order.runProlog())
                .filter(job -> order.runProlog() && job.phase != NodeJob.Phase.PREPARING)
                .ifPresent(job -> reports.add(seq -> new PrologDone(seq, job.jobId(), job.attempt(), ""), () -> {}));
    }

    public void launch(Launch launch) {
        JobShare share = launch.share();
        Optional<NodeJob> admitted = admit(share, launch.stepId(), true);
        if (admitted.isEmpty()) {
            return;
        }
        NodeJob job = admitted.get();
        if (job.steps.containsKey(launch.stepId())) {
            log.debug("launch of " + job.stepName(launch.stepId()) + " repeated");
            return;
        }
        if (job.isEnding()) {
            fail(job, launch.stepId(), "the job is ending", false, false);
            return;
        }
        if (!share.bootId().equals(bootId)) {
            fail(job, launch.stepId(), "the launch is for an earlier boot of this node", false, false);
            return;
        }
        NodeStep step = addStep(job, launch.stepId());
        step.asked(launch);
        if (!step.ioToken.isEmpty()) {
            files.save(job);
        }
        if (job.phase == NodeJob.Phase.PREPARING) {
            job.waiting.add(launch);
        } else {
            start(job, step, launch);
        }
    }

    /** Records the launch. Returns false if the step must not start; the controller was told. */
    private boolean mark(NodeJob job, int stepId) {
        try {
            boolean isNew = spool.mark(job.jobId(), job.attempt(), stepId, job.start());
            if (!isNew && stepId != NodeMessages.STEP_EXTERN) {
                fail(job, stepId, "launched before", false, false);
            }
            return isNew;
        } catch (IOException e) {
            fail(job, stepId, "cannot record the launch: " + ErrorSentence.reason(e), true, true);
            return false;
        }
    }

    private NodeStep addStep(NodeJob job, int stepId) {
        NodeStep step = new NodeStep(stepId, spool.stepDirectory(job.jobId(), job.attempt(), stepId));
        job.steps.put(stepId, step);
        return step;
    }

    /** The job as known here, made known if it is new; empty if it must not run here. */
    private Optional<NodeJob> admit(JobShare share, int stepId, boolean runProlog) {
        NodeJob known = jobs.get(NodeJob.key(share.jobId(), share.attempt()));
        if (known != null) {
            if (known.phase == NodeJob.Phase.KNOWN && runProlog) {
                known.phase = NodeJob.Phase.PREPARING;
                files.save(known);
                runProlog(known);
            }
            return Optional.of(known);
        }
        NodeJob job = new NodeJob(share);
        if (!share.bootId().equals(bootId)) {
            fail(job, stepId, "the launch is for an earlier boot of this node", false, false);
            return Optional.empty();
        }
        if (settings.slurmUserId() != 0 && Os.uid() != 0 && share.owner().uid() != Os.uid()) {
            fail(
                    job,
                    stepId,
                    "slurmd runs as uid " + Os.uid() + " and cannot run jobs of uid "
                            + share.owner().uid(),
                    true,
                    false);
            return Optional.empty();
        }
        job.deadlineMs = share.secondsLeft() < 0 ? 0 : System.currentTimeMillis() + share.secondsLeft() * 1000;
        if (!hooks.hasProlog()) {
            job.phase = NodeJob.Phase.READY;
        } else if (runProlog) {
            job.phase = NodeJob.Phase.PREPARING;
        } else {
            job.phase = NodeJob.Phase.KNOWN;
        }
        try {
            spool.makeJobDirectory(share.jobId(), share.attempt());
            files.write(job);
        } catch (IOException e) {
            fail(job, stepId, "cannot make the job's directory: " + ErrorSentence.reason(e), true, true);
            files.discard(job);
            return Optional.empty();
        }
        jobs.put(NodeJob.key(share.jobId(), share.attempt()), job);
        armLimit(job, share.secondsLeft());
        if (job.phase == NodeJob.Phase.READY) {
            startExternal(job);
        } else if (job.phase == NodeJob.Phase.PREPARING) {
            runProlog(job);
        }
        return Optional.of(job);
    }

    private void runProlog(NodeJob job) {
        if (!hooks.hasProlog()) {
            job.phase = NodeJob.Phase.READY;
            files.save(job);
            startExternal(job);
            return;
        }
        boolean inJob = settings.around().inJob();
        if (inJob) {
            startExternal(job);
        }
        hooks.startProlog(
                loop,
                job.share,
                () -> inJob ? starter.externalGroups(job.share) : List.of(),
                error -> prologEnded(job, error));
    }

    private void prologEnded(NodeJob job, String error) {
        reports.add(seq -> new PrologDone(seq, job.jobId(), job.attempt(), error), () -> {});
        List<Launch> waiting = List.copyOf(job.waiting);
        job.waiting.clear();
        boolean failed = !error.isEmpty();
        if (job.phase != NodeJob.Phase.PREPARING || failed) {
            for (Launch l : waiting) {
                job.never(l, failed ? SlurmErrno.PROLOG_FAILED.sentence() : "Job credential revoked");
                fail(job, l.stepId(), failed ? error : "the job is ending", failed, failed);
            }
            if (job.phase == NodeJob.Phase.PREPARING) {
                job.phase = NodeJob.Phase.READY;
            }
            settle(job);
            return;
        }
        job.phase = NodeJob.Phase.READY;
        files.save(job);
        startExternal(job);
        for (Launch launch : waiting) {
            NodeStep step = job.steps.get(launch.stepId());
            if (step != null) {
                start(job, step, launch);
            }
        }
    }

    private void start(NodeJob job, NodeStep step, Launch launch) {
        if (!mark(job, launch.stepId())) {
            job.steps.remove(launch.stepId());
            return;
        }
        log.info(
                (step.isBatch()
                        ? "Launching batch job " + job.jobId() + " for UID "
                                + job.share.owner().uid()
                        : "launch task StepId=" + job.stepName(step.stepId) + " request from UID:"
                                + job.share.owner().uid() + " GID:"
                                + job.share.owner().gid()));
        begin(job, step, () -> starter.start(launch));
    }

    private void startExternal(NodeJob job) {
        if (!job.share.externStep()
                || job.steps.containsKey(NodeMessages.STEP_EXTERN)
                || !mark(job, NodeMessages.STEP_EXTERN)) {
            return;
        }
        begin(job, addStep(job, NodeMessages.STEP_EXTERN), () -> starter.startExternal(job.share));
    }

    /** Carries out a launch. */
    private interface Starting {
        Launcher.Begun begun() throws Launcher.FailedException;
    }

    private void begin(NodeJob job, NodeStep step, Starting starting) {
        starters.execute(() -> {
            try {
                Launcher.Begun begun = starting.begun();
                loop.post(() -> started(job, step, begun));
            } catch (Launcher.FailedException e) {
                loop.post(() -> startFailed(job, step, e));
            } catch (RuntimeException | Error e) {
                UnexpectedErrors.report(e);
                loop.post(() ->
                        startFailed(job, step, Launcher.FailedException.ofUnfitNode("slurmd internal error: " + e)));
            }
        });
    }

    private void started(NodeJob job, NodeStep step, Launcher.Begun begun) {
        step.phase = NodeStep.Phase.RUNNING;
        step.begun.complete(NodeStep.Begin.GOOD);
        loop.later(step.launchToldMs, () -> tellLaunched(job, step, (int) begun.stepdPid()));
        follow(job, step, begun.ended());
        step.whenRunning.forEach(Runnable::run);
        step.whenRunning.clear();
    }

    /** Reports that a step runs. The report of an end makes that of the launch needless. */
    private void tellLaunched(NodeJob job, NodeStep step, int stepd) {
        if (step.phase == NodeStep.Phase.RUNNING) {
            reports.add(
                    seq -> new StepLaunched(seq, job.jobId(), job.attempt(), step.stepId, List.of(stepd)), () -> {});
        }
    }

    /** srun is told by the stream that it may already wait on. */
    private void startFailed(NodeJob job, NodeStep step, Launcher.FailedException why) {
        job.steps.remove(step.stepId);
        job.notStarted.put(step.stepId, step);
        step.begun.complete(new NodeStep.Begin(why.detail, why.getMessage()));
        fail(job, step.stepId, why.getMessage(), why.nodeFault, why.drain);
        settle(job);
    }

    private void fail(NodeJob job, int stepId, String why, boolean nodeFault, boolean drain) {
        log.error("cannot launch " + job.stepName(stepId) + ": " + why);
        reports.add(seq -> new LaunchFailed(seq, job.jobId(), job.attempt(), stepId, why, nodeFault, drain), () -> {});
    }

    /** An order that was not carried out: its job ends here, or is launched elsewhere. */
    public void failed(ToNode order, String why) {
        switch (order) {
            case Launch l -> refuse(l.share(), l.stepId(), why);
            case Prepare p -> refuse(p.share(), NodeMessages.STEP_BATCH, why);
            case EndJob e -> reports.add(seq -> new JobDone(seq, e.jobId(), e.attempt(), why), () -> {});
            default -> log.debug("not carried out: " + order.getClass().getSimpleName());
        }
    }

    private void refuse(JobShare share, int stepId, String why) {
        job(share.jobId(), share.attempt()).ifPresent(job -> job.steps.remove(stepId));
        fail(new NodeJob(share), stepId, why, true, true);
    }

    private void follow(NodeJob job, NodeStep step, CompletableFuture<Boolean> stepdEnded) {
        StepWatch watch = starter.watch(step.directory, loop, new StepWatch.Listener() {
            @Override
            public void complete(StatusFile status) {
                stepEnded(job, step, Optional.of(status), step.reason(status));
            }

            @Override
            public void killed(Optional<StatusFile> last) {
                stepdKilled(job, step, last);
            }

            @Override
            public void aborted() {
                abort(job, step);
            }

            @Override
            public void lingering() {
                scriptOver(job, step);
            }

            @Override
            public void neverStarted() {
                startFailed(job, step, Launcher.FailedException.ofLostLaunch(step.stepId));
            }
        });
        step.watch = Optional.of(watch);
        mpi.connect(step);
        watch.start(stepdEnded, step.isAsked());
    }

    /** The controller decides, and all nodes of the step hear of it. */
    private void abort(NodeJob job, NodeStep step) {
        if (!step.aborted) {
            step.aborted = true;
            reports.add(seq -> new NodeMessages.StepAborted(seq, job.jobId(), job.attempt(), step.stepId), () -> {});
        }
    }

    // ---- end ----

    /** Removes the remains of the step's containers, and then ends it. */
    private void stepEnded(NodeJob job, NodeStep step, Optional<StatusFile> status, String reason) {
        if (step.phase == NodeStep.Phase.ENDED || !starter.hasContainer(step.directory)) {
            finishStep(job, step, status, reason);
            return;
        }
        step.cleaning = true;
        loop.aside(() -> starter.removeContainers(step.directory), () -> finishStep(job, step, status, reason));
    }

    private void finishStep(NodeJob job, NodeStep step, Optional<StatusFile> status, String reason) {
        if (step.phase == NodeStep.Phase.ENDED) {
            return;
        }
        step.phase = NodeStep.Phase.ENDED;
        step.over = true;
        step.whenRunning.clear();
        UnexpectedErrors.guard(() -> cgroups.removeStep(job.jobId(), job.attempt(), step.stepId));
        UnexpectedErrors.guard(() -> starter.stepEnded(job.jobId(), step.stepId));
        log.verbose("[" + job.stepName(step.stepId) + "] done with job");
        if (!step.lingering) {
            reportExit(job, step, status, reason);
        }
        settle(job);
    }

    /**
     * The job ends with its script while an srun of that script lingers: its step ends within KillWait and writes
     * through the srun.
     */
    private void scriptOver(NodeJob job, NodeStep step) {
        if (step.phase == NodeStep.Phase.RUNNING && !step.lingering) {
            step.lingering = true;
            Optional<StatusFile> status = spool.status(step.directory);
            reportExit(job, step, status, status.map(step::reason).orElse(step.endReason));
        }
    }

    private void reportExit(NodeJob job, NodeStep step, Optional<StatusFile> status, String reason) {
        long endMs = status.stream()
                .flatMap(s -> s.tasks().stream())
                .mapToLong(StatusFile.Task::endedMs)
                .max()
                .orElse(0);
        NodeMessages.Usage usage = step.used(starter, status);
        reports.add(
                seq -> new StepExited(
                        seq,
                        job.jobId(),
                        job.attempt(),
                        step.stepId,
                        NodeStep.exits(status),
                        reason,
                        endMs > 0 ? endMs : System.currentTimeMillis(),
                        usage),
                () -> {});
    }

    /** Kills the processes that a killed slurmstepd left; only then the step is over. */
    private void stepdKilled(NodeJob job, NodeStep step, Optional<StatusFile> last) {
        boolean rebooted = !job.share.bootId().equals(bootId);
        log.error("[" + job.stepName(step.stepId) + "] slurmstepd is gone"
                + (rebooted ? ": the node was rebooted" : ": killing what it left"));
        if (rebooted) {
            stepEnded(job, step, last, REASON_NODE_REBOOT);
        } else {
            Runnable then = step.hasNeverRun(last)
                    ? () -> startFailed(job, step, new Launcher.FailedException("slurmstepd was killed at its start"))
                    : () -> stepEnded(job, step, last, REASON_STEPD_KILLED);
            loop.aside(() -> OrphanProcesses.end(job, step, last, settings, cgroups, log), then);
        }
    }

    public void endJob(EndJob order) {
        NodeJob job = jobs.get(NodeJob.key(order.jobId(), order.attempt()));
        if (job == null) {
            reports.add(seq -> new JobDone(seq, order.jobId(), order.attempt(), ""), () -> {});
            return;
        }
        if (job.isEnding()) {
            return;
        }
        job.killWaitSeconds = order.killWaitSeconds();
        job.endReason = order.reason();
        job.share = job.share.and(order.environment());
        boolean preparing = job.phase == NodeJob.Phase.PREPARING;
        job.phase = NodeJob.Phase.ENDING;
        if (!preparing) {
            endSteps(job, order.reason());
            settle(job);
        }
        if (job.phase == NodeJob.Phase.ENDING) {
            files.save(job);
        }
    }

    public void endStep(EndStep order) {
        job(order.jobId(), order.attempt()).ifPresent(job -> {
            NodeStep step = job.steps.get(order.stepId());
            if (step != null) {
                step.limited = order.reason().equals(REASON_TIME_LIMIT);
                termination.end(job, step, order.killWaitSeconds(), order.reason());
                files.save(job);
            }
        });
    }

    private void endSteps(NodeJob job, String reason) {
        job.endSteps(reason, loop, step -> termination.end(job, step, job.killWaitSeconds, reason));
    }

    /** Takes an ending job to its next stage: external step, then epilog, then done. */
    private void settle(NodeJob job) {
        job.phase = NoAllocateSteps.isOver(job) ? NodeJob.Phase.ENDING : job.phase;
        if (job.phase != NodeJob.Phase.ENDING || job.hasLiveStepsBesideExternal() || !job.waiting.isEmpty()) {
            return;
        }
        boolean epilogInJob = settings.around().inJob() && hooks.hasEpilog() && !job.epilogRan;
        if (job.hasLiveSteps() && !epilogInJob) {
            job.steps.values().stream().filter(NodeStep::isExternal).forEach(s -> termination.terminate(job, s));
            return;
        }
        for (NodeStep step :
                job.steps.values().stream().filter(NodeStep::isAsked).toList()) {
            step.watch.ifPresent(w -> w.finish(step.relays > 0 ? LINGER_ATTACHED_MS : LINGER_ALONE_MS));
        }
        if (!hooks.hasEpilog() || job.epilogRan) {
            finishJob(job, job.epilogError);
            return;
        }
        job.phase = NodeJob.Phase.EPILOG;
        files.save(job);
        hooks.startEpilog(
                loop,
                job.share,
                () -> epilogInJob ? starter.externalGroups(job.share) : List.of(),
                error -> epilogEnded(job, error));
    }

    /** An epilog that ran in the external step leaves that behind. */
    private void epilogEnded(NodeJob job, String error) {
        job.epilogRan = true;
        job.epilogError = error;
        job.phase = NodeJob.Phase.ENDING;
        settle(job);
    }

    private void finishJob(NodeJob job, String epilogError) {
        job.phase = NodeJob.Phase.DONE;
        job.epilogError = epilogError;
        if (hooks.hasEpilog()) {
            files.save(job); // it must not run again; without one a restarted slurmd comes here again by itself
        }
        UnexpectedErrors.guard(() -> cgroups.removeJob(job.jobId(), job.attempt()));
        if (!starter.cleansUp(job.share)) {
            reportDone(job);
            return;
        }
        loop.aside(() -> starter.cleanUp(job.share), () -> reportDone(job));
    }

    private void reportDone(NodeJob job) {
        long delayMs = EpilogMsgDelay.delayMs(
                job.share.environment(), settings.nodeName(), settings.around().epilogMsgMicros());
        if (delayMs > 0) {
            loop.later(delayMs, () -> tellDone(job));
        } else {
            tellDone(job);
        }
    }

    private void tellDone(NodeJob job) {
        reports.add(seq -> new JobDone(seq, job.jobId(), job.attempt(), job.epilogError), () -> forget(job));
    }

    private void forget(NodeJob job) {
        jobs.remove(NodeJob.key(job.jobId(), job.attempt()));
        unclaimed.put(NodeJob.key(job.jobId(), job.attempt()), job);
        removeWhenUnused(job, System.nanoTime() + UNCLAIMED_MS * 1_000_000, UNUSED_FIRST_MS);
    }

    /** A stepd may still hold output, srun may not have heard of the end: the directory stays until then. */
    private void removeWhenUnused(NodeJob job, long untilNs, long againMs) {
        boolean late = System.nanoTime() - untilNs > 0;
        if (job.steps.values().stream().anyMatch(s -> s.isUsed(late) || Os.isAlive(spool.stepdPid(s.directory)))) {
            loop.later(againMs, () -> removeWhenUnused(job, untilNs, Math.min(2 * againMs, UNUSED_MOST_MS)));
            return;
        }
        unclaimed.remove(NodeJob.key(job.jobId(), job.attempt()));
        files.discard(job);
    }

    // ---- orders while it runs ----

    public void signal(Signal order) {
        job(order.jobId(), order.attempt()).ifPresent(job -> {
            for (NodeStep step : job.steps.values()) {
                if (step.isMeant(order)) {
                    int mode = order.batchShell() && !order.full()
                            ? StepWatch.TASKS_ONLY
                            : StepWatch.reach(settings.confinement(), order.signal());
                    step.whenRunning(() -> step.watch.ifPresent(w -> {
                        StepMessages.signalled(job.stepName(step.stepId), settings.nodeName(), order.signal())
                                .ifPresent(step::tellEnd);
                        w.signal(mode, order.signal());
                    }));
                }
            }
        });
    }

    public void suspend(Suspend order) {
        job(order.jobId(), order.attempt())
                .ifPresent(job -> job.suspend(order.stop(), settings.around().suspendGraceSeconds(), loop::later));
    }

    public void notify(NodeMessages.Notify order) {
        job(order.jobId(), order.attempt())
                .map(job -> job.steps.get(order.stepId()))
                .ifPresent(step -> step.whenRunning(() -> step.watch.ifPresent(w -> w.message(order.text()))));
    }

    /** Reduces a job's memory: its control groups are set to the new limit, because other jobs may use the rest. */
    public void setMemory(dev.muster.model.node.NodeMessages.SetMemory order) {
        job(order.jobId(), order.attempt()).ifPresent(job -> {
            job.share = job.share.withMemory(order.memoryMb());
            cgroups.confineMemory(order.jobId(), order.attempt(), order.memoryMb());
            files.save(job);
        });
    }

    public void setTimeLimit(SetTimeLimit order) {
        job(order.jobId(), order.attempt()).ifPresent(job -> setLimit(job, order.secondsLeft()));
    }

    /** The node ends a job itself when its time is up: the controller may be away. */
    private void setLimit(NodeJob job, long secondsLeft) {
        job.deadlineMs = secondsLeft < 0 ? 0 : System.currentTimeMillis() + secondsLeft * 1000;
        armLimit(job, secondsLeft);
        files.save(job);
    }

    private void armLimit(NodeJob job, long secondsLeft) {
        int version = ++job.limitVersion;
        if (secondsLeft < 0) {
            return;
        }
        loop.later(secondsLeft * 1000, () -> {
            if (job.limitVersion == version && !job.isEnding()) {
                log.info(job.name() + ": time limit reached");
                endSteps(job, REASON_TIME_LIMIT);
                files.save(job);
            }
        });
    }

    /** The steps that run now, for {@link SlurmdApi}. */
    public List<ProcessTable.Running> running() {
        return running(0);
    }

    public List<NodeJob> known() {
        return List.copyOf(jobs.values());
    }

    /** Jobs whose tasks {@link TaskSamples} is to look at in that second; all for 0. */
    public List<ProcessTable.Running> running(int second) {
        return RunningSteps.lookedAt(
                jobs.values(),
                spool,
                second,
                settings.around().sensing().tasks().seconds());
    }

    public void memoryExceeded(int jobId, int attempt, long usedMb, long limitMb) {
        job(jobId, attempt).filter(j -> !j.isEnding()).ifPresent(job -> {
            for (NodeStep step : job.steps.values()) {
                if (!step.isExternal() && !step.ending) {
                    String text = "StepId=" + job.stepName(step.stepId) + " exceeded memory limit (" + (usedMb << 20)
                            + " > "
                            + (limitMb << 20) + "), being killed";
                    log.error(text);
                    step.whenRunning(() -> step.watch.ifPresent(w -> w.message(text)));
                    termination.end(job, step, 0, REASON_OUT_OF_MEMORY);
                }
            }
            files.save(job);
        });
    }

    // ---- after a restart ----

    /**
     * Finds every job of an earlier slurmd: living steps are followed again, ended ones reported again.
     *
     * @param isAlone whether no launch of an earlier slurmd can still come to its step
     */
    public void adopt(boolean isAlone) throws IOException {
        for (java.nio.file.Path directory : spool.jobDirectories()) {
            Optional<JobSpool.JobFile> file = spool.readJob(directory);
            if (file.isEmpty()) {
                log.error(directory + " holds no readable job: left alone");
                continue;
            }
            List<Integer> steps = spool.steps(directory);
            UnexpectedErrors.guard(() -> adopt(file.get(), steps));
            files.forgetBatch(file.get(), steps, isAlone);
        }
    }

    private void adopt(JobSpool.JobFile file, List<Integer> steps) {
        NodeJob job = new NodeJob(file.share());
        job.phase = NodeJob.Phase.valueOf(file.phase());
        job.killWaitSeconds = file.endKillWaitSeconds();
        job.endReason = file.reason();
        job.epilogError = file.error();
        job.deadlineMs = file.deadlineMs();
        jobs.put(NodeJob.key(job.jobId(), job.attempt()), job);
        for (int stepId : steps) {
            NodeStep step = addStep(job, stepId);
            step.phase = NodeStep.Phase.RUNNING;
            step.hasMpiParent = MpiLinks.isRemembered(step.directory);
            step.begun.complete(NodeStep.Begin.GOOD);
            step.endReason = file.stepReasons().getOrDefault(Integer.toString(stepId), "");
            step.ioToken = file.stepReasons().getOrDefault("token." + stepId, "");
            follow(job, step, CompletableFuture.completedFuture(false));
        }
        if (job.phase == NodeJob.Phase.DONE) {
            job.steps.values().forEach(s -> reportAgain(job, s));
            reportDone(job);
            return;
        }
        log.info("found " + job.name() + " with " + steps.size() + " steps");
        if (!job.share.x11Cookie().isEmpty()
                && !steps.isEmpty()
                && job.share.bootId().equals(bootId)) {
            starters.execute(() -> starter.reopen(job.share));
        }
        if (job.phase == NodeJob.Phase.PREPARING && job.share.bootId().equals(bootId)) {
            runProlog(job); // it died with its slurmd, or goes on in this process
        } else if (job.phase == NodeJob.Phase.PREPARING) {
            job.phase =
                    NodeJob.Phase.READY; // the boot it was for is over: no prolog to wait for, so that its end can come
        }
        if (job.deadlineMs > 0) {
            armLimit(job, Math.max(0, (job.deadlineMs - System.currentTimeMillis()) / 1000));
        }
        if (job.phase == NodeJob.Phase.EPILOG) {
            job.phase = NodeJob.Phase.ENDING;
        }
        if (job.phase == NodeJob.Phase.ENDING) {
            endSteps(job, job.endReason);
            settle(job);
        } else {
            job.steps.values().stream()
                    .filter(s -> !s.endReason.isEmpty())
                    .forEach(s -> termination.end(job, s, job.killWaitSeconds, s.endReason));
        }
    }

    /** Reports an end again: the controller may not have received the report of an earlier slurmd. */
    private void reportAgain(NodeJob job, NodeStep step) {
        step.phase = NodeStep.Phase.ENDED;
        Optional<StatusFile> status = spool.status(step.directory);
        boolean whole = status.isPresent() && status.get().state() == StatusFile.State.COMPLETE;
        if (whole || spool.stepdPid(step.directory) > 0) {
            reportExit(job, step, status, whole ? step.reason(status.get()) : REASON_STEPD_KILLED);
        }
    }
}
