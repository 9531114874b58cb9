package dev.muster.controller.edge;

import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;

/** Times of the last requests of commands with allocations, which ask periodically for their jobs. */
public final class ClientActivity {
    /** Seconds that a command may be away that waits for its allocation: it may only have lost its connection. */
    private static final int AWAY_S = 10;
    /** Seconds that a command may be away after a start of slurmctld: by then it has asked again, or given up. */
    private static final int AWAY_AFTER_START_S = 60;

    private final Map<Integer, Long> heardS = new ConcurrentHashMap<>();
    /** Jobs of commands that were gone before they heard of the allocation, and since when, in seconds. */
    private final Map<Integer, Long> awayS = new ConcurrentHashMap<>();

    /** Notes that the job's command waits for its allocation. */
    void awaits(int jobId) {
        awayS.remove(jobId);
    }

    /** Notes that the command was not there any more when its job started, or while it waited. */
    void gone(int jobId, long nowS) {
        awayS.put(jobId, nowS);
    }

    /** slurmctld has started: of jobs that wait it does not know whether their commands are there. */
    public void started(Iterable<Job> all, long nowS) {
        for (Job job : all) {
            if (job.isPending() && isOfCommand(job)) {
                awayS.put(spokenOf(job), nowS + AWAY_AFTER_START_S - AWAY_S);
            }
        }
    }

    /**
     * Returns the commands for allocations that no command has come for. Called once a second.
     *
     * @param nowS any clock that only goes forward
     * @param waits whether a job of that number waits
     */
    public List<Command> unclaimed(Iterable<Job> active, IntPredicate waits, long nowS) {
        if (awayS.isEmpty()) {
            return List.of();
        }
        List<Command> out = new ArrayList<>();
        Set<Integer> over = new HashSet<>(awayS.keySet());
        for (Job job : active) {
            Long since = awayS.get(spokenOf(job));
            if (since != null && isOfCommand(job)) {
                over.remove(spokenOf(job));
                if (nowS - since >= AWAY_S) {
                    out.add(new Command.EndUnclaimed(job.id(), job.attempt()));
                }
            }
        }
        over.removeIf(waits::test);
        awayS.keySet().removeAll(over);
        return out;
    }

    private static boolean isOfCommand(Job job) {
        return job.desc().kind() != JobDesc.Kind.BATCH && !job.desc().extras().noShell();
    }

    /**
     * Returns the id of which the job's command speaks: one command has all components of a heterogeneous job, and
     * speaks of the first.
     */
    private static int spokenOf(Job job) {
        return job.isHet() ? job.het().jobId() : job.id();
    }

    void heard(int jobId, long nowS) {
        heardS.put(jobId, nowS);
    }

    /**
     * Returns the commands that end allocations of silent clients: no request for longer than InactiveLimit, whatever
     * runs in the job. Called once a second.
     *
     * @param nowS any clock that only goes forward
     * @param limitS InactiveLimit; 0 for none
     */
    public List<Command> silent(Iterable<Job> active, long nowS, long limitS) {
        List<Command> out = new ArrayList<>();
        Map<Integer, Long> known = new TreeMap<>();
        for (Job job : active) {
            if (isOfCommand(job)) {
                int spokenOf = spokenOf(job);
                long last = heardS.getOrDefault(spokenOf, nowS);
                known.put(spokenOf, last);
                if (limitS > 0 && nowS - last > limitS) {
                    out.add(new Command.EndInactive(job.id(), job.attempt()));
                }
            }
        }
        heardS.keySet().retainAll(known.keySet());
        known.forEach((id, last) -> heardS.merge(id, last, Math::max));
        return out;
    }
}
