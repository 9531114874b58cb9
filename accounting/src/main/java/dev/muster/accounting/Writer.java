package dev.muster.accounting;

import java.sql.Connection;
import java.sql.SQLException;

/** The one connection that writes: each piece of work is one transaction. After an error the next piece gets a new connection. */
final class Writer {
    private final Database database;
    private Connection connection;
    private boolean written;

    Writer(Database database) {
        this.database = database;
    }

    /** Runs the work and commits it, or leaves nothing of it behind. */
    synchronized <T> T run(Database.Work<T> work) throws SQLException {
        Connection c = connection();
        try {
            T result = work.with(c);
            c.commit();
            written = true;
            return result;
        } catch (SQLException | RuntimeException e) {
            drop(e);
            throw e;
        }
    }

    /** Writes what is committed out. */
    synchronized void flush() throws SQLException {
        try {
            database.flush(connection());
            written = false;
        } catch (SQLException e) {
            drop(e);
            throw e;
        }
    }

    synchronized void flushIfWritten() throws SQLException {
        if (written) {
            flush();
        }
    }

    private Connection connection() throws SQLException {
        if (connection == null) {
            connection = database.open();
            connection.setAutoCommit(false);
        }
        return connection;
    }

    private void drop(Exception cause) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
        Database.closeQuietly(connection);
        connection = null;
    }

    synchronized void close() {
        if (connection != null) {
            Database.closeQuietly(connection);
            connection = null;
        }
    }

    synchronized void shutDown() {
        try {
            if (connection == null && database.dialect() != Database.Dialect.H2) {
                return;
            }
            database.shutDown(connection());
            connection = null;
        } catch (SQLException e) {
            throw new AccountingException("cannot close the accounting database: " + e.getMessage(), e);
        }
    }
}
