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
    public static void write(CommandContext c, String id) throws SlurmException {
        if (c.env("SLURM_JOB_ID").isEmpty()) {
            return;
        }
        int jobId = JobIds.resolve(c, id);
        if (jobId <= 0) {
            return;
        }
        Json.Obj a = c.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", (long) jobId));
        if (!a.text("state").equals("RUNNING")) {
            return;
        }
        StringBuilder sh = new StringBuilder();
        StringBuilder csh = new StringBuilder();
        for (String name : List.of("NODELIST", "JOB_NODELIST", "NNODES", "JOB_NUM_NODES", "JOB_CPUS_PER_NODE")) {
            boolean number = name.startsWith("NN") || name.startsWith("JOB_NUM");
            String value = switch (name) {
                case "NODELIST", "JOB_NODELIST" -> a.text("nodes");
                case "JOB_CPUS_PER_NODE" -> environment(a, "SLURM_JOB_CPUS_PER_NODE");
                default -> Integer.toString(a.integer("nodeCount"));
            };
            String quoted = number ? value : "\"" + value + "\"";
            sh.append("export SLURM_").append(name).append('=').append(quoted).append('\n');
            csh.append("setenv SLURM_").append(name).append(' ').append(quoted).append('\n');
        }
        for (String name : List.of("NPROCS", "NTASKS", "TASKS_PER_NODE")) {
            sh.append("unset SLURM_").append(name).append('\n');
            csh.append("unsetenv SLURM_").append(name).append('\n');
        }
        String base = "slurm_job_" + jobId + "_resize.";
        try {
            write(c, base + "sh", sh.toString());
            write(c, base + "csh", csh.toString());
        } catch (IOException e) {
            c.error("Could not create file " + base + "sh: " + ErrorSentence.of(e));
            return;
        }
        c.out().println("To reset Slurm environment variables, execute");
        c.out().println("  For bash or sh shells:  . ./" + base + "sh");
        c.out().println("  For csh shells:         source ./" + base + "csh");
    }

    private static void write(CommandContext c, String name, String text) throws IOException {
        c.host().writeFile(Texts.absolute(name, c.host().workDir()), text.getBytes(StandardCharsets.UTF_8), MODE);
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
