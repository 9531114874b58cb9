package dev.muster.core.job;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Tests what scontrol requeue says and leaves behind. */
class RequeueWordsTest {
    private static void play(String lines) {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "requeueJobs=true"))
                .lines(lines);
    }

    /**
     * {@code scontrol requeue State=SpecialExit} holds the job for a reason of its own; {@code requeuehold} keeps its
     * usual one.
     */
    @Test
    void specialExitIsTheReasonOfARequeuedJob() {
        play("""
                submit kind=BATCH
                schedule
                specialexit 1  -> 1 PENDING+COMPLETING+REQUEUED+SPECIAL_EXIT job_requeued_in_special_exit_state restarts=1
                done 1 n1
                specialexit 1  -> says Job is pending execution
                release 1 root -> 1 PENDING+REQUEUED BeginTime restarts=1
                """);
    }

    /** A job that may not be requeued is refused for that first, whatever its state. */
    @Test
    void requeueOfANoRequeueJobIsRefused() {
        play("""
                submit kind=BATCH timing.requeue=NO
                requeue 1          -> says Requested operation is presently disabled
                requeuehold 1      -> says Requested operation is presently disabled
                schedule           -> 1 RUNNING n1
                requeue 1          -> says Requested operation is presently disabled
                """);
    }
}
