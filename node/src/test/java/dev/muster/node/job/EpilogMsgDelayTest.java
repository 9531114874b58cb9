package dev.muster.node.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long each node of a job waits before it tells of its end. */
class EpilogMsgDelayTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            SLURM_JOB_NODELIST=n[1-1000] | n1    | 2000    | 0
            SLURM_JOB_NODELIST=n[1-1000] | n2    | 2000    | 2
            SLURM_JOB_NODELIST=n[1-1000] | n1000 | 2000    | 1998
            SLURM_JOB_NODELIST=a,n[1-3]  | n3    | 1500000 | 4500
            SLURM_JOB_NODELIST=n[1-1000] | n1000 | 2000000 | 60000
            SLURM_JOB_NODELIST=n[1-3]    | other | 2000    | 0
            OTHER=n[1-3]                 | n3    | 2000    | 0
            """)
    void epilogMessageDelayGrowsWithTheNodesPlace(String entry, String node, long micros, long ms) {
        assertThat(EpilogMsgDelay.delayMs(List.of("A=b", entry), node, micros)).isEqualTo(ms);
    }
}
