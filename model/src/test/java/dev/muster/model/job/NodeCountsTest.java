package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.format.Digits;
import org.junit.jupiter.api.Test;

class NodeCountsTest {
    @Test
    void nodeCountsAreParsed() {
        String table = """
                4 | 4 4
                2-8 | 2 8
                0 | 0 0
                1,5,9 | 1 9 1,5,9
                9,1,5,5 | 1 9 1,5,9
                1-15:4 | 1 13 1,5,9,13
                1-3,4 | 1 4
                2-8:2,3 | 2 8 2,3,4,6,8
                7-7:3 | 7 7
                8-2 | bad
                x | bad
                2, | bad
                ,2 | bad
                0,2 | bad
                3:2 | bad
                2-8:0 | bad
                2-8: | bad
                1-2147483647,5 | bad
                1-2-3 | bad
                """;
        for (String row : table.strip().split("\n")) {
            String[] cells = row.split(" \\| ");
            String read = NodeCounts.parse(cells[0], n -> Digits.only(n, 10) ? Long.parseLong(n) : -1)
                    .map(c -> (c.least() + " " + c.most() + " " + c.sizes()).strip())
                    .orElse("bad");
            assertThat(read).as(row).isEqualTo(cells[1]);
        }
    }
}
