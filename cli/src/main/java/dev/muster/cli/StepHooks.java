package dev.muster.cli;

import java.io.File;
import java.io.IOException;
import java.util.Map;

/** {@code --prolog} and {@code --epilog} of srun: programs that srun runs on its own host, as its user, around the step. */
final class StepHooks {
    private final CommandContext c;
    private final JobOptions o;
    private final Map<String, String> variables;

    StepHooks(CommandContext c, JobOptions o, int jobId, int stepId, String nodes) {
        this.c = c;
        this.o = o;
        this.variables = Map.of("SLURM_JOB_ID", Integer.toString(jobId), "SLURM_JOBID", Integer.toString(jobId),
                "SLURM_STEP_ID", Integer.toString(stepId), "SLURM_STEPID", Integer.toString(stepId),
                "SLURM_JOB_NODELIST", nodes);
    }

    /** Runs the program to its end; how it ends changes nothing for the step but is told. */
    void run(JobOption which) {
        String program = o.text(which);
        if (program.isEmpty() || program.equalsIgnoreCase("none")) {
            return;
        }
        String workDir = new JobRequest(o).workDir();
        ProcessBuilder builder = new ProcessBuilder(Texts.absolute(program, c.host().workDir())).inheritIO()
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
