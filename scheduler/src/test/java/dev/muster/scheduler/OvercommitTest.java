package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs with --overcommit: tasks share CPUs, unless each has devices of its own. */
class OvercommitTest {
    private static final String UNAVAILABLE = "Requested node configuration is not available";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            one  | tasks=2 tresPerTask=gres/gpu:1                              | refused
            one  | tasks=2 tresPerTask=gres/gpu:1 exclusive=NODE               | refused
            wide | tasks=2 tresPerTask=gres/gpu:1                              | refused
            one  | tasks=2 tresPerTask=cpu=1,gres/gpu:1 cpusPerTask=1          | PENDING
            wide | tasks=2 tresPerTask=cpu=1,gres/gpu:1 cpusPerTask=1          | 2
            wide | tasks=2 tresPerTask=cpu=4,gres/gpu:1 cpusPerTask=4          | 8
            wide | tasks=2 tresPerTask=gres/gpu=1 cpusPerTask=2                | 4
            wide | tasks=4 tresPerJob=gres/gpu:2 tasksPerGpu=2 cpusPerTask=2   | 8
            one  | tasks=2 tresPerTask=cpu=1 cpusPerTask=1                     | 1
            one  | tasks=2                                                     | 1
            one  | tasks=2 tresPerNode=gres/gpu:2                              | 1
            one  | tasks=2 tresPerJob=gres/gpu:2                               | 1
            one  | tasks=2 cpusPerTask=2                                       | refused
            one  | tasks=2 tresPerTask=license/l:1 licenses=l:1                | 1
            wide | tasks=16 cpusPerTask=1                                      | 1
            wide | tasks=2 tresPerTask=gpu:1 cpusPerTask=1                     | unknown
            wide | tasks=2 tresPerTask=gres/gpu:1,nic:1 cpusPerTask=1          | unknown
            """)
    void overcommittedJobGetsItsCpus(String partition, String request, String expected) {
        Cluster c = new Cluster(
                "n1 cpus=1 mem=1000 gpus=2\nn2 cpus=8 mem=1000 gpus=2",
                "one nodes=n1 defmempercpu=10\nwide nodes=n2 defmempercpu=10 default=yes",
                "gresTypes=gpu options.licenses=l:9");
        Decision d = c.submit("submit partition=" + partition + " nodesMin=1 nodesMax=1 overcommit=true " + request);
        if (d instanceof Decision.Rejected no) {
            assertThat(no.sentence())
                    .endsWith(
                            expected.equals("unknown")
                                    ? "Invalid Trackable RESource (TRES) specification"
                                    : UNAVAILABLE);
            assertThat(expected).isIn("refused", "unknown");
            return;
        }
        c.schedule();
        var job = c.state().jobs().at(1);
        assertThat(
                        job.isPending()
                                ? "PENDING"
                                : Integer.toString(job.run().allocation().cpus()))
                .isEqualTo(expected);
    }
}
