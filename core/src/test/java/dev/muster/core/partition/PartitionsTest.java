package dev.muster.core.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Jobs that name several partitions. */
class PartitionsTest {
    private final Cluster cluster = new Cluster(
            "n[1-2] cpus=1 mem=1000",
            "low nodes=n[1-2] default=yes defmempercpu=10 maxtime=60\nhigh nodes=n1 prioritytier=10 defmempercpu=10",
            "requeueJobs=true");
    private final Play play = new Play(cluster);

    private String partition(int job) {
        return cluster.state().jobs().at(job).desc().partition();
    }

    @Test
    void jobOfSeveralPartitionsRunsInOneAndWaitsInAll() {
        play.lines("""
                submit kind=BATCH partition=low,high
                submit kind=BATCH partition=low,high
                submit kind=BATCH partition=low,high
                schedule                             -> 1 RUNNING n1; 2 RUNNING n2; 3 PENDING
                """);
        assertThat(partition(1)).as("the higher tier first").isEqualTo("high");
        assertThat(partition(2)).isEqualTo("low");
        assertThat(partition(3)).isEqualTo("low,high");
        play.lines("requeue 2\ndone 2 n2");
        assertThat(partition(2)).isEqualTo("low,high");
    }

    /**
     * A partition is not configured any more: a pending job with other partitions keeps those; a job that runs in it,
     * or has no other, ends.
     */
    @Test
    void aPartitionIsNotConfiguredAnyMore() {
        play.lines("""
                submit kind=BATCH partition=low,high
                submit kind=BATCH partition=low
                schedule                             -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=low,high
                submit kind=BATCH partition=high
                """);
        cluster.reconfigure("low");
        play.lines("schedule -> 1 NODE_FAIL+COMPLETING PartitionDown 1:0; 2 RUNNING n2; 3 PENDING; 4 NODE_FAIL "
                + "PartitionDown 1:0");
        assertThat(partition(3)).isEqualTo("low");
    }

    /**
     * Jobs come back with their partition: those that waited wait again, held as they were; those that ran are requeued
     * unless they asked not to be; clients of allocations have gone.
     */
    @Test
    void jobsComeBackWithTheirPartition() {
        play.lines("""
                submit kind=BATCH partition=high
                schedule                                             -> 1 RUNNING n1
                submit kind=BATCH partition=high timing.requeue=NO
                submit kind=BATCH partition=high
                hold 3 root                                          -> 3 PENDING JobHeldAdmin
                submit kind=BATCH partition=high
                hold 4                                               -> 4 PENDING JobHeldUser
                submit kind=ALLOCATION partition=high
                submit kind=BATCH partition=high timing.array=1-3
                """);
        cluster.reconfigure("low");
        play.lines("""
                schedule -> 1 NODE_FAIL+COMPLETING PartitionDown 1:0; 2 NODE_FAIL PartitionDown 1:0; 3 NODE_FAIL PartitionDown 1:0
                done 1 n1
                pass 4000                                            -> 3 NODE_FAIL PartitionDown 1:0
                """);
        cluster.reconfigure();
        play.lines("""
                settle -> 1 PENDING+REQUEUED restarts=1; 2 PENDING+REQUEUED restarts=1; 3 PENDING+REQUEUED JobHeldAdmin restarts=1
                settle -> 4 PENDING+REQUEUED JobHeldUser restarts=1; 5 NODE_FAIL PartitionDown 1:0; 6 PENDING+REQUEUED [1-3] restarts=1
                schedule                                             -> 1 RUNNING n1 restarts=1
                """);
    }

    @Test
    void noRequeueJobStaysEndedWhenItsPartitionReturns() {
        play.lines("""
                submit kind=BATCH partition=high timing.requeue=NO
                schedule                                             -> 1 RUNNING n1
                """);
        cluster.reconfigure("low");
        play.lines("done 1 n1");
        cluster.reconfigure();
        play.lines("schedule                                         -> 1 NODE_FAIL PartitionDown 1:0");
    }

    @Test
    void aPartitionThatNeverComesBackIsForgotten() {
        play.lines("submit kind=BATCH partition=high");
        cluster.reconfigure("low");
        play.lines("pass 700000");
        cluster.settle();
        assertThat(cluster.state().jobs().has(1)).isFalse();
    }

    /** Zero is a limit as well. */
    @Test
    void zeroPartitionLimitIsALimit() {
        new Play(new Cluster(
                        "n[1-2] cpus=1 mem=1000",
                        "t nodes=n[1-2] default=yes maxtime=0\nn nodes=n[1-2] maxnodes=0\n"
                                + "d nodes=n[1-2] defaulttime=0",
                        "requeueJobs=true"))
                .lines("""
                submit kind=BATCH partition=t timing.timeLimitMin=1
                submit kind=BATCH partition=t timing.timeLimitMin=-1
                submit kind=BATCH partition=n
                submit kind=BATCH partition=d    -> says Requested time limit is invalid (missing or exceeds some limit)
                submit kind=BATCH partition=d timing.timeLimitMin=-1
                schedule                         -> 1 PENDING; 2 PENDING; 3 PENDING; 4 RUNNING n1
                why 1                            -> says (PartitionTimeLimit)
                why 2                            -> says (PartitionTimeLimit)
                why 3                            -> says (PartitionNodeLimit)
                """);
    }

    @Test
    void arrayTaskRunsInItsOwnPartition() {
        play.lines("""
                submit kind=BATCH partition=low,high timing.array=1-3
                schedule                             -> 1_1 RUNNING n1; 1_2 RUNNING n2; 1_3 PENDING [3]
                """);
        assertThat(cluster.state().job(1, 1).orElseThrow().desc().partition()).isEqualTo("high");
        assertThat(cluster.state().job(1, 2).orElseThrow().desc().partition()).isEqualTo("low");
        assertThat(cluster.state().job(1, 3).orElseThrow().desc().partition()).isEqualTo("low,high");
    }

    @Test
    void aNumberThatDoesNotFitAnIntIsRefused() {
        assertThatThrownBy(() -> cluster.partition("q nodes=n1 maxnodes=99999999999"))
                .hasMessageStartingWith("q nodes=n1 maxnodes=99999999999: ");
    }
}
