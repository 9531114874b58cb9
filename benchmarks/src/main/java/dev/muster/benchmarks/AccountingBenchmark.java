package dev.muster.benchmarks;

import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.Projection;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.AccountingRows.Usage;
import dev.muster.model.job.ExitStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Prints how fast rows are written and read back: 100,000 jobs, each written five times with one step. */
final class AccountingBenchmark {
    private static final int JOBS = 100_000;
    private static final int GROUP = 200;

    private AccountingBenchmark() {}

    public static void main(String[] args) throws Exception {
        Path dir = Files.createTempDirectory(Path.of(args.length > 0 ? args[0] : "target"), "acct");
        try (Projection store = AccountingStore.open(dir, new UUID(1, 1))) {
            long seq = 0;
            long start = System.nanoTime();
            for (int pass = 0; pass < 5; pass++) {
                for (int first = 1; first <= JOBS; first += GROUP) {
                    List<Batch> group = new ArrayList<>();
                    for (int id = first; id < first + GROUP; id++) {
                        group.add(new Batch(++seq, List.of(job(id, pass)), pass < 4 ? List.of() : List.of(step(id))));
                    }
                    store.write(group);
                }
                long ns = System.nanoTime() - start;
                System.out.printf("pass %d: %,.0f rows/s%n", pass, seq * 1e9 / ns);
            }
            time("one job by id", () -> count(store, List.of("50000"), List.of(), 0));
            time("the last 100 by time", () -> count(store, List.of(), List.of(), 1_000_000 + JOBS - 100));
            time("one user's", () -> count(store, List.of(), List.of(1007), 0));
            time("all", () -> count(store, List.of(), List.of(), 0));
        }
    }

    private interface Counted {
        int count();
    }

    private static void time(String what, Counted query) {
        query.count();
        long start = System.nanoTime();
        int found = query.count();
        System.out.printf("%-22s %,8d jobs in %,.1f ms%n", what, found, (System.nanoTime() - start) / 1e6);
    }

    private static int count(Projection store, List<String> jobs, List<Integer> users, long from) {
        int[] found = {0};
        store.jobs(
                new Query(
                        jobs, users, true, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                        List.of(), List.of(), from, 0, false, false, 0, 0, 0, 0, 0, 0, List.of()),
                j -> found[0]++);
        return found[0];
    }

    private static JobRow job(int id, int pass) {
        return new JobRow(
                id,
                0,
                id,
                0,
                -1,
                "",
                0,
                "name",
                1000 + id % 100,
                "user",
                100,
                "users",
                "acct",
                "normal",
                "",
                "debug",
                "",
                pass < 4 ? "RUNNING" : "COMPLETED",
                "None",
                -1,
                ExitStatus.NONE,
                ExitStatus.NONE,
                1000 + id,
                1000 + id,
                2000 + id,
                pass < 4 ? 0 : 1_000_000 + id,
                0,
                60,
                1,
                "n[1-4]",
                4,
                4,
                4,
                512,
                true,
                "cpu=4",
                "cpu=4,mem=2G",
                "",
                "/home/user",
                "sbatch job.sh",
                "/dev/null",
                "/home/user/slurm.out",
                "",
                "",
                "",
                "",
                "",
                "SchedMain",
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
    }

    private static StepRow step(int id) {
        return new StepRow(
                id,
                0,
                -5,
                id,
                "batch",
                "COMPLETED",
                -1,
                ExitStatus.NONE,
                2000 + id,
                3000 + id,
                "n1",
                1,
                1,
                1,
                "cpu=1",
                "Block",
                "",
                Usage.NONE,
                "",
                "",
                0);
    }
}
