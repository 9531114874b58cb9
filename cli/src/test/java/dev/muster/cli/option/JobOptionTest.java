package dev.muster.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.GetOpt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which long option a letter means to sbatch (B), srun (R) and salloc (A) of 26.05. */
class JobOptionTest {
    @ParameterizedTest
    @CsvSource({"B, b, begin", "R, b, begin", "A, b, begin", "R, K, kill-on-bad-exit", "A, K, kill-command"})
    void optionLetterMeansItsLongOption(char command, char letter, String longName) {
        assertThat(JobOption.table(command))
                .filteredOn(o -> o.letter() == letter)
                .extracting(GetOpt.Opt::name)
                .containsExactly(longName);
    }
}
