package dev.muster.scheduler.forecast;

import dev.muster.core.command.Planner;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.PlannedPlace;
import dev.muster.scheduler.claim.PlannedReservations;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.queue.JobClassIndex;
import dev.muster.scheduler.queue.QueueOrder;
import dev.muster.scheduler.timeline.RemainingTime;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A plan of all that wait: in the queue's order each is given the first time at which it fits on what those before it
 * leave, in steps of {@link TimeGrid}, with ends rounded up. It is made of what the core thread has noted down in
 * {@link Input}, on any thread, and is a value. Which core or device a job gets is not planned; what is planned is
 * CPUs, memory and generic resources of nodes, and licenses.
 */
public final class Forecast {
    /** Jobs wait for these, or for something that the plan knows of. */
    static final Set<JobReason> WAITS = EnumSet.of(
            JobReason.NONE,
            JobReason.PRIORITY,
            JobReason.RESOURCES,
            JobReason.LICENSES,
            JobReason.NO_TOPOLOGY_UNIT,
            JobReason.REQ_NODE_NOT_AVAIL,
            JobReason.JOB_ARRAY_TASK_LIMIT);

    /**
     * The input of a plan.
     *
     * @param nowS seconds since 1970
     * @param queue copies of its blocks, in order
     * @param lanes by number
     * @param masks of places, by their number
     * @param special jobs that are in no lane and wait for nothing but resources and others: each way in which they may
     *     be served
     * @param drawn by number of a lane whose jobs a reservation draws: each way in which they may be served
     * @param nodes names by number
     * @param whole resources of each node for jobs when it is idle
     * @param era of nodes' numbers
     * @param claims how many of the first that have to wait get their places kept
     */
    public record Input(
            State state,
            long nowS,
            long tickMs,
            TimeGrid times,
            FreeTable free,
            FreeTable whole,
            List<String> nodes,
            List<QueueOrder.Block> queue,
            JobClassIndex.Lane[] lanes,
            long[][] masks,
            Map<Integer, List<Alternative>> special,
            Map<Integer, List<Alternative>> drawn,
            int claims,
            int era) {}

    /**
     * @param mask nodes that it may run on
     * @param within on what that reservation has of them; "" on what none has
     * @param tasks of an array's record, 1 for others
     * @param afterS seconds for which as many tasks of its array run as may
     */
    record Alternative(int jobId, NeedClass need, long[] mask, String within, int tasks, long afterS) {
        public Alternative of(Job job) {
            return new Alternative(job.id(), need, mask, within, Forecast.tasks(job), afterS);
        }
    }

    /**
     * The size of a plan's input.
     *
     * @param walked entries of the queue
     * @param tried those of them that wait for what a plan knows of
     * @param times into which the seven days and the year behind them were divided
     * @param passed nodes have other numbers since it was begun: it counts for nothing
     */
    public record InputSize(int walked, int tried, int times, boolean passed) {}

    private final List<String> nodes;
    private final long changes;
    private final int era;
    private final int walked;
    private final int tried;
    private final int slots;
    private final Map<Integer, Planned> planned;
    private final Map<Integer, Planned> coarse;
    private final Set<Integer> open;
    private final PlannedReservations claims;

    /** @param start seconds since 1970 */
    record Planned(long start, int[] nodes, int cpus, String partition, List<PlannedPlace> places) {}

    /**
     * @param coarse jobs whose times lie behind the fine slots
     * @param open jobs that are planned with the rest, and have a coarse time until then, or none
     */
    Forecast(
            Input in,
            int walked,
            int tried,
            Map<Integer, Planned> planned,
            Map<Integer, Planned> coarse,
            Set<Integer> open,
            PlannedReservations claims) {
        this.nodes = in.nodes;
        this.changes = in.free.changes();
        this.era = in.era;
        this.slots = in.times.count();
        this.walked = walked;
        this.tried = tried;
        this.planned = planned;
        this.coarse = coarse;
        this.open = open;
        this.claims = claims;
    }

    /** Makes all of a plan at once. */
    public static Forecast of(Input in) {
        ForecastBuilder made = new ForecastBuilder(in);
        made.soon();
        boolean more = true;
        while (more) {
            more = made.step();
        }
        return made.whole();
    }

    /**
     * Returns the seconds until one more task of the array may run under its limit of running tasks; 0 if one may now.
     */
    static long throttledS(State state, Job job, long tickMs) {
        int taskLimit = job.array().maxRunning();
        if (taskLimit <= 0) {
            return 0;
        }
        long[] ends = Stream.concat(
                        state.tasksOf(job.array().jobId()).stream(),
                        state.jobs().find(job.array().jobId()).stream())
                .filter(t -> t.state().isActive())
                .mapToLong(t -> RemainingTime.seconds(state, t, tickMs))
                .sorted()
                .toArray();
        return ends.length < taskLimit ? 0 : ends[ends.length - taskLimit];
    }

    static int tasks(Job job) {
        return job.isArrayRecord() ? job.array().pending().count() : 1;
    }

    /** Returns when the job is planned to start, seconds since 1970; 0 if it has no plan. */
    public long start(int jobId) {
        return find(jobId).map(Planned::start).orElse(0L);
    }

    /** Returns when and where the job is planned to start; empty if it has no plan. */
    public Optional<Planner.Estimate> estimate(int jobId) {
        return find(jobId).map(this::estimate);
    }

    private Optional<Planned> find(int jobId) {
        return Optional.ofNullable(planned.get(jobId)).or(() -> Optional.ofNullable(coarse.get(jobId)));
    }

    private Planner.Estimate estimate(Planned p) {
        return estimate(p, p.start);
    }

    private Planner.Estimate estimate(Planned p, long start) {
        return new Planner.Estimate(
                start, Arrays.stream(p.nodes).mapToObj(nodes::get).toList(), p.cpus, p.partition);
    }

    /** Tests whether the job waits for the rest of the plan: the one before knows more of it. */
    boolean isOpen(int jobId) {
        return open.contains(jobId);
    }

    /** Times of the plan are rounded up to its steps, and so each of these may begin one step earlier. */
    void upcoming(long until, Map<Integer, Planner.Estimate> byJob) {
        planned.forEach((id, p) -> {
            long earliest = p.start - TimeGrid.STEP_MIN_S;
            if (earliest <= until) {
                byJob.put(id, estimate(p, earliest));
            }
        });
    }

    /** Returns the number of jobs that have a time. */
    public int size() {
        return planned.size() + coarse.size();
    }

    InputSize made(int eraNow) {
        return new InputSize(walked, tried, slots, eraNow != era);
    }

    /** Returns the places to be kept for the first jobs that wait, in the queue's order. Not to be changed. */
    public PlannedReservations claims() {
        return claims;
    }

    /** Returns {@link FreeTable#changes} as it was when the input was noted down. */
    public long changes() {
        return changes;
    }

    /** Returns the era of nodes' numbers. */
    int era() {
        return era;
    }
}
