package dev.muster.accounting.table;

import dev.muster.accounting.db.RowTable;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Walks the steps beside the jobs: both come in the same order, and every step's job is among the jobs. */
final class StepCursor {
    private final @Nullable ResultSet rows;
    private @Nullable StepRow ahead;
    private int aheadKey;

    private final boolean @Nullable [] columns;

    /** @param rows null when no steps are wanted */
    StepCursor(@Nullable ResultSet rows) throws SQLException {
        this(rows, null);
    }

    /** @param columns those that were selected, null for all */
    StepCursor(@Nullable ResultSet rows, boolean @Nullable [] columns) throws SQLException {
        this.rows = rows;
        this.columns = columns;
        advance();
    }

    private void advance() throws SQLException {
        if (rows == null || !rows.next()) {
            ahead = null;
            aheadKey = 0;
        } else if (columns == null) {
            ahead = AccountingStore.STEPS.read(rows);
            aheadKey = rows.getInt(AccountingStore.STEPS.columnNames().size() + 1);
        } else {
            ahead = AccountingStore.STEPS.read(rows, columns);
            aheadKey = rows.getInt(RowTable.count(columns) + 1);
        }
    }

    List<StepRow> of(JobRow job, int clusterKey) throws SQLException {
        List<StepRow> steps = new ArrayList<>();
        while (ahead != null
                && aheadKey == clusterKey
                && ahead.sluid() == job.sluid()
                && ahead.restarts() == job.restarts()) {
            steps.add(ahead);
            advance();
        }
        return steps;
    }
}
