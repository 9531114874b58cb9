package dev.muster.controller.view;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages.JobInfo;
import dev.muster.model.api.JobMessages.QueryJobs;
import dev.muster.model.format.IndexSet;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Set;

/**
 * The rows of an answer to {@link QueryJobs}: of one that is short together, of a long one line by line while they are
 * looked up.
 */
public final class JobRowWriter {
    /** Number of rows from which an answer is written as a stream. */
    private static final int LONG = 1_000;
    /** Bytes that are sent at a time: with smaller pieces both ends wait for each other. */
    private static final int BLOCK_BYTES = 1 << 20;

    private final QueryJobs q;
    private final List<JobQuery.Hit> hits;
    private final JobViews views;
    private final Codec.Columns columns;

    public JobRowWriter(QueryJobs q, List<JobQuery.Hit> hits, JobViews views) {
        this.q = q;
        this.hits = hits;
        this.views = views;
        this.columns = Codec.columns(JobInfo.class, Set.copyOf(q.fields()));
    }

    public boolean isLong() {
        long rows = hits.size();
        for (int i = 0; i < hits.size() && rows < LONG; i++) {
            rows += tasks(hits.get(i)).count();
        }
        return rows >= LONG;
    }

    /** Returns the tasks that have a row each; none where the job has one. */
    private IndexSet tasks(JobQuery.Hit hit) {
        if (!hit.job().isArrayRecord()
                || !q.expandArrays() && (hit.tasks().isEmpty() || hit.tasks().count() > 1)) {
            return IndexSet.empty();
        }
        return hit.tasks().isEmpty() ? hit.job().array().pending() : hit.tasks();
    }

    /** Takes a row. */
    private interface Each {
        void row(JobInfo info) throws IOException;
    }

    private void each(Each each) throws IOException {
        for (JobQuery.Hit hit : hits) {
            IndexSet tasks = tasks(hit);
            if (tasks.isEmpty() && hit.job().isArrayRecord() && !hit.tasks().isEmpty()) {
                each.row(views.info(hit.job(), hit.tasks(), hit.others(), q.details()));
            } else if (tasks.isEmpty()) {
                each.row(views.info(hit.job(), -1, q.details()));
            }
            for (int t = tasks.first(); t >= 0; t = tasks.next(t + 1)) {
                each.row(views.info(hit.job(), t, q.details()));
            }
        }
    }

    /** Returns out, with the elements of the list. */
    public Json.Writer together(Json.Writer out) {
        int before = out.size();
        try {
            each(row -> columns.write(out.size() > before ? out.raw(',') : out, row));
        } catch (IOException e) {
            throw new IllegalStateException(e); // nothing is sent here
        }
        return out;
    }

    /** Writes each row as a line, with the end of the list and of the answer as the last one. */
    public void lines(OutputStream to) throws IOException {
        Json.Writer out = new Json.Writer();
        String[] separator = {""};
        each(row -> {
            columns.write(out.raw(separator[0]), row);
            separator[0] = ",\n";
            if (out.size() >= BLOCK_BYTES) {
                out.drain(to);
            }
        });
        out.raw("\n]}").drain(to);
    }
}
