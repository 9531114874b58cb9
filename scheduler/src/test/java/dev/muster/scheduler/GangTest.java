package dev.muster.scheduler;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.accounting.DbdMessages;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Jobs that take turns on the same cores, ten seconds each. shows: SchedulerTimeSlice */
class GangTest {
    private static void play(String partitions, String lines) {
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", partitions, "options.preempt_mode=GANG options.gang_slice_s=10"))
                .lines(lines);
    }

    @Test
    void gangJobsTakeTurns() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:3", """
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2
                schedule               -> 1 RUNNING n1; 2 RUNNING n1; 3 RUNNING n1; 4 PENDING
                pass 1                 -> 1 RUNNING n1; 2 SUSPENDED n1; 3 SUSPENDED n1
                pass 8                 -> 1 RUNNING n1; 2 SUSPENDED n1; 3 SUSPENDED n1
                pass 2                 -> 1 SUSPENDED n1; 2 RUNNING n1; 3 SUSPENDED n1
                schedule               -> 4 PENDING
                pass 11                -> 1 SUSPENDED n1; 2 SUSPENDED n1; 3 RUNNING n1
                pass 11                -> 1 RUNNING n1; 2 SUSPENDED n1; 3 SUSPENDED n1
                """);
    }

    /** Jobs that take turns all leave their cores to a higher tier, and take turns again when it has gone. */
    @Test
    void suspendedGangJobYieldsToAHigherTierToo() {
        for (String mode : new String[] {"GANG,SUSPEND", "GANG,CANCEL"}) {
            boolean stops = mode.endsWith("SUSPEND");
            new Play(new Cluster(
                            "n1 cpus=2 mem=1000",
                            "low nodes=n1 defmempercpu=10 oversubscribe=FORCE:2\n"
                                    + "high nodes=n1 prioritytier=2 defmempercpu=10 oversubscribe=FORCE:2",
                            "options.preempt_type=preempt/partition_prio options.gang_slice_s=10 options.preempt_mode="
                                    + mode))
                    .lines("""
                    submit kind=BATCH partition=low tasks=2
                    submit kind=BATCH partition=low tasks=2
                    schedule               -> 1 RUNNING n1; 2 RUNNING n1
                    pass 1                 -> 1 RUNNING n1; 2 SUSPENDED n1
                    submit kind=BATCH partition=high tasks=2
                    """ + (!stops ? """
                    schedule               -> 1 PREEMPTED+COMPLETING 0:15; 2 PREEMPTED+COMPLETING 0:15; 3 PENDING
                    done 1 n1
                    done 2 n1
                    schedule               -> 3 RUNNING n1
                    """ : """
                    schedule               -> 1 SUSPENDED n1; 2 SUSPENDED n1; 3 RUNNING n1
                    pass 11                -> 1 SUSPENDED n1; 2 SUSPENDED n1; 3 RUNNING n1
                    submit kind=BATCH partition=high tasks=2
                    submit kind=BATCH partition=low tasks=2
                    schedule               -> 4 RUNNING n1; 5 PENDING
                    pass 1                 -> 1 SUSPENDED n1; 2 SUSPENDED n1; 3 SUSPENDED n1; 4 RUNNING n1
                    exited 4 batch 0:0
                    done 4 n1
                    pass 1                 -> 3 RUNNING n1
                    exited 3 batch 0:0
                    done 3 n1
                    schedule               -> 1 RUNNING n1; 2 RUNNING n1; 5 PENDING
                    pass 1                 -> 1 RUNNING n1; 2 SUSPENDED n1
                    pass 11                -> 1 SUSPENDED n1; 2 RUNNING n1; 5 PENDING
                    """));
        }
    }

    /**
     * A job takes turns by QOS with a preemptor of its own partition; a preemptor of another partition suspends it, and
     * no job of its own partition gets its cores meanwhile.
     */
    @Test
    void jobsTakeTurnsByQosWithinOnePartition() {
        for (String partition : new String[] {"p", "q"}) {
            boolean turns = partition.equals("p");
            Cluster c = new Cluster(
                    "n[1-2] cpus=2 mem=1000",
                    "p nodes=n[1-2] default=yes defmempercpu=10\n" + "q nodes=n[1-2] prioritytier=2 defmempercpu=10",
                    "options.preempt_type=preempt/qos options.preempt_mode=SUSPEND,GANG options.gang_slice_s=10");
            c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                    List.of(),
                    List.of(
                            new DbdMessages.QosPolicy(1, "normal", Map.of()),
                            new DbdMessages.QosPolicy(2, "urgent", Map.of("Preempt", "normal"))),
                    List.of(),
                    List.of())));
            new Play(c).lines("""
                    submit kind=BATCH partition=p charge.qos=normal tasks=4
                    schedule               -> 1 RUNNING n[1-2]
                    submit kind=BATCH charge.qos=urgent tasks=2 partition=%s
                    submit kind=BATCH partition=p charge.qos=normal
                    schedule               -> 1 SUSPENDED n[1-2]; 2 RUNNING n1; 3 PENDING
                    pass 11
                    schedule               -> %s; 3 PENDING
                    exited 2 batch 0:0
                    done 2 n1
                    settle
                    schedule               -> 1 RUNNING n[1-2]; 3 PENDING
                    """.formatted(
                    partition, turns ? "1 RUNNING n[1-2]; 2 SUSPENDED n1" : "1 SUSPENDED n[1-2]; 2 RUNNING n1"));
        }
    }

    @Test
    void suspendedGangJobResumesWhenTheOtherEnds() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2
                schedule               -> 1 RUNNING n1; 2 RUNNING n1
                pass 1                 -> 2 SUSPENDED n1
                exited 1 batch 0:0
                done 1 n1
                pass 1                 -> 2 RUNNING n1
                """);
    }

    @Test
    void secondGangJobIsSuspendedAtItsStart() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p tasks=2
                schedule               -> 1 RUNNING n1
                settle                 -> 1 RUNNING n1
                submit kind=BATCH partition=p tasks=2
                schedule
                settle                 -> 1 RUNNING n1; 2 SUSPENDED n1
                exited 1 batch 0:0
                done 1 n1
                settle                 -> 2 RUNNING n1
                """);
    }

    /**
     * Jobs that have not asked for cores of their own all share where sharing is allowed: they do not run side by side.
     */
    @Test
    void gangJobsShareCoresWhereOversubscribeIsYes() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=YES:2", """
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2
                schedule               -> 1 RUNNING n1; 2 RUNNING n1; 3 PENDING
                settle                 -> 1 RUNNING n1; 2 SUSPENDED n1
                cancel 1
                done 1 n1
                settle                 -> 2 RUNNING n1; 3 PENDING
                schedule
                settle                 -> 2 RUNNING n1; 3 SUSPENDED n1
                """);
        play("p nodes=n1 defmempercpu=10 oversubscribe=YES:2", """
                submit kind=BATCH partition=p exclusive=NODE
                submit kind=BATCH partition=p
                schedule               -> 1 RUNNING n1; 2 PENDING
                """);
        play("p nodes=n1 defmempercpu=10 oversubscribe=NO", """
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2
                schedule               -> 1 RUNNING n1; 2 PENDING
                """);
    }

    /**
     * A job with --oversubscribe does not join jobs that run without it; a job without it may join jobs that run with
     * it.
     */
    @Test
    void oversubscribeJobJoinsNoJobThatRunsWithoutIt() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=YES:3", """
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                schedule               -> 1 RUNNING n1; 2 PENDING
                cancel 1
                done 1 n1
                schedule               -> 2 RUNNING n1
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                schedule               -> 3 RUNNING n1
                submit kind=BATCH partition=p tasks=2
                schedule               -> 4 RUNNING n1
                """);
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                schedule               -> 1 RUNNING n1; 2 RUNNING n1
                """);
    }

    @Test
    void gangJobIsSuspendedOnlyForJobsOnItsCores() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p tasks=1
                submit kind=BATCH partition=p tasks=1
                submit kind=BATCH partition=p tasks=2
                schedule               -> 1 RUNNING n1; 2 RUNNING n1; 3 RUNNING n1
                pass 1                 -> 1 RUNNING n1; 2 RUNNING n1; 3 SUSPENDED n1
                pass 10                -> 1 SUSPENDED n1; 2 SUSPENDED n1; 3 RUNNING n1
                step 2 1               -> says Requested operation is presently disabled
                cancel 1               -> 1 CANCELLED+COMPLETING 'by 1000'
                """);
    }

    /** Both components have their turn, or none: also the one that is alone on its node. */
    @Test
    void componentsOfOneJobHaveTheirTurnsTogether() {
        play("p nodes=n[1-2] defmempercpu=10 oversubscribe=FORCE:2", """
                het kind=BATCH partition=p tasks=2 request.nodeList=n1 : kind=BATCH partition=p tasks=2 request.nodeList=n2
                schedule               -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=p tasks=2 request.nodeList=n2
                schedule
                pass 1                 -> 1 RUNNING n1; 2 RUNNING n2; 3 SUSPENDED n2
                pass 10                -> 1 SUSPENDED n1; 2 SUSPENDED n2; 3 RUNNING n2
                pass 11                -> 1 RUNNING n1; 2 RUNNING n2; 3 SUSPENDED n2
                cancel 3               -> 3 CANCELLED+COMPLETING 'by 1000'
                """);
    }
}
