package dev.muster.accounting.table;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.EmbeddedErrors;
import dev.muster.accounting.db.Fence;
import dev.muster.accounting.db.Migrations;
import dev.muster.accounting.db.RowTable;
import dev.muster.accounting.db.Writer;
import dev.muster.model.accounting.AccountingRows.Answer;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.Sluid;
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
import org.jspecify.annotations.Nullable;

/**
 * Jobs, steps and entities in a database. The rows of a journal's entries and the index they come from are committed
 * together, so that after any crash the projection goes on exactly where the tables are. One writes at a time; any may
 * read.
 */
public final class AccountingStore implements AutoCloseable {
    static final RowTable<JobRow> JOBS = new RowTable<>(JobRow.class, "job", "sluid", "restarts");
    static final RowTable<StepRow> STEPS = new RowTable<>(StepRow.class, "step", "sluid", "restarts", "step_id");

    /** The state of a row that ends because its job has another size from then on. */
    public static final String RESIZING = "RESIZING";

    /** Rows of jobs in one answer of those that come in parts. */
    private static final int PAGE_MAX = 50_000;
    /** Stands in place of a job's number where the rows are of one job alone, which has more rows than that. */
    private static final int ONE_JOB = -1;

    private final Database database;
    private final Writer writer;
    private final Map<Integer, String> clusters = new ConcurrentHashMap<>();
    private final EditedJobs edited = new EditedJobs();

    /** The embedded database of one cluster in a directory, made if it is absent. */
    public static Projection open(Path directory, UUID clusterId) {
        return only(on(Database.embedded(directory)), clusterId);
    }

    /** A database in memory, for tests and simulations. */
    public static Projection inMemory(String name, UUID clusterId) {
        return only(on(Database.inMemory(name)), clusterId);
    }

    /**
     * Brings the database up to the newest schema.
     *
     * @throws AccountingException if it cannot be used
     */
    public static AccountingStore on(Database database) {
        return on(database, Fence.NONE);
    }

    /**
     * Like {@link #on(Database)}, for tables that another process may take over.
     *
     * @param fence decides for each transaction whether this process may still write
     */
    public static AccountingStore on(Database database, Fence fence) {
        try {
            return new AccountingStore(database, fence);
        } catch (SQLException e) {
            throw unusable(database, e);
        }
    }

    /**
     * The files that {@link #on} would apply.
     *
     * @throws AccountingException if it would not go on with the database
     */
    public static List<String> pending(Database database) {
        if (database.file().filter(file -> !java.nio.file.Files.exists(file)).isPresent()) {
            return Migrations.FILES;
        }
        Writer writer = new Writer(database);
        try {
            return writer.run(c -> Migrations.pending(c, database.dialect()));
        } catch (SQLException e) {
            throw unusable(database, e);
        } finally {
            writer.close();
        }
    }

    private static AccountingException unusable(Database database, SQLException e) {
        return new AccountingException(
                database.file()
                        .map(file -> "accounting: " + EmbeddedErrors.sentence(file, e))
                        .orElseGet(() ->
                                "cannot open the accounting database " + database.where() + ": " + ErrorSentence.of(e)),
                e);
    }

    private AccountingStore(Database database, Fence fence) throws SQLException {
        this.database = database;
        this.writer = new Writer(database, fence);
        try {
            writer.execute(c -> {
                Migrations.apply(c, database.dialect());
                edited.load(c);
            });
            readClusters();
        } catch (SQLException e) {
            writer.close();
            throw e;
        }
    }

    EditedJobs edited() {
        return edited;
    }

    private void readClusters() throws SQLException {
        database.scan(c -> {
            try (PreparedStatement statement = c.prepareStatement("select \"id\", \"cluster\" from \"projection\"");
                    ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    clusters.put(row.getInt(1), row.getString(2));
                }
            }
        });
    }

    /** The tables belong to one cluster: numbers of jobs and indexes of another's journal mean nothing in them. */
    private static Projection only(AccountingStore store, UUID clusterId) {
        String id = clusterId.toString();
        try {
            store.writer.execute(c -> {
                try (PreparedStatement set =
                                c.prepareStatement("update \"projection\" set \"cluster_id\" = ? where \"id\" = 1 and "
                                        + "\"cluster_id\" = ''");
                        PreparedStatement get =
                                c.prepareStatement("select \"cluster_id\" from \"projection\" where \"id\" = 1")) {
                    set.setString(1, id);
                    set.executeUpdate();
                    try (ResultSet row = get.executeQuery()) {
                        row.next();
                        if (!row.getString(1).equals(id)) {
                            throw new SQLException("it belongs to cluster " + row.getString(1) + ", not to " + id
                                    + ": was the directory journal beside it removed? Restore that, or move "
                                    + "this one away as well");
                        }
                    }
                }
            });
            return store.projection(1, true);
        } catch (SQLException e) {
            store.close();
            throw unusable(store.database, e);
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
                try (PreparedStatement add =
                        c.prepareStatement("insert into \"projection\" (\"id\", \"seq\", \"cluster_id\", \"cluster\") "
                                + "values (?, 0, ?, ?)")) {
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

    /** Journals by number, with their clusters. */
    Map<Integer, String> clusters() {
        return Map.copyOf(clusters);
    }

    Database database() {
        return database;
    }

    Writer writer() {
        return writer;
    }

    /** Makes what was committed since the last time survive a loss of power. */
    public void flush() {
        try {
            writer.flushIfWritten();
        } catch (SQLException e) {
            throw failed("write out", e);
        }
    }

    /** Reads one row. */
    public interface RowReader<T> {
        T of(ResultSet row) throws SQLException;
    }

    /**
     * All rows that a select returns.
     *
     * @param values of its marks, in their order
     */
    public <T> List<T> rows(String sql, RowReader<T> reader, Object... values) {
        try {
            return database.read(c -> rows(c, sql, reader, values));
        } catch (SQLException e) {
            throw failed("read", e);
        }
    }

    /** Like {@link #rows(String, RowReader, Object...)}, within a transaction. */
    public static <T> List<T> rows(Connection connection, String sql, RowReader<T> reader, Object... values)
            throws SQLException {
        List<T> out = new ArrayList<>();
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                select.setObject(i + 1, values[i]);
            }
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    out.add(reader.of(row));
                }
            }
        }
        return out;
    }

    static AccountingException failed(String verb, SQLException e) {
        return new AccountingException("cannot " + verb + " the accounting database: " + ErrorSentence.of(e), e);
    }

    /**
     * Ends jobs of former journals of a cluster: no controller will report their end.
     *
     * @return how many were ended
     */
    public int endOrphans(Projection current, String cluster, long now) {
        try {
            return writer.run(c -> {
                int count = 0;
                for (String table : List.of("step", "job")) {
                    String sql = "update \"" + table
                            + "\" set \"end_time\" = ?, \"state\" = 'NODE_FAIL' where \"end_time\" = 0 and "
                            + "\"cluster_key\" in "
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

    /**
     * A time of a cluster or a node that is known from elsewhere.
     *
     * @param end 0 while it lasts
     */
    void addEvent(
            Connection connection,
            int key,
            String cluster,
            String node,
            long start,
            long end,
            String state,
            String reason,
            String tres,
            String nodes)
            throws SQLException {
        long item;
        try (PreparedStatement max = connection.prepareStatement(
                "select coalesce(max(\"item\"), 0) from \"node_event\" where \"cluster_key\" = ? "
                        + "and \"seq\" = 0")) {
            max.setInt(1, key);
            try (ResultSet row = max.executeQuery()) {
                row.next();
                item = row.getLong(1) + 1;
            }
        }
        try (PreparedStatement add = connection.prepareStatement(
                "insert into \"node_event\" (\"cluster_key\", \"seq\", \"item\", \"cluster\", \"node\", "
                        + "\"start_time\", \"end_time\", \"state\", \"reason\", \"reason_user\", \"tres\", "
                        + "\"cluster_nodes\") "
                        + "values (?, 0, ?, ?, ?, ?, ?, ?, ?, '', ?, ?)")) {
            add.setInt(1, key);
            add.setLong(2, item);
            add.setString(3, cluster);
            add.setString(4, node);
            add.setLong(5, start);
            add.setLong(6, end);
            add.setString(7, state);
            add.setString(8, reason);
            add.setString(9, tres);
            add.setString(10, nodes);
            add.executeUpdate();
        }
    }

    /** The resources that a cluster has from now on; nothing if it had the same before. */
    public void clusterResources(Projection of, String cluster, long now, String tres, String nodes) {
        try {
            writer.execute(c -> {
                try (PreparedStatement open = c.prepareStatement(
                        "select \"tres\", \"cluster_nodes\" from \"node_event\" where \"cluster\" = ? "
                                + "and \"node\" = '' and \"end_time\" = 0")) {
                    open.setString(1, cluster);
                    try (ResultSet row = open.executeQuery()) {
                        if (row.next()
                                && row.getString(1).equals(tres)
                                && row.getString(2).equals(nodes)) {
                            return;
                        }
                    }
                }
                try (PreparedStatement end =
                        c.prepareStatement("update \"node_event\" set \"end_time\" = ? where \"cluster\" = ? "
                                + "and \"node\" = '' and \"end_time\" = 0")) {
                    end.setLong(1, now);
                    end.setString(2, cluster);
                    end.executeUpdate();
                }
                addEvent(c, of.key(), cluster, "", now, 0, "", "Cluster Registered TRES", tres, nodes);
            });
        } catch (SQLException e) {
            throw failed("write to", e);
        }
    }

    private List<Integer> keys(Query query) {
        return new TreeMap<>(clusters)
                .entrySet().stream()
                        .filter(e ->
                                query.clusters().isEmpty() || query.clusters().contains(e.getValue()))
                        .map(Map.Entry::getKey)
                        .toList();
    }

    /** The jobs asked for, in the order of their numbers, with their steps. Memory is bounded by the largest job. */
    public void jobs(Query query, Consumer<JobWithSteps> consumer) {
        List<Integer> keys = keys(query);
        if (keys.isEmpty()) {
            return;
        }
        JobQuery selection = new JobQuery(query, keys);
        try {
            database.scan(reader -> {
                try (PreparedStatement jobs = selection.prepareJobs(reader);
                        PreparedStatement steps = selection.prepareSteps(reader);
                        ResultSet jobRows = jobs.executeQuery();
                        ResultSet stepRows = query.allocationsOnly() ? null : steps.executeQuery()) {
                    walk(reader, query, selection, jobRows, new StepCursor(stepRows), consumer);
                }
            });
        } catch (SQLException e) {
            throw failed("read", e);
        }
    }

    private void walk(
            Connection reader,
            Query query,
            JobQuery selection,
            ResultSet jobRows,
            StepCursor cursor,
            Consumer<JobWithSteps> consumer)
            throws SQLException {
        Latest latest = new Latest(query, consumer);
        int keyColumn = JOBS.columnNames().size() + 1;
        while (jobRows.next()) {
            take(reader, query, selection, JOBS.read(jobRows), jobRows.getInt(keyColumn), cursor, latest);
        }
        latest.done();
    }

    /** Like {@link #jobs(Query, Consumer)}, all at once, or as many as the query's limit. */
    public Answer answer(Query query, long now, String cluster) {
        List<JobWithSteps> found = new ArrayList<>();
        int next = 0;
        if (query.limit() > 0) {
            next = page(query.limit() > PAGE_MAX ? query.page(query.fromJob(), PAGE_MAX) : query, found::add);
        } else {
            jobs(query, found::add);
        }
        return new Answer(now, cluster, List.copyOf(found), next);
    }

    /** Like {@link #answer}, packed. */
    public byte[] packed(Query query, long now, String cluster, PackedRows.Numbers numbers) {
        List<Integer> keys = keys(query);
        if (!keys.isEmpty() && JobQuery.isSqlAlone(query)) {
            try {
                Optional<byte[]> made =
                        new PackedRows(this, query, new JobQuery(query, keys), numbers).answer(now, cluster);
                if (made.isPresent()) {
                    return made.get();
                }
            } catch (SQLException e) {
                throw failed("read", e);
            }
        }
        return PackedRows.of(query, answer(query, now, cluster), numbers);
    }

    /** The cluster that a journal is of. */
    String clusterOf(int key) {
        return clusters.getOrDefault(key, "");
    }

    /** A job's row with the number of its journal. */
    private record KeyedJob(JobRow job, int key) {}

    /**
     * The first rows of an answer, whole jobs.
     *
     * @return the number of the job to go on from; 0 if that was all
     */
    private int page(Query query, Consumer<JobWithSteps> consumer) {
        List<Integer> keys = keys(query);
        if (keys.isEmpty()) {
            return 0;
        }
        JobQuery selection = new JobQuery(query, keys);
        boolean[] jobColumns = JobQuery.jobColumns(query);
        boolean[] stepColumns = JobQuery.stepColumns(query);
        try {
            int next = database.read(reader -> {
                List<KeyedJob> rows = new ArrayList<>();
                int keyColumn = RowTable.count(jobColumns) + 1;
                try (PreparedStatement jobs = selection.prepareJobs(reader, jobColumns);
                        ResultSet row = jobs.executeQuery()) {
                    while (row.next()) {
                        rows.add(new KeyedJob(JOBS.read(row, jobColumns), row.getInt(keyColumn)));
                    }
                }
                int following = 0;
                if (rows.size() >= query.limit()) {
                    // the last job may have more rows: it comes again
                    int last = rows.getLast().job.jobId();
                    following = last;
                    rows.removeIf(r -> r.job.jobId() == last);
                    if (rows.isEmpty()) {
                        return ONE_JOB;
                    }
                }
                Latest latest = new Latest(query, consumer);
                if (query.allocationsOnly() || rows.isEmpty()) {
                    walk(reader, query, selection, rows, new StepCursor(null), latest);
                } else {
                    try (PreparedStatement steps = selection.prepareSteps(
                                    reader, stepColumns, rows.getLast().job.jobId());
                            ResultSet row = steps.executeQuery()) {
                        walk(reader, query, selection, rows, new StepCursor(row, stepColumns), latest);
                    }
                }
                latest.done();
                return following;
            });
            return next == ONE_JOB ? page(query.page(query.fromJob(), 2 * query.limit()), consumer) : next;
        } catch (SQLException e) {
            throw failed("read", e);
        }
    }

    private void walk(
            Connection reader, Query query, JobQuery selection, List<KeyedJob> rows, StepCursor cursor, Latest latest)
            throws SQLException {
        for (KeyedJob r : rows) {
            take(reader, query, selection, r.job, r.key, cursor, latest);
        }
    }

    /**
     * Leaves the last of several attempts, or of jobs with the same number, unless the query wants all; with all sizes
     * of that attempt.
     */
    private static final class Latest {
        private final Query query;
        private final Consumer<JobWithSteps> consumer;
        private @Nullable JobWithSteps held;

        Latest(Query query, Consumer<JobWithSteps> consumer) {
            this.query = query;
            this.consumer = consumer;
        }

        void add(JobWithSteps found) {
            if (held != null
                    && (query.duplicates()
                            || held.job().state().equals(RESIZING)
                            || held.job().jobId() != found.job().jobId()
                            || !held.cluster().equals(found.cluster()))) {
                consumer.accept(held);
            }
            held = found;
        }

        void done() {
            if (held != null) {
                consumer.accept(held);
            }
        }
    }

    private void take(
            Connection reader, Query query, JobQuery selection, JobRow job, int key, StepCursor cursor, Latest latest)
            throws SQLException {
        List<StepRow> steps = selection.wanted(job, cursor.of(job, key));
        if (selection.accepts(job, steps)) {
            latest.add(new JobWithSteps(
                    job,
                    steps,
                    clusters.getOrDefault(key, ""),
                    query.text().isEmpty()
                            ? ""
                            : JobTexts.of(
                                    reader,
                                    key,
                                    Sluid.original(job.sluid()),
                                    query.text().equals(Query.SCRIPT))));
        }
    }

    @Override
    public void close() {
        database.close();
        writer.shutDown();
    }
}
