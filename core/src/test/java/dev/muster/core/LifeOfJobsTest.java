package dev.muster.core;

import static dev.muster.core.testkit.Play.play;
import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Node;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.api.JobMessages.JobError;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of the core as plays: what is asked or reported, and how the job then stands. */
class LifeOfJobsTest {
    /** shows: BatchStartTimeout */
    @Test
    void aScriptThatItsNodeNeverSawIsLaunchedAgainForAWhile() {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "p nodes=n[1-2] default=yes defmempercpu=10",
                        "requeueJobs=true batchStartTimeoutS=10"))
                .lines("""
                submit kind=BATCH
                schedule              -> 1 RUNNING n1
                pass 10
                register n1 boot      -> 1 RUNNING n1
                pass 1
                register n1 boot      -> 1 PENDING+REQUEUED BeginTime restarts=1; n1 free
                """);
    }

    /** A fault of the node is not the job's: it is tried on another, and the node takes nothing more. */
    @Test
    void aNodeThatCannotLaunchIsDrainedAndItsJobGoesElsewhere() {
        Cluster cluster =
                new Cluster("n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "requeueJobs=true");
        new Play(cluster).lines("""
                submit kind=BATCH
                schedule              -> 1 RUNNING n1
                unfit 1 batch         -> 1 PENDING+COMPLETING+REQUEUED restarts=1
                """);
        Node node = cluster.state().nodes().at("n1");
        assertThat(node.has(Node.Flag.DRAIN)).isTrue();
        assertThat(node.reason()).isEqualTo("batch job complete failure: No space left on device");
        assertThat(cluster.state().jobs().at(1).has(JobFlag.REQUEUE_HOLD)).isFalse();
    }

    /** The state may be an older copy, or lack its newest part: what nodes have launched is not given again. */
    @Test
    void numbersThatNodesKnowAreNotGivenAgain() {
        play("""
                submit kind=BATCH          -> 1 PENDING
                ahead n1 boot 4711
                submit kind=BATCH          -> 4712 PENDING
                ahead n1 boot 4711
                submit kind=BATCH          -> 4713 PENDING
                ahead n1 boot 67000000
                submit kind=BATCH          -> 4714 PENDING
                """);
    }

    @Test
    void batchJobEndsWithItsScriptsExitCode() {
        play("""
                submit kind=BATCH          -> 1 PENDING
                schedule                   -> 1 RUNNING n1; n1 holds [1]
                launched 1 batch
                exited 1 batch 3:0         -> 1 FAILED+COMPLETING NonZeroExitCode 3:0; n1 holds [1]
                done 1 n1                  -> 1 FAILED NonZeroExitCode 3:0; n1 free
                submit kind=BATCH
                schedule
                exited 2 batch 0:9         -> 2 FAILED+COMPLETING RaisedSignal 0:9
                submit kind=BATCH
                schedule
                exited 3 batch 0:0         -> 3 COMPLETED+COMPLETING
                """);
    }

    /** The derived exit code compares the numbers of wait(2): exit code 9 is higher than signal 9. */
    @Test
    void theDerivedExitCodeIsTheHighestOfItsSteps() {
        play("""
                submit kind=BATCH
                schedule
                step 1 1
                exited 1 0 0:9             -> derived 1 0:9
                step 1 1
                exited 1 1 9:0             -> derived 1 9:0
                step 1 1
                exited 1 2 0:15            -> derived 1 9:0
                exited 1 batch 3:0         -> derived 1 9:0
                """);
    }

    /** Names and comments, which are kept as they were given, have at most 1024 bytes, as in Slurm. */
    @Test
    void namesAndCommentsAreNotEndless() {
        play("submit kind=BATCH name=" + "x".repeat(1024) + " -> 1 PENDING\n"
                + "submit kind=BATCH name=" + "x".repeat(1025)
                + " -> says Pathname of a file, directory or other parameter too long\n"
                + "submit kind=BATCH extras.comment=" + "y".repeat(1025)
                + " -> says Pathname of a file, directory or other parameter too long");
    }

    @Test
    void aReportOfAnEarlierAttemptChangesNothing() {
        play("""
                submit kind=BATCH
                schedule
                requeue 1                  -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                done 1 n1                  -> 1 PENDING+REQUEUED BeginTime restarts=1
                pass 121
                schedule                   -> 1 RUNNING n1 restarts=1
                stale 1                    -> 1 RUNNING n1 restarts=1
                exited 1 batch 0:0         -> 1 COMPLETED+COMPLETING restarts=1
                """);
    }

    @Test
    void cancelEndsWhatWaitsAndWhatRuns() {
        play("""
                submit kind=BATCH
                cancel 1                   -> 1 CANCELLED 'by 1000'
                cancel 1                   -> says Job/step already completing or completed
                submit kind=BATCH
                schedule
                cancel 2 uid=1001          -> 2 RUNNING n1; says Access/permission denied
                cancel 2                   -> 2 CANCELLED+COMPLETING 'by 1000'
                cancel 77                  -> says Invalid job id specified
                """);
    }

    /** A job that is stopped by a signal shows STOPPED while it runs, not after its end. */
    @Test
    void stoppedJobEndsAsAnyOtherJob() {
        play("""
                submit kind=BATCH timing.timeLimitMin=1
                schedule
                stop 1                     -> 1 RUNNING+STOPPED n1
                cancel 1                   -> 1 CANCELLED+COMPLETING 'by 1000'
                submit kind=BATCH timing.requeue=YES
                done 1 n1
                schedule
                stop 2                     -> 2 RUNNING+STOPPED n1
                requeue 2                  -> 2 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                """);
    }

    @Test
    void heldJobStartsOnlyAfterItsRelease() {
        play("""
                submit kind=BATCH timing.hold=true -> 1 PENDING JobHeldUser
                schedule                           -> 1 PENDING JobHeldUser
                release 1                          -> 1 PENDING
                submit kind=BATCH timing.hold=true -> 2 PENDING JobHeldUser
                cancel 2                           -> 2 CANCELLED JobHeldUser 'by 1000'
                hold 1 root                        -> 1 PENDING JobHeldAdmin
                release 1 uid=7                    -> says Invalid user id
                hold 1 uid=7                       -> says Invalid user id
                requeue 1 uid=7                    -> says Access/permission denied
                release 1                          -> 1 PENDING JobHeldAdmin; says Access/permission denied
                release 1 root                     -> 1 PENDING
                pass 1
                schedule                           -> 1 RUNNING n1
                hold 1 root                        -> 1 RUNNING JobHeldAdmin n1
                release 1                          -> 1 RUNNING JobHeldAdmin n1; says Access/permission denied
                hold 1                             -> 1 RUNNING JobHeldUser n1
                requeue 1                          -> 1 PENDING+COMPLETING+REQUEUED JobHeldUser restarts=1
                done 1 n1
                pass 200
                schedule                           -> 1 PENDING+REQUEUED JobHeldUser restarts=1
                release 1                          -> 1 PENDING+REQUEUED restarts=1
                pass 1
                schedule                           -> 1 RUNNING n1 restarts=1
                hold 1                             -> 1 RUNNING JobHeldUser n1 restarts=1
                release 1                          -> 1 RUNNING n1 restarts=1
                cancel 1                           -> 1 CANCELLED+COMPLETING 'by 1000' restarts=1
                done 1 n1
                hold 1                             -> says Job has already finished
                """);
    }

    @Test
    void requeueHeldWaitsForItsRelease() {
        play("""
                submit kind=BATCH
                schedule
                requeuehold 1              -> 1 PENDING+COMPLETING+REQUEUED job_requeued_in_held_state restarts=1
                done 1 n1
                schedule                   -> 1 PENDING+REQUEUED job_requeued_in_held_state restarts=1
                release 1 root             -> 1 PENDING+REQUEUED BeginTime restarts=1
                pass 121
                schedule                   -> 1 RUNNING n1 restarts=1
                submit kind=ALLOCATION
                schedule
                requeue 2                  -> 2 RUNNING n1
                """);
    }

    /** A partition's SelectTypeParameters count in place of the cluster's, for its jobs alone. */
    @Test
    void memoryIsDealtOutByPartition() {
        String dealt = """
                submit kind=BATCH partition=c memPerNodeMb=900
                submit kind=BATCH partition=c memPerNodeMb=900
                schedule            -> 1 RUNNING n1; 2 RUNNING n1
                submit kind=BATCH partition=c
                submit kind=BATCH partition=m memPerNodeMb=900
                schedule            -> 3 RUNNING n1; 4 RUNNING n1
                submit kind=BATCH partition=m memPerNodeMb=900
                schedule            -> 5 PENDING
                submit kind=BATCH partition=c memPerNodeMb=1001 -> 6 unknown
                """;
        new Play(new Cluster(
                        "n1 cpus=8 mem=1000",
                        "m nodes=n1 default=yes\nc nodes=n1 select=CR_CORE",
                        "memoryConsumed=true options.select=CR_CORE_MEMORY"))
                .lines(dealt);
        new Play(new Cluster(
                        "n1 cpus=8 mem=1000",
                        "c nodes=n1 default=yes\nm nodes=n1 select=CR_CORE_MEMORY",
                        "memoryConsumed=false options.select=CR_CORE"))
                .lines(dealt);
    }

    /**
     * Seconds since it was submitted, since it is eligible and since it grows older; as Slurm has them, but for times
     * to come.
     */
    @Test
    void eligibleAgeRestartsAfterHoldDependencyAndRequeue() {
        play("""
                submit kind=BATCH exclusive=NODE nodesMin=2
                schedule
                submit kind=BATCH exclusive=NODE nodesMin=2
                pass 10                    -> ages 2 10 10 10
                hold 2                     -> ages 2 10 - 10; 2 PENDING JobHeldUser
                pass 10                    -> ages 2 20 - 20
                release 2                  -> ages 2 20 0 20; 2 PENDING
                pass 5                     -> ages 2 25 5 25
                update 2 priority=0        -> ages 2 25 - 25
                release 2                  -> ages 2 25 0 25
                update 2 dependency=afterok:1
                pass 5                     -> ages 2 30 - 30; 2 PENDING Dependency
                update 2 dependency=
                pass 5                     -> ages 2 35 0 35; 2 PENDING
                requeue 1                  -> ages 1 0 - -; 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                pass 5                     -> ages 1 5 - -
                """);
    }

    @Test
    void onlyAdministratorsSuspendJobs() {
        play("""
                submit kind=BATCH
                suspend 1                  -> says Access/permission denied
                suspend 1 root             -> says Job is pending execution
                schedule
                suspend 1 root             -> 1 SUSPENDED n1
                suspend 1 root             -> 1 SUSPENDED n1; says CancelReply[done=[1], errors=[]]
                resume 1 root              -> 1 RUNNING n1
                resume 1 root              -> says Job is not suspended
                """);
    }

    @Test
    void aSuspendedJobLendsItsCores() {
        play("""
                submit kind=BATCH tasks=2 nodeList=n1 memPerCpuMb=1
                submit kind=BATCH tasks=2 nodeList=n1 memPerCpuMb=1
                schedule                   -> 1 RUNNING n1; 2 PENDING
                suspend 1 root
                schedule                   -> 1 SUSPENDED n1; 2 RUNNING n1
                suspend 2 root
                resume 1 root
                schedule                   -> 1 RUNNING n1; 2 SUSPENDED n1
                resume 2 root              -> 1 RUNNING n1; 2 RUNNING n1
                submit kind=BATCH nodeList=n1 memPerCpuMb=1
                schedule                   -> 3 PENDING
                """);
    }

    @Test
    void anArrayIsOneRecordUntilItsTasksStart() {
        play("""
                submit kind=BATCH timing.array=1-6%3  -> 1 PENDING [1-6]
                schedule                              -> 1 PENDING [4-6]; 1_1 RUNNING n1; 1_2 RUNNING n1; 1_3 RUNNING n2
                cancel 1_5                            -> 1 PENDING [4,6]; 1_5 CANCELLED 'by 1000'
                hold 1_4                              -> 1_4 PENDING JobHeldUser
                cancel 1 -> 1_1 CANCELLED+COMPLETING 'by 1000'; 1_4 CANCELLED JobHeldUser 'by 1000'; 1_6 CANCELLED 'by 1000' [6]
                """);
    }

    @Test
    void jobEndsAtItsTimeLimit() {
        play("""
                submit kind=BATCH timing.timeLimitMin=1
                schedule                   -> 1 RUNNING n1
                pass 59                    -> 1 RUNNING n1
                pass 1                     -> 1 TIMEOUT+COMPLETING TimeLimit
                submit kind=BATCH timing.timeLimitMin=1
                schedule
                suspend 2 root
                pass 600                   -> 2 SUSPENDED n1
                resume 2 root
                pass 59                    -> 2 RUNNING n1
                pass 2                     -> 2 TIMEOUT+COMPLETING TimeLimit
                """);
    }

    @Test
    void jobWaitsForItsBeginTime() {
        play("""
                submit kind=BATCH timing.beginTime=1000060 -> 1 PENDING BeginTime
                pass 59
                schedule                   -> 1 PENDING BeginTime
                pass 1
                schedule                   -> 1 RUNNING n1
                """);
    }

    /** Each kind of dependency depends on how the first job ends: its end → what becomes of the job that waits. */
    @Test
    void dependencyIsMetByItsKindOfEnd() {
        String[][] table = {
            {"after", "RUNNING", "RUNNING", "RUNNING"},
            {"afterany", "RUNNING", "RUNNING", "PENDING"},
            {"afterok", "RUNNING", "PENDING DependencyNeverSatisfied", "PENDING"},
            {"afternotok", "PENDING DependencyNeverSatisfied", "RUNNING", "PENDING"},
        };
        String[] ends = {"exited 1 batch 0:0\ndone 1 n1", "exited 1 batch 1:0\ndone 1 n1", "pass 0"};
        for (String[] row : table) {
            for (int i = 0; i < ends.length; i++) {
                String then = row[i + 1].equals("PENDING") ? "PENDING Dependency" : row[i + 1];
                play("submit kind=BATCH\nschedule\nsubmit kind=BATCH timing.dependency=" + row[0]
                        + ":1 -> 2 PENDING Dependency\n" + ends[i] + "\npass 1\nschedule -> 2 "
                        + (then.equals("RUNNING") ? "RUNNING n1" : then));
            }
        }
    }

    @Test
    void aJobMayNotWaitForItself() {
        play("""
                submit kind=BATCH timing.hold=true
                submit kind=BATCH timing.dependency=afterok:1
                update 1 dependency=afterok:2     -> says Circular job dependency
                update 1 dependency=afterok:1     -> says Job dependency problem
                submit kind=BATCH timing.dependency=nonsense:1 -> says Job dependency problem
                """);
    }

    @Test
    void singletonRunsOneOfItsNameAtATime() {
        play("""
                submit kind=BATCH name=a
                submit kind=BATCH name=a timing.dependency=singleton
                submit kind=BATCH name=b timing.dependency=singleton
                pass 1
                schedule                   -> 1 RUNNING n1; 2 PENDING Dependency; 3 RUNNING n1
                exited 1 batch 0:0
                done 1 n1
                pass 1
                schedule                   -> 2 RUNNING n1
                """);
    }

    /** A singleton job waits also for a younger job of its name that has begun before it. */
    @Test
    void singletonWaitsForAYoungerRunningJobOfItsName() {
        play("""
                submit kind=BATCH name=b timing.hold=true
                submit kind=BATCH name=a
                schedule                   -> 2 RUNNING n1
                update 1 jobname=a
                update 1 dependency=singleton
                release 1
                pass 1                     -> 1 PENDING Dependency
                schedule                   -> 1 PENDING Dependency
                exited 2 batch 0:0
                done 2 n1
                pass 1
                schedule                   -> 1 RUNNING n1
                """);
    }

    @Test
    void repeatedRequestIdGivesTheSameJob() {
        play("""
                again r1 kind=BATCH        -> 1 PENDING
                again r1 kind=BATCH        -> 2 unknown
                again r2 kind=BATCH        -> 2 PENDING
                """);
    }

    @Test
    void numbersOfACutJournalAreSkipped() {
        play("""
                submit kind=BATCH          -> 1 PENDING
                skip
                submit kind=BATCH          -> 1001 PENDING
                """);
    }

    @Test
    void endedJobsGoAfterMinJobAge() {
        play("""
                submit kind=BATCH
                cancel 1
                pass 299                   -> 1 CANCELLED 'by 1000'
                pass 1                     -> 1 unknown
                """);
    }

    /** salloc's shell on the first node has no number: the first srun in it begins step 0. */
    @Test
    void interactiveStepTakesNoStepNumber() {
        play("""
                submit kind=ALLOCATION tasks=2
                schedule                   -> 1 RUNNING n1
                shell 1 1                  -> 1 RUNNING n1 stepinteractive=RUNNING
                step 1 1                   -> 1 RUNNING n1 stepinteractive=RUNNING step0=RUNNING
                shell 1 1                  -> 1 RUNNING n1 stepinteractive=RUNNING step0=RUNNING step1=RUNNING
                """);
    }

    @Test
    void aTaskMayAbortItsStepAndNoOther() {
        play("""
                submit kind=ALLOCATION tasks=2
                schedule           -> 1 RUNNING n1
                step 1 1           -> 1 RUNNING n1 step0=RUNNING
                step 1 1           -> 1 RUNNING n1 step0=RUNNING step1=RUNNING
                aborted 1 0        -> ending 1.0 Cancelled by 1000; ending 1.1; 1 RUNNING n1 step0=RUNNING step1=RUNNING
                aborted 1 0        -> ending 1.0 Cancelled by 1000
                exited 1 0 0:9     -> 1 RUNNING n1 step0=ENDED step1=RUNNING
                aborted 1 0        -> 1 RUNNING n1 step0=ENDED step1=RUNNING
                aborted 1 7        -> 1 RUNNING n1 step0=ENDED step1=RUNNING
                """);
    }

    /**
     * srun gets SIGTERM like every process of its job and asks for its step's end: the step's tasks have KillWait all
     * the same.
     */
    @ParameterizedTest
    @ValueSource(strings = {"cancel 1", "pass 100", "requeue 1", "requeuehold 1", "cancel 1 root"})
    void srunDoesNotShortenTheEndOfItsJob(String end) {
        Cluster c = new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "");
        Play play = new Play(c);
        play.lines("""
                submit kind=BATCH tasks=2 timing.timeLimitMin=1 timing.requeue=YES
                schedule                   -> 1 RUNNING n1
                step 1 1                   -> 1 RUNNING n1 step0=RUNNING
                """);
        c.apply(new Command.CancelJobs(Cluster.USER, List.of(new Command.JobRef("1.0", 1, -1, 0)), 10, false, false));
        play.lines(end + "\n");
        Decision asked = c.apply(
                new Command.CancelJobs(Cluster.USER, List.of(new Command.JobRef("1.0", 1, -1, 0)), 9, false, false));
        assertThat(((Decision.Accepted) asked).changes()).isEmpty();
        assertThat(((CancelReply) ((Decision.Accepted) asked).reply()).errors())
                .extracting(JobError::errno)
                .containsAnyOf(SlurmErrno.ALREADY_DONE.number(), SlurmErrno.INVALID_JOB_ID.number());
    }

    @Test
    void stepsShareTheAllocation() {
        play("""
                submit kind=ALLOCATION tasks=2
                schedule                   -> 1 RUNNING n1
                step 1 1 s1                -> 1 RUNNING n1 step0=RUNNING
                step 1 1 s1                -> 1 RUNNING n1 step0=RUNNING
                step 1 1                   -> 1 RUNNING n1 step0=RUNNING step1=RUNNING
                step 1 1                   -> 1 RUNNING n1 step0=RUNNING step1=RUNNING; says Requested nodes are busy
                step 1 3                   -> says More processors requested than permitted
                exited 1 0 1:0             -> 1 RUNNING n1 step0=ENDED step1=RUNNING
                cancel 1.1                 -> 1 RUNNING n1 step0=ENDED step1=RUNNING
                exited 1 1 0:15            -> 1 RUNNING n1 step0=ENDED step1=ENDED
                complete 1 0:0             -> 1 COMPLETED+COMPLETING step0=ENDED step1=ENDED
                """);
    }

    @Test
    void anAsynchronousStepIsQueuedWithinItsJob() {
        play("""
                submit kind=ALLOCATION tasks=2
                schedule       -> 1 RUNNING n1
                step 1 1
                async 1 1      -> 1 RUNNING n1 step0=RUNNING step1=RUNNING
                async 1 2      -> 1 RUNNING n1 step0=RUNNING step1=RUNNING step2=QUEUED
                async 1 1      -> 1 RUNNING n1 step0=RUNNING step1=RUNNING step2=QUEUED step3=QUEUED
                async 1 3      -> says More processors requested than permitted
                pass 1         -> 1 RUNNING n1 step0=RUNNING step1=RUNNING step2=QUEUED step3=QUEUED
                exited 1 0 0:0
                pass 1         -> 1 RUNNING n1 step0=ENDED step1=RUNNING step2=QUEUED step3=RUNNING
                exited 1 1 0:0
                exited 1 3 0:0
                pass 1         -> 1 RUNNING n1 step0=ENDED step1=ENDED step2=RUNNING step3=ENDED
                async 1 1      -> 1 RUNNING n1 step0=ENDED step1=ENDED step2=RUNNING step3=ENDED step4=QUEUED
                cancel 1.4     -> 1 RUNNING n1 step0=ENDED step1=ENDED step2=RUNNING step3=ENDED step4=ENDED
                async 1 1
                complete 1 0:0 -> 1 COMPLETED+COMPLETING step0=ENDED step1=ENDED step2=RUNNING step3=ENDED step4=ENDED step5=ENDED
                """);
    }

    // ---- nodes

    @Test
    void aLostNodeTakesItsJobsWithIt() {
        play("""
                submit kind=BATCH
                submit kind=BATCH timing.requeue=NO tasks=2
                schedule                   -> 1 RUNNING n1; 2 RUNNING n2
                lost n1                    -> n1 free+DOWN 'Not responding'; 1 PENDING+REQUEUED BeginTime restarts=1
                failed 1                   -> says n1
                lost n2                    -> 2 NODE_FAIL NodeDown 1:0
                failed 2                   -> says n2
                register n1 boot 1:1:boot  -> n1 free; says EndJob@n1
                pass 200
                schedule                   -> 1 RUNNING n1 restarts=1
                failed 1                   -> says
                """);
    }

    /**
     * The table of {@code NodeRules.register}, row by row: what the controller holds × what the node says → what is
     * done.
     */
    @Test
    void registrationReconcilesJobsByBootId() {
        play("""
                submit kind=BATCH
                schedule                   -> 1 RUNNING n1
                register n1 boot 1:1:boot  -> 1 RUNNING n1; says
                register n1 boot           -> 1 RUNNING n1
                register n1 other 1:1:boot -> 1 RUNNING n1; says EndJob@n1
                register n1 other          -> 1 PENDING+REQUEUED BeginTime restarts=1; n1 free
                register n1 other 9:1:other -> says EndJob@n1
                """);
    }

    @Test
    void downNodeRequeuesJobsAndDrainedNodeDoesNot() {
        play("""
                submit kind=BATCH
                schedule                   -> 1 RUNNING n1
                node n1 state=drain        -> n1 holds [1]+DRAIN
                node n1 state=drain reason=disk -> n1 holds [1]+DRAIN 'disk'; 1 RUNNING n1
                submit kind=BATCH tasks=3  -> 2 PENDING
                schedule                   -> 2 PENDING
                exited 1 batch 0:0
                done 1 n1                  -> n1 free+DRAIN 'disk'
                node n1 state=resume       -> n1 free
                schedule                   -> 2 RUNNING n[1-2]
                node n2 state=down reason=fire -> 2 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                """);
    }

    @Test
    void requeueExitCodeSendsTheJobBackToTheQueue() {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "p nodes=n[1-2] default=yes defmempercpu=10",
                        "requeueJobs=true options.requeue_exit=5,9-10 options.requeue_exit_hold=7"))
                .lines("""
                submit kind=BATCH
                schedule                   -> 1 RUNNING n1
                exited 1 batch 10:0        -> 1 PENDING+COMPLETING+REQUEUED BeginTime 10:0 restarts=1
                done 1 n1
                pass 121
                schedule                   -> 1 RUNNING n1 restarts=1
                exited 1 batch 7:0         -> 1 PENDING+COMPLETING+REQUEUED+SPECIAL_EXIT JobHeldUser 7:0 restarts=2
                done 1 n1
                schedule                   -> 1 PENDING+REQUEUED+SPECIAL_EXIT JobHeldUser 7:0 restarts=2
                release 1 root             -> 1 PENDING+REQUEUED BeginTime 7:0 restarts=2
                pass 121
                schedule                   -> 1 RUNNING n1 restarts=2
                exited 1 batch 6:0         -> 1 FAILED+COMPLETING NonZeroExitCode 6:0 restarts=2
                submit kind=BATCH timing.requeue=NO
                schedule
                exited 2 batch 5:0         -> 2 FAILED+COMPLETING NonZeroExitCode 5:0
                submit kind=BATCH
                schedule
                cancel 3
                exited 3 batch 5:0         -> 3 CANCELLED+COMPLETING 'by 1000'
                """);
    }

    @Test
    void theControllersPrologComesFirst() {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "p nodes=n[1-2] default=yes defmempercpu=10",
                        "requeueJobs=true options.prolog_slurmctld=true"))
                .lines("""
                submit kind=BATCH
                schedule                   -> 1 RUNNING+CONFIGURING n1
                ctldprolog 1 ok            -> 1 RUNNING n1
                ctldprolog 1 fail          -> 1 RUNNING n1
                submit kind=BATCH
                schedule                   -> 2 RUNNING+CONFIGURING n1
                ctldprolog 2 fail          -> 2 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                done 2 n1
                pass 120
                schedule                   -> 2 PENDING+REQUEUED BeginTime restarts=1
                pass 1
                schedule                   -> 2 RUNNING+CONFIGURING n1 restarts=1
                submit kind=ALLOCATION
                schedule
                ctldprolog 3 fail          -> 3 CANCELLED+COMPLETING JobLaunchFailure
                """);
    }

    @Test
    void jobAwaitsNodePrologsAndPrologSlurmctld() {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "p nodes=n[1-2] default=yes defmempercpu=10",
                        "requeueJobs=true awaitProlog=true options.prolog_slurmctld=true"))
                .lines("""
                submit kind=BATCH
                schedule                   -> 1 RUNNING+CONFIGURING n1
                ctldprolog 1 ok            -> 1 RUNNING+CONFIGURING n1
                prolog 1 n1                -> 1 RUNNING n1
                submit kind=BATCH
                schedule
                prolog 2 n1                -> 2 RUNNING+CONFIGURING n1
                ctldprolog 2 ok            -> 2 RUNNING n1
                """);
    }

    @Test
    void aRepeatedRequestActsOnce() {
        play("""
                submit kind=BATCH
                schedule
                once r1 requeue 1          -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                done 1 n1
                pass 121
                schedule                   -> 1 RUNNING n1 restarts=1
                once r1 requeue 1          -> 1 RUNNING n1 restarts=1; says CancelReply[done=[1], errors=[]]
                once r3 update 1 requeue=0
                once r4 update 1 requeue=1
                once r3 update 1 requeue=0
                once r2 requeue 1          -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=2
                once r5 requeue 77         -> says Invalid job id specified
                """);
    }

    @Test
    void notifyMessageGoesToTheReaderOfTheJobsErrors() {
        play("""
                submit kind=BATCH
                submit kind=ALLOCATION
                submit kind=RUN
                notify 1 hello             -> says Requested operation is presently disabled
                notify 2 hello             -> says salloc
                schedule                   -> 1 RUNNING n1; 2 RUNNING n1; 3 RUNNING n2
                notify 1 hello uid=7       -> says Invalid user id
                notify 1 hello             -> says Notify@n1
                notify 3 hello             -> says Job can not be altered now, try again later
                step 3 1                   -> 3 RUNNING n2 step0=RUNNING
                notify 3 hello root        -> says Notify@n2
                cancel 1
                notify 1 hello             -> says Job/step already completing or completed
                notify 9 hello             -> says Invalid job id specified
                """);
    }

    @Test
    void disableJobShrinkRefusesFewerNodes() {
        new Play(new Cluster(
                        "n[1-4] cpus=2 mem=1000",
                        "p nodes=n[1-4] default=yes defmempercpu=10",
                        "options.disable_job_shrink=true"))
                .lines("""
                submit kind=BATCH nodesMin=3 tasks=3
                update 1 numnodes=3,9       -> 1 PENDING
                update 1 numnodes=2,        -> says Node count specification invalid
                update 1 numnodes=2         -> 1 PENDING
                schedule                    -> 1 RUNNING n[1-2]
                update 1 numnodes=1         -> says Requested operation not supported on this system
                update 1 nodelist=n1        -> says Requested operation not supported on this system
                """);
    }

    @Test
    void aRunningJobGivesUpNodes() {
        new Play(new Cluster(
                        "n[1-4] cpus=2 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=10", "requeueJobs=true"))
                .lines("""
                submit kind=BATCH nodesMin=3 tasks=3
                schedule                    -> 1 RUNNING n[1-3]
                step 1 3                    -> 1 RUNNING n[1-3] step0=RUNNING
                update 1 numnodes=4         -> says Expanding a running job is not supported by this version of Muster
                update 1 numnodes=0         -> says Node count specification invalid
                update 1 nodelist=n[2-3]    -> says Invalid node name specified
                update 1 nodelist=n4        -> says Invalid node name specified
                update 1 nodelist=n[1-2]    -> 1 RUNNING n[1-2] step0=RUNNING; n3 holds [1]
                done 1 n3                   -> 1 RUNNING n[1-2] step0=RUNNING; n3 free
                update 1 numnodes=1         -> 1 RUNNING n1 step0=RUNNING; n2 holds [1]
                lost n2                     -> 1 RUNNING n1 step0=RUNNING; n2 free+DOWN 'Not responding'
                exited 1 batch 0:0          -> 1 COMPLETED+COMPLETING step0=RUNNING
                done 1 n1                   -> 1 COMPLETED step0=ENDED; n1 free
                submit kind=BATCH nodesMin=2 tasks=2
                schedule                    -> 2 RUNNING n[1,3]
                update 2 numnodes=1
                cancel 2                    -> 2 CANCELLED+COMPLETING 'by 1000'
                done 2 n1                   -> 2 CANCELLED+COMPLETING 'by 1000'
                done 2 n3                   -> 2 CANCELLED 'by 1000'; n3 free
                """);
    }

    @Test
    void topJobGoesBeforeOtherJobsOfItsUser() {
        Cluster c = new Cluster("n1 cpus=1 mem=1000", "p nodes=n1 default=yes defmempercpu=10\nq nodes=n1", "");
        new Play(c).lines("""
                submit name=a
                submit name=b
                submit name=c
                submit name=d partition=q
                submit name=e timing.hold=true
                top 3                       -> says Access/permission denied
                top 5 root                  -> says Job is in held state, pending scheduler release
                top 77 root                 -> says Invalid job id specified
                top 3 root
                schedule                    -> 3 RUNNING n1; 1 PENDING
                """);
        assertThat(c.state().jobs().values().stream()
                        .map(j -> j.desc().timing().nice())
                        .toList())
                .containsExactly(1, 1, -2, 0, 0);
    }

    /** Only administrators may use {@code scancel --admin-comment}. */
    @Test
    void aCancelledJobKeepsWhatAdministratorsSaid() {
        Cluster c = new Cluster("n1 cpus=1 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "");
        new Play(c).lines("""
                submit
                submit
                schedule       -> 1 RUNNING n1; 2 PENDING
                """);
        List<Command.JobRef> both = List.of(
                new Command.JobRef("1", 1, -1, Command.JobRef.NO_STEP),
                new Command.JobRef("2", 2, -1, Command.JobRef.NO_STEP));
        assertThat(c.apply(new Command.CancelJobs(Cluster.USER, both, 0, false, false, false, false, "why")))
                .isInstanceOf(Decision.Rejected.class);
        c.apply(new Command.CancelJobs(0, both, 0, false, false, false, false, "why"));
        assertThat(both).allSatisfy(r -> {
            assertThat(c.state().jobs().at(r.jobId()).state()).isEqualTo(JobState.CANCELLED);
            assertThat(c.state().jobs().at(r.jobId()).desc().extras().adminComment())
                    .isEqualTo("why");
        });
    }
}
