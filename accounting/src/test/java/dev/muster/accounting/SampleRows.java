package dev.muster.accounting;

import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.AccountingRows.Usage;
import dev.muster.model.job.ExitStatus;
import java.util.List;

/** Rows of jobs and steps for tests, and a query for them. */
final class SampleRows {
    private SampleRows() {}

    static JobRow job(int id, String state, long end) {
        return new JobRow(
                id,
                0,
                id,
                0,
                -1,
                "",
                0,
                "näme " + id,
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
                "cpu=1,mem=512M",
                "",
                "/tmp",
                "sbatch x",
                "",
                "o",
                "e",
                "it's a 'comment' \\ with ;",
                "",
                "",
                "",
                "",
                true,
                id,
                1,
                "fluent:1",
                "",
                "OK",
                "NO",
                0,
                0,
                4,
                "r,s",
                0,
                "n1",
                "",
                5,
                "high,low");
    }

    static StepRow step(int id) {
        return new StepRow(
                id,
                0,
                -5,
                id,
                "batch",
                "COMPLETED",
                -1,
                ExitStatus.exited(3),
                20,
                30,
                "n1",
                1,
                1,
                1,
                "cpu=1",
                "Block",
                "",
                new Usage(1, 2, 3, "n1", 0, 4, 5, "n1", 0, 6, 7, 8, 9, 10, 11, 12, 13, 14),
                "/bundle",
                "Low-High:OnDemand",
                6);
    }

    static Query query(boolean duplicates, String... clusters) {
        return new Query(
                List.of(),
                List.of(),
                true,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                0,
                0,
                duplicates,
                false,
                0,
                0,
                0,
                0,
                0,
                0,
                List.of(clusters));
    }
}
