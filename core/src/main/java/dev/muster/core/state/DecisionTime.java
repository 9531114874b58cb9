package dev.muster.core.state;

/**
 * The time of a decision.
 *
 * @param tickMs cluster time, milliseconds, monotonic over restarts: limits use it
 * @param timeMs wall time, milliseconds since 1970: for people
 */
public record DecisionTime(long tickMs, long timeMs) {
    public long seconds() {
        return timeMs / 1000;
    }
}
