package dev.muster.scheduler.request;

import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Needs of jobs, one object per distinct need, so that identity is equality; and each queued job's own by partition.
 * Owned by the core thread.
 */
public final class ResourceNeedTable {
    private final Map<ResourceNeed, ResourceNeed> all = new HashMap<>();
    private final Map<Integer, Map<String, ResourceNeed>> ofJobs = new HashMap<>();

    public void clear() {
        all.clear();
        ofJobs.clear();
    }

    /** Forgets the needs of all jobs; each is made anew when it is asked for. */
    public void forgetJobs() {
        ofJobs.clear();
    }

    public void forget(int jobId) {
        ofJobs.remove(jobId);
    }

    public int size() {
        return all.size();
    }

    /** Returns the need of the job in a partition. */
    public ResourceNeed of(Job job, Partition partition, State state) {
        Map<String, ResourceNeed> own = ofJobs.get(job.id());
        ResourceNeed known = own == null ? null : own.get(partition.name());
        if (known != null) {
            return known;
        }
        ResourceNeed need = one(ResourceNeed.of(job.desc(), partition, state));
        ofJobs.put(job.id(), own == null ? Map.of(partition.name(), need) : with(own, partition.name(), need));
        return need;
    }

    private static Map<String, ResourceNeed> with(Map<String, ResourceNeed> own, String partition, ResourceNeed need) {
        Map<String, ResourceNeed> more = new TreeMap<>(own);
        more.put(partition, need);
        return more;
    }

    /** Returns the need in another scope of reservations. */
    public ResourceNeed in(ReservationScope where, ResourceNeed need) {
        return where.isNone() ? need : one(need.in(where));
    }

    /** Returns the need of nodes with other features. */
    public ResourceNeed on(String features, ResourceNeed need) {
        return one(need.on(features));
    }

    /** Returns the same need with another time limit, in minutes. */
    public ResourceNeed lasting(int minutes, ResourceNeed need) {
        return minutes == need.limitMin() ? need : one(need.lasting(minutes));
    }

    /** Returns the need with a sharing policy, unless it has one. */
    public ResourceNeed by(ResourceNeed need, SharingPolicy policy) {
        return need.apart() == SharingPolicy.ANYBODY ? one(need.by(policy)) : need;
    }

    /** Returns the one object for needs that equal it. */
    public ResourceNeed one(ResourceNeed made) {
        ResourceNeed known = all.putIfAbsent(made, made);
        return known == null ? made : known;
    }
}
