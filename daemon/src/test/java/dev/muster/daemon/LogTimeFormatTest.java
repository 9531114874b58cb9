package dev.muster.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every word of LogTimeFormat, alone and with format_stderr. */
class LogTimeFormatTest {
    private static final String DAY = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d";
    private static final String SHORT = "[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''                  | DAY.ms      | false
            iso8601_ms          | DAY.ms      | false
            iso8601             | DAY         | false
            ISO8601             | DAY         | false
            rfc5424             | DAYzone     | false
            rfc5424_ms          | DAY.mszone  | false
            rfc3339             | DAYzone     | false
            short               | SHORT       | false
            short,format_stderr | SHORT       | true
            format_stderr       | DAY.ms      | true
            format_stderr,short | SHORT       | true
            nosuch              | DAY.ms      | false
            clock               | \\d+        | false
            thread_id           | SHORT.us +\\d+ .{12,} 0x[0-9a-f]+ | false
            """)
    void logLineTimeFollowsItsFormat(String key, String expected, boolean alsoStderr) {
        LogTimeFormat format = LogTimeFormat.parse(key);

        String pattern = expected.replace(".ms", "\\.\\d{3}")
                .replace(".us", "\\.\\d{6}")
                .replace("zone", "[+-]\\d\\d:\\d\\d")
                .replace("DAY", DAY)
                .replace("SHORT", SHORT);
        assertThat(format.at(Instant.parse("2026-01-02T03:04:05.006Z"))).matches(pattern);
        assertThat(format.alsoStderr()).isEqualTo(alsoStderr);
    }
}
