package dev.muster.cli.shape;

import dev.muster.cli.format.JobRows;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.format.PathPattern;
import dev.muster.model.format.Sluid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Fills in the % codes of a job's file names from accounting. A code with several values takes the first. */
public final class SacctPaths {
    private static final String NO_TASK = "4294967294";

    private SacctPaths() {}

    /** @param field stdin, stdout or stderr */
    public static String expanded(Json.Obj job, String field) {
        return PathPattern.expand(Bytes.of(job.text(field)), letter -> code(job, letter))
                .text();
    }

    private static @Nullable String code(Json.Obj job, char letter) {
        String id = Integer.toString(job.integer("jobId"));
        int task = JobRows.taskId(job);
        return switch (letter) {
            case '%' -> "%";
            case 'A' ->
                Integer.toString(job.integer("arrayJobId") != 0 ? job.integer("arrayJobId") : job.integer("jobId"));
            case 'a' -> task >= 0 ? Integer.toString(task) : NO_TASK;
            case 'b' -> task >= 0 ? Integer.toString(task % 10) : NO_TASK.substring(NO_TASK.length() - 1);
            // only steps of srun have a number
            case 'J', 'j' -> id;
            case 'N' -> first(job.text("nodes"));
            case 'n', 't' -> "0";
            case 'r' -> Integer.toString(job.integer("restarts"));
            case 'S' -> Sluid.text(Sluid.shown(job.number("sluid"), job.integer("restarts")));
            case 's' -> "batch";
            case 'u' -> job.text("userName");
            case 'x' -> job.text("name");
            default -> null;
        };
    }

    private static String first(String nodes) {
        List<Object> names = nodes.isEmpty() ? List.of() : Tree.hosts(nodes);
        return names.isEmpty() ? "" : String.valueOf(names.getFirst());
    }
}
