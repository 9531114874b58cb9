package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.options.StepOptions;
import dev.muster.core.testkit.Cluster;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** --acctg-freq and JobAcctGatherFrequency: the time between two measurements. */
class SamplingIntervalTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            30               | 30
            task=5           | 5
            energy=1,task=7  | 7
            energy=1         | -1
            ''               | -1
            """)
    void taskSamplingIntervalIsRead(String text, int seconds) {
        assertThat(StepOptions.sampleS(text)).isEqualTo(seconds);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            30 | energy=1,task=29 | n1:1
            30 | task=30       | n1:1
            30 | task=31       | Invalid accounting frequency requested
            30 | task=0        | Invalid accounting frequency requested
            30 | energy=99     | n1:1
            0  | task=31       | n1:1
            '' | task=31       | n1:1
            """)
    void jobsAreNotSampledLessOftenThanConfigured(String configured, String asked, String placed) {
        String settings = configured.isEmpty() ? "" : "options.acct_gather_frequency=" + configured;
        Cluster c = new Cluster("n1 cpus=8 mem=1000", "p nodes=n1 default=yes", "memoryConsumed=true " + settings);
        assertThat(c.place("memPerNodeMb=10 extras.acctgFreq=" + asked)).isEqualTo(placed);
    }
}
