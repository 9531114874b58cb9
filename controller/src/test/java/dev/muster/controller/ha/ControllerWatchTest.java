package dev.muster.controller.ha;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControllerWatchTest {
    /** Answers of the primary c0 and the backup c2 to successive pings, asked by c1, which leads. */
    @ParameterizedTest
    @CsvSource(nullValues = "-", delimiter = '|', textBlock = """
            # c0     | c2     | events
            ++++     | ++++   |
            +-++     | ++++   |
            +---     | ++++   | primary_slurmctld_failure
            --++     | ++++   | primary_slurmctld_failure primary_slurmctld_resumed_operation
            ++++     | +---+- | backup_slurmctld_failure backup_slurmctld_resumed_operation
            --+--    | +++++  | primary_slurmctld_failure primary_slurmctld_resumed_operation primary_slurmctld_failure
            ----     | ----   | primary_slurmctld_failure backup_slurmctld_failure
            """)
    void twoMissesAreAFailure(String primary, String backup, String events) {
        List<String> heard = new ArrayList<>();
        int[] round = {0};
        List<String> answers = List.of(primary, "never asked", backup);
        ControllerWatch watch = new ControllerWatch(
                1, 3, i -> round[0] >= answers.get(i).length() || answers.get(i).charAt(round[0]) == '+', heard::add);
        int pings = Math.max(primary.length(), backup.length());
        IntStream.range(0, pings).forEach(r -> {
            round[0] = r;
            watch.pingAll();
        });
        assertThat(heard).isEqualTo(events == null ? List.of() : Arrays.asList(events.split(" ")));
    }
}
