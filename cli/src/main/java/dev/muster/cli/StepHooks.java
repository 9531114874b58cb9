package dev.muster.cli;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code --prolog} and {@code --epilog} of srun, or slurm.conf's SrunProlog and SrunEpilog:
 * programs that srun runs on its own host, as its user, around the step.
 */
final class StepHooks {
    private final CommandContext c;
    private final JobOptions o;
    private final Map<String, String> variables;
    private final List<String> stepArguments;

    StepHooks(CommandContext c, JobOptions o, List<String> program, int jobId, int stepId, String nodes) {
        this.c = c;
        this.o = o;
        this.stepArguments = program;
        this.variables = Map.of("SLURM_JOB_ID", Integer.toString(jobId), "SLURM_JOBID", Integer.toString(jobId),
                "SLURM_STEP_ID", Integer.toString(stepId), "SLURM_STEPID", Integer.toString(stepId),
                "SLURM_JOB_NODELIST", nodes);
    }

    /** What is to be run: the option's, else slurm.conf's; "" for nothing. */
    static String program(CommandContext c, JobOptions o, JobOption which) {
        String program = o.has(which) ? o.text(which) : which == JobOption.PROLOG ? c.host().settings().srunProlog : c.host().settings().srunEpilog;
        return program.equalsIgnoreCase("none") ? "" : program;
    }

    /** Runs the program, with the step's own as its arguments, to its end; how it ends changes nothing for the step but is told. */
    void run(JobOption which) {
        String program = program(c, o, which);
        if (program.isEmpty()) {
            return;
        }
        String workDir = new JobRequest(o).workDir();
        List<String> command = new ArrayList<>(List.of(Texts.absolute(program, c.host().workDir())));
        command.addAll(stepArguments);
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO()
                .redirectInput(new File("/dev/null")).directory(new File(workDir));
        builder.environment().putAll(variables);
        try {
            int status = builder.start().waitFor();
            if (status != 0) {
                c.error("srun " + which.longName + " failed status=" + status);
            }
        } catch (IOException e) {
            c.error("srun " + which.longName + " " + program + " cannot be run: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
