package dev.muster.accounting.table;

import dev.muster.accounting.report.Amounts;
import dev.muster.accounting.report.JobUse;
import dev.muster.accounting.report.NodeTime;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Rows for reports: one cluster's jobs and events that touch a span of time. */
final class ReportRows {
    private static final String COLUMNS =
            "j.\"job_id\", j.\"account\", j.\"user_name\", j.\"user_id\", j.\"group_id\", j.\"wckey\", "
                    + "j.\"partition\", j.\"reservation\", j.\"nodes\", j.\"eligible_time\", j.\"start_time\", "
                    + "j.\"end_time\", j.\"suspended_seconds\", "
                    + "j.\"cpus_requested\", j.\"cpus_allocated\", j.\"tres_allocated\", j.\"cluster_key\", "
                    + "j.\"sluid\", j.\"restarts\", j.\"qos\"";
    private static final String OF_CLUSTER =
            "\"cluster_key\" in (select \"id\" from \"projection\" where \"cluster\" = ?)";

    private final AccountingStore store;

    ReportRows(AccountingStore store) {
        this.store = store;
    }

    /** Jobs that waited or ran in the span. */
    List<JobUse> jobs(String cluster, long from, long to) {
        try {
            return store.database().read(c -> {
                Map<String, Long> energy = energy(c, cluster, from, to);
                String sql = "select " + COLUMNS + " from \"job\" j where j." + OF_CLUSTER
                        + " and j.\"last_time\" >= ? and (j.\"start_time\" > 0 and "
                        + "j.\"start_time\" < ? or j.\"eligible_time\" > 0 and j.\"eligible_time\" < ?) and not "
                        + "(j.\"array_job_id\" <> 0 "
                        + "and j.\"array_job_id\" = j.\"job_id\" and j.\"array_task_id\" = -1 and j.\"array_tasks\" "
                        + "= '')";
                return AccountingStore.rows(c, sql, row -> job(cluster, row, energy), cluster, from, to, to);
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("read", e);
        }
    }

    private static JobUse job(String cluster, ResultSet row, Map<String, Long> energy) throws SQLException {
        String key = row.getInt(17) + ":" + row.getLong(18) + ":" + row.getInt(19);
        int allocated = row.getInt(15);
        return new JobUse(
                row.getInt(1),
                cluster,
                row.getString(2),
                row.getString(3),
                row.getInt(4),
                row.getInt(5),
                row.getString(6),
                row.getString(7),
                row.getString(8),
                row.getString(9),
                row.getLong(10),
                row.getLong(11),
                row.getLong(12),
                row.getLong(13),
                allocated > 0 ? allocated : row.getInt(14),
                allocated,
                Amounts.of(row.getString(16)),
                energy.getOrDefault(key, 0L),
                row.getString(20));
    }

    private static Map<String, Long> energy(Connection connection, String cluster, long from, long to)
            throws SQLException {
        Map<String, Long> out = new HashMap<>();
        String sql = "select \"cluster_key\", \"sluid\", \"restarts\", sum(\"usage_energy_j\") from \"step\" where "
                + OF_CLUSTER
                + " and \"usage_energy_j\" > 0 and (\"end_time\" = 0 or \"end_time\" >= ?) and \"start_time\" <= ? "
                + "group by \"cluster_key\", \"sluid\", \"restarts\"";
        AccountingStore.rows(
                connection,
                sql,
                row -> out.put(row.getInt(1) + ":" + row.getLong(2) + ":" + row.getInt(3), row.getLong(4)),
                cluster,
                from,
                to);
        return out;
    }

    /** Times of the cluster, and times in which its nodes were down. */
    List<NodeTime> times(String cluster, long from, long to) {
        String sql = "select \"node\", \"start_time\", \"end_time\", \"state\", \"tres\" from \"node_event\" "
                + "where \"cluster\" = ? "
                + "and \"start_time\" < ? and (\"end_time\" = 0 or \"end_time\" > ?)";
        return store.rows(
                sql,
                row -> new NodeTime(
                        cluster,
                        row.getString(1),
                        row.getLong(2),
                        row.getLong(3),
                        row.getString(4),
                        Amounts.of(row.getString(5))),
                cluster,
                to,
                from);
    }
}
