package dev.muster.accounting.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.Migrations;
import dev.muster.json.Codec;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.AccountingRows.Usage;
import dev.muster.model.job.ExitStatus;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccountingStoreTest {
    private static final UUID CLUSTER = new UUID(1, 2);

    @TempDir
    private Path dir;

    private final List<AutoCloseable> open = new ArrayList<>();
    private long seq;

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable c : open) {
            c.close();
        }
    }

    private Projection memory() {
        Projection store = AccountingStore.inMemory("t" + System.nanoTime(), CLUSTER);
        open.add(store);
        return store;
    }

    /** A job with what tests vary; the other fields are fixed. */
    record J(
            int id,
            int array,
            int task,
            String tasks,
            int uid,
            String account,
            String partition,
            String name,
            String state,
            String nodes,
            long submit,
            long eligible,
            long start,
            long end,
            int restarts) {
        static J of(int id) {
            return new J(id, 0, -1, "", 1000, "acct", "debug", "name", "COMPLETED", "n1", 100, 100, 110, 120, 0);
        }

        J task(int arrayId, int index) {
            return new J(
                    id, arrayId, index, tasks, uid, account, partition, name, state, nodes, submit, eligible, start,
                    end, restarts);
        }

        J tasks(String pending) {
            return new J(
                    id, id, -1, pending, uid, account, partition, name, state, nodes, submit, eligible, start, end,
                    restarts);
        }

        J by(int user, String acct, String part, String jobName) {
            return new J(
                    id, array, task, tasks, user, acct, part, jobName, state, nodes, submit, eligible, start, end,
                    restarts);
        }

        J at(String newState, long s, long e, long b, long f) {
            return new J(id, array, task, tasks, uid, account, partition, name, newState, nodes, s, e, b, f, restarts);
        }

        J on(String list) {
            return new J(
                    id, array, task, tasks, uid, account, partition, name, state, list, submit, eligible, start, end,
                    restarts);
        }

        J attempt(int number) {
            return new J(
                    id, array, task, tasks, uid, account, partition, name, state, nodes, submit, eligible, start, end,
                    number);
        }

        JobRow row() {
            return new JobRow(
                    1_000_000L + id,
                    restarts,
                    id,
                    array,
                    task,
                    tasks,
                    0,
                    name,
                    uid,
                    "u" + uid,
                    100,
                    "users",
                    account,
                    "normal",
                    "",
                    partition,
                    "",
                    state,
                    "None",
                    -1,
                    ExitStatus.exited(3),
                    ExitStatus.signaled(9),
                    submit,
                    eligible,
                    start,
                    end,
                    0,
                    60,
                    4294901759L,
                    nodes,
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
                    "/dev/null",
                    "o",
                    "e",
                    "a 'comment'",
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

        StepRow step(int stepId) {
            return new StepRow(
                    1_000_000L + id,
                    restarts,
                    stepId,
                    id,
                    stepId < 0 ? "batch" : "step",
                    state,
                    -1,
                    ExitStatus.exited(3),
                    start,
                    end,
                    nodes,
                    1,
                    1,
                    1,
                    "cpu=1",
                    "Block",
                    "srun x",
                    new Usage(1, 2, 3, "n1", 0, 4, 5, "n1", 0, 6, 7, 8, 9, 10, 11, 12, 13, 14),
                    "/bundle",
                    "Low-High:OnDemand",
                    7);
        }
    }

    private Batch batch(J... jobs) {
        List<JobRow> rows = new ArrayList<>();
        for (J j : jobs) {
            rows.add(j.row());
        }
        return new Batch(++seq, rows, List.of());
    }

    private static Query query(List<String> jobs) {
        return new Query(
                jobs, List.of(), true, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                List.of(), List.of(), 0, 0, false, false, 0, 0, 0, 0, 0, 0, List.of());
    }

    @Test
    void nodeFilterFindsJobsThatRanOnNodes() {
        Projection store = memory();
        store.write(List.of(batch(J.of(10), J.of(11).on(""))));
        assertThat(ids(
                        store,
                        new Query(
                                List.of(), List.of(), true, List.of(), List.of(), List.of(), List.of(), List.of(),
                                List.of(), List.of(), List.of(), List.of(), 0, 0, false, false, 1, 1, 0, 0, 0, 0,
                                List.of())))
                .containsExactly(10);
    }

    private static List<Integer> ids(Projection store, Query query) {
        List<Integer> found = new ArrayList<>();
        store.jobs(query, j -> found.add(j.job().jobId()));
        return found;
    }

    @Test
    void columnsAreTheComponentsOfTheRows() throws Exception {
        Projection store = memory();
        J job = J.of(1);
        store.write(List.of(new Batch(1, List.of(job.row()), List.of(job.step(-5), job.step(0)))));
        List<JobWithSteps> found = store.answer(query(List.of()), 5, "c").jobs();
        assertThat(found).containsExactly(new JobWithSteps(job.row(), List.of(job.step(-5), job.step(0)), ""));
    }

    @Test
    void aRowReplacesItsPredecessor() {
        Projection store = memory();
        store.write(List.of(
                batch(J.of(7).at("PENDING", 10, 10, 0, 0)), batch(J.of(7).at("RUNNING", 10, 10, 20, 0))));
        store.write(List.of(batch(J.of(7).at("COMPLETED", 10, 10, 20, 30))));
        assertThat(store.sequence()).isEqualTo(3);
        List<JobWithSteps> found = store.answer(query(List.of("7")), 0, "c").jobs();
        assertThat(found).hasSize(1);
        assertThat(found.getFirst().job().state()).isEqualTo("COMPLETED");
    }

    @Test
    void rowsAndSequenceSurviveTogether() {
        try (Projection store = AccountingStore.open(dir, CLUSTER)) {
            store.write(List.of(batch(J.of(1)), batch(J.of(2))));
        }
        try (Projection store = AccountingStore.open(dir, CLUSTER)) {
            assertThat(store.sequence()).isEqualTo(2);
            store.write(List.of(
                    new Batch(2, List.of(J.of(9).row()), List.of()),
                    new Batch(5, List.of(J.of(3).row()), List.of())));
            assertThat(ids(store, query(List.of()))).containsExactly(1, 2, 3);
            assertThat(store.sequence()).isEqualTo(5);
            assertThat(store.checkpoint()).isEqualTo(5);
        }
    }

    /**
     * Sums go on from the tables after a crash: had they been written without the index, what they count would be
     * counted again.
     */
    @Test
    void sumsAreNeverAheadOfTheIndexAfterACrash() {
        Projection store = memory();
        List<JobRow> many = new ArrayList<>();
        for (int i = 1; i <= 3_000; i++) {
            many.add(J.of(i).row());
        }
        String once = new String(Codec.encode(J.of(3_001).row()), StandardCharsets.UTF_8);
        many.add(Codec.decode(
                once.replaceFirst("\\{", "{\"suspendedSeconds\":30,").getBytes(StandardCharsets.UTF_8), JobRow.class));
        List<StepRow> steps = List.of(J.of(3_001).step(0));
        Batch cutShort = new Batch(1, many, steps, java.util.Collections.singletonList(null));
        assertThatThrownBy(() -> store.write(List.of(cutShort))).isInstanceOf(RuntimeException.class);
        assertThat(store.sequence()).isZero();
        assertThat(store.job(1_003_001L, 0)).as("suspended").isEmpty();
        assertThat(store.step(1_003_001L, 0, 0)).as("a step").isEmpty();
        store.write(List.of(new Batch(1, many, steps)));
        assertThat(store.answer(query(List.of()), 1_000, "c").jobs()).hasSize(3_001);
        assertThat(store.job(1_003_001L, 0).orElseThrow().suspendedSeconds()).isEqualTo(30);
    }

    @Test
    void anotherClustersTablesAreRefused() {
        AccountingStore.open(dir, CLUSTER).close();
        assertThatThrownBy(() -> AccountingStore.open(dir, new UUID(3, 4)))
                .isInstanceOf(AccountingException.class)
                .hasMessageContaining("belongs to cluster " + CLUSTER);
        try (Projection store = AccountingStore.open(dir, CLUSTER)) {
            store.write(List.of(new Batch(9, List.of(), List.of())));
            store.rewind(4);
            store.write(List.of(new Batch(5, List.of(J.of(1).row()), List.of())));
            assertThat(ids(store, query(List.of()))).containsExactly(1);
        }
    }

    /** A kill may come after any statement of a migration, before or after the note that it was done. */
    @Test
    void aHalfAppliedMigrationIsFinished() throws Exception {
        boolean killed = true;
        for (int kill = 1; killed; kill++) {
            int[] moments = {kill};
            killed = false;
            String url = "jdbc:h2:mem:half" + kill + ";DB_CLOSE_DELAY=-1";
            try (java.sql.Connection raw = java.sql.DriverManager.getConnection(url)) {
                raw.setAutoCommit(false);
                Migrations.apply(raw, Database.Dialect.H2, () -> {
                    if (--moments[0] == 0) {
                        throw new IllegalStateException("killed");
                    }
                });
            } catch (IllegalStateException e) {
                killed = true;
            }
            try (java.sql.Connection raw = java.sql.DriverManager.getConnection(url);
                    java.sql.Statement look = raw.createStatement()) {
                raw.setAutoCommit(false);
                Migrations.apply(raw, Database.Dialect.H2);
                try (java.sql.ResultSet row = look.executeQuery("select count(*) from \"projection\"")) {
                    row.next();
                    assertThat(row.getInt(1)).as("kill " + kill).isEqualTo(1);
                }
                look.executeQuery("select \"cluster_key\" from \"step\"").close();
                look.executeQuery("select \"item\" from \"node_event\"").close();
            }
            assertThat(kill).isLessThan(200);
        }
    }

    @Test
    void committedRowsSurviveAKill() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        for (int round = 0; round < 3; round++) {
            Process writer = new ProcessBuilder(
                            java, "-cp", System.getProperty("java.class.path"), Endless.class.getName(), dir.toString())
                    .redirectErrorStream(true)
                    .start();
            try {
                assertThat(writer.inputReader().readLine()).startsWith("at ");
                TimeUnit.MILLISECONDS.sleep(150L + 170L * round);
            } finally {
                // by its handle: what it wrote can still be read
                writer.toHandle().destroyForcibly();
                writer.waitFor();
            }
            // the last line may be cut: the one before it was written whole, after its commit
            List<String> told = writer.inputReader().lines().toList();
            long acknowledged = told.size() < 2 ? 0 : Long.parseLong(told.get(told.size() - 2));
            try (Projection store = AccountingStore.open(dir, CLUSTER)) {
                List<Integer> found = ids(store, query(List.of()));
                assertThat(found).as("rows and the index they come from").hasSize((int) store.sequence());
                assertThat(store.sequence()).as("what was committed").isGreaterThanOrEqualTo(acknowledged);
            }
        }
    }

    /** Writes one job a transaction until it is killed. */
    static final class Endless {
        public static void main(String[] args) {
            Projection store = AccountingStore.open(Path.of(args[0]), CLUSTER);
            System.out.println("at " + store.sequence());
            while (true) {
                long next = store.sequence() + 1;
                store.write(List.of(new Batch(next, List.of(J.of((int) next).row()), List.of())));
                System.out.println(next);
            }
        }
    }

    /** The database reuses the space that many small transactions leave behind; no other program compacts the file. */
    @Test
    void databaseFileReusesItsSpace() throws Exception {
        try (Projection store = AccountingStore.open(dir, CLUSTER)) {
            for (int round = 0; round < 40; round++) {
                for (int i = 1; i <= 20; i++) {
                    store.write(List.of(batch(J.of(i))));
                }
                store.checkpoint();
            }
        }
        assertThat(java.nio.file.Files.size(dir.resolve("accounting.mv.db"))).isLessThan(8_000_000);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        10          | 10
        11          | 11,12,13,14
        11_1        | 13
        11_[1-2]    | 13,14
        11_4        | 11
        12          | 12
        10,11_2     | 10,14
        99          | ''
        x           | ''
        """)
    void jobsAreFoundAsTheyAreNamed(String words, String expected) {
        Projection store = memory();
        store.write(List.of(batch(
                J.of(10),
                J.of(11).tasks("3-9%2"),
                J.of(12).task(11, 0),
                J.of(13).task(11, 1),
                J.of(14).task(11, 2))));
        List<String> found = ids(store, query(List.of(words.split(",")))).stream()
                .map(String::valueOf)
                .toList();
        assertThat(String.join(",", found)).isEqualTo(expected);
    }

    @Test
    void stepsAreFoundByName() {
        Projection store = memory();
        J a = J.of(10);
        J b = J.of(11);
        store.write(List.of(new Batch(
                1, List.of(a.row(), b.row()), List.of(a.step(-5), a.step(-4), a.step(0), a.step(1), b.step(-5)))));
        assertThat(steps(store, "10")).containsExactlyInAnyOrder(-5, -4, 0, 1);
        assertThat(steps(store, "10.0")).containsExactly(0);
        assertThat(steps(store, "10.batch", "10.1")).containsExactlyInAnyOrder(-5, 1);
        assertThat(ids(store, query(List.of("11.0")))).isEmpty();
        assertThat(store.answer(query(List.of()), 0, "c").jobs()).hasSize(2);
    }

    private static List<Integer> steps(Projection store, String... words) {
        List<Integer> found = new ArrayList<>();
        store.jobs(query(List.of(words)), j -> j.steps().forEach(s -> found.add(s.stepId())));
        return found;
    }

    @Test
    void queryFiltersSelectJobs() {
        Projection store = memory();
        store.write(List.of(batch(
                J.of(1).by(1, "a", "p", "x").on("n[1-3]"),
                J.of(2).by(2, "a", "q", "y").on("n4"),
                J.of(3).by(2, "b'; drop table job", "q", "x").on(""))));
        Query all = query(List.of());
        assertThat(ids(store, with(all, List.of(2), List.of(), List.of(), List.of(), List.of())))
                .containsExactly(2, 3);
        assertThat(ids(store, with(all, List.of(), List.of("a"), List.of(), List.of(), List.of())))
                .containsExactly(1, 2);
        assertThat(ids(store, with(all, List.of(), List.of("b'; drop table job"), List.of(), List.of(), List.of())))
                .containsExactly(3);
        assertThat(ids(store, with(all, List.of(), List.of(), List.of("q", "zz"), List.of(), List.of())))
                .containsExactly(2, 3);
        assertThat(ids(store, with(all, List.of(2), List.of(), List.of(), List.of("x"), List.of())))
                .containsExactly(3);
        assertThat(ids(store, with(all, List.of(), List.of(), List.of(), List.of(), List.of("n2", "n9"))))
                .containsExactly(1);
    }

    private static Query with(
            Query q,
            List<Integer> users,
            List<String> accounts,
            List<String> partitions,
            List<String> names,
            List<String> nodes) {
        return new Query(
                q.jobs(),
                users,
                true,
                List.of(),
                accounts,
                partitions,
                List.of(),
                names,
                nodes,
                q.states(),
                List.of(),
                List.of(),
                q.from(),
                q.to(),
                q.duplicates(),
                false,
                0,
                0,
                0,
                0,
                0,
                0,
                List.of());
    }

    /** Job 1 waits, 2 runs since 50, 3 ran 20 to 40, 4 ran 60 to 80, 5 was cancelled while held. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ''                | 0  | 0  | 1,2,3,4,5
        ''                | 30 | 0  | 1,2,3,4
        ''                | 45 | 0  | 1,2,4
        ''                | 45 | 55 | 1,2,4
        ''                | 0  | 15 | 1,2,3,4
        RUNNING           | 0  | 0  | 2
        RUNNING           | 70 | 70 | 2,4
        RUNNING           | 25 | 30 | 3
        RUNNING           | 40 | 45 | ''
        RUNNING           | 40 | 40 | ''
        RUNNING           | 39 | 40 | 3
        RUNNING           | 15 | 20 | ''
        RUNNING           | 20 | 20 | 3
        RUNNING           | 40 | 0  | 2,4
        PENDING           | 20 | 25 | 1,2,4
        PENDING           | 19 | 20 | 1,2,3,4
        PENDING           | 5  | 10 | ''
        PENDING           | 0  | 0  | 1
        PENDING           | 15 | 15 | 1,2,3,4
        PENDING           | 70 | 70 | 1
        COMPLETED         | 0  | 0  | 3,4
        COMPLETED         | 50 | 0  | 4
        COMPLETED         | 90 | 90 | ''
        CANCELLED,RUNNING | 0  | 0  | 2,5
        """)
    void timeWindowSelectsJobsByState(String states, long from, long to, String expected) {
        Projection store = memory();
        store.write(List.of(batch(
                J.of(1).at("PENDING", 10, 10, 0, 0),
                J.of(2).at("RUNNING", 10, 10, 50, 0),
                J.of(3).at("COMPLETED", 10, 10, 20, 40),
                J.of(4).at("COMPLETED", 10, 10, 60, 80),
                J.of(5).at("CANCELLED", 10, 0, 0, 35))));
        Query q = query(List.of());
        Query asked = new Query(
                q.jobs(),
                List.of(),
                true,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                states.isEmpty() ? List.of() : List.of(states.split(",")),
                List.of(),
                List.of(),
                from,
                to,
                false,
                false,
                0,
                0,
                0,
                0,
                0,
                0,
                List.of());
        List<String> found = ids(store, asked).stream().map(String::valueOf).toList();
        assertThat(String.join(",", found)).isEqualTo(expected);
    }

    @Test
    void earlierAttemptsShowOnRequest() {
        Projection store = memory();
        store.write(List.of(batch(
                J.of(1).at("NODE_FAIL", 10, 10, 20, 30).attempt(0),
                J.of(1).at("COMPLETED", 30, 30, 40, 50).attempt(1))));
        Query latest = query(List.of("1"));
        assertThat(store.answer(latest, 0, "c").jobs())
                .extracting(j -> j.job().state())
                .containsExactly("COMPLETED");
        Query every = new Query(
                latest.jobs(),
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
                true,
                false,
                0,
                0,
                0,
                0,
                0,
                0,
                List.of());
        assertThat(store.answer(every, 0, "c").jobs())
                .extracting(j -> j.job().state())
                .containsExactly("NODE_FAIL", "COMPLETED");
    }

    @Test
    void anArraysRecordGoesWithItsLastPendingTask() {
        Projection store = memory();
        store.write(List.of(batch(J.of(11).tasks("0-1"))));
        assertThat(ids(store, query(List.of("11")))).containsExactly(11);
        store.write(
                List.of(batch(J.of(11).tasks(""), J.of(12).task(11, 0), J.of(13).task(11, 1))));
        assertThat(ids(store, query(List.of("11")))).containsExactly(12, 13);
    }

    @Test
    void theProjectorWritesInOrderAndTellsWhenItHas() throws Exception {
        try (Projection store = AccountingStore.open(dir, CLUSTER)) {
            try (ProjectionWriter projector = new ProjectionWriter(store, System.err::println, 1_000_000)) {
                for (int i = 1; i <= 2_000; i++) {
                    projector.submit(batch(J.of(i % 500 + 1)));
                }
                assertThat(projector.submitted()).isEqualTo(2_000);
                assertThat(projector.await(2_000, 20_000)).isTrue();
                assertThat(ids(store, query(List.of()))).hasSize(500);
                assertThat(projector.overloaded()).isFalse();
                assertThat(projector.awaitDurable(2_000, 20_000)).isTrue();
                assertThat(projector.durableSequence()).isEqualTo(2_000);
                projector.submit(new Batch(1_000, List.of(), List.of()));
                assertThat(projector.submitted()).isEqualTo(2_000);
            }
            assertThat(store.sequence()).isEqualTo(2_000);
        }
    }

    /** shows: MaxDBDMsgs */
    @Test
    void writerIsOverloadedBeyondItsMaximumOfWaitingRows() {
        RowSink away = new RowSink() {
            @Override
            public long sequence() {
                return 0;
            }

            @Override
            public void write(List<Batch> batches) {
                throw new AccountingException("away", null);
            }

            @Override
            public long checkpoint() {
                return 0;
            }

            @Override
            public java.util.Optional<JobRow> job(long sluid, int restarts) {
                return java.util.Optional.empty();
            }

            @Override
            public java.util.Optional<StepRow> step(long sluid, int restarts, int stepId) {
                return java.util.Optional.empty();
            }
        };
        ProjectionWriter projector = new ProjectionWriter(away, s -> {}, 4);
        projector.submit(new Batch(1, List.of(J.of(1).row()), List.of()));
        assertThat(projector.overloaded()).isFalse();
        projector.submit(new Batch(2, List.of(J.of(2).row(), J.of(3).row()), List.of()));
        assertThat(projector.overloaded()).isTrue();
    }

    @Test
    void runawayJobsAreListedAndEndedWithTheLatestOfTheirTimes() {
        try (AccountingStore all = AccountingStore.on(Database.inMemory("runaways"))) {
            Projection store = all.projection("c", "journal");
            J open = J.of(1).at("RUNNING", 10, 12, 11, 0);
            store.write(List.of(new Batch(1, List.of(open.row(), J.of(2).row()), List.of(open.step(-5)))));
            Runaways runaways = new Runaways(all);
            assertThat(runaways.open("another")).isEmpty();
            assertThat(runaways.open("c")).extracting(r -> r.get("ID")).containsExactly("1");
            List<String> keys = List.of(runaways.open("c").getFirst().get("Key"), "no key", "77:0");
            assertThat(runaways.end("another", keys)).isZero();
            assertThat(runaways.end("c", keys)).isEqualTo(1);
            assertThat(runaways.open("c")).isEmpty();
            JobRow ended = store.job(open.row().sluid(), 0).orElseThrow();
            assertThat(ended.state()).isEqualTo("COMPLETED");
            assertThat(ended.endTime()).isEqualTo(12);
        }
    }
}
