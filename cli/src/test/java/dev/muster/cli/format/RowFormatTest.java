package dev.muster.cli.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.list.SinfoField;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Widths and sides of columns as squeue and sinfo of 26.05.3 print them: what is cut, and what is printed whole. */
class RowFormatTest {
    private static String line(RowFormat.Fields fields, String format, String value) {
        List<String> unknown = new ArrayList<>();
        RowFormat f = format.startsWith("%")
                ? RowFormat.ofLetters(format, fields, unknown)
                : RowFormat.ofNames(format, fields, unknown);
        assertThat(unknown).isEmpty();
        return f.line(List.of(value)) + "~";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            ignoreLeadingAndTrailingWhitespace = true,
            value = {
                "%.9l  | 12-13:15:00 | 12-13:15:00~",
                "%.5l  | 12-13:15:00 | 12-13:15:00~",
                "%5l   | 12-13:15:00 | 12-13~",
                "%.5l  | UNLIMITED   | UNLIM~",
                "%.9l  | TIME_LIMIT  | TIME_LIMI~",
                "%.3M  | 0:00        | 0:00~",
                "%.5L  | 12-13:15:00 | 12-13:15:00~",
                "%.5S  | 2026-11-27T | 2026-~",
                "%.2D  | 154321      | 15~",
                "%.3N  | NODELIST    | NODELIST~",
                "%.3N  | n[1-4]      | n[1-4]~",
                "%3N   | n[1-4]      | n[1~",
                "%.3R  | n[1-4]      | n[1-4]~",
                "%.3R  | (Priority)  | (Pr~",
                "%.4n  | REQ_NODES   | REQ_~",
                "%.4n  | (null)      | (null)~",
                "%.4k  | (null)      | (nul~",
                "%4k   | (null)      | \"    ~\"",
                "%.2i  | 86          | 86~",
                "timeleft:.5  | 12-13:15:00 | 12-13:15:00~",
                "timeleft:5   | 12-13:15:00 | 12-13~",
                "timeused:.3  | 0:00  | 0:00~",
                "schednodes:.2 | (null) | (null)~",
                "State:.      | PENDING | PENDING~",
                "State:       | PENDING | PENDING~",
                "State:.20@   | PENDING | \"             PENDING@~\"",
                "State:10@    | PENDING | PENDING   @~",
                "State:_      | PENDING | PENDING_~",
                "State:._     | PENDING | PENDING_~",
                "Name:5.      | averyvery | avery.~",
                "Name:.5      | averyvery | avery~",
            })
    void squeueValueFitsItsColumn(String format, String value, String expected) {
        assertThat(line(JobField.TABLE, format, value)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "%.5l  | 12-13:15:00 | 12-13~",
                "%.3N  | NODELIST | NODELIST~",
                "%.1N  | n1 | n~",
                "%.3n  | HOSTNAMES | HOSTNAMES~",
                "%.3f  | (null) | (nu~",
                "%3f   | (null) | \"   ~\"",
                "NodeList:.  | n[1-4] | n[1-4]~",
                "CPUs:.      | 8 | 8~",
            })
    void sinfoValueFitsItsColumn(String format, String value, String expected) {
        assertThat(line(SinfoField.TABLE, format, value)).isEqualTo(expected);
    }
}
