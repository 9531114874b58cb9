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
    private static void tellReady(CommandContext context, AllocationClient client, Json.Obj allocation)
            throws SlurmException {
        context.info("Nodes " + allocation.text("nodes") + " are ready for job");
        for (Object id : allocation.list("hetMembers")) {
            int member = ((Number) id).intValue();
            if (member != allocation.integer("jobId")) {
                context.info("Nodes " + client.ask(member, 0).text("nodes") + " are ready for job");
            }
        }
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        List<HetComponents.Typed> typed =
                HetComponents.typed(context, 'A', HetComponents.sections('A', context.args()));
        JobOptions options = typed.getFirst().options();
        List<String> operands = typed.getLast().operands();
        for (HetComponents.Typed t : typed) {
            if (CommonOptions.helpOrVersion(context, t.options())) {
                return 0;
            }
        }
        List<JobOptions> components =
                typed.stream().map(HetComponents.Typed::options).toList();
        HetComponents.complete(components);
        if (options.has(JobOption.CONTAINER)
                && !context.host().settings().launchParameters.contains("use_interactive_step")) {
            throw context.bad(options.exitError(1), "--container requires LaunchParameters=use_interactive_step");
        }
        X11Forward.refuseForComponents(context, options, components.size());
        Optional<X11Forward> windows = X11Forward.of(context, options);
        CliFilter.preSubmit(components, operands);
        if (options.verbose() > 0) {
            OptionReport.print(options);
        }
        AllocationClient client = new AllocationClient(context, options)
                .running(List.of(operands.subList(0, Math.min(1, operands.size()))));
        String name = name(options);
        Json.Obj reply;
        try {
            client.choose("ALLOCATION", components, List.of(name));
            reply = client.submit("ALLOCATION", components, List.of(name), false);
        } catch (SlurmException e) {
            return client.refused(e);
        }
        int jobId = reply.integer("jobId");
        CliFilter.postSubmit(options, components.size(), jobId, SubmissionLog.NO_STEP, operands);
        Optional<Json.Obj> granted = granted(context, options, client, jobId);
        if (granted.isEmpty()) {
            return options.exitError(1);
        }
        Json.Obj allocation = granted.get();
        windows.ifPresent(w -> w.serve(allocation));
        bell(context, options, client.waitedInQueue());
        if (options.has(JobOption.NO_SHELL)) {
            return 0;
        }
        return inside(context, components, operands, allocation, jobId, options.has(JobOption.QUIET));
    }

    private static String name(JobOptions options) throws UsageException {
        if (options.has(JobOption.JOB_NAME)) {
            return options.text(JobOption.JOB_NAME);
        }
        return options.has(JobOption.NO_SHELL) ? "no-shell" : "interactive";
    }

    /** Waits for the allocation; empty if the job ended before. Reports either. */
    private static Optional<Json.Obj> granted(
            CommandContext context, JobOptions options, AllocationClient client, int jobId) throws SlurmException {
        AtomicBoolean signalled = new AtomicBoolean();
        for (String signal : List.of("INT", "TERM", "HUP", "QUIT")) {
            // also between the grant and the start of the command, which registers its own
            context.host().onSignal(signal, () -> {
                signalled.set(true);
                AllocationClient.cancel(context, jobId);
            });
        }
        boolean quiet = options.has(JobOption.QUIET);
        Json.Obj allocation = client.await(jobId, quiet);
        if (AllocationClient.isOver(allocation)) {
            context.info("Job allocation " + jobId + " has been revoked.");
            if (signalled.get()) {
                context.info("Job aborted due to signal");
            } else {
                AllocationClient.cancelled(context, "Job submit/allocate failed: ", allocation);
            }
            return Optional.empty();
        }
        if (!quiet) {
            context.info("Granted job allocation " + jobId);
            if (client.waitedInQueue() || allocation.integer("nodeCount") > 0) {
                tellReady(context, client, allocation);
            }
        }
        if (options.verbose() > 1) {
            int tasks = allocation.objects("shares").stream()
                    .mapToInt(s -> s.integer("tasks"))
                    .sum();
            context.info("debug:  laying out the " + tasks + " tasks on " + allocation.integer("nodeCount") + " hosts "
                    + allocation.text("nodes"));
        }
        return Optional.of(allocation);
    }

    /** The command, and the end of its allocation. */
    private static int inside(
            CommandContext context,
            List<JobOptions> components,
            List<String> operands,
            Json.Obj allocation,
            int jobId,
            boolean quiet) {
        AtomicBoolean givenBack = new AtomicBoolean();
        AtomicBoolean isRevoked = new AtomicBoolean();
        int rc = command(context, components, operands, allocation, jobId, givenBack, isRevoked);
        if (givenBack.get()) {
            return rc;
        }
        AllocationClient.complete(context, jobId, rc);
        if (!quiet && !isRevoked.get()) {
            context.info("Relinquishing job allocation " + jobId);
        }
        return rc;
    }

    private static void bell(CommandContext context, JobOptions options, boolean waited) {
        boolean wanted = options.has(JobOption.BELL) || waited && !options.has(JobOption.NO_BELL);
        if (wanted && context.host().isTty(1)) {
            context.out().print("\007");
            context.out().flush();
        }
    }

    /**
     * The command with the path of its file if PATH does not lead to it. A relative path starts at the directory of
     * salloc, not at that of --chdir.
     */
    private static List<String> inItsPlace(CommandContext context, List<String> command) {
        String name = command.getFirst();
        List<String> out = new ArrayList<>(command);
        ProgramFile.find(context, context.host().workDir(), name)
                .filter(f -> f.equals(Texts.absolute(name, context.host().workDir())))
                .ifPresent(f -> out.set(0, f));
        return out;
    }

    /**
     * @param givenBack set when a signal has given the allocation back before the command's end; isRevoked: when it has
     *     ended otherwise
     */
    private static int command(
            CommandContext context,
            List<JobOptions> components,
            List<String> operands,
            Json.Obj allocation,
            int jobId,
            AtomicBoolean givenBack,
            AtomicBoolean isRevoked) {
        JobOptions options = components.getFirst();
        List<String> command = operands;
        if (command.isEmpty()) {
            String shell = context.env("SHELL").isEmpty() ? "/bin/sh" : context.env("SHELL");
            command = context.host().settings().launchParameters.contains("use_interactive_step")
                    ? interactive(context, shell, options.text(JobOption.CONTAINER))
                    : List.of(shell);
        }
        ProcessBuilder builder = new ProcessBuilder(inItsPlace(context, command))
                .inheritIO()
                .directory(new File(new JobRequest(options).workDir()));
        addEnvironment(context, components, allocation, builder.environment());
        // registered before the command starts, so that a signal during its start is not lost
        AtomicReference<Process> begun = new AtomicReference<>();
        for (String signal : List.of("INT", "QUIT")) {
            // the terminal has sent it to the command as well
            context.host().onSignal(signal, () -> {});
        }
        // the allocation is given back: its steps end as those of a cancelled job, and salloc waits for its command
        context.host().onSignal("TERM", () -> {
            givenBack.set(true);
            context.host()
                    .startBackground(
                            "relinquish",
                            () -> AllocationClient.complete(context, jobId, EXIT_SIGNALED + Signals.TERM));
        });
        context.host().onSignal("HUP", () -> Optional.ofNullable(begun.get()).ifPresent(Salloc::hangUp));
        Process child;
        try {
            child = builder.start();
        } catch (IOException e) {
            context.error("_fork_command: Unable to find command \"" + command.getFirst() + "\"");
            return options.exitError(1);
        }
        begun.set(child);
        Thread.ofPlatform()
                .daemon()
                .name("watch")
                .start(() -> watch(context, options, jobId, allocation.number("version"), child, isRevoked));
        try {
            return child.waitFor();
        } catch (InterruptedException e) {
            child.destroy();
            return EXIT_SIGNALED + Signals.TERM;
        }
    }

    private static void addEnvironment(
            CommandContext context, List<JobOptions> components, Json.Obj allocation, Map<String, String> env) {
        Map<String, String> variables = new java.util.LinkedHashMap<>();
        ComponentEnvironment.add(components, variables);
        env.putAll(variables);
        for (String entry : allocation.texts("environment")) {
            int equalSign = entry.indexOf('=');
            if (equalSign > 0) {
                env.put(entry.substring(0, equalSign), entry.substring(equalSign + 1));
            } else {
                base64Entry(env, entry);
            }
        }
        ComponentEnvironment.ofCommand(env, components.size());
        String typed = variables.getOrDefault(TresPerTask.VARIABLE, "");
        if (!typed.isEmpty() && TresPerTask.areSame(typed, env.getOrDefault(TresPerTask.VARIABLE, ""))) {
            env.put(TresPerTask.VARIABLE, typed); // it stays in the user's own words
        }
        env.putAll(MpiBootstrap.variables(
                env, context.host().settings().mpiParameters.contains(MpiBootstrap.OFF)));
        env.remove("MUSTER_REQUEST_ID");
        env.remove(Clusters.WORKING);
        if (!Clusters.workingCluster(context).isEmpty()) {
            env.put(Clusters.WORKING, Clusters.workingCluster(context));
        }
    }

    /** LaunchParameters=use_interactive_step: the shell runs on the first node. */
    private static List<String> interactive(CommandContext context, String shell, String container) {
        String prefix = System.getProperty("muster.prefix", "");
        List<String> out =
                new java.util.ArrayList<>(List.of(prefix.isEmpty() ? "srun" : prefix + "/bin/srun", "-N1", "-n1"));
        if (!container.isEmpty()) {
            out.add("--container=" + container);
        }
        for (String word : Texts.words(context.host().settings().interactiveStepOptions)) {
            out.add(word.replace("${SHELL}", shell).replace("$SHELL", shell));
        }
        return out;
    }

    private static void base64Entry(Map<String, String> env, String entry) {
        try {
            String text = Bytes.fromBase64(entry).text();
            int equalSign = text.indexOf('=');
            if (equalSign > 0) {
                env.put(text.substring(0, equalSign), text.substring(equalSign + 1));
            }
        } catch (IllegalArgumentException e) {
            // neither NAME=value nor base64: nothing to set
        }
    }

    /** Tells the user, and the command by -K, when the allocation ends before the command does. */
    private static void watch(
            CommandContext context,
            JobOptions options,
            int jobId,
            long version,
            Process child,
            AtomicBoolean isRevoked) {
        long seen = version;
        while (child.isAlive()) {
            Json.Obj query = new Json.Obj();
            query.put("jobId", (long) jobId);
            query.put("stepId", -1L);
            query.put("version", seen);
            query.put("waitMs", (long) Math.min(WATCH_MS, Keepalive.everyMs(context)));
            try {
                Json.Obj a = context.host().controller().call("AwaitChange", query);
                seen = a.number("version");
                a.texts("notices").forEach(context::info);
                if (AllocationClient.isOver(a)) {
                    revoked(context, options, jobId, child, isRevoked);
                    return;
                }
            } catch (SlurmException e) {
                if (!context.host().pause(WATCH_MS)) {
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

    private static void revoked(
            CommandContext context, JobOptions options, int jobId, Process child, AtomicBoolean isRevoked) {
        if (!child.isAlive()) {
            return;
        }
        isRevoked.set(true);
        if (!options.has(JobOption.QUIET)) {
            context.info("Job allocation " + jobId + " has been revoked.");
        }
        if (options.has(JobOption.KILL_COMMAND)) {
            try {
                new ProcessBuilder("kill", "-" + options.integer(JobOption.KILL_COMMAND), Long.toString(child.pid()))
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
