package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.core.Limits;
import dev.muster.core.Settings;
import dev.muster.core.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;

/**
 * SchedulerParameters=muster_backfill: who gets a reservation and in which order the others are tried beside it. Without it the first
 * hundred that wait get reservations, and all are tried in the queue's order.
 */
final class Backfill {
    /** What a job without a limit counts as: a year. */
    private static final double UNLIMITED_S = 365.0 * 86_400;
    /** The word of SchedulerParameters. */
    static final String WORD = "muster_backfill";

    /**
     * EASY: the first that waits in each partition gets a reservation; behind it the queue's order. SHORT: behind it the shortest first.
     * EXPECTED: behind it those first that will likely be the shortest. SLOWDOWN: behind it the order of {@link Slowdown}.
     */
    enum Mode { QUEUE, EASY, SHORT, EXPECTED, SLOWDOWN }

    private final Mode mode;
    private final State state;
    private final Expected expected;
    private final Slowdown slowdown;
    private final ToIntFunction<Job> tier;

    Backfill(State state, Expected expected, Slowdown slowdown, ToIntFunction<Job> tier) {
        Optional<Mode> asked = mode(state.settings().options().getOrDefault(WORD, ""));
        this.mode = state.settings().options().containsKey(Settings.IN_ORDER) ? Mode.QUEUE : asked.orElse(Mode.QUEUE);
        this.state = state;
        this.expected = expected;
        this.slowdown = slowdown;
        this.tier = tier;
    }

    /** Empty for a word that is not known. */
    static Optional<Mode> mode(String word) {
        return switch (word) {
            case "" -> Optional.of(Mode.QUEUE);
            case "easy" -> Optional.of(Mode.EASY);
            case "short" -> Optional.of(Mode.SHORT);
            case "expected" -> Optional.of(Mode.EXPECTED);
            case "slowdown" -> Optional.of(Mode.SLOWDOWN);
            default -> Optional.empty();
        };
    }

    /** Those behind the first of a partition that waits are tried after everybody who waits behind nobody. */
    boolean fills() {
        return mode != Mode.QUEUE;
    }

    /** So many of a partition get a reservation before others are tried. */
    int heads() {
        return fills() ? 1 : Integer.MAX_VALUE;
    }

    /** The order in which those behind reservations are tried. @param headS how long the one with a reservation has waited that has longest */
    List<Job> fillOrder(List<Job> behind, long nowS, long headS) {
        if (mode == Mode.QUEUE || mode == Mode.EASY || behind.size() < 2) {
            return behind;
        }
        long oldest = behind.stream().mapToLong(j -> nowS - j.eligibleTime()).max().orElse(0);
        double due = slowdown.dueAfterS(nowS, Math.max(headS, oldest));
        List<Place> places = new ArrayList<>(behind.size());
        behind.forEach(j -> places.add(new Place(tier.applyAsInt(j), key(j, nowS - j.eligibleTime(), due), j)));
        // the sort is stable: equals stay in the queue's order
        places.sort(Comparator.comparingInt((Place p) -> -p.tier).thenComparingDouble(p -> p.key));
        return places.stream().map(p -> p.job).toList();
    }

    private record Place(int tier, double key, Job job) {}

    /** Lower goes first. */
    private double key(Job job, long waitS, double dueAfterS) {
        return switch (mode) {
            case QUEUE, EASY -> 0;
            case SHORT -> limitS(job);
            case EXPECTED -> expectedS(job);
            case SLOWDOWN -> waitS > dueAfterS ? Double.NEGATIVE_INFINITY : -Slowdown.urgency(waitS, expectedS(job));
        };
    }

    private int limitMin(Job job) {
        String first = job.desc().partition().split(",")[0];
        return state.partitions().find(first).map(p -> Limits.timeLimitMin(job.desc(), p)).orElse(-1);
    }

    private double limitS(Job job) {
        int limit = limitMin(job);
        return limit < 0 ? UNLIMITED_S : limit * 60.0;
    }

    private double expectedS(Job job) {
        return expected.seconds(job.desc().owner().uid(), limitMin(job), cpus(job), limitS(job));
    }

    static int cpus(Job job) {
        return Math.max(1, job.desc().request().tasks()) * Math.max(1, job.desc().request().cpusPerTask());
    }
}
