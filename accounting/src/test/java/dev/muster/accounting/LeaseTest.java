package dev.muster.accounting;

import static dev.muster.accounting.SampleRows.job;
import static dev.muster.accounting.SampleRows.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.muster.accounting.book.Changes;
import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.Fence;
import dev.muster.accounting.db.LeaseRow;
import dev.muster.accounting.db.LeaseTable;
import dev.muster.accounting.db.Writer;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.accounting.table.Projection;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.EventRow;
import dev.muster.model.accounting.DbdMessages.Change;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two slurmdbd's tables in one database: what the lease permits, and that each batch counts once. */
class LeaseTest {
    private static final long LEASE_MS = 60_000;

    @TempDir
    private static Path dir;

    private static MariaDbServer maria;
    private static PostgresServer postgres;
    private static int names;

    @BeforeAll
    static void startServers() throws Exception {
        if (MariaDbServer.missing().isEmpty()) {
            maria = MariaDbServer.start(dir);
        }
        if (PostgresServer.missing().isEmpty()) {
            postgres = PostgresServer.start();
        }
    }

    @AfterAll
    static void stopServers() throws Exception {
        if (maria != null) {
            maria.close();
        }
        if (postgres != null) {
            postgres.close();
        }
    }

    /** Two connections pools of the same tables, as two processes have them. */
    private record Pair(Database a, Database b) {}

    private static Pair pair(String kind) {
        String name = "lease" + names++;
        if (kind.equals("mariadb")) {
            assumeTrue(maria != null, () -> MariaDbServer.missing().orElse(""));
            return new Pair(maria.database(name), maria.database(name));
        }
        if (kind.equals("postgresql")) {
            assumeTrue(postgres != null, () -> PostgresServer.missing().orElse(""));
            return new Pair(postgres.database(name), postgres.database(name));
        }
        return new Pair(Database.inMemory(name), Database.inMemory(name));
    }

    private static void close(String kind, AccountingStore first, AccountingStore second) {
        first.close();
        if (!kind.equals("embedded")) { // there the first close shuts the database down
            second.close();
        }
    }

    private static long take(LeaseTable lease, String holder) throws SQLException {
        return lease.take(lease.read(), holder).orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void leaseHasOneHolder(String kind) throws Exception {
        Pair pair = pair(kind);
        try (LeaseTable a = new LeaseTable(pair.a, LEASE_MS);
                LeaseTable b = new LeaseTable(pair.b, LEASE_MS)) {
            LeaseRow first = b.read();
            assertThat(first.isExpired()).isTrue();
            assertThat(Math.abs(first.nowMs() - System.currentTimeMillis()))
                    .as("the database's clock in milliseconds since 1970")
                    .isLessThan(30_000);
            assertThat(take(a, "a")).isEqualTo(1);
            assertThat(b.take(first, "b"))
                    .as("it has changed since it was read")
                    .isEqualTo(OptionalLong.empty());
            LeaseRow held = b.read();
            assertThat(held.holder()).isEqualTo("a");
            assertThat(held.isExpired()).isFalse();
            assertThat(held.expiresMs() - held.nowMs()).isBetween(LEASE_MS - 30_000, LEASE_MS);
            while (b.read().nowMs() <= held.nowMs()) {
                Thread.onSpinWait(); // the database's clock goes on: the next end of the lease is another one
            }
            assertThat(a.renew(1)).isTrue();
            assertThat(b.take(held, "b")).as("it was renewed since it was read").isEqualTo(OptionalLong.empty());
            assertThat(take(b, "b")).isEqualTo(2);
            assertThat(a.renew(1)).as("the epoch is over").isFalse();
            a.release(1);
            assertThat(b.read().isExpired())
                    .as("and with it the right to release")
                    .isFalse();
            b.release(2);
            assertThat(a.read().isExpired()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void staleEpochWritesNothing(String kind) throws Exception {
        Pair pair = pair(kind);
        try (LeaseTable a = new LeaseTable(pair.a, LEASE_MS);
                LeaseTable b = new LeaseTable(pair.b, LEASE_MS)) {
            AccountingStore first = AccountingStore.on(pair.a, LeaseTable.fence(pair.a, take(a, "a")));
            Projection before = first.projection("c", "j");
            AssocTreeStore books = new AssocTreeStore(first, 1);
            before.write(List.of(batch(1, 1, "RUNNING", 0)));

            AccountingStore second = AccountingStore.on(pair.b, LeaseTable.fence(pair.b, take(b, "b")));
            Projection after = second.projection("c", "j");
            assertThat(after.sequence()).isEqualTo(1);

            assertThatThrownBy(() -> before.write(List.of(batch(2, 2, "RUNNING", 0))))
                    .isInstanceOf(AccountingException.class)
                    .hasMessageContaining("another slurmdbd has taken over (epoch 2, this one has 1)");
            assertThatThrownBy(() -> before.rewind(0)).isInstanceOf(AccountingException.class);
            assertThatThrownBy(() -> first.projection("d", "k")).isInstanceOf(AccountingException.class);
            assertThatThrownBy(() -> addCluster(books)).isInstanceOf(AccountingException.class);
            assertThat(books.book().cluster("new"))
                    .as("the book in memory stays as well")
                    .isEmpty();
            assertThat(jobs(second)).containsExactly("1 RUNNING");
            assertThat(after.sequence()).isEqualTo(1);
            after.write(List.of(batch(2, 2, "RUNNING", 0)));
            assertThat(jobs(second)).containsExactly("1 RUNNING", "2 RUNNING");
            close(kind, first, second);
        }
    }

    /** A batch whose answer was lost goes to the other slurmdbd too, alone or with later ones. */
    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void batchSentToBothCountsOnce(String kind) throws Exception {
        Pair pair = pair(kind);
        try (LeaseTable a = new LeaseTable(pair.a, LEASE_MS);
                LeaseTable b = new LeaseTable(pair.b, LEASE_MS)) {
            AccountingStore first = AccountingStore.on(pair.a, LeaseTable.fence(pair.a, take(a, "a")));
            first.projection("c", "j").write(List.of(batch(1, 1, "RUNNING", 0), batch(2, 1, "COMPLETED", 50)));
            AccountingStore second = AccountingStore.on(pair.b, LeaseTable.fence(pair.b, take(b, "b")));
            Projection after = second.projection("c", "j");
            after.write(List.of(batch(1, 1, "RUNNING", 0), batch(2, 1, "COMPLETED", 50), batch(3, 2, "RUNNING", 0)));
            assertThat(jobs(second)).containsExactly("1 COMPLETED", "2 RUNNING");
            assertThat(after.sequence()).isEqualTo(3);
            assertThat(new AssocTreeStore(second, 1).events(0, 0))
                    .as("an event for each batch")
                    .hasSize(3);
            close(kind, first, second);
        }
    }

    /** The index is tested in the transaction: a commit whose answer was lost is not made again. */
    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void indexInTheTablesDecides(String kind) {
        Pair pair = pair(kind);
        AccountingStore first = AccountingStore.on(pair.a);
        AccountingStore second = AccountingStore.on(pair.b);
        Projection here = first.projection("c", "j");
        Projection there = second.projection("c", "j");
        here.write(List.of(batch(1, 1, "RUNNING", 0), batch(2, 1, "COMPLETED", 50)));
        there.write(List.of(batch(1, 1, "RUNNING", 0), batch(2, 1, "COMPLETED", 50), batch(3, 2, "RUNNING", 0)));
        assertThat(jobs(first)).containsExactly("1 COMPLETED", "2 RUNNING");
        here.write(List.of(batch(3, 2, "RUNNING", 0)));
        assertThat(here.sequence()).isEqualTo(3);
        assertThat(new AssocTreeStore(first, 1).events(0, 0)).hasSize(3);
        close(kind, first, second);
    }

    /** Entries that come again after their journal's tail was cut, or was sent twice, replace what they wrote. */
    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void entriesAreWrittenAgainAfterRewind(String kind) {
        AccountingStore store = AccountingStore.on(pair(kind).a);
        Projection projection = store.projection("c", "j");
        List<Batch> batches = List.of(batch(1, 1, "RUNNING", 0), batch(2, 1, "COMPLETED", 50));
        projection.write(batches);
        projection.rewind(0);
        projection.write(batches);
        assertThat(jobs(store)).containsExactly("1 COMPLETED");
        assertThat(new AssocTreeStore(store, 1).events(0, 0)).hasSize(2);
        store.close();
    }

    /** A process that is stopped between its last statement and the commit holds locks until the server ends it. */
    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "postgresql"})
    void writerThatStandsStillIsReplaced(String kind) throws Exception {
        Pair pair = pair(kind);
        CountDownLatch isChecked = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        try (LeaseTable a = new LeaseTable(pair.a, LEASE_MS);
                LeaseTable b = new LeaseTable(pair.b, LEASE_MS)) {
            long epoch = take(a, "a");
            AccountingStore.on(pair.a, LeaseTable.fence(pair.a, epoch)).close();
            Fence fence = LeaseTable.fence(pair.a, epoch);
            Writer still = new Writer(pair.a, connection -> {
                fence.check(connection);
                isChecked.countDown();
                await(goesOn);
            });
            CompletableFuture<Void> write = CompletableFuture.runAsync(() -> {
                try {
                    still.execute(LeaseTest::insert);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(isChecked.await(20, TimeUnit.SECONDS)).isTrue();
            long beganNs = System.nanoTime();
            assertThat(take(b, "b")).isEqualTo(epoch + 1);
            assertThat((System.nanoTime() - beganNs) / 1_000_000)
                    .as("time until the server ended the transaction, in milliseconds")
                    .isLessThan(15_000);
            goesOn.countDown();
            assertThatThrownBy(write::join).hasStackTraceContaining("SQL");
            try (Connection c = pair.b.open();
                    PreparedStatement count = c.prepareStatement("select count(*) from \"entity\"");
                    ResultSet row = count.executeQuery()) {
                row.next();
                assertThat(row.getInt(1)).isZero();
            }
            still.close();
        }
    }

    private static void insert(Connection c) throws SQLException {
        try (PreparedStatement add = c.prepareStatement(
                "insert into \"entity\" (\"kind\", \"entity_key\", \"body\") values ('x', 'y', 'z')")) {
            add.executeUpdate();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("60 s have passed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void addCluster(AssocTreeStore books) {
        Change add = new Change("add", "cluster", Map.of(), Map.of("name", "new"), true);
        books.change(
                draft -> new Changes(draft, "root", true, add, 5).run(),
                changed -> changed.error().isEmpty());
    }

    private static Batch batch(long seq, int job, String state, long end) {
        return new Batch(
                seq,
                List.of(job(job, state, end)),
                List.of(),
                List.of(new EventRow("c", "n" + seq, 100 + seq, "DOWN", "r", "0", "cpu=1", "")),
                List.of(),
                List.of());
    }

    private static List<String> jobs(AccountingStore store) {
        return store.answer(query(false), 100, "c").jobs().stream()
                .map(j -> j.job().jobId() + " " + j.job().state())
                .toList();
    }
}
