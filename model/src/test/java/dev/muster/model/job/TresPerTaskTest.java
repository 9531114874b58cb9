package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TresPerTaskTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0 | ''                     | ''
            2 | ''                     | cpu=2
            2 | gres/gpu:1             | cpu=2,gres/gpu=1
            0 | gres/gpu:a100:2        | gres/gpu:a100=2
            0 | gres/gpu               | gres/gpu=1
            4 | cpu=4,license/ansys=1  | cpu=4,license/ansys=1
            4 | cpu:4,license/ansys:1  | cpu=4,license/ansys=1
            """)
    void tresPerTaskJoinsCpusAndGres(int cpus, String tres, String told) {
        assertThat(TresPerTask.of(cpus, tres)).isEqualTo(told);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            cpu:3                 | cpu=3                  | true
            cpu:3                 | cpu=2                  | false
            gres/gpu              | gres/gpu=1             | true
            gres/gpu:a100         | gres/gpu:a100=1        | true
            gres/gpu:a100:2       | gres/gpu:a100=2        | true
            gres/gpu:1,cpu=2      | cpu=2,gres/gpu=1       | true
            gres/gpu:1            | cpu=2,gres/gpu=1       | false
            license/x:7           | license/x=7            | true
            """)
    void tresPerTaskFormsCompareEqual(String one, String other, boolean same) {
        assertThat(TresPerTask.areSame(one, other)).isEqualTo(same);
    }
}
