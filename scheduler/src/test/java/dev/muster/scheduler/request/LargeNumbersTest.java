package dev.muster.scheduler.request;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Codec;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.job.ResourceRequest;
import java.util.List;
import java.util.Random;
import java.util.StringJoiner;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests with numbers near the ends of their types: a product of two of them wraps where it is not computed with
 * care. Such a job is refused or waits; it never starts with less than it asked for, and breaks no pass.
 */
class LargeNumbersTest {
    private static final int JOBS = 400;
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
            "coresPerSocket",
            "socketsPerNode",
            "threadsPerCore",
            "coreSpec");
    private static final List<Long> COUNT_VALUES =
            List.of(1L, 2L, 3L, 1L << 15, 65_535L, 65_536L, 65_537L, 1L << 24, 1L << 30, (1L << 31) - 1);
    private static final List<String> AMOUNTS = List.of("memPerNodeMb", "memPerCpuMb", "memPerGpuMb", "tmpDiskMb");
    private static final List<Long> AMOUNT_VALUES =
            List.of(1L, 10L, 1L << 31, 1L << 32, (1L << 32) + 1, 3_000_000_000L, 1L << 52, 1L << 62, Long.MAX_VALUE);
    private static final List<String> DEVICES = List.of("tresPerNode", "tresPerJob", "tresPerTask", "tresPerSocket");
    private static final List<Long> DEVICE_VALUES = List.of(1L, 2L, 65_536L, 1L << 30, (1L << 31) - 1);

    @ParameterizedTest
    @ValueSource(strings = {"", "maxMemPerCpuMb=1", "maxMemPerCpuMb=1000", "maxMemPerNodeMb=5000"})
    void aJobNeverStartsWithLessThanItAskedFor(String settings) {
        Random random = new Random(settings.hashCode());
        for (int i = 0; i < JOBS; i++) {
            StringJoiner line = new StringJoiner(" ");
            line.add("kind=BATCH");
            add(line, random, COUNTS, COUNT_VALUES, "", 3);
            add(line, random, AMOUNTS, AMOUNT_VALUES, "", 2);
            add(line, random, DEVICES, DEVICE_VALUES, "gres/gpu:", 2);
            Cluster cluster = new Cluster(
                    "n[1-3] cpus=4 mem=1000 gpus=2",
                    "p nodes=n[1-3] default=yes",
                    "memoryConsumed=true gresTypes=gpu " + settings);
            Decision decision = cluster.submit(line.toString());
            if (decision instanceof Decision.Accepted a) {
                cluster.schedule();
                int id = ((SubmitReply) a.reply()).jobId();
                Job job = cluster.state().jobs().at(id);
                assertThat(new String(Codec.encode(job.desc().request()), UTF_8))
                        .as("%s", line)
                        .doesNotContainPattern("(?i)\"(cpus|tasks|nodes|mem)[a-z]*\":-[2-9][0-9]");
                if (!job.isPending()) {
                    assertFits(
                            line.toString(),
                            Cluster.desc(line.toString()).request(),
                            job.run().allocation());
                }
            }
        }
    }

    private static void add(
            StringJoiner line, Random random, List<String> names, List<Long> values, String prefix, int most) {
        for (int n = random.nextInt(most + 1); n > 0; n--) {
            line.add(
                    names.get(random.nextInt(names.size())) + "=" + prefix + values.get(random.nextInt(values.size())));
        }
    }

    private static void assertFits(String line, ResourceRequest r, Allocation allocation) {
        if (r.tasksPerGpu() == 0) {
            // otherwise the number of GPUs decides how many tasks there are
            long cpus = (long) Math.max(1, r.tasks()) * Math.max(1, r.cpusPerTask());
            assertThat((long) allocation.cpus()).as(line).isGreaterThanOrEqualTo(cpus);
        }
        assertThat(allocation.nodes().size()).as(line).isGreaterThanOrEqualTo(r.nodesMin());
        long memoryMb = r.memPerGpuMb() > 0 ? 0 : r.memPerNodeMb();
        allocation
                .nodes()
                .forEach(share -> assertThat(share.memoryMb()).as(line).isBetween(memoryMb, 1000L));
    }
}
