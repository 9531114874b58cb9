package dev.muster.cli.step;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Keepalive;
import dev.muster.cli.command.ResumableStep;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.CliFilter;
import dev.muster.cli.request.ComponentEnvironment;
import dev.muster.cli.request.HetComponents;
import dev.muster.cli.request.MpiKinds;
import dev.muster.cli.request.OptionEnvironment;
import dev.muster.cli.request.OptionReport;
import dev.muster.cli.request.ProgramFile;
import dev.muster.cli.submit.AllocationClient;
import dev.muster.cli.submit.X11Forward;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs srun, which runs a step in the caller's allocation or in a new one. */
public final class Srun implements Command {
    /** Addresses of nodes, where they differ from their own. */
    private final Map<String, String> addresses;

    public Srun() {
        this(Map.of());
    }

    /** @param addresses by node: BcastAddr of slurm.conf, for sbcast's step */
    public Srun(Map<String, String> addresses) {
        this.addresses = addresses;
    }

    private static final java.util.Set<SlurmErrno> NO_JOB_TO_RUN_IN =
            java.util.EnumSet.of(SlurmErrno.INVALID_JOB_ID, SlurmErrno.ALREADY_DONE, SlurmErrno.JOB_PENDING);
    private static final int STEP_WAIT_MS = 20_000;
    private static final int RETRY_MS = 1_000;

    @Override
    public List<GetOpt.Opt> options() {
        return JobOption.table('R');
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        List<List<String>> sections = HetComponents.sections('R', c.args());
        JobOptions o = new JobOptions(c, 'R', ComponentEnvironment.ofPlainStep(c));
        List<String> typed = o.readArguments(sections.getFirst());
        if (CommonOptions.helpOrVersion(c, o)) {
            return 0;
        }
        if (o.text(JobOption.MPI).equals("list")) {
            MpiKinds.list(c);
            return 0;
        }
        OptionEnvironment.read(o);
        boolean inside = isInside(o);
        checkGroups(c, o, sections.size());
        if (inside) {
            Clusters.selectOfAllocation(c);
        }
        boolean components = sections.size() > 1 || inside && o.has(JobOption.HET_GROUP);
        if (!components) {
            CliFilter.preSubmit(o, 0, typed);
        }
        MpiKinds.check(c, o);
        checkTreeWidth(c, o);
        messages(c, o);
        Optional<X11Forward> windows = windows(c, o);
        if (components) {
            c.host().needsOwnProcess();
            X11Forward.refuseForComponents(c, o, sections.size());
            return inside ? hetInside(c, o, sections) : hetAlone(c, o, sections);
        }
        return plain(c, o, typed, windows);
    }

    /** Checks the list of {@code --het-group}, also where no such job exists. */
    private static void checkGroups(CommandContext c, JobOptions o, int sections) throws UsageException {
        if (!o.has(JobOption.HET_GROUP)) {
            return;
        }
        List<Integer> groups = SrunHet.groups(c, o);
        if (!isInside(o) && sections == 1) {
            SrunHet.within(c, o, groups, 1);
        }
    }

    /** Runs a step that has no components. */
    private int plain(CommandContext c, JobOptions o, List<String> typed, Optional<X11Forward> windows)
            throws SlurmException, UsageException {
        if (typed.isEmpty() && !o.has(JobOption.TEST_ONLY)) {
            throw new UsageException(CommandContext.FATAL_EXIT, List.of("srun: fatal: No command given to execute."));
        }
        async(c, o);
        terminal(c, o);
        StepFiles.numbers(o);
        List<String> program = ProgramFile.tested(o, typed);
        if (o.verbose() > 0) {
            OptionReport.print(o);
        }
        if (o.has(JobOption.NO_ALLOCATE)) {
            return new SrunDirect(c, o).run(program);
        }
        if (needsOwnProcess(c, o)) {
            c.host().needsOwnProcess();
        }
        Optional<ResumableStep> begun = c.host().resumable();
        if (begun.isPresent()) {
            return resume(c, o, program, begun.get());
        }
        if (!isInside(o)) {
            return alone(c, o, program, windows);
        }
        StepRequest.settleTasksPerNode(o);
        return inside(c, o, program);
    }

    /** A display belongs to the allocation: a step in one that is there already has the allocation's. */
    private static Optional<X11Forward> windows(CommandContext c, JobOptions o) throws UsageException {
        if (!o.has(JobOption.X11)) {
            return Optional.empty();
        }
        c.host().needsOwnProcess();
        Optional<X11Forward> windows = X11Forward.of(c, o);
        if (isInside(o)) {
            c.error("Ignoring --x11 option for a job step within an existing job. Set x11 options at job "
                    + "allocation time.");
            return Optional.empty();
        }
        return windows;
    }

    private static void async(CommandContext c, JobOptions o) throws UsageException {
        String wrong;
        if (!o.has(JobOption.ASYNC)) {
            if (o.has(JobOption.PARSABLE)) {
                wrong = "--parsable requires --async";
            } else {
                wrong = "";
            }
        } else if (o.has(JobOption.PTY)) {
            wrong = "--async and --pty are mutually exclusive";
        } else if (o.has(JobOption.IMMEDIATE)) {
            wrong = "--immediate and --async are mutually exclusive";
        } else if (!isInside(o)) {
            wrong = "--async is only valid for steps submitted within an existing job allocation";
        } else {
            wrong = "";
        }

        if (!wrong.isEmpty()) {
            throw c.bad(o.exitError(1), wrong);
        }
    }

    /** Drops {@code --pty} where srun's own input is no terminal. */
    private static void terminal(CommandContext c, JobOptions o) {
        if (o.has(JobOption.PTY) && !c.host().isTty(0)) {
            c.error("ioctl(TIOCGWINSZ): Inappropriate ioctl for device");
            c.error("Not using a pseudo-terminal, disregarding --pty option");
            o.drop(JobOption.PTY);
        }
    }

    /** Terminals, files that stay open and programs beside the step are the caller's own. */
    private static boolean needsOwnProcess(CommandContext c, JobOptions o) {
        return o.has(JobOption.PTY)
                || o.has(JobOption.BCAST)
                || !StepHooks.program(c, o, JobOption.PROLOG).isEmpty()
                || !StepHooks.program(c, o, JobOption.EPILOG).isEmpty()
                || isFile(o.text(JobOption.INPUT))
                || isFile(o.text(JobOption.OUTPUT))
                || isFile(o.text(JobOption.ERROR));
    }

    private static boolean isFile(String where) {
        return !StepFiles.isMode(where) && !StepFiles.isPerTask(where);
    }

    /** Resumes a step that the command service started and left to this process. */
    private int resume(CommandContext c, JobOptions o, List<String> program, ResumableStep begun)
            throws UsageException {
        StepSignals signals = StepSignals.begin(c, o);
        Json.Obj allocation = begun.state().obj("allocation");
        int jobId = allocation.integer("jobId");
        if (!begun.state().flag("own")) {
            return StepFollower.follow(c, o, program, allocation, begun.state().obj("started"), signals, false);
        }
        try (Keepalive _ = Keepalive.begin(c, jobId)) {
            int rc =
                    StepFollower.follow(c, o, program, allocation, begun.state().obj("started"), signals, true);
            AllocationClient.complete(c, jobId, rc);
            return rc;
        }
    }

    /** Whether the step runs in an allocation that exists; {@code --test-only} always asks about a new job. */
    private static boolean isInside(JobOptions o) {
        return o.has(JobOption.JOBID) && !o.has(JobOption.TEST_ONLY);
    }

    private int inside(CommandContext c, JobOptions o, List<String> program) throws SlurmException, UsageException {
        Optional<Json.Obj> allocation = confirmed(c, o);
        return allocation.isEmpty() ? o.exitError(1) : step(c, o, program, allocation.get(), false);
    }

    /** The allocation that the step is to run in, once it is ready; empty after its error has been told. */
    private static Optional<Json.Obj> confirmed(CommandContext c, JobOptions o) throws SlurmException {
        int jobId = o.integer(JobOption.JOBID);
        Json.Obj allocation;
        try {
            Json.Obj q = new Json.Obj();
            q.put("jobId", (long) jobId);
            allocation = StepManager.call(c, "AwaitAllocation", q);
            AllocationClient.mustRun(allocation);
        } catch (SlurmException e) {
            switch (SlurmErrno.of(e.errno())) {
                case ACCESS_DENIED -> c.error("Unable to create step for job " + jobId + ": " + e.getMessage());
                case ALREADY_DONE -> c.error("Slurm job " + jobId + " has expired");
                default -> c.error("Unable to confirm allocation for job " + jobId + ": " + e.getMessage());
            }
            if (NO_JOB_TO_RUN_IN.contains(SlurmErrno.of(e.errno()))) {
                c.info("Check SLURM_JOB_ID environment variable. Expired or invalid job " + jobId);
            }
            return Optional.empty();
        }
        if (!allocation.flag("ready")) {
            allocation = new AllocationClient(c, o).await(jobId, o.has(JobOption.QUIET));
        }
        return Optional.of(allocation);
    }

    private int alone(CommandContext c, JobOptions o, List<String> program, Optional<X11Forward> windows)
            throws SlurmException, UsageException {
        if (o.typed(JobOption.RELATIVE)) {
            throw new UsageException(
                    CommandContext.FATAL_EXIT,
                    List.of("srun: fatal: --relative option invalid for job allocation request"));
        }
        AllocationClient client = new AllocationClient(c, o).running(List.of(program));
        String name;
        if (o.typed(JobOption.JOB_NAME) || c.env("SLURM_JOB_ID").isEmpty() && o.has(JobOption.JOB_NAME)) {
            name = o.text(JobOption.JOB_NAME);
        } else if (program.isEmpty()) {
            name = "srun";
        } else {
            name = Texts.baseName(program.getFirst());
        }

        // a job of one step would be over when its program has been copied
        String kind = o.has(JobOption.BCAST) ? "ALLOCATION" : "RUN";
        Json.Obj reply;
        try {
            client.choose(kind, List.of(o), List.of(name));
            reply = o.has(JobOption.TEST_ONLY) && o.typed(JobOption.JOBID)
                    ? c.host().controller().call("TestJob", new Json.Obj().put("jobId", o.number(JobOption.JOBID)))
                    : client.submit(kind, List.of(o), List.of(name), o.has(JobOption.TEST_ONLY));
        } catch (SlurmException e) {
            return client.refused(e);
        }
        int jobId = reply.integer("jobId");
        if (o.has(JobOption.TEST_ONLY)) {
            return tested(c, reply);
        }
        Optional<Json.Obj> granted = granted(c, o, client, jobId);
        if (granted.isEmpty()) {
            return o.exitError(1);
        }
        Json.Obj allocation = granted.get();
        if (o.verbose() > 0) {
            describe(c, allocation);
        }
        windows.ifPresent(w -> w.serve(allocation));
        int rc;
        try (Keepalive _ = Keepalive.begin(c, jobId)) {
            rc = step(c, o, program, allocation, true);
        } catch (UsageException | SlurmException e) {
            // whatever was wrong with the step, its allocation does not stay behind
            AllocationClient.complete(c, jobId, o.exitError(1));
            throw e;
        }
        AllocationClient.complete(c, jobId, rc);
        return rc;
    }

    private static int tested(CommandContext c, Json.Obj reply) {
        c.info("Job " + reply.integer("jobId") + " to start at " + c.time(reply.number("testStart")) + " a using "
                + reply.integer("testCpus") + " processors on nodes " + reply.text("testNodes") + " in partition "
                + reply.text("testPartition"));
        return 0;
    }

    /** The allocation once it is ready; empty if it ended before, which has been told. */
    private static Optional<Json.Obj> granted(CommandContext c, JobOptions o, AllocationClient client, int jobId)
            throws SlurmException {
        AtomicBoolean signalled = new AtomicBoolean();
        for (String signal : List.of("INT", "TERM", "HUP", "QUIT")) {
            // also between the grant and the request of the step, which registers its own
            StepSignals.on(c, o, signal, Signals.number(signal), () -> {
                signalled.set(true);
                AllocationClient.cancel(c, jobId);
            });
        }
        Json.Obj allocation;
        try {
            allocation = client.await(jobId, o.has(JobOption.QUIET));
        } catch (SlurmException e) {
            if (c.host().isCallerGone()) {
                AllocationClient.cancel(c, jobId);
            }
            throw e;
        }
        if (AllocationClient.isOver(allocation)) {
            if (signalled.get()) {
                c.info("Job allocation " + jobId + " has been revoked");
                c.info("Force Terminated JobId=" + jobId);
            } else {
                AllocationClient.cancelled(c, "Unable to allocate resources: ", allocation);
            }
            return Optional.empty();
        }
        return Optional.of(allocation);
    }

    // ---- heterogeneous jobs

    private int hetInside(CommandContext c, JobOptions o, List<List<String>> sections)
            throws SlurmException, UsageException {
        Optional<Json.Obj> allocation = confirmed(c, o);
        if (allocation.isEmpty()) {
            return o.exitError(1);
        }
        List<Integer> members = SrunHet.members(allocation.get());
        List<SrunHet.Part> parts = SrunHet.parts(c, sections, members.isEmpty() ? SrunHet.OWN : members.size());
        return hetStep(c, parts, SrunHet.allocations(c, allocation.get(), parts), allocation.get(), false);
    }

    private int hetAlone(CommandContext c, JobOptions o, List<List<String>> sections)
            throws SlurmException, UsageException {
        List<SrunHet.Part> parts = SrunHet.parts(c, sections, 0);
        JobOptions first = parts.getFirst().options();
        AllocationClient client = new AllocationClient(c, first)
                .running(parts.stream().map(SrunHet.Part::program).toList());
        List<String> names = parts.stream()
                .map(p -> first.has(JobOption.JOB_NAME)
                        ? first.text(JobOption.JOB_NAME)
                        : Texts.baseName(p.program().getFirst()))
                .toList();
        // a job of one step would end with the one that copies
        String kind = parts.stream().anyMatch(p -> p.options().has(JobOption.BCAST)) ? "ALLOCATION" : "RUN";
        Json.Obj reply;
        try {
            client.choose(kind, parts.stream().map(SrunHet.Part::options).toList(), names);
            if (o.has(JobOption.TEST_ONLY)) {
                // each component is tested as a job of its own
                for (int i = 0; i < parts.size(); i++) {
                    tested(c, client.submit(kind, List.of(parts.get(i).options()), List.of(names.get(i)), true));
                }
                return 0;
            }
            reply = client.submit(
                    kind, parts.stream().map(SrunHet.Part::options).toList(), names, false);
        } catch (SlurmException e) {
            return client.refused(e);
        }
        int jobId = reply.integer("jobId");
        Optional<Json.Obj> allocation = granted(c, first, client, jobId);
        if (allocation.isEmpty()) {
            return o.exitError(1);
        }
        try (Keepalive _ = Keepalive.begin(c, jobId)) {
            int rc = hetStep(c, parts, SrunHet.allocations(c, allocation.get(), parts), allocation.get(), true);
            AllocationClient.complete(c, jobId, rc);
            return rc;
        }
    }

    /** @param allocations of the parts; leader: that of the first component */
    private int hetStep(
            CommandContext c, List<SrunHet.Part> typed, List<Json.Obj> allocations, Json.Obj leader, boolean own)
            throws SlurmException, UsageException {
        Optional<List<SrunHet.Part>> sent = SrunHet.sent(c, leader, typed, allocations);
        if (sent.isEmpty()) {
            return typed.getFirst().options().exitError(1);
        }
        List<SrunHet.Part> parts = sent.get();
        JobOptions o = parts.getFirst().options();
        parts.forEach(p -> terminal(c, p.options()));
        int jobId = leader.integer("jobId");
        List<Object> steps = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            SrunHet.Part p = parts.get(i);
            StepRequest request = new StepRequest(
                    p.options(), p.program(), own, allocations.get(i).objects("shares"));
            boolean behind = i > 0
                    && allocations.get(i).integer("jobId")
                            == allocations.getFirst().integer("jobId");
            Json.Obj desc = (behind ? request.behindOthers() : request).describe(StepFollower.names(c, leader, ""));
            steps.add(new Json.Obj()
                    .put("jobId", allocations.get(i).number("jobId"))
                    .put("step", desc));
        }
        if (parts.size() > 1 && parts.stream().anyMatch(p -> p.options().has(JobOption.MULTI_PROG))) {
            throw new UsageException(
                    CommandContext.FATAL_EXIT,
                    List.of("srun: fatal: --multi-prog option not supported with multiple het groups"));
        }
        StepSignals signals = StepSignals.begin(c, o);
        List<Json.Obj> started;
        try {
            started = create(c, o, signals, jobId, "CreateHetStep", new Json.Obj().put("parts", steps))
                    .objects("parts");
        } catch (SlurmException e) {
            reportUnplaced(c, jobId, e);
            return o.exitError(1);
        }
        CliFilter.postSubmit(
                o,
                parts.size(),
                jobId,
                StepId.number(started.getFirst().integer("stepId")),
                parts.getFirst().program());
        StepHooks hooks = new StepHooks(c, o, parts.getFirst().program(), leader, started.getFirst());
        if (!hooks.runProlog()) {
            return o.exitError(1);
        }
        try {
            return StepFollower.hetFollow(c, parts, leader, started, signals, own);
        } finally {
            hooks.epilog();
        }
    }

    /**
     * Reports a step that could not be placed. A component that does not fit beside the others has a sentence of its
     * own.
     */
    private static void reportUnplaced(CommandContext c, int jobId, SlurmException e) {
        SlurmErrno why = SlurmErrno.of(e.errno());
        boolean beside = (why == SlurmErrno.INVALID_NODE_NAME || why == SlurmErrno.INVALID_NODE_COUNT)
                && !e.getMessage().equals(why.sentence());
        c.error(beside ? e.getMessage() : "Unable to create step for job " + jobId + ": " + e.getMessage());
        if (beside && why == SlurmErrno.INVALID_NODE_NAME) {
            c.error("Job not submitted.");
        }
    }

    /** {@code jobid 181: nodes(2):`n[1-2]', cpu counts: 1(x2)}. */
    private static void describe(CommandContext c, Json.Obj a) {
        StringBuilder counts = new StringBuilder();
        int last = -1;
        int times = 0;
        List<Json.Obj> shares = a.objects("shares");
        for (int i = 0; i <= shares.size(); i++) {
            int cpus = i < shares.size() ? shares.get(i).integer("cpus") : -1;
            if (cpus != last && times > 0) {
                counts.append(counts.isEmpty() ? "" : ",")
                        .append(last)
                        .append("(x")
                        .append(times)
                        .append(')');
                times = 0;
            }
            last = cpus;
            times++;
        }
        c.info("jobid " + a.integer("jobId") + ": nodes(" + a.integer("nodeCount") + "):`" + a.text("nodes")
                + "', cpu counts: " + counts);
    }

    /** {@code CpuBindType=verbose,cores}: how the step's tasks are bound, without the lists of maps and masks. */
    private static void describeBinding(CommandContext c, Json.Obj started) {
        String bind = started.text("cpuBind");
        int list = bind.indexOf(':');
        String type = list < 0 ? bind : bind.substring(0, list);
        c.info("CpuBindType=" + (bind.isEmpty() ? "(null type)" : type));
    }

    private int step(CommandContext c, JobOptions o, List<String> program, Json.Obj allocation, boolean own)
            throws SlurmException, UsageException {
        int jobId = allocation.integer("jobId");
        Optional<List<String>> sent = Bcast.sent(c, o, program, jobId);
        return sent.isEmpty() ? o.exitError(1) : sentStep(c, o, sent.get(), allocation, own);
    }

    private int sentStep(CommandContext c, JobOptions o, List<String> program, Json.Obj allocation, boolean own)
            throws SlurmException, UsageException {
        int jobId = allocation.integer("jobId");
        StepFiles.Names names = StepFollower.names(c, allocation, "");
        Json.Obj desc = new StepRequest(o, program, own, allocation.objects("shares")).describe(names);
        StepSignals signals = StepSignals.begin(c, o);
        Json.Obj started;
        try {
            started = create(
                    c,
                    o,
                    signals,
                    jobId,
                    "CreateStep",
                    new Json.Obj().put("jobId", (long) jobId).put("step", desc));
        } catch (SlurmException e) {
            c.error("Unable to create step for job " + jobId + ": " + e.getMessage());
            return o.exitError(1);
        }
        started.objects("shares").forEach(s -> {
            String address = addresses.get(s.text("node"));
            if (address != null) {
                s.put("address", address);
            }
        });
        if (o.verbose() > 0) {
            describeBinding(c, started);
        }
        CliFilter.postSubmit(o, 1, jobId, started.integer("stepId"), program);
        if (o.has(JobOption.ASYNC)) {
            c.out()
                    .println((o.has(JobOption.PARSABLE) ? "" : "Submitted step ") + jobId + "."
                            + StepId.name(started.integer("stepId")));
            return 0;
        }
        Json.Obj state = new Json.Obj();
        state.put("allocation", allocation);
        state.put("started", started);
        state.put("own", own);
        c.host().checkpoint(state);
        for (String w : started.texts("warnings")) {
            c.info(w);
        }
        StepHooks hooks = new StepHooks(c, o, program, allocation, started);
        if (!hooks.runProlog()) {
            return o.exitError(1);
        }
        try {
            return StepFollower.follow(c, o, program, allocation, started, signals, own);
        } finally {
            hooks.epilog();
        }
    }

    /** Waits while other steps hold what this one needs. */
    private static Json.Obj create(
            CommandContext c, JobOptions o, StepSignals signals, int jobId, String message, Json.Obj q)
            throws SlurmException {
        q.put("requestId", c.host().requestId());
        boolean immediate = o.has(JobOption.IMMEDIATE);
        long giveUpMs = immediate ? c.host().nowMs() + o.number(JobOption.IMMEDIATE) * 1000 : Long.MAX_VALUE;
        boolean told = false;
        while (true) {
            q.put("waitMs", told && !immediate ? (long) STEP_WAIT_MS : 0L);
            try {
                Json.Obj started = signals.ask(message, q);
                if (told && !o.has(JobOption.QUIET)) {
                    Json.Obj one =
                            started.has("parts") ? started.objects("parts").getFirst() : started;
                    c.info("Step created for StepId=" + jobId + "." + StepId.name(one.integer("stepId")));
                }
                return started;
            } catch (SlurmException e) {
                if (!SlurmErrno.of(e.errno()).isStepToCome() || c.host().nowMs() >= giveUpMs) {
                    throw e;
                }
                if (!told && !o.has(JobOption.QUIET)) {
                    c.info("Job " + jobId + " step creation temporarily disabled, retrying (" + e.getMessage() + ")");
                }
                told = true;
                if (!signals.pause(RETRY_MS)) {
                    throw e;
                }
            }
        }
    }

    private static void messages(CommandContext c, JobOptions o) {
        String library = Texts.lower(o.text(JobOption.COMPRESS));
        if (o.has(JobOption.COMPRESS) && !List.of("none", "lz4", "").contains(library)) {
            c.error("Compression type '" + library + "' unknown, disabling compression support.");
        }
        if (o.has(JobOption.MSG_TIMEOUT)) {
            c.host().needsOwnProcess();
            c.host().settings().messageTimeout = o.integer(JobOption.MSG_TIMEOUT);
        }
    }

    private static void checkTreeWidth(CommandContext c, JobOptions o) throws UsageException {
        String asked = o.text(JobOption.TREE_WIDTH);
        boolean good = asked.isEmpty()
                || asked.equalsIgnoreCase("off")
                || asked.length() <= 5 && Texts.isNumber(asked) && Integer.parseInt(asked) <= LaunchTree.WIDTH_MAX;
        if (!good) {
            throw c.bad(255, "Invalid --treewidth value: " + asked);
        }
    }
}
