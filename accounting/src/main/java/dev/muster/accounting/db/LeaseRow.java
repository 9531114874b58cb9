package dev.muster.accounting.db;

/**
 * The lease as the database has it.
 *
 * @param epoch number of times that a slurmdbd took the lease; 0 before the first
 * @param holder the slurmdbd that took it last
 * @param expiresMs end of the lease by the database's clock, in milliseconds since 1970; 0 if it was given up
 * @param nowMs the database's clock when the row was read
 */
public record LeaseRow(long epoch, String holder, long expiresMs, long nowMs) {
    /** Tests whether the holder has not renewed it in time, or has given it up. */
    public boolean isExpired() {
        return expiresMs <= nowMs;
    }
}
