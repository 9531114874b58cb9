package dev.muster.scheduler;

import org.junit.jupiter.api.Test;

/** Short jobs go ahead of one that waits, where they do not delay it. */
class BackfillTest {
    private static final String PARTITION = "p nodes=n[1-2] default=yes defmempercpu=10";

    @Test
    void aShortJobGoesAheadOfOneThatWaitsForBothNodes() {
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "")).lines("""
                submit kind=BATCH timing.timeLimitMin=60
                submit kind=BATCH timing.timeLimitMin=60 nodesMin=2 nodesMax=2 exclusive=NODE
                submit kind=BATCH timing.timeLimitMin=10
                submit kind=BATCH timing.timeLimitMin=59
                submit kind=BATCH timing.timeLimitMin=120
                schedule                             -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n1 ahead; 4 RUNNING n2 ahead; 5 PENDING
                """);
    }

    @Test
    void alsoOnTheNodeThatIsFree() {
        new Play(new Cluster("n[1-2] cpus=1 mem=1000", PARTITION, "")).lines("""
                submit kind=BATCH timing.timeLimitMin=30
                submit kind=BATCH timing.timeLimitMin=30 nodesMin=2 nodesMax=2
                submit kind=BATCH timing.timeLimitMin=10
                schedule                             -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n2 ahead
                """);
    }
}
