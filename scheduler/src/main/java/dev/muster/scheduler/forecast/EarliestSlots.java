package dev.muster.scheduler.forecast;

import dev.muster.scheduler.node.NeedClass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The first slots of a window in which job classes may still fit. Free capacity becomes less with each job that is
 * planned: the next job that needs the same finds nothing earlier.
 */
final class EarliestSlots {
    /** Classes of one place with which others are compared. */
    private static final int KNOWN_MAX = 64;

    private static final int CLASSES = 1024;

    private int[] byClass = new int[CLASSES];
    /** By class and wait, for jobs that want few switches. */
    private final Map<Integer, Integer> byPatience = new HashMap<>();
    /** By reservation and class, for jobs in reservations. */
    private final Map<String, Map<Integer, Integer>> byReservation = new HashMap<>();
    /** Classes with a known first slot, by place. A class that requests no less than one of them fits no earlier. */
    private final Map<Integer, List<NeedClass>> known = new HashMap<>();

    /**
     * Returns the first slot in which the job may fit.
     *
     * @param patience a number for the class and the wait of a job that wants few switches; -1 for all others
     */
    int first(Forecast.Alternative job, int patience) {
        if (!job.within().isEmpty()) {
            return within(job).getOrDefault(key(job, patience), 0);
        }
        NeedClass c = job.need();
        if (c.id >= byClass.length) {
            byClass = Arrays.copyOf(byClass, Math.max(c.id + 1, 2 * byClass.length));
        }
        int first = patience < 0 ? byClass[c.id] : byPatience.getOrDefault(patience, 0);
        for (NeedClass other : knownBeside(c)) {
            if (byClass[other.id] > first && c.asksNoLess(other, false)) {
                first = byClass[other.id];
            }
        }
        return first;
    }

    /**
     * Notes the first slot in which the job fits.
     *
     * @param first what {@link #first} returned for it
     */
    void found(Forecast.Alternative job, int patience, int first, int slot) {
        NeedClass c = job.need();
        if (!job.within().isEmpty()) {
            within(job).put(key(job, patience), slot);
        } else if (patience >= 0) {
            byPatience.put(patience, slot);
        } else {
            byClass[c.id] = slot;
            if (slot > first && c.simple) {
                remember(c);
            }
        }
    }

    private Map<Integer, Integer> within(Forecast.Alternative job) {
        return byReservation.computeIfAbsent(job.within(), reservation -> new HashMap<>());
    }

    private static int key(Forecast.Alternative job, int patience) {
        return patience < 0 ? job.need().id : -1 - patience;
    }

    private List<NeedClass> knownBeside(NeedClass c) {
        return known.computeIfAbsent(c.where(), place -> new ArrayList<>());
    }

    private void remember(NeedClass c) {
        List<NeedClass> classes = knownBeside(c);
        classes.removeIf(o -> o == c || byClass[o.id] <= byClass[c.id] && o.asksNoLess(c, false));
        if (classes.size() >= KNOWN_MAX) {
            classes.removeFirst();
        }
        classes.add(c);
    }
}
