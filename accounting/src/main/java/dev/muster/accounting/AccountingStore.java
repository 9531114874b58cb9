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
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/**
 * Jobs and steps in a database. Rows and the journal's index they come from are committed together, so that after any
 * crash the projection goes on exactly where the tables are. One thread writes; any may read.
 */
public final class AccountingStore implements AutoCloseable {
    static final RowTable<JobRow> JOBS = new RowTable<>(JobRow.class, "job", "sluid", "restarts");
    static final RowTable<StepRow> STEPS = new RowTable<>(StepRow.class, "step", "sluid", "restarts", "step_id");
    /** Memory for pages of the embedded database. */
    private static final int CACHE_KB = 16_384;

    private record JobKey(long sluid, int restarts) {
    }

    private record StepKey(long sluid, int restarts, int stepId) {
    }

    private final DataSource source;
    private final Connection writer;
    private final PreparedStatement mergeJob;
    private final PreparedStatement mergeStep;
    private final PreparedStatement setSequence;
    private volatile long sequence;

    /** The embedded database in a directory, made if it is absent. */
    public static AccountingStore open(Path directory, UUID clusterId) {
        return openUrl("jdbc:h2:file:" + directory.toAbsolutePath().resolve("accounting")
            + ";DB_CLOSE_ON_EXIT=FALSE;CACHE_SIZE=" + CACHE_KB, clusterId);
    }

    /** A database in memory, for tests and simulations. */
    public static AccountingStore inMemory(String name, UUID clusterId) {
        return openUrl("jdbc:h2:mem:" + name + ";DB_CLOSE_ON_EXIT=FALSE", clusterId);
    }

    private static AccountingStore openUrl(String url, UUID clusterId) {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL(url);
        source.setUser("muster");
        try {
            return new AccountingStore(source, clusterId);
        } catch (SQLException e) {
            throw new AccountingException("cannot open the accounting database " + url + ": " + e.getMessage(), e);
        }
    }

    private AccountingStore(DataSource source, UUID clusterId) throws SQLException {
        this.source = source;
        this.writer = source.getConnection();
        try {
            writer.setAutoCommit(false);
            Migrations.apply(writer);
            claim(clusterId);
        } catch (SQLException e) {
            writer.close();
            throw e;
        }
        mergeJob = writer.prepareStatement(JOBS.mergeSql());
        mergeStep = writer.prepareStatement(STEPS.mergeSql());
        setSequence = writer.prepareStatement("update \"projection\" set \"seq\" = ? where \"id\" = 1");
        try (Statement statement = writer.createStatement();
                ResultSet row = statement.executeQuery("select \"seq\" from \"projection\" where \"id\" = 1")) {
            row.next();
            sequence = row.getLong(1);
        }
    }

    /** The tables belong to one cluster: numbers of jobs and indexes of another's journal mean nothing in them. */
    private void claim(UUID clusterId) throws SQLException {
        String own = clusterId.toString();
        try (PreparedStatement set = writer.prepareStatement(
                "update \"projection\" set \"cluster_id\" = ? where \"id\" = 1 and \"cluster_id\" = ''");
                PreparedStatement get = writer.prepareStatement("select \"cluster_id\" from \"projection\"")) {
            set.setString(1, own);
            set.executeUpdate();
            writer.commit();
            try (ResultSet row = get.executeQuery()) {
                row.next();
                if (!row.getString(1).equals(own)) {
                    throw new SQLException("it belongs to cluster " + row.getString(1) + ", not to " + own);
                }
            }
        }
    }

    /** Goes back to an earlier index: what follows it is taken again. */
    public void rewind(long index) {
        try {
            setSequence.setLong(1, index);
            setSequence.executeUpdate();
            writer.commit();
            sequence = index;
        } catch (SQLException e) {
            throw new AccountingException("cannot write to the accounting database: " + e.getMessage(), e);
        }
    }

    /** Everything up to this index of the journal is in the tables. */
    public long sequence() {
        return sequence;
    }

    /** Writes batches in one transaction. Those that are in the tables already are passed over. */
    public void write(List<Batch> batches) {
        Map<JobKey, JobRow> jobs = new LinkedHashMap<>();
        Map<StepKey, StepRow> steps = new LinkedHashMap<>();
        long last = sequence;
        for (Batch batch : batches) {
            if (batch.seq() > last) {
                batch.jobs().forEach(j -> jobs.put(new JobKey(j.sluid(), j.restarts()), j));
                batch.steps().forEach(s -> steps.put(new StepKey(s.sluid(), s.restarts(), s.stepId()), s));
                last = batch.seq();
            }
        }
        if (last == sequence) {
            return;
        }
        try {
            mergeAll(mergeJob, JOBS, jobs.values());
            mergeAll(mergeStep, STEPS, steps.values());
            setSequence.setLong(1, last);
            setSequence.executeUpdate();
            writer.commit();
            sequence = last;
        } catch (SQLException e) {
            rollback(e);
            throw new AccountingException("cannot write to the accounting database: " + e.getMessage(), e);
        }
    }

    private static <T extends Record> void mergeAll(PreparedStatement merge, RowTable<T> table, Iterable<T> rows)
            throws SQLException {
        boolean any = false;
        for (T row : rows) {
            table.bind(merge, row);
            merge.addBatch();
            any = true;
        }
        if (any) {
            merge.executeBatch();
        }
    }

    private void rollback(SQLException cause) {
        try {
            mergeJob.clearBatch();
            mergeStep.clearBatch();
            writer.rollback();
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    /** Makes what was written survive a loss of power; until then the journal must keep it. Gives the index covered. */
    public long checkpoint() {
        long covered = sequence;
        try (Statement statement = writer.createStatement()) {
            statement.execute("checkpoint sync");
            writer.commit();
            return covered;
        } catch (SQLException e) {
            throw new AccountingException("cannot write the accounting database out: " + e.getMessage(), e);
        }
    }

    /** The jobs asked for, in the order of their numbers, with their steps. Memory is bounded by the largest job. */
    public void jobs(Query query, Consumer<JobWithSteps> consumer) {
        JobQuery asked = new JobQuery(query);
        try (Connection reader = snapshot();
                PreparedStatement jobs = asked.prepareJobs(reader);
                PreparedStatement steps = asked.prepareSteps(reader);
                ResultSet jobRows = jobs.executeQuery();
                ResultSet stepRows = query.allocationsOnly() ? null : steps.executeQuery()) {
            StepCursor cursor = new StepCursor(stepRows);
            Optional<JobWithSteps> held = Optional.empty();
            while (jobRows.next()) {
                JobRow job = JOBS.read(jobRows);
                List<StepRow> own = asked.wanted(job, cursor.of(job));
                if (!asked.accepts(job, own)) {
                    continue;
                }
                // Of several attempts, or jobs that had the same number, only the last is shown unless all are wanted.
                if (held.isPresent() && (query.duplicates() || held.get().job().jobId() != job.jobId())) {
                    consumer.accept(held.get());
                }
                held = Optional.of(new JobWithSteps(job, own));
            }
            held.ifPresent(consumer);
        } catch (SQLException e) {
            throw new AccountingException("cannot read the accounting database: " + e.getMessage(), e);
        }
    }

    /** One attempt's row as it stands in the tables. */
    public Optional<JobRow> job(long sluid, int restarts) {
        String sql = "select " + JOBS.selectList("j") + " from \"job\" j where \"sluid\" = ? and \"restarts\" = ?";
        return one(JOBS, sql, List.of(sluid, restarts));
    }

    /** One step's row as it stands in the tables. */
    public Optional<StepRow> step(long sluid, int restarts, int stepId) {
        String sql = "select " + STEPS.selectList("s")
            + " from \"step\" s where \"sluid\" = ? and \"restarts\" = ? and \"step_id\" = ?";
        return one(STEPS, sql, List.of(sluid, restarts, stepId));
    }

    private <T extends Record> Optional<T> one(RowTable<T> table, String sql, List<Object> key) {
        try (Connection reader = source.getConnection(); PreparedStatement statement = reader.prepareStatement(sql)) {
            for (int i = 0; i < key.size(); i++) {
                statement.setObject(i + 1, key.get(i));
            }
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(table.read(row)) : Optional.empty();
            }
        } catch (SQLException e) {
            throw new AccountingException("cannot read the accounting database: " + e.getMessage(), e);
        }
    }

    /** A connection that sees one moment: jobs and their steps are read by two statements. */
    private Connection snapshot() throws SQLException {
        Connection reader = source.getConnection();
        reader.setAutoCommit(false);
        reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        return reader;
    }

    /** As {@link #jobs(Query, Consumer)}, all at once. */
    public Answer answer(Query query, long now, String cluster) {
        List<JobWithSteps> found = new ArrayList<>();
        jobs(query, found::add);
        return new Answer(now, cluster, List.copyOf(found));
    }

    @Override
    public void close() {
        try (Statement statement = writer.createStatement()) {
            statement.execute("shutdown");
        } catch (SQLException e) {
            throw new AccountingException("cannot close the accounting database: " + e.getMessage(), e);
        }
    }
}
