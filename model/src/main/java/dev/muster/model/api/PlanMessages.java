package dev.muster.model.api;

import java.util.List;

/** Requests for the scheduler's plan, and for the reasons why jobs wait. */
public final class PlanMessages {
    private PlanMessages() {}

    /** Bars that one answer to {@link QueryPlan} has at most. */
    public static final int BARS_MAX = 20_000;

    /**
     * Why a job waits.
     *
     * @param task of an array, -1 for none in particular
     */
    public record QueryWhy(int jobId, int task) {}

    /**
     * The one reason that counts, in sentences. A moment in them stands as {@code @SECONDS@}, seconds since 1970.
     *
     * @param shown the job as people write it
     * @param reason squeue's word; "None" if it does not wait
     * @param says the reason in one sentence
     * @param evidence what bears it out, a sentence each
     * @param change what would have to be otherwise, "" if only time has to pass
     * @param start when it is expected to start, seconds since 1970; 0 if that is not known
     * @param nodes where, as a host list
     */
    public record Why(
            int jobId,
            String shown,
            String user,
            String state,
            String reason,
            String says,
            List<String> evidence,
            String change,
            long start,
            String nodes,
            long now) {}

    /**
     * Running and planned jobs.
     *
     * @param until seconds since 1970: what begins later is left out
     * @param partition "" for all
     */
    public record QueryPlan(long until, String partition) {}

    /**
     * @param now the controller's clock, seconds since 1970
     * @param waiting jobs in the queue that the caller may see; planned: of these such as have a time, however late
     * @param bars by their beginning
     * @param more number of bars that were left out
     */
    public record Plan(long now, int waiting, int planned, List<PlanNode> nodes, List<Bar> bars, int more) {}

    /** @param partitions that it is in; usable: jobs may start there */
    public record PlanNode(String name, List<String> partitions, int cpus, boolean usable) {}

    /**
     * A job on its nodes.
     *
     * @param jobId 0 and without names where the caller may not see it
     * @param end at the latest, seconds since 1970; 0 for no limit
     * @param cpus on all nodes together
     */
    public record Bar(
            int jobId,
            String shown,
            String user,
            String name,
            String partition,
            boolean running,
            long start,
            long end,
            String nodes,
            int cpus) {}
}
