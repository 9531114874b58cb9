package dev.muster.cli.submit;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Keepalive;
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
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.request.OptionReport;
import dev.muster.cli.request.ProgramFile;
import dev.muster.cli.request.SubmissionLog;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.job.MpiBootstrap;
import dev.muster.model.job.TresPerTask;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** Runs salloc, which gets an allocation and runs a command of the caller in it, on this host. */
public final class Salloc implements Command {
    private static final int WATCH_MS = 20_000;
    private static final int EXIT_SIGNALED = 128;

    @Override
    public List<GetOpt.Opt> options() {
        return JobOption.table('A');
    }

    /** A line for each component's nodes. */
    private static void tellReady(CommandContext c, AllocationClient client, Json.Obj allocation)
            throws SlurmException {
        c.info("Nodes " + allocation.text("nodes") + " are ready for job");
        for (Object id : allocation.list("hetMembers")) {
            int member = ((Number) id).intValue();
            if (member != allocation.integer("jobId")) {
                c.info("Nodes " + client.ask(member, 0).text("nodes") + " are ready for job");
            }
        }
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        List<HetComponents.Typed> typed = HetComponents.typed(c, 'A', HetComponents.sections('A', c.args()));
        JobOptions o = typed.getFirst().options();
        List<String> operands = typed.getLast().operands();
        for (HetComponents.Typed t : typed) {
            if (CommonOptions.helpOrVersion(c, t.options())) {
                return 0;
            }
        }
        List<JobOptions> components =
                typed.stream().map(HetComponents.Typed::options).toList();
        HetComponents.complete(components);
        if (o.has(JobOption.CONTAINER) && !c.host().settings().launchParameters.contains("use_interactive_step")) {
            throw c.bad(o.exitError(1), "--container requires LaunchParameters=use_interactive_step");
        }
        X11Forward.refuseForComponents(c, o, components.size());
        Optional<X11Forward> windows = X11Forward.of(c, o);
        CliFilter.preSubmit(components, operands);
        if (o.verbose() > 0) {
            OptionReport.print(o);
        }
        AllocationClient client =
                new AllocationClient(c, o).running(List.of(operands.subList(0, Math.min(1, operands.size()))));
        String name = name(o);
        Json.Obj reply;
        try {
            client.choose("ALLOCATION", components, List.of(name));
            reply = client.submit("ALLOCATION", components, List.of(name), false);
        } catch (SlurmException e) {
            return client.refused(e);
        }
        int jobId = reply.integer("jobId");
        CliFilter.postSubmit(o, components.size(), jobId, SubmissionLog.NO_STEP, operands);
        Optional<Json.Obj> granted = granted(c, o, client, jobId);
        if (granted.isEmpty()) {
            return o.exitError(1);
        }
        Json.Obj allocation = granted.get();
        windows.ifPresent(w -> w.serve(allocation));
        bell(c, o, client.waitedInQueue());
        if (o.has(JobOption.NO_SHELL)) {
            return 0;
        }
        return inside(c, components, operands, allocation, jobId, o.has(JobOption.QUIET));
    }

    private static String name(JobOptions o) throws UsageException {
        if (o.has(JobOption.JOB_NAME)) {
            return o.text(JobOption.JOB_NAME);
        }
        return o.has(JobOption.NO_SHELL) ? "no-shell" : "interactive";
    }

    /** Waits for the allocation; empty if the job ended before. Reports either. */
    private static Optional<Json.Obj> granted(CommandContext c, JobOptions o, AllocationClient client, int jobId)
            throws SlurmException {
        AtomicBoolean signalled = new AtomicBoolean();
        for (String signal : List.of("INT", "TERM", "HUP", "QUIT")) {
            // also between the grant and the start of the command, which registers its own
            c.host().onSignal(signal, () -> {
                signalled.set(true);
                AllocationClient.cancel(c, jobId);
            });
        }
        boolean quiet = o.has(JobOption.QUIET);
        Json.Obj allocation = client.await(jobId, quiet);
        if (AllocationClient.isOver(allocation)) {
            c.info("Job allocation " + jobId + " has been revoked.");
            if (signalled.get()) {
                c.info("Job aborted due to signal");
            } else {
                AllocationClient.cancelled(c, "Job submit/allocate failed: ", allocation);
            }
            return Optional.empty();
        }
        if (!quiet) {
            c.info("Granted job allocation " + jobId);
            if (client.waitedInQueue() || allocation.integer("nodeCount") > 0) {
                tellReady(c, client, allocation);
            }
        }
        if (o.verbose() > 1) {
            int tasks = allocation.objects("shares").stream()
                    .mapToInt(s -> s.integer("tasks"))
                    .sum();
            c.info("debug:  laying out the " + tasks + " tasks on " + allocation.integer("nodeCount") + " hosts "
                    + allocation.text("nodes"));
        }
        return Optional.of(allocation);
    }

    /** The command, and the end of its allocation. */
    private static int inside(
            CommandContext c,
            List<JobOptions> components,
            List<String> operands,
            Json.Obj allocation,
            int jobId,
            boolean quiet) {
        AtomicBoolean givenBack = new AtomicBoolean();
        AtomicBoolean isRevoked = new AtomicBoolean();
        int rc = command(c, components, operands, allocation, jobId, givenBack, isRevoked);
        if (givenBack.get()) {
            return rc;
        }
        AllocationClient.complete(c, jobId, rc);
        if (!quiet && !isRevoked.get()) {
            c.info("Relinquishing job allocation " + jobId);
        }
        return rc;
    }

    private static void bell(CommandContext c, JobOptions o, boolean waited) {
        boolean wanted = o.has(JobOption.BELL) || waited && !o.has(JobOption.NO_BELL);
        if (wanted && c.host().isTty(1)) {
            c.out().print("\007");
            c.out().flush();
        }
    }

    /**
     * The command with its file where PATH does not lead to it: one relative to the directory of salloc, whatever
     * --chdir says.
     */
    private static List<String> inItsPlace(CommandContext c, List<String> command) {
        String name = command.getFirst();
        List<String> out = new ArrayList<>(command);
        ProgramFile.find(c, c.host().workDir(), name)
                .filter(f -> f.equals(Texts.absolute(name, c.host().workDir())))
                .ifPresent(f -> out.set(0, f));
        return out;
    }

    /**
     * @param givenBack set when a signal has given the allocation back before the command's end; isRevoked: when it has
     *     ended otherwise
     */
    private static int command(
            CommandContext c,
            List<JobOptions> components,
            List<String> operands,
            Json.Obj allocation,
            int jobId,
            AtomicBoolean givenBack,
            AtomicBoolean isRevoked) {
        JobOptions o = components.getFirst();
        List<String> command = operands;
        if (command.isEmpty()) {
            String shell = c.env("SHELL").isEmpty() ? "/bin/sh" : c.env("SHELL");
            command = c.host().settings().launchParameters.contains("use_interactive_step")
                    ? interactive(c, shell, o.text(JobOption.CONTAINER))
                    : List.of(shell);
        }
        ProcessBuilder builder =
                new ProcessBuilder(inItsPlace(c, command)).inheritIO().directory(new File(new JobRequest(o).workDir()));
        addEnvironment(c, components, allocation, builder.environment());
        // registered before the command starts, so that a signal during its start is not lost
        AtomicReference<Process> begun = new AtomicReference<>();
        for (String signal : List.of("INT", "QUIT")) {
            // the terminal has sent it to the command as well
            c.host().onSignal(signal, () -> {});
        }
        // the allocation is given back: its steps end as those of a cancelled job, and salloc waits for its command
        c.host().onSignal("TERM", () -> {
            givenBack.set(true);
            c.host()
                    .startBackground(
                            "relinquish", () -> AllocationClient.complete(c, jobId, EXIT_SIGNALED + Signals.TERM));
        });
        c.host().onSignal("HUP", () -> Optional.ofNullable(begun.get()).ifPresent(Salloc::hangUp));
        Process child;
        try {
            child = builder.start();
        } catch (IOException e) {
            c.error("_fork_command: Unable to find command \"" + command.getFirst() + "\"");
            return o.exitError(1);
        }
        begun.set(child);
        Thread.ofPlatform()
                .daemon()
                .name("watch")
                .start(() -> watch(c, o, jobId, allocation.number("version"), child, isRevoked));
        try {
            return child.waitFor();
        } catch (InterruptedException e) {
            child.destroy();
            return EXIT_SIGNALED + Signals.TERM;
        }
    }

    private static void addEnvironment(
            CommandContext c, List<JobOptions> components, Json.Obj allocation, Map<String, String> env) {
        Map<String, String> own = new java.util.LinkedHashMap<>();
        ComponentEnvironment.add(components, own);
        env.putAll(own);
        for (String entry : allocation.texts("environment")) {
            int eq = entry.indexOf('=');
            if (eq > 0) {
                env.put(entry.substring(0, eq), entry.substring(eq + 1));
            } else {
                base64Entry(env, entry);
            }
        }
        ComponentEnvironment.ofCommand(env, components.size());
        String typed = own.getOrDefault(TresPerTask.VARIABLE, "");
        if (!typed.isEmpty() && TresPerTask.areSame(typed, env.getOrDefault(TresPerTask.VARIABLE, ""))) {
            env.put(TresPerTask.VARIABLE, typed); // it stays in the user's own words
        }
        env.putAll(MpiBootstrap.variables(env, c.host().settings().mpiParameters.contains(MpiBootstrap.OFF)));
        env.remove("MUSTER_REQUEST_ID");
        env.remove(Clusters.WORKING);
        if (!Clusters.workingCluster(c).isEmpty()) {
            env.put(Clusters.WORKING, Clusters.workingCluster(c));
        }
    }

    /** LaunchParameters=use_interactive_step: the shell runs on the first node. */
    private static List<String> interactive(CommandContext c, String shell, String container) {
        String prefix = System.getProperty("muster.prefix", "");
        List<String> out =
                new java.util.ArrayList<>(List.of(prefix.isEmpty() ? "srun" : prefix + "/bin/srun", "-N1", "-n1"));
        if (!container.isEmpty()) {
            out.add("--container=" + container);
        }
        for (String word : Texts.words(c.host().settings().interactiveStepOptions)) {
            out.add(word.replace("${SHELL}", shell).replace("$SHELL", shell));
        }
        return out;
    }

    private static void base64Entry(Map<String, String> env, String entry) {
        try {
            String text = Bytes.fromBase64(entry).text();
            int eq = text.indexOf('=');
            if (eq > 0) {
                env.put(text.substring(0, eq), text.substring(eq + 1));
            }
        } catch (IllegalArgumentException e) {
            // neither NAME=value nor base64: nothing to set
        }
    }

    /** Tells the user, and the command by -K, when the allocation ends before the command does. */
    private static void watch(
            CommandContext c, JobOptions o, int jobId, long version, Process child, AtomicBoolean isRevoked) {
        long seen = version;
        while (child.isAlive()) {
            Json.Obj q = new Json.Obj();
            q.put("jobId", (long) jobId);
            q.put("stepId", -1L);
            q.put("version", seen);
            q.put("waitMs", (long) Math.min(WATCH_MS, Keepalive.everyMs(c)));
            try {
                Json.Obj a = c.host().controller().call("AwaitChange", q);
                seen = a.number("version");
                a.texts("notices").forEach(c::info);
                if (AllocationClient.isOver(a)) {
                    revoked(c, o, jobId, child, isRevoked);
                    return;
                }
            } catch (SlurmException e) {
                if (!c.host().pause(WATCH_MS)) {
                    return;
                }
            }
        }
    }

    private static void hangUp(Process child) {
        try {
            new ProcessBuilder("kill", "-" + Signals.number("HUP"), Long.toString(child.pid())).start();
        } catch (IOException e) {
            child.destroy();
        }
    }

    private static void revoked(CommandContext c, JobOptions o, int jobId, Process child, AtomicBoolean isRevoked) {
        if (!child.isAlive()) {
            return;
        }
        isRevoked.set(true);
        if (!o.has(JobOption.QUIET)) {
            c.info("Job allocation " + jobId + " has been revoked.");
        }
        if (o.has(JobOption.KILL_COMMAND)) {
            try {
                new ProcessBuilder("kill", "-" + o.integer(JobOption.KILL_COMMAND), Long.toString(child.pid()))
                        .inheritIO()
                        .start()
                        .waitFor();
                if (!child.waitFor(30, TimeUnit.SECONDS)) {
                    child.destroyForcibly();
                }
            } catch (IOException e) {
                child.destroy();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
