package dev.muster.scheduler.queue;

import dev.muster.core.state.Job;
import java.util.HashMap;
import java.util.Map;

/**
 * How long a job will likely run: the mean of the last two jobs of its user that asked for the same time and as many
 * CPUs; else of the last two of its user; else its limit. Never above the limit. And what it costs to let it go first,
 * for what that saves: by the last eight of them, the newest most, and a little by its limit. It may put jobs in order;
 * what a job is promised goes by limits alone.
 */
public final class RuntimeEstimator {
    /** Kinds of jobs remembered; with more, all are learned anew. */
    static final int KINDS_MAX = 200_000;
    /** So many jobs of a kind are remembered. */
    private static final int PAST_MAX = 8;
    /** Each counts for so much of the one after it. */
    private static final double OLDER = 0.75;
    /**
     * What the limit counts for, where the newest counts for 1: who ran for seconds until now may run to his limit the
     * next time.
     */
    private static final double LIMIT_WEIGHT = 0.3;
    /** A slowdown is bounded: who runs shorter counts as so long, in seconds. */
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

    /** A job of the user that asked for this time and so many CPUs has run for so many seconds. */
    public void learn(int user, long limitAsked, int cpus, long runS) {
        if (kinds.size() >= KINDS_MAX) {
            kinds.clear();
            users.clear();
        }
        kinds.merge(new Kind(user, limitAsked, cpus), Past.of(runS), (was, fresh) -> was.and(runS));
        users.merge(user, Past.of(runS), (was, fresh) -> was.and(runS));
    }

    private Past past(int user, long limitAsked, int cpus) {
        Past own = kinds.get(new Kind(user, limitAsked, cpus));
        return own == null ? users.get(user) : own;
    }

    /**
     * Seconds, above 0.
     *
     * @param limitS at most
     */
    public double seconds(int user, long limitAsked, int cpus, double limitS) {
        Past past = past(user, limitAsked, cpus);
        return Math.max(1, past == null ? limitS : Math.min(limitS, past.meanOfTwo()));
    }

    /**
     * What each of its CPUs costs others for what is saved: its mean time, by how fast its slowdown grows while it
     * waits, which is the mean of one by its time. Who mostly ends within seconds has a low price although some of his
     * jobs run long; the lowest first makes the least of slowdowns.
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

    /** What ended by itself or at its limit says how long such jobs run. */
    public void learn(Job job) {
        boolean itself = switch (job.state()) {
            case COMPLETED, FAILED, TIMEOUT, OUT_OF_MEMORY -> true;
            default -> false;
        };
        if (itself && job.run().startTime() > 0) {
            learn(
                    job.desc().owner().uid(),
                    job.run().limitMin(),
                    Backfill.cpus(job),
                    Math.max(0, job.run().endTime() - job.run().startTime()));
        }
    }
}
