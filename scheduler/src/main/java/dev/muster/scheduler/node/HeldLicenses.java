package dev.muster.scheduler.node;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Job;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Licenses that running jobs hold. The text of an allocation is parsed once. Owned by the core thread. */
public final class HeldLicenses {
    /** Different texts that are remembered. */
    private static final int TEXTS_MAX = 10_000;
    /** Index of each job in the rows beside each other, by job id: a pass goes over all of them. */
    private final Map<Integer, Integer> places = new HashMap<>();

    private final List<Held> held = new ArrayList<>();
    private final List<Integer> jobs = new ArrayList<>();
    private final Map<String, List<LicenseRequest.Item>> texts = new HashMap<>();

    /**
     * The licenses of one job.
     *
     * @param reservation that it runs in, "" for none
     * @param limitTickMs when its time is over, -1 for never
     */
    public record Held(List<LicenseRequest.Item> items, String reservation, long limitTickMs) {}

    public void clear() {
        places.clear();
        held.clear();
        jobs.clear();
        texts.clear();
    }

    /** Notes the licenses of a job on nodes, as it is now. */
    public void holds(Job job) {
        String text = job.run().allocation().licenses();
        if (text.isEmpty() || !job.state().isActive()) {
            forget(job.id());
            return;
        }
        if (texts.size() > TEXTS_MAX) {
            texts.clear();
        }
        Held now = new Held(
                texts.computeIfAbsent(
                        text,
                        t -> LicenseRequest.parse(t)
                                .orElse(LicenseRequest.Wanted.NONE)
                                .items()),
                job.desc().charge().reservation(),
                job.run().limitTickMs());
        Integer place = places.putIfAbsent(job.id(), held.size());
        if (place != null) {
            held.set(place, now);
            return;
        }
        held.add(now);
        jobs.add(job.id());
    }

    public void forget(int jobId) {
        Integer place = places.remove(jobId);
        if (place == null) {
            return;
        }
        Held last = held.removeLast();
        Integer lastId = jobs.removeLast();
        if (place < held.size()) {
            held.set(place, last);
            jobs.set(place, lastId);
            places.put(lastId, place);
        }
    }

    /** Returns the licenses of all jobs, in no order. */
    public Iterable<Held> all() {
        return held;
    }
}
