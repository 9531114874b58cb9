package dev.muster.accounting.db;

import java.sql.Connection;
import java.sql.SQLException;

/** The last test of each write transaction, before its commit. */
@FunctionalInterface
public interface Fence {
    /** No test: no other process has these tables. */
    Fence NONE = connection -> {};

    /**
     * Tests in the transaction of the connection that this process may still write.
     *
     * @throws StaleEpochException if another process may
     * @throws SQLException if the database fails
     */
    void check(Connection connection) throws SQLException;

    /** Another slurmdbd has taken the lease: the transaction is rolled back. */
    final class StaleEpochException extends SQLException {
        private static final long serialVersionUID = 1L;

        StaleEpochException(long own, long newest) {
            super("another slurmdbd has taken over (epoch " + newest + ", this one has " + own + ")");
        }
    }
}
