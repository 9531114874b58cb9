package dev.muster.simulator.replay;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The queue is in order of submission; policies differ in which jobs get a reservation and in which order the others
 * are tried beside it. All but FCFS and CONSERVATIVE are values of {@code SchedulerParameters=muster_backfill}.
 */
enum Policy {
    /** Strictly in order: no job starts before one that waits. */
    FCFS,
    /** The first that waits has a reservation; behind it the queue's order. */
    EASY,
    /** Behind it those with the shortest limits first. In the literature SJBF. */
    SHORT,
    /** Behind it those first that will likely be the shortest. */
    EXPECTED,
    /** Behind it the order of {@link dev.muster.scheduler.queue.Slowdown}. */
    SLOWDOWN,
    /** Every waiting job has a reservation. */
    CONSERVATIVE;

    static final List<String> STANDARD = List.of("easy", "short", "expected", "slowdown");

    /** @throws IllegalArgumentException for a word that is none; sjbf stands for short */
    static Policy of(String word) {
        String name = word.equals("sjbf") ? "short" : word;
        return Arrays.stream(values())
                .filter(p -> p.word().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no policy " + word));
    }

    static List<String> names() {
        return Arrays.stream(values()).map(Policy::word).toList();
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it looks at how long earlier jobs of a user have run. */
    boolean expects() {
        return this == EXPECTED || this == SLOWDOWN;
    }
}
