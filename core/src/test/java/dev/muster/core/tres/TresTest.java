package dev.muster.core.tres;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A specification → the GRES in it, or - where it can not be read. */
class TresTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gpu:2                            | gpu::2
            gres/gpu:a100:2,nic              | gpu:a100:2 nic::1
            gpu:a100                         | gpu:a100:1
            cpu:3                            | ''
            cpu:3,gres/gpu:1                 | gpu::1
            cpu                              | -
            cpu:3cpu:3                       | -
            license/fluent:7                 | +fluent:7
            license/fluent                   | +fluent:1
            license/fluent:7license/fluent:7 | -
            license//fluent                  | -
            gres/gpu:1gres/gpu:1             | -
            gres//gpu                        | -
            gres//gpu::1                     | -
            cpu::3                           | -
            """)
    void tresSpecificationIsRead(String text, String expected) {
        StringBuilder out = new StringBuilder();
        Tres.gres(text)
                .forEach(i -> out.append(out.isEmpty() ? "" : " ").append(i.name() + ":" + i.type() + ":" + i.count()));
        Tres.licenses(text).forEach(i -> out.append('+').append(i));
        assertThat(Tres.isValid(text) ? out.toString() : "-").isEqualTo(expected);
    }
}
