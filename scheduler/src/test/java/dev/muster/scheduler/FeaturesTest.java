package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FeaturesTest {
    @Test
    void expressions() {
        String table = """
                a          | a,b | true
                c          | a,b | false
                a&b        | a,b | true
                a&c        | a,b | false
                a|c        | a,b | true
                c|d        | a,b | false
                a&c|b      | a,b | true
                a&(c|b)    | a,b | true
                (a|c)&d    | a,b | false
                a,b        | a,b | true
                """;
        for (String row : table.strip().split("\n")) {
            int last = row.lastIndexOf('|');
            int middle = row.lastIndexOf('|', last - 1);
            String expression = row.substring(0, middle).strip();
            List<String> has = List.of(row.substring(middle + 1, last).strip().split(","));
            assertThat(Features.objection(expression)).as(expression).isEmpty();
            assertThat(Features.match(expression, has)).as(row).isEqualTo(Boolean.parseBoolean(row.substring(last + 1).strip()));
        }
    }

    @Test
    void whatCannotBeHonouredIsRefusedInWords() {
        for (String bad : List.of("a&", "|a", "(a", "a)", "a&&b", "()")) {
            assertThat(Features.objection(bad)).as(bad).isEqualTo("Invalid feature specification");
        }
        assertThat(Features.objection("[a|b]")).contains("not supported");
        assertThat(Features.objection("a*2")).contains("not supported");
    }
}
