package dev.muster.core.limits;

import static java.util.Objects.requireNonNull;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Shares;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limit verdicts for many waiting jobs: the same as {@link AccountRules#blocks} for each, but with the limits parsed
 * once per policy. One test with the largest request of a payer stands for all its jobs.
 */
public final class LimitCache {
    /** Mark in {@link #free}: no shared limit blocks any job of the payer. */
    public static final byte FREE = 1;
    /** Mark in {@link #free}: shared limits may block jobs of the payer. */
    private static final byte DOUBTFUL = 2;
    /** Seconds for which an overestimate of the minutes used is kept. */
    private static final long HOLDS_S = 60;

    private final Map<AccountUse.Payer, Payer> payers = new HashMap<>();
    private final List<Payer> byNumber = new ArrayList<>();
    private final Map<Object, SharedLimits> gauges = new HashMap<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<Integer, QueuedRequest> asking = new HashMap<>();
    private State state = State.EMPTY;
    private AccountRules rules = new AccountRules(State.EMPTY);
    private AccountUse use = new AccountUse();
    private Shares shares = Shares.NONE;
    private long era;
    /** Mark by number of the payer, counted from 1: {@link #FREE}, {@link #DOUBTFUL}, or 0 where it must be tested. */
    private byte[] free = {DOUBTFUL};
    /** Version of the running jobs for which {@link #free} was last computed; with the era and epoch of the sums. */
    private long seenChanges = -1;

    private long seenEra = -1;
    private int seenEpoch = -1;
    private long eraS;
    private long eraMs;
    /** Usage charged until the last time, of each association with those below it. */
    private Map<Integer, Map<String, Long>> charged = Map.of();

    private long second;
    private double mostPerUnit;

    /** A payer with all limits that it shares with others. */
    private static final class Payer {
        private final List<SharedLimits> limits;
        private final int number;
        /** The most that one of its jobs asks for; null before the first. */
        private @Nullable RequestedAmounts largest;

        private Payer(List<SharedLimits> limits, int number) {
            this.limits = limits;
            this.number = number;
        }
    }

    /** Amounts of a job that limits count, with the last verdict on them. */
    public static final class RequestedAmounts {
        private final Payer payer;
        /**
         * Reason of the first limit that the job breaks whatever other jobs have. Shared limits of lower {@link #place}
         * are reported instead of it.
         */
        private final JobReason alone;

        private final int place;
        private final long[] now;
        private final long[] minutes;
        private JobReason reason = JobReason.NONE;
        private long changes = -1;
        private long era = -1;
        private long second = -1;
        private boolean timed;

        private final Allocation on;

        private RequestedAmounts(Payer payer, Optional<JobLimits.Broken> alone, int size, Allocation on) {
            this.on = on;
            this.payer = payer;
            this.alone = alone.map(JobLimits.Broken::reason).orElse(JobReason.NONE);
            this.place = alone.map(JobLimits.Broken::place).orElse(Integer.MAX_VALUE);
            this.now = new long[size];
            this.minutes = new long[size];
        }

        long now(int number) {
            return now[number];
        }

        long minutes(int number) {
            return minutes[number];
        }

        /** Returns the allocation on which the job would run; none before that is chosen. */
        Allocation on() {
            return on;
        }

        /** Tests that no limit which the job has for itself keeps it back. */
        public boolean isShared() {
            return alone == JobReason.NONE;
        }

        /** Returns the number of the job's payer. */
        public int payer() {
            return payer.number;
        }

        /** Notes that the verdict may be another one in a second. */
        void goesByTime() {
            timed = true;
        }
    }

    private record QueuedRequest(JobDesc desc, int limitMin, RequestedAmounts asked) {}

    /** Forgets everything, because the policy, nodes or partitions are others: all verdicts are to be made anew. */
    public void clear() {
        payers.clear();
        byNumber.clear();
        gauges.clear();
        numbers.clear();
        asking.clear();
        free = new byte[] {DOUBTFUL};
        era++;
        shares = Shares.NONE;
        eraS = Long.MIN_VALUE / 2;
    }

    /**
     * Sets the state that all later questions are about.
     *
     * @param nowS seconds since 1970
     */
    public void at(State state, AccountRules of, AccountUse counted, long nowS) {
        this.state = state;
        rules = of;
        use = counted;
        // what running jobs may still use shrinks by seconds of the cluster's time, what was used grows by those since
        // the last charge
        second = state.tickMs() / 1000 + (state.tickMs() - state.shares().tickMs()) / 1000;
        if (shares != state.shares()) {
            charged = rules.chargedBelow();
        } else if (nowS >= eraS && nowS <= eraS + HOLDS_S / 2 && state.tickMs() <= eraMs + HOLDS_S / 2 * 1000) {
            return;
        }
        shares = state.shares();
        eraS = nowS;
        eraMs = state.tickMs();
        era++;
        long sinceS = Math.max(nowS - shares.time(), (state.tickMs() - shares.tickMs()) / 1000 + 1);
        mostPerUnit = shares.time() == 0 ? 0 : rules.mostUsageFactor() * (sinceS + HOLDS_S) * FairShare.UNIT;
    }

    /** @param limitMin the time it would get, -1 without limit */
    public RequestedAmounts asked(JobDesc desc, int limitMin) {
        RequestedAmounts out =
                asked(desc, rules.of(desc, Allocation.NONE), Allocation.NONE, SoftLimit.hard(desc, limitMin, state));
        Payer payer = out.payer;
        RequestedAmounts largest = new RequestedAmounts(payer, Optional.empty(), out.now.length, Allocation.NONE);
        RequestedAmounts before = payer.largest;
        int known = before == null ? 0 : before.now.length;
        for (int n = 0; n < out.now.length; n++) {
            largest.now[n] = Math.max(out.now[n], before != null && n < known ? before.now[n] : 0);
            largest.minutes[n] = Math.max(out.minutes[n], before != null && n < known ? before.minutes[n] : 0);
        }
        if (before == null
                || !Arrays.equals(largest.now, before.now)
                || !Arrays.equals(largest.minutes, before.minutes)) {
            payer.largest = largest;
            free[payer.number + 1] = 0;
            payer.limits.forEach(g -> g.most(largest));
        }
        return out;
    }

    private RequestedAmounts asked(JobDesc desc, Map<String, Long> wanted, Allocation on, int limitMin) {
        Payer payer = payer(desc);
        RequestedAmounts out =
                new RequestedAmounts(payer, rules.brokenAlone(desc, wanted, limitMin), numbers.size(), on);
        Map<String, Long> minutes = AccountRules.minutes(wanted, limitMin);
        numbers.forEach((name, n) -> {
            out.now[n] = name.equals(SharedLimits.JOBS) ? 1 : wanted.getOrDefault(name, 0L);
            out.minutes[n] = minutes.getOrDefault(name, 0L);
        });
        return out;
    }

    private Payer payer(JobDesc desc) {
        return payers.computeIfAbsent(AccountUse.payer(desc), p -> {
            Payer made = new Payer(limits(desc), byNumber.size());
            byNumber.add(made);
            made.limits.forEach(g -> g.holdsOf(made.number));
            free = Arrays.copyOf(free, made.number + 2 <= free.length ? free.length : 2 * free.length + 64);
            return made;
        });
    }

    /**
     * Returns the nodes in use under the job's limits on nodes: on these the job adds nothing to the count. Empty if
     * there is no such limit.
     */
    public Optional<Set<String>> nodesInUse(JobDesc desc) {
        Optional<Set<String>> out = Optional.empty();
        for (SharedLimits gauge : rules.limited() ? payer(desc).limits : List.<SharedLimits>of()) {
            Optional<Set<String>> own = gauge.nodes(use);
            if (own.isPresent()) {
                Set<String> both = new HashSet<>(own.get());
                out.ifPresent(both::retainAll);
                out = Optional.of(both);
            }
        }
        return out;
    }

    private List<SharedLimits> limits(JobDesc desc) {
        List<SharedLimits> out = new ArrayList<>();
        if (rules.limited()) {
            new LimitHierarchy(
                            rules,
                            (key, made) -> gauges.computeIfAbsent(key, k -> {
                                SharedLimits gauge = made.get();
                                gauge.number(name -> numbers.computeIfAbsent(name, n -> numbers.size()));
                                return gauge;
                            }))
                    .all(desc, out::add);
        }
        return out;
    }

    /**
     * Returns why limits block the job, as {@link #blocks(RequestedAmounts)}; its amounts are kept until
     * {@link #forget}.
     */
    public JobReason blocks(int jobId, JobDesc desc, int limitMin) {
        QueuedRequest known = asking.get(jobId);
        if (known == null || known.desc != desc || known.limitMin != limitMin) {
            known = new QueuedRequest(desc, limitMin, asked(desc, limitMin));
            asking.put(jobId, known);
        }
        return blocks(known.asked);
    }

    public void forget(int jobId) {
        asking.remove(jobId);
    }

    /** Returns why limits keep the job from starting on this allocation, which is free; NONE if they do not. */
    public JobReason blocks(JobDesc desc, Allocation allocation, int limitMin) {
        return first(asked(desc, rules.of(desc, allocation), allocation, SoftLimit.hard(desc, limitMin, state)));
    }

    /** Returns why limits keep the job from starting whatever nodes are free; NONE if they do not. */
    public JobReason blocks(RequestedAmounts asked) {
        if (isFree(asked.payer.number)) {
            return asked.alone;
        }
        if (asked.changes != use.changes() || asked.era != era || asked.timed && asked.second != second) {
            asked.changes = use.changes();
            asked.era = era;
            asked.second = second;
            asked.timed = false;
            asked.reason = first(asked);
        }
        return asked.reason;
    }

    /** Tests whether it is certain that no shared limit blocks any job of the payer. */
    public boolean isFree(int number) {
        byte[] known = free();
        if (known[number + 1] == 0) {
            known[number + 1] = isBelow(byNumber.get(number)) ? FREE : DOUBTFUL;
        }
        return known[number + 1] == FREE;
    }

    /**
     * Returns what is known by number of the payer, counted from 1: {@link #FREE}, or another value where
     * {@link #isFree} must be called. The array holds until a job starts or ends or {@link #isFree} is called. Only
     * payers whose limits have other amounts left than before are tested again.
     */
    public byte[] free() {
        if (seenChanges == use.changes() && seenEra == era) {
            return free;
        }
        List<AccountUse.Sum> touched = use.touched();
        boolean all = seenEpoch != use.epoch() || seenEra != era;
        // as they are before anything is looked up: that may make all sums anew
        seenChanges = use.changes();
        seenEra = era;
        seenEpoch = use.epoch();
        if (all) {
            gauges.values().forEach(this::look);
        } else {
            touched.forEach(s -> s.readers.forEach(this::look));
        }
        return free;
    }

    private void look(SharedLimits gauge) {
        if (gauge.takeChange(this)) {
            gauge.payers().forEach(p -> free[p + 1] = 0);
        }
    }

    private boolean isBelow(Payer payer) {
        RequestedAmounts largest =
                requireNonNull(payer.largest, "asked() notes it before it returns the payer's number");
        for (SharedLimits gauge : payer.limits) {
            if (!gauge.coversAll(this) && gauge.doubtful(largest, this, 0) >= 0) {
                return false;
            }
        }
        return true;
    }

    private JobReason first(RequestedAmounts asked) {
        for (SharedLimits gauge : asked.payer.limits) {
            if (gauge.place() > asked.place) {
                break;
            }
            Optional<JobReason> broken = gauge.broken(asked, this);
            if (broken.isPresent()) {
                return broken.get();
            }
        }
        return asked.alone;
    }

    // what the gauges go by

    AccountUse use() {
        return use;
    }

    AccountRules rules() {
        return rules;
    }

    Shares shares() {
        return shares;
    }

    /**
     * Returns the thousandths of seconds that were charged until the last time to a QOS, or to an association and those
     * below it.
     */
    long charged(boolean ofQos, int id, String what) {
        return (ofQos ? rules.chargedOf(id) : charged.getOrDefault(id, Map.of())).getOrDefault(what, 0L);
    }

    /** Returns a number that goes up when numbers that go by time have to be made anew. */
    long era() {
        return era;
    }

    /** Returns a number that stays the same as long as no second passes in what is used or may still be used. */
    long second() {
        return second;
    }

    /**
     * Returns the thousandths of seconds that one unit of anything may have been used at most since the last charge.
     */
    double mostPerUnit() {
        return mostPerUnit;
    }
}
