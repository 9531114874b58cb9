package dev.muster.accounting.table;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.RowTable;
import dev.muster.model.accounting.AccountingRows.Answer;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.EventRow;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.Sluid;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The rows of one journal, and the index up to which they are in the tables. */
public final class Projection implements RowSink, AutoCloseable {
    /**
     * Most rows of a transaction that the embedded database holds in memory; with more it would write its undo records
     * into the file and read them again.
     */
    private static final int ROWS_AT_ONCE = 2_500;

    private record JobKey(long sluid, int restarts) {}

    private record StepKey(long sluid, int restarts, int stepId) {}

    private final AccountingStore store;
    private final int key;
    private final boolean closesStore;
    private volatile long sequence;

    /**
     * Rows of jobs among which the highest number is: tasks of an array have theirs after jobs that were submitted
     * later.
     */
    private static final int NEWEST_ROWS = 1000;

    Projection(AccountingStore store, int key, long sequence, boolean closesStore) {
        this.store = store;
        this.key = key;
        this.sequence = sequence;
        this.closesStore = closesStore;
    }

    int key() {
        return key;
    }

    public AccountingStore store() {
        return store;
    }

    @Override
    public long sequence() {
        return sequence;
    }

    /** Numbers of the newest job of this journal that has a row; 0 where there is none. */
    public record Highest(int jobId, long sluid) {
        public static final Highest NONE = new Highest(0, 0);
    }

    public Highest highest() {
        String sql = "select \"job_id\", \"sluid\" from \"job\" where \"cluster_key\" = ? and \"sluid\" < ? order "
                + "by \"sluid\" desc";
        try {
            return store.database().read(reader -> {
                try (PreparedStatement statement = reader.prepareStatement(sql)) {
                    statement.setMaxRows(NEWEST_ROWS);
                    statement.setInt(1, key);
                    statement.setLong(2, Sluid.UNSIZED_END);
                    Highest out = Highest.NONE;
                    try (ResultSet row = statement.executeQuery()) {
                        while (row.next()) {
                            out = new Highest(Math.max(out.jobId, row.getInt(1)), Math.max(out.sluid, row.getLong(2)));
                        }
                    }
                    return out;
                }
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("read", e);
        }
    }

    /** Goes back to an earlier index: what follows it is taken again. */
    public void rewind(long index) {
        try {
            store.writer().execute(c -> {
                setSequence(c, index);
            });
            sequence = index;
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
    }

    private void setSequence(Connection connection, long index) throws SQLException {
        try (PreparedStatement set =
                connection.prepareStatement("update \"projection\" set \"seq\" = ? where \"id\" = ?")) {
            set.setLong(1, index);
            set.setInt(2, key);
            set.executeUpdate();
        }
    }

    /** The index in the tables is not the one known here: a commit whose answer was lost, or another process. */
    private static final class MovedException extends SQLException {
        private static final long serialVersionUID = 1L;
        private final long stored;

        MovedException(long stored) {
            super("the tables hold entries up to " + stored);
            this.stored = stored;
        }
    }

    /** Tests that the tables end where the batches were cut off, and locks the index until the transaction ends. */
    private void checkSequence(Connection connection, long expected) throws SQLException {
        try (PreparedStatement get =
                connection.prepareStatement("select \"seq\" from \"projection\" where \"id\" = ? for update")) {
            get.setInt(1, key);
            try (ResultSet row = get.executeQuery()) {
                row.next();
                if (row.getLong(1) != expected) {
                    throw new MovedException(row.getLong(1));
                }
            }
        }
    }

    @Override
    public synchronized void write(List<Batch> batches) {
        try {
            writeAfter(sequence, batches);
        } catch (MovedException e) {
            // what the tables have by now is not written again
            sequence = e.stored;
            try {
                writeAfter(sequence, batches);
            } catch (SQLException again) {
                throw AccountingStore.failed("write to", again);
            }
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
    }

    private void writeAfter(long stored, List<Batch> batches) throws SQLException {
        Map<JobKey, JobRow> jobs = new LinkedHashMap<>();
        Map<StepKey, StepRow> steps = new LinkedHashMap<>();
        List<Batch> fresh = new ArrayList<>();
        long last = stored;
        for (Batch batch : batches) {
            if (batch.seq() > last) {
                batch.jobs().forEach(j -> jobs.put(new JobKey(j.sluid(), j.restarts()), j));
                batch.steps().forEach(s -> steps.put(new StepKey(s.sluid(), s.restarts(), s.stepId()), s));
                fresh.add(batch);
                last = batch.seq();
            }
        }
        if (last == stored) {
            return;
        }
        long reached = last;
        int written = jobs.size() + steps.size();
        // a few go with the rest
        if (written > ROWS_AT_ONCE) {
            ahead(jobs.values().iterator());
        }
        store.writer().execute(c -> {
            checkSequence(c, stored);
            for (Map.Entry<JobKey, JobRow> job : jobs.entrySet()) {
                job.setValue(store.edited().merged(c, key, job.getValue()));
            }
            mergeAll(c, AccountingStore.JOBS, jobs.values());
            mergeAll(c, AccountingStore.STEPS, steps.values());
            for (Batch batch : fresh) {
                events(c, batch);
                ReservationTable.write(c, key, batch);
            }
            ReservationTable.number(c, key, jobs.values());
            for (Batch batch : fresh) {
                InstanceTable.write(c, key, batch);
                JobTexts.write(c, store.database().dialect(), key, batch);
            }
            setSequence(c, reached);
        });
        store.writer().wrote(written);
        sequence = reached;
    }

    /**
     * Writes rows of jobs on which no other row depends ahead of the index, some at a time, and takes them out of the
     * batch: after a crash they are written once more. Rows with sums over entries (suspended time, all of a step) go
     * on from the tables and are never ahead of the index.
     */
    private void ahead(Iterator<JobRow> rows) throws SQLException {
        List<JobRow> some = new ArrayList<>();
        while (store.database().dialect() == Database.Dialect.H2 && rows.hasNext()) {
            JobRow row = rows.next();
            if (row.reservation().isEmpty()
                    && row.suspendedSeconds() == 0
                    && !store.edited().has(key, row)) {
                some.add(row);
                rows.remove();
            }
            if (some.size() == ROWS_AT_ONCE || !rows.hasNext()) {
                store.writer().execute(c -> {
                    mergeAll(c, AccountingStore.JOBS, some);
                });
                some.clear();
            }
        }
    }

    private <T extends Record> void mergeAll(Connection connection, RowTable<T> table, Iterable<T> rows)
            throws SQLException {
        if (!rows.iterator().hasNext()) {
            return;
        }
        try (PreparedStatement merge =
                connection.prepareStatement(table.mergeSql(store.database().dialect()))) {
            for (T row : rows) {
                table.bind(merge, key, row);
                merge.addBatch();
            }
            merge.executeBatch();
        }
    }

    /** A node's new state ends the event that was open for it; a state that is worth an event opens one. */
    private void events(Connection connection, Batch batch) throws SQLException {
        int item = 0;
        for (EventRow e : batch.events()) {
            try (PreparedStatement end = connection.prepareStatement(
                    "update \"node_event\" set \"end_time\" = ? where \"cluster\" = ? and \"node\" = ? and "
                            + "\"end_time\" = 0")) {
                end.setLong(1, e.time());
                end.setString(2, e.cluster());
                end.setString(3, e.node());
                end.executeUpdate();
            }
            if (e.state().isEmpty()) {
                continue;
            }
            // after a rewind the entry comes again
            String sql = store.database()
                    .dialect()
                    .merge(
                            "node_event",
                            "\"cluster_key\", \"seq\", \"item\", \"cluster\", \"node\", \"start_time\", \"end_time\", "
                                    + "\"state\", \"reason\", \"reason_user\", \"tres\", \"cluster_nodes\"",
                            "\"cluster_key\", \"seq\", \"item\"",
                            "?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?");
            try (PreparedStatement add = connection.prepareStatement(sql)) {
                add.setInt(1, key);
                add.setLong(2, batch.seq());
                add.setInt(3, item++);
                add.setString(4, e.cluster());
                add.setString(5, e.node());
                add.setLong(6, e.time());
                add.setString(7, e.state());
                add.setString(8, e.reason());
                add.setString(9, e.user());
                add.setString(10, e.tres());
                add.setString(11, e.clusterNodes());
                add.executeUpdate();
            }
        }
    }

    @Override
    public long checkpoint() {
        long covered = sequence;
        try {
            store.writer().flush();
            return covered;
        } catch (SQLException e) {
            throw new AccountingException("cannot write the accounting database out: " + ErrorSentence.of(e), e);
        }
    }

    @Override
    public Optional<JobRow> job(long sluid, int restarts) {
        return one(AccountingStore.JOBS, "job", "\"sluid\" = ? and \"restarts\" = ?", List.of(sluid, restarts));
    }

    @Override
    public Optional<StepRow> step(long sluid, int restarts, int stepId) {
        return one(
                AccountingStore.STEPS,
                "step",
                "\"sluid\" = ? and \"restarts\" = ? and \"step_id\" = ?",
                List.of(sluid, restarts, stepId));
    }

    private <T extends Record> Optional<T> one(RowTable<T> table, String name, String where, List<Object> values) {
        String sql =
                "select " + table.selectList("t") + " from \"" + name + "\" t where \"cluster_key\" = ? and " + where;
        try {
            return store.database().read(reader -> {
                try (PreparedStatement statement = reader.prepareStatement(sql)) {
                    statement.setInt(1, key);
                    for (int i = 0; i < values.size(); i++) {
                        statement.setObject(i + 2, values.get(i));
                    }
                    try (ResultSet row = statement.executeQuery()) {
                        return row.next() ? Optional.of(table.read(row)) : Optional.<T>empty();
                    }
                }
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("read", e);
        }
    }

    /** Like {@link AccountingStore#jobs}. */
    public void jobs(Query query, Consumer<JobWithSteps> consumer) {
        store.jobs(query, consumer);
    }

    /** Like {@link AccountingStore#answer}. */
    public Answer answer(Query query, long now, String cluster) {
        return store.answer(query, now, cluster);
    }

    /** Like {@link AccountingStore#packed}. */
    public byte[] packed(Query query, long now, String cluster) {
        return store.packed(query, now, cluster, PackedRows.Numbers.NONE);
    }

    /** Closes the store too, if this is the only projection in it. */
    @Override
    public void close() {
        if (closesStore) {
            store.close();
        }
    }
}
