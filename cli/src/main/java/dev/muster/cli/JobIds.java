package dev.muster.cli;

import dev.muster.model.IndexSet;
import dev.muster.model.Json;
import dev.muster.model.Sluid;
import dev.muster.model.StepId;
import java.util.List;

/** Ids of jobs, array tasks and steps as people type them. */
final class JobIds {
    private JobIds() {}

    /** {@code 12}, {@code 12_3}, {@code 12_[1-3]}, {@code 12_*}, {@code 12+1}. */
    static boolean isJob(String text) {
        int end = 0;
        if (Sluid.parse(text).isPresent()) {
            return true;
        }
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        if (end == 0 || end > 10 || OptionCheck.parseNumber(text.substring(0, end)) < 1
                || Long.parseLong(text.substring(0, end)) > Integer.MAX_VALUE) {
            return false;
        }
        String rest = text.substring(end);
        if (rest.isEmpty()) {
            return true;
        }
        String tail = rest.substring(1);
        return switch (rest.charAt(0)) {
            case '_' -> tail.equals("*") || !IndexSet.parseSpec(tail, IndexSet.MAX_INDEX).isEmpty();
            case '+' -> OptionCheck.parseNumber(tail) >= 0;
            default -> false;
        };
    }

    /** The number of a job as typed, which may be its SLUID or a task of an array; -1 if it is no id, 0 if there is no such job. */
    static int resolve(CommandContext c, String text) throws SlurmException {
        long number = OptionCheck.parseNumber(text);
        if (number > 0 && number <= Integer.MAX_VALUE) {
            return (int) number;
        }
        return isJob(text) ? lookUp(c, text) : -1;
    }

    /** Whether there is a job of that id, with or without a step's after it. */
    static boolean isKnown(CommandContext c, String text) throws SlurmException {
        String job = text.indexOf('.') < 0 ? text : text.substring(0, text.indexOf('.'));
        return isJob(job) && lookUp(c, job) > 0;
    }

    private static int lookUp(CommandContext c, String text) throws SlurmException {
        Json.Obj q = new Json.Obj();
        q.put("jobs", List.of(text));
        q.put("allStates", Boolean.TRUE);
        q.put("fields", List.of("jobId"));
        try {
            for (Json.Obj j : c.host().controller().call("QueryJobs", q).objects("jobs")) {
                return j.integer("jobId");
            }
        } catch (SlurmException e) {
            if (e.errno() != dev.muster.model.SlurmErrno.INVALID_JOB_ID.number()) {
                throw e;
            }
        }
        return 0;
    }

    /** What is wrong with a word that is no job's or step's id, by the first sign after its number. */
    static String objection(String text) {
        int end = 0;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        String what = end == 0 || end == text.length() ? "" : switch (text.charAt(end)) {
            case '_' -> "job array element";
            case '+' -> "hetjob offset";
            case '.' -> "step";
            default -> "";
        };
        return what.isEmpty() ? "Bad job/step specified: " + text : "Bad " + what + " specified: " + text.substring(0, end);
    }

    /** A job id with an optional {@code .step}. */
    static boolean isJobOrStep(String text) {
        int dot = text.indexOf('.');
        if (dot < 0) {
            return isJob(text);
        }
        String step = text.substring(dot + 1);
        return isJob(text.substring(0, dot)) && (OptionCheck.parseNumber(step) >= 0 || StepId.parse(step).isPresent()
                || step.equals("TBD"));
    }
}
