package dev.muster.core.limits;

import dev.muster.core.options.PriorityOptions;
import dev.muster.core.options.PriorityOptions.Flag;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * priority/multifactor: a job's priority as a weighted sum of factors, each 0 to 1 unless PriorityFlags say otherwise.
 * It follows from the state and the time and is kept nowhere; what is set by hand stands as it is.
 */
public final class Priorities {
    /** The priority of a job that runs again at once (--requeue=expedite): above all that are computed or given. */
    public static final long EXPEDITED = 4_294_967_295L;
    /**
     * @param tres by name, in the order of PriorityWeightTRES
     * @param site as set
     */
    public record Factors(
            double age,
            double fairShare,
            double size,
            double partition,
            double qos,
            double assoc,
            Map<String, Double> tres,
            long site) {}

    private final State state;
    private final long now;
    private final PriorityOptions options;
    private final PriorityOptions.Weights weights;
    private final boolean active;
    private final FairShare shares;
    private final long totalNodes;
    private final long totalCpus;
    private final double mostPartition;
    private final double mostQos;
    private final double mostAssoc;

    public Priorities(State state, long nowSeconds) {
        this.state = state;
        this.now = nowSeconds;
        this.options = state.settings().options().priority();
        this.weights = options.weights();
        this.active = options.multifactor();
        this.shares = FairShare.of(state);
        totalNodes = state.nodes().size();
        totalCpus = active
                ? state.nodes().values().stream()
                        .mapToLong(n -> n.spec().cpus())
                        .sum()
                : 0;
        mostPartition = state.partitions().values().stream()
                .mapToInt(p -> p.info().priorityJobFactor())
                .max()
                .orElse(0);
        mostQos = state.accounts().qos().values().stream()
                .mapToDouble(q -> number(q.limits(), "Priority"))
                .max()
                .orElse(0);
        mostAssoc = state.accounts().assocs().values().stream()
                .mapToDouble(a -> number(a.limits(), "Priority"))
                .max()
                .orElse(0);
    }

    public static boolean isActive(Settings settings) {
        return settings.options().priority().multifactor();
    }

    private static double number(Map<String, String> limits, String name) {
        String text = limits.getOrDefault(name, "");
        return text.matches("-?[0-9]{1,10}") ? Long.parseLong(text) : 0;
    }

    public boolean isActive() {
        return active;
    }

    private boolean raw(Flag what) {
        return options.has(Flag.NO_NORMAL_ALL) || options.has(what);
    }

    /** Returns the values of PriorityWeight…. */
    public PriorityOptions.Weights weights() {
        return weights;
    }

    /** INCR_ONLY: a priority never falls by itself. */
    public boolean onlyRises() {
        return options.has(Flag.INCR_ONLY);
    }

    /** Tests whether the priority was set by hand, and so is not computed. */
    public static boolean isFixed(Job job) {
        return job.desc().timing().prioritySet() && job.desc().timing().priority() > 0;
    }

    /** Returns the highest priority of a job in its partitions; 0 while it is held. */
    public long of(Job job) {
        if (!active || job.isHeld()) {
            return job.priority();
        }
        if (job.has(JobFlag.EXPEDITING)) {
            return EXPEDITED;
        }
        if (isFixed(job)) {
            return job.desc().timing().priority();
        }
        long best = 1;
        for (String name : job.desc().partitionList()) {
            best = Math.max(best, of(job, name));
        }
        return best;
    }

    /** Returns the priority of a job in one of its partitions, at least 1. */
    public long of(Job job, String partition) {
        if (job.has(JobFlag.EXPEDITING)) {
            return EXPEDITED;
        }
        if (isFixed(job)) {
            return job.desc().timing().priority();
        }
        Factors f = factors(job, partition);
        double sum = f.age * weights.age()
                + f.fairShare * weights.fairShare()
                + f.size * weights.size()
                + f.partition * weights.partition()
                + f.qos * weights.qos()
                + f.assoc * weights.assoc()
                + f.site;
        for (Map.Entry<String, Double> t : f.tres.entrySet()) {
            sum += t.getValue() * weights.tresWeight(t.getKey());
        }
        return Math.max(1, (long) sum - job.desc().timing().nice());
    }

    public Factors factors(Job job, String partition) {
        JobDesc d = job.desc();
        Optional<Partition> p = state.partitions().find(partition);
        Optional<AssocPolicy> a =
                state.accounts().assoc(d.owner().user(), d.charge().account(), partition);
        double ofPartition = p.map(x -> (double) x.info().priorityJobFactor()).orElse(0.0);
        double ofQos = state.accounts()
                .qos(d.charge().firstQos())
                .map(q -> number(q.limits(), "Priority"))
                .orElse(0.0);
        double ofAssoc = a.map(x -> number(x.limits(), "Priority")).orElse(0.0);
        return new Factors(
                weights.age() == 0 ? 0 : age(job),
                weights.fairShare() == 0 ? 0 : a.map(x -> shares.factor(x.id())).orElse(0.0),
                weights.size() == 0 ? 0 : size(job),
                normal(ofPartition, mostPartition, Flag.NO_NORMAL_PART),
                normal(ofQos, mostQos, Flag.NO_NORMAL_QOS),
                normal(ofAssoc, mostAssoc, Flag.NO_NORMAL_ASSOC),
                tres(job, p),
                d.timing().siteFactor());
    }

    private double normal(double value, double max, Flag what) {
        if (raw(what)) {
            return value;
        }
        if (max > 0) {
            return value / max;
        }
        return 0;
    }

    private double age(Job job) {
        long since = options.has(Flag.ACCRUE_ALWAYS) ? job.submitTime() : accrueTime(state, job);
        long longestS = options.maxAgeS();
        long until = job.run().startTime() > 0 ? job.run().startTime() : now;
        // no part of an unlimited time passes
        if (since == 0 || until <= since || longestS < 0) {
            return 0;
        }
        if (longestS == 0) {
            return 1;
        }
        return Math.min(1, (double) (until - since) / longestS);
    }

    /** Returns since when a job grows older; 0 if it does not. */
    public static long accrueTime(State state, Job job) {
        if (job.accrueTime() < Job.KEPT_YOUNG) {
            return -job.accrueTime();
        }
        boolean own = job.accrueTime() != 0 && state.accounts().limitsAccrual();
        return own ? Math.max(0, job.accrueTime()) : job.eligibleTime();
    }

    private double size(Job job) {
        boolean small = options.favorsSmall();
        if (options.has(Flag.SMALL_RELATIVE_TO_TIME)) {
            int limit = job.run().startTime() > 0
                    ? job.run().limitMin()
                    : state.partitions()
                            .find(job.desc().firstPartition())
                            .map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                            .orElse(-1);
            // no smaller than the nodes that it has to have, at the average of their CPUs; without a limit it is as
            // nothing
            double cpus = Math.max(
                    TresCounts.cpus(job), (double) TresCounts.nodes(job) * totalCpus / Math.max(1, totalNodes));
            double part = limit <= 0 ? 0 : cpus / limit / Math.max(1, totalCpus);
            return small ? 1 - Math.min(1, part) : Math.min(1, part);
        }
        double ofNodes = (double) TresCounts.nodes(job) / Math.max(1, totalNodes);
        double ofCpus = (double) TresCounts.cpus(job) / Math.max(1, totalCpus);
        double part = (Math.min(1, ofNodes) + Math.min(1, ofCpus)) / 2;
        return small ? 1 - part : part;
    }

    private Map<String, Double> tres(Job job, Optional<Partition> partition) {
        Map<String, Double> out = new TreeMap<>();
        if (weights.tres().isEmpty() || partition.isEmpty()) {
            return out;
        }
        List<Node> members = new ArrayList<>();
        partition.get().nodes().forEach(n -> state.nodes().find(n).ifPresent(members::add));
        String name = partition.get().info().name();
        TresCounts all = TresCounts.of(state, members);
        Map<String, Long> total = all.byName(all.billing(state, name));
        TresCounts counts = TresCounts.of(state, job);
        if (job.run().allocation().isEmpty()
                && PartitionLimits.saysNoMemory(
                        job.desc().request(),
                        PartitionLimits.memory(job.desc().request(), partition.get(), state.settings()))) {
            long whole =
                    members.stream().mapToLong(n -> n.spec().memoryMb()).max().orElse(0);
            counts = new TresCounts(counts.cpus(), whole * counts.nodes(), counts.nodes(), counts.gres());
        }
        Map<String, Long> asked = counts.byName(counts.billing(state, name));
        for (String tres : weights.tres().keySet()) {
            double part = asked.getOrDefault(tres, 0L);
            double whole = total.getOrDefault(tres, 0L);
            double fraction = whole > 0 ? part / whole : 0;
            out.put(tres, raw(Flag.NO_NORMAL_TRES) ? part : fraction);
        }
        return out;
    }
}
