package dev.muster.model.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Conditions of a reservation: {@link #shown} has the order in which Slurm prints them, of ours in the state the place
 * counts.
 */
public enum ReservationFlag {
    MAINT("MAINT", 3),
    OVERLAP("OVERLAP", 1),
    IGNORE_JOBS("IGNORE_JOBS", 1),
    HOURLY("HOURLY", 1),
    DAILY("DAILY", 1),
    WEEKDAY("WEEKDAY", 1),
    WEEKEND("WEEKEND", 5),
    WEEKLY("WEEKLY", 5),
    SPEC_NODES("SPEC_NODES", 99),
    ALL_NODES("ALL_NODES", 99),
    ANY_NODES("ANY_NODES", 1),
    STATIC("STATIC", 1),
    PART_NODES("PART_NODES", 2),
    FIRST_CORES("FIRST_CORES", 99),
    TIME_FLOAT("TIME_FLOAT", 1),
    REPLACE("REPLACE", 1),
    REPLACE_DOWN("REPLACE_DOWN", 8),
    PURGE_COMP("PURGE_COMP", 2),
    NO_HOLD_JOBS_AFTER_END("NO_HOLD_JOBS_AFTER_END", 1),
    FLEX("FLEX", 1),
    MAGNETIC("MAGNETIC", 3),
    USER_DELETE("USER_DELETE", 4),
    FORCE_START("FORCE_START", 2);

    /** The time of PURGE_COMP that never passes. */
    public static final int PURGE_NEVER_S = Integer.MAX_VALUE;

    private final String word;
    private final int minimum;

    ReservationFlag(String word, int minimum) {
        this.word = word;
        this.minimum = minimum;
    }

    public String word() {
        return word;
    }

    /** All of them in the order in which they are printed. */
    public static List<ReservationFlag> shown() {
        List<ReservationFlag> out = new ArrayList<>(List.of(values()));
        out.remove(FLEX);
        out.add(1, FLEX);
        return out;
    }

    /** The flag a user means, which may be cut short. */
    public static Optional<ReservationFlag> of(String typed) {
        String word = typed.toUpperCase(Locale.ROOT);
        if (word.equals("STATIC_ALLOC")) {
            return Optional.of(STATIC);
        }
        if (word.equals("PROMISCUOUS")) {
            return Optional.of(MAGNETIC);
        }
        if (word.equals("LICENSE_ONLY") || word.equals("LICENSES")) {
            return Optional.of(ANY_NODES);
        }
        for (ReservationFlag f : values()) {
            if (word.length() >= f.minimum && f.word.startsWith(word)) {
                return Optional.of(f);
            }
        }
        return Optional.empty();
    }
}
