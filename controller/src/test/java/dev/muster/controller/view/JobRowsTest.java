package dev.muster.controller.view;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobRowsTest {
    /** The layout is written as sacct's Layout has it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "''; false; Block",
                "''; true; Cyclic",
                "*; true; Cyclic",
                "block; true; Block",
                "cyclic; false; Cyclic",
                "block:block; false; BBlock",
                "block:fcyclic; false; BFCyclic",
                "cyclic:block; false; CBlock",
                "*:cyclic; false; BCyclic",
                "block:*; false; BCyclic",
                "plane=2; false; Plane",
                "'block,pack'; false; 'Block,Pack'",
                "'cyclic,nopack'; false; 'Cyclic,NoPack'",
                "block:block:cyclic; false; BBlockCyclic",
                "cyclic:block:block; false; CBlockBlock",
                "arbitrary; false; arbitrary task distribution"
            })
    void layoutIsNamedAsInSacct(String wanted, boolean few, String expected) {
        assertThat(JobRows.layout(wanted, few)).isEqualTo(expected);
    }
}
