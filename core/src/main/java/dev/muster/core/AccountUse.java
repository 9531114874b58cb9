package dev.muster.core;

import dev.muster.model.JobDesc;
import dev.muster.model.JobState;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Who has how much in the queue and on nodes, by user, account, partition and QOS: kept beside the state, fed by the same entries,
 * so that no limit scans the job table.
 */
public final class AccountUse {
    /** Those who are charged together. */
    public record Payer(String user, String account, String partition, String qos) {}

    /** @param submitted jobs in the queue or on nodes, tasks counted singly */
    public static final class Sum {
        public int submitted;
        public int running;
        public final Map<String, Long> tres = new TreeMap<>();
        /** Of running jobs: amounts times the cluster time in seconds at which each must end. */
        final Map<String, Long> until = new TreeMap<>();

        void add(Sum other, int sign) {
            submitted += sign * other.submitted;
            running += sign * other.running;
            other.tres.forEach((name, count) -> tres.merge(name, sign * count, Long::sum));
            other.until.forEach((name, count) -> until.merge(name, sign * count, Long::sum));
        }

        /** What running jobs may still use, in amounts times minutes. */
        long leftMin(String name, long tickMs) {
            return Math.max(0, until.getOrDefault(name, 0L) - tres.getOrDefault(name, 0L) * (tickMs / 1000)) / 60;
        }

        private void ends(long limitTickMs) {
            tres.forEach((name, count) -> until.put(name, count * (limitTickMs / 1000)));
        }

        boolean isZero() {
            return submitted == 0 && running == 0;
        }
    }

    /** What counts for a job without a time limit: a year. */
    static final long UNLIMITED_MIN = 525_600;
    private final Map<Payer, Sum> sums = new HashMap<>();

    public void reset(State state) {
        sums.clear();
        state.jobs().values().forEach(j -> add(state, j, 1));
    }

    public void follow(State before, State after, Entry entry) {
        if (before.partitions() != after.partitions()) {
            // what an allocation is charged may have changed
            reset(after);
            return;
        }
        java.util.TreeSet<Integer> ids = new java.util.TreeSet<>();
        entry.changes().forEach(c -> ids.addAll(Touched.jobs(c)));
        for (int id : ids) {
            before.jobs().find(id).ifPresent(j -> add(before, j, -1));
            after.jobs().find(id).ifPresent(j -> add(after, j, 1));
        }
    }

    static Payer payer(JobDesc d) {
        return new Payer(d.owner().user(), d.charge().account(), d.partition(), d.charge().firstQos());
    }

    private void add(State state, Job job, int sign) {
        if (job.state().isTerminal()) {
            return;
        }
        Sum one = new Sum();
        boolean active = job.state().isActive();
        one.submitted = job.isArrayRecord() ? job.array().pending().count() : job.state() == JobState.PENDING || active ? 1 : 0;
        one.running = active ? 1 : 0;
        if (active) {
            one.tres.putAll(tres(state, job.desc(), job.run().allocation()));
            one.ends(job.run().limitTickMs() >= 0 ? job.run().limitTickMs() : job.run().sinceTickMs() + UNLIMITED_MIN * 60_000);
        }
        add(payer(job.desc()), one, sign);
    }

    private void add(Payer payer, Sum one, int sign) {
        if (one.isZero()) {
            return;
        }
        Sum sum = sums.computeIfAbsent(payer, p -> new Sum());
        sum.add(one, sign);
        if (sum.isZero()) {
            sums.remove(payer);
        }
    }

    /** A start that has no record yet counts within its pass. */
    public void started(State state, JobDesc desc, Allocation allocation, int limitMin, int sign) {
        Sum one = new Sum();
        one.running = 1;
        one.tres.putAll(tres(state, desc, allocation));
        one.ends(state.tickMs() + (limitMin < 0 ? UNLIMITED_MIN : limitMin) * 60_000);
        add(payer(desc), one, sign);
    }

    /** A job that would run with so much. */
    void planned(JobDesc desc, Map<String, Long> tres) {
        Sum one = new Sum();
        one.running = 1;
        one.tres.putAll(tres);
        add(payer(desc), one, 1);
    }

    /** What an allocation counts as. */
    public static Map<String, Long> tres(State state, JobDesc desc, Allocation a) {
        Amounts amounts = Amounts.of(a);
        return amounts.byName(amounts.billing(state, desc.partition()));
    }

    /** The sum over those that fit. */
    Sum of(Predicate<Payer> fits) {
        Sum out = new Sum();
        sums.forEach((payer, sum) -> {
            if (fits.test(payer)) {
                out.add(sum, 1);
            }
        });
        return out;
    }
}
