package dev.muster.scheduler;

import org.junit.jupiter.api.Test;

/** How a job ends that srun made for its one step, by what ended the step. */
class InterruptedSrunTest {
    /** An interrupted srun cancels the job that was made for it: the job does not end with its step before that. */
    @Test
    void interruptedSrunCancelsItsJob() {
        new Play(new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "")).lines("""
                submit kind=RUN
                schedule
                step 1 1                   -> 1 RUNNING n1 step0=RUNNING
                signal 1.0 1001            -> 1 RUNNING n1 step0=RUNNING
                exited 1 0 0:2             -> 1 RUNNING n1 step0=ENDED
                cancel 1                   -> 1 CANCELLED+COMPLETING 'by 1000' step0=ENDED
                submit kind=RUN
                schedule
                step 2 1                   -> 2 RUNNING n1 step0=RUNNING
                exited 2 0 0:2             -> 2 FAILED+COMPLETING RaisedSignal 0:2 step0=ENDED
                """);
    }
}
