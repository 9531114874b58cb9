package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.core.Licences;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What jobs on nodes have of licences. What an allocation says of them is read once. Owned by the core thread. */
final class HeldLicences {
    /** Different texts that are remembered. */
    private static final int TEXTS_MAX = 10_000;
    private final TreeMap<Integer, Held> jobs = new TreeMap<>();
    private final Map<String, List<Licences.Item>> texts = new HashMap<>();

    /**
     * What one job has.
     *
     * @param reservation that it runs in, "" for none
     * @param limitTickMs when its time is over, -1 for never
     */
    record Held(List<Licences.Item> items, String reservation, long limitTickMs) {}

    void clear() {
        jobs.clear();
        texts.clear();
    }

    /** The job is on nodes, as it is now. */
    void holds(Job job) {
        String text = job.run().allocation().licences();
        if (text.isEmpty() || !job.state().isActive()) {
            jobs.remove(job.id());
            return;
        }
        if (texts.size() > TEXTS_MAX) {
            texts.clear();
        }
        jobs.put(job.id(), new Held(texts.computeIfAbsent(text, t -> Licences.parse(t).orElse(Licences.Wanted.NONE).items()),
                job.desc().charge().reservation(), job.run().limitTickMs()));
    }

    void forget(int jobId) {
        jobs.remove(jobId);
    }

    Iterable<Held> all() {
        return jobs.values();
    }
}
