package dev.muster.scheduler;

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

/** GPUs of jobs that ask for them by socket, and of their steps. */
class GpusOfSocketsTest {
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
                "socketsPerNode=1 cpusPerTask=8                 | n1=0-1 | {n1=0-1}",
                "socketsPerNode=1 cpusPerTask=4                 | n1=0   | {n1=0}",
                "socketsPerNode=2 cpusPerTask=1 tasks=2         | n1=0-1 | {n1=0-1}",
                "socketsPerNode=2 cpusPerTask=8                 | n1=0-1 | {n1=0-1}",
                "socketsPerNode=1 cpusPerTask=5                 | n1=0-1 | {n1=0-1}",
            })
    void eachSocketThatTheJobHasCoresOfBringsItsGpus(String job, String has, String step) {
        Cluster c = new Cluster("n1 cpus=8 sockets=2 gpus=3", "p nodes=n1 defmempercpu=1", "gresTypes=gpu");
        int id = c.accept("partition=p tresPerSocket=gres/gpu:1 " + job);
        c.schedule();
        assertThat(gpus(c, id)).isEqualTo(has);
        assertThat(step(c, id, "tresPerSocket=gres/gpu:1 " + job.replaceAll("socketsPerNode=[0-9] ", "")))
                .isEqualTo(step);
    }

    @Test
    void stepOfAOneThreadPerCoreJobTakesMoreCores() {
        Cluster c = new Cluster("n1 cpus=16 threads=2 sockets=2 gpus=2", "p nodes=n1 defmempercpu=1", "gresTypes=gpu");
        int id = c.accept("partition=p tresPerSocket=gres/gpu:1 socketsPerNode=1 threadsPerCore=1 cpusPerTask=8");
        c.schedule();
        assertThat(gpus(c, id)).isEqualTo("n1=0-1");
        assertThat(step(c, id, "tresPerSocket=gres/gpu:1 cpusPerTask=8 tasks=1"))
                .isEqualTo("{n1=0-1}");
        assertThat(c.state()
                        .jobs()
                        .at(id)
                        .run()
                        .steps()
                        .getLast()
                        .nodes()
                        .getFirst()
                        .cores()
                        .count())
                .isEqualTo(8);
        assertThat(step(c, id, "cpusPerTask=8 tasks=2")).isEqualTo("More processors requested than permitted");
    }

    @Test
    void oneSocketsGpuIsNotEnoughForTheCoresOfTwo() {
        Cluster c = new Cluster("n1 cpus=8 sockets=2 gpus=1", "p nodes=n1 defmempercpu=1", "gresTypes=gpu");
        assertThat(c.place("partition=p tresPerSocket=gres/gpu:1 socketsPerNode=1 cpusPerTask=8"))
                .isEqualTo("Requested node configuration is not available");
        assertThat(c.place("partition=p tresPerSocket=gres/gpu:1 socketsPerNode=1 cpusPerTask=4"))
                .isEqualTo("n1:4");
    }
}
