package dev.muster.core.job;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** --requeue=expedite: a job that fails is held, unless a node failed; then it comes first. */
class ExpeditedRequeueTest {
    private static void play(String lines) {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "p nodes=n[1-2] default=yes defmempercpu=10",
                        "requeueJobs=true returnToService=1 options.expedited_requeue=true"))
                .lines(lines);
    }

    private static final String JOB = "kind=BATCH timing.expedite=true timing.requeue=YES timing.timeLimitMin=60";

    @Test
    void expeditedJobThatSucceedsIsNotRequeued() {
        play("submit " + JOB + """

                schedule
                exited 1 batch 0:0 -> 1 COMPLETED+COMPLETING
                done 1 n1          -> 1 COMPLETED
                """);
    }

    @Test
    void aFailureOnGoodNodesIsHeld() {
        play("submit " + JOB + """

                schedule
                exited 1 batch 3:0 -> 1 PENDING+COMPLETING+REQUEUED+REQUEUE_HOLD job_requeued_in_held_state 3:0 restarts=1
                done 1 n1          -> 1 PENDING+REQUEUED+REQUEUE_HOLD job_requeued_in_held_state 3:0 restarts=1
                schedule           -> 1 PENDING+REQUEUED+REQUEUE_HOLD job_requeued_in_held_state 3:0 restarts=1
                release 1          -> 1 PENDING+REQUEUED 3:0 restarts=1
                hold 1
                cancel 1           -> 1 CANCELLED+REQUEUED JobHeldUser 'by 1000' 3:0 restarts=1
                """);
    }

    @Test
    void aFailureOnABadNodeComesFirst() {
        play("submit " + JOB + """

                schedule
                submit kind=BATCH nodesMin=2
                exited 1 batch 3:0
                done 1 n1 EpilogFailed -> 1 PENDING+REQUEUED+EXPEDITING restarts=1; n1 free+DRAIN 'EpilogFailed'
                schedule           -> 1 RUNNING n2 restarts=1; 2 PENDING
                """);
    }

    @Test
    void jobThatLostItsNodeIsExpedited() {
        play("submit " + JOB + """

                schedule
                node n1 state=DOWN reason=bad -> 1 PENDING+REQUEUED+EXPEDITING restarts=1
                schedule           -> 1 RUNNING n2 restarts=1
                """);
    }
}
