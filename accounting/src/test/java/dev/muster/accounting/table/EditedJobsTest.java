package dev.muster.accounting.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.db.Database;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.job.ExitStatus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Changes of jobs that have not ended outlive the rows that their controller sends later. */
class EditedJobsTest {
    private final AccountingStore store = AccountingStore.on(Database.inMemory("edited" + System.nanoTime()));
    private final Projection rows = store.projection("test", "journal");
    private long sequence;

    private void writes(String state, long end, String comment, String admin) {
        JobRow row = new JobRow(
                7,
                0,
                7,
                0,
                -1,
                "",
                0,
                "job",
                1000,
                "u",
                100,
                "g",
                "acct",
                "normal",
                "",
                "debug",
                "",
                state,
                "None",
                -1,
                ExitStatus.NONE,
                ExitStatus.NONE,
                10,
                10,
                20,
                end,
                0,
                60,
                1,
                "n1",
                1,
                1,
                1,
                512,
                true,
                "cpu=1",
                "cpu=1",
                "",
                "/tmp",
                "sbatch x",
                "",
                "o",
                "e",
                comment,
                admin,
                "",
                "",
                "",
                true,
                0,
                0,
                "",
                "",
                "OK",
                "NO",
                0,
                0,
                0,
                "",
                0,
                "",
                "",
                0,
                "");
        rows.write(List.of(new Batch(++sequence, List.of(row), List.of())));
    }

    private Changed edit(Map<String, String> set) {
        Change change = new Change("modify", "job", set, Map.of("jobid", "7", "cluster", "test"), true);
        return new JobEdits(store).run(change, 0, true, AssocTree.of(List.of(), 1));
    }

    private List<String> texts() {
        JobRow row = rows.job(7, 0).orElseThrow();
        return List.of(row.state(), row.comment(), row.adminComment(), row.systemComment(), row.extra());
    }

    @Test
    void ownTextsOfAJobWinAndEmptyOnesEraseNothing() {
        writes("RUNNING", 0, "", "");
        assertThat(edit(Map.of("comment", "c", "admincomment", "a", "systemcomment", "s", "extra", "e"))
                        .names())
                .containsExactly("7\t10");
        assertThat(texts()).containsExactly("RUNNING", "c", "a", "s", "e");
        writes("COMPLETED", 30, "", "own");
        assertThat(texts()).containsExactly("COMPLETED", "c", "own", "s", "e");
    }

    @Test
    void aJobWithoutChangesKeepsNothing() {
        writes("PENDING", 0, "first", "");
        writes("RUNNING", 0, "", "");
        assertThat(texts()).containsExactly("RUNNING", "", "", "", "");
    }
}
