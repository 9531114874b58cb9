package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Heterogeneous jobs in the queue: their place, the nodes of each component, and the room that is kept for all. */
class HetPlanTest {
    private static Play cluster(String settings) {
        return new Play(new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes defmempercpu=10", settings));
    }

    private static void play(String lines) {
        cluster("requeueJobs=true").lines(lines);
    }

    @Test
    void componentGetsTheNodeItNamesFirst() {
        play("""
                het kind=BATCH tasks=1 : kind=BATCH tasks=1 nodeList=n1 : kind=BATCH tasks=1 excludeList=n2 -> 3 PENDING
                schedule                                                 -> 1 RUNNING n2; 2 RUNNING n1; 3 RUNNING n3
                """);
        play("""
                het kind=BATCH tasks=1 nodeList=n1 : kind=BATCH tasks=1 nodeList=n1 -> 2 PENDING
                schedule                                                            -> 1 PENDING; 2 PENDING; n2 free
                """);
    }

    @Test
    void roomIsKeptForAllComponents() {
        play("""
                submit tasks=2 nodeList=n1 timing.timeLimitMin=10
                submit tasks=2 nodeList=n2 timing.timeLimitMin=10
                schedule                                                     -> 2 RUNNING n2
                het tasks=2 timing.timeLimitMin=60 : tasks=2 timing.timeLimitMin=60
                schedule                                                     -> 3 PENDING
                submit tasks=2 nodesMin=2 nodesMax=2 timing.timeLimitMin=600 -> 5 PENDING
                submit tasks=1 timing.timeLimitMin=5
                submit tasks=2 timing.timeLimitMin=600
                schedule                                                     -> 5 PENDING; 6 RUNNING n3 ahead; 7 PENDING
                """);
    }

    /**
     * Components with --time-min start beside planned jobs with a common share of the time between minimum and limit.
     */
    @Test
    void hetComponentsWithTimeMinStartShortened() {
        Cluster c = new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes defmempercpu=10", "");
        new Play(c).lines("""
                submit tasks=2 nodeList=n1 timing.timeLimitMin=60
                submit tasks=6 nodesMin=3 nodesMax=3 timing.timeLimitMin=60
                schedule                                            -> 1 RUNNING n1; 2 PENDING
                het tasks=2 timing.timeLimitMin=200 timing.timeMinMin=70 : tasks=2 timing.timeLimitMin=40
                schedule                                            -> 3 PENDING; 4 PENDING
                het tasks=2 timing.timeLimitMin=210 timing.timeMinMin=10 : tasks=2 timing.timeLimitMin=40
                schedule                                            -> 3 PENDING; 5 RUNNING n2 ahead; 6 RUNNING n3 ahead
                """);
        assertThat(c.state().jobs().at(5).run().limitMin()).isEqualTo(60);
        assertThat(c.state().jobs().at(6).run().limitMin()).isEqualTo(40);
    }

    /** Two components of priorities 10 and 100, beside a job of 50, for the same three nodes. By bf_hetjob_prio. */
    @ParameterizedTest
    @CsvSource({
        "options.other=yes,false",
        "options.bf_hetjob_prio=min,false",
        "options.bf_hetjob_prio=avg,true",
        "options.bf_hetjob_prio=max,true",
        "options.bf_hetjob_immediate=yes,false",
        "options.bf_hetjob_prio=max options.bf_hetjob_immediate=yes,false"
    })
    void bfHetjobPrioRanksAHetJobInTheQueue(String settings, boolean first) {
        Play play = cluster(settings);
        play.lines("""
                submit kind=BATCH tasks=6 nodesMin=3                            -> 1 PENDING
                schedule                                                        -> 1 RUNNING n[1-3]
                het kind=BATCH tasks=2 : kind=BATCH tasks=2
                submit kind=BATCH tasks=4 nodesMin=2 nodesMax=2                 -> 4 PENDING
                update 2 priority=10 root
                update 3 priority=100 root
                update 4 priority=50 root
                schedule                                                        -> 2 PENDING
                cancel 1
                done 1 n1
                done 1 n2
                done 1 n3
                """);
        play.lines(
                first
                        ? "schedule -> 2 RUNNING n1; 3 RUNNING n2; 4 PENDING"
                        : "schedule -> 2 PENDING; 3 PENDING; 4 RUNNING n[1-2]");
    }

    /** The tier of a heterogeneous job follows the same rule where its components' partitions have other tiers. */
    @ParameterizedTest
    @CsvSource({"min,false", "avg,true", "max,true"})
    void bfHetjobPrioChoosesTheTierOfAHetJob(String by, boolean first) {
        Play play = new Play(new Cluster("n[1-3] cpus=2 mem=1000", """
                p nodes=n[1-3] default=yes defmempercpu=10 prioritytier=2
                low nodes=n[1-3] defmempercpu=10 prioritytier=1
                high nodes=n[1-3] defmempercpu=10 prioritytier=5
                """, "options.bf_hetjob_prio=" + by));
        play.lines("""
                submit kind=BATCH tasks=6 nodesMin=3                            -> 1 PENDING
                schedule                                                        -> 1 RUNNING n[1-3]
                submit kind=BATCH tasks=4 nodesMin=2 nodesMax=2                 -> 2 PENDING
                het kind=BATCH tasks=2 partition=low : kind=BATCH tasks=2 partition=high
                schedule
                cancel 1
                done 1 n1
                done 1 n2
                done 1 n3
                """);
        play.lines(
                first
                        ? "schedule -> 3 RUNNING n1; 4 RUNNING n2; 2 PENDING"
                        : "schedule -> 3 PENDING; 4 PENDING; 2 RUNNING n[1-2]");
    }
}
