package dev.muster.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryJournalTest {

    @Test
    void aCrashLosesWhatWasNotSynced() {
        MemoryJournal journal = new MemoryJournal();
        List<Long> told = new ArrayList<>();
        journal.onDurable(told::add);
        for (int i = 0; i < 5; i++) {
            journal.append(new byte[] {(byte) i});
        }
        journal.sync(3);
        assertThat(told).containsExactly(3L);
        assertThat(journal.durable(5)).isNotDone();
        assertThat(journal.crash(0).lastIndex()).isEqualTo(3);
        assertThat(journal.crash(1).lastIndex()).isEqualTo(4);
        assertThat(journal.crash(9).lastIndex()).isEqualTo(5);
        assertThat(journal.crash(0).repair()).isPresent();
    }

    @Test
    void snapshotsCoverWhatIsTruncated() {
        MemoryJournal journal = new MemoryJournal();
        for (int i = 1; i <= 5; i++) {
            journal.append(new byte[] {(byte) i});
        }
        journal.sync();
        journal.writeSnapshot(3, List.of(new byte[] {42}).iterator());
        assertThat(journal.truncateBefore(5)).isEqualTo(4);
        List<Integer> found = new ArrayList<>();
        journal.replay(4, (index, entry) -> found.add((int) entry[0]));
        assertThat(found).containsExactly(4, 5);
    }
}
