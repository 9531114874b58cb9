package dev.muster.simulator.replay;

import dev.muster.scheduler.queue.RuntimeEstimator;
import dev.muster.scheduler.queue.Slowdown;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A fast replay on a machine of equal CPUs: what the product's pass does there ({@link CoreReplay}), counted instead of
 * chosen node by node. A test holds the two against each other. All times in seconds of the trace.
 */
final class FastReplay {
    /** A longer queue is put in order again only each {@link #SORT_S} seconds where its order changes with time. */
    private static final int LONG_QUEUE = 1000;

    private static final int SORT_S = 60;

    private final Policy policy;
    private final List<Trace.Job> jobs;
    private final long[] startS;
    private final boolean[] started;
    private final RuntimeEstimator expected = new RuntimeEstimator();
    private final Slowdown slowdown = new Slowdown();
    /**
     * Waiting jobs in order of submission, and as far as it differs in the order in which they are tried beside a
     * reservation.
     */
    private int[] queue = new int[64];

    private int[] fill = new int[64];
    private int waiting;
    private final double[] key;
    private final AvailabilityProfile running = new AvailabilityProfile();
    private final PriorityQueue<End> ends = new PriorityQueue<>(Comparator.comparingLong(End::atS));
    private final int cpus;
    /** Those that have begun at this moment. */
    private int[] fresh = new int[64];

    private int begun;
    private int free;
    private long nowS;
    private long sortedS = Long.MIN_VALUE;
    private int deepest;

    private record End(long atS, int index) {}

    FastReplay(Trace trace, Policy policy) {
        this.policy = policy;
        this.jobs = trace.jobs();
        this.startS = new long[jobs.size()];
        this.started = new boolean[jobs.size()];
        this.key = new double[jobs.size()];
        this.cpus = trace.cpus();
        this.free = cpus;
    }

    /** The longest the queue was. */
    int deepest() {
        return deepest;
    }

    /** Returns when each job of the trace started. */
    long[] replay() {
        int next = 0;
        while (next < jobs.size() || !ends.isEmpty()) {
            nowS = Math.min(
                    next < jobs.size() ? jobs.get(next).submitS() : Long.MAX_VALUE,
                    ends.isEmpty() ? Long.MAX_VALUE : ends.peek().atS);
            while (!ends.isEmpty() && ends.peek().atS == nowS) {
                end(ends.poll().index);
            }
            while (next < jobs.size() && jobs.get(next).submitS() == nowS) {
                enqueue(next++);
            }
            deepest = Math.max(deepest, waiting);
            if (waiting > 0 && free > 0) {
                schedule();
            }
        }
        return startS;
    }

    private void end(int index) {
        Trace.Job job = jobs.get(index);
        free += job.cpus();
        running.remove(startS[index] + job.limitS(), job.cpus());
        if (policy.expects()) {
            expected.learn(job.user(), job.limitS(), job.cpus(), job.runS());
            slowdown.ended(index, job.cpus(), job.runS());
        }
    }

    private void enqueue(int index) {
        if (waiting == queue.length) {
            queue = Arrays.copyOf(queue, waiting * 2);
            fill = Arrays.copyOf(fill, waiting * 2);
        }
        queue[waiting] = index;
        fill[waiting++] = index;
    }

    private void schedule() {
        begun = 0;
        boolean ruled = policy != Policy.SLOWDOWN || isSomebodyWide();
        if (ruled) {
            inOrder();
        } else {
            inOwnOrder();
        }
        int left = without(queue);
        without(fill);
        waiting = left;
        for (int i = 0; policy == Policy.SLOWDOWN && i < begun; i++) {
            Trace.Job job = jobs.get(fresh[i]);
            slowdown.waited(nowS, nowS - job.submitS());
            slowdown.began(fresh[i], "", job.submitS(), job.cpus(), expectedS(job));
        }
    }

    private boolean isSomebodyWide() {
        for (int i = 0; i < waiting; i++) {
            if (Slowdown.isWide(jobs.get(queue[i]).cpus(), cpus)) {
                return true;
            }
        }
        return false;
    }

    /** The first that waits has the reservation whose turn comes first. */
    private void inOwnOrder() {
        sort(false);
        int at = 0;
        while (at < waiting && jobs.get(fill[at]).cpus() <= free) {
            begin(fill[at++]);
        }
        if (at < waiting && free > 0) {
            beside(fill[at]);
        }
    }

    private void inOrder() {
        int head = 0;
        while (head < waiting && jobs.get(queue[head]).cpus() <= free) {
            begin(queue[head++]);
        }
        if (head < waiting && free > 0) {
            switch (policy) {
                case FCFS -> {}
                case CONSERVATIVE -> everybody();
                case EASY, SHORT, EXPECTED, SLOWDOWN -> {
                    sort(true);
                    beside(queue[head]);
                }
            }
        }
    }

    /** Returns how many are left of those that wait. */
    private int without(int[] order) {
        int to = 0;
        for (int i = 0; i < waiting; i++) {
            if (!started[order[i]]) {
                order[to++] = order[i];
            }
        }
        return to;
    }

    private void begin(int index) {
        Trace.Job job = jobs.get(index);
        started[index] = true;
        startS[index] = nowS;
        free -= job.cpus();
        ends.add(new End(nowS + job.runS(), index));
        running.add(nowS + job.limitS(), job.cpus());
        fresh = begun == fresh.length ? Arrays.copyOf(fresh, begun * 2) : fresh;
        fresh[begun++] = index;
    }

    /** What does not delay the first that waits: over by then, or on CPUs that it does not need. */
    private void beside(int head) {
        int needed = jobs.get(head).cpus();
        long shadow = running.whenFree(needed - free);
        int extra = free + running.freedBy(shadow) - needed;
        for (int i = 0; i < waiting && free > 0; i++) {
            int index = fill[i];
            Trace.Job job = jobs.get(index);
            if (started[index] || index == head || job.cpus() > free) {
                continue;
            }
            boolean over = nowS + job.limitS() <= shadow;
            if (over || job.cpus() <= extra) {
                extra -= over ? 0 : job.cpus();
                begin(index);
            }
        }
    }

    /** @param beside a wide job has the reservation */
    private void sort(boolean beside) {
        if (policy == Policy.EASY || waiting > LONG_QUEUE && nowS - sortedS < SORT_S) {
            return;
        }
        sortedS = nowS;
        long oldest = 0;
        for (int i = 0; i < waiting; i++) {
            oldest = Math.max(
                    oldest, started[queue[i]] ? 0 : nowS - jobs.get(queue[i]).submitS());
        }
        long longest = slowdown.longestS(nowS, oldest);
        for (int i = 0; i < waiting; i++) {
            key[fill[i]] = key(jobs.get(fill[i]), longest, beside);
        }
        // nearly in order already, but for the many that came or changed: then a merge sort is faster
        long moves = 0;
        for (int i = 1; i < waiting; i++) {
            int index = fill[i];
            int at = i - 1;
            while (at >= 0 && after(fill[at], index)) {
                fill[at + 1] = fill[at];
                at--;
            }
            fill[at + 1] = index;
            moves += i - 1 - at;
            if (moves > 32L * waiting) {
                int[] sorted = Arrays.stream(fill, 0, waiting)
                        .boxed()
                        .sorted(Comparator.comparingDouble((Integer j) -> key[j])
                                .thenComparingInt(j -> j))
                        .mapToInt(j -> j)
                        .toArray();
                System.arraycopy(sorted, 0, fill, 0, waiting);
                return;
            }
        }
    }

    private boolean after(int one, int other) {
        return key[one] > key[other] || key[one] == key[other] && one > other;
    }

    /** Lower goes first. */
    private double key(Trace.Job job, long longestS, boolean beside) {
        long waitS = nowS - job.submitS();
        return switch (policy) {
            case FCFS, EASY, CONSERVATIVE -> 0;
            case SHORT -> job.limitS();
            case EXPECTED -> expectedS(job);
            case SLOWDOWN ->
                slowdown.key(
                        "",
                        job.submitS(),
                        waitS,
                        longestS,
                        job.cpus(),
                        cpus,
                        expected.price(job.user(), job.limitS(), job.cpus(), (double) job.limitS()),
                        beside);
        };
    }

    private double expectedS(Trace.Job job) {
        return expected.seconds(job.user(), job.limitS(), job.cpus(), (double) job.limitS());
    }

    /** Gives each job, in order, a reservation at the first time at which it fits beside all jobs before it. */
    private void everybody() {
        AvailabilityProfile plan = running.copy();
        int[] order = Arrays.copyOf(queue, waiting);
        int now = free;
        for (int index : order) {
            Trace.Job job = jobs.get(index);
            if (started[index]) {
                continue;
            }
            long at = plan.earliest(nowS, now, job.cpus(), job.limitS());
            if (at == nowS) {
                begin(index);
                now -= job.cpus();
                plan.add(nowS + job.limitS(), job.cpus());
            } else {
                plan.add(at, -job.cpus());
                plan.add(at + job.limitS(), job.cpus());
            }
        }
    }
}
