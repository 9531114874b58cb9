package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Change;
import dev.muster.core.state.Job;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.StepId;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Heterogeneous steps of one ordinary job: nodes of their own for each component, ranks over all, one number with the
 * component in it.
 */
class HetStepTest {
    private static Cluster cluster(int nodes, String words) {
        Cluster c =
                new Cluster("n[1-" + nodes + "] cpus=4 mem=1000 gpus=2", "p nodes=n[1-" + nodes + "]", "gresTypes=gpu");
        assertThat(c.accept("partition=p nodesMin=" + nodes + " " + words)).isEqualTo(1);
        c.schedule();
        return c;
    }

    private static Command.CreateStep part(String words) {
        boolean overlap = words.contains("overlap");
        int relative =
                words.contains("relative=") ? Integer.parseInt(words.replaceAll(".*relative=([0-9]+).*", "$1")) : 0;
        Json.Obj request = Json.object(Codec.encode(
                Cluster.desc(words.replaceAll("overlap|relative=[0-9]+", "").strip())
                        .request()));
        StepDesc desc = Codec.bind(
                new Json.Obj().put("request", request).put("overlap", overlap).put("relative", (long) relative),
                StepDesc.class);
        return new Command.CreateStep(Cluster.USER, "", 1, desc, Bytes.EMPTY, "io");
    }

    /** {@code 0+0 n1:0,1 / 0+1 n2:2}, or why not. */
    private static String begin(Cluster c, String components) {
        List<Command.CreateStep> parts =
                Arrays.stream(components.split(" : ")).map(HetStepTest::part).toList();
        return switch (c.apply(new Command.CreateHetStep(Cluster.USER, "", parts))) {
            case Decision.Rejected r -> r.sentence();
            case Decision.Accepted a ->
                job(c).steps((Integer) a.reply()).stream()
                        .map(s -> s.name()
                                + s.nodes().stream()
                                        .map(p -> " " + p.node() + ":"
                                                + p.tasks().toString().replaceAll("[\\[\\] ]", ""))
                                        .collect(Collectors.joining()))
                        .collect(Collectors.joining(" / "));
        };
    }

    private static Job job(Cluster c) {
        return c.state().jobs().at(1);
    }

    @Test
    void namesHaveTheComponentInThem() {
        for (String name : List.of("0", "7", "0+0", "12+127", "8388607+3", "batch", "extern")) {
            assertThat(StepId.name(StepId.parse(name).orElseThrow())).isEqualTo(name);
        }
        for (String none : List.of("", "+", "1+", "+1", "1+128", "8388608", "-1", "1+1+1", "a")) {
            assertThat(StepId.parse(none)).as(none).isEmpty();
        }
        List<String> sorted = List.of("2+1", "3", "2+0", "1", "10").stream()
                .map(n -> StepId.parse(n).orElseThrow())
                .sorted(StepId.ORDER)
                .map(StepId::name)
                .toList();
        assertThat(sorted).containsExactly("1", "2+0", "2+1", "3", "10");
        assertThat(StepId.means(2, StepId.of(2, 1))).isTrue();
        assertThat(StepId.means(StepId.of(2, 1), StepId.of(2, 0))).isFalse();
    }

    @Test
    void hetStepComponentsHaveTheirOwnNodes() {
        String[][] rows = {
            {"tasks=1 : tasks=1", "0+0 n1:0 / 0+1 n2:1"},
            {"tasks=3 nodesMin=1 nodesMax=1 : nodesMin=2 nodesMax=2 tasks=4", "0+0 n1:0,1,2 / 0+1 n2:3,4 n3:5,6"},
            {"nodeList=n2 tasks=1 : nodeList=n1 tasks=1", "0+0 n2:0 / 0+1 n1:1"},
            {"tasks=1 : excludeList=n2 tasks=1", "0+0 n1:0 / 0+1 n3:1"},
            {"relative=1 tasks=1 : tasks=1 : tasks=2", "0+0 n2:0 / 0+1 n1:1 / 0+2 n3:2,3"},
            {"nodeList=n1 tasks=1 : nodeList=n1 tasks=1", "Requested nodelist n1 overlaps with excluded n1."},
            {
                "excludeList=n[1-2] tasks=1 : excludeList=n[1-2] nodeList=n3 tasks=1",
                "Allocation failure of 1 nodes: job size of 3, already allocated 3 nodes to previous components."
            },
            {
                "nodeList=n[2-3] nodesMin=2 tasks=2 : nodeList=n3 tasks=1",
                "Requested nodelist n3 overlaps with excluded n[2-3]."
            },
            {
                "tasks=1 : tasks=1 : tasks=1 : tasks=1",
                "Allocation failure of 1 nodes: job size of 3, already allocated 3 nodes to previous components."
            },
            {
                "nodesMin=2 nodesMax=2 tasks=2 : nodesMin=2 tasks=2",
                "Allocation failure of 2 nodes: job size of 3, already allocated 2 nodes to previous components."
            },
            {
                "tasks=1 : tasks=1 excludeList=n[2-3]",
                "Allocation failure of 1 nodes: job size of 3, already allocated 3 nodes to previous components."
            },
            {"tasks=1 : nodeList=n9 tasks=1 nodesMin=3", "Requested node configuration is not available"},
            {"tasks=1 : tasks=99", "More processors requested than permitted"}
        };
        for (String[] row : rows) {
            assertThat(begin(cluster(3, "tasks=12"), row[0])).as(row[0]).isEqualTo(row[1]);
        }
    }

    @Test
    void hetStepComponentsShareNoCpusOrGres() {
        Cluster c = cluster(2, "tasks=8 tresPerNode=gres/gpu:2");
        assertThat(begin(c, "tasks=4 tresPerNode=gres/gpu:2 : tasks=1 tresPerNode=gres/gpu:1 cpusPerTask=2"))
                .isEqualTo("0+0 n1:0,1,2,3 / 0+1 n2:4");
        assertThat(job(c).steps(0).stream()
                        .map(s -> s.nodes().getFirst().cpus() + " "
                                + s.nodes().getFirst().gres())
                        .toList())
                .hasToString("[4 {gpu=0-1}, 2 {gpu=0}]");
        assertThat(begin(c, "tasks=1 : tasks=1"))
                .as("the first component finds nothing on n1")
                .isEqualTo("Requested nodes are busy");
        assertThat(begin(c, "tasks=1 overlap : tasks=1 overlap"))
                .as("the number that was not used is given again")
                .isEqualTo("1+0 n1:0 / 1+1 n2:1");
    }

    @Test
    void hetStepNumberMeansAllComponents() {
        Cluster c = cluster(2, "tasks=8");
        assertThat(begin(c, "tasks=1 : tasks=1")).isEqualTo("0+0 n1:0 / 0+1 n2:1");
        new Play(c).lines("""
                signal 1.0 10       -> says Signal@n1 Signal@n2
                signal 1.0+1 10     -> says Signal@n2
                signal 1.0+2 10     -> says Invalid job id specified
                update 1.0 stepid=1.0 timelimit=9
                exited 1 0+0 3:0    -> 1 RUNNING n[1-2] step0+0=ENDED step0+1=RUNNING
                signal 1.0 10       -> says Signal@n2
                step 1 1            -> says 1; 1 RUNNING n[1-2] step0+0=ENDED step0+1=RUNNING step1=RUNNING
                cancel 1.0          -> ending 1.0+1 Cancelled by 1000
                exited 1 0+1 0:15   -> 1 RUNNING n[1-2] step0+0=ENDED step0+1=ENDED step1=RUNNING
                cancel 1.0          -> says Job/step already completing or completed
                """);
        assertThat(job(c).steps(0).stream().map(s -> s.desc().timeLimitMin()).toList())
                .containsExactly(9, 9);
    }

    @Test
    void aTaskThatAbortsEndsAllComponents() {
        Cluster c = cluster(2, "tasks=8");
        begin(c, "tasks=1 : tasks=1");
        new Play(c).lines("aborted 1 0+0 -> ending 1.0+0 Cancelled by 1000; ending 1.0+1 Cancelled by 1000");
    }

    @Test
    void repeatedHetStepRequestMakesOneStep() {
        Cluster c = cluster(2, "tasks=8");
        List<Command.CreateStep> parts = List.of(part("tasks=1"), part("tasks=1"));
        for (int i = 0; i < 2; i++) {
            assertThat(c.apply(new Command.CreateHetStep(Cluster.USER, "r", parts)))
                    .isInstanceOfSatisfying(
                            Decision.Accepted.class, a -> assertThat(a.reply()).isEqualTo(0));
        }
        assertThat(job(c).run().steps()).hasSize(2);
        assertThat(c.apply(new Command.CreateHetStep(Cluster.USER, "", parts.subList(0, 1))))
                .isInstanceOf(Decision.Rejected.class);
    }

    @Test
    void hetStepComponentSurvivesTheCodec() {
        Cluster c = cluster(2, "tasks=8");
        begin(c, "tasks=1 : tasks=1");
        Change told = new Change.StepEnded(1, job(c).steps(0).getLast().id(), 5);
        assertThat(Codec.decode(Codec.encode(told), Change.StepEnded.class)).isEqualTo(told);
        byte[] kept = Codec.encode(job(c).steps(0).getLast());
        assertThat(Codec.decode(kept, Step.class).name()).isEqualTo("0+1");
    }
}
