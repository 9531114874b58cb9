package dev.muster.cli.sacct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs as JOB, or JOB:ARRAY_TASK of arrays, in the order in which slurmdbd answers and in that of sacct. */
class AccountedOrderTest {
    private final List<String> out = new ArrayList<>();
    private final AccountedOrder order = new AccountedOrder(e -> out.add(e.cluster()));

    private void add(String word) {
        String[] parts = word.split("[:_]");
        Json.Obj job = new Json.Obj().put("jobId", Long.valueOf(parts[0]));
        if (parts.length > 1) {
            job.put("arrayJobId", Long.valueOf(parts[1]))
                    .put("arrayTaskId", parts[2].equals("*") ? -1L : Long.parseLong(parts[2]));
        }
        order.add(new AccountedOrder.Entry(word, job, List.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "1:1_* 2 3:3_4 4:3_2 5:3_3 6 7:1_2, 2 6 7:1_2 1:1_* 4:3_2 5:3_3 3:3_4",
        "1 2 3, 1 2 3",
        "5 5 6, 5 5 6",
        "9:9_1 10:9_0 11:8_0, 11:8_0 10:9_0 9:9_1",
    })
    void arraysFollowByTask(String came, String shown) {
        for (String word : came.split(" ")) {
            add(word);
        }
        assertThat(out).isEmpty();
        order.end();
        assertThat(String.join(" ", out)).isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void streamedRowsKeepTheirOrder(boolean byCount) {
        List<String> expected = new ArrayList<>();
        int jobs = byCount ? AccountedOrder.JOBS_MAX + 1 : 2;
        for (int i = 1; i <= jobs; i++) {
            expected.add(i + ":" + (jobs - i + 1) + "_0");
            add(expected.getLast());
        }
        if (!byCount) {
            order.stream();
        }
        order.end();
        assertThat(out).isEqualTo(expected);
    }
}
