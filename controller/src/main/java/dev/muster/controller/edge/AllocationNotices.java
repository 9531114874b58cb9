package dev.muster.controller.edge;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Texts of operators for salloc ({@code scontrol notify}), until it asks for them. A few words per job; the oldest
 * jobs' go first.
 */
final class AllocationNotices {
    private static final int JOBS_MAX = 1000;
    private static final int PER_JOB_MAX = 20;

    private final Map<Integer, List<String>> textsByJob = new LinkedHashMap<>(16, 0.75f, false) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, List<String>> eldest) {
            return size() > JOBS_MAX;
        }
    };

    /** Returns false if no command has fetched the earlier notices. */
    synchronized boolean say(int jobId, String text) {
        List<String> all = textsByJob.computeIfAbsent(jobId, k -> new ArrayList<>());
        return all.size() < PER_JOB_MAX && all.add(text);
    }

    synchronized boolean any(int jobId) {
        return textsByJob.containsKey(jobId);
    }

    /** Returns the job's texts, each of them once. */
    synchronized List<String> take(int jobId) {
        List<String> all = textsByJob.remove(jobId);
        return all == null ? List.of() : List.copyOf(all);
    }
}
