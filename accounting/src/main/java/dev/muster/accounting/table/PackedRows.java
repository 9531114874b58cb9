package dev.muster.accounting.table;

import dev.muster.accounting.db.RowTable;
import dev.muster.model.accounting.AccountingRows.Answer;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.PackedAnswer;
import dev.muster.model.job.StepId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Packed answers. The rows of a question that SQL decides alone go from the database's answer to the packed one as they
 * are: no record is made of them. The database returns them in nearly the right order, and they are sorted here.
 */
public final class PackedRows {
    /** Most values of jobs, and of steps, that are held at once; larger answers are sent in parts. */
    private static final int VALUES_MAX = 6_000_000;

    /** The numbers of associations and keys: the book has them, not the rows. */
    public interface Numbers {
        /** Numbers without a book. */
        Numbers NONE = new Numbers() {
            @Override
            public int association(String cluster, String account, String user, String partition) {
                return 0;
            }

            @Override
            public int wckey(String cluster, String user, String key) {
                return 0;
            }
        };

        int association(String cluster, String account, String user, String partition);

        int wckey(String cluster, String user, String key);
    }

    /** A row as it came: numbers and flags, and texts, each at the place of its column. */
    private record Raw(int key, long[] numbers, String[] texts) {}

    /** The columns that are read of one table, and where those are that order and choice go by. */
    private static final class Table {
        private final boolean[] wanted;
        private final List<PackedAnswer.Column> columns;

        Table(RowTable<?> of, boolean[] wanted) {
            this.wanted = wanted;
            this.columns = of.packed(wanted);
        }

        /** Returns -1 if it is not read. */
        int place(String name) {
            for (int i = 0; i < columns.size(); i++) {
                if (columns.get(i).name().equals(name)) {
                    return i;
                }
            }
            return -1;
        }

        /** All rows; null if there are more. */
        @Nullable
        List<Raw> read(ResultSet rows, int maximum) throws SQLException {
            List<Raw> out = new ArrayList<>();
            int n = columns.size();
            String[] before = new String[n];
            while (rows.next()) {
                if (out.size() == maximum) {
                    return null;
                }
                long[] numbers = new long[n];
                String[] texts = new String[n];
                for (int i = 0; i < n; i++) {
                    switch (columns.get(i).kind()) {
                        case NUMBER -> numbers[i] = rows.getLong(i + 1);
                        case FLAG -> numbers[i] = rows.getBoolean(i + 1) ? 1 : 0;
                        case TEXT -> {
                            String text = rows.getString(i + 1);
                            // the rows of a site are much alike: what is the same is held once
                            texts[i] = text.equals(before[i]) ? before[i] : text;
                            before[i] = texts[i];
                        }
                    }
                }
                out.add(new Raw(rows.getInt(n + 1), numbers, texts));
            }
            return out;
        }

        void write(PackedAnswer.Writer to, Raw row) {
            for (int i = 0; i < row.numbers.length; i++) {
                if (row.texts[i] != null) {
                    to.value(row.texts[i]);
                } else {
                    to.value(row.numbers[i]);
                }
            }
        }
    }

    private final AccountingStore store;
    private final Query query;
    private final JobQuery selection;
    private final Numbers numbers;
    private final Table jobs;
    private final Table steps;
    private final int jobId;
    private final int sluid;
    private final int restarts;
    private final int stepSluid;
    private final int stepRestarts;

    PackedRows(AccountingStore store, Query query, JobQuery selection, Numbers numbers) {
        this.store = store;
        this.query = query;
        this.selection = selection;
        this.numbers = numbers;
        this.jobs = new Table(AccountingStore.JOBS, JobQuery.jobColumns(query));
        this.steps = new Table(AccountingStore.STEPS, JobQuery.stepColumns(query));
        this.jobId = jobs.place("jobId");
        this.sluid = jobs.place("sluid");
        this.restarts = jobs.place("restarts");
        this.stepSluid = steps.place("sluid");
        this.stepRestarts = steps.place("restarts");
    }

    /** The answer as a whole; empty if it is longer than what is held at once. */
    Optional<byte[]> answer(long now, String cluster) throws SQLException {
        List<List<Raw>> found = store.database().read(this::read);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        List<Raw> jobRows = found.get(0);
        List<Raw> parts = found.get(1);
        int submitTime = jobs.place("submitTime");
        jobRows.sort(Comparator.<Raw>comparingLong(r -> r.numbers[jobId])
                .thenComparingLong(r -> r.numbers[submitTime])
                .thenComparingInt(Raw::key)
                .thenComparingLong(r -> r.numbers[restarts])
                .thenComparingLong(r -> r.numbers[sluid]));
        int startTime = steps.place("startTime");
        int stepId = steps.place("stepId");
        parts.sort(Comparator.comparingInt(Raw::key)
                .thenComparingLong(r -> r.numbers[stepSluid])
                .thenComparingLong(r -> r.numbers[stepRestarts])
                .thenComparingLong(r -> r.numbers[startTime])
                .thenComparing(r -> (int) r.numbers[stepId], StepId.ORDER));
        PackedAnswer.Writer out = new PackedAnswer.Writer(now, cluster, jobs.columns, steps.columns);
        int state = jobs.place("state");
        int index = 0;
        for (int i = 0; i < jobRows.size(); i++) {
            Raw job = jobRows.get(i);
            index = first(parts, index, job);
            int end = index;
            while (end < parts.size() && isOf(parts.get(end), job)) {
                end++;
            }
            // of several attempts only the last, but all sizes
            boolean hidden = !query.duplicates()
                    && !job.texts[state].equals(AccountingStore.RESIZING)
                    && i + 1 < jobRows.size()
                    && jobRows.get(i + 1).numbers[jobId] == job.numbers[jobId]
                    && store.clusterOf(jobRows.get(i + 1).key).equals(store.clusterOf(job.key));
            if (!hidden) {
                write(out, job);
                for (Raw step : parts.subList(index, end)) {
                    out.step();
                    steps.write(out, step);
                }
            }
            index = end;
        }
        return Optional.of(out.end(0));
    }

    private List<List<Raw>> read(Connection connection) throws SQLException {
        List<Raw> jobRows;
        int maximum = VALUES_MAX / jobs.columns.size();
        maximum = query.limit() > 0 ? Math.min(maximum, query.limit()) : maximum;
        int mostSteps = VALUES_MAX / steps.columns.size();
        try (PreparedStatement select = selection.prepareAnyJobs(connection, jobs.wanted, maximum + 1)) {
            store.database().inParts(select);
            try (ResultSet rows = select.executeQuery()) {
                jobRows = jobs.read(rows, maximum);
            }
        }
        if (jobRows == null) {
            return List.of();
        }
        List<Raw> parts = new ArrayList<>();
        if (!query.allocationsOnly() && !jobRows.isEmpty()) {
            try (PreparedStatement select = selection.prepareAnySteps(connection, steps.wanted, mostSteps + 1)) {
                store.database().inParts(select);
                try (ResultSet rows = select.executeQuery()) {
                    parts = steps.read(rows, mostSteps);
                }
            }
        }
        return parts == null ? List.of() : List.of(jobRows, parts);
    }

    private boolean isOf(Raw step, Raw job) {
        return compare(step, job) == 0;
    }

    private int compare(Raw step, Raw job) {
        int by = Integer.compare(step.key, job.key);
        by = by != 0 ? by : Long.compare(step.numbers[stepSluid], job.numbers[sluid]);
        return by != 0 ? by : Long.compare(step.numbers[stepRestarts], job.numbers[restarts]);
    }

    /** Index of a job's first step: mostly behind those of the job before it. */
    private int first(List<Raw> parts, int likely, Raw job) {
        boolean after = likely == 0 || compare(parts.get(likely - 1), job) < 0;
        if (after && (likely == parts.size() || compare(parts.get(likely), job) >= 0)) {
            return likely;
        }
        int low = 0;
        int high = parts.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (compare(parts.get(middle), job) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private void write(PackedAnswer.Writer out, Raw job) {
        String cluster = store.clusterOf(job.key);
        int assocId = jobs.place("assocId");
        int wckeyId = jobs.place("wckeyId");
        boolean numbered = assocId >= 0 && job.numbers[assocId] != 0 || wckeyId >= 0 && job.numbers[wckeyId] != 0;
        String user = job.texts[jobs.place("userName")];
        if (assocId >= 0 && !numbered) {
            job.numbers[assocId] = numbers.association(
                    cluster, job.texts[jobs.place("account")], user, job.texts[jobs.place("partition")]);
        }
        if (wckeyId >= 0 && !numbered) {
            job.numbers[wckeyId] = numbers.wckey(cluster, user, job.texts[jobs.place("wckey")]);
        }
        out.job(cluster);
        jobs.write(out, job);
    }

    /** An answer of records, packed. */
    public static byte[] of(Query query, Answer answer, Numbers numbers) {
        boolean[] jobColumns = JobQuery.jobColumns(query);
        boolean[] stepColumns = JobQuery.stepColumns(query);
        PackedAnswer.Writer out = new PackedAnswer.Writer(
                answer.now(),
                answer.cluster(),
                AccountingStore.JOBS.packed(jobColumns),
                AccountingStore.STEPS.packed(stepColumns));
        for (JobWithSteps found : answer.jobs()) {
            out.job(found.cluster());
            JobRow job = found.job();
            AccountingStore.JOBS.pack(
                    out,
                    job.assocId() != 0
                            ? job
                            : job.numbered(
                                    numbers.association(
                                            found.cluster(), job.account(), job.userName(), job.partition()),
                                    numbers.wckey(found.cluster(), job.userName(), job.wckey())),
                    jobColumns);
            for (StepRow s : found.steps()) {
                out.step();
                AccountingStore.STEPS.pack(out, s, stepColumns);
            }
        }
        return out.end(answer.next());
    }
}
