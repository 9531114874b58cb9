package dev.muster.cli.shape;

import dev.muster.json.Json;

/** Computes the run times of jobs and steps, in seconds, without the time in which they were suspended. */
public final class RunTimes {
    private RunTimes() {}

    /**
     * @param row the step's row, or the job's own again
     * @param now the clock of the daemon that answers
     */
    public static long elapsed(Json.Obj job, Json.Obj row, long now) {
        long start = row.number("startTime");
        return start == 0 ? 0 : Math.max(0, end(row, now) - start - suspended(job, row, now));
    }

    /**
     * Returns the seconds of suspension in all, up to now where the job is still suspended.
     *
     * @param row the step's row, or the job's own again
     * @param now the clock of the daemon that answers
     */
    public static long suspended(Json.Obj job, Json.Obj row, long now) {
        long since = row.number("endTime") == 0 ? job.number("suspendedSince") : 0;
        return row.number("suspendedSeconds")
                + (since == 0 ? 0 : Math.max(0, now - Math.max(since, row.number("startTime"))));
    }

    private static long end(Json.Obj row, long now) {
        return row.number("endTime") == 0 ? now : row.number("endTime");
    }
}
