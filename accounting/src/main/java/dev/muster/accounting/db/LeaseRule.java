package dev.muster.accounting.db;

import org.jspecify.annotations.Nullable;

/**
 * Decides when a slurmdbd in standby takes the lease. It reads no clock and no database; one thread asks it.
 *
 * <p>A wrong decision costs a change of the active slurmdbd and nothing else: the epoch, not the time, decides which
 * one may write.
 */
public final class LeaseRule {
    private final String holder;
    private final boolean isPrimary;
    private final long leaseMs;
    private boolean hasHeld;
    private @Nullable LeaseRow last;
    private long unchangedSinceMs;

    /**
     * @param holder name of this slurmdbd in the lease
     * @param isPrimary whether it is that of DbdHost, which takes the lease at its start
     * @param leaseMs time for which a lease is given
     */
    public LeaseRule(String holder, boolean isPrimary, long leaseMs) {
        this.holder = holder;
        this.isPrimary = isPrimary;
        this.leaseMs = leaseMs;
    }

    /**
     * Tests whether to take the lease now.
     *
     * <ul>
     *   <li>The primary takes it at its start, from the backup too.
     *   <li>A process takes the lease of its own predecessor: of two on one host, the second cannot open the port.
     *   <li>A lease that has expired or was given up is free.
     *   <li>So is one that has not been renewed for twice its time by this host's clock: the database's clock was set
     *       back then.
     * </ul>
     *
     * @param row the lease, read just now
     * @param nowMs this host's monotonic clock
     */
    public boolean mayTake(LeaseRow row, long nowMs) {
        LeaseRow before = last;
        if (before == null || before.epoch() != row.epoch() || before.expiresMs() != row.expiresMs()) {
            unchangedSinceMs = nowMs;
        }
        last = row;
        return !hasHeld && isPrimary
                || !hasHeld && row.holder().equals(holder)
                || row.isExpired()
                || nowMs - unchangedSinceMs >= 2 * leaseMs;
    }

    /** Notes that this slurmdbd has the lease: from now on its name in the row is its own. */
    public void taken() {
        hasHeld = true;
    }
}
