package dev.muster.accounting;

import dev.muster.model.accounting.AccountingRows.Answer;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Jobs, steps and entities in a database. The rows of a journal's entries and the index they come from are committed together, so
 * that after any crash the projection goes on exactly where the tables are. One writes at a time; any may read.
 */
public final class AccountingStore implements AutoCloseable {
    static final RowTable<JobRow> JOBS = new RowTable<>(JobRow.class, "job", "sluid", "restarts");
    static final RowTable<StepRow> STEPS = new RowTable<>(StepRow.class, "step", "sluid", "restarts", "step_id");

    private final Database database;
    private final Writer writer;
    private final Map<Integer, String> clusters = new ConcurrentHashMap<>();

    /** The embedded database of one cluster in a directory, made if it is absent. */
    public static Projection open(Path directory, UUID clusterId) {
        return only(on(Database.embedded(directory)), clusterId);
    }

    /** A database in memory, for tests and simulations. */
    public static Projection inMemory(String name, UUID clusterId) {
        return only(on(Database.inMemory(name)), clusterId);
    }

    /** Brings the database up to the newest schema. @throws AccountingException if it cannot be used */
    public static AccountingStore on(Database database) {
        try {
            return new AccountingStore(database);
        } catch (SQLException e) {
            throw new AccountingException("cannot open the accounting database " + database.where() + ": " + e.getMessage(), e);
        }
    }

    private AccountingStore(Database database) throws SQLException {
        this.database = database;
        this.writer = new Writer(database);
        try {
            writer.run(c -> {
                Migrations.apply(c, database.dialect());
                return null;
            });
            readClusters();
        } catch (SQLException e) {
            writer.close();
            throw e;
        }
    }

    private void readClusters() throws SQLException {
        database.read(c -> {
            try (PreparedStatement statement = c.prepareStatement("select \"id\", \"cluster\" from \"projection\"");
                    ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    clusters.put(row.getInt(1), row.getString(2));
                }
            }
            return null;
        });
    }

    /** The tables belong to one cluster: numbers of jobs and indexes of another's journal mean nothing in them. */
    private static Projection only(AccountingStore store, UUID clusterId) {
        String own = clusterId.toString();
        try {
            store.writer.run(c -> {
                try (PreparedStatement set = c.prepareStatement(
                        "update \"projection\" set \"cluster_id\" = ? where \"id\" = 1 and \"cluster_id\" = ''");
                        PreparedStatement get = c.prepareStatement("select \"cluster_id\" from \"projection\" where \"id\" = 1")) {
                    set.setString(1, own);
                    set.executeUpdate();
                    try (ResultSet row = get.executeQuery()) {
                        row.next();
                        if (!row.getString(1).equals(own)) {
                            throw new SQLException("it belongs to cluster " + row.getString(1) + ", not to " + own);
                        }
                    }
                }
                return null;
            });
            return store.projection(1, true);
        } catch (SQLException e) {
            store.close();
            throw new AccountingException("cannot open the accounting database " + store.database.where() + ": " + e.getMessage(), e);
        }
    }

    /**
     * The projection of one cluster's journal; begun if it is new.
     *
     * @param journal names the journal: a cluster that forgot everything begins a new one
     */
    public Projection projection(String cluster, String journal) {
        try {
            int id = writer.run(c -> {
                try (PreparedStatement find = c.prepareStatement(
                        "select \"id\" from \"projection\" where \"cluster\" = ? and \"cluster_id\" = ?")) {
                    find.setString(1, cluster);
                    find.setString(2, journal);
                    try (ResultSet row = find.executeQuery()) {
                        if (row.next()) {
                            return row.getInt(1);
                        }
                    }
                }
                int next;
                try (PreparedStatement max = c.prepareStatement("select max(\"id\") from \"projection\"");
                        ResultSet row = max.executeQuery()) {
                    row.next();
                    next = row.getInt(1) + 1;
                }
                try (PreparedStatement add = c.prepareStatement(
                        "insert into \"projection\" (\"id\", \"seq\", \"cluster_id\", \"cluster\") values (?, 0, ?, ?)")) {
                    add.setInt(1, next);
                    add.setString(2, journal);
                    add.setString(3, cluster);
                    add.executeUpdate();
                }
                return next;
            });
            clusters.put(id, cluster);
            return projection(id, false);
        } catch (SQLException e) {
            throw failed("write to", e);
        }
    }

    private Projection projection(int id, boolean closesStore) throws SQLException {
        long sequence = database.read(c -> {
            try (PreparedStatement get = c.prepareStatement("select \"seq\" from \"projection\" where \"id\" = ?")) {
                get.setInt(1, id);
                try (ResultSet row = get.executeQuery()) {
                    row.next();
                    return row.getLong(1);
                }
            }
        });
        return new Projection(this, id, sequence, closesStore);
    }

    Database database() {
        return database;
    }

    Writer writer() {
        return writer;
    }

    /** Makes what was committed since the last time survive a loss of power. */
    void flush() {
        try {
            writer.flushIfWritten();
        } catch (SQLException e) {
            throw failed("write out", e);
        }
    }

    static AccountingException failed(String verb, SQLException e) {
        return new AccountingException("cannot " + verb + " the accounting database: " + e.getMessage(), e);
    }

    /**
     * Jobs of journals that the cluster has left behind are over: nobody will ever tell how they ended.
     *
     * @return how many were ended
     */
    public int endOrphans(Projection current, String cluster, long now) {
        try {
            return writer.run(c -> {
                int count = 0;
                for (String table : List.of("step", "job")) {
                    String sql = "update \"" + table
                            + "\" set \"end_time\" = ?, \"state\" = 'NODE_FAIL' where \"end_time\" = 0 and \"cluster_key\" in "
                            + "(select \"id\" from \"projection\" where \"cluster\" = ? and \"id\" <> ?)";
                    try (PreparedStatement end = c.prepareStatement(sql)) {
                        end.setLong(1, now);
                        end.setString(2, cluster);
                        end.setInt(3, current.key());
                        count = end.executeUpdate();
                    }
                }
                return count;
            });
        } catch (SQLException e) {
            throw failed("write to", e);
        }
    }

    /** The jobs asked for, in the order of their numbers, with their steps. Memory is bounded by the largest job. */
    public void jobs(Query query, Consumer<JobWithSteps> consumer) {
        List<Integer> keys = new TreeMap<>(clusters).entrySet().stream()
                .filter(e -> query.clusters().isEmpty() || query.clusters().contains(e.getValue())).map(Map.Entry::getKey).toList();
        if (keys.isEmpty()) {
            return;
        }
        JobQuery asked = new JobQuery(query, keys);
        try {
            database.read(reader -> {
                try (PreparedStatement jobs = asked.prepareJobs(reader);
                        PreparedStatement steps = asked.prepareSteps(reader);
                        ResultSet jobRows = jobs.executeQuery();
                        ResultSet stepRows = query.allocationsOnly() ? null : steps.executeQuery()) {
                    walk(reader, query, asked, jobRows, new StepCursor(stepRows), consumer);
                }
                return null;
            });
        } catch (SQLException e) {
            throw failed("read", e);
        }
    }

    private void walk(Connection reader, Query query, JobQuery asked, ResultSet jobRows, StepCursor cursor, Consumer<JobWithSteps> consumer)
            throws SQLException {
        Optional<JobWithSteps> held = Optional.empty();
        int keyColumn = JOBS.columnNames().size() + 1;
        while (jobRows.next()) {
            JobRow job = JOBS.read(jobRows);
            int key = jobRows.getInt(keyColumn);
            List<StepRow> own = asked.wanted(job, cursor.of(job, key));
            if (!asked.accepts(job, own)) {
                continue;
            }
            JobWithSteps found = new JobWithSteps(job, own, clusters.getOrDefault(key, ""),
                    query.text().isEmpty() ? "" : JobTexts.of(reader, key, job.sluid(), query.text().equals(Query.SCRIPT)));
            // Of several attempts, or jobs that had the same number, only the last is shown unless all are wanted.
            if (held.isPresent() && (query.duplicates() || held.get().job().jobId() != job.jobId()
                    || !held.get().cluster().equals(found.cluster()))) {
                consumer.accept(held.get());
            }
            held = Optional.of(found);
        }
        held.ifPresent(consumer);
    }

    /** As {@link #jobs(Query, Consumer)}, all at once. */
    public Answer answer(Query query, long now, String cluster) {
        List<JobWithSteps> found = new ArrayList<>();
        jobs(query, found::add);
        return new Answer(now, cluster, List.copyOf(found));
    }

    @Override
    public void close() {
        database.close();
        writer.shutDown();
    }
}
