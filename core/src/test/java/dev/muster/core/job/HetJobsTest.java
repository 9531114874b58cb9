package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Heterogeneous jobs as plays: components that enter the queue, start and end as one. */
class HetJobsTest {
    private static Play cluster(String settings) {
        return new Play(new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes defmempercpu=10", settings));
    }

    private static void play(String lines) {
        cluster("requeueJobs=true").lines(lines);
    }

    @Test
    void hetComponentsStartTogetherOnTheirOwnNodes() {
        play("""
                het kind=BATCH tasks=1 : kind=BATCH tasks=2 nodesMin=2 -> 1 PENDING; 2 PENDING
                schedule                                               -> 1 RUNNING n1; 2 RUNNING n[2-3]
                exited 1 batch 3:0   -> 1 FAILED+COMPLETING NonZeroExitCode 3:0; 2 FAILED+COMPLETING NonZeroExitCode 3:0
                done 1 n1            -> 1 FAILED NonZeroExitCode 3:0; n1 free; n2 holds [2]
                """);
    }

    @Test
    void aWaitingComponentEndsAloneWhereThatIsAsked() {
        play("""
                het kind=BATCH : kind=BATCH : kind=BATCH -> 3 PENDING
                cancel 2 -> says Operation not permitted on individual component of heterogeneous job
                cancelpart 2                             -> 1 PENDING; 2 CANCELLED 'by 1000'; 3 PENDING
                schedule                                 -> 1 PENDING; 3 PENDING; n1 free
                cancelpart 1                             -> 1 CANCELLED 'by 1000'; 3 CANCELLED 'by 1000'
                """);
    }

    @Test
    void theScriptAloneIsKilledAndEndsTheJobAsItself() {
        play("""
                het kind=BATCH : kind=BATCH -> 2 PENDING
                schedule                    -> 1 RUNNING n1; 2 RUNNING n2
                killscript 2                -> 1 RUNNING n1; 2 RUNNING n2
                exited 1 batch 0:9          -> 1 FAILED+COMPLETING RaisedSignal 0:9
                """);
    }

    @Test
    void hetJobStartsOnlyWhenAllComponentsCan() {
        play("""
                submit tasks=2 nodeList=n1        -> 1 PENDING
                submit tasks=2 nodeList=n2        -> 2 PENDING
                schedule                          -> 2 RUNNING n2
                het kind=BATCH : kind=BATCH       -> 3 PENDING; 4 PENDING
                schedule                          -> 3 PENDING; 4 PENDING; n3 free
                cancel 1
                done 1 n1
                schedule                          -> 3 RUNNING n1; 4 RUNNING n3
                """);
    }

    /** No step spans several components with disable_hetjob_steps. */
    @Test
    void disableHetjobStepsRefusesStepsOverComponents() {
        cluster("options.disable_hetjob_steps=yes").lines("""
                het kind=BATCH : kind=BATCH
                schedule      -> 1 RUNNING n1; 2 RUNNING n2
                hetstep 1,2 1 -> says Job steps that span multiple components of a heterogeneous job are not currently supported
                step 1 1      -> 1 RUNNING n1 step0=RUNNING
                """);
    }

    @Test
    void pendingHetComponentIsNotCancelledAlone() {
        play("""
                het kind=BATCH : kind=BATCH
                cancel 2         -> 2 PENDING; says Operation not permitted on individual component of heterogeneous job
                hold 2           -> 1 PENDING; 2 PENDING JobHeldUser
                schedule         -> 1 PENDING
                release 1        -> 2 PENDING
                hold 1           -> 1 PENDING JobHeldUser; 2 PENDING JobHeldUser
                release 1
                cancel 1         -> 1 CANCELLED 'by 1000'; 2 CANCELLED 'by 1000'
                """);
    }

    @Test
    void aComponentStandsForAllWhereThatIsSet() {
        cluster("options.whole_hetjob=yes").lines("""
                het kind=BATCH : kind=BATCH
                hold 2                -> 1 PENDING JobHeldUser; 2 PENDING JobHeldUser
                release 2             -> 1 PENDING; 2 PENDING
                schedule              -> 1 RUNNING n1; 2 RUNNING n2
                cancel 2              -> 1 CANCELLED+COMPLETING 'by 1000'; 2 CANCELLED+COMPLETING 'by 1000'
                het kind=BATCH : kind=BATCH
                cancel 4              -> 3 CANCELLED 'by 1000'; 4 CANCELLED 'by 1000'
                """);
    }

    @Test
    void runningHetComponentEndsAlone() {
        play("""
                het kind=BATCH timing.timeLimitMin=9 : kind=BATCH timing.timeLimitMin=5 : kind=BATCH timing.timeLimitMin=9
                schedule              -> 3 RUNNING n3
                cancel 3              -> 3 CANCELLED+COMPLETING 'by 1000'; 1 RUNNING n1; 2 RUNNING n2
                pass 301              -> 2 TIMEOUT+COMPLETING TimeLimit; 1 RUNNING n1
                pass 300              -> 1 TIMEOUT+COMPLETING TimeLimit
                """);
    }

    @Test
    void hetJobIsRequeuedAsAWhole() {
        play("""
                het kind=BATCH : kind=BATCH
                schedule
                suspend 2 root -> 2 RUNNING n2; says Operation not permitted on individual component of heterogeneous job
                requeue 2      -> says Job not heterogeneous job leader
                requeue 1      -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1; 2 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                done 1 n1
                schedule       -> 1 PENDING+REQUEUED BeginTime restarts=1
                done 2 n2
                pass 121
                schedule       -> 1 RUNNING n1 restarts=1; 2 RUNNING n2 restarts=1
                lost n2 -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=2; 2 PENDING+REQUEUED BeginTime restarts=2
                """);
    }

    @Test
    void theScriptBeginsWhenTheLastNodeIsReady() {
        Cluster c =
                new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes defmempercpu=10", "awaitProlog=true");
        Play play = new Play(c);
        play.lines("""
                het kind=BATCH : kind=BATCH
                schedule              -> 1 RUNNING+CONFIGURING n1; 2 RUNNING+CONFIGURING n2
                prolog 1 n1           -> 1 RUNNING n1
                """);
        assertThat(c.state().jobs().at(1).step(Step.BATCH)).isEmpty();
        play.lines("prolog 2 n2 -> 2 RUNNING n2");
        assertThat(c.state().jobs().at(1).step(Step.BATCH)).isPresent();
        assertThat(c.state().jobs().at(2).step(Step.BATCH)).isEmpty();
        play.lines("""
                cancel 1
                het kind=BATCH : kind=BATCH nodeList=n3
                done 1 n1
                done 2 n2
                schedule              -> 4 RUNNING+CONFIGURING n3
                cancel 4              -> 3 CANCELLED+COMPLETING 'by 1000'; 4 CANCELLED+COMPLETING 'by 1000'
                """);
    }

    @Test
    void aStepOverComponentsHasOneNumberAndRanksThatGoOn() {
        Cluster c = new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes defmempercpu=10", "");
        Play play = new Play(c);
        play.lines("""
                het kind=BATCH tasks=2 : kind=BATCH tasks=2
                schedule
                step 2 1              -> says 0; 1 RUNNING n1; 2 RUNNING n2 step0=RUNNING
                hetstep 1,2 1         -> says 1; 1 RUNNING n1 step1=RUNNING
                hetstep 1,1 1         -> says Job not heterogeneous job
                exited 2 0 0:0        -> 2 RUNNING n2 step0=ENDED step1=RUNNING
                """);
        Step second = c.state().jobs().at(2).step(1).orElseThrow();
        assertThat(second.nodes().getFirst().tasks()).containsExactly(1);
        assertThat(second.het()).containsExactly(1, 2);
        play.lines("""
                cancel 1.1 root
                exited 1 1 0:9        -> 1 RUNNING n1 step1=ENDED
                """);
        assertThat(c.state().jobs().at(2).step(1).orElseThrow().ending()).isEqualTo("Cancelled by 0");
    }

    /** An srun with an allocation of its own: one component's tasks may be done before another's have begun. */
    @Test
    void hetSrunAllocationEndsWithItsStepInAllComponents() {
        play("""
                het kind=RUN : kind=RUN
                schedule
                hetstep 1,2 1  -> says 0; 1 RUNNING n1 step0=RUNNING; 2 RUNNING n2 step0=RUNNING
                exited 1 0 0:0 -> 1 RUNNING n1 step0=ENDED; 2 RUNNING n2 step0=RUNNING
                exited 2 0 0:0 -> 1 COMPLETED+COMPLETING step0=ENDED; 2 COMPLETED+COMPLETING step0=ENDED
                het kind=RUN : kind=RUN
                done 1 n1
                done 2 n2
                schedule
                hetstep 3,4 1  -> says 0
                exited 4 0 4:0 -> 3 RUNNING n1 step0=RUNNING; 4 RUNNING n2 step0=ENDED
                exited 3 0 0:0 -> 3 FAILED+COMPLETING NonZeroExitCode 4:0 step0=ENDED; 4 FAILED+COMPLETING NonZeroExitCode 4:0 step0=ENDED
                """);
    }

    @Test
    void dependencyWaitsForAllHetComponents() {
        play("""
                het kind=BATCH : kind=BATCH
                submit timing.dependency=afterany:1 -> 3 PENDING Dependency
                schedule
                exited 1 batch 0:0
                done 1 n1
                pass 1                              -> 3 PENDING Dependency
                done 2 n2
                pass 1                              -> 3 PENDING
                """);
    }

    @Test
    void hetJobIsQueuedWithAllComponentsOrRefused() {
        Cluster c = new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes defmempercpu=10", "");
        new Play(c).lines("""
                het kind=BATCH : kind=BATCH partition=nope           -> says Invalid partition name specified; 1 unknown
                het kind=BATCH : kind=BATCH timing.array=1-2         -> says Invalid job array specification; 1 unknown
                het kind=BATCH : kind=BATCH
                """);
        Job second = c.state().jobs().at(2);
        assertThat(second.displayId()).isEqualTo("1+1");
        assertThat(c.state().members(second)).extracting(Job::id).containsExactly(1, 2);
        assertThat(c.apply(new Command.SubmitHet(Cluster.USER, List.of(), "", false, false)))
                .isInstanceOf(Decision.Rejected.class);
    }
}
