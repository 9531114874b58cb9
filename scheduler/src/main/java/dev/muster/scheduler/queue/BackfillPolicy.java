package dev.muster.scheduler.queue;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.BackfillOptions.Mode;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.ResourceRequest;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * SchedulerParameters=muster_backfill: which jobs get reservations, and in which order the others are tried beside
 * these. Without it the first hundred waiting jobs get reservations, and all are tried in the queue's order.
 */
public final class BackfillPolicy {
    private final Mode mode;
    private final State state;
    private final RuntimeEstimator expected;
    private final Slowdown slowdown;
    private final ClusterIndex cluster;
    private final PriorityIndex ranks;

    public BackfillPolicy(
            State state, RuntimeEstimator expected, Slowdown slowdown, ClusterIndex cluster, PriorityIndex ranks) {
        this.mode = state.settings().options().backfill().mode();
        this.state = state;
        this.expected = expected;
        this.slowdown = slowdown;
        this.cluster = cluster;
        this.ranks = ranks;
    }

    /** Returns whether jobs behind the first waiting job of their partition are tried after all other jobs. */
    public boolean fills() {
        return mode != Mode.QUEUE;
    }

    /** Returns the number of reservations of a partition that are made before other jobs are tried. */
    public int heads() {
        return fills() ? 1 : Integer.MAX_VALUE;
    }

    /**
     * Returns the partitions that give reservations in the queue's order: those in which a wide or a heterogeneous job
     * waits, or all of them.
     */
    public Predicate<String> ruled() {
        if (mode != Mode.SLOWDOWN) {
            return p -> true;
        }
        Set<String> out = new HashSet<>();
        ranks.order().forEach(place -> {
            Job job = place.job();
            for (String name : ranks.partitions(job)) {
                if (!out.contains(name) && (job.isHet() || Slowdown.isWide(width(job, name), cluster.cpusOf(name)))) {
                    out.add(name);
                }
            }
        });
        return out::contains;
    }

    /**
     * Returns the order in which those are tried that do not go in the queue's.
     *
     * @param headS how long the one with a reservation has waited, at most
     */
    public List<QueuePosition> order(List<QueuePosition> those, long nowS, long headS, Predicate<String> ruled) {
        if (mode == Mode.QUEUE || mode == Mode.EASY || those.size() < 2) {
            return those;
        }
        long oldest = those.stream()
                .mapToLong(t -> nowS - t.job().eligibleTime())
                .max()
                .orElse(0);
        long longest = slowdown.longestS(nowS, Math.max(headS, oldest));
        List<Place> places = new ArrayList<>(those.size());
        those.forEach(t -> places.add(new Place(
                t.block().places[t.index()].tier(), key(t.job(), nowS - t.job().eligibleTime(), longest, ruled), t)));
        // the sort is stable: equals stay in the queue's order
        places.sort(Comparator.comparingInt((Place p) -> -p.tier).thenComparingDouble(p -> p.key));
        return places.stream().map(p -> p.turn).toList();
    }

    private record Place(int tier, double key, QueuePosition turn) {}

    /** Returns the key by which jobs are ordered: lower goes first. */
    private double key(Job job, long waitS, long longestS, Predicate<String> ruled) {
        return switch (mode) {
            case QUEUE, EASY -> 0;
            case SHORT -> limitS(job);
            case EXPECTED -> expectedS(job);
            case SLOWDOWN -> {
                String p = first(job);
                yield slowdown.key(
                        p,
                        job.eligibleTime(),
                        waitS,
                        longestS,
                        width(job, p),
                        cluster.cpusOf(p),
                        price(job),
                        ruled.test(p));
            }
        };
    }

    /** Counts a job that has started among those that overtake others. */
    public void began(Job job) {
        if (mode == Mode.SLOWDOWN) {
            slowdown.began(
                    job.id(),
                    first(job),
                    job.eligibleTime(),
                    job.run().allocation().cpus(),
                    expectedS(job));
        }
    }

    private static String first(Job job) {
        String named = job.desc().partition();
        int comma = named.indexOf(',');
        return comma < 0 ? named : named.substring(0, comma);
    }

    /** Returns the CPUs that a job takes in a partition at least. */
    private long width(Job job, String partition) {
        ResourceRequest r = job.desc().request();
        int nodes = cluster.nodesOf(partition).size();
        long whole =
                r.exclusive() == ResourceRequest.Exclusive.NODE && nodes > 0 ? cluster.cpusOf(partition) / nodes : 1;
        return Math.max(cpus(job), r.nodesMin() * whole);
    }

    private int limitMin(Job job) {
        return state.partitions()
                .find(first(job))
                .map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                .orElse(-1);
    }

    private double limitS(Job job) {
        int limit = limitMin(job);
        return limit < 0 ? TimeGrid.YEAR_S : limit * 60.0;
    }

    private double expectedS(Job job) {
        return expected.seconds(job.desc().owner().uid(), limitMin(job), cpus(job), limitS(job));
    }

    private double price(Job job) {
        return expected.price(job.desc().owner().uid(), limitMin(job), cpus(job), limitS(job));
    }

    static int cpus(Job job) {
        return Math.max(1, job.desc().request().tasks())
                * Math.max(1, job.desc().request().cpusPerTask());
    }
}
