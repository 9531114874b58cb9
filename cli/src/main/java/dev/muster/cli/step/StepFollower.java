package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.ResumableStep;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.Terminal;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.JobRequest;
import dev.muster.json.Json;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.job.StepId;
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

/** Follows a step that was created: opens its files, connects to its tasks, and waits for their end. */
final class StepFollower {
    private static final int TREE_WIDTH_DEFAULT = 16;

    private StepFollower() {}

    /** @param ownAllocation the job was made for this step */
    static int follow(
            CommandContext context,
            JobOptions options,
            List<String> program,
            Json.Obj allocation,
            Json.Obj started,
            StepSignals signals,
            boolean ownAllocation)
            throws UsageException {
        try {
            return followed(context, options, program, allocation, started, signals, ownAllocation);
        } catch (UsageException e) {
            // a file of the streams cannot be opened: the tasks are served by no srun, and the next step would wait for
            // their
            // resources
            int jobId = allocation.integer("jobId");
            if (SrunDirect.is(jobId)) {
                SrunDirect.signal(context, jobId, started, Signals.number("KILL"));
            } else {
                StepManager.abandon(context, jobId, started, ownAllocation);
            }
            throw e;
        }
    }

    private static int followed(
            CommandContext context,
            JobOptions options,
            List<String> program,
            Json.Obj allocation,
            Json.Obj started,
            StepSignals signals,
            boolean ownAllocation)
            throws UsageException {
        int jobId = allocation.integer("jobId");
        String stepId = StepId.name(started.integer("stepId"));
        boolean pty = options.has(JobOption.PTY);
        StepFiles.Names names = names(context, allocation, stepId);
        int tasks = Math.max(1, started.integer("tasks"));
        Map<String, Output> files = new HashMap<>();
        Output toOut = sink(context, options, JobOption.OUTPUT, names, context.out(), files);
        Output toErr = errorSink(context, options, names, toOut, files);
        boolean direct = pty || options.has(JobOption.UNBUFFERED);
        StepRun run = new StepRun(
                context,
                settings(options, pty),
                jobId + "." + stepId,
                new TaskOutput(toOut, options.has(JobOption.LABEL), direct, tasks),
                new TaskOutput(toErr, options.has(JobOption.LABEL), direct, tasks));
        run.connect(
                started.objects("shares"),
                attach(jobId, started),
                context.host().resumable().map(ResumableStep::positions).orElse(Map.of()));
        if (!Texts.baseName(context.program()).equals(context.name())) {
            run.endsUntold(); // a step that serves another command, which has its own words
        }
        if (SrunDirect.is(jobId)) {
            run.signalBy(signal -> SrunDirect.signal(context, jobId, started, signal));
        }
        run.cancelBy(q -> StepManager.cancel(context, q, List.of(started)));
        if (ownAllocation) {
            run.endsJobToo();
        }
        input(context, options, names, run, pty);
        Terminal terminal = pty && context.host().isTty(0) ? Terminal.raw() : null;
        if (pty) {
            window(context.host(), run);
        }
        signals.goTo(run);
        if (options.has(JobOption.DEBUGGER_TEST)) {
            context.host()
                    .startBackground("processes", () -> ProcessTable.print(context, options, program, jobId, started));
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

    static int hetFollow(
            CommandContext context,
            List<SrunHet.Part> parts,
            Json.Obj leader,
            List<Json.Obj> started,
            StepSignals signals,
            boolean ownAllocation)
            throws UsageException {
        JobOptions options = parts.getFirst().options();
        boolean pty = options.has(JobOption.PTY);
        String stepId = StepId.name(StepId.number(started.getFirst().integer("stepId")));
        StepFiles.Names names = names(context, leader, stepId);
        int tasks = started.stream().mapToInt(s -> s.integer("tasks")).sum();
        Map<String, Output> files = new HashMap<>();
        // the same output is written by one, so that lines stay whole
        Map<OutputRoute, TaskOutput> shared = new HashMap<>();
        List<StepRun.Streams> streams = new ArrayList<>();
        for (SrunHet.Part part : parts) {
            streams.add(streams(context, part.options(), names, files, shared, Math.max(1, tasks)));
        }
        StepRun run = new StepRun(
                context,
                settings(options, pty),
                leader.integer("jobId") + "." + stepId,
                streams.getFirst().out(),
                streams.getFirst().err());
        for (int i = 0; i < parts.size(); i++) {
            run.connect(
                    started.get(i).objects("shares"),
                    attach(started.get(i).integer("jobId"), started.get(i)),
                    streams.get(i));
        }
        run.cancelBy(q -> StepManager.cancel(context, q, started));
        if (ownAllocation) {
            run.endsJobToo();
        }
        input(context, options, names, run, pty);
        Terminal terminal = pty && context.host().isTty(0) ? Terminal.raw() : null;
        if (pty) {
            window(context.host(), run);
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
            CommandContext context,
            JobOptions options,
            StepFiles.Names names,
            Map<String, Output> files,
            Map<OutputRoute, TaskOutput> shared,
            int tasks)
            throws UsageException {
        boolean direct = options.has(JobOption.PTY) || options.has(JobOption.UNBUFFERED);
        Output toOut = sink(context, options, JobOption.OUTPUT, names, context.out(), files);
        Output toErr = errorSink(context, options, names, toOut, files);
        return new StepRun.Streams(
                shared.computeIfAbsent(
                        new OutputRoute(toOut, options.has(JobOption.LABEL), direct), w -> w.open(tasks)),
                shared.computeIfAbsent(
                        new OutputRoute(toErr, options.has(JobOption.LABEL), direct), w -> w.open(tasks)));
    }

    /** An output and how lines are put on it. */
    private record OutputRoute(Output to, boolean labelled, boolean direct) {
        TaskOutput open(int tasks) {
            return new TaskOutput(to, labelled, direct, tasks);
        }
    }

    static StepFiles.Names names(CommandContext context, Json.Obj a, String step) {
        return new StepFiles.Names(
                a.integer("jobId"),
                step,
                a.text("name"),
                a.text("userName"),
                context.env("SLURM_ARRAY_JOB_ID"),
                context.env("SLURM_ARRAY_TASK_ID"));
    }

    private static StepRun.Settings settings(JobOptions options, boolean pty) {
        return new StepRun.Settings(
                StepRequest.killOnBadExit(options),
                StepRequest.waitSeconds(options),
                options.has(JobOption.WAIT_FOR_CHILDREN)
                        ? 0
                        : options.context().host().settings().eioTimeout,
                options.has(JobOption.QUIET),
                options.verbose(),
                options.has(JobOption.DISABLE_STATUS),
                options.has(JobOption.QUIT_ON_INTERRUPT),
                pty,
                treeWidth(options));
    }

    /** Returns the number of nodes that srun reaches directly: TreeWidth; {@code off} means all, at most --threads. */
    private static int treeWidth(JobOptions options) {
        String widthText = options.text(JobOption.TREE_WIDTH);
        int width;
        if (widthText.isEmpty()) {
            width = options.context().host().settings().treeWidth;
        } else if (widthText.equalsIgnoreCase("off")) {
            width = LaunchTree.WIDTH_MAX;
        } else {
            width = Integer.parseInt(widthText);
        }

        int maximum = options.has(JobOption.THREADS) ? options.integer(JobOption.THREADS) : LaunchTree.WIDTH_MAX;
        return Math.min(maximum, width == 0 ? TREE_WIDTH_DEFAULT : width);
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

    private static Output errorSink(
            CommandContext context, JobOptions options, StepFiles.Names names, Output toOut, Map<String, Output> files)
            throws UsageException {
        if (options.has(JobOption.ERROR)) {
            return sink(context, options, JobOption.ERROR, names, context.err(), files);
        }
        return options.has(JobOption.OUTPUT) && !StepFiles.isMode(options.text(JobOption.OUTPUT))
                ? toOut
                : context.err();
    }

    /** A plain file is srun's to write: all tasks go into one. */
    private static Output sink(
            CommandContext context,
            JobOptions options,
            JobOption option,
            StepFiles.Names names,
            Output otherwise,
            Map<String, Output> files)
            throws UsageException {
        String text = options.text(option);
        if (StepFiles.isMode(text) || StepFiles.isPerTask(text)) {
            return otherwise;
        }
        String path = Texts.absolute(StepFiles.expand(text, names), new JobRequest(options).workDir());
        if (files.containsKey(path)) {
            return files.get(path);
        }
        try {
            Path parent = Path.of(path).getParent();
            if (parent != null && !Files.exists(parent)) {
                Files.createDirectories(parent);
            }
            Output file = new Output(
                    opened(Path.of(path), options.text(JobOption.OPEN_MODE).equals("append")), false);
            files.put(path, file);
            return file;
        } catch (IOException e) {
            throw context.bad(
                    options.exitError(1),
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

    private static void input(
            CommandContext context, JobOptions options, StepFiles.Names names, StepRun run, boolean pty)
            throws UsageException {
        String text = options.text(JobOption.INPUT);
        if (StepFiles.isNone(text) || StepFiles.isPerTask(text)) {
            return;
        }
        InputStream in = context.in();
        Optional<ResumableStep> begun = context.host().resumable();
        if (begun.isPresent()) {
            in = new SequenceInputStream(new ByteArrayInputStream(begun.get().input()), in);
        }
        if (!StepFiles.isMode(text)) {
            String path = Texts.absolute(StepFiles.expand(text, names), new JobRequest(options).workDir());
            try {
                in = context.host().openFile(path);
            } catch (IOException e) {
                throw context.bad(
                        options.exitError(1),
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

        if (context.host().isTty(0)) {
            // reading a terminal from its background fails then instead of stopping srun
            context.host().ignoreSignal("TTIN");
        }
        run.input(new StepInput(
                in,
                context.host()::inBackground,
                run.nodes(),
                task,
                begun.map(ResumableStep::inputOffset).orElse(0L)));
    }

    private static void window(Host host, StepRun run) {
        host.onSignal("WINCH", () -> {
            int[] size = Terminal.size();
            if (size[0] > 0) {
                run.window(size[0], size[1]);
            }
        });
    }
}
