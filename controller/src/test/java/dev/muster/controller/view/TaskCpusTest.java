package dev.muster.controller.view;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.muster.core.state.Step;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaskCpusTest {
    /** A node of two sockets of four cores. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // units | cpus | tasks | -c | -m            | --cpu-bind | each task's
                " 0-7    | 8    | 4     | 1  | block:block   | ''         | 0 1 2 3",
                " 0-7    | 8    | 4     | 1  | block:cyclic  | ''         | 0 4 1 5",
                " 0-7    | 8    | 4     | 2  | block:cyclic  | ''         | 0-1 4-5 2-3 6-7",
                " 0-7    | 8    | 4     | 2  | block:fcyclic | ''         | 0,4 1,5 2,6 3,7",
                " 0-4    | 5    | 3     | 1  | block:cyclic  | ''         | 0 4 1",
                " 1,5    | 2    | 2     | 1  | block:cyclic  | cores      | 1 5",
                " 0-7    | 16   | 2     | 1  | block:cyclic  | cores      | 0-1 8-9",
                " 0-7    | 16   | 2     | 1  | block:cyclic  | threads    | 0 8",
                // the third level: threads of cores
                " 0-7    | 16   | 4     | 1  | block:block:block    | threads | 0 1 2 3",
                " 0-7    | 16   | 4     | 1  | block:block:cyclic   | threads | 0 2 4 6",
                " 0-7    | 16   | 4     | 1  | block:cyclic:block   | threads | 0 8 1 9",
                " 0-7    | 16   | 4     | 1  | block:cyclic:cyclic  | threads | 0 8 2 10",
                " 0-7    | 16   | 2     | 2  | block:block:block    | threads | 0-1 2-3",
                " 0-7    | 16   | 2     | 2  | block:block:fcyclic  | threads | 0,2 4,6",
                " 0-7    | 16   | 2     | 2  | block:block:cyclic   | threads | 0-1 2-3",
                " 0-1    | 4    | 4     | 1  | block:block:cyclic   | threads | 0 2 1 3",
                " 0-7    | 16   | 2     | 2  | block:block:fcyclic  | ''      | 0-3 4-7",
                " 0-7    | 16   | 2     | 2  | block:block:block    | ''      | 0-1 2-3",
                " 0-7    | 8    | 4     | 1  | ''            | ''         | 0 4 1 5",
                " 0-7    | 8    | 2     | 3  | block         | ''         | 0-2 4-6",
                " 0-7    | 8    | 4     | 1  | plane=2       | ''         | 0 1 2 3",
                " 0-1    | 2    | 2     | 1  | block         | none       | 0-1 0-1",
                " 0      | 1    | 3     | 1  | block         | ''         | 0 0 0",
                " 0-1    | 2    | 2     | 1  | block         | map_cpu:1  | 0-1 0-1",
            })
    void tasksGetTheirCpusByDistributionAndBinding(
            String units, int cpus, int tasks, int perTask, String distribution, String bind, String wanted) {
        Json.Obj desc =
                (Json.Obj) Json.parse("{\"cpuBind\":\"%s\",\"request\":{\"cpusPerTask\":%d,\"distribution\":\"%s\"}}"
                        .formatted(bind, perTask, distribution)
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8));
        Step.Part part = new Step.Part(
                "n1",
                IntStream.range(0, tasks).boxed().toList(),
                IndexSet.parseSpec(units, 64).getFirst().indexes(),
                cpus,
                0,
                java.util.Map.of(),
                false,
                false,
                dev.muster.model.job.ExitStatus.NONE,
                java.util.Map.of(),
                "");
        List<IndexSet> given = TaskCpus.of(
                Codec.bind(desc, StepDesc.class),
                part,
                4,
                cpus / part.cores().count(),
                dev.muster.model.job.Distribution.Level.CYCLIC);
        assertEquals(wanted, given.stream().map(IndexSet::compact).collect(Collectors.joining(" ")));
    }
}
