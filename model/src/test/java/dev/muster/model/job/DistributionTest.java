package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DistributionTest {
    @Test
    void distributionIsParsed() {
        String table = """
                block | block
                * | block
                *:* | block:cyclic
                *:*:* | block:cyclic:cyclic
                *:block:* | block:block:block
                cyclic:fcyclic | cyclic:fcyclic
                block:block:block,nopack | block:block:block,nopack
                pack | pack
                *,pack | block,pack
                plane=4 | plane
                arbitrary | arbitrary
                blocker | bad
                block:cyclicer | bad
                , | bad
                ,pack | bad
                **:* | bad
                plane=0 | bad
                plane=4,pack | bad
                plane=4:block | bad
                block:block:block:block | bad
                """;
        for (String row : table.strip().split("\n")) {
            String[] cells = row.split(" \\| ");
            assertThat(Distribution.parse(cells[0]).map(Distribution::text).orElse("bad"))
                    .as(row)
                    .isEqualTo(cells[1]);
        }
        assertThat(Distribution.parse("plane=4").orElseThrow().plane()).isEqualTo(4);
    }
}
