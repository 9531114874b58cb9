package dev.muster.accounting.dbd;

import dev.muster.accounting.db.LeaseRow;
import dev.muster.accounting.db.LeaseRule;
import dev.muster.accounting.db.LeaseTable;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.MonotonicClock;
import java.sql.SQLException;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Takes and renews the lease on a thread of its own. Between two renewals the lease is valid by this host's monotonic
 * clock, counted from before the request: a process that stood still knows so before it answers anything.
 */
final class LeaseRenewal implements AutoCloseable {
    /** Time of a lease: a slurmdbd that was killed is replaced after it. */
    static final long LEASE_MS = 7_000;

    private static final long RENEW_MS = 1_000;
    /** Pause between two reads of the lease by a slurmdbd in standby. */
    private static final long POLL_MS = 500;
    /** Pause after an error of the database, before the first lease and later. */
    private static final long FIRST_RETRY_MS = 5_000;

    private static final long RETRY_MS = 1_000;

    /** Hears of changes of the lease. Each method returns at once. */
    interface LeaseListener {
        /** It has the lease of an epoch from now on. */
        void begin(long epoch);

        /** Another one has it. */
        void end(String sentence);

        /**
         * The database fails; told once for each sentence, and each time before the first lease.
         *
         * @param isStart whether it has never answered
         */
        void failed(String sentence, boolean isStart);
    }

    private final LeaseTable table;
    private final LeaseRule rule;
    private final String holder;
    private final LeaseListener listener;
    private volatile long epoch;
    private volatile long validUntilMs;
    private volatile long holdOffUntilMs;
    private volatile String lastError = "";
    private volatile boolean closed;
    private boolean isWoken;
    private boolean hasAnswered;
    private @Nullable Thread thread;

    /** @param holder name of this slurmdbd in the lease */
    LeaseRenewal(LeaseTable table, LeaseRule rule, String holder, LeaseListener listener) {
        this.table = table;
        this.rule = rule;
        this.holder = holder;
        this.listener = listener;
    }

    void start() {
        thread = Thread.ofPlatform().name("lease").daemon(true).start(this::run);
    }

    /** Tests whether the lease of this process is valid now. */
    boolean isValid() {
        return epoch > 0 && MonotonicClock.ms() < validUntilMs;
    }

    /** Tests whether an epoch is the newest that this process knows. */
    boolean isCurrent(long of) {
        return epoch == of;
    }

    /** Returns the last error of the database; "" without one. */
    String lastError() {
        return lastError;
    }

    /** Gives the lease of an epoch up, as its holder cannot serve, and takes none for a time. */
    void giveUp(long of, long holdOffMs) {
        if (isCurrent(of)) {
            holdOffUntilMs = MonotonicClock.ms() + holdOffMs;
            renewNow();
        }
    }

    private void run() {
        while (!closed) {
            try {
                long pauseMs = step();
                lastError = "";
                hasAnswered = true;
                pause(pauseMs);
            } catch (SQLException | RuntimeException e) {
                String sentence = ErrorSentence.of(e);
                boolean isStart = !hasAnswered;
                if (isStart || !sentence.equals(lastError)) {
                    listener.failed(sentence, isStart);
                }
                lastError = sentence;
                pause(isStart ? FIRST_RETRY_MS : RETRY_MS);
            }
        }
    }

    /** Returns the pause before the next one. */
    private long step() throws SQLException {
        long nowMs = MonotonicClock.ms();
        long own = epoch;
        if (own > 0 && nowMs < holdOffUntilMs) {
            epoch = 0;
            table.release(own);
            return POLL_MS;
        }
        if (own > 0) {
            if (table.renew(own)) {
                validUntilMs = nowMs + LEASE_MS;
                return RENEW_MS;
            }
            epoch = 0;
            listener.end("slurmdbd at " + table.read().holder() + " has taken over");
            return POLL_MS;
        }
        if (nowMs < holdOffUntilMs) {
            return POLL_MS;
        }
        LeaseRow row = table.read();
        if (!rule.mayTake(row, nowMs)) {
            return POLL_MS;
        }
        nowMs = MonotonicClock.ms();
        OptionalLong taken = table.take(row, holder);
        if (taken.isEmpty()) {
            return POLL_MS;
        }
        rule.taken();
        epoch = taken.getAsLong();
        validUntilMs = nowMs + LEASE_MS;
        listener.begin(taken.getAsLong());
        return RENEW_MS;
    }

    /** Waits until {@link #renewNow} or {@link #close}, but not longer than a time. */
    // one wait, not a loop: the caller loops
    @SuppressWarnings("WaitNotInLoop")
    private synchronized void pause(long ms) {
        try {
            if (!closed && !isWoken) {
                wait(ms);
            }
            isWoken = false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Renews the lease at once: a write found that another slurmdbd may have it. */
    synchronized void renewNow() {
        isWoken = true;
        notifyAll();
    }

    /** Gives the lease up, if the database answers. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        Thread running = thread;
        if (running != null) {
            try {
                running.join(LEASE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        long own = epoch;
        epoch = 0;
        try {
            if (own > 0 && (running == null || !running.isAlive())) {
                table.release(own);
            }
        } catch (SQLException e) {
            // it expires by itself
        } finally {
            table.close();
        }
    }
}
