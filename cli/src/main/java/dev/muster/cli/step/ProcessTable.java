package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.option.MultiProg;
import dev.muster.json.Json;
import java.io.IOException;
import java.util.List;

/** Writes the process table of a step for debuggers ({@code srun --debugger-test}). */
final class ProcessTable {
    private static final int FILE_BYTES_MAX = 1 << 30;
    private static final int PATIENCE_MS = 20_000;

    private ProcessTable() {}

    /** Writes the process table for debuggers: the host and process of each task. */
    static void print(CommandContext context, JobOptions options, List<String> program, int jobId, Json.Obj started) {
        String multi = "";
        try {
            multi = options.has(JobOption.MULTI_PROG)
                    ? RawText.decode(context.host()
                                    .readFile(
                                            Texts.absolute(
                                                    program.getFirst(),
                                                    context.host().workDir()),
                                            FILE_BYTES_MAX))
                            .replaceAll("\\\\\\s*\n", "")
                    : "";
        } catch (IOException e) {
            multi = "";
        }
        Json.Obj query = new Json.Obj();
        query.put("jobId", (long) jobId);
        java.util.TreeMap<Integer, String> lines = new java.util.TreeMap<>();
        long giveUpMs = context.host().nowMs() + PATIENCE_MS;
        while (lines.size() < started.integer("tasks")
                && context.host().nowMs() < giveUpMs
                && context.host().pause(100)) {
            for (Json.Obj share : started.objects("shares")) {
                try {
                    for (Json.Obj step : context.host()
                            .callNode(share.text("address"), share.integer("port"), "QueryProcesses", query)
                            .objects("steps")) {
                        for (Json.Obj task : step.objects("tasks")) {
                            int rank = task.integer("rank");
                            if (step.integer("stepId") == started.integer("stepId") && rank >= 0) {
                                lines.put(
                                        rank,
                                        "task:" + rank + ", host:" + share.text("node") + ", pid:" + task.integer("pid")
                                                + ", executable:"
                                                + (multi.isEmpty()
                                                        ? program.getFirst()
                                                        : MultiProg.program(multi, rank)));
                            }
                        }
                    }
                } catch (SlurmException e) {
                    // not there yet, or gone: asked again until the patience ends
                }
            }
        }
        lines.values().forEach(context::info);
    }
}
