package dev.muster.accounting.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PurgeTest {
    @ParameterizedTest
    @CsvSource({
        "1hour, 2026-11-22T08:00:00Z",
        "24hours, 2026-11-21T09:00:00Z",
        "1day, 2026-11-21T00:00:00Z",
        "30Days, 2026-10-23T00:00:00Z",
        "1, 2026-10-01T00:00:00Z",
        "12months, 2025-11-01T00:00:00Z",
        "0, ''",
        "'', ''",
        "soon, ''",
        "-1day, ''",
        "1year, ''"
    })
    void purgeBoundaryIsRoundedToItsUnit(String after, String expected) {
        ZonedDateTime now = ZonedDateTime.of(2026, 11, 22, 9, 12, 30, 0, ZoneOffset.UTC);
        var before = Purge.before(after, now);
        assertThat(
                        before.isPresent()
                                ? Instant.ofEpochSecond(before.getAsLong()).toString()
                                : "")
                .isEqualTo(expected);
    }
}
