package dev.muster.node.cgroup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.node.os.Topology;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CpuBindingTest {
    /** The machine counts its CPUs 0 4 1 5 2 6 3 7 where the controller counts 0 … 7. */
    private static final Topology MACHINE =
            new Topology(List.of(0, 4, 1, 5, 2, 6, 3, 7), halves(), halves(), new TreeSet<>(List.of(0, 1)));

    /** Two sockets, each a NUMA node: 0 1 4 5 and 2 3 6 7. */
    private static Map<Integer, Integer> halves() {
        Map<Integer, Integer> out = new HashMap<>();
        IntStream.range(0, 8).forEach(cpu -> out.put(cpu, cpu % 4 / 2));
        return out;
    }

    private static Launch launch(String bind, String... cpus) {
        String tasks = String.join(
                ",",
                IntStream.range(0, cpus.length)
                        .mapToObj(i -> "{\"rank\":%d,\"local\":%d,\"cpus\":\"%s\"}".formatted(i + 4, i, cpus[i]))
                        .toList());
        return Codec.bind(
                (Json.Obj) Json.parse("{\"step\":{\"cpuBind\":\"%s\"},\"tasks\":[%s]}"
                        .formatted(bind, tasks)
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8)),
                Launch.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''               | true  | 0-1 2-3 | 0,4 1,5 | quiet,mask_cpu:0x11,0x22",
                "none             | true  | 0-1 0-1 | 0,4 0,4 | quiet,none",
                "''               | true  | 0-6:2 1-7:3 | 0,1,2,3 2,4,7 | quiet,mask_cpu:0xF,0x94",
                "''               | true  | 0,2,4,6 1,4,7 | 0,1,2,3 2,4,7 | quiet,mask_cpu:0xF,0x94",
                "verbose          | true  | 0 0     | 0 0     | verbose,mask_cpu:0x1",
                "rank             | true  | 0-7 0-7 | 0 1     | quiet,rank",
                "rank_ldom        | true  | 0-7 0-7 | 0,1,4,5 2,3,6,7 | quiet,rank_ldom",
                "map_ldom:1       | true  | 0-7 0-7 | 2,3,6,7 2,3,6,7 | quiet,map_ldom:1",
                "mask_ldom:1,3    | true  | 0-7 0-7 | 0,1,4,5 0,1,2,3,4,5,6,7 | quiet,mask_ldom:1,3",
                "map_ldom:7       | true  | 0-7 0-7 | 0,1,2,3,4,5,6,7 0,1,2,3,4,5,6,7 | quiet,map_ldom:7",
                "sockets          | true  | 0-7 0-7 | 0,1,4,5 0,1,4,5 | quiet,mask_cpu:0x33,0x33",
                "ldoms            | true  | 0-1 0-1 | 0,4 0,4 | quiet,mask_cpu:0x11,0x11",
                "map_cpu:4,0      | true  | 0-1 0-1 | 4 0     | quiet,map_cpu:4,0",
                "map_cpu:4*2,0    | true  | 0-1 0-1 | 4 4     | quiet,map_cpu:4,4,0",
                "mask_cpu:0x10,1  | true  | 0-1 0-1 | 4 0     | quiet,mask_cpu:10,1",
                "''               | false | 0 1     | ''      | ''",
                "none             | false | 0 1     | ''      | quiet,none",
            })
    void tasksGetTheirCpusAndAreTold(String bind, boolean binds, String cpus, String bound, String told) {
        CpuBinding b = new CpuBinding(launch(bind, cpus.split(" ")), MACHINE, binds, true, "n1");
        assertThat((b.cpus(0) + " " + b.cpus(1)).strip()).isEqualTo(bound);
        List<String> environment = b.environment();
        assertThat(environment.isEmpty() ? "" : environment.getFirst())
                .isEqualTo(told.isEmpty() ? "" : "SLURM_CPU_BIND=" + told);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "map_cpu:2   | 0-1 0-1 | CPU binding outside of job step allocation, allocated CPUs are: 0x11.",
                "mask_cpu:3  | 0-1 0-1 | CPU binding outside of job step allocation, allocated CPUs are: 0x11.",
                "v,rank      | 0-1 0-1 | Entire node must be allocated for verbose,rank,one_thread",
                "mask_ldom:1 | 0-1 0-1 | Entire node must be allocated for mask_ldom,one_thread",
            })
    void bindingOutsideTheStepsCpusIsRefused(String bind, String cpus, String why) {
        assertThat(new CpuBinding(launch(bind, cpus.split(" ")), MACHINE, true, true, "n1").refusal())
                .isEqualTo(why);
        assertThat(new CpuBinding(launch(bind, cpus.split(" ")), MACHINE, false, true, "n1").refusal())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "local         | bind 0   | mem-bind=LOC - host, task  5  1 [P]: mask 0x1 set |",
                "v,rank        | bind 1   | mem-bind=RANK - host, task  5  1 [P]: mask 0x2 set |",
                "prefer,map_mem:0,1 | prefer 1 | mem-bind PREFER MAP - host, task  5  1 [P]: mask 0x2 set |",
                "none          | ''       | mem-bind=NONE - host, task  5  1 [P]: mask 0x3 |",
                "mask_mem:4    | ''       | mem-bind=MASK - host, task  5  1 [P]: mask 0x3 set"
                        + " | NUMA node 2 does not exist; cannot bind local task 1 to it (--mem-bind=mask_mem; 0x4)",
            })
    void memoryIsBound(String bind, String policy, String said, String failure) {
        Launch launch = launch("", "0-1", "0-1");
        CpuBinding cpus = new CpuBinding(launch, MACHINE, true, true, "n1");
        MemoryBinding memory = new MemoryBinding(
                dev.muster.model.job.MemBind.parse("v," + bind).orElseThrow(), MACHINE, cpus, true, "host");
        assertThat(memory.policy(1)).isEqualTo(policy);
        assertThat(String.join("P", memory.said(launch.tasks().get(1), 1))).isEqualTo(said);
        assertThat(memory.failures(1).isEmpty() ? null : memory.failures(1).getFirst())
                .isEqualTo(failure);
    }

    @org.junit.jupiter.api.Test
    void verboseBindingReportsMaskAndVariables() {
        Launch launch = launch("v,map_cpu:0", "0-1");
        CpuBinding b = new CpuBinding(launch, MACHINE, true, true, "n1");
        assertThat(b.said(launch.tasks().getFirst(), 0))
                .containsExactly("cpu-bind=MAP  - n1, task  4  0 [", "]: mask 0x1 set");
        assertThat(b.environment())
                .containsExactly(
                        "SLURM_CPU_BIND=verbose,map_cpu:0",
                        "SLURM_CPU_BIND_VERBOSE=verbose",
                        "SLURM_CPU_BIND_TYPE=map_cpu:",
                        "SLURM_CPU_BIND_LIST=0");
        assertThat(new CpuBinding(launch("v", "0"), MACHINE, false, true, "n1")
                        .said(launch.tasks().getFirst(), 0))
                .isEmpty();
        assertThat(new CpuBinding(launch, MACHINE, true, false, "n1").environment())
                .isEmpty();
    }
}
