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

    static void write(Connection c, int key, Batch batch) throws SQLException {
        for (ReservationRow r : batch.reservations()) {
            int id = 0;
            try (PreparedStatement find = c.prepareStatement("select \"id\" from \"reservation\"" + KEY)) {
                at(find, key, r);
                try (ResultSet row = find.executeQuery()) {
                    id = row.next() ? row.getInt(1) : 0;
                }
            }
            try (PreparedStatement remove = c.prepareStatement("delete from \"reservation\"" + KEY)) {
                at(remove, key, r);
                remove.executeUpdate();
            }
            if (!r.removed()) {
                add(c, key, id == 0 ? next(c, key) : id, r);
            }
        }
    }

    private static void at(PreparedStatement s, int key, ReservationRow r) throws SQLException {
        s.setInt(1, key);
        s.setString(2, r.name());
        s.setLong(3, r.start());
    }

    private static int next(Connection c, int key) throws SQLException {
        try (PreparedStatement max =
                c.prepareStatement("select coalesce(max(\"id\"), 0) from \"reservation\" where \"cluster_key\" = ?")) {
            max.setInt(1, key);
            try (ResultSet row = max.executeQuery()) {
                row.next();
                return row.getInt(1) + 1;
            }
        }
    }

    private static void add(Connection c, int key, int id, ReservationRow r) throws SQLException {
        try (PreparedStatement add =
                c.prepareStatement("insert into \"reservation\" (\"cluster_key\", \"name\", \"start_time\", \"id\", "
                        + "\"end_time\", \"nodes\", \"flags\", \"accounts\", \"users\", \"tres\") "
                        + "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            at(add, key, r);
            add.setInt(4, id);
            add.setLong(5, r.end());
            add.setString(6, r.nodes());
            add.setString(7, r.flags());
            add.setString(8, r.accounts());
            add.setString(9, r.users());
            add.setString(10, r.tres());
            add.executeUpdate();
        }
    }

    /**
     * Gives rows of jobs that were written the number of their reservation: of its times the first that was not over
     * when the job began.
     */
    static void number(Connection c, int key, Iterable<JobRow> jobs) throws SQLException {
        String sql = "update \"job\" set \"reservation_id\" = (select coalesce(min(\"id\"), 0) from "
                + "\"reservation\" where \"cluster_key\" = ? "
                + "and \"name\" = ? and \"end_time\" > ?) where \"cluster_key\" = ? and \"sluid\" = ? and "
                + "\"restarts\" = ?";
        try (PreparedStatement set = c.prepareStatement(sql)) {
            boolean any = false;
            for (JobRow j : jobs) {
                if (!j.reservation().isEmpty()) {
                    set.setInt(1, key);
                    set.setString(2, j.reservation());
                    set.setLong(3, j.startTime() > 0 ? j.startTime() : j.submitTime());
                    set.setInt(4, key);
                    set.setLong(5, j.sluid());
                    set.setInt(6, j.restarts());
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
