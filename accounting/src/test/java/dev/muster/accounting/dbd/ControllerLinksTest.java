package dev.muster.accounting.dbd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.book.Registration;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.Projection;
import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.model.accounting.DbdMessages.Sync;
import dev.muster.model.accounting.DbdMessages.SyncReply;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ControllerLinksTest {
    private static final String CLUSTER = "c";
    private static final String JOURNAL = "j";

    /** A book that a slurmdbd left behind which was killed while the cluster's controller was there. */
    private static AssocTree left() {
        AssocTree book = AssocTree.initial(1);
        Registration.apply(
                book, new Register(CLUSTER, JOURNAL, 5, "h", 6817, 1, "cpu=1", "n1", 1, List.of()), "root", 1, "");
        return AssocTree.of(book);
    }

    private static Optional<SyncReply> sync(ControllerLinks links, AssocTree book, long barrier) {
        return links.sync(new Sync(CLUSTER, JOURNAL, book.version(), barrier, 5_000));
    }

    @Test
    void aQuestionWaitsForTheControllerThatWasThereAndForItsRows() throws Exception {
        AssocTree book = left();
        ControllerLinks links = new ControllerLinks(() -> book);
        assertThat(links.flush(List.of(), 50)).as("it is not back").isFalse();
        assertThat(links.flush(List.of("another"), 50))
                .as("it is of no concern")
                .isTrue();
        CompletableFuture<Boolean> question =
                CompletableFuture.supplyAsync(() -> links.flush(List.of(CLUSTER), 20_000), Thread::startVirtualThread);
        try (Projection rows = AccountingStore.inMemory("links", new UUID(1, 2))) {
            links.registered(CLUSTER, JOURNAL, rows);
            SyncReply asked = sync(links, book, 0).orElseThrow();
            assertThat(asked.barrier()).isPositive();
            assertThat(question.isDone()).as("its rows are not there").isFalse();
            Thread.startVirtualThread(() -> sync(links, book, asked.barrier()));
            assertThat(question.get(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void flushGivesUpOnASilentController() {
        AssocTree book = left();
        ControllerLinks links = new ControllerLinks(() -> book);
        try (Projection rows = AccountingStore.inMemory("silent", new UUID(1, 2))) {
            links.registered(CLUSTER, JOURNAL, rows);
            assertThat(links.flush(List.of(), 50)).isFalse();
            links.forget(CLUSTER);
            assertThat(links.flush(List.of(), 50)).isTrue();
        }
    }

    /** No job waits for the rows of a cluster that stores them elsewhere. */
    @Test
    void flushDoesNotWaitForAnExternalCluster() {
        AssocTree draft = AssocTree.initial(1);
        Registration.apply(
                draft,
                new Register(CLUSTER, JOURNAL, 5, "h", 6817, 1, "cpu=1", "n1", 1, List.of()).abroad(),
                "root",
                1,
                "");
        AssocTree book = AssocTree.of(draft);
        ControllerLinks links = new ControllerLinks(() -> book);
        assertThat(links.flush(List.of(), 50)).isTrue();
        links.heardFrom(CLUSTER);
        assertThat(links.away()).isEmpty();
    }
}
