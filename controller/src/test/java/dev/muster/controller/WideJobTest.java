package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A job of thousands of nodes, where each node's report changes only a part of it. */
class WideJobTest {
    private static final int NODES = 150;
    private static final NodeMessages.Usage USAGE = new NodeMessages.Usage(1, 1, 1, 1, 0, 0, 0);

    private final Site site =
            new Site("NodeName=n[1-150] CPUs=4 RealMemory=1000", "PartitionName=p Nodes=ALL Default=YES");

    private Job job() {
        return site.core().state().jobs().at(1);
    }

    private Step step(int id) {
        return job().step(id).orElseThrow();
    }

    private void report(String node, NodeMessages.ToController message) {
        site.apply(new Command.Report(node, message));
    }

    /**
     * A step is over with the last node's word, in whatever order nodes tell; the job's last node frees it, and a
     * journal says the same.
     */
    @Test
    void wideJobEndsWithItsLastNode() {
        assertThat(site.run("nodesMin=150 tasks=150")).startsWith("RUNNING n1:");
        StepDesc desc = Codec.bind(
                        new Json.Obj()
                                .put("name", "s")
                                .put(
                                        "request",
                                        new Json.Obj().put("tasks", 150L).put("nodesMin", 150L)),
                        StepDesc.class)
                .withEnvironment(List.of(Bytes.of("hash")));
        site.apply(new Command.CreateStep(1000, "", 1, desc, Bytes.of("A=1"), "io"));
        List<String> nodes = new ArrayList<>(job().run().allocation().nodeNames());
        assertThat(nodes).hasSize(NODES);
        Collections.shuffle(nodes, new Random(7));
        for (String node : nodes) {
            report(node, new NodeMessages.StepLaunched(1, 1, 1, 0, List.of(1)));
            assertThat(step(0).on(node).orElseThrow().launched()).isTrue();
        }
        for (String node : nodes) {
            assertThat(step(0).allDone()).isFalse();
            int rank = step(0).on(node).orElseThrow().tasks().getFirst();
            Map<String, ExitStatus> exits = Map.of(Integer.toString(rank), ExitStatus.exited(rank == 70 ? 9 : 0));
            report(node, new NodeMessages.StepExited(2, 1, 1, 0, exits, "", 1, USAGE));
        }
        assertThat(step(0).state()).isEqualTo(Step.State.ENDED);
        assertThat(step(0).exit()).isEqualTo(ExitStatus.exited(9));
        site.end(1, 0);
        Collections.shuffle(nodes, new Random(8));
        for (String node : nodes) {
            assertThat(job().has(JobFlag.COMPLETING)).isTrue();
            report(node, new NodeMessages.JobDone(3, 1, 1, ""));
            assertThat(job().run().allocation().on(node).orElseThrow().released())
                    .isTrue();
            assertThat(site.core().state().nodes().at(node).jobs()).isEmpty();
        }
        assertThat(job().has(JobFlag.COMPLETING)).isFalse();
        assertThat(job().run().allocation().nodes()).allMatch(Allocation.Share::released);
        Core again = new Core(new Scheduler().withoutConnections());
        site.entries().forEach(e -> again.apply(Codec.decode(e.encode(), dev.muster.core.state.Entry.class)));
        assertThat(again.state()).isEqualTo(site.core().state());
        assertThat(((Scheduler) again.planner()).fingerprint())
                .isEqualTo(((Scheduler) site.core().planner()).fingerprint());
    }
}
