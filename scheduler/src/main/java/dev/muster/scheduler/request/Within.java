package dev.muster.scheduler.request;

/**
 * Where a job is to be as far as reservations go: in one of them, on what none keeps, or, with {@code --signal=R:}, also on nodes of those that
 * may be kept waiting for as long as it takes to go.
 *
 * @param reservation "" for none
 * @param leavingS    seconds that it takes to go when a reservation's jobs come; below 0 if it keeps off their nodes
 */
public record Within(String reservation, int leavingS) {
    /** On what no reservation keeps. */
    public static final Within NONE = new Within("", -1);

    public static Within of(String reservation) {
        return reservation.isEmpty() ? NONE : new Within(reservation, -1);
    }

    public static Within leaving(int seconds) {
        return new Within("", seconds);
    }

    /** It has to do with no reservation but to keep off it. */
    public boolean isNone() {
        return reservation.isEmpty() && leavingS < 0;
    }
}
