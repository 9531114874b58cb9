package dev.muster.core.limits;

import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Resources in the queue and on nodes by user, account, partition and QOS. It is kept beside the state and fed by the
 * same entries, so that no limit scans the job table.
 */
public final class AccountUse {
    /** Jobs that are charged together: same user, account, partition and QOS. */
    public record Payer(String user, String account, String partition, String qos) {
        String firstPartition() {
            return JobDesc.first(partition);
        }

        // as of Due's names
        @Override
        public boolean equals(Object other) {
            return other instanceof Payer p
                    && user.equals(p.user)
                    && account.equals(p.account)
                    && partition.equals(p.partition)
                    && qos.equals(p.qos);
        }

        @Override
        public int hashCode() {
            return ((user.hashCode() * 31 + account.hashCode()) * 31 + partition.hashCode()) * 31 + qos.hashCode();
        }
    }

    public static final class Sum {
        /** Jobs in the queue or on nodes, tasks counted singly. */
        public int submitted;

        public int running;
        public final Map<String, Long> tres = new TreeMap<>();
        /**
         * Number of running jobs by node, because a node that several jobs share counts once. Empty where no limit
         * counts nodes.
         */
        private final Map<String, Integer> nodes = new HashMap<>();
        /** Number of nodes that {@link #has} counts without their names. */
        private long unnamed;
        /** Grows with each change of what runs. */
        private long version;
        /**
         * Resources of the jobs that ran at any time since usage was last charged, or more; and the number of those
         * jobs.
         */
        final Map<String, Long> gross = new TreeMap<>();

        int ran;
        /** Limits that read this sum; and whether it is among the changed sums. */
        final List<SharedLimits> readers = new ArrayList<>();

        private boolean touched;
        /** Amounts of running jobs times the cluster time in seconds at which each job must end, by resource. */
        final Map<String, Long> until = new TreeMap<>();

        void add(Sum other, int sign) {
            version += other.running != 0 ? 1 : 0;
            if (sign > 0) {
                ran += other.ran;
                other.gross.forEach((name, count) -> gross.merge(name, count, Long::sum));
            }
            submitted += sign * other.submitted;
            running += sign * other.running;
            other.tres.forEach((name, count) -> tres.merge(name, sign * count, Long::sum));
            other.until.forEach((name, count) -> until.merge(name, sign * count, Long::sum));
            unnamed += sign * other.unnamed;
            other.nodes.forEach((node, jobs) -> nodes.merge(node, sign * jobs, (a, b) -> a + b == 0 ? null : a + b));
        }

        /** Returns how much of a resource the jobs have together. */
        long has(String name) {
            return name.equals(NODE) ? unnamed + nodes.size() : tres.getOrDefault(name, 0L);
        }

        /** Returns the number of nodes that count although it is not known which they are. */
        long unnamedNodes() {
            return unnamed;
        }

        /** Returns the number of nodes of the allocation on which none of these jobs runs. */
        long newNodes(Allocation a) {
            return a.nodes().stream().filter(s -> !nodes.containsKey(s.node())).count();
        }

        java.util.Set<String> nodes() {
            return java.util.Collections.unmodifiableSet(nodes.keySet());
        }

        private void on(Map<String, Long> amounts, Allocation a, boolean named) {
            tres.putAll(amounts);
            if (named) {
                a.nodes().forEach(s -> nodes.put(s.node(), 1));
            } else {
                unnamed = amounts.getOrDefault(NODE, 0L);
            }
        }

        /** Returns how much of a resource running jobs may still use, in amounts times minutes. */
        long leftMin(String name, long tickMs) {
            return Math.max(0, until.getOrDefault(name, 0L) - tres.getOrDefault(name, 0L) * (tickMs / 1000)) / 60;
        }

        private void ends(long limitTickMs) {
            tres.forEach((name, count) -> until.put(name, count * (limitTickMs / 1000)));
        }

        boolean isZero() {
            return submitted == 0 && running == 0;
        }

        /** Notes that usage was charged up to now. */
        private void charged() {
            ran = running;
            gross.clear();
            gross.putAll(tres);
        }

        long version() {
            return version;
        }
    }

    /** Minutes that count for a job without a time limit: a year. */
    static final long UNLIMITED_MIN = 525_600;
    /** The resource that jobs may have in common. */
    static final String NODE = "node";
    /** Limits on what runs together. */
    private static final List<String> TOGETHER = List.of("GrpTRES", "MaxTRESPU", "MaxTRESPA");

    private final Map<Payer, Sum> sums = new HashMap<>();
    /**
     * Sums over several payers, by their key, kept since the first question; and by payer the sums that it is part of.
     */
    private final Map<Object, MemberSum> kept = new HashMap<>();

    private final Map<Payer, List<Sum>> partOf = new HashMap<>();
    private int epoch;
    private long changes;
    /** Sums with readers that have changed since {@link #touched()} was last called. */
    private final List<Sum> touched = new ArrayList<>();
    /** A limit counts nodes: which ones run what is kept only then. */
    private boolean named;

    private record MemberSum(Predicate<Payer> members, Sum sum) {}

    /** Sums kept at most; above that all are computed anew when they are asked for. */
    private static final int KEPT_MAX = 100_000;

    /** Returns the epoch of the sums: those handed out in another epoch count no longer. */
    int epoch() {
        return epoch;
    }

    /** Returns a number that goes up with each change of what runs, and when sums are made anew. */
    public long changes() {
        return changes;
    }

    /**
     * Returns the sums that have changed since the last call, among those that a limit reads; sums of this
     * {@link #epoch} only.
     */
    List<Sum> touched() {
        List<Sum> out = List.copyOf(touched);
        out.forEach(s -> s.touched = false);
        touched.clear();
        return out;
    }

    private void forget() {
        changes++;
        kept.clear();
        partOf.clear();
        touched.clear();
        epoch++;
    }

    public void reset(State state) {
        forget();
        sums.clear();
        named = isNodeLimited(state.accounts());
        state.jobs().values().forEach(j -> {
            add(state, j, 1);
            long end = j.run().endTime();
            if (!j.state().isActive()
                    && j.run().startTime() > 0
                    && (end == 0 || end >= state.shares().time())) {
                Sum one = new Sum();
                one.ran = 1;
                one.gross.putAll(tres(state, j.desc(), j.run().allocation()));
                sums.computeIfAbsent(payer(j.desc()), p -> new Sum()).add(one, 1);
            }
        });
    }

    public void follow(State before, State after, Entry entry) {
        if (before.partitions() != after.partitions()) {
            // what an allocation is charged may have changed
            reset(after);
            return;
        }
        if (before.accounts() != after.accounts()) {
            if (named != isNodeLimited(after.accounts())) {
                reset(after);
                return;
            }
            forget();
        }
        if (before.shares() != after.shares()) {
            sums.values().removeIf(s -> s.isZero());
            sums.values().forEach(Sum::charged);
            kept.values().forEach(k -> k.sum.charged());
        }
        java.util.TreeSet<Integer> ids = new java.util.TreeSet<>();
        entry.changes().forEach(c -> ids.addAll(AffectedEntities.jobs(c)));
        for (int id : ids) {
            Optional<Job> was = before.jobs().find(id);
            Optional<Job> now = after.jobs().find(id);
            if (was.isEmpty() || now.isEmpty() || !sameOf(was.get(), now.get())) {
                was.ifPresent(j -> add(before, j, -1));
                now.ifPresent(j -> add(after, j, 1));
            }
        }
    }

    private static boolean isNodeLimited(Accounts accounts) {
        return accounts.assocs().values().stream().anyMatch(a -> isNodeLimited(a.limits()))
                || accounts.qos().values().stream().anyMatch(q -> isNodeLimited(q.limits()));
    }

    private static boolean isNodeLimited(Map<String, String> limits) {
        return TOGETHER.stream().anyMatch(key -> LimitValues.tres(limits, key).containsKey(NODE));
    }

    /** Tests whether two versions of a job count the same. */
    private static boolean sameOf(Job was, Job now) {
        return was.state().isActive()
                && now.state().isActive()
                && was.desc() == now.desc()
                && was.run().allocation() == now.run().allocation()
                && was.run().limitTickMs() == now.run().limitTickMs()
                && was.run().sinceTickMs() == now.run().sinceTickMs();
    }

    static Payer payer(JobDesc d) {
        return new Payer(
                d.owner().user(),
                d.charge().account(),
                d.partition(),
                d.charge().firstQos());
    }

    private void add(State state, Job job, int sign) {
        if (job.state().isTerminal()) {
            return;
        }
        Sum one = new Sum();
        boolean active = job.state().isActive();
        if (job.isArrayRecord()) {
            one.submitted = job.array().pending().count();
        } else if (job.state() == JobState.PENDING || active) {
            one.submitted = 1;
        }

        one.running = active ? 1 : 0;
        if (active) {
            one.on(tres(state, job.desc(), job.run().allocation()), job.run().allocation(), named);
            one.ends(
                    job.run().limitTickMs() >= 0
                            ? job.run().limitTickMs()
                            : job.run().sinceTickMs() + UNLIMITED_MIN * 60_000);
            one.ran = 1;
            one.gross.putAll(one.tres);
        }
        add(payer(job.desc()), one, sign);
    }

    private void add(Payer payer, Sum one, int sign) {
        if (one.isZero()) {
            return;
        }
        changes += one.running != 0 ? 1 : 0;
        Sum sum = sums.computeIfAbsent(payer, p -> new Sum());
        sum.add(one, sign);
        for (Sum whole : kept.isEmpty() ? List.<Sum>of() : partOf.computeIfAbsent(payer, this::wholes)) {
            whole.add(one, sign);
            if (!whole.touched && !whole.readers.isEmpty()) {
                whole.touched = true;
                touched.add(whole);
            }
        }
        if (sum.isZero() && sum.ran == 0) {
            sums.remove(payer);
        }
    }

    /** Counts a start that has no record yet, within its pass. */
    public void started(State state, JobDesc desc, Allocation allocation, int limitMin, int sign) {
        Sum one = new Sum();
        one.running = 1;
        one.on(tres(state, desc, allocation), allocation, named);
        int hardMin = SoftLimit.hard(desc, limitMin, state);
        one.ends(state.tickMs() + (hardMin < 0 ? UNLIMITED_MIN : hardMin) * 60_000);
        add(payer(desc), one, sign);
    }

    /** Counts a job as if it ran with these resources. */
    void planned(JobDesc desc, Map<String, Long> tres) {
        Sum one = new Sum();
        one.running = 1;
        one.on(tres, Allocation.NONE, false);
        add(payer(desc), one, 1);
    }

    /** Returns the amounts that limits count for an allocation. */
    public static Map<String, Long> tres(State state, JobDesc desc, Allocation a) {
        return held(state, desc, TresCounts.of(state, a).counted(state, desc));
    }

    /** Drops memory in partitions that do not allocate it: the job takes none from others there. */
    static Map<String, Long> held(State state, JobDesc desc, Map<String, Long> counted) {
        if (!state.memoryConsumed(desc)) {
            counted.remove("mem");
        }
        return counted;
    }

    private List<Sum> wholes(Payer payer) {
        List<Sum> out = new ArrayList<>();
        kept.values().forEach(k -> {
            if (k.members.test(payer)) {
                out.add(k.sum);
            }
        });
        return out;
    }

    /**
     * Returns the sum over the payers that fit, to be read only.
     *
     * @param key what it is the sum of: equal keys have the same members until the policy or the partitions change
     * @param members must not hold on to a state
     */
    Sum of(Object key, Predicate<Payer> members) {
        if (kept.size() >= KEPT_MAX) {
            forget();
        }
        MemberSum known = kept.get(key);
        if (known == null) {
            Sum sum = new Sum();
            sums.forEach((payer, own) -> {
                if (members.test(payer)) {
                    sum.add(own, 1);
                }
            });
            partOf.forEach((payer, wholes) -> {
                if (members.test(payer)) {
                    wholes.add(sum);
                }
            });
            known = new MemberSum(members, sum);
            kept.put(key, known);
        }
        return known.sum;
    }
}
