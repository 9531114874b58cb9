package dev.muster.accounting.book;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.DbdMessages.Change;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobKeysTest {
    private AssocTree book = AssocTree.initial(1);

    private static JobRow job(String user, String key, long submitted) {
        return Codec.bind(
                new Json.Obj().put("userName", user).put("wckey", key).put("submitTime", submitted), JobRow.class);
    }

    private void seen(String cluster, long now, JobRow... jobs) {
        AssocTree draft = book.draft();
        JobKeys.add(draft, cluster, List.of(jobs), now);
        book = AssocTree.of(draft);
    }

    private List<String> listed() {
        return book.wckeysEver().stream()
                .filter(w -> !w.deleted())
                .map(w -> w.id() + " " + w.cluster() + " " + w.user() + " " + w.name())
                .toList();
    }

    @Test
    void aKeyIsListedOnceForEachUserAndCluster() {
        seen(
                "c",
                5,
                job("ann", "blue", 1),
                job("ann", "*blue", 1),
                job("bob", "blue", 1),
                job("ann", "", 1),
                job("ann", "*", 1),
                job("", "x", 1));
        seen("c", 6, job("ann", "blue", 1));
        seen("d", 7, job("ann", "blue", 1));
        assertThat(listed()).containsExactly("1 c ann blue", "2 c bob blue", "3 d ann blue");
        assertThat(JobKeys.unknown(book, "c", List.of(job("ann", "blue", 9), job("bob", "red", 9))))
                .containsExactly(job("bob", "red", 9));
        assertThat(book.wckeyNumber("c", "bob", "*blue")).isEqualTo(2);
        assertThat(book.defaultWckey("c", "ann")).isEmpty();
    }

    /** Rows of jobs from before come again and again: they bring nothing back. */
    @Test
    void aKeyThatWasTakenAwayStaysAwayForJobsOfBefore() {
        seen("c", 5, job("ann", "blue", 1));
        AssocTree draft = book.draft();
        new Changes(
                        draft,
                        "root",
                        true,
                        new Change(
                                "delete",
                                "user",
                                Map.of(),
                                Map.of("name", "ann", "wckey", "blue", "cluster", "c"),
                                true),
                        20)
                .run();
        book = AssocTree.of(draft);
        assertThat(listed()).isEmpty();
        seen("c", 21, job("ann", "blue", 20));
        assertThat(listed()).isEmpty();
        seen("c", 22, job("ann", "blue", 21));
        assertThat(listed()).containsExactly("1 c ann blue");
    }
}
