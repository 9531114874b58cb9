package dev.muster.accounting.table;

import dev.muster.accounting.archive.ArchiveSql;
import dev.muster.accounting.archive.ArchiveSql.Statement;
import dev.muster.accounting.archive.PastJob;
import dev.muster.accounting.book.AssocTree;
import dev.muster.daemon.Identities;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.Entities.Tres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * {@code sacctmgr archive load}: rows of a file into the tables, all of them or none. They stand under a journal of
 * their own beside those of the cluster's controllers.
 */
public final class ArchiveLoad {
    /** The name of that journal. */
    static final String JOURNAL = "archive";
    /** Most different sentences about lost fields. */
    private static final int LOST_MAX = 100;

    private static final List<String> JOB_CONDITIONS = List.of(
            "cluster", "jobid", "id_job", "name", "job_name", "nodelist", "alloc_nodes", "account", "partition");

    private final AccountingStore store;
    private final Identities identities;
    private Set<String> lost = Set.of();

    public ArchiveLoad(AccountingStore store, Identities identities) {
        this.store = store;
        this.identities = identities;
    }

    /**
     * Does what the text says.
     *
     * @return sentences for what of it is not kept here
     * @throws ArchiveSql.UnreadableException if the text is none that can be loaded; nothing was done then
     */
    public Set<String> load(String text, AssocTree book) {
        List<Statement> statements = ArchiveSql.read(text);
        Map<String, Projection> projections = new HashMap<>();
        List<Work> works = new ArrayList<>();
        lost = new LinkedHashSet<>();
        for (Statement s : statements) {
            works.addAll(
                    switch (s) {
                        case Statement.Insert i -> inserted(i, book, projections);
                        case Statement.Truncate t -> List.of(truncated(t, book));
                        case Statement.Delete d -> List.of(deleted(d, book));
                    });
        }
        try {
            store.writer().execute(c -> {
                for (Work w : works) {
                    w.on(c);
                }
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
        return lost;
    }

    private void lost(String sentence) {
        if (lost.size() < LOST_MAX) {
            lost.add(sentence);
        }
    }

    private interface Work {
        void on(Connection connection) throws SQLException;
    }

    private static ArchiveSql.UnreadableException refused(String sentence) {
        return ArchiveSql.refused(sentence);
    }

    private static String known(String cluster, AssocTree book) {
        if (book.cluster(cluster).isEmpty()) {
            throw refused("there is no cluster '" + cluster + "'");
        }
        return cluster;
    }

    private Projection projection(String cluster, Map<String, Projection> known) {
        return known.computeIfAbsent(cluster, name -> store.projection(name, JOURNAL));
    }

    private List<Work> inserted(Statement.Insert insert, AssocTree book, Map<String, Projection> projections) {
        List<Work> out = new ArrayList<>();
        for (Map<String, String> row : insert.rows()) {
            out.add(
                    switch (insert.table()) {
                        case "job_table" -> job(new PastJob(row), book, projections);
                        case "cluster_event_table", "event_table" -> event(row, book, projections);
                        default -> throw refused("rows of the table '" + insert.table() + "' cannot be loaded");
                    });
        }
        return out;
    }

    private Work job(PastJob past, AssocTree book, Map<String, Projection> projections) {
        Projection projection = projection(known(past.cluster(), book), projections);
        Optional<Assoc> assoc = book.assocOfNumber(past.assocId());
        past.lost().forEach(this::lost);
        JobRow row = past.row(
                assoc.map(Assoc::user).filter(u -> !u.isEmpty()).orElseGet(() -> identities.userName(past.uid())),
                identities.groupName(past.gid()),
                assoc.map(Assoc::account).orElse(past.account()),
                qos(past, book),
                numbers -> named(numbers, book));
        return c -> {
            try (PreparedStatement merge = c.prepareStatement(
                    AccountingStore.JOBS.mergeSql(store.database().dialect()))) {
                AccountingStore.JOBS.bind(merge, projection.key(), row);
                merge.executeUpdate();
            }
        };
    }

    /** The name here of the number there. */
    private String qos(PastJob past, AssocTree book) {
        if (!past.qos().matches("\\d{1,9}")) {
            return past.qos();
        }
        String name =
                book.qosOfNumber(Integer.parseInt(past.qos())).map(Qos::name).orElse("");
        if (name.isEmpty()) {
            lost("the QOS with the number " + past.qos() + " is not known here: its jobs are kept without one");
        }
        return name;
    }

    /** {@code 1=4,2=100} is {@code cpu=4,mem=100M}. Unknown numbers are left out. */
    private static String named(String numbers, AssocTree book) {
        List<String> out = new ArrayList<>();
        for (String item : numbers.split(",")) {
            int equalSign = item.indexOf('=');
            if (equalSign <= 0) {
                continue;
            }
            for (Tres tres : book.tres()) {
                if (item.substring(0, equalSign).equals(Integer.toString(tres.id()))) {
                    out.add(tres.full()
                            + item.substring(equalSign)
                            + (tres.full().equals("mem") ? "M" : ""));
                }
            }
        }
        return String.join(",", out);
    }

    private Work event(Map<String, String> row, AssocTree book, Map<String, Projection> projections) {
        for (String column : row.keySet()) {
            if (!List.of(
                            "node_name",
                            "cluster",
                            "tres",
                            "period_start",
                            "period_end",
                            "time_start",
                            "time_end",
                            "reason",
                            "reason_uid",
                            "cluster_nodes",
                            "state",
                            "deleted")
                    .contains(column)) {
                throw refused("the column '" + column + "' of the table of events is not known");
            }
        }
        String cluster = known(row.getOrDefault("cluster", ""), book);
        Projection projection = projection(cluster, projections);
        String node = row.getOrDefault("node_name", "");
        long start = number(row.getOrDefault("period_start", row.getOrDefault("time_start", "")));
        long end = number(row.getOrDefault("period_end", row.getOrDefault("time_end", "")));
        String tres = named(row.getOrDefault("tres", ""), book).replaceAll("(mem=\\d+)M", "$1");
        return c -> {
            try (PreparedStatement same = c.prepareStatement(
                    "delete from \"node_event\" where \"cluster\" = ? and \"node\" = ? and \"start_time\" = ?")) {
                same.setString(1, cluster);
                same.setString(2, node);
                same.setLong(3, start);
                same.executeUpdate();
            }
            store.addEvent(
                    c,
                    projection.key(),
                    cluster,
                    node,
                    start,
                    end,
                    row.getOrDefault("state", "0").equals("0") && !node.isEmpty() ? "UNKNOWN" : "",
                    row.getOrDefault("reason", ""),
                    tres,
                    row.getOrDefault("cluster_nodes", ""));
        };
    }

    private static long number(String text) {
        if (!text.matches("\\d{1,12}")) {
            throw refused("'" + text + "' is no time");
        }
        return Long.parseLong(text);
    }

    /** Ignores the truncation of tables of sums, which do not exist here. */
    private static Work truncated(Statement.Truncate t, AssocTree book) {
        String cluster = known(t.cluster(), book);
        String of = "\"cluster_key\" in (select \"id\" from \"projection\" where \"cluster\" = ?)";
        String sql = switch (t.table()) {
            case "job_table" -> "delete from \"job\" where " + of;
            case "step_table" -> "delete from \"step\" where " + of;
            case "resv_table" -> "delete from \"reservation\" where " + of;
            case "event_table" -> "delete from \"node_event\" where \"cluster\" = ?";
            default -> "";
        };
        return c -> {
            if (!sql.isEmpty()) {
                try (PreparedStatement delete = c.prepareStatement(sql)) {
                    delete.setString(1, cluster);
                    delete.executeUpdate();
                }
            }
        };
    }

    private static Work deleted(Statement.Delete d, AssocTree book) {
        if (!d.table().equals("job_table")) {
            throw refused("rows of the table '" + d.table() + "' cannot be deleted");
        }
        d.where().keySet().stream()
                .filter(k -> !JOB_CONDITIONS.contains(k))
                .findFirst()
                .ifPresent(k -> {
                    throw refused("the condition '" + k + "' is not known");
                });
        String cluster = known(d.where().getOrDefault("cluster", ""), book);
        StringBuilder sql = new StringBuilder(
                "delete from \"job\" where \"cluster_key\" in (select \"id\" from \"projection\" where "
                        + "\"cluster\" = ?)");
        List<Object> values = new ArrayList<>(List.of(cluster));
        d.where().forEach((column, value) -> {
            switch (column) {
                case "jobid", "id_job" -> {
                    sql.append(" and \"job_id\" = ?");
                    values.add((int) Math.min(Integer.MAX_VALUE, number(value)));
                }
                case "name", "job_name", "account", "partition" -> {
                    sql.append(" and \"").append(column.replace("job_", "")).append("\" = ?");
                    values.add(value);
                }
                case "nodelist", "alloc_nodes" -> {
                    boolean count = column.equals("alloc_nodes") && value.matches("\\d{1,6}");
                    sql.append(count ? " and \"node_count\" = ?" : " and \"nodes\" = ?");
                    values.add(count ? (Object) Integer.parseInt(value) : value);
                }
                default -> {}
            }
        });
        return c -> {
            try (PreparedStatement delete = c.prepareStatement(sql.toString())) {
                for (int i = 0; i < values.size(); i++) {
                    delete.setObject(i + 1, values.get(i));
                }
                delete.executeUpdate();
            }
        };
    }
}
