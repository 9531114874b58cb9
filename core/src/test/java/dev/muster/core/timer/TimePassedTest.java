package dev.muster.core.timer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import org.junit.jupiter.api.Test;

/** Tests that run time of jobs is recorded where nothing else happens: a restart knows only what was recorded. */
class TimePassedTest {
    private final Cluster cluster =
            new Cluster("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "");

    private boolean isRecorded() {
        return cluster.apply(new Command.Tick()) instanceof Decision.Accepted a
                && !a.changes().isEmpty();
    }

    @Test
    void timeIsRecordedWhileAJobRuns() {
        cluster.submit("");
        cluster.schedule();
        long began = cluster.state().tickMs();
        cluster.jump(9, 0);
        assertThat(isRecorded()).isFalse();
        cluster.jump(1, 0);
        assertThat(isRecorded()).isTrue();
        assertThat(cluster.state().tickMs()).isGreaterThanOrEqualTo(began + 10_000);
        assertThat(isRecorded()).isFalse();
    }

    @Test
    void timeIsNotRecordedWhileNoJobRuns() {
        cluster.submit("timing.hold=true");
        cluster.jump(100, 0);
        isRecorded();
        cluster.jump(100, 0);
        assertThat(isRecorded()).isFalse();
    }
}
