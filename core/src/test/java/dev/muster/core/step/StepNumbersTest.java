package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Requests of steps with numbers near the ends of their types are refused or wait: no number breaks the rules. */
class StepNumbersTest {
    private static final int STEPS = 3000;
    private static final List<String> COUNTS = List.of(
            "nodesMin",
            "nodesMax",
            "tasks",
            "cpusPerTask",
            "tasksPerNode",
            "tasksPerSocket",
            "tasksPerCore",
            "tasksPerGpu",
            "cpusPerNodeMin",
            "cpusPerGpu",
            "threadsPerCore");
    private static final List<Long> COUNT_VALUES =
            List.of(1L, 2L, 65_535L, 65_536L, 65_537L, 1L << 24, 1L << 30, (1L << 31) - 1);
    private static final List<String> AMOUNTS = List.of("memPerNodeMb", "memPerCpuMb", "memPerGpuMb", "tmpDiskMb");
    private static final List<Long> AMOUNT_VALUES =
            List.of(1L, 1L << 31, 1L << 32, (1L << 32) + 1, 1L << 62, Long.MAX_VALUE);
    private static final List<String> DEVICES = List.of("tresPerNode", "tresPerJob", "tresPerTask", "tresPerSocket");

    @Test
    void aStepWithLargeNumbersIsRefusedOrWaits() {
        Cluster cluster = new Cluster(
                "n[1-2] cpus=4 mem=1000 gpus=2", "p nodes=n[1-2] default=yes", "memoryConsumed=true gresTypes=gpu");
        new Play(cluster)
                .lines("submit kind=BATCH nodesMin=2 tasks=8 memPerNodeMb=500 tresPerNode=gres/gpu:2\nschedule");
        Random random = new Random(1);
        int accepted = 0;
        for (int i = 0; i < STEPS; i++) {
            Json.Obj request = new Json.Obj();
            add(request, random, COUNTS, COUNT_VALUES);
            add(request, random, AMOUNTS, AMOUNT_VALUES);
            if (random.nextInt(3) == 0) {
                request.put(
                        DEVICES.get(random.nextInt(DEVICES.size())),
                        "gres/gpu:" + COUNT_VALUES.get(random.nextInt(COUNT_VALUES.size())));
            }
            Json.Obj desc = new Json.Obj().put("request", request).put("overlap", true);
            Decision decision = cluster.apply(
                    new Command.CreateStep(Cluster.USER, "", 1, Codec.bind(desc, StepDesc.class), Bytes.EMPTY, "io"));
            if (decision instanceof Decision.Accepted) {
                accepted++;
                // memory per node counts before memory per CPU
                String counted = request.has("memPerNodeMb") ? "memPerNodeMb" : "memPerCpuMb";
                assertThat(request.has(counted) ? request.number(counted) : 0)
                        .as("%s", request)
                        .isLessThanOrEqualTo(500);
            }
        }
        assertThat(accepted).as("accepted steps").isBetween(1, STEPS - 1);
    }

    private static void add(Json.Obj request, Random random, List<String> names, List<Long> values) {
        for (int n = random.nextInt(3); n > 0; n--) {
            request.put(names.get(random.nextInt(names.size())), values.get(random.nextInt(values.size())));
        }
    }
}
