package dev.muster.model.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SluidTest {
    @ParameterizedTest
    @CsvSource({"1, 0, 0", "70, 1, 0", "70, 0, 1", "70, 3, 2", "68719476735, 4000000, 30"})
    void anAttemptAndASizeHaveNumbersOfTheirOwn(long sluid, int restarts, int size) {
        long sized = Sluid.sized(sluid, size);
        long shown = Sluid.shown(sized, restarts);
        assertThat(Sluid.original(sized)).isEqualTo(sluid);
        assertThat(Sluid.attempt(shown)).isEqualTo(restarts);
        assertThat(Sluid.first(shown)).isEqualTo(sized);
        assertThat(Sluid.parse(Sluid.text(shown))).hasValue(shown);
        assertThat(shown).isPositive();
        assertThat(shown == sluid).isEqualTo(restarts == 0 && size == 0);
    }
}
