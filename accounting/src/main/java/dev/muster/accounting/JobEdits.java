package dev.muster.accounting;

import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** {@code sacctmgr modify job}: what may be said of a job that is over. Its controller knows nothing of it. */
final class JobEdits {
    static final String NOTHING = "Request didn't affect anything or your user doesn't have privilege to perform this action";
    private static final Changed DENIED = new Changed(List.of(), List.of(), List.of(), List.of(SlurmErrno.ACCESS_DENIED.sentence()),
            SlurmErrno.ACCESS_DENIED.number());
    private static final int JOBS_MAX = 100_000;

    private final AccountingStore store;

    JobEdits(AccountingStore store) {
        this.store = store;
    }

    /** The columns that are set, with their values. */
    private static Map<String, Object> columns(Change c) {
        Map<String, Object> out = new TreeMap<>();
        c.set().forEach((key, value) -> {
            switch (key) {
                case "comment", "wckey", "extra" -> out.put(key, value);
                case "admincomment" -> out.put("admin_comment", value);
                case "systemcomment" -> out.put("system_comment", value);
                // a plain number: the original keeps it where a signal would stand, and so it is shown
                case "derivedexitcode" -> {
                    out.put("derived_exit_code", 0);
                    out.put("derived_exit_signal", Integer.parseInt(value));
                }
                default -> throw new IllegalArgumentException(key);
            }
        });
        return out;
    }

    private static Changed refused(String sentence) {
        return new Changed(List.of(), List.of(), List.of(), List.of(sentence), -1);
    }

    /**
     * Of jobs that are over only: the row of one that is not is written again when it ends.
     *
     * @param cluster  the caller's own, where none is named
     * @param operator may change any job; others their own, and there the comment and the derived exit code
     */
    Changed run(Change c, int uid, boolean operator, String cluster) {
        List<String> known = List.of("comment", "wckey", "extra", "admincomment", "systemcomment", "derivedexitcode");
        if (c.set().keySet().stream().anyMatch(k -> !known.contains(k))) {
            return refused("Setting " + c.set().keySet() + " of a job is not supported by this version");
        }
        if (!c.set().getOrDefault("derivedexitcode", "0").matches("\\d{1,3}")) {
            return refused("Invalid value for DerivedExitCode (" + c.set().get("derivedexitcode") + ")");
        }
        if (!operator && c.set().keySet().stream().anyMatch(k -> !List.of("comment", "derivedexitcode").contains(k))) {
            return DENIED;
        }
        List<Object> values = new ArrayList<>();
        String where = where(c, cluster, values);
        try {
            return store.writer().run(on -> {
                String found = "select \"cluster_key\", \"sluid\", \"restarts\", \"job_id\", \"submit_time\", \"user_id\" from \"job\"" + where
                        + " order by \"job_id\", \"submit_time\"";
                List<Object[]> rows = new ArrayList<>();
                List<String> names = new ArrayList<>();
                try (PreparedStatement select = bound(on.prepareStatement(found), values, 0); ResultSet row = select.executeQuery()) {
                    while (row.next() && rows.size() < JOBS_MAX) {
                        if (!operator && row.getInt(6) != uid) {
                            return DENIED;
                        }
                        rows.add(new Object[] {row.getInt(1), row.getLong(2), row.getInt(3)});
                        names.add(row.getInt(4) + "\t" + row.getLong(5));
                    }
                }
                if (rows.isEmpty()) {
                    return refused(NOTHING);
                }
                Map<String, Object> columns = columns(c);
                if (c.commit()) {
                    String sets = String.join(", ", columns.keySet().stream().map(k -> "\"" + k + "\" = ?").toList());
                    String update = "update \"job\" set " + sets + " where \"cluster_key\" = ? and \"sluid\" = ? and \"restarts\" = ?";
                    try (PreparedStatement set = on.prepareStatement(update)) {
                        for (Object[] key : rows) {
                            bound(bound(set, List.copyOf(columns.values()), 0), List.of(key), columns.size());
                            set.addBatch();
                        }
                        set.executeBatch();
                    }
                }
                return new Changed(names, List.of(), List.of(), List.of(), 0);
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
    }

    private static PreparedStatement bound(PreparedStatement statement, List<Object> values, int from) throws SQLException {
        for (int i = 0; i < values.size(); i++) {
            statement.setObject(from + i + 1, values.get(i));
        }
        return statement;
    }

    private static String where(Change c, String cluster, List<Object> values) {
        List<String> all = new ArrayList<>(List.of("\"end_time\" > 0"));
        String clusters = c.where().getOrDefault("cluster", cluster);
        all.add("\"cluster_key\" in (select \"id\" from \"projection\" where \"cluster\" in (" + marks(clusters, values) + "))");
        for (Map.Entry<String, String> e : c.where().entrySet()) {
            switch (e.getKey()) {
                case "jobid" -> all.add("(" + String.join(" or ", Stream.of(e.getValue().split(",")).map(id -> named(id, values)).toList()) + ")");
                case "account" -> all.add("\"account\" in (" + marks(e.getValue(), values) + ")");
                case "user" -> all.add("\"user_name\" in (" + marks(e.getValue(), values) + ")");
                case "wckey" -> all.add("\"wckey\" in (" + marks(e.getValue(), values) + ")");
                case "starttime", "endtime" -> {
                    boolean start = e.getKey().equals("starttime");
                    all.add(start ? "\"start_time\" >= ?" : "\"end_time\" < ?");
                    values.add(e.getValue().matches("\\d{1,12}") ? Long.parseLong(e.getValue()) : start ? Long.MAX_VALUE : 0L);
                }
                default -> { }
            }
        }
        return " where " + String.join(" and ", all);
    }

    /** An array's number names all its tasks, {@code 12_3} one of them. */
    private static String named(String id, List<Object> values) {
        if (!id.matches("\\d{1,9}(_\\d{1,9})?")) {
            return "false";
        }
        int at = id.indexOf('_');
        int number = Integer.parseInt(at < 0 ? id : id.substring(0, at));
        values.add(number);
        if (at < 0) {
            values.add(number);
            return "\"job_id\" = ? or \"array_job_id\" = ?";
        }
        values.add(Integer.parseInt(id.substring(at + 1)));
        return "\"array_job_id\" = ? and \"array_task_id\" = ?";
    }

    private static String marks(String list, List<Object> values) {
        List<String> out = new ArrayList<>();
        for (String word : list.split(",")) {
            out.add("?");
            values.add(word);
        }
        return String.join(", ", out);
    }
}
