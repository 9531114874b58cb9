package dev.muster.core.limits;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Shares;
import dev.muster.model.job.JobReason;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Limits that several payers share, in the order in which they are tested: what is left below each is looked up once
 * for all payers. As long as none of their jobs starts or ends, limits in minutes are compared with an upper bound of
 * the minutes used; the exact sum is computed only for a job that exceeds the bound.
 */
final class SharedLimits {
    /** Name that stands for the number of running jobs, in place of a resource. */
    static final String JOBS = "jobs";

    /**
     * Kind of amount that counts beside the job: amounts that run; minutes that running jobs may still use; minutes
     * used; the fair share.
     */
    enum Kind {
        RUNNING,
        COMING,
        USED,
        SHARE
    }

    /** @param what a resource by Slurm's name, {@link #JOBS}, or {@link Shares#WALL} */
    record Bound(Kind kind, String what, long max, JobReason reason) {}

    /**
     * The holder whose used minutes count.
     *
     * @param members payers that may have added minutes since the last charge
     * @param factor what the job's own minutes count against them
     * @param safe those of running jobs and its own count as well
     */
    record Meter(boolean ofQos, int id, Predicate<AccountUse.Payer> members, double factor, boolean safe) {}

    private record MeterKey(boolean ofQos, int id) {}

    /** Stands for a sum before the first {@link #refresh}; nothing changes it. */
    private static final AccountUse.Sum UNREAD = new AccountUse.Sum();
    /** Stands for amounts that were not computed yet: no other array is this one. */
    private static final long[] NOT_COMPUTED = {};

    /** Place among the limits that a job has for itself: {@link JobLimits.Broken#place}. */
    private final int place;

    private final List<Bound> bounds;
    private final Function<AccountUse, AccountUse.Sum> of;
    private final Optional<Meter> meter;
    /** Test of {@link Kind#SHARE}: whether the fair share is too low. */
    private final Predicate<AccountRules> low;

    private int epoch = -1;
    private AccountUse.Sum sum = UNREAD;
    private long version;
    private long era = -1;
    private int[] numbers = new int[0];
    private long[] left = new long[0];
    /** The most that anybody asks for; whether these numbers of what is left suffice for that. */
    private long[] mostAsked = new long[0];

    private long[] ampleFor = NOT_COMPUTED;
    private boolean ample;
    private long[] exact = new long[0];
    private long[] exactVersion = new long[0];
    private long[] exactSecond = new long[0];
    /** Numbers of the payers under the limit. */
    private final BitSet payers = new BitSet();
    /** Amounts left at the last call of {@link #takeChange}, and whether they sufficed for all payers. */
    private long[] seen = NOT_COMPUTED;

    private boolean seenAmple;
    /** Used up for certain until usage is charged anew. */
    private Shares[] spent = new Shares[0];

    SharedLimits(
            int place,
            List<Bound> bounds,
            Function<AccountUse, AccountUse.Sum> of,
            Optional<Meter> meter,
            Predicate<AccountRules> low) {
        this.place = place;
        this.bounds = bounds;
        this.of = of;
        this.meter = meter;
        this.low = low;
    }

    int place() {
        return place;
    }

    List<Bound> bounds() {
        return bounds;
    }

    /**
     * Returns the reason of a limit that a job with these resources and minutes exceeds: of one on jobs, on minutes, or
     * on nodes that the job exceeds by itself, otherwise of the first.
     *
     * @param on the nodes, none before they are chosen
     */
    Optional<JobReason> broken(
            Map<String, Long> wanted, Map<String, Long> minutes, Allocation on, AccountUse use, AccountRules rules) {
        AccountUse.Sum beside = of.apply(use);
        Optional<JobReason> first = Optional.empty();
        for (Bound b : bounds) {
            if (first.isPresent() && b.kind != Kind.RUNNING) {
                return first;
            }
            long now = b.what.equals(JOBS) ? 1 : wanted.getOrDefault(b.what, 0L);
            boolean broken = isOfNodes(b) && !on.isEmpty()
                    ? areTooMany(b, beside, on)
                    : asked(b, now, minutes.getOrDefault(b.what, 0L)) > left(b, beside, rules);
            if (broken && isReported(b, now)) {
                return Optional.of(b.reason);
            }
            first = broken && first.isEmpty() ? Optional.of(b.reason) : first;
        }
        return first;
    }

    /**
     * Tests whether the limit is reported: nothing of the same limit that is looked at later is reported instead of it.
     *
     * @param now the resources that the job asks for
     */
    private static boolean isReported(Bound b, long now) {
        return b.kind != Kind.RUNNING || b.what.equals(JOBS) || b.what.equals(AccountUse.NODE) && now > b.max;
    }

    /** Returns the reasons of all limits on running jobs that these resources exceed. */
    List<JobReason> allBroken(Map<String, Long> wanted, AccountUse use, AccountRules rules) {
        AccountUse.Sum beside = of.apply(use);
        return bounds.stream()
                .filter(b -> (b.what.equals(JOBS) ? 1 : wanted.getOrDefault(b.what, 0L)) > left(b, beside, rules))
                .map(Bound::reason)
                .toList();
    }

    /**
     * Tests for a limit on nodes, of which those count once that several jobs share: how many come with a job is known
     * when they are chosen.
     */
    private static boolean isOfNodes(Bound b) {
        return b.kind == Kind.RUNNING && b.what.equals(AccountUse.NODE);
    }

    private static boolean areTooMany(Bound b, AccountUse.Sum beside, Allocation on) {
        return beside.has(AccountUse.NODE) + beside.newNodes(on) > b.max;
    }

    /** Returns the nodes in use under a limit that counts nodes; empty if there is no such limit. */
    Optional<Set<String>> nodes(AccountUse use) {
        return bounds.stream().anyMatch(SharedLimits::isOfNodes)
                ? Optional.of(of.apply(use).nodes())
                : Optional.empty();
    }

    private long asked(Bound b, long now, long minutes) {
        return switch (b.kind) {
            case RUNNING -> now;
            case COMING -> minutes;
            case USED -> {
                if (isSafe(b)) {
                    yield (long) (minutes * meter.get().factor);
                }
                if (isWhole(b)) {
                    yield minutes;
                }
                yield 0;
            }
            case SHARE -> 0;
        };
    }

    /**
     * Tests whether the job's own time limit must fit below the limit, whatever others have used of it: GrpWall with
     * "safe".
     */
    private boolean isWhole(Bound b) {
        return meter.get().safe && b.what.equals(Shares.WALL);
    }

    private boolean isSafe(Bound b) {
        return meter.get().safe && !b.what.equals(Shares.WALL);
    }

    /**
     * Returns the amount that is left now; where the job's own amount makes no difference, everything or less than
     * nothing.
     */
    private long left(Bound b, AccountUse.Sum beside, AccountRules rules) {
        return b.kind == Kind.USED
                ? left(b, beside, rules, rules.usedMin(meter.get().ofQos, meter.get().id, b.what))
                : certain(b, beside, rules);
    }

    private static long running(Bound b, AccountUse.Sum beside) {
        if (b.what.equals(JOBS)) {
            return beside.running;
        }
        return isOfNodes(b) ? beside.unnamedNodes() : beside.has(b.what);
    }

    private long certain(Bound b, AccountUse.Sum beside, AccountRules rules) {
        return switch (b.kind) {
            case RUNNING -> b.max - running(b, beside);
            case COMING -> b.max - beside.leftMin(b.what, rules.tickMs());
            case SHARE -> low.test(rules) ? -1 : Long.MAX_VALUE;
            case USED -> throw new IllegalStateException("usage is looked up");
        };
    }

    private long left(Bound b, AccountUse.Sum beside, AccountRules rules, long usedMin) {
        if (isSafe(b)) {
            return b.max - usedMin - beside.leftMin(b.what, rules.tickMs());
        }
        if (usedMin >= b.max) {
            return -1;
        }
        if (isWhole(b)) {
            return b.max;
        }
        return Long.MAX_VALUE;
    }

    // ---- for many jobs

    /** Gives the resources their numbers in {@link LimitCache.RequestedAmounts}. */
    void number(Function<String, Integer> number) {
        numbers = bounds.stream().mapToInt(b -> number.apply(b.what)).toArray();
        left = new long[numbers.length];
        mostAsked = new long[numbers.length];
        exact = new long[numbers.length];
        exactVersion = new long[numbers.length];
        exactSecond = new long[numbers.length];
        spent = new Shares[numbers.length];
        java.util.Arrays.fill(exactVersion, -1);
    }

    /**
     * Returns the number of the first bound for which the job may be too much; -1 if there is none. What was used is
     * not added up.
     */
    int doubtful(LimitCache.RequestedAmounts asked, LimitCache book, int from) {
        refresh(book);
        for (int k = from; k < numbers.length; k++) {
            if (!asked.on().isEmpty() && isOfNodes(bounds.get(k))) {
                if (areTooMany(bounds.get(k), sum, asked.on())) {
                    return k;
                }
            } else if (asked(bounds.get(k), asked.now(numbers[k]), asked.minutes(numbers[k])) > left[k]) {
                return k;
            }
        }
        return -1;
    }

    /** Notes the request of a payer under the limit, of which the largest counts. */
    void most(LimitCache.RequestedAmounts asked) {
        for (int k = 0; k < numbers.length; k++) {
            mostAsked[k] =
                    Math.max(mostAsked[k], asked(bounds.get(k), asked.now(numbers[k]), asked.minutes(numbers[k])));
        }
        ampleFor = NOT_COMPUTED;
    }

    /** Tests whether it is certain that the limit blocks no job of its payers. */
    boolean coversAll(LimitCache book) {
        refresh(book);
        if (ampleFor != left) {
            ampleFor = left;
            ample = true;
            for (int k = 0; k < numbers.length; k++) {
                ample &= mostAsked[k] <= left[k];
            }
        }
        return ample;
    }

    void holdsOf(int payer) {
        payers.set(payer);
    }

    IntStream payers() {
        return payers.stream();
    }

    /**
     * Tests whether another amount is left than at the last call, and did not or does not suffice for all payers. Notes
     * the amount for the next call.
     */
    boolean takeChange(LimitCache book) {
        refresh(book);
        if (seen == left) {
            return false;
        }
        boolean before = seenAmple;
        seen = left;
        seenAmple = coversAll(book);
        return !(before && seenAmple);
    }

    /** Returns the reason that is reported of the bounds for which the job is too much. */
    Optional<JobReason> broken(LimitCache.RequestedAmounts asked, LimitCache book) {
        Optional<JobReason> first = Optional.empty();
        for (int k = doubtful(asked, book, 0); k >= 0; k = doubtful(asked, book, k + 1)) {
            Bound b = bounds.get(k);
            if (first.isPresent() && b.kind != Kind.RUNNING) {
                return first;
            }
            if (!goesByTime(k, book)
                    || asked(b, asked.now(numbers[k]), asked.minutes(numbers[k])) > exact(k, book, asked)) {
                if (isReported(b, asked.now(numbers[k]))) {
                    return Optional.of(b.reason);
                }
                first = first.isEmpty() ? Optional.of(b.reason) : first;
            }
        }
        return first;
    }

    private boolean goesByTime(int k, LimitCache book) {
        Bound b = bounds.get(k);
        return b.kind == Kind.COMING || b.kind == Kind.USED && (isSafe(b) || spent[k] != book.shares());
    }

    private long exact(int k, LimitCache book, LimitCache.RequestedAmounts asked) {
        asked.goesByTime();
        if (exactVersion[k] != version || exactSecond[k] != book.second()) {
            exactVersion[k] = version;
            exactSecond[k] = book.second();
            Bound b = bounds.get(k);
            exact[k] = left(b, sum, book.rules());
            if (b.kind == Kind.USED && !isSafe(b) && exact[k] < 0) {
                spent[k] = book.shares();
            }
        }
        return exact[k];
    }

    private void refresh(LimitCache book) {
        AccountUse use = book.use();
        if (epoch != use.epoch()) {
            epoch = use.epoch();
            sum = of.apply(use);
            sum.readers.add(this);
            version = -1;
        }
        if (version == sum.version() && era == book.era()) {
            return;
        }
        version = sum.version();
        era = book.era();
        left = new long[numbers.length];
        for (int k = 0; k < left.length; k++) {
            Bound b = bounds.get(k);
            left[k] = b.kind == Kind.USED
                    ? left(b, sum, book.rules(), mostUsedMin(b, book))
                    : certain(b, sum, book.rules());
        }
    }

    /**
     * Returns an upper bound of the minutes used until the cache renews its numbers; only jobs that ran since the last
     * charge can have added to it.
     */
    private long mostUsedMin(Bound b, LimitCache book) {
        Meter m = meter.get();
        AccountUse.Sum ran = book.use().of(new MeterKey(m.ofQos, m.id), m.members);
        long had = book.charged(m.ofQos, m.id, b.what);
        double since = (b.what.equals(Shares.WALL) ? ran.ran : ran.gross.getOrDefault(b.what, 0L)) * book.mostPerUnit();
        return (long) Math.min(Long.MAX_VALUE / 4.0, (had + since) / (60 * FairShare.UNIT) + 1);
    }
}
