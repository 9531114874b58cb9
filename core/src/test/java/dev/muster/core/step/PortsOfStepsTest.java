package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * shows: MpiParams. Steps of two jobs on n1 and n2 (of four ports each), one after the other: what each has, or why
 * not.
 */
class PortsOfStepsTest {
    private static String step(Cluster c, int id, String nodes, int ports) {
        Json.Obj request = Json.object(
                Codec.encode(Cluster.desc("tasks=1 nodeList=" + nodes).request()));
        StepDesc desc = Codec.bind(
                new Json.Obj().put("request", request).put("overlap", true).put("resvPorts", (long) ports),
                StepDesc.class);
        return switch (c.apply(new Command.CreateStep(Cluster.USER, "", id, desc, Bytes.EMPTY, "io"))) {
            case Decision.Rejected r -> r.sentence();
            case Decision.Accepted a -> {
                Step step = c.state().jobs().at(id).run().steps().getLast();
                yield step.ports().isEmpty() ? "none" : step.ports().print(0);
            }
        };
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // the first job is number 1, and begins with the port after the first
                "mpi_ports=7000-7003 | n1 0                   | 7001-7002",
                "other=x             | n1 0                   | none",
                "mpi_ports=7000-7003 | n1 4                   | 7000-7003",
                "mpi_ports=7000-7003 | n1 1 n1 1 n1 2         | 7001 7002 7000,7003",
                "mpi_ports=7000-7003 | n1 3 n1 2              | 7001-7003 Required ports are in use",
                "mpi_ports=7000-7003 | n1 3 n2 2              | 7001-7003 7002-7003",
                "mpi_ports=7000-7003 | n1 5                   | Requires more ports than can be reserved",
                "other=x             | n1 1                   | Requires more ports than can be reserved",
            })
    void aPortOfANodeIsOneStepsAlone(String option, String steps, String expected) {
        Cluster c = new Cluster("n[1-2] cpus=4", "p nodes=n[1-2]", "options." + option);
        int id = c.accept("partition=p nodesMin=2 tasks=2");
        c.schedule();
        List<String> had = new ArrayList<>();
        String[] words = steps.split(" ");
        for (int i = 0; i < words.length; i += 2) {
            had.add(step(c, id, words[i], Integer.parseInt(words[i + 1])));
        }
        assertThat(String.join(" ", had)).isEqualTo(expected);
    }
}
