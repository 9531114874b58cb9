package dev.muster.model.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CpuBindTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                    | false | DEFAULT | ''",
                "v                     | true  | DEFAULT | ''",
                "quiet,cores           | false | CORES   | ''",
                "none,verbose          | true  | NONE    | ''",
                "verbose,threads       | true  | THREADS | ''",
                "map_cpu:0,3           | false | MAP     | 0;3",
                "verbose,mask_cpu:0x3,C | true | MASK    | 3;C",
                "map_cpu:1*2,0         | false | MAP     | 1;1;0",
                "rank                  | false | RANK    | ''",
                "v,rank_ldom           | true  | LDRANK  | ''",
                "map_ldom:0            | false | LDMAP   | 0",
                "mask_ldom:0x3         | false | LDMASK  | 3",
                "sockets               | false | SOCKETS | ''",
                "q,ldoms               | false | LDOMS   | ''",
            })
    void validCpuBindIsParsed(String text, boolean verbose, CpuBind.Kind kind, String list) {
        assertEquals(
                Optional.of(new CpuBind(verbose, kind, list.isEmpty() ? List.of() : List.of(list.split(";")))),
                CpuBind.parse(text));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "boards",
                "map_cpu:",
                "map_cpu",
                "map_cpu:x",
                "mask_cpu:0xg",
                "map_cpu:1,v",
                "map_cpu:1*",
                "nodes:1"
            })
    void malformedCpuBindIsNotParsed(String text) {
        assertEquals(Optional.empty(), CpuBind.parse(text));
    }
}
