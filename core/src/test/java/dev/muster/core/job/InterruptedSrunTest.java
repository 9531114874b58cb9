package dev.muster.core.job;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Tests how a job ends that srun made for its one step, by what ended the step. */
class InterruptedSrunTest {
    /** The job is cancelled with the end of its step, also where srun dies before it asks for that. */
    @Test
    void interruptedSrunCancelsItsJob() {
        new Play(new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "")).lines("""
                submit kind=RUN
                schedule
                step 1 1                   -> 1 RUNNING n1 step0=RUNNING
                signal 1.0 1001            -> 1 RUNNING n1 step0=RUNNING
                exited 1 0 0:2             -> 1 CANCELLED+COMPLETING 'by 1000' step0=ENDED
                cancel 1                   -> says Job/step already completing or completed
                submit kind=RUN
                schedule
                step 2 1                   -> 2 RUNNING n1 step0=RUNNING
                exited 2 0 0:2             -> 2 FAILED+COMPLETING RaisedSignal 0:2 step0=ENDED
                """);
    }

    /** Tasks that have ignored SIGINT: srun asks for SIGKILL, then it cancels the job. */
    @Test
    void interruptedSrunWithKilledTasksCancelsItsJob() {
        new Play(new Cluster("n1 cpus=4 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "")).lines("""
                submit kind=RUN
                schedule
                step 1 1
                signal 1.0 1001            -> 1 RUNNING n1 step0=RUNNING
                signal 1.0 9               -> 1 RUNNING n1 step0=RUNNING
                exited 1 0 0:9             -> 1 CANCELLED+COMPLETING 'by 1000' step0=ENDED
                submit kind=RUN
                schedule
                step 2 1
                signal 2.0 1001            -> 2 RUNNING n1 step0=RUNNING
                cancel 2                   -> 2 CANCELLED+COMPLETING 'by 1000' step0=RUNNING
                """);
    }

    /**
     * The command of a job that has gone is completed for it; srun completes the job where it does not wait for its
     * tasks.
     */
    @Test
    void interruptedSrunMayCompleteItsJob() {
        new Play(new Cluster("n1 cpus=4 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "")).lines("""
                submit kind=RUN
                schedule
                step 1 1
                signal 1.0 1001            -> 1 RUNNING n1 step0=RUNNING
                complete 1 0:0             -> 1 CANCELLED+COMPLETING 'by 1000' step0=RUNNING
                submit kind=RUN
                schedule
                step 2 1                   -> 2 RUNNING n1 step0=RUNNING
                complete 2 0:0             -> 2 COMPLETED+COMPLETING step0=RUNNING
                """);
    }

    /** Jobs of salloc and sbatch go on, as do those of an srun that has not been interrupted and got SIGINT itself. */
    @Test
    void signalToAStepCancelsNoOtherJob() {
        new Play(new Cluster("n1 cpus=4 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "")).lines("""
                submit kind=ALLOCATION
                schedule
                step 1 1
                signal 1.0 1001            -> 1 RUNNING n1 step0=RUNNING
                exited 1 0 0:2             -> 1 RUNNING n1 step0=ENDED
                submit kind=RUN
                schedule
                step 2 1
                signal 2.0 2               -> 2 RUNNING n1 step0=RUNNING
                exited 2 0 0:2             -> 2 FAILED+COMPLETING RaisedSignal 0:2 step0=ENDED
                """);
    }

    /** All components are cancelled with the last part of their step. */
    @Test
    void interruptedSrunCancelsAllComponents() {
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "")).lines("""
                het kind=RUN nodeList=n1 : kind=RUN nodeList=n2
                schedule
                hetstep 1,2 1
                signal 1.0 1001 -> 1 RUNNING n1 step0=RUNNING
                exited 1 0 0:2  -> 1 RUNNING n1 step0=ENDED
                exited 2 0 0:2  -> 1 CANCELLED+COMPLETING 'by 1000' step0=ENDED; 2 CANCELLED+COMPLETING 'by 1000' step0=ENDED
                """);
    }

    /** srun may give the allocation back before the node has told of the step. */
    @Test
    void srunsOutOfMemoryCodeEndsTheJobAsOutOfMemory() {
        new Play(new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "")).lines("""
                submit kind=RUN
                schedule
                step 1 1                   -> 1 RUNNING n1 step0=RUNNING
                complete 1 0:125           -> 1 OUT_OF_MEMORY+COMPLETING OutOfMemory 0:125 step0=RUNNING
                """);
    }
}
