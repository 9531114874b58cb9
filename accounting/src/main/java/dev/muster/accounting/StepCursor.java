package dev.muster.accounting;

import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Walks the steps beside the jobs: both come in the same order, and every step's job is among the jobs. */
final class StepCursor {
    private final ResultSet rows;
    private StepRow ahead;
    private int aheadKey;

    /** @param rows null when no steps are wanted */
    StepCursor(ResultSet rows) throws SQLException {
        this.rows = rows;
        advance();
    }

    private void advance() throws SQLException {
        ahead = rows != null && rows.next() ? AccountingStore.STEPS.read(rows) : null;
        aheadKey = ahead == null ? 0 : rows.getInt(AccountingStore.STEPS.columnNames().size() + 1);
    }

    List<StepRow> of(JobRow job, int clusterKey) throws SQLException {
        List<StepRow> own = new ArrayList<>();
        while (ahead != null && aheadKey == clusterKey && ahead.sluid() == job.sluid() && ahead.restarts() == job.restarts()) {
            own.add(ahead);
            advance();
        }
        return own;
    }
}
