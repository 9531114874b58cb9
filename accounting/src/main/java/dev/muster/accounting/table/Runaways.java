package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.Query;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Jobs that are not over in the tables. Whether their controller still knows them, the caller has to find out. */
public final class Runaways {
    private final AccountingStore store;

    public Runaways(AccountingStore store) {
        this.store = store;
    }

    /** The jobs of a cluster that wait, run or are suspended here, by number. */
    public List<Map<String, String>> open(String cluster) {
        List<Map<String, String>> out = new ArrayList<>();
        Query open = new Query(
                List.of(),
                List.of(),
                true,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of("PENDING", "RUNNING", "SUSPENDED"),
                List.of(),
                List.of(),
                0,
                0,
                true,
                true,
                0,
                0,
                0,
                0,
                0,
                0,
                List.of(cluster));
        store.jobs(open, found -> {
            JobRow job = found.job();
            if (job.endTime() == 0) {
                Map<String, String> row = new LinkedHashMap<>();
                row.put("ID", Integer.toString(job.jobId()));
                row.put("Name", job.name());
                row.put("Partition", job.partition());
                row.put("Cluster", cluster);
                row.put("State", job.state());
                row.put("TimeSubmit", Long.toString(job.submitTime()));
                row.put("TimeStart", Long.toString(job.startTime()));
                row.put("TimeEnd", "0");
                row.put("Key", job.sluid() + ":" + job.restarts());
                out.add(row);
            }
        });
        return out;
    }

    /**
     * Ends them with the latest of the times that are known. Returns how many were ended; what is no key ends nothing.
     */
    public int end(String cluster, List<String> keys) {
        String latest = "greatest(\"start_time\", \"eligible_time\", \"submit_time\")";
        String of = " where \"end_time\" = 0 and \"sluid\" = ? and \"restarts\" = ? and \"cluster_key\" in "
                + "(select \"id\" from \"projection\" where \"cluster\" = ?)";
        try {
            return store.writer().run(c -> {
                int count = 0;
                try (PreparedStatement job = c.prepareStatement(
                                "update \"job\" set \"end_time\" = " + latest + ", \"state\" = 'COMPLETED'" + of);
                        PreparedStatement step = c.prepareStatement(
                                "update \"step\" set \"end_time\" = \"start_time\", \"state\" = 'COMPLETED'" + of)) {
                    for (String key : keys) {
                        if (!key.matches("\\d{1,18}:\\d{1,9}")) {
                            continue;
                        }
                        int colon = key.indexOf(':');
                        for (PreparedStatement end : List.of(job, step)) {
                            end.setLong(1, Long.parseLong(key.substring(0, colon)));
                            end.setInt(2, Integer.parseInt(key.substring(colon + 1)));
                            end.setString(3, cluster);
                        }
                        count += job.executeUpdate();
                        step.executeUpdate();
                    }
                }
                return count;
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
    }
}
