package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.InstanceRow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** Instances of cloud nodes: a row for each time that a node had an instance. */
public final class InstanceTable {
    private InstanceTable() {}

    /** Writes new instances; a new one ends the open one of its node. */
    static void write(Connection connection, int key, Batch batch) throws SQLException {
        int item = 0;
        for (InstanceRow r : batch.instances()) {
            try (PreparedStatement end = connection.prepareStatement(
                    "update \"instance\" set \"end_time\" = ? where \"cluster\" = ? and \"node\" = ? and "
                            + "\"end_time\" = 0")) {
                end.setLong(1, r.time());
                end.setString(2, r.cluster());
                end.setString(3, r.node());
                end.executeUpdate();
            }
            if (r.instanceId().isEmpty() && r.instanceType().isEmpty()) {
                continue;
            }
            try (PreparedStatement add = connection.prepareStatement(
                    "insert into \"instance\" (\"cluster_key\", \"seq\", \"item\", \"cluster\", \"node\", "
                            + "\"start_time\", \"end_time\", \"instance_id\", \"instance_type\", \"extra\") values "
                            + "(?, ?, ?, ?, ?, ?, 0, ?, ?, ?)")) {
                add.setInt(1, key);
                add.setLong(2, batch.seq());
                add.setInt(3, item++);
                add.setString(4, r.cluster());
                add.setString(5, r.node());
                add.setLong(6, r.time());
                add.setString(7, r.instanceId());
                add.setString(8, r.instanceType());
                add.setString(9, r.extra());
                add.executeUpdate();
            }
        }
    }

    /**
     * Instances of all clusters that existed at some time of the span, by start and node.
     *
     * @param to 0 for now and after
     */
    public static List<Map<String, String>> of(AccountingStore store, long from, long to) {
        return store.rows(
                "select \"cluster\", \"node\", \"start_time\", \"end_time\", \"instance_id\", "
                        + "\"instance_type\", \"extra\" "
                        + "from \"instance\" where \"start_time\" <= ? and (\"end_time\" = 0 or \"end_time\" >= ?) "
                        + "order by \"start_time\", \"node\"",
                row -> Map.of(
                        "Cluster",
                        row.getString(1),
                        "NodeName",
                        row.getString(2),
                        "TimeStart",
                        row.getString(3),
                        "TimeEnd",
                        row.getString(4),
                        "InstanceId",
                        row.getString(5),
                        "InstanceType",
                        row.getString(6),
                        "Extra",
                        row.getString(7)),
                to == 0 ? Long.MAX_VALUE : to,
                from);
    }
}
