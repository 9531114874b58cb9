package dev.muster.scheduler;

import dev.muster.core.Job;
import java.util.HashMap;
import java.util.Map;

/**
 * How long a job will likely run: the mean of the last two jobs of its user that asked for the same time and as many CPUs; else of the last
 * two of its user; else its limit. Never above the limit. It may put jobs in order; what a job is promised goes by limits alone.
 */
public final class Expected {
    /** Kinds of jobs remembered; with more, all are learned anew. */
    static final int KINDS_MAX = 200_000;

    private record Kind(int user, long limit, int cpus) {}

    /** The last two, in seconds; the same twice where there was only one. */
    private record Last(long one, long other) {
        double mean() {
            return (one + other) / 2.0;
        }
    }

    private final Map<Kind, Last> kinds = new HashMap<>();
    private final Map<Integer, Last> users = new HashMap<>();

    /** A job of the user that asked for this time and so many CPUs has run for so many seconds. */
    public void learn(int user, long limitAsked, int cpus, long runS) {
        if (kinds.size() >= KINDS_MAX) {
            kinds.clear();
            users.clear();
        }
        kinds.merge(new Kind(user, limitAsked, cpus), new Last(runS, runS), (was, fresh) -> new Last(runS, was.one));
        users.merge(user, new Last(runS, runS), (was, fresh) -> new Last(runS, was.one));
    }

    /** Seconds, above 0. @param limitS at most */
    public double seconds(int user, long limitAsked, int cpus, double limitS) {
        Last last = kinds.get(new Kind(user, limitAsked, cpus));
        last = last == null ? users.get(user) : last;
        return Math.max(1, last == null ? limitS : Math.min(limitS, last.mean()));
    }

    /** What ended by itself or at its limit says how long such jobs run. */
    void learn(Job job) {
        boolean itself = switch (job.state()) {
            case COMPLETED, FAILED, TIMEOUT, OUT_OF_MEMORY -> true;
            default -> false;
        };
        if (itself && job.run().startTime() > 0) {
            learn(job.desc().owner().uid(), job.run().limitMin(), Backfill.cpus(job), Math.max(0, job.run().endTime() - job.run().startTime()));
        }
    }
}
