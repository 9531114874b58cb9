package dev.muster.cli.submit;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.CliFilter;
import dev.muster.cli.request.ClusterChoice;
import dev.muster.cli.request.ComponentEnvironment;
import dev.muster.cli.request.ForeignOptions;
import dev.muster.cli.request.HetComponents;
import dev.muster.cli.request.JobEnvironment;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.request.OptionEnvironment;
import dev.muster.cli.request.OptionReport;
import dev.muster.cli.request.ScriptOptions;
import dev.muster.cli.request.SubmissionLog;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs sbatch, which submits a batch script. */
public final class Sbatch implements Command {
    /** Larger scripts are refused here with the sentence the controller would use. */
    static final int SCRIPT_BYTES_MAX = 4 << 20;

    private static final int POLL_FIRST_MS = 250;
    private static final int POLL_LAST_MS = 5_000;

    @Override
    public List<GetOpt.Opt> options() {
        return JobOption.table('B');
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        List<HetComponents.Typed> typed =
                HetComponents.typed(context, 'B', HetComponents.sections('B', context.args()));
        JobOptions options = typed.getFirst().options();
        List<String> operands = typed.getLast().operands();
        for (HetComponents.Typed t : typed) {
            if (CommonOptions.helpOrVersion(context, t.options())) {
                return 0;
            }
        }
        JobOptions wrap = typed.stream()
                .map(HetComponents.Typed::options)
                .filter(x -> x.has(JobOption.WRAP))
                .findFirst()
                .orElse(options);
        if (wrap.has(JobOption.WRAP) && !operands.isEmpty()) {
            throw context.bad(options.exitError(1), "Script arguments not permitted with --wrap option");
        }
        OptionEnvironment.read(options);
        List<String> command = new ArrayList<>(operands);
        String script = script(context, wrap, command);
        if (!operands.isEmpty()) {
            typed.forEach(t -> t.options().nameScript(operands.getFirst()));
        }
        ScriptOptions.read(script, options, 0);
        ForeignOptions.read(script, options);
        List<JobOptions> all = components(context, typed, script);
        if (!context.host().isAttended() && all.stream().anyMatch(x -> x.has(JobOption.WAIT))) {
            throw context.bad(options.exitError(1), "--wait is not possible here: the submission ends at once");
        }
        CliFilter.preSubmit(all, operands);
        if (options.verbose() > 0) {
            OptionReport.print(options);
        }
        String sent = withBufferFile(script, options.text(JobOption.BBF));
        Json.Obj reply;
        try {
            if (options.has(JobOption.CLUSTERS) && Clusters.needSlurmdbd(context, options.text(JobOption.CLUSTERS))) {
                ClusterChoice.earliest(context, all, () -> submit(context, all, wrap, command, sent, true));
            }
            reply = submit(context, all, wrap, command, sent, options.has(JobOption.TEST_ONLY));
        } catch (SlurmException e) {
            return refused(context, all, e);
        }
        for (String w : reply.texts("warnings")) {
            context.info(w);
        }
        if (options.has(JobOption.TEST_ONLY)) {
            reportTest(context, reply, all.size() > 1);
            return 0;
        }
        CliFilter.postSubmit(options, all.size(), reply.integer("jobId"), SubmissionLog.NO_STEP, operands);
        announce(context, options, reply.integer("jobId"));
        return options.has(JobOption.WAIT) ? awaitEnd(context, reply.integer("jobId")) : 0;
    }

    private static void reportTest(CommandContext context, Json.Obj reply, boolean het) {
        context.info("Job " + reply.integer("jobId") + " to start at " + context.time(reply.number("testStart"))
                + (het ? "" : " a") + " using "
                + reply.integer("testCpus") + " processors on " + (het ? "" : "nodes ") + reply.text("testNodes")
                + (het ? "" : " in partition " + reply.text("testPartition")));
    }

    /** {@code --bbf}: the file's lines stand in the script behind its first line, where options are not looked for. */
    private static String withBufferFile(String script, String buffer) {
        if (buffer.isEmpty()) {
            return script;
        }
        int line = script.indexOf('\n') + 1;
        if (line == 0) {
            return script + "\n" + buffer;
        }
        return script.substring(0, line) + (buffer.endsWith("\n") ? buffer : buffer + "\n") + script.substring(line);
    }

    private static Json.Obj submit(
            CommandContext context,
            List<JobOptions> all,
            JobOptions wrap,
            List<String> command,
            String script,
            boolean test)
            throws SlurmException, UsageException {
        Json.Obj query = all.size() == 1
                ? request(context, all, 0, wrap, command, script)
                : whole(context, all, wrap, command, script);
        JobRequest.put(query, "testOnly", test);
        return AllocationClient.patiently(context, all.size() == 1 ? "Submit" : "SubmitHet", query, !test);
    }

    /** Each component's options: of the command line and the script, and then of the first. */
    private static List<JobOptions> components(CommandContext context, List<HetComponents.Typed> typed, String script)
            throws UsageException {
        List<JobOptions> out = new ArrayList<>(List.of(typed.getFirst().options()));
        int count = Math.max(typed.size(), ScriptOptions.components(script));
        for (int i = 1; i < count; i++) {
            JobOptions options = i < typed.size() ? typed.get(i).options() : new JobOptions(context, 'B');
            OptionEnvironment.read(options);
            ScriptOptions.read(script, options, i);
            options.inherit(out.getFirst(), HetComponents.INHERITED);
            out.add(options);
        }
        return out;
    }

    private static Json.Obj whole(
            CommandContext context, List<JobOptions> all, JobOptions wrap, List<String> command, String script)
            throws UsageException {
        List<Object> parts = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            parts.add(request(context, all, i, wrap, command, script));
        }
        Json.Obj out =
                new Json.Obj().put("requestId", context.host().requestId()).put("parts", parts);
        JobRequest.put(out, "testOnly", all.getFirst().has(JobOption.TEST_ONLY));
        return out;
    }

    private static int refused(CommandContext context, List<JobOptions> all, SlurmException e) {
        JobOptions options = all.getFirst();
        String reason = AllocationClient.lastLine(context, e);
        AllocationClient.tellCause(context, all, e);
        if (e.errno() == SlurmErrno.INVALID_GRES.number() && !options.has(JobOption.TEST_ONLY)) {
            context.error(reason);
            return options.exitError(1);
        }
        if (options.has(JobOption.TEST_ONLY)) {
            context.err().println("allocation failure: " + reason);
            return 1;
        }
        context.error("Batch job submission failed: " + reason);
        return options.exitError(1);
    }

    private static void announce(CommandContext context, JobOptions options, int jobId) {
        String cluster = options.text(JobOption.CLUSTERS);
        if (options.has(JobOption.QUIET)) {
            return; // --parsable has no effect then
        }
        if (options.has(JobOption.PARSABLE)) {
            context.out().println(cluster.isEmpty() ? Integer.toString(jobId) : jobId + ";" + cluster);
        } else {
            context.out().println("Submitted batch job " + jobId + (cluster.isEmpty() ? "" : " on cluster " + cluster));
        }
        context.out().flush();
    }

    /**
     * @param component which of all is asked for
     * @param command the script's file and its arguments
     */
    static Json.Obj request(
            CommandContext context,
            List<JobOptions> all,
            int component,
            JobOptions wrap,
            List<String> command,
            String script)
            throws UsageException {
        JobOptions options = all.get(component);
        JobRequest r = new JobRequest(options);
        List<String> arguments = new ArrayList<>(command);
        String name;
        if (wrap.has(JobOption.WRAP)) {
            name = "wrap";
        } else if (command.isEmpty()) {
            name = "sbatch";
        } else {
            name = Texts.baseName(command.getFirst());
        }
        if (options.has(JobOption.JOB_NAME)) {
            name = options.text(JobOption.JOB_NAME);
        }
        Map<String, String> env = JobEnvironment.exported(options);
        ComponentEnvironment.add(all, env);
        env.put("SLURM_JOB_NAME", name);
        Json.Obj job = r.job("BATCH", name, arguments);
        if (JobEnvironment.needsLogin(options)) {
            job.put("extras", job.obj("extras").put("getUserEnv", Boolean.TRUE));
        }
        Json.Obj request = new Json.Obj();
        request.put("requestId", context.host().requestId());
        request.put("job", job);
        request.put("script", JobRequest.base64(script));
        request.put("environment", JobEnvironment.entries(env));
        JobRequest.put(request, "testOnly", options.has(JobOption.TEST_ONLY));
        return request;
    }

    /** The script's text; the first word of the command becomes the file that it was read from. */
    private static String script(CommandContext context, JobOptions options, List<String> command)
            throws UsageException {
        String script;
        if (options.has(JobOption.WRAP)) {
            return "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + options.text(JobOption.WRAP) + "\n";
        }
        try {
            byte[] raw = command.isEmpty() ? context.in().readNBytes(SCRIPT_BYTES_MAX + 1) : read(options, command);
            if (raw.length > SCRIPT_BYTES_MAX) {
                throw context.bad(
                        options.exitError(1),
                        "Batch job submission failed: " + SlurmErrno.PATHNAME_TOO_LONG.sentence());
            }
            script = RawText.decode(raw);
        } catch (IOException e) {
            throw context.bad(
                    options.exitError(1),
                    command.isEmpty()
                            ? "error reading script from standard input"
                            : "Unable to open file " + command.getFirst());
        }
        checkScript(context, options, script);
        return script;
    }

    /**
     * Reads the file that a script's name means, and names it in the command: the job shows it. A name that begins with
     * neither {@code /} nor {@code .} is looked for in the job's directory ({@code --chdir}), then along PATH; any
     * other stands for itself.
     */
    private static byte[] read(JobOptions options, List<String> command) throws IOException {
        Host host = options.context().host();
        String name = command.getFirst();
        List<String> candidates = new ArrayList<>();
        if (!name.startsWith("/") && !name.startsWith(".")) {
            candidates.add(Texts.absolute(name, new JobRequest(options).workDir()));
            Texts.split(options.context().env("PATH"), ':')
                    .forEach(directory -> candidates.add(directory + "/" + name));
        }
        for (String candidate : candidates) {
            try {
                byte[] script = host.readFile(Texts.absolute(candidate, host.workDir()), SCRIPT_BYTES_MAX + 1);
                command.set(0, candidate);
                return script;
            } catch (IOException e) {
                // not there: the next one may be
            }
        }
        return host.readFile(Texts.absolute(name, host.workDir()), SCRIPT_BYTES_MAX + 1);
    }

    private static void checkScript(CommandContext context, JobOptions options, String script) throws UsageException {
        List<String> errors = List.of();
        if (script.isEmpty()) {
            errors = List.of("Batch script is empty!");
        } else if (script.isBlank()) {
            errors = List.of("Batch script contains only whitespace!");
        } else if (!script.startsWith("#!")) {
            errors = List.of(
                    "This does not look like a batch script.  The first",
                    "line must start with #! followed by the path to an interpreter.",
                    "For instance: #!/bin/sh");
        } else if (script.indexOf('\0') >= 0) {
            errors = List.of("The Slurm controller does not allow scripts that", "contain a NULL character '\\0'.");
        } else if (script.contains("\r\n")) {
            errors = List.of(
                    "Batch script contains DOS line breaks (\\r\\n)", "instead of expected UNIX line breaks (\\n).");
        }
        if (!errors.isEmpty()) {
            List<String> lines = new ArrayList<>();
            for (String w : errors) {
                lines.add(context.name() + ": error: " + w);
            }
            throw new UsageException(options.exitError(1), lines);
        }
    }

    /** {@code --wait}: the highest exit code of the job and, for an array, all its tasks. */
    private static int awaitEnd(CommandContext context, int jobId) throws SlurmException {
        int pauseMs = POLL_FIRST_MS;
        while (context.host().pause(pauseMs)) {
            Json.Obj query = new Json.Obj();
            query.put("jobs", List.of(Integer.toString(jobId)));
            query.put("allStates", Boolean.TRUE);
            query.put("fields", List.of("jobId", "state", "flags", "exit"));
            Json.Obj reply = context.host().controller().call("QueryJobs", query);
            boolean open = false;
            int code = 0;
            for (Json.Obj job : reply.objects("jobs")) {
                open |= JobRows.isUnfinished(job);
                Json.Obj exit = job.obj("exit");
                int one = exit.integer("signal") != 0 ? 1 : exit.integer("code");
                String state = job.text("state");
                code = Math.max(code, one == 0 && !state.equals("COMPLETED") ? 1 : one);
            }
            if (!open) {
                return code;
            }
            pauseMs = Math.min(POLL_LAST_MS, pauseMs * 2);
        }
        return 1;
    }
}
