package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.tres.Tres;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A specification → the GRES in it, or - where it can not be read; with the licenses of each task. */
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
    void read(String text, String expected) {
        StringBuilder out = new StringBuilder();
        Tres.gres(text)
                .forEach(i -> out.append(out.isEmpty() ? "" : " ").append(i.name() + ":" + i.type() + ":" + i.count()));
        Tres.licenses(text).forEach(i -> out.append('+').append(i));
        assertThat(Tres.isValid(text) ? out.toString() : "-").isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            tasks=2 tresPerTask=license/fluent:2                   | fluent:4
            tasks=2 tresPerTask=license/fluent:2 licenses=fluent:1 | fluent:5
            tasks=1 licenses=fluent:3                              | fluent:3
            tasks=4 tresPerTask=license/fluent:2                   | Invalid license specification
            tasks=1 tresPerNode=license/fluent:2                   | Invalid generic resource (gres) specification
            """)
    void licensesOfTasks(String job, String licenses) {
        Cluster c = new Cluster("n1 cpus=8", "p nodes=n1 default=yes defmempercpu=1", "options.licenses=fluent:6");
        String placed = c.place(job);
        assertThat(
                        placed.startsWith("n1")
                                ? c.state().jobs().at(1).run().allocation().licenses()
                                : placed)
                .isEqualTo(licenses);
    }
}
