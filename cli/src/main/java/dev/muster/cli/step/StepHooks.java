package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.JobRequest;
import dev.muster.json.Json;
import dev.muster.model.job.StepId;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs {@code --prolog} and {@code --epilog} of srun, or SrunProlog and SrunEpilog of slurm.conf, on srun's host as its
 * user. The step's tasks start when the prolog succeeded.
 */
final class StepHooks {
    private final CommandContext context;
    private final JobOptions options;
    private final Json.Obj step;
    private final int jobId;
    private final Map<String, String> variables = new TreeMap<>();
    private final List<String> stepArguments;

    /**
     * @param allocation of the job, as slurmctld told it
     * @param started the step, as slurmctld told it
     */
    StepHooks(CommandContext context, JobOptions options, List<String> program, Json.Obj allocation, Json.Obj started) {
        this.context = context;
        this.options = options;
        this.step = started;
        this.stepArguments = program;
        this.jobId = allocation.integer("jobId");
        for (String entry : allocation.texts("environment")) {
            int equals = entry.indexOf('=');
            if (equals > 0) {
                variables.put(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        String stepId = StepId.variable(started.integer("stepId"));
        variables.putAll(Map.of(
                "SLURM_JOB_ID",
                Integer.toString(jobId),
                "SLURM_JOBID",
                Integer.toString(jobId),
                "SLURM_STEP_ID",
                stepId,
                "SLURM_STEPID",
                stepId,
                "SLURM_JOB_NODELIST",
                allocation.text("nodes")));
    }

    /** Returns the program to run: the option's, else that of slurm.conf; "" for none. */
    static String program(CommandContext context, JobOptions options, JobOption which) {
        String program;
        if (options.has(which)) {
            program = options.text(which);
        } else if (which == JobOption.PROLOG) {
            program = context.host().settings().srunProlog;
        } else {
            program = context.host().settings().srunEpilog;
        }

        return program.equalsIgnoreCase("none") ? "" : program;
    }

    /** Runs the prolog; false when it failed: the step, which waits for srun, is cancelled then. */
    boolean runProlog() {
        int status = run(JobOption.PROLOG);
        if (status == 0) {
            return true;
        }
        String name = jobId + "." + StepId.name(StepId.number(step.integer("stepId")));
        context.error("srun prolog failed rc = " + status + ". Aborting step.");
        context.info("Job step aborted: Waiting up to "
                + context.host().settings().stepEndSeconds() + " seconds for job step to finish.");
        Json.Obj query = new Json.Obj()
                .put("requestId", context.host().requestId())
                .put("jobs", List.of(name))
                .put("signal", (long) Signals.KILL);
        try {
            StepManager.cancel(context, query, List.of(step));
        } catch (SlurmException e) {
            context.error("Unable to signal StepId=" + name + ": " + e.getMessage());
        }
        return false;
    }

    /** Runs the epilog. A failure is reported and does not change the step's result. */
    void epilog() {
        int status = run(JobOption.EPILOG);
        if (status != 0) {
            context.error("srun epilog failed status=" + status);
        }
    }

    /** Runs the program, with the step's own as its arguments, to its end. One that is not there counts as none. */
    private int run(JobOption which) {
        String program = program(context, options, which);
        if (program.isEmpty()) {
            return 0;
        }
        String workDir = new JobRequest(options).workDir();
        String path = Texts.absolute(program, context.host().workDir());
        List<String> command = new ArrayList<>(List.of(path));
        command.addAll(stepArguments);
        ProcessBuilder builder = new ProcessBuilder(command)
                .inheritIO()
                .redirectInput(new File("/dev/null"))
                .directory(new File(workDir));
        builder.environment().putAll(variables);
        builder.environment().put("SLURM_SCRIPT_CONTEXT", which == JobOption.PROLOG ? "prolog_srun" : "epilog_srun");
        builder.environment().remove("MUSTER_REQUEST_ID");
        try {
            return builder.start().waitFor();
        } catch (IOException e) {
            context.info("Access denied for " + program + ": "
                    + (new File(path).exists() ? "Permission denied" : "No such file or directory"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }
}
