package dev.muster.scheduler.queue;

import dev.muster.core.state.Job;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Estimates how long a job will likely run: the mean of the last two jobs of its user that asked for the same time and
 * as many CPUs; else of the last two of its user; else its limit. Never above the limit. And what it costs to let it go
 * first, for what that saves: by the last eight of them, the newest most, and a little by its limit. It may put jobs in
 * order; what a job is promised goes by limits alone.
 */
public final class RuntimeEstimator {
    /** Kinds of jobs remembered; with more, all are learned anew. */
    static final int KINDS_MAX = 200_000;
    /** Number of past jobs of a kind that are remembered. */
    private static final int PAST_MAX = 8;
    /** Weight of a past job relative to the next newer one. */
    private static final double OLDER = 0.75;
    /**
     * Weight of the time limit, where the newest job has 1: a kind of jobs that ended within seconds may run to its
     * limit the next time.
     */
    private static final double LIMIT_WEIGHT = 0.3;
    /** Least run time in the bounded slowdown, in seconds. */
    private static final double BOUND_S = 10;

    private record Kind(int user, long limit, int cpus) {}

    /**
     * Run times in seconds, the newest first.
     *
     * @param longestS of them
     * @param sum of each with its weight
     * @param inverses of one by each, bounded, with its weight
     */
    private record Past(long[] runS, long longestS, double sum, double inverses) {
        static Past of(long... runS) {
            return within(runS, Long.MAX_VALUE);
        }

        private static Past within(long[] runS, double limitS) {
            double counts = 1;
            double sum = 0;
            double inverses = 0;
            long longest = 0;
            for (long r : runS) {
                double run = Math.min(limitS, (double) r);
                sum += counts * run;
                inverses += counts / Math.max(BOUND_S, run);
                longest = Math.max(longest, r);
                counts *= OLDER;
            }
            return new Past(runS, longest, sum, inverses);
        }

        Past and(long newestS) {
            long[] runs = new long[Math.min(PAST_MAX, runS.length + 1)];
            runs[0] = newestS;
            System.arraycopy(runS, 0, runs, 1, runs.length - 1);
            return of(runs);
        }

        Past within(double limitS) {
            return longestS <= limitS ? this : within(runS, limitS);
        }

        double meanOfTwo() {
            return runS.length == 1 ? runS[0] : (runS[0] + runS[1]) / 2.0;
        }
    }

    private final Map<Kind, Past> kinds = new HashMap<>();
    private final Map<Integer, Past> users = new HashMap<>();

    /** Records the run time of a job of the user, by the time limit and CPUs that it asked for. */
    public void learn(int user, long limitAsked, int cpus, long runS) {
        if (kinds.size() >= KINDS_MAX) {
            kinds.clear();
            users.clear();
        }
        kinds.merge(new Kind(user, limitAsked, cpus), Past.of(runS), (was, fresh) -> was.and(runS));
        users.merge(user, Past.of(runS), (was, fresh) -> was.and(runS));
    }

    private @Nullable Past past(int user, long limitAsked, int cpus) {
        Past own = kinds.get(new Kind(user, limitAsked, cpus));
        return own == null ? users.get(user) : own;
    }

    /**
     * Returns how long a job will likely run, in seconds, above 0.
     *
     * @param limitS at most
     */
    public double seconds(int user, long limitAsked, int cpus, double limitS) {
        Past past = past(user, limitAsked, cpus);
        return Math.max(1, past == null ? limitS : Math.min(limitS, past.meanOfTwo()));
    }

    /**
     * Returns the price of one CPU of the job, in s²: the mean duration of the user's similar jobs, divided by the mean
     * of 1/duration, which is how fast the job's slowdown grows while it waits. A user whose jobs mostly end within
     * seconds has a low price although some run long. Lowest first minimises the mean slowdown.
     */
    public double price(int user, long limitAsked, int cpus, double limitS) {
        Past past = past(user, limitAsked, cpus);
        double inverse = 1 / Math.max(BOUND_S, limitS);
        if (past == null) {
            return limitS / inverse;
        }
        Past capped = past.within(limitS);
        return (capped.sum + LIMIT_WEIGHT * limitS) / (capped.inverses + LIMIT_WEIGHT * inverse);
    }

    /** Learns from a job that ended by itself or at its limit how long such jobs run. */
    public void learn(Job job) {
        boolean itself = switch (job.state()) {
            case COMPLETED, FAILED, TIMEOUT, OUT_OF_MEMORY -> true;
            default -> false;
        };
        if (itself && job.run().startTime() > 0) {
            learn(
                    job.desc().owner().uid(),
                    job.run().limitMin(),
                    BackfillPolicy.cpus(job),
                    Math.max(0, job.run().endTime() - job.run().startTime()));
        }
    }
}
