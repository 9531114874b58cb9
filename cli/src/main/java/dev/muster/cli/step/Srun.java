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
    public int run(CommandContext context) throws SlurmException, UsageException {
        List<List<String>> sections = HetComponents.sections('R', context.args());
        JobOptions options = new JobOptions(context, 'R', ComponentEnvironment.ofPlainStep(context));
        List<String> typed = options.readArguments(sections.getFirst());
        if (CommonOptions.helpOrVersion(context, options)) {
            return 0;
        }
        if (options.text(JobOption.MPI).equals("list")) {
            MpiKinds.list(context);
            return 0;
        }
        OptionEnvironment.read(options);
        boolean inside = isInside(options);
        checkGroups(context, options, sections.size());
        if (inside) {
            Clusters.selectOfAllocation(context);
        }
        boolean components = sections.size() > 1 || inside && options.has(JobOption.HET_GROUP);
        if (!components) {
            CliFilter.preSubmit(options, 0, typed);
        }
        MpiKinds.check(context, options);
        checkTreeWidth(context, options);
        messages(context, options);
        Optional<X11Forward> windows = windows(context, options);
        if (components) {
            context.host().needsOwnProcess();
            X11Forward.refuseForComponents(context, options, sections.size());
            return inside ? hetInside(context, options, sections) : hetAlone(context, options, sections);
        }
        return plain(context, options, typed, windows);
    }

    /** Checks the list of {@code --het-group}, also where no such job exists. */
    private static void checkGroups(CommandContext context, JobOptions options, int sections) throws UsageException {
        if (!options.has(JobOption.HET_GROUP)) {
            return;
        }
        List<Integer> groups = SrunHet.groups(context, options);
        if (!isInside(options) && sections == 1) {
            SrunHet.within(context, options, groups, 1);
        }
    }

    /** Runs a step that has no components. */
    private int plain(CommandContext context, JobOptions options, List<String> typed, Optional<X11Forward> windows)
            throws SlurmException, UsageException {
        if (typed.isEmpty() && !options.has(JobOption.TEST_ONLY)) {
            throw new UsageException(CommandContext.FATAL_EXIT, List.of("srun: fatal: No command given to execute."));
        }
        async(context, options);
        terminal(context, options);
        StepFiles.numbers(options);
        List<String> program = ProgramFile.tested(options, typed);
        if (options.verbose() > 0) {
            OptionReport.print(options);
        }
        if (options.has(JobOption.NO_ALLOCATE)) {
            return new SrunDirect(context, options).run(program);
        }
        if (needsOwnProcess(context, options)) {
            context.host().needsOwnProcess();
        }
        Optional<ResumableStep> begun = context.host().resumable();
        if (begun.isPresent()) {
            return resume(context, options, program, begun.get());
        }
        if (!isInside(options)) {
            return alone(context, options, program, windows);
        }
        StepRequest.settleTasksPerNode(options);
        return inside(context, options, program);
    }

    /** A display belongs to the allocation: a step in one that is there already has the allocation's. */
    private static Optional<X11Forward> windows(CommandContext context, JobOptions options) throws UsageException {
        if (!options.has(JobOption.X11)) {
            return Optional.empty();
        }
        context.host().needsOwnProcess();
        Optional<X11Forward> windows = X11Forward.of(context, options);
        if (isInside(options)) {
            context.error("Ignoring --x11 option for a job step within an existing job. Set x11 options at job "
                    + "allocation time.");
            return Optional.empty();
        }
        return windows;
    }

    private static void async(CommandContext context, JobOptions options) throws UsageException {
        String error;
        if (!options.has(JobOption.ASYNC)) {
            if (options.has(JobOption.PARSABLE)) {
                error = "--parsable requires --async";
            } else {
                error = "";
            }
        } else if (options.has(JobOption.PTY)) {
            error = "--async and --pty are mutually exclusive";
        } else if (options.has(JobOption.IMMEDIATE)) {
            error = "--immediate and --async are mutually exclusive";
        } else if (!isInside(options)) {
            error = "--async is only valid for steps submitted within an existing job allocation";
        } else {
            error = "";
        }

        if (!error.isEmpty()) {
            throw context.bad(options.exitError(1), error);
        }
    }

    /** Drops {@code --pty} where srun's own input is no terminal. */
    private static void terminal(CommandContext context, JobOptions options) {
        if (options.has(JobOption.PTY) && !context.host().isTty(0)) {
            context.error("ioctl(TIOCGWINSZ): Inappropriate ioctl for device");
            context.error("Not using a pseudo-terminal, disregarding --pty option");
            options.drop(JobOption.PTY);
        }
    }

    /** Terminals, files that stay open and programs beside the step are the caller's own. */
    private static boolean needsOwnProcess(CommandContext context, JobOptions options) {
        return options.has(JobOption.PTY)
                || options.has(JobOption.BCAST)
                || !StepHooks.program(context, options, JobOption.PROLOG).isEmpty()
                || !StepHooks.program(context, options, JobOption.EPILOG).isEmpty()
                || isFile(options.text(JobOption.INPUT))
                || isFile(options.text(JobOption.OUTPUT))
                || isFile(options.text(JobOption.ERROR));
    }

    private static boolean isFile(String where) {
        return !StepFiles.isMode(where) && !StepFiles.isPerTask(where);
    }

    /** Resumes a step that the command service started and left to this process. */
    private int resume(CommandContext context, JobOptions options, List<String> program, ResumableStep begun)
            throws UsageException {
        StepSignals signals = StepSignals.begin(context, options);
        Json.Obj allocation = begun.state().obj("allocation");
        int jobId = allocation.integer("jobId");
        if (!begun.state().flag("own")) {
            return StepFollower.follow(
                    context, options, program, allocation, begun.state().obj("started"), signals, false);
        }
        try (Keepalive _ = Keepalive.begin(context, jobId)) {
            int rc = StepFollower.follow(
                    context, options, program, allocation, begun.state().obj("started"), signals, true);
            AllocationClient.complete(context, jobId, rc);
            return rc;
        }
    }

    /** Whether the step runs in an allocation that exists; {@code --test-only} always asks about a new job. */
    private static boolean isInside(JobOptions options) {
        return options.has(JobOption.JOBID) && !options.has(JobOption.TEST_ONLY);
    }

    private int inside(CommandContext context, JobOptions options, List<String> program)
            throws SlurmException, UsageException {
        Optional<Json.Obj> allocation = confirmed(context, options);
        return allocation.isEmpty() ? options.exitError(1) : step(context, options, program, allocation.get(), false);
    }

    /** The allocation that the step is to run in, once it is ready; empty after its error has been told. */
    private static Optional<Json.Obj> confirmed(CommandContext context, JobOptions options) throws SlurmException {
        int jobId = options.integer(JobOption.JOBID);
        Json.Obj allocation;
        try {
            Json.Obj query = new Json.Obj();
            query.put("jobId", (long) jobId);
            allocation = StepManager.call(context, "AwaitAllocation", query);
            AllocationClient.mustRun(allocation);
        } catch (SlurmException e) {
            switch (SlurmErrno.of(e.errno())) {
                case ACCESS_DENIED -> context.error("Unable to create step for job " + jobId + ": " + e.getMessage());
                case ALREADY_DONE -> context.error("Slurm job " + jobId + " has expired");
                default -> context.error("Unable to confirm allocation for job " + jobId + ": " + e.getMessage());
            }
            if (NO_JOB_TO_RUN_IN.contains(SlurmErrno.of(e.errno()))) {
                context.info("Check SLURM_JOB_ID environment variable. Expired or invalid job " + jobId);
            }
            return Optional.empty();
        }
        if (!allocation.flag("ready")) {
            allocation = new AllocationClient(context, options).await(jobId, options.has(JobOption.QUIET));
        }
        return Optional.of(allocation);
    }

    private int alone(CommandContext context, JobOptions options, List<String> program, Optional<X11Forward> windows)
            throws SlurmException, UsageException {
        if (options.typed(JobOption.RELATIVE)) {
            throw new UsageException(
                    CommandContext.FATAL_EXIT,
                    List.of("srun: fatal: --relative option invalid for job allocation request"));
        }
        AllocationClient client = new AllocationClient(context, options).running(List.of(program));
        String name;
        if (options.typed(JobOption.JOB_NAME)
                || context.env("SLURM_JOB_ID").isEmpty() && options.has(JobOption.JOB_NAME)) {
            name = options.text(JobOption.JOB_NAME);
        } else if (program.isEmpty()) {
            name = "srun";
        } else {
            name = Texts.baseName(program.getFirst());
        }

        // a job of one step would be over when its program has been copied
        String kind = options.has(JobOption.BCAST) ? "ALLOCATION" : "RUN";
        Json.Obj reply;
        try {
            client.choose(kind, List.of(options), List.of(name));
            reply = options.has(JobOption.TEST_ONLY) && options.typed(JobOption.JOBID)
                    ? context.host()
                            .controller()
                            .call("TestJob", new Json.Obj().put("jobId", options.number(JobOption.JOBID)))
                    : client.submit(kind, List.of(options), List.of(name), options.has(JobOption.TEST_ONLY));
        } catch (SlurmException e) {
            return client.refused(e);
        }
        int jobId = reply.integer("jobId");
        if (options.has(JobOption.TEST_ONLY)) {
            return tested(context, reply);
        }
        Optional<Json.Obj> granted = granted(context, options, client, jobId);
        if (granted.isEmpty()) {
            return options.exitError(1);
        }
        Json.Obj allocation = granted.get();
        if (options.verbose() > 0) {
            describe(context, allocation);
        }
        windows.ifPresent(w -> w.serve(allocation));
        int rc;
        try (Keepalive _ = Keepalive.begin(context, jobId)) {
            rc = step(context, options, program, allocation, true);
        } catch (UsageException | SlurmException e) {
            // the allocation is released, whatever the error of the step
            AllocationClient.complete(context, jobId, options.exitError(1));
            throw e;
        }
        AllocationClient.complete(context, jobId, rc);
        return rc;
    }

    private static int tested(CommandContext context, Json.Obj reply) {
        context.info("Job " + reply.integer("jobId") + " to start at " + context.time(reply.number("testStart"))
                + " a using "
                + reply.integer("testCpus") + " processors on nodes " + reply.text("testNodes") + " in partition "
                + reply.text("testPartition"));
        return 0;
    }

    /** The allocation once it is ready; empty if it ended before, which has been told. */
    private static Optional<Json.Obj> granted(
            CommandContext context, JobOptions options, AllocationClient client, int jobId) throws SlurmException {
        AtomicBoolean signalled = new AtomicBoolean();
        for (String signal : List.of("INT", "TERM", "HUP", "QUIT")) {
            // also between the grant and the request of the step, which registers its own
            StepSignals.on(context, options, signal, Signals.number(signal), () -> {
                signalled.set(true);
                AllocationClient.cancel(context, jobId);
            });
        }
        Json.Obj allocation;
        try {
            allocation = client.await(jobId, options.has(JobOption.QUIET));
        } catch (SlurmException e) {
            if (context.host().isCallerGone()) {
                AllocationClient.cancel(context, jobId);
            }
            throw e;
        }
        if (AllocationClient.isOver(allocation)) {
            if (signalled.get()) {
                context.info("Job allocation " + jobId + " has been revoked");
                context.info("Force Terminated JobId=" + jobId);
            } else {
                AllocationClient.cancelled(context, "Unable to allocate resources: ", allocation);
            }
            return Optional.empty();
        }
        return Optional.of(allocation);
    }

    // ---- heterogeneous jobs

    private int hetInside(CommandContext context, JobOptions options, List<List<String>> sections)
            throws SlurmException, UsageException {
        Optional<Json.Obj> allocation = confirmed(context, options);
        if (allocation.isEmpty()) {
            return options.exitError(1);
        }
        List<Integer> members = SrunHet.members(allocation.get());
        List<SrunHet.Part> parts = SrunHet.parts(context, sections, members.isEmpty() ? SrunHet.OWN : members.size());
        return hetStep(context, parts, SrunHet.allocations(context, allocation.get(), parts), allocation.get(), false);
    }

    private int hetAlone(CommandContext context, JobOptions options, List<List<String>> sections)
            throws SlurmException, UsageException {
        List<SrunHet.Part> parts = SrunHet.parts(context, sections, 0);
        JobOptions first = parts.getFirst().options();
        AllocationClient client = new AllocationClient(context, first)
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
            if (options.has(JobOption.TEST_ONLY)) {
                // each component is tested as a job of its own
                for (int i = 0; i < parts.size(); i++) {
                    tested(context, client.submit(kind, List.of(parts.get(i).options()), List.of(names.get(i)), true));
                }
                return 0;
            }
            reply = client.submit(
                    kind, parts.stream().map(SrunHet.Part::options).toList(), names, false);
        } catch (SlurmException e) {
            return client.refused(e);
        }
        int jobId = reply.integer("jobId");
        Optional<Json.Obj> allocation = granted(context, first, client, jobId);
        if (allocation.isEmpty()) {
            return options.exitError(1);
        }
        try (Keepalive _ = Keepalive.begin(context, jobId)) {
            int rc = hetStep(
                    context, parts, SrunHet.allocations(context, allocation.get(), parts), allocation.get(), true);
            AllocationClient.complete(context, jobId, rc);
            return rc;
        }
    }

    /** @param allocations of the parts; leader: that of the first component */
    private int hetStep(
            CommandContext context,
            List<SrunHet.Part> typed,
            List<Json.Obj> allocations,
            Json.Obj leader,
            boolean ownAllocation)
            throws SlurmException, UsageException {
        Optional<List<SrunHet.Part>> sent = SrunHet.sent(context, leader, typed, allocations);
        if (sent.isEmpty()) {
            return typed.getFirst().options().exitError(1);
        }
        List<SrunHet.Part> parts = sent.get();
        JobOptions options = parts.getFirst().options();
        parts.forEach(p -> terminal(context, p.options()));
        int jobId = leader.integer("jobId");
        List<Object> steps = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            SrunHet.Part part = parts.get(i);
            StepRequest request = new StepRequest(
                    part.options(),
                    part.program(),
                    ownAllocation,
                    allocations.get(i).objects("shares"));
            boolean behind = i > 0
                    && allocations.get(i).integer("jobId")
                            == allocations.getFirst().integer("jobId");
            Json.Obj desc =
                    (behind ? request.behindOthers() : request).describe(StepFollower.names(context, leader, ""));
            steps.add(new Json.Obj()
                    .put("jobId", allocations.get(i).number("jobId"))
                    .put("step", desc));
        }
        if (parts.size() > 1 && parts.stream().anyMatch(p -> p.options().has(JobOption.MULTI_PROG))) {
            throw new UsageException(
                    CommandContext.FATAL_EXIT,
                    List.of("srun: fatal: --multi-prog option not supported with multiple het groups"));
        }
        StepSignals signals = StepSignals.begin(context, options);
        List<Json.Obj> started;
        try {
            started = create(context, options, signals, jobId, "CreateHetStep", new Json.Obj().put("parts", steps))
                    .objects("parts");
        } catch (SlurmException e) {
            reportUnplaced(context, jobId, e);
            return options.exitError(1);
        }
        CliFilter.postSubmit(
                options,
                parts.size(),
                jobId,
                StepId.number(started.getFirst().integer("stepId")),
                parts.getFirst().program());
        StepHooks hooks = new StepHooks(context, options, parts.getFirst().program(), leader, started.getFirst());
        if (!hooks.runProlog()) {
            return options.exitError(1);
        }
        try {
            return StepFollower.hetFollow(context, parts, leader, started, signals, ownAllocation);
        } finally {
            hooks.epilog();
        }
    }

    /**
     * Reports a step that could not be placed. A component that does not fit beside the others has a sentence of its
     * own.
     */
    private static void reportUnplaced(CommandContext context, int jobId, SlurmException e) {
        SlurmErrno errno = SlurmErrno.of(e.errno());
        boolean beside = (errno == SlurmErrno.INVALID_NODE_NAME || errno == SlurmErrno.INVALID_NODE_COUNT)
                && !e.getMessage().equals(errno.sentence());
        context.error(beside ? e.getMessage() : "Unable to create step for job " + jobId + ": " + e.getMessage());
        if (beside && errno == SlurmErrno.INVALID_NODE_NAME) {
            context.error("Job not submitted.");
        }
    }

    /** {@code jobid 181: nodes(2):`n[1-2]', cpu counts: 1(x2)}. */
    private static void describe(CommandContext context, Json.Obj allocation) {
        StringBuilder counts = new StringBuilder();
        int last = -1;
        int times = 0;
        List<Json.Obj> shares = allocation.objects("shares");
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
        context.info("jobid " + allocation.integer("jobId") + ": nodes(" + allocation.integer("nodeCount") + "):`"
                + allocation.text("nodes") + "', cpu counts: " + counts);
    }

    /** {@code CpuBindType=verbose,cores}: how the step's tasks are bound, without the lists of maps and masks. */
    private static void describeBinding(CommandContext context, Json.Obj started) {
        String bind = started.text("cpuBind");
        int list = bind.indexOf(':');
        String type = list < 0 ? bind : bind.substring(0, list);
        context.info("CpuBindType=" + (bind.isEmpty() ? "(null type)" : type));
    }

    private int step(
            CommandContext context,
            JobOptions options,
            List<String> program,
            Json.Obj allocation,
            boolean ownAllocation)
            throws SlurmException, UsageException {
        int jobId = allocation.integer("jobId");
        Optional<List<String>> sent = Bcast.sent(context, options, program, jobId);
        return sent.isEmpty()
                ? options.exitError(1)
                : sentStep(context, options, sent.get(), allocation, ownAllocation);
    }

    private int sentStep(
            CommandContext context,
            JobOptions options,
            List<String> program,
            Json.Obj allocation,
            boolean ownAllocation)
            throws SlurmException, UsageException {
        int jobId = allocation.integer("jobId");
        StepFiles.Names names = StepFollower.names(context, allocation, "");
        Json.Obj desc = new StepRequest(options, program, ownAllocation, allocation.objects("shares")).describe(names);
        StepSignals signals = StepSignals.begin(context, options);
        Json.Obj started;
        try {
            started = create(
                    context,
                    options,
                    signals,
                    jobId,
                    "CreateStep",
                    new Json.Obj().put("jobId", (long) jobId).put("step", desc));
        } catch (SlurmException e) {
            context.error("Unable to create step for job " + jobId + ": " + e.getMessage());
            return options.exitError(1);
        }
        started.objects("shares").forEach(s -> {
            String address = addresses.get(s.text("node"));
            if (address != null) {
                s.put("address", address);
            }
        });
        if (options.verbose() > 0) {
            describeBinding(context, started);
        }
        CliFilter.postSubmit(options, 1, jobId, started.integer("stepId"), program);
        if (options.has(JobOption.ASYNC)) {
            context.out()
                    .println((options.has(JobOption.PARSABLE) ? "" : "Submitted step ") + jobId + "."
                            + StepId.name(started.integer("stepId")));
            return 0;
        }
        Json.Obj state = new Json.Obj();
        state.put("allocation", allocation);
        state.put("started", started);
        state.put("own", ownAllocation);
        context.host().checkpoint(state);
        for (String w : started.texts("warnings")) {
            context.info(w);
        }
        StepHooks hooks = new StepHooks(context, options, program, allocation, started);
        if (!hooks.runProlog()) {
            return options.exitError(1);
        }
        try {
            return StepFollower.follow(context, options, program, allocation, started, signals, ownAllocation);
        } finally {
            hooks.epilog();
        }
    }

    /** Waits while other steps hold what this one needs. */
    private static Json.Obj create(
            CommandContext context, JobOptions options, StepSignals signals, int jobId, String message, Json.Obj query)
            throws SlurmException {
        query.put("requestId", context.host().requestId());
        boolean immediate = options.has(JobOption.IMMEDIATE);
        long giveUpMs =
                immediate ? context.host().nowMs() + options.number(JobOption.IMMEDIATE) * 1000 : Long.MAX_VALUE;
        boolean isReported = false;
        while (true) {
            query.put("waitMs", isReported && !immediate ? (long) STEP_WAIT_MS : 0L);
            try {
                Json.Obj started = signals.ask(message, query);
                if (isReported && !options.has(JobOption.QUIET)) {
                    Json.Obj one =
                            started.has("parts") ? started.objects("parts").getFirst() : started;
                    context.info("Step created for StepId=" + jobId + "." + StepId.name(one.integer("stepId")));
                }
                return started;
            } catch (SlurmException e) {
                if (!SlurmErrno.of(e.errno()).isStepToCome() || context.host().nowMs() >= giveUpMs) {
                    throw e;
                }
                if (!isReported && !options.has(JobOption.QUIET)) {
                    context.info(
                            "Job " + jobId + " step creation temporarily disabled, retrying (" + e.getMessage() + ")");
                }
                isReported = true;
                if (!signals.pause(RETRY_MS)) {
                    throw e;
                }
            }
        }
    }

    private static void messages(CommandContext context, JobOptions options) {
        String library = Texts.lower(options.text(JobOption.COMPRESS));
        if (options.has(JobOption.COMPRESS) && !List.of("none", "lz4", "").contains(library)) {
            context.error("Compression type '" + library + "' unknown, disabling compression support.");
        }
        if (options.has(JobOption.MSG_TIMEOUT)) {
            context.host().needsOwnProcess();
            context.host().settings().messageTimeout = options.integer(JobOption.MSG_TIMEOUT);
        }
    }

    private static void checkTreeWidth(CommandContext context, JobOptions options) throws UsageException {
        String width = options.text(JobOption.TREE_WIDTH);
        boolean good = width.isEmpty()
                || width.equalsIgnoreCase("off")
                || width.length() <= 5 && Texts.isNumber(width) && Integer.parseInt(width) <= LaunchTree.WIDTH_MAX;
        if (!good) {
            throw context.bad(255, "Invalid --treewidth value: " + width);
        }
    }
}
