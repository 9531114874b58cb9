package dev.muster.scheduler.queue;

import dev.muster.core.limits.Priorities;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps each waiting job's place in the queue: by its partition's tier, then by its priority, which follows time and
 * usage.
 */
public final class PriorityIndex {
    private final Map<String, Integer> tiers = new HashMap<>();
    private final QueueOrder queue = new QueueOrder();
    private final Map<Integer, QueueOrder.Place> places = new HashMap<>();
    /** Computed priorities of those in the queue; empty with priority/basic. Read by other threads. */
    private final Map<Integer, Computed> computed = new ConcurrentHashMap<>();

    private Optional<Priorities> priorities = Optional.empty();
    private long computedAtMs;

    /** @param desc for which it was */
    private record Computed(long priority, JobDesc desc) {}

    /** Starts anew with an empty queue. */
    public void reset(State state) {
        tiers.clear();
        queue.clear();
        places.clear();
        computed.clear();
        priorities = Optional.empty();
        for (Partition p : state.partitions().values()) {
            tiers.put(p.name(), p.info().priorityTier());
        }
    }

    public QueueOrder order() {
        return queue;
    }

    public boolean has(int jobId) {
        return places.containsKey(jobId);
    }

    public Set<Integer> jobs() {
        return places.keySet();
    }

    public void remove(int jobId) {
        QueueOrder.Place place = places.remove(jobId);
        if (place != null) {
            queue.remove(place);
        }
    }

    /** Forgets a job that does not wait any more, nor will under this number. */
    public void forget(int jobId) {
        computed.remove(jobId);
    }

    /** Lets the job be looked at in the next pass, whatever is known of it. */
    public void lookAt(int jobId) {
        Optional.ofNullable(places.get(jobId)).ifPresent(queue::look);
    }

    /** Shares or usage have changed: the next {@link #refresh} computes them whenever it comes. */
    public void outdated() {
        computedAtMs = Long.MIN_VALUE / 2;
    }

    public static boolean inQueue(Job job) {
        return job.isPending() && job.eligibleTime() > 0 && !job.isHeld();
    }

    /** Priorities follow time and usage: all are computed anew each PriorityCalcPeriod. */
    public void refresh(State state, DecisionTime now) {
        if (!Priorities.isActive(state.settings())) {
            return;
        }
        long periodMs = 1000 * state.settings().options().priority().calcPeriodS();
        if (priorities.isPresent() && now.tickMs() - computedAtMs < periodMs) {
            return;
        }
        computedAtMs = now.tickMs();
        priorities = Optional.of(new Priorities(state, now.seconds()));
        places.replaceAll((id, old) -> place(state, state.jobs().at(id)));
        queue.fill(places.values());
    }

    public void add(State state, Job job) {
        QueueOrder.Place place = place(state, job);
        places.put(job.id(), place);
        queue.add(place);
    }

    /**
     * Computes a job's priority. With INCR_ONLY it does not fall by itself: another nice value or QOS counts at once.
     */
    private long computed(Job job) {
        if (priorities.isEmpty()) {
            return job.priority();
        }
        long fresh = priorities.get().of(job);
        Computed before = computed.get(job.id());
        long p = before != null && before.desc == job.desc() && priorities.get().onlyRises()
                ? Math.max(fresh, before.priority)
                : fresh;
        computed.put(job.id(), new Computed(p, job.desc()));
        return p;
    }

    /** Returns the job's priority as it was computed; empty where none is. */
    public OptionalLong priority(int jobId) {
        Computed of = computed.get(jobId);
        return of == null ? OptionalLong.empty() : OptionalLong.of(of.priority);
    }

    /**
     * Returns the place of a job in the queue; one of several partitions stands where the best of their tiers puts it.
     */
    private QueueOrder.Place place(State state, Job job) {
        return HetQueueOrder.place(state, job, this::tier, this::computed);
    }

    /** Returns the partitions that the job names, the highest tier first. */
    public List<String> partitions(Job job) {
        String named = job.desc().partition();
        if (named.indexOf(',') < 0) {
            return List.of(named);
        }
        List<String> out = new ArrayList<>(List.of(named.split(",")));
        out.sort(Comparator.comparingInt((String name) -> tiers.getOrDefault(name, 1))
                .reversed());
        return out;
    }

    public int tier(Job job) {
        Integer only = tiers.get(job.desc().partition());
        if (only != null) {
            return Math.max(0, only);
        }
        int tier = 0;
        for (String name : job.desc().partitionList()) {
            tier = Math.max(tier, tiers.getOrDefault(name, 1));
        }
        return tier;
    }
}
