package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.Batch;
import java.util.List;

/**
 * max_dbd_msg_action=discard: what is thrown away of that which waits, in the order of Slurm's manual. What jobs were
 * when they ended, and what became of nodes and reservations, stays as long as there is room.
 */
enum Overflow {
    /** Rows of steps are dropped. */
    STEPS,
    /** And what jobs were before they ended, with their scripts. */
    STARTS,
    /** All. */
    EVERYTHING;

    Batch of(Batch batch) {
        return switch (this) {
            case STEPS ->
                new Batch(
                        batch.seq(),
                        batch.jobs(),
                        List.of(),
                        batch.events(),
                        batch.texts(),
                        batch.contents(),
                        batch.reservations(),
                        batch.instances());
            case STARTS ->
                new Batch(
                        batch.seq(),
                        batch.jobs().stream().filter(j -> j.endTime() > 0).toList(),
                        List.of(),
                        batch.events(),
                        List.of(),
                        List.of(),
                        batch.reservations(),
                        batch.instances());
            case EVERYTHING -> new Batch(batch.seq(), List.of(), List.of(), List.of());
        };
    }
}
