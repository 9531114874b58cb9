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
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which GPUs of their job steps get. */
class GpusOfStepsTest {
    private static String shown(Map<String, dev.muster.model.format.IndexSet> gres) {
        return gres.containsKey("gpu") ? gres.get("gpu").compact() : "none";
    }

    private static String gpus(Cluster c, int id) {
        return String.join(
                " ",
                c.state().jobs().at(id).run().allocation().nodes().stream()
                        .map(s -> s.node() + "=" + shown(s.gres()))
                        .toList());
    }

    /** Returns the step's devices on each node, or its refusal. */
    private static String step(Cluster c, int id, String words) {
        Json.Obj request = Json.object(Codec.encode(Cluster.desc(words).request()));
        StepDesc desc = Codec.bind(new Json.Obj().put("request", request), StepDesc.class);
        return switch (c.apply(new Command.CreateStep(Cluster.USER, "", id, desc, Bytes.EMPTY, "io"))) {
            case Decision.Rejected r -> r.sentence();
            case Decision.Accepted a -> {
                Step step = c.state().jobs().at(id).run().steps().getLast();
                Map<String, String> out = new TreeMap<>();
                step.nodes().forEach(p -> out.put(p.node(), shown(p.gres())));
                yield out.toString();
            }
        };
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tresPerNode=gres/gpu:b:1                    | {n1=2}",
                "tresPerNode=gres/gpu:a:1                    | {n1=0}",
                "tresPerNode=gres/gpu:1                      | {n1=0}",
                "tresPerNode=gres/gpu:2                      | {n1=0,2}",
                "tresPerNode=gres/gpu:a:1,gres/gpu:b:1       | {n1=0,2}",
                "tresPerJob=gres/gpu:b:1                     | {n1=2}",
                "tresPerTask=gres/gpu:b:1                    | {n1=2}",
                "tresPerNode=gres/gpu:a:2                    | Invalid generic resource (gres) specification",
                "tresPerNode=gres/gpu:c:1                    | Invalid generic resource (gres) specification",
                "tresPerNode=gres/gpu:3                      | Invalid generic resource (gres) specification",
                "tresPerJob=gres/gpu:a:2                     | Invalid generic resource (gres) specification",
                "tresPerJob=gres/gpu:3                       | Invalid generic resource (gres) specification",
            })
    void aStepHasTheTypeThatItAsksFor(String asked, String has) {
        Cluster c = new Cluster("n1 cpus=8 mem=1000 gpus=a:2,b:2", "p nodes=n1 defmempercpu=1", "gresTypes=gpu");
        int id = c.accept("partition=p tasks=1 tresPerNode=gres/gpu:a:1,gres/gpu:b:1");
        c.schedule();
        assertThat(gpus(c, id)).isEqualTo("n1=0,2");
        assertThat(step(c, id, "tasks=1 " + asked)).isEqualTo(has);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tresPerNode=gres/gpu:1",
                "tresPerNode=gres/gpu:a:1",
                "tresPerJob=gres/gpu:1",
                "tresPerTask=gres/gpu:1",
                "tresPerSocket=gres/gpu:1",
            })
    void aStepOfAJobWithoutGpusHasNone(String asked) {
        Cluster c = new Cluster("n1 cpus=8 mem=1000 gpus=a:2", "p nodes=n1 defmempercpu=1", "gresTypes=gpu");
        int id = c.accept("partition=p tasks=1");
        c.schedule();
        assertThat(step(c, id, "tasks=1 " + asked)).isEqualTo("Invalid generic resource (gres) specification");
        assertThat(step(c, id, "tasks=1")).isEqualTo("{n1=none}");
    }

    /** A step's CPUs for its GPUs, and its GPUs when it names them twice. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tasks=1 tresPerJob=gres/gpu:1 cpusPerGpu=2              | {n1=0} 2",
                "tasks=2 tresPerTask=gres/gpu:1 cpusPerGpu=3             | {n1=0-1} 6",
                "tasks=1 tresPerNode=gres/gpu:2 cpusPerGpu=2             | {n1=0-1} 4",
                "tasks=1 tresPerJob=gres/gpu:2 cpusPerGpu=2 cpusPerTask=1 | {n1=0-1} 1",
                "tasks=1 tresPerNode=gres/gpu:1,gres/gpu:2               | {n1=0-1} 1",
                "tasks=1 tresPerNode=gres/gpu:2,gres/gpu:1               | {n1=0} 1",
            })
    void aStepHasCpusForItsGpus(String asked, String has) {
        Cluster c = new Cluster("n1 cpus=8 mem=1000 gpus=4", "p nodes=n1 defmempercpu=1", "gresTypes=gpu");
        int id = c.accept("partition=p tasks=8 tresPerNode=gres/gpu:4");
        c.schedule();
        assertThat(step(c, id, asked) + " "
                        + c.state()
                                .jobs()
                                .at(id)
                                .run()
                                .steps()
                                .getLast()
                                .nodes()
                                .getFirst()
                                .cores()
                                .count())
                .isEqualTo(has);
    }

    @Test
    void aSumOverNodesWaitsUntilOtherStepsLeaveItsGpus() {
        String busy = "Requested nodes are busy";
        Cluster c = new Cluster("n[1-2] cpus=8 gpus=4", "p nodes=n[1-2] defmempercpu=1", "gresTypes=gpu");
        int id = c.accept("partition=p nodesMin=2 tasks=8 cpusPerTask=2 tresPerNode=gres/gpu:4");
        c.schedule();
        assertThat(gpus(c, id)).isEqualTo("n1=0-3 n2=0-3");
        assertThat(step(c, id, "nodesMin=2 tasks=2 tresPerJob=gres/gpu:6 tresPerNode=gres/gpu:0"))
                .isEqualTo("{n1=0-3, n2=0-1}");
        assertThat(step(c, id, "nodesMin=2 tasks=2 tresPerJob=gres/gpu:2 tresPerNode=gres/gpu:0"))
                .as("none left on n1")
                .isEqualTo(busy);
        assertThat(step(c, id, "nodesMin=2 tasks=2 tresPerJob=gres/gpu:7 tresPerNode=gres/gpu:0"))
                .isEqualTo(busy);
    }
}
