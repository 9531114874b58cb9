package dev.muster.cli.step;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.Keepalive;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.ResumableStep;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Terminal;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.CliFilter;
import dev.muster.cli.request.ComponentEnvironment;
import dev.muster.cli.request.HetComponents;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.request.MpiKinds;
import dev.muster.cli.request.OptionEnvironment;
import dev.muster.cli.request.OptionReport;
import dev.muster.cli.request.ProgramFile;
import dev.muster.cli.submit.AllocationClient;
import dev.muster.cli.submit.X11Forward;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.job.StepId;
import dev.muster.model.json.Json;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    private static final int TREE_WIDTH_DEFAULT = 16;

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
        boolean inside = o.has(JobOption.JOBID) && !isOwnAllocation(o);
        if (o.has(JobOption.HET_GROUP)) {
            List<Integer> groups = SrunHet.groups(c, o); // what is no group is told where there is no such job, too
            if (!inside && sections.size() == 1) {
                SrunHet.within(c, o, groups, 1);
            }
        }
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
        if (!o.has(JobOption.JOBID) || isOwnAllocation(o)) {
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
        if (o.has(JobOption.JOBID) && !isOwnAllocation(o)) {
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
        } else if (!o.has(JobOption.JOBID) || isOwnAllocation(o)) {
            wrong = "--async is only valid for steps submitted within an existing job allocation";
        } else {
            wrong = "";
        }

        if (!wrong.isEmpty()) {
            throw c.bad(o.exitError(1), wrong);
        }
    }

    /** A pseudo-terminal is for somebody who sits at one. */
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
            return follow(c, o, program, allocation, begun.state().obj("started"), signals, false);
        }
        try (Keepalive _ = Keepalive.begin(c, jobId)) {
            int rc = follow(c, o, program, allocation, begun.state().obj("started"), signals, true);
            AllocationClient.complete(c, jobId, rc);
            return rc;
        }
    }

    /** {@code --test-only} asks about a new job wherever it is called. */
    private static boolean isOwnAllocation(JobOptions o) {
        return o.has(JobOption.TEST_ONLY);
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
            Json.Obj desc = (behind ? request.behindOthers() : request).describe(names(c, leader, ""));
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
            return hetFollow(c, parts, leader, started, signals, own);
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

    private static int hetFollow(
            CommandContext c,
            List<SrunHet.Part> parts,
            Json.Obj leader,
            List<Json.Obj> started,
            StepSignals signals,
            boolean own)
            throws UsageException {
        JobOptions o = parts.getFirst().options();
        boolean pty = o.has(JobOption.PTY);
        String stepId = StepId.name(StepId.number(started.getFirst().integer("stepId")));
        StepFiles.Names names = names(c, leader, stepId);
        int tasks = started.stream().mapToInt(s -> s.integer("tasks")).sum();
        Map<String, Output> files = new HashMap<>();
        // the same output is written by one, so that lines stay whole
        Map<Way, TaskOutput> shared = new HashMap<>();
        List<StepRun.Streams> streams = new ArrayList<>();
        for (SrunHet.Part p : parts) {
            streams.add(streams(c, p.options(), names, files, shared, Math.max(1, tasks)));
        }
        StepRun run = new StepRun(
                c,
                settings(o, pty),
                leader.integer("jobId") + "." + stepId,
                streams.getFirst().out(),
                streams.getFirst().err());
        for (int i = 0; i < parts.size(); i++) {
            run.connect(
                    started.get(i).objects("shares"),
                    attach(started.get(i).integer("jobId"), started.get(i)),
                    streams.get(i));
        }
        run.cancelBy(q -> StepManager.cancel(c, q, started));
        if (own) {
            run.endsJobToo();
        }
        input(c, o, names, run, pty);
        Terminal terminal = pty && c.host().isTty(0) ? Terminal.raw() : null;
        if (pty) {
            window(c.host(), run);
        }
        signals.goTo(run);
        try {
            return run.await();
        } finally {
            if (terminal != null) {
                terminal.restore();
            }
            files.values().forEach(Output::flush);
        }
    }

    private static StepRun.Streams streams(
            CommandContext c,
            JobOptions o,
            StepFiles.Names names,
            Map<String, Output> files,
            Map<Way, TaskOutput> shared,
            int tasks)
            throws UsageException {
        boolean direct = o.has(JobOption.PTY) || o.has(JobOption.UNBUFFERED);
        Output toOut = sink(c, o, JobOption.OUTPUT, names, c.out(), files);
        Output toErr;
        if (o.has(JobOption.ERROR)) {
            toErr = sink(c, o, JobOption.ERROR, names, c.err(), files);
        } else if (o.has(JobOption.OUTPUT) && !StepFiles.isMode(o.text(JobOption.OUTPUT))) {
            toErr = toOut;
        } else {
            toErr = c.err();
        }

        return new StepRun.Streams(
                shared.computeIfAbsent(new Way(toOut, o.has(JobOption.LABEL), direct), w -> w.open(tasks)),
                shared.computeIfAbsent(new Way(toErr, o.has(JobOption.LABEL), direct), w -> w.open(tasks)));
    }

    /** An output and how lines are put on it. */
    private record Way(Output to, boolean labelled, boolean direct) {
        TaskOutput open(int tasks) {
            return new TaskOutput(to, labelled, direct, tasks);
        }
    }

    private static Json.Obj attach(int jobId, Json.Obj started) {
        Json.Obj attach = new Json.Obj();
        attach.put("type", "IoAttach");
        attach.put("jobId", (long) jobId);
        attach.put("attempt", started.number("attempt"));
        attach.put("stepId", started.number("stepId"));
        attach.put("token", started.text("ioToken"));
        return attach;
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
        c.info("CpuBindType=" + (bind.isEmpty() ? "(null type)" : list < 0 ? bind : bind.substring(0, list)));
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
        StepFiles.Names names = names(c, allocation, "");
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
        started.objects("shares").stream()
                .filter(s -> addresses.containsKey(s.text("node")))
                .forEach(s -> s.put("address", addresses.get(s.text("node"))));
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
            return follow(c, o, program, allocation, started, signals, own);
        } finally {
            hooks.epilog();
        }
    }

    private static StepFiles.Names names(CommandContext c, Json.Obj a, String step) {
        return new StepFiles.Names(
                a.integer("jobId"),
                step,
                a.text("name"),
                a.text("userName"),
                c.env("SLURM_ARRAY_JOB_ID"),
                c.env("SLURM_ARRAY_TASK_ID"));
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

    /** @param own the job was made for this step */
    static int follow(
            CommandContext c,
            JobOptions o,
            List<String> program,
            Json.Obj allocation,
            Json.Obj started,
            StepSignals signals,
            boolean own)
            throws UsageException {
        try {
            return followed(c, o, program, allocation, started, signals, own);
        } catch (UsageException e) {
            // a file of its streams cannot be opened: nobody serves the tasks, and the next step would wait for theirs
            int jobId = allocation.integer("jobId");
            if (SrunDirect.is(jobId)) {
                SrunDirect.signal(c, jobId, started, Signals.number("KILL"));
            } else {
                StepManager.abandon(c, jobId, started, own);
            }
            throw e;
        }
    }

    private static int followed(
            CommandContext c,
            JobOptions o,
            List<String> program,
            Json.Obj allocation,
            Json.Obj started,
            StepSignals signals,
            boolean own)
            throws UsageException {
        int jobId = allocation.integer("jobId");
        String stepId = StepId.name(started.integer("stepId"));
        boolean pty = o.has(JobOption.PTY);
        StepFiles.Names names = names(c, allocation, stepId);
        int tasks = Math.max(1, started.integer("tasks"));
        Map<String, Output> files = new HashMap<>();
        Output toOut = sink(c, o, JobOption.OUTPUT, names, c.out(), files);
        Output toErr;
        if (o.has(JobOption.ERROR)) {
            toErr = sink(c, o, JobOption.ERROR, names, c.err(), files);
        } else if (o.has(JobOption.OUTPUT) && !StepFiles.isMode(o.text(JobOption.OUTPUT))) {
            toErr = toOut;
        } else {
            toErr = c.err();
        }

        boolean direct = pty || o.has(JobOption.UNBUFFERED);
        StepRun run = new StepRun(
                c,
                settings(o, pty),
                jobId + "." + stepId,
                new TaskOutput(toOut, o.has(JobOption.LABEL), direct, tasks),
                new TaskOutput(toErr, o.has(JobOption.LABEL), direct, tasks));
        run.connect(
                started.objects("shares"),
                attach(jobId, started),
                c.host().resumable().map(ResumableStep::positions).orElse(Map.of()));
        if (!Texts.baseName(c.program()).equals(c.name())) {
            run.endsUntold(); // a step that serves another command, which has its own words
        }
        if (SrunDirect.is(jobId)) {
            run.signalBy(signal -> SrunDirect.signal(c, jobId, started, signal));
        }
        run.cancelBy(q -> StepManager.cancel(c, q, List.of(started)));
        if (own) {
            run.endsJobToo();
        }
        input(c, o, names, run, pty);
        Terminal terminal = pty && c.host().isTty(0) ? Terminal.raw() : null;
        if (pty) {
            window(c.host(), run);
        }
        signals.goTo(run);
        if (o.has(JobOption.DEBUGGER_TEST)) {
            c.host().startBackground("processes", () -> ProcessTable.print(c, o, program, jobId, started));
        }
        try {
            return run.await();
        } finally {
            if (terminal != null) {
                terminal.restore();
            }
            for (Output f : files.values()) {
                f.flush();
            }
        }
    }

    private static StepRun.Settings settings(JobOptions o, boolean pty) {
        return new StepRun.Settings(
                StepRequest.killOnBadExit(o),
                StepRequest.waitSeconds(o),
                o.has(JobOption.WAIT_FOR_CHILDREN) ? 0 : o.context().host().settings().eioTimeout,
                o.has(JobOption.QUIET),
                o.verbose(),
                o.has(JobOption.DISABLE_STATUS),
                o.has(JobOption.QUIT_ON_INTERRUPT),
                pty,
                treeWidth(o));
    }

    /** Nodes that are reached directly; {@code off} is all of them, but for more than --threads would serve. */
    private static int treeWidth(JobOptions o) {
        String asked = o.text(JobOption.TREE_WIDTH);
        int width;
        if (asked.isEmpty()) {
            width = o.context().host().settings().treeWidth;
        } else if (asked.equalsIgnoreCase("off")) {
            width = LaunchTree.WIDTH_MAX;
        } else {
            width = Integer.parseInt(asked);
        }

        int most = o.has(JobOption.THREADS) ? o.integer(JobOption.THREADS) : LaunchTree.WIDTH_MAX;
        return Math.min(most, width == 0 ? TREE_WIDTH_DEFAULT : width);
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

    /** A plain file is srun's to write: all tasks go into one. */
    private static Output sink(
            CommandContext c,
            JobOptions o,
            JobOption option,
            StepFiles.Names names,
            Output otherwise,
            Map<String, Output> files)
            throws UsageException {
        String text = o.text(option);
        if (StepFiles.isMode(text) || StepFiles.isPerTask(text)) {
            return otherwise;
        }
        String path = Texts.absolute(StepFiles.expand(text, names), new JobRequest(o).workDir());
        if (files.containsKey(path)) {
            return files.get(path);
        }
        try {
            Path parent = Path.of(path).getParent();
            if (parent != null && !Files.exists(parent)) {
                Files.createDirectories(parent);
            }
            Output file =
                    new Output(opened(Path.of(path), o.text(JobOption.OPEN_MODE).equals("append")), false);
            files.put(path, file);
            return file;
        } catch (IOException e) {
            throw c.bad(
                    o.exitError(1),
                    "Could not open " + (option == JobOption.OUTPUT ? "stdout" : "stderr") + " file: " + reason(path));
        }
    }

    /**
     * Opens a file with the umask and without write permission for others, as Slurm does. Files that nodes open have
     * the umask alone.
     */
    private static OutputStream opened(Path path, boolean append) throws IOException {
        Set<OpenOption> options = Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                append ? StandardOpenOption.APPEND : StandardOpenOption.TRUNCATE_EXISTING);
        return Channels.newOutputStream(Files.newByteChannel(
                path, options, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--"))));
    }

    /** Why a file could not be opened, in the C library's words. */
    private static String reason(String path) {
        Path parent = Path.of(path).toAbsolutePath().getParent();
        if (Files.isDirectory(Path.of(path))) {
            return "Is a directory";
        }
        if (parent != null && !Files.exists(parent)) {
            return "No such file or directory";
        }
        return "Permission denied";
    }

    private static void input(CommandContext c, JobOptions o, StepFiles.Names names, StepRun run, boolean pty)
            throws UsageException {
        String text = o.text(JobOption.INPUT);
        if (StepFiles.isNone(text) || StepFiles.isPerTask(text)) {
            return;
        }
        InputStream in = c.in();
        Optional<ResumableStep> begun = c.host().resumable();
        if (begun.isPresent()) {
            in = new SequenceInputStream(new ByteArrayInputStream(begun.get().input()), in);
        }
        if (!StepFiles.isMode(text)) {
            String path = Texts.absolute(StepFiles.expand(text, names), new JobRequest(o).workDir());
            try {
                in = c.host().openFile(path);
            } catch (IOException e) {
                throw c.bad(
                        o.exitError(1),
                        "Could not open stdin file: "
                                + (Files.exists(Path.of(path)) ? reason(path) : "No such file or directory"));
            }
        }
        int task;
        if (pty) {
            task = 0;
        } else if (Texts.isNumber(text)) {
            task = Integer.parseInt(text);
        } else {
            task = IoFrame.ALL_TASKS;
        }

        if (c.host().isTty(0)) {
            // reading a terminal from its background fails then instead of stopping srun
            c.host().ignoreSignal("TTIN");
        }
        run.input(new StepInput(
                in,
                c.host()::inBackground,
                run.nodes(),
                task,
                begun.map(ResumableStep::inputOffset).orElse(0L)));
    }

    private static void window(Host h, StepRun run) {
        h.onSignal("WINCH", () -> {
            int[] size = Terminal.size();
            if (size[0] > 0) {
                run.window(size[0], size[1]);
            }
        });
    }
}
