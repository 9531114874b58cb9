package dev.muster.accounting.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.book.Changes;
import dev.muster.accounting.db.Database;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.ReservationRow;
import dev.muster.model.accounting.DbdMessages.Change;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReservationsTest {
    private static int stores;

    private static AssocTree book() {
        AssocTree book = AssocTree.initial(1);
        for (List<Object> c : List.<List<Object>>of(
                List.of("cluster", Map.of("name", "c"), Map.of()),
                List.of("account", Map.of("name", "a1,a2"), Map.of()),
                List.of("user", Map.of("name", "u1,u2", "account", "a1,a2"), Map.of()))) {
            @SuppressWarnings("unchecked")
            Change change = new Change(
                    "add", (String) c.get(0), (Map<String, String>) c.get(2), (Map<String, String>) c.get(1), true);
            AssocTree draft = book.draft();
            assertThat(new Changes(draft, "root", true, change, 2).run().error())
                    .as(change.toString())
                    .isEmpty();
            book = AssocTree.of(draft);
        }
        return book;
    }

    /** Two hours with four CPUs, of which a job had two for the first one: 21600 seconds of a CPU are left. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            a1      | ''  | ''          | a1/=21600
            a1,-a2  | u2  | ''          | a1/=7200 a1/u2=7200 a2/u2=7200
            ''      | u1  | ''          | a1/u1=10800 a2/u1=10800
            -a1     | -u1 | ''          | ''
            a1      | ''  | MAINT       | ''
            a1      | ''  | IGNORE_JOBS | ''
            """)
    void idleReservedTimeIsChargedToItsAccountsAndUsers(String accounts, String users, String flags, String expected) {
        try (AccountingStore store = AccountingStore.on(Database.inMemory("reservations" + ++stores))) {
            JobRow job = Codec.bind(
                    new Json.Obj()
                            .put("sluid", 1L)
                            .put("jobId", 1L)
                            .put("account", "a1")
                            .put("userName", "u2")
                            .put("reservation", "r")
                            .put("state", "COMPLETED")
                            .put("eligibleTime", 3600L)
                            .put("startTime", 3600L)
                            .put("endTime", 7200L)
                            .put("cpusAllocated", 2L)
                            .put("tresAllocated", "cpu=2"),
                    JobRow.class);
            store.projection("c", "j")
                    .write(List.of(new Batch(
                            1,
                            List.of(job),
                            List.of(),
                            List.of(),
                            List.of(),
                            List.of(),
                            List.of(new ReservationRow(
                                    "r", 3600, 10_800, "n[1-2]", flags, accounts, users, "cpu=4", false)),
                            List.of())));
            ReportRows rows = new ReportRows(store);
            assertThat(String.join(
                            " ",
                            new Reservations(store, rows)
                                    .shared(book(), "c", rows.jobs("c", 0, 14_400), 0, 14_400, 20_000).stream()
                                            .map(i -> i.account() + "/" + i.user() + "="
                                                    + i.tres().get("cpu"))
                                            .sorted()
                                            .toList()))
                    .isEqualTo(expected);
        }
    }
}
