package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class X11Test {
    @ParameterizedTest
    @CsvSource({
        "all 00ff,true",
        "FIRST 00ff,true",
        "some 00ff,false",
        "all,false",
        "all 0,false",
        "all 0g,false",
        "'all ',false",
        "all 00 ff,false"
    })
    void x11RequestIsReadBackOrRefused(String text, boolean good) {
        assertThat(X11.parse(text).map(X11::text))
                .isEqualTo(
                        good
                                ? java.util.Optional.of(text.toLowerCase(java.util.Locale.ROOT))
                                : java.util.Optional.empty());
    }

    @ParameterizedTest
    @CsvSource({"ALL,012", "BATCH,0", "FIRST,0", "LAST,2"})
    void x11CoversTheNodesOfItsMode(X11.Nodes nodes, String covered) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 3; i++) {
            out.append(new X11(nodes, "00").covers(i, 3) ? Integer.toString(i) : "");
        }
        assertThat(out).hasToString(covered);
    }
}
