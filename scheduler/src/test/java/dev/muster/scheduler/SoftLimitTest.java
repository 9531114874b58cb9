package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Jobs that are planned with --time-min and may run for --time. By time_min_as_soft_limit. */
class SoftLimitTest {
    private final Cluster cluster = new Cluster(
            "n[1-2] cpus=2 mem=1000",
            "p nodes=n[1-2] default=yes defmempercpu=10",
            "options.time_min_as_soft_limit=yes");
    private final Play play = new Play(cluster);

    private long planned(int job) {
        return ((Scheduler) cluster.core().planner()).plannedStart(job) - cluster.seconds();
    }

    /**
     * The wide job is planned for the end of the first job's soft limit; a job starts before it only if its own soft
     * limit ends by then.
     */
    @Test
    void wideJobIsPlannedForTheSoftLimitsEnd() {
        play.lines("""
                submit kind=BATCH tasks=2 timing.timeLimitMin=60 timing.timeMinMin=10
                schedule                                                                 -> 1 RUNNING n1
                submit kind=BATCH tasks=4 nodesMin=2 timing.timeLimitMin=60
                submit kind=BATCH tasks=2 timing.timeLimitMin=60 timing.timeMinMin=20
                submit kind=BATCH tasks=2 timing.timeLimitMin=60 timing.timeMinMin=5
                schedule                                                    -> 2 PENDING; 3 PENDING; 4 RUNNING n2 ahead
                """);
        assertThat(cluster.state().jobs().at(1).run().limitMin()).isEqualTo(60);
        assertThat(cluster.state().jobs().at(4).run().limitMin()).isEqualTo(60);
        assertThat(planned(2)).isEqualTo(600);
    }

    /** A job that runs beyond its soft limit is expected to run until its time limit, and may. */
    @Test
    void jobBeyondItsSoftLimitRunsToItsTimeLimit() {
        play.lines("""
                submit kind=BATCH tasks=2 timing.timeLimitMin=60 timing.timeMinMin=10
                schedule                                                                 -> 1 RUNNING n1
                submit kind=BATCH tasks=4 nodesMin=2 timing.timeLimitMin=60
                pass 601                                                                 -> 1 RUNNING n1
                schedule                                                                 -> 2 PENDING
                """);
        assertThat(planned(2)).isEqualTo(3600 - 601);
        play.lines("pass 2998 -> 1 RUNNING n1\npass 2 -> 1 TIMEOUT+COMPLETING TimeLimit");
    }
}
