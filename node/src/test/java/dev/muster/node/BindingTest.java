package dev.muster.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.Codec;
import dev.muster.model.Json;
import dev.muster.model.node.NodeMessages.Launch;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BindingTest {
    /** The machine counts its CPUs 0 4 1 5 2 6 3 7 where the controller counts 0 … 7. */
    private static final List<Integer> IN_ORDER = List.of(0, 4, 1, 5, 2, 6, 3, 7);

    private static Launch launch(String bind, String... cpus) {
        String tasks = String.join(",", IntStream.range(0, cpus.length)
                .mapToObj(i -> "{\"rank\":%d,\"local\":%d,\"cpus\":\"%s\"}".formatted(i + 4, i, cpus[i])).toList());
        return Codec.bind((Json.Obj) Json.parse("{\"step\":{\"cpuBind\":\"%s\"},\"tasks\":[%s]}".formatted(bind, tasks)
                .getBytes(java.nio.charset.StandardCharsets.UTF_8)), Launch.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "''               | true  | 0-1 2-3 | 0,4 1,5 | quiet,mask_cpu:0x11,0x22",
        "none             | true  | 0-1 0-1 | 0,4 0,4 | quiet,none",
        "verbose          | true  | 0 0     | 0 0     | verbose,mask_cpu:0x1",
        "map_cpu:4,0      | true  | 0-1 0-1 | 4 0     | quiet,map_cpu:4,0",
        "map_cpu:2        | true  | 0-1 0-1 | 0,4 0,4 | quiet,map_cpu:2",
        "mask_cpu:0x10,F  | true  | 0-1 0-1 | 4 0     | quiet,mask_cpu:0x10,F",
        "''               | false | 0 1     | ''      | ''",
        "none             | false | 0 1     | ''      | quiet,none",
    })
    void tasksGetTheirCpusAndAreTold(String bind, boolean binds, String cpus, String bound, String told) {
        Binding b = new Binding(launch(bind, cpus.split(" ")), IN_ORDER, binds, true, "n1");
        assertThat((b.cpus(0) + " " + b.cpus(1)).strip()).isEqualTo(bound);
        List<String> environment = b.environment();
        assertThat(environment.isEmpty() ? "" : environment.getFirst()).isEqualTo(told.isEmpty() ? "" : "SLURM_CPU_BIND=" + told);
    }

    @org.junit.jupiter.api.Test
    void theLineOfVerboseAndTheParts() {
        Launch launch = launch("v,map_cpu:0", "0-1");
        Binding b = new Binding(launch, IN_ORDER, true, true, "n1");
        assertThat(b.said(launch.tasks().getFirst(), 0)).containsExactly("cpu-bind=MAP  - n1, task  4  0 [", "]: mask 0x1 set");
        assertThat(b.environment()).containsExactly("SLURM_CPU_BIND=verbose,map_cpu:0", "SLURM_CPU_BIND_VERBOSE=verbose",
                "SLURM_CPU_BIND_TYPE=map_cpu:", "SLURM_CPU_BIND_LIST=0");
        assertThat(new Binding(launch("v", "0"), IN_ORDER, false, true, "n1").said(launch.tasks().getFirst(), 0)).isEmpty();
        assertThat(new Binding(launch, IN_ORDER, true, false, "n1").environment()).isEmpty();
    }
}
