package dev.muster.cli.sacct;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SacctCompletionsTest {
    private static final Map<String, String> TASK =
            SacctCompletions.record("JobId=7 UserId=u(1) Name=a b JobState=FAILED ArrayJobId=5 ArrayTaskId=2 \n");
    private static final Map<String, String> COMPONENT =
            SacctCompletions.record("JobId=9 UserId=u(1) Name=c HetJobId=8 HetJobOffset=1 \n");

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            7         | true  | false
            5         | true  | false
            5_2       | true  | false
            5_1       | false | false
            5_[1-3]   | true  | false
            5_[3-4]   | false | false
            2         | false | false
            7.batch   | true  | false
            9         | false | true
            8         | false | true
            8+1       | false | true
            8+0       | false | false
            7_2       | false | false
            """)
    void selectorMatchesTaskOrComponent(String selector, boolean task, boolean component) {
        assertThat(SacctCompletions.isOne(selector, TASK)).isEqualTo(task);
        assertThat(SacctCompletions.isOne(selector, COMPONENT)).isEqualTo(component);
    }
}
