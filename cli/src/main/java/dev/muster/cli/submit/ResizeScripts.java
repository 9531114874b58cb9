package dev.muster.cli.submit;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.option.JobIds;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes the scripts that update a shell's SLURM_ variables after a running job gave up nodes, as Slurm does. */
public final class ResizeScripts {
    private static final int MODE = 0755;

    private ResizeScripts() {}

    /**
     * Writes them where the command runs, if the job runs and the command in a job: elsewhere no shell has such
     * variables.
     */
    public static void write(CommandContext context, String id) throws SlurmException {
        if (context.env("SLURM_JOB_ID").isEmpty()) {
            return;
        }
        int jobId = JobIds.resolve(context, id);
        if (jobId <= 0) {
            return;
        }
        Json.Obj allocation =
                context.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", (long) jobId));
        if (!allocation.text("state").equals("RUNNING")) {
            return;
        }
        StringBuilder script = new StringBuilder();
        StringBuilder csh = new StringBuilder();
        for (String name : List.of("NODELIST", "JOB_NODELIST", "NNODES", "JOB_NUM_NODES", "JOB_CPUS_PER_NODE")) {
            boolean number = name.startsWith("NN") || name.startsWith("JOB_NUM");
            String value = switch (name) {
                case "NODELIST", "JOB_NODELIST" -> allocation.text("nodes");
                case "JOB_CPUS_PER_NODE" -> environment(allocation, "SLURM_JOB_CPUS_PER_NODE");
                default -> Integer.toString(allocation.integer("nodeCount"));
            };
            String quoted = number ? value : "\"" + value + "\"";
            script.append("export SLURM_")
                    .append(name)
                    .append('=')
                    .append(quoted)
                    .append('\n');
            csh.append("setenv SLURM_").append(name).append(' ').append(quoted).append('\n');
        }
        for (String name : List.of("NPROCS", "NTASKS", "TASKS_PER_NODE")) {
            script.append("unset SLURM_").append(name).append('\n');
            csh.append("unsetenv SLURM_").append(name).append('\n');
        }
        String base = "slurm_job_" + jobId + "_resize.";
        try {
            write(context, base + "sh", script.toString());
            write(context, base + "csh", csh.toString());
        } catch (IOException e) {
            context.error("Could not create file " + base + "sh: " + ErrorSentence.reason(e));
            return;
        }
        context.out().println("To reset Slurm environment variables, execute");
        context.out().println("  For bash or sh shells:  . ./" + base + "sh");
        context.out().println("  For csh shells:         source ./" + base + "csh");
    }

    private static void write(CommandContext context, String name, String text) throws IOException {
        context.host()
                .writeFile(Texts.absolute(name, context.host().workDir()), text.getBytes(StandardCharsets.UTF_8), MODE);
    }

    private static String environment(Json.Obj allocation, String name) {
        for (String entry : allocation.texts("environment")) {
            if (entry.startsWith(name + "=")) {
                return entry.substring(name.length() + 1);
            }
        }
        return "";
    }
}
