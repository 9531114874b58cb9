package dev.muster.accounting.table;

import dev.muster.accounting.db.RowTable;
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

    private final boolean[] columns;

    /** @param rows null when no steps are wanted */
    StepCursor(ResultSet rows) throws SQLException {
        this(rows, null);
    }

    /** @param columns those that were selected, null for all */
    StepCursor(ResultSet rows, boolean[] columns) throws SQLException {
        this.rows = rows;
        this.columns = columns;
        advance();
    }

    private void advance() throws SQLException {
        if (rows == null || !rows.next()) {
            ahead = null;
        } else if (columns == null) {
            ahead = AccountingStore.STEPS.read(rows);
        } else {
            ahead = AccountingStore.STEPS.read(rows, columns);
        }

        if (ahead == null) {
            aheadKey = 0;
        } else {
            aheadKey = rows.getInt(
                    (columns == null ? AccountingStore.STEPS.columnNames().size() : RowTable.count(columns)) + 1);
        }
    }

    List<StepRow> of(JobRow job, int clusterKey) throws SQLException {
        List<StepRow> own = new ArrayList<>();
        while (ahead != null
                && aheadKey == clusterKey
                && ahead.sluid() == job.sluid()
                && ahead.restarts() == job.restarts()) {
            own.add(ahead);
            advance();
        }
        return own;
    }
}
