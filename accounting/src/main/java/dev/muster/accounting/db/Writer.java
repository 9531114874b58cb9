package dev.muster.accounting.db;

import dev.muster.model.format.ErrorSentence;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The one connection that writes: each piece of work is one transaction, with the fence's test before its commit. After
 * an error the next piece gets a new connection.
 */
public final class Writer {
    /**
     * Number of rows since the last time above which the file is not compacted, unless enough rows have been written
     * since the last compaction.
     */
    private static final int QUIET_ROWS = 1_000;

    private static final int UNTIDIED_ROWS = 500_000;

    private final Database database;
    private final Fence fence;
    private @Nullable Connection connection;
    private boolean written;
    private int rows;
    private int untidied;

    public Writer(Database database) {
        this(database, Fence.NONE);
    }

    /** @param fence decides whether a transaction may be committed */
    public Writer(Database database, Fence fence) {
        this.database = database;
        this.fence = fence;
    }

    /** Runs the work and commits it, or leaves nothing of it behind. */
    public synchronized <T> T run(Database.Work<T> work) throws SQLException {
        Connection connection = connection();
        try {
            T result = work.with(connection);
            fence.check(connection);
            connection.commit();
            written = true;
            return result;
        } catch (SQLException | RuntimeException e) {
            drop(e);
            throw e;
        }
    }

    /** Like {@link #run}, for work without a result. */
    public void execute(Database.Action action) throws SQLException {
        run(c -> {
            action.on(c);
            return true;
        });
    }

    /** Tells the next {@link #flush} the number of written rows. */
    public synchronized void wrote(int more) {
        rows += more;
    }

    /** Writes what is committed out. */
    public synchronized void flush() throws SQLException {
        try {
            untidied += rows;
            boolean tidy = rows <= QUIET_ROWS || untidied > UNTIDIED_ROWS;
            rows = 0;
            database.flush(connection(), tidy);
            untidied = tidy ? 0 : untidied;
            written = false;
        } catch (SQLException e) {
            drop(e);
            throw e;
        }
    }

    public synchronized void flushIfWritten() throws SQLException {
        if (written) {
            flush();
        }
    }

    private Connection connection() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = database.openForWrites();
            connection = open;
        }
        return open;
    }

    private void drop(Exception cause) {
        Connection open = connection;
        if (open == null) {
            return;
        }
        try {
            open.rollback();
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
        Database.closeQuietly(open);
        connection = null;
    }

    public synchronized void close() {
        if (connection != null) {
            Database.closeQuietly(connection);
            connection = null;
        }
    }

    public synchronized void shutDown() {
        try {
            if (connection == null && database.dialect() != Database.Dialect.H2) {
                return;
            }
            database.shutDown(connection());
            connection = null;
        } catch (SQLException e) {
            throw new AccountingException("cannot close the accounting database: " + ErrorSentence.of(e), e);
        }
    }
}
