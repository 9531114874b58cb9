package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MultiProgramTest {
    private static final Bytes FILE = Bytes.of("""
            # who does what
            0     master --port=1
            2-4,7 worker %t %o
            5     echo 'a b' c\\ d
            8     date +%Y %% a %x b 100% %t%o %5t %%t'%t'
            6     echo 'task %t' "dq %o" x%tx 'a''b' '' 'say "%o"'

            *     rest %t
            """.getBytes(java.nio.charset.StandardCharsets.UTF_8));

    private static String words(List<Bytes> arguments) {
        return arguments.stream().map(Bytes::text).collect(Collectors.joining("|"));
    }

    @ParameterizedTest
    @CsvSource({
        "0,master|--port=1",
        "1,rest|1",
        "2,worker|2|0",
        "4,worker|4|2",
        "7,worker|7|3",
        "5,echo|a b|c d",
        "8,date|+||a||b|10080|t|t%t",
        "6,echo|task %t|\"dq|0\"|x6x|ab||say \"%o\"",
        "9,rest|9"
    })
    void taskRunsTheProgramOfItsLine(int rank, String expected) {
        assertThat(words(MultiProgram.arguments(FILE, rank, List.of()))).isEqualTo(expected);
    }

    @Test
    void taskWithoutAProgramLineRunsFalse() {
        assertThat(words(MultiProgram.arguments(Bytes.of("0 true".getBytes(StandardCharsets.UTF_8)), 1, List.of())))
                .isEqualTo("/bin/false");
    }

    @Test
    void commandLineArgumentsFollowTheProgramLines() {
        List<Bytes> appended = List.of(Bytes.of("in file"), Bytes.of("%t"));
        assertThat(words(MultiProgram.arguments(FILE, 0, appended))).isEqualTo("master|--port=1|in file|%t");
        assertThat(words(MultiProgram.arguments(FILE, 9, appended))).isEqualTo("rest|9|in file|%t");
    }
}
