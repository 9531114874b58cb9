package dev.muster.scheduler.request;

/**
 * The place of a job as far as reservations go: in one of them, on what none keeps, or, with {@code --signal=R:}, also
 * on nodes of those that may be kept waiting for as long as it takes to go.
 *
 * @param reservation "" for none
 * @param leavingS seconds that it takes to go when a reservation's jobs come; below 0 if it keeps off their nodes
 */
public record ReservationScope(String reservation, int leavingS) {
    /** The scope of jobs outside of reservations: nodes that none keeps. */
    public static final ReservationScope NONE = new ReservationScope("", -1);

    public static ReservationScope of(String reservation) {
        return reservation.isEmpty() ? NONE : new ReservationScope(reservation, -1);
    }

    public static ReservationScope leaving(int seconds) {
        return new ReservationScope("", seconds);
    }

    /** Tests whether the job has to do with no reservation but to keep off it. */
    public boolean isNone() {
        return reservation.isEmpty() && leavingS < 0;
    }
}
