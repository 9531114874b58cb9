package dev.muster.simulator;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;

/**
 * Virtual time, the one source of chance, and the trace. Everything in a seed happens as an event here, one after the
 * other.
 */
final class World {
    static final int TRACE_KEPT = 200;
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private record Event(long atMs, int tie, long order, Runnable work) implements Comparable<Event> {
        @Override
        public int compareTo(Event o) {
            if (atMs != o.atMs) {
                return Long.compare(atMs, o.atMs);
            }
            if (tie != o.tie) {
                return Integer.compare(tie, o.tie);
            }
            return Long.compare(order, o.order);
        }
    }

    private final Random random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final ArrayDeque<String> trace = new ArrayDeque<>();
    private final Map<String, Integer> seen = new TreeMap<>();
    private final boolean verbose;
    private boolean calm;
    private long nowMs;
    private long order;
    private long steps;
    private long hash = FNV_OFFSET;

    World(long seed, boolean verbose) {
        this.random = new Random(seed);
        this.verbose = verbose;
    }

    long nowMs() {
        return nowMs;
    }

    long steps() {
        return steps;
    }

    long hash() {
        return hash;
    }

    Random random() {
        return random;
    }

    int below(int bound) {
        return random.nextInt(Math.max(1, bound));
    }

    /** Injects no fault from now on. */
    void calmDown() {
        calm = true;
    }

    boolean isCalm() {
        return calm;
    }

    /** Returns true with a probability in thousandths, and never once the world is calm. */
    boolean chance(int perMille) {
        return !calm && perMille > 0 && random.nextInt(1000) < perMille;
    }

    /** About the mean, never 0. */
    long around(long mean) {
        return 1 + (long) (-Math.log(1 - random.nextDouble()) * mean);
    }

    void at(long delayMs, Runnable work) {
        events.add(new Event(nowMs + Math.max(0, delayMs), random.nextInt(), order++, work));
    }

    /** Runs until there is nothing left or the time is over. */
    void run(long untilMs) {
        while (!events.isEmpty() && events.peek().atMs <= untilMs) {
            Event e = events.poll();
            nowMs = e.atMs;
            steps++;
            e.work.run();
        }
        nowMs = Math.max(nowMs, untilMs);
    }

    void log(String who, String what) {
        String line = nowMs + " " + who + " " + what;
        for (int i = 0; i < line.length(); i++) {
            hash = (hash ^ line.charAt(i)) * FNV_PRIME;
        }
        trace.add(line);
        if (trace.size() > TRACE_KEPT) {
            trace.poll();
        }
        if (verbose) {
            System.out.println(line);
        }
    }

    /** Something worth reaching was reached. */
    void saw(String what) {
        seen.merge(what, 1, Integer::sum);
    }

    Map<String, Integer> seen() {
        return seen;
    }

    List<String> trace() {
        return new ArrayList<>(trace);
    }
}
