package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.ReservationRow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** Reservations as they were: a row for each name and start. */
final class ReservationTable {
    private static final String KEY = " where \"cluster_key\" = ? and \"name\" = ? and \"start_time\" = ?";

    /** A row with its number. */
    record Numbered(int id, ReservationRow row) {}

    private ReservationTable() {}

    static void write(Connection connection, int key, Batch batch) throws SQLException {
        for (ReservationRow r : batch.reservations()) {
            int id = 0;
            try (PreparedStatement find = connection.prepareStatement("select \"id\" from \"reservation\"" + KEY)) {
                at(find, key, r);
                try (ResultSet row = find.executeQuery()) {
                    id = row.next() ? row.getInt(1) : 0;
                }
            }
            try (PreparedStatement remove = connection.prepareStatement("delete from \"reservation\"" + KEY)) {
                at(remove, key, r);
                remove.executeUpdate();
            }
            if (!r.removed()) {
                add(connection, key, id == 0 ? next(connection, key) : id, r);
            }
        }
    }

    private static void at(PreparedStatement s, int key, ReservationRow row) throws SQLException {
        s.setInt(1, key);
        s.setString(2, row.name());
        s.setLong(3, row.start());
    }

    private static int next(Connection connection, int key) throws SQLException {
        try (PreparedStatement max = connection.prepareStatement(
                "select coalesce(max(\"id\"), 0) from \"reservation\" where \"cluster_key\" = ?")) {
            max.setInt(1, key);
            try (ResultSet row = max.executeQuery()) {
                row.next();
                return row.getInt(1) + 1;
            }
        }
    }

    private static void add(Connection connection, int key, int id, ReservationRow row) throws SQLException {
        try (PreparedStatement add = connection.prepareStatement(
                "insert into \"reservation\" (\"cluster_key\", \"name\", \"start_time\", \"id\", "
                        + "\"end_time\", \"nodes\", \"flags\", \"accounts\", \"users\", \"tres\") "
                        + "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            at(add, key, row);
            add.setInt(4, id);
            add.setLong(5, row.end());
            add.setString(6, row.nodes());
            add.setString(7, row.flags());
            add.setString(8, row.accounts());
            add.setString(9, row.users());
            add.setString(10, row.tres());
            add.executeUpdate();
        }
    }

    /**
     * Gives rows of jobs that were written the number of their reservation: of its times the first that was not over
     * when the job began.
     */
    static void number(Connection connection, int key, Iterable<JobRow> jobs) throws SQLException {
        String sql = "update \"job\" set \"reservation_id\" = (select coalesce(min(\"id\"), 0) from "
                + "\"reservation\" where \"cluster_key\" = ? "
                + "and \"name\" = ? and \"end_time\" > ?) where \"cluster_key\" = ? and \"sluid\" = ? and "
                + "\"restarts\" = ?";
        try (PreparedStatement set = connection.prepareStatement(sql)) {
            boolean any = false;
            for (JobRow job : jobs) {
                if (!job.reservation().isEmpty()) {
                    set.setInt(1, key);
                    set.setString(2, job.reservation());
                    set.setLong(3, job.startTime() > 0 ? job.startTime() : job.submitTime());
                    set.setInt(4, key);
                    set.setLong(5, job.sluid());
                    set.setInt(6, job.restarts());
                    set.addBatch();
                    any = true;
                }
            }
            if (any) {
                set.executeBatch();
            }
        }
    }

    /** Reservations of a cluster that existed at some time of a span, by start and name. */
    static List<Numbered> of(AccountingStore store, String cluster, long from, long to) {
        String sql = "select \"id\", \"name\", \"start_time\", \"end_time\", \"nodes\", \"flags\", \"accounts\", "
                + "\"users\", \"tres\" "
                + "from \"reservation\" where \"cluster_key\" in (select \"id\" from \"projection\" where "
                + "\"cluster\" = ?) "
                + "and \"start_time\" < ? and \"end_time\" > ? order by \"start_time\", \"name\"";
        return store.rows(
                sql,
                row -> new Numbered(
                        row.getInt(1),
                        new ReservationRow(
                                row.getString(2),
                                row.getLong(3),
                                row.getLong(4),
                                row.getString(5),
                                row.getString(6),
                                row.getString(7),
                                row.getString(8),
                                row.getString(9),
                                false)),
                cluster,
                to,
                from);
    }
}
