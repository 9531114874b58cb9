package dev.muster.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Relay;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.SharedLaunch;
import dev.muster.model.node.SharedLaunch.Own;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SharedLaunchTest {
    private static final StepDesc STEP = Codec.bind(new Json.Obj(), StepDesc.class);

    private static Launch launch(int node, String user, String... more) {
        List<Bytes> environment =
                new ArrayList<>(List.of(Bytes.of("SLURM_NODEID=" + node), Bytes.of("LONG=" + "x".repeat(4000))));
        for (String entry : more) {
            environment.add(Bytes.of(entry));
        }
        JobShare share = new JobShare(
                7,
                1,
                "boot" + node,
                new Identity(5, 5, "u", "u", List.of(5), "/home/u", "/bin/sh"),
                List.of("SLURM_JOB_ID=7", "GPU=" + node),
                node + "-" + (node + 3),
                100 + node,
                Map.of("gpu", "" + node),
                60,
                30,
                false,
                Bytes.of(user),
                0,
                node == 0 ? "cookie" : "",
                node % 3);
        return new Launch(
                share,
                3,
                List.of(new Task(node, 0, "" + node, List.of(), List.of(Bytes.of("SLURM_PROCID=" + node)))),
                environment,
                Bytes.EMPTY,
                STEP,
                Bytes.of("/tmp"),
                022,
                Map.of("NOFILE", 5L),
                Bytes.EMPTY,
                Bytes.EMPTY,
                Bytes.EMPTY,
                false,
                node,
                9,
                9,
                60,
                "token",
                100 + node,
                "n[0-8]",
                false,
                Map.of("gpu", "" + node));
    }

    private static SharedLaunch shared(List<Launch> launches) {
        return SharedLaunch.of(
                        IntStream.range(0, launches.size())
                                .mapToObj(i -> "n" + i)
                                .toList(),
                        launches)
                .orElseThrow();
    }

    @Test
    void sharedLaunchSendsTheCommonPartOnce() {
        List<Launch> launches = IntStream.range(0, 9)
                .mapToObj(i -> i == 4 ? launch(i, "j", "MORE=1") : launch(i, "j"))
                .toList();
        byte[] wire = Codec.encode(new Relay(1, 2, shared(launches)), ToNode.class);
        Relay back = (Relay) Codec.decode(wire, ToNode.class);
        assertThat(back.launches().parts().stream().map(back.launches()::launch).toList())
                .isEqualTo(launches);
        assertThat(wire.length).isLessThan(3 * Codec.encode(launches.getFirst(), ToNode.class).length);
    }

    @Test
    void launchesOfDifferentJobsAreNotShared() {
        assertThat(SharedLaunch.of(List.of("a", "b"), List.of(launch(0, "j"), launch(1, "other"))))
                .isEmpty();
    }

    @Test
    void positionsBeyondTheCommonListAreRefused() {
        SharedLaunch good = shared(List.of(launch(0, "j")));
        SharedLaunch.Part p = good.parts().getFirst();
        for (int at : new int[] {-1, 2}) {
            SharedLaunch.Part bad = new SharedLaunch.Part(
                    p.node(),
                    p.bootId(),
                    p.cpus(),
                    p.jobMemoryMb(),
                    p.jobGres(),
                    p.x11Cookie(),
                    p.hooks(),
                    new Own(false, List.of(at), List.of(Bytes.EMPTY)),
                    p.tasks(),
                    p.nodeIndex(),
                    p.memoryMb(),
                    p.gres(),
                    0);
            assertThatThrownBy(() -> good.launch(bad)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
