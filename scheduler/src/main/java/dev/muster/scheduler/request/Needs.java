package dev.muster.scheduler.request;

import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** What jobs need, one object per distinct need, so that identity is equality; and each queued job's own by partition. Owned by the core thread. */
public final class Needs {
    private final Map<Need, Need> all = new HashMap<>();
    private final Map<Integer, Map<String, Need>> ofJobs = new HashMap<>();

    public void clear() {
        all.clear();
        ofJobs.clear();
    }

    /** Which need whose is, is looked at anew. */
    public void forgetJobs() {
        ofJobs.clear();
    }

    public void forget(int jobId) {
        ofJobs.remove(jobId);
    }

    public int size() {
        return all.size();
    }

    /** What the job needs in a partition. */
    public Need of(Job job, Partition partition, State state) {
        Map<String, Need> own = ofJobs.get(job.id());
        Need known = own == null ? null : own.get(partition.name());
        if (known != null) {
            return known;
        }
        Need need = one(Need.of(job.desc(), partition, state));
        ofJobs.put(job.id(), own == null ? Map.of(partition.name(), need) : with(own, partition.name(), need));
        return need;
    }

    private static Map<String, Need> with(Map<String, Need> own, String partition, Need need) {
        Map<String, Need> more = new TreeMap<>(own);
        more.put(partition, need);
        return more;
    }

    /** The same need elsewhere. */
    public Need in(Within where, Need need) {
        return where.isNone() ? need : one(need.in(where));
    }

    /** The same need of nodes with other features. */
    public Need on(String features, Need need) {
        return one(need.on(features));
    }

    /** The same need for so many minutes. */
    public Need lasting(int minutes, Need need) {
        return minutes == need.limitMin() ? need : one(need.lasting(minutes));
    }

    /** The same need of somebody in particular, unless it says already whose it is. */
    public Need by(Need need, Apart who) {
        return need.apart() == Apart.ANYBODY ? one(need.by(who)) : need;
    }

    /** The one object for needs that equal it. */
    public Need one(Need made) {
        Need known = all.putIfAbsent(made, made);
        return known == null ? made : known;
    }
}
