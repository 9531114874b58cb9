package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.JobRow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Jobs that {@code sacctmgr modify job} has changed. When a controller sends such a row again, its own texts win and
 * empty ones do not erase the changes. After a start the rows of unfinished jobs with such texts are taken for changed.
 */
final class EditedJobs {
    private static final String TEXTS = "\"comment\", \"extra\", \"admin_comment\", \"system_comment\"";

    private record Key(int cluster, long sluid, int restarts) {}

    private final Set<Key> keys = ConcurrentHashMap.newKeySet();

    /** Reads which unfinished jobs have texts. */
    void load(Connection from) throws SQLException {
        String sql = "select \"cluster_key\", \"sluid\", \"restarts\" from \"job\" where \"end_time\" = 0 and "
                + "(\"comment\" <> '' or "
                + "\"extra\" <> '' or \"admin_comment\" <> '' or \"system_comment\" <> '')";
        try (Statement select = from.createStatement();
                ResultSet row = select.executeQuery(sql)) {
            while (row.next()) {
                add(row.getInt(1), row.getLong(2), row.getInt(3));
            }
        }
    }

    void add(int cluster, long sluid, int restarts) {
        keys.add(new Key(cluster, sluid, restarts));
    }

    boolean has(int cluster, JobRow row) {
        return !keys.isEmpty() && keys.contains(new Key(cluster, row.sluid(), row.restarts()));
    }

    /** The row with the texts of its former self where it has none. A job that has ended is not written again. */
    JobRow merged(Connection from, int cluster, JobRow row) throws SQLException {
        if (!has(cluster, row)) {
            return row;
        }
        if (row.endTime() > 0) {
            keys.remove(new Key(cluster, row.sluid(), row.restarts()));
        }
        String sql =
                "select " + TEXTS + " from \"job\" where \"cluster_key\" = ? and \"sluid\" = ? and \"restarts\" = ?";
        try (PreparedStatement select = from.prepareStatement(sql)) {
            select.setInt(1, cluster);
            select.setLong(2, row.sluid());
            select.setInt(3, row.restarts());
            try (ResultSet old = select.executeQuery()) {
                return old.next()
                        ? row.edited(old.getString(1), old.getString(2), old.getString(3), old.getString(4))
                        : row;
            }
        }
    }
}
