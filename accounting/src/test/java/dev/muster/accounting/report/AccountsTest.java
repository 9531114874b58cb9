package dev.muster.accounting.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.book.Changes;
import dev.muster.model.accounting.DbdMessages.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccountsTest {
    private static AssocTree book() {
        AssocTree book = AssocTree.initial(1);
        for (List<Object> c : List.<List<Object>>of(
                List.of("add", "cluster", Map.of("name", "c"), Map.of()),
                List.of("add", "account", Map.of("name", "a1,a2"), Map.of()),
                List.of("add", "account", Map.of("name", "a3"), Map.of("parent", "a2")),
                List.of("add", "user", Map.of("name", "u1,u2", "account", "a1,a2,a3"), Map.of()),
                List.of("delete", "user", Map.of("name", "u2", "account", "a3"), Map.of()))) {
            @SuppressWarnings("unchecked")
            Change change = new Change(
                    (String) c.get(0),
                    (String) c.get(1),
                    (Map<String, String>) c.get(3),
                    (Map<String, String>) c.get(2),
                    true);
            AssocTree draft = book.draft();
            assertThat(new Changes(draft, "root", true, change, 2).run().error())
                    .isEmpty();
            book = AssocTree.of(draft);
        }
        return book;
    }

    private static JobUse job(int id, String account, String user, long start, long end, int cpus) {
        return new JobUse(
                id,
                "c",
                account,
                user,
                7,
                8,
                "*wk",
                "p",
                "",
                "n[1-2]",
                start,
                start,
                end,
                0,
                cpus,
                cpus,
                Map.of("cpu", (long) cpus),
                0,
                id % 2 == 0 ? "high" : "normal");
    }

    private static final List<JobUse> JOBS = List.of(
            job(1, "a1", "u1", 3600, 3700, 2),
            job(2, "a3", "u2", 3600, 4600, 4),
            job(3, "a2", "u1", 3500, 3610, 2),
            job(4, "gone", "u1", 3600, 3700, 1),
            job(5, "a1", "stranger", 3600, 3700, 1));

    private static List<String> lines(List<Map<String, String>> rows, String... keys) {
        List<String> out = new ArrayList<>();
        rows.forEach(r -> out.add(String.join(
                " ", List.of(keys).stream().map(k -> r.getOrDefault(k, "")).toList())));
        return out;
    }

    @Test
    void accountIncludesUsageOfRemovedUsersBelowIt() {
        assertThat(lines(new Accounts(book(), "c").rows(JOBS, 3600, 7200, 9000), "Depth", "Account", "User", "cpu"))
                .containsExactly(
                        "0 root  4220",
                        "1 a1  200",
                        "2 a1 u1 200",
                        "1 a2  4020",
                        "2 a2 u1 20",
                        "2 a3  4000",
                        "3 a3 u2 4000");
    }

    /** Each account's own jobs, without those of accounts below it. */
    @Test
    void qosReportCountsEachAccountsOwnJobs() {
        assertThat(lines(new Accounts(book(), "c").qos(JOBS, 3600, 7200, 9000), "Account", "QOS", "cpu"))
                .containsExactly("a1 normal 200", "a2 normal 20", "a3 high 4000");
    }

    /** An account's idle time is that of those above it, not of its users. */
    @Test
    void idleReservationTimeCountsForAccountsAbove() {
        List<Accounts.Idle> idle = List.of(
                new Accounts.Idle("a2", "", Map.of("cpu", 1000L)),
                new Accounts.Idle("a3", "u2", Map.of("cpu", 30L)),
                new Accounts.Idle("gone", "", Map.of("cpu", 5L)));
        assertThat(lines(
                        new Accounts(book(), "c").rows(JOBS, idle, 3600, 7200, 9000),
                        "Depth",
                        "Account",
                        "User",
                        "cpu"))
                .containsExactly(
                        "0 root  5250",
                        "1 a1  200",
                        "2 a1 u1 200",
                        "1 a2  5050",
                        "2 a2 u1 20",
                        "2 a3  4030",
                        "3 a3 u2 4030");
    }

    @Test
    void wckeyReportSumsUsers() {
        assertThat(lines(Accounts.wckeys("c", JOBS, 3600, 7200, 9000), "WCKey", "User", "cpu"))
                .containsExactly("wk  4420", "wk stranger 100", "wk u1 320", "wk u2 4000");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ''                                | root:1:100:1 root:2:220:2 root:4:4000:1
        acctasparent                      | a1:1:100:1 a1:2:200:1 a2:2:20:1 a2:4:4000:1
        accounts=a2                       | a2:2:20:1 a2:4:4000:1
        accounts=a2 acctasparent          | a3:4:4000:1
        flatview                          | a1:1:100:1 a1:2:200:1 a2:2:20:1 a3:4:4000:1 gone:1:100:1
        flatview accounts=a1              | a1:1:100:1 a1:2:200:1
        flatview users=u2                 | a3:4:4000:1
        flatview users=7 jobs=1           | a1:2:200:1
        flatview nodes=n[2-3] jobs=1      | a1:2:200:1
        flatview nodes=n3                 | ''
        flatview partitions=q             | ''
        flatview gids=9                   | ''
        flatview wckeys=wk jobs=2         | a3:4:4000:1
        by=wckey users=u1                 | wk:1:100:1 wk:2:220:2
        by=accountandwckey acctasparent   | a1:wk:1:100:1 a1:wk:2:200:1 a2:wk:2:20:1 a2:wk:4:4000:1
        tres=mem jobs=1                   | root:2:0:1
        """)
    void sizeReportGroupsJobsByCpus(String where, String expected) {
        Map<String, String> asked = new java.util.HashMap<>();
        for (String word : where.strip().split(" +")) {
            int eq = word.indexOf('=');
            asked.put(eq < 0 ? word : word.substring(0, eq), eq < 0 ? "1" : word.substring(eq + 1));
        }
        List<String> got = new ArrayList<>();
        new JobSizeReport(asked)
                .rows("c", new Accounts(book(), "c"), JOBS, 3600, 7200, 9000)
                .forEach(r ->
                        got.add(r.get("Name") + ":" + r.get("CPUs") + ":" + r.get("Seconds") + ":" + r.get("Jobs")));
        assertThat(String.join(" ", got)).isEqualTo(expected);
    }
}
