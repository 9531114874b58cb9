package dev.muster.controller.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DeviceBindingTest {
    /** {@code --gpu-bind}, the step's GPUs, those near each task → those each task sees. */
    @Test
    void gpuBindGivesEachTaskItsGpus() {
        for (String row : """
                closest          | 0-3 | 0-1 2-3         | 0-1 2-3
                closest          | 0-2 | 0-1 0-1 2       | 0-1 0-1 2
                closest          | 0-1 | 0-1 2-3         | 0-1 0-1
                closest          | 1,3 | - -             | 1,3 1,3
                single:1         | 0-3 | 0-1 2-3 0-1 2-3 | 0 2 1 3
                single:1         | 0-2 | - - - -         | 0 1 2 0
                single:2         | 0-3 | 0-1 2-3 0-1     | 0 2 0
                single:2         | 0-2 | - - - -         | 0 0 1 1
                single:1         | 0-2 | 0-1 0-1 0-1 0-1 | 0 1 0 1
                per_task:1       | 0-3 | 2-3 0-1         | 2 0
                per_task:1       | 0-2 | - - - -         | 0 1 2 0
                per_task:2       | 0-3 | 2-3 0-1         | 2-3 0-1
                per_task:2       | 0-2 | - - -           | 0-1 2 0
                per_task:3       | 0-3 | 2-3 -           | 0,2-3 1
                map:0,2          | 0-2 | - - -           | 0 2 0
                map:1            | 2-3 | -               | 3
                map:3,7          | 0-3 | - -             | 3 0
                mask:1,3         | 0-2 | - -             | 0 0-1
                mask:0x8,0x10    | 0-3 | - -             | 3 0
                none             | 0-3 | 0-1 2-3         | 0-3 0-3
                map:             | 1-2 | - -             | 1-2 1-2
                mask_gpu:        | 1-2 | - -             | 1-2 1-2
                verbose,single:1 | 0-1 | - -             | 0 1
                """.strip().split("\n")) {
            String[] cells = row.split(" *\\| *");
            StepDesc desc = Codec.bind(new Json.Obj().put("tresBind", "gres/gpu:" + cells[0].strip()), StepDesc.class);
            List<IndexSet> near = Stream.of(cells[2].split(" "))
                    .map(n -> n.equals("-") ? IndexSet.empty() : IndexSet.parse(n))
                    .toList();
            assertThat(DeviceBinding.gpus(desc, IndexSet.parse(cells[1]), near).stream()
                            .map(IndexSet::compact)
                            .collect(Collectors.joining(" ")))
                    .as(row)
                    .isEqualTo(cells[3].strip());
        }
    }
}
