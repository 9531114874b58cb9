package dev.muster.accounting.db;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The lease of the active slurmdbd: one row of a table of its own, which is older than all migrations, as the lease
 * decides which slurmdbd may run them. Times are the database's. One thread uses it, over one connection, which is
 * opened anew after an error.
 */
public final class LeaseTable implements AutoCloseable {
    private static final String CREATE = "create table if not exists \"slurmdbd_lease\" (\"id\" int primary key, "
            + "\"epoch\" bigint not null, \"holder\" varchar(190) not null, \"expires_ms\" bigint not null)";

    private final Database database;
    private final long leaseMs;
    private @Nullable Connection connection;

    /** @param leaseMs time for which a lease is given */
    public LeaseTable(Database database, long leaseMs) {
        this.database = database;
        this.leaseMs = leaseMs;
    }

    /** Work of one transaction. */
    private interface Step<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Reads the lease. */
    public LeaseRow read() throws SQLException {
        return committed(this::row);
    }

    /**
     * Takes the lease if it has not changed since it was read.
     *
     * @return the new epoch; empty if another slurmdbd took or renewed it meanwhile
     */
    public OptionalLong take(LeaseRow seen, String holder) throws SQLException {
        return committed(c -> {
            try (PreparedStatement take =
                    c.prepareStatement("update \"slurmdbd_lease\" set \"epoch\" = ?, \"holder\" = ?, \"expires_ms\" = "
                            + nowMs() + " + ? where \"id\" = 1 and \"epoch\" = ? and \"expires_ms\" = ?")) {
                take.setLong(1, seen.epoch() + 1);
                take.setString(2, holder);
                take.setLong(3, leaseMs);
                take.setLong(4, seen.epoch());
                take.setLong(5, seen.expiresMs());
                return take.executeUpdate() == 1 ? OptionalLong.of(seen.epoch() + 1) : OptionalLong.empty();
            }
        });
    }

    /**
     * Extends the lease of an epoch from now on.
     *
     * @return false if another slurmdbd has taken it
     */
    public boolean renew(long epoch) throws SQLException {
        return expireIn(epoch, nowMs() + " + " + leaseMs);
    }

    /** Gives up the lease of an epoch, so that the other slurmdbd takes over at once. */
    public void release(long epoch) throws SQLException {
        expireIn(epoch, "0");
    }

    private boolean expireIn(long epoch, String expiresMs) throws SQLException {
        return committed(c -> {
            try (PreparedStatement update = c.prepareStatement("update \"slurmdbd_lease\" set \"expires_ms\" = "
                    + expiresMs + " where \"id\" = 1 and \"epoch\" = ?")) {
                update.setLong(1, epoch);
                return update.executeUpdate() == 1;
            }
        });
    }

    /**
     * Returns the fence of an epoch. It locks the lease's row until the transaction ends: a slurmdbd that takes the
     * lease waits for it, and sees all that was committed before.
     */
    public static Fence fence(Database database, long epoch) {
        String lock = switch (database.dialect()) {
            case H2 -> "for update";
            case MARIADB -> "lock in share mode";
            case POSTGRESQL -> "for share";
        };
        String sql = "select \"epoch\" from \"slurmdbd_lease\" where \"id\" = 1 " + lock;
        return connection -> {
            try (PreparedStatement select = connection.prepareStatement(sql);
                    ResultSet row = select.executeQuery()) {
                long newest = row.next() ? row.getLong(1) : 0;
                if (newest != epoch) {
                    throw new Fence.StaleEpochException(epoch, newest);
                }
            }
        };
    }

    private String nowMs() {
        return database.dialect().nowMs();
    }

    private LeaseRow row(Connection c) throws SQLException {
        try (PreparedStatement select = c.prepareStatement("select \"epoch\", \"holder\", \"expires_ms\", " + nowMs()
                        + " from \"slurmdbd_lease\" where \"id\" = 1");
                ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                throw new SQLException("the table slurmdbd_lease has lost its row");
            }
            return new LeaseRow(row.getLong(1), row.getString(2), row.getLong(3), row.getLong(4));
        }
    }

    private <T> T committed(Step<T> step) throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = database.open();
            connection = open;
            open.setAutoCommit(false);
            database.boundWaits(open, leaseMs);
            ForeignTables.refuse(open, database.dialect());
            prepare(open);
        }
        try {
            T result = step.on(open);
            open.commit();
            return result;
        } catch (SQLException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private void prepare(Connection c) throws SQLException {
        try (Statement statement = c.createStatement()) {
            statement.execute(CREATE);
            c.commit();
            try (ResultSet row = statement.executeQuery("select \"id\" from \"slurmdbd_lease\"")) {
                if (row.next()) {
                    return;
                }
            }
            statement.execute("insert into \"slurmdbd_lease\" values (1, 0, '', 0)");
            c.commit();
        } catch (SQLException e) {
            // the other slurmdbd may have made it meanwhile: the next call finds it
            close();
            throw e;
        }
    }

    @Override
    public void close() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            Database.closeQuietly(open);
        }
    }
}
