package dev.muster.controller.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.controller.nodes.LaunchRelays;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.nodes.SharedLaunchEncoder;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.SharedLaunch;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that the common part of nodes' messages is made once, and that each node is told what it would be told alone.
 */
class LaunchMessagesTest {
    private static final int NODES = 40;

    @Test
    void eachNodeOfAStepGetsItsOwnLaunch() {
        Site site = new Site(
                "NodeName=n[1-40] CPUs=4 RealMemory=1000 Gres=gpu:2",
                "GresTypes=gpu",
                "PartitionName=p Nodes=ALL Default=YES");
        assertThat(site.run("nodesMin=40 tasks=40 kind=ALLOCATION tresPerNode=gpu:1"))
                .startsWith("RUNNING n1:");
        launches(site, "");
        // with devices and without
        launches(site, "gpu:0");
    }

    private static void launches(Site site, String gres) {
        Json.Obj request = new Json.Obj().put("tasks", 40L).put("nodesMin", 40L).put("overcommit", true);
        if (!gres.isEmpty()) {
            request.put("tresPerNode", gres);
        }
        StepDesc desc = Codec.bind(
                        new Json.Obj().put("name", "s").put("overlap", true).put("request", request), StepDesc.class)
                .withEnvironment(List.of(Bytes.of("hash")));
        site.apply(new Command.CreateStep(1000, "", 1, desc, Bytes.of("A=1"), "io"));
        Job job = site.core().state().jobs().at(1);
        Step step = job.run().steps().stream()
                .filter(s -> s.id() >= 0)
                .reduce((a, b) -> b)
                .orElseThrow();
        assertThat(step.nodes()).hasSize(NODES);
        LaunchMessages launches = new LaunchMessages(hash -> Bytes.of("A=1\0SLURM_NODEID=77\0B=2"));
        LaunchMessages.StepLaunches together = launches.of(site.core().state(), job, step, 0);
        for (int i = 0; i < NODES; i++) {
            Step.Part part = step.nodes().get(i);
            Launch launch = together.on(part);
            assertThat(launch)
                    .isEqualTo(launches.of(site.core().state(), job, step, 0).on(part));
            assertThat(launch.environment())
                    .contains(
                            Bytes.of("A=1"),
                            Bytes.of("B=2"),
                            Bytes.of("SLURM_NODEID=" + i),
                            Bytes.of("SLURM_GTIDS=" + part.tasks().getFirst()),
                            Bytes.of("SLURM_TOPOLOGY_ADDR=" + part.node()));
            assertThat(launch.environment().stream().filter(e -> e.text().startsWith("SLURM_NODEID=")))
                    .hasSize(1);
            assertThat(launch.nodeIndex()).isEqualTo(i);
        }
    }

    /** A step's devices → what its tasks are told of GPUs; around them is what the job's script was told. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            tresPerNode=gpu:0 |             | ALL
            tresPerNode=gpu:2 |             | ALL CUDA=0,1 ROCR=0,1 GPU_DEV=0,1 ZE=0,1 ON_NODE=2 STEP=0,1
            tresPerTask=gres/gpu:1 |        | ALL CUDA=0 ROCR=0 GPU_DEV=0 ZE=0 ON_NODE=2 STEP=0 / CUDA=1 ROCR=1 GPU_DEV=1 ZE=1 STEP=1
            tresPerNode=gpu:2 | map_gpu:1,0 | ALL CUDA=1 ROCR=1 GPU_DEV=1 ZE=1 ON_NODE=2 STEP=1 / CUDA=0 ROCR=0 GPU_DEV=0 ZE=0 STEP=0
            """)
    void tasksGetTheGpuVariablesOfTheirStep(String devices, String bind, String told) {
        Site site = new Site(
                "NodeName=n[1-2] CPUs=4 RealMemory=1000 Gres=gpu:2",
                "GresTypes=gpu",
                "PartitionName=p Nodes=ALL Default=YES");
        assertThat(site.run("tasks=2 kind=ALLOCATION tresPerNode=gpu:2")).startsWith("RUNNING n1:");
        String[] word = devices.split("=");
        StepDesc desc = Codec.bind(
                        new Json.Obj()
                                .put("name", "s")
                                .put("tresBind", bind == null ? "" : "gres/gpu:" + bind)
                                .put("request", new Json.Obj().put("tasks", 2L).put(word[0], word[1])),
                        StepDesc.class)
                .withEnvironment(List.of(Bytes.of("hash")));
        site.apply(new Command.CreateStep(1000, "", 1, desc, Bytes.of("A=1"), "io"));
        Job job = site.core().state().jobs().at(1);
        Step step = job.run().steps().stream()
                .filter(s -> s.id() >= 0)
                .reduce((a, b) -> b)
                .orElseThrow();
        Launch launch = new LaunchMessages(hash ->
                        Bytes.of("CUDA_VISIBLE_DEVICES=0,1\0SLURM_GPUS_ON_NODE=2\0GPU_FREQ=1\0SLURM_JOB_GPUS=0,1"))
                .of(site.core().state(), job, step, 0)
                .on(step.nodes().getFirst());
        List<String> tasks = launch.tasks().stream()
                .map(t -> gpus(launch.environment(), t.environment()))
                .toList();
        assertThat(tasks).containsExactlyInAnyOrderElementsOf(expected(told));
    }

    private static String gpus(List<Bytes> common, List<Bytes> own) {
        java.util.TreeMap<String, String> all = new java.util.TreeMap<>();
        java.util.stream.Stream.concat(common.stream(), own.stream())
                .map(Bytes::text)
                .filter(e -> e.matches(".*(GPU|CUDA|ROCR|ZE_).*=.*"))
                .forEach(e -> all.put(e.substring(0, e.indexOf('=')), e.substring(e.indexOf('=') + 1)));
        return all.toString();
    }

    private static List<String> expected(String told) {
        java.util.Map<String, String> names = java.util.Map.of(
                "CUDA",
                "CUDA_VISIBLE_DEVICES",
                "ROCR",
                "ROCR_VISIBLE_DEVICES",
                "GPU_DEV",
                "GPU_DEVICE_ORDINAL",
                "ZE",
                "ZE_AFFINITY_MASK",
                "ON_NODE",
                "SLURM_GPUS_ON_NODE",
                "STEP",
                "SLURM_STEP_GPUS");
        String[] tasks = told.replace("ALL", "GPU_FREQ=1 SLURM_JOB_GPUS=0,1").split(" / ");
        java.util.TreeMap<String, String> all = new java.util.TreeMap<>();
        List<String> out = new java.util.ArrayList<>();
        for (int i = 0; i < 2; i++) {
            for (String word : i < tasks.length ? tasks[i].split(" ") : new String[0]) {
                String name = word.substring(0, word.indexOf('='));
                all.put(names.getOrDefault(name, name), word.substring(word.indexOf('=') + 1));
            }
            out.add(all.toString());
        }
        return out;
    }

    /** The common part of launches is encoded once; each node reads what it would have been told alone. */
    @Test
    void launchesThatSayTheSameTravelAsIfEachWereAlone() {
        Site site = new Site(
                "NodeName=n[1-40] CPUs=4 RealMemory=1000 Gres=gpu:2",
                "GresTypes=gpu",
                "PartitionName=p Nodes=ALL Default=YES");
        assertThat(site.run("nodesMin=40 tasks=40 kind=ALLOCATION tresPerNode=gpu:1"))
                .startsWith("RUNNING n1:");
        launches(site, "gpu:1");
        Job job = site.core().state().jobs().at(1);
        Step step = job.run().steps().stream()
                .filter(s -> s.id() >= 0)
                .reduce((a, b) -> b)
                .orElseThrow();
        LaunchMessages.StepLaunches together =
                new LaunchMessages(hash -> Bytes.of("A=1")).of(site.core().state(), job, step, 0);
        List<Decision.Direct> all = step.nodes().stream()
                .map(p -> new Decision.Direct(p.node(), together.on(p)))
                .toList();
        SharedLaunch shared = LaunchRelays.shared(all).orElseThrow();
        SharedLaunchEncoder alike = new SharedLaunchEncoder(shared);
        assertThat(alike.bytes()).isEqualTo(40L * Codec.encode(shared.common()).length);
        for (int i = 0; i < NODES; i++) {
            ToNode told = Codec.decode(alike.to(shared.parts().get(i)), ToNode.class);
            assertThat(told)
                    .isEqualTo(new NodeMessages.Relay(
                            0, 1, shared.with(List.of(shared.parts().get(i)))));
            SharedLaunch one = ((NodeMessages.Relay) told).launches();
            assertThat(one.launch(one.parts().getFirst())).isEqualTo(all.get(i).message());
        }
    }

    /** Nodes, SlurmdTimeout → seconds between two heartbeats of a node. */
    @ParameterizedTest
    @CsvSource({"8,300,5", "1000,300,5", "2000,300,10", "10000,300,30", "10000,60,6", "10000,10,5", "10000,0,5"})
    void heartbeatIntervalGrowsWithTheCluster(int nodes, int timeout, int seconds) {
        assertThat(NodeLinks.heartbeatSeconds(nodes, timeout)).isEqualTo(seconds);
    }
}
