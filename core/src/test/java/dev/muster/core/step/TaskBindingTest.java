package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests how a step's tasks are bound: as the step says, as its nodes have it if they agree, as its partition, as
 * TaskPluginParam.
 */
class TaskBindingTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // nodes               | partition | TaskPluginParam | the job's nodes | --cpu-bind | so
                "''                    | ''        | ''              | 1               | ''         | ''",
                "''                    | ''        | threads         | 1               | ''         | threads",
                "''                    | p=cores   | threads         | 1               | ''         | cores",
                "''                    | q=cores   | threads         | 1               | ''         | threads",
                "none=n[1-2]           | p=cores   | threads         | 2               | ''         | none",
                "none=n[1-2]           | p=cores   | threads         | 2               | sockets    | sockets",
                "none=n1               | p=cores   | threads         | 1               | ''         | none",
                "none=n1               | p=cores   | threads         | 2               | ''         | cores",
                "ldoms=n2;none=n1      | p=cores   | threads         | 2               | ''         | cores",
                "ldoms=n2;none=n1      | ''        | ''              | 2               | ''         | ''",
            })
    void cpuBindComesFromStepThenNodesThenPartition(
            String nodes, String partition, String parameter, int count, String own, String expected) {
        Cluster c = new Cluster(
                "n[1-2] cpus=4",
                "p nodes=n[1-2]" + (partition.startsWith("p=") ? " cpubind=" + partition.substring(2) : ""),
                "options.node_bind=" + nodes + " options.task_bind=" + parameter);
        int id = c.accept("partition=p nodesMin=" + count + " tasks=" + count);
        c.schedule();
        Json.Obj request = Json.object(Codec.encode(Cluster.desc("tasks=1").request()));
        c.apply(new Command.CreateStep(
                Cluster.USER,
                "",
                id,
                Codec.bind(new Json.Obj().put("request", request).put("cpuBind", own), StepDesc.class),
                Bytes.EMPTY,
                "io"));
        assertThat(c.state().jobs().at(id).run().steps().getLast().desc().cpuBind())
                .isEqualTo(expected);
    }

    @Test
    void nodeBindingsAreGroupedByKind() {
        assertThat(TaskBinding.ofNodes(Map.of("n1", "cores", "n2", "cores", "m", "none")))
                .isEqualTo("cores=n[1-2];none=m");
    }
}
