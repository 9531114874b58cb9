package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Core;
import dev.muster.core.state.Dependency;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.PlannerSource;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the dependencies of jobs on one another. */
class DependenciesTest {
    private static Cluster cluster(String settings) {
        return new Cluster(
                "n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=10", "requeueJobs=true " + settings);
    }

    private static void play(String lines) {
        new Play(cluster("")).lines(lines);
    }

    @Test
    void aftercorrTaskWaitsForTheTaskOfItsNumber() {
        play("""
                submit kind=BATCH timing.array=1-3
                submit kind=BATCH timing.array=1-3 timing.dependency=aftercorr:1 -> 2 PENDING Dependency [1-3]
                schedule
                pass 1                    -> 1_1 RUNNING n1; 2 PENDING Dependency [1-3]
                exited 3 batch 0:0
                done 3 n1
                pass 1
                exited 4 batch 1:0
                done 4 n1
                pass 1                    -> 2_1 PENDING; 2_2 PENDING DependencyNeverSatisfied; 2 PENDING Dependency [3]
                schedule                  -> 2_1 RUNNING n1
                """);
    }

    @Test
    void minutesAfterArePositive() {
        play("""
                submit kind=BATCH
                submit kind=BATCH timing.dependency=after:1+-1 -> says Job dependency problem
                submit kind=BATCH timing.dependency=after:1+0  -> says Job dependency problem
                """);
    }

    @Test
    void minutesDelayNothingButAfter() {
        play("""
                submit kind=BATCH
                schedule
                submit kind=BATCH timing.dependency=afterok:1+5  -> 2 PENDING Dependency
                submit kind=BATCH timing.dependency=afterany:1+5 -> 3 PENDING Dependency
                exited 1 batch 0:0
                done 1 n1
                pass 1
                schedule                   -> 2 RUNNING n1; 3 RUNNING n1
                """);
    }

    /**
     * The minutes count from the start, or from the end of a job that never started, also where the job has ended
     * since.
     */
    @Test
    void delayAfterAnEndedJobCountsFromItsStart() {
        play("""
                submit kind=BATCH
                submit kind=BATCH timing.hold=true
                schedule                   -> 1 RUNNING n1
                submit kind=BATCH timing.dependency=after:1+1 -> 3 PENDING Dependency
                submit kind=BATCH timing.dependency=after:2+1 -> 4 PENDING Dependency
                submit kind=BATCH timing.dependency=after:2   -> 5 PENDING Dependency
                pass 10
                exited 1 batch 0:0
                done 1 n1
                cancel 2
                pass 1
                schedule                   -> 5 RUNNING n1
                pass 45
                schedule                   -> 3 PENDING Dependency; 4 PENDING Dependency
                pass 5
                schedule                   -> 3 RUNNING n1; 4 PENDING Dependency
                pass 10
                schedule                   -> 4 RUNNING n1
                """);
    }

    @Test
    void contradictoryDependencyOrTimeMinIsRefused() {
        new Play(new Cluster("n1 cpus=4\nn2 cpus=4", "p nodes=n[1-2] default=yes\nshort nodes=n1 maxtime=10", ""))
                .lines("""
                submit kind=BATCH timing.dependency=singleton:1     -> says Job dependency problem
                submit kind=BATCH partition=short timing.timeMinMin=15 -> says Invalid time-min specification (exceeds job's time or other limits)
                submit kind=BATCH partition=short,p timing.timeMinMin=15 -> 1 PENDING
                """);
    }

    /** Each dependency is told to a job (4) beside an array (1), another job (2) and a job that waits for that (3). */
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "afterok:1                | afterok:1_*(unfulfilled)",
                "afterok:1_*              | afterok:1_*(unfulfilled)",
                "after:1+5                | after:1_*+5(unfulfilled)",
                "afterok:1+5              | afterok:1_*+5(unfulfilled)",
                "AFTERANY:2+5:1_1         | afterany:2+5(unfulfilled),afterany:1_1(unfulfilled)",
                "afternotok:2+5?aftercorr:1+1 | afternotok:2+5(unfulfilled)?aftercorr:1_*+1(unfulfilled)",
                "after:2+5:2+6:2          | after:2+5(unfulfilled)",
                "after:2:2+5              | after:2(unfulfilled)",
                "after:~2:~+1+~5          | 'after:2(unfulfilled),after:1_*+5(unfulfilled)'",
                "~afterok:2               | Job dependency problem",
                "afterok:-2               | Job dependency problem",
                "afterany:2_*             | afterany:2_*(unfulfilled)",
                "afterok:2_*              | Job dependency problem",
                "afterok:2+0              | Job dependency problem",
                "afterok:2+x              | Job dependency problem",
                "afterok:1_2              | afterok:1_2(unfulfilled)",
                "afterok:1_[1,3]:2        | afterok:1_1(unfulfilled),afterok:1_3(unfulfilled),afterok:2(unfulfilled)",
                "afterok:1_[1-2]?after:2  | afterok:1_1(unfulfilled)?afterok:1_2(unfulfilled)?after:2(unfulfilled)",
                "1                        | afterany:1_*(unfulfilled)",
                "1_2                      | afterany:1_2(unfulfilled)",
                "1,2                      | afterany:1_*(unfulfilled),afterany:2(unfulfilled)",
                "afterok:1,2              | afterok:1_*(unfulfilled),afterany:2(unfulfilled)",
                "afterok:1?2              | afterok:1_*(unfulfilled)?afterany:2(unfulfilled)",
                "afterok:2:2              | afterok:2(unfulfilled)",
                "0                        | ''",
                "singleton?afterok:1      | ''",
                "singleton,afterok:1      | afterok:1_*(unfulfilled)",
                "'afterok:1_*(unfulfilled),afterany:2(failed)' | afterok:1_*(unfulfilled),afterany:2(unfulfilled)",
                "afterok:2(unfulfilled):1_2 | afterok:2(unfulfilled),afterok:1_2(unfulfilled)",
                "'singleton(unfulfilled)' | ''",
                "after:2+5(unfulfilled)   | after:2+5(unfulfilled)",
                "afterok:2(              | Job dependency problem",
                "afterok:2(unheard)       | Job dependency problem",
                "afterok:1_9              | Job dependency problem",
                "afternotok:1_0           | Job dependency problem",
                "afterok:2_1              | Job dependency problem",
                "expand:2                 | Requested operation not supported on this system",
                "1:2                      | Job dependency problem",
                "1,afterok:2              | Job dependency problem",
                "0,afterok:2              | Job dependency problem",
                "2+5                      | Job dependency problem",
                "afterok:1_[1             | Job dependency problem",
                "afterok:1_[a]            | Job dependency problem",
                "afterok:1_[1-3%2]        | Job dependency problem",
                "afterok:1,               | Job dependency problem",
                "'afterok:1?2,singleton'  | Job dependency problem",
                "afterok:4                | Job dependency problem",
                "afterok:3                | Circular job dependency"
            })
    void dependencyIsPrintedAsSlurmPrintsIt(String typed, String shown) {
        String said = typed.replace('~', '\t');
        Cluster cluster = cluster("");
        Play play = new Play(cluster);
        play.lines("""
                submit kind=BATCH timing.hold=true timing.array=1-3
                submit kind=BATCH timing.hold=true
                submit kind=BATCH timing.dependency=afterany:2
                submit kind=BATCH name=other
                """);
        if (shown.matches(".*(ob dependency|not supported).*")) {
            play.lines((shown.startsWith("Circular") ? "update 2" : "update 4") + " dependency=" + said + " -> says "
                    + shown);
            return;
        }
        play.lines("update 4 dependency=" + said + "\npass 1");
        assertThat(Dependency.print(cluster.state().jobs().at(4).dependencies()))
                .isEqualTo(shown);
    }

    /** A dependency on the exit of a job that is not known is refused. */
    @Test
    void exitDependencyOnAnUnknownJobIsRefused() {
        play("""
                submit kind=BATCH timing.dependency=afterok:99    -> says Job dependency problem
                submit kind=BATCH timing.dependency=afternotok:99 -> says Job dependency problem
                submit kind=BATCH timing.dependency=afterany:99   -> 1 PENDING Dependency
                submit kind=BATCH timing.dependency=afterok:1     -> 2 PENDING Dependency
                update 1 dependency=afterok:99                    -> says Job dependency problem
                """);
    }

    @Test
    void invalidTimeLimitUpdateIsRefused() {
        play("""
                submit kind=BATCH timing.timeLimitMin=-1 timing.array=1-3
                update 1 timelimit=+5            -> says Cannot increment/decrement TimeLimit when set to UNLIMITED.
                update 1 timelimit=-5            -> says Cannot increment/decrement TimeLimit when set to UNLIMITED.
                update 1 arraytaskthrottle=2
                update 1 timelimit=5
                update 1 timelimit=-20           -> says TimeLimit decrement larger than current time limit (20 > 5)
                update 1 timelimit=x             -> says Requested time limit is invalid (missing or exceeds some limit)
                update 1 timelimit=+5
                """);
    }

    @Test
    void singletonJobsOfANameRunOneAtATime() {
        play("""
                submit kind=BATCH name=a
                submit kind=BATCH name=b timing.dependency=singleton -> 2 PENDING Dependency
                submit kind=BATCH name=a timing.dependency=singleton -> 3 PENDING Dependency
                submit kind=BATCH name=a timing.dependency=singleton -> 4 PENDING Dependency
                pass 1                     -> 2 PENDING; 3 PENDING Dependency
                schedule
                exited 1 batch 0:0
                done 1 n1
                pass 0                     -> 3 PENDING; 4 PENDING Dependency
                cancel 3
                pass 0                     -> 4 PENDING
                """);
    }

    @Test
    void afterDependencyWaitsMinutesFromTheStart() {
        play("""
                submit kind=BATCH timing.hold=true
                submit kind=BATCH timing.dependency=after:1+5 -> 2 PENDING Dependency
                release 1
                pass 1
                schedule                   -> 1 RUNNING n1
                pass 299                   -> 2 PENDING Dependency
                pass 1                     -> 2 PENDING
                """);
    }

    @Test
    void burstBufferDependencyIsMetByAJobWithoutBuffer() {
        play("""
                submit kind=BATCH
                submit kind=BATCH timing.dependency=afterburstbuffer:1 -> 2 PENDING Dependency
                submit kind=BATCH timing.dependency=afterok:1?afternotok:1 -> 3 PENDING Dependency
                schedule
                exited 1 batch 1:0
                done 1 n1
                pass 1                     -> 2 PENDING; 3 PENDING
                """);
    }

    @Test
    void circularDependencyIsRefused() {
        play("""
                submit kind=BATCH timing.hold=true
                submit kind=BATCH timing.dependency=afterany:1
                submit kind=BATCH timing.dependency=afterany:2
                update 1 dependency=afterany:3 -> says Circular job dependency
                """);
        new Play(cluster("options.max_depend_depth=0")).lines("""
                submit kind=BATCH timing.hold=true
                submit kind=BATCH timing.dependency=afterany:1
                submit kind=BATCH timing.dependency=afterany:2
                update 1 dependency=afterany:3 -> 1 PENDING JobHeldUser
                """);
    }

    @Test
    void incompleteRequeueAffectsOnlyRunningArrayTasks() {
        play("""
                submit kind=BATCH timing.array=1-3%1
                schedule
                exited 2 batch 0:0
                done 2 n1
                schedule
                incomplete 1 -> 1_1 COMPLETED; 1_2 PENDING+COMPLETING+REQUEUED BeginTime restarts=1; 1 PENDING [3]
                """);
    }

    /** The index that is kept beside the state equals a rebuild. */
    @Test
    void dependencyIndexEqualsARebuild() {
        Cluster c = cluster("");
        new Play(c).lines("""
                submit kind=BATCH name=a timing.dependency=singleton
                submit kind=BATCH name=a timing.dependency=singleton
                submit kind=BATCH name=b
                pass 1
                schedule
                cancel 1
                done 1 n1
                cancel 3
                """);
        Core rebuilt = new Core(PlannerSource.find());
        rebuilt.reset(c.state());
        assertThat(rebuilt.due()).isEqualTo(c.core().due());
    }
}
