package dev.muster.cli.format;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Sluid;
import java.util.ArrayList;
import java.util.List;

/** Loads running steps and formats their ids, shared by the commands that print steps. */
public final class StepRows {
    private StepRows() {}

    /**
     * {@code 12.0}, {@code 12.0+1}, {@code 12_3.batch}, {@code 12+1.0}. A heterogeneous job has one script: its step
     * has the job's own number.
     */
    public static String id(Json.Obj step) {
        boolean script = step.integer("hetJobId") != 0 && step.text("stepId").equals("batch");
        return script ? step.integer("hetJobId") + ".batch" : JobRows.id(step, 0) + "." + step.text("stepId");
    }

    public static List<Json.Obj> load(CommandContext context, List<String> ids) throws SlurmException {
        return load(context, ids, true);
    }

    /**
     * Loads the named steps; all steps without names.
     *
     * @param all whether to list steps of jobs in hidden partitions
     */
    public static List<Json.Obj> load(CommandContext context, List<String> typed, boolean all) throws SlurmException {
        List<String> ids = new ArrayList<>();
        for (String id : typed) {
            ids.add(numbered(context, id));
        }
        Json.Obj query = new Json.Obj();
        List<Object> jobs = new ArrayList<>();
        for (String id : ids) {
            int end = 0;
            while (end < id.length() && id.charAt(end) >= '0' && id.charAt(end) <= '9') {
                end++;
            }
            jobs.add(Math.max(0, Digits.parseNumber(id.substring(0, end))));
        }
        if (!jobs.isEmpty()) {
            query.put("jobIds", jobs);
        }
        query.put("stepId", -1L);
        query.put("allUsers", Boolean.TRUE);
        JobRequest.put(query, "shownPartitions", !all);
        Json.Obj reply = context.host().controller().call("QuerySteps", query);
        List<Json.Obj> steps = reply.objects("steps");
        steps.removeIf(s -> !ids.isEmpty() && !isNamed(s, ids));
        for (Json.Obj step : steps) {
            step.put("now", reply.number("now"));
        }
        return steps;
    }

    /** Replaces the SLUID in the name of a job or step by the job's number; 0 for an unknown job. */
    private static String numbered(CommandContext context, String id) throws SlurmException {
        int dot = id.indexOf('.');
        String job = dot < 0 ? id : id.substring(0, dot);
        return Sluid.parse(job).isEmpty() ? id : Math.max(0, JobIds.resolve(context, job)) + id.substring(job.length());
    }

    private static boolean isNamed(Json.Obj step, List<String> ids) {
        String full = id(step);
        String raw = step.integer("jobId") + "." + step.text("stepId");
        for (String id : ids) {
            if (id.equals(full)
                    || id.equals(raw)
                    || full.startsWith(id + ".")
                    || raw.startsWith(id + ".")
                    || raw.startsWith(id + "+")
                    || full.startsWith(id + "_")
                    || full.startsWith(id + "+")) {
                return true;
            }
        }
        return false;
    }
}
