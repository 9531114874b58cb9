package dev.muster.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.journal.FileJournal;
import dev.muster.journal.JournalException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LeaderJournalTest {
    @TempDir
    Path directory;

    private record Proposal(EntryBatch batch, CompletableFuture<Boolean> answer) {}

    private final BlockingQueue<Proposal> proposals = new LinkedBlockingQueue<>();
    private final List<JournalException> ends = new ArrayList<>();
    private FileJournal file;
    private LeaderJournal journal;

    @BeforeEach
    void open() {
        file = FileJournal.open(directory, FileJournal.Options.of(new UUID(1, 2), sentence -> {}));
        journal = new LeaderJournal(file, 10, this::propose, ends::add);
    }

    private CompletableFuture<Boolean> propose(ByteString batch) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        proposals.add(new Proposal(EntryBatch.decode(batch), answer));
        return answer;
    }

    @AfterEach
    void close() {
        journal.close();
        file.close();
    }

    private static byte[] entry() {
        return "entry".getBytes(StandardCharsets.UTF_8);
    }

    private Proposal next() throws InterruptedException {
        Proposal next = proposals.poll(20, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    @Test
    void anEntryIsDurableOnceTheMembersHaveIt() throws Exception {
        assertThat(journal.append(entry())).isEqualTo(11);
        CompletableFuture<Long> durable = journal.durable(11);
        Proposal proposal = next();
        assertThat(proposal.batch().first()).isEqualTo(11);
        assertThat(durable).isNotDone();
        journal.committed(11);
        proposal.answer().complete(true);
        assertThat(durable.get()).isEqualTo(11);
    }

    @Test
    void entriesGatherWhileProposalsAreUnderWay() throws Exception {
        List<Proposal> underWay = new ArrayList<>();
        for (int i = 0; i < LeaderJournal.BATCHES_MAX; i++) {
            journal.append(entry());
            underWay.add(next());
        }
        long first = journal.append(entry());
        journal.append(entry());
        long last = journal.append(entry());
        assertThat(proposals).isEmpty();
        underWay.getFirst().answer().complete(true);
        Proposal gathered = next();
        assertThat(gathered.batch().first()).isEqualTo(first);
        assertThat(gathered.batch().last()).isEqualTo(last);
    }

    @Test
    void aRefusedBatchEndsTheTerm() throws Exception {
        journal.append(entry());
        CompletableFuture<Long> durable = journal.durable(11);
        next().answer().complete(false);
        assertThatThrownBy(durable::join).hasCauseInstanceOf(JournalException.class);
        assertThatThrownBy(() -> journal.append(entry())).isInstanceOf(JournalException.class);
        assertThat(ends).hasSize(1);
    }

    @Test
    void nothingBecomesDurableAfterTheTerm() {
        journal.append(entry());
        journal.fail(new JournalException("another controller leads"));
        journal.committed(11);
        assertThat(journal.durableIndex()).isEqualTo(10);
        assertThat(journal.durable(11)).isCompletedExceptionally();
    }
}
