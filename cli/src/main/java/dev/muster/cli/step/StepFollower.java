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
            // a file of the streams cannot be opened: the tasks are served by no srun, and the next step would wait for
            // their
            // resources
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
        Output toErr = errorSink(c, o, names, toOut, files);
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

    static int hetFollow(
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
        Output toErr = errorSink(c, o, names, toOut, files);
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

    static StepFiles.Names names(CommandContext c, Json.Obj a, String step) {
        return new StepFiles.Names(
                a.integer("jobId"),
                step,
                a.text("name"),
                a.text("userName"),
                c.env("SLURM_ARRAY_JOB_ID"),
                c.env("SLURM_ARRAY_TASK_ID"));
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

    /** Returns the number of nodes that srun reaches directly: TreeWidth; {@code off} means all, at most --threads. */
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
            CommandContext c, JobOptions o, StepFiles.Names names, Output toOut, Map<String, Output> files)
            throws UsageException {
        if (o.has(JobOption.ERROR)) {
            return sink(c, o, JobOption.ERROR, names, c.err(), files);
        }
        return o.has(JobOption.OUTPUT) && !StepFiles.isMode(o.text(JobOption.OUTPUT)) ? toOut : c.err();
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
