package dev.muster.accounting.table;

import dev.muster.accounting.db.AccountingException;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import java.util.List;
import java.util.Optional;

/** Takes the rows of one journal: tables of this process, or slurmdbd. */
public interface RowSink {
    /** Everything up to this index of the journal is in the tables. */
    long sequence();

    /**
     * Writes batches in one transaction. Those that are in the tables already are passed over.
     *
     * @throws AccountingException if it cannot
     */
    void write(List<Batch> batches);

    /** Makes what was written survive a loss of power; until then the journal must keep it. Gives the index covered. */
    long checkpoint();

    /** Whether the tables can be asked now without waiting for long. */
    default boolean answers() {
        return true;
    }

    /** One attempt's row as it stands in the tables. */
    Optional<JobRow> job(long sluid, int restarts);

    /** One step's row as it stands in the tables. */
    Optional<StepRow> step(long sluid, int restarts, int stepId);
}
