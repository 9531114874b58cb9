package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which jobs are preempted by which, and how they end. shows: PreemptExemptTime */
class PreemptionTest {
    private static Cluster cluster(String low, String settings) {
        return new Cluster(
                "n[1-2] cpus=2 mem=1000",
                "low nodes=n[1-2] defmempercpu=10 " + low + "\nhigh nodes=n[1-2] prioritytier=2 defmempercpu=10",
                "requeueJobs=true returnToService=1 options.preempt_type=preempt/partition_prio " + settings);
    }

    private static void play(String low, String settings, String lines) {
        new Play(cluster(low, settings)).lines(lines);
    }

    @Test
    void cancelModeEndsTheVictim() {
        play("", "options.preempt_mode=CANCEL", """
                submit kind=BATCH partition=low tasks=2
                submit kind=BATCH partition=low tasks=2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high
                schedule                                -> 2 RUNNING n2; 1 PREEMPTED+COMPLETING 0:15; 3 PENDING
                schedule                                -> 2 RUNNING n2; 3 PENDING
                done 1 n1
                schedule                                -> 3 RUNNING n1
                """);
    }

    /**
     * Preemption requeues a job with --signal=R where its partition's PreemptMode is REQUEUE; every other mode ends it.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            preemptmode=off     | CANCEL       | 1 PREEMPTED+COMPLETING 0:15
            preemptmode=suspend | SUSPEND,GANG | 1 PREEMPTED+COMPLETING 0:15
            preemptmode=requeue | CANCEL       | 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
            """)
    void reserveSignalJobIsPreemptedWhateverTheMode(String low, String mode, String then) {
        play(low, "options.preempt_mode=" + mode, """
                submit kind=BATCH partition=low tasks=4 extras.warnReserve=true
                schedule                                -> 1 RUNNING n[1-2]
                submit kind=BATCH partition=high
                schedule                                -> %s; 2 PENDING
                """.formatted(then));
    }

    /**
     * MaxStartDelay: a job with --signal=R whose warning time is at most that may run into the reservation; other jobs
     * wait.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            maxstartdelay=60 | extras.warnReserve=true extras.warnSeconds=60 | 1 RUNNING n[1-2]
            maxstartdelay=60 | extras.warnReserve=true extras.warnSeconds=61 | 1 PENDING
            maxstartdelay=60 |                                               | 1 PENDING
                             | extras.warnReserve=true                       | 1 PENDING
            """)
    void reserveSignalJobRunsIntoAReservationByMaxStartDelay(String delay, String words, String then) {
        String more = words == null ? "" : " " + words;
        play("preemptmode=off", "options.preempt_mode=CANCEL", """
                reserve r starttime=+0 duration=6000 nodes=n[1-2] users=alice %s
                submit kind=BATCH partition=low tasks=4 timing.timeLimitMin=10%s
                schedule                                -> %s
                submit kind=BATCH partition=low charge.reservation=r timing.timeLimitMin=10
                schedule                                -> %s
                """.formatted(
                        delay == null ? "" : delay,
                        more,
                        then,
                        then.contains("RUNNING") ? "1 PREEMPTED+COMPLETING 0:15; 2 PENDING" : then + "; 2 RUNNING n1"));
    }

    @Test
    void reserveSignalIsRefusedWherePreemptionIsOff() {
        play("", "options.preempt_type=preempt/none options.preempt_mode=OFF", """
                submit kind=BATCH partition=low extras.warnReserve=true -> says Preemption is required but is disabled on this system
                """);
    }

    /** MCS labels keep jobs from being preempted as MCSPlugin and MCSParameters say; job 3 may use n1 alone. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            none  | ondemand,select         |                    |                    | 1 PREEMPTED+COMPLETING 0:15
            label | ondemand,select         | extras.mcsLabel=a  | extras.mcsLabel=a  | 1 PREEMPTED+COMPLETING 0:15
            label | ondemand,select         | extras.mcsLabel=a  | extras.mcsLabel=b  | 1 RUNNING n1
            label | ondemand,select         |                    | extras.mcsLabel=b  | 1 RUNNING n1
            label | ondemand,select         | extras.mcsLabel=a  |                    | 1 RUNNING n1
            label | ondemand,select         |                    |                    | 1 PREEMPTED+COMPLETING 0:15
            label | ondemand,noselect       | extras.mcsLabel=a  | extras.mcsLabel=b  | 1 PREEMPTED+COMPLETING 0:15
            label | ondemand,ondemandselect | extras.mcsLabel=a  | extras.mcsLabel=b  | 1 PREEMPTED+COMPLETING 0:15
            label | ondemand,ondemandselect | extras.mcsLabel=a  | extras.mcsLabel=b exclusive=MCS | 1 RUNNING n1
            """)
    void labelsKeepJobsFromEachOther(String plugin, String parameters, String first, String second, String then) {
        play(
                "",
                "options.preempt_mode=CANCEL options.mcs_plugin=mcs/" + plugin + " options.mcs_parameters="
                        + parameters,
                """
                submit kind=BATCH partition=low tasks=2 nodeList=n1 %s
                submit kind=BATCH partition=low tasks=2 nodeList=n2
                schedule                                -> 1 RUNNING n1
                submit kind=BATCH partition=high tasks=2 nodeList=n1 %s
                schedule                                -> %s; 3 PENDING
                """.formatted(first == null ? "" : first, second == null ? "" : second, then));
    }

    @Test
    void jobIsNotPreemptedByItsOwnTierOrWithoutNeed() {
        play("", "options.preempt_mode=CANCEL", """
                submit kind=BATCH partition=low tasks=2
                schedule                                -> 1 RUNNING n1
                submit kind=BATCH partition=low tasks=4
                submit kind=BATCH partition=high
                schedule                                -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n2
                """);
        play("preemptmode=off", "options.preempt_mode=CANCEL", """
                submit kind=BATCH partition=low tasks=4
                schedule                                -> 1 RUNNING n[1-2]
                submit kind=BATCH partition=high
                schedule                                -> 1 RUNNING n[1-2]; 2 PENDING
                """);
        play("", "options.preempt_mode=OFF", """
                submit kind=BATCH partition=low tasks=4
                schedule                                -> 1 RUNNING n[1-2]
                submit kind=BATCH partition=high
                schedule                                -> 1 RUNNING n[1-2]; 2 PENDING
                """);
    }

    @Test
    void fewestJobsThatMakeRoomArePreempted() {
        play("", "options.preempt_mode=CANCEL", """
                submit kind=BATCH partition=low
                submit kind=BATCH partition=low
                submit kind=BATCH partition=low
                submit kind=BATCH partition=low
                schedule                                -> 1 RUNNING n1; 2 RUNNING n1; 3 RUNNING n2; 4 RUNNING n2
                submit kind=BATCH partition=high nodeList=n1 tasks=2 nodesMin=1 nodesMax=1
                schedule -> 1 PREEMPTED+COMPLETING 0:15; 2 PREEMPTED+COMPLETING 0:15; 3 RUNNING n2; 4 RUNNING n2
                """);
    }

    @Test
    void eachPreemptingJobEvictsItsOwnVictim() {
        play("", "options.preempt_mode=CANCEL", """
                submit kind=BATCH partition=low tasks=2
                submit kind=BATCH partition=low tasks=2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high tasks=2
                submit kind=BATCH partition=high tasks=2
                schedule               -> 1 PREEMPTED+COMPLETING 0:15; 2 PREEMPTED+COMPLETING 0:15; 3 PENDING; 4 PENDING
                done 2 n2
                schedule                                -> 3 RUNNING n2; 4 PENDING
                done 1 n1
                schedule                                -> 4 RUNNING n1
                """);
    }

    @Test
    void jobsThatFitInOneVictimsRoomPreemptNoOther() {
        play("", "options.preempt_mode=CANCEL", """
                submit kind=BATCH partition=low tasks=2
                submit kind=BATCH partition=low tasks=2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high
                submit kind=BATCH partition=high
                schedule               -> 2 RUNNING n2; 1 PREEMPTED+COMPLETING 0:15; 3 PENDING; 4 PENDING
                schedule               -> 2 RUNNING n2; 3 PENDING; 4 PENDING
                done 1 n1
                schedule                                -> 2 RUNNING n2; 3 RUNNING n1; 4 RUNNING n1
                """);
    }

    /**
     * Job 3 waits for n1 and n2 and no job is preempted for it; a job behind it cannot use the nodes that are reserved
     * for it.
     */
    @Test
    void preemptionAvoidsNodesReservedForAnotherJob() {
        Cluster c = new Cluster(
                "n[1-3] cpus=2 mem=1000",
                "p nodes=n[1-3] default=yes defmempercpu=10",
                "requeueJobs=true options.preempt_type=preempt/qos options.preempt_mode=CANCEL");
        c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(),
                List.of(
                        new DbdMessages.QosPolicy(1, "normal", new TreeMap<>()),
                        new DbdMessages.QosPolicy(2, "soft", new TreeMap<>()),
                        new DbdMessages.QosPolicy(3, "urgent", new TreeMap<>(Map.of("Preempt", "soft")))),
                List.of(),
                List.of())));
        new Play(c).lines("""
                submit kind=BATCH charge.qos=normal nodeList=n2 tasks=2 timing.timeLimitMin=60
                submit kind=BATCH charge.qos=soft nodeList=n3 tasks=2 timing.timeLimitMin=600
                schedule                              -> 1 RUNNING n2; 2 RUNNING n3
                submit kind=BATCH charge.qos=normal nodeList=n[1-2] tasks=4 timing.timeLimitMin=600
                submit kind=BATCH charge.qos=urgent tasks=2 timing.timeLimitMin=600
                schedule                              -> 1 RUNNING n2; 2 PREEMPTED+COMPLETING 0:15; 3 PENDING; 4 PENDING
                submit kind=BATCH charge.qos=normal tasks=2 timing.timeLimitMin=30
                schedule                              -> 5 RUNNING n1 ahead; 4 PENDING
                done 2 n3
                schedule                              -> 4 RUNNING n3 ahead; 3 PENDING
                """);
    }

    /**
     * The order of victims of two partitions: by number whatever their priority, or the youngest first; victims that
     * were chosen already make room for the first preemptors.
     */
    @Test
    void victimsAreTakenByNumberOrYoungestFirst() {
        for (String line : List.of("options.x=y | 1,2 3,4", "options.preempt_youngest_first=yes | 3,4 1,2")) {
            Cluster c = new Cluster(
                    "n[1-4] cpus=1 mem=1000",
                    "a nodes=n[1-4] defmempercpu=10\nb nodes=n[1-4] defmempercpu=10\n"
                            + "high nodes=n[1-4] prioritytier=2 defmempercpu=10",
                    "options.preempt_type=preempt/partition_prio options.preempt_mode=CANCEL "
                            + line.split(" \\| ")[0]);
            Scheduler s = (Scheduler) c.core().planner();
            c.accept("partition=a timing.nice=10");
            c.accept("partition=b timing.nice=31");
            c.schedule();
            c.jump(10, 0);
            c.accept("partition=a timing.nice=30");
            c.accept("partition=b timing.nice=20");
            c.schedule();
            String out = "";
            for (int twice = 0; twice < 2; twice++) {
                c.accept("partition=high");
                c.accept("partition=high");
                s.starts(c.state(), new DecisionTime(c.seconds() * 1000, c.seconds() * 1000), 100);
                out += " "
                        + String.join(
                                ",",
                                s.preemptions().stream()
                                        .map(p -> "" + p.jobId())
                                        .toList());
                c.schedule();
            }
            assertThat(out.strip()).as(line).isEqualTo(line.split(" \\| ")[1]);
        }
    }

    @Test
    void requeuedVictimRunsAgain() {
        play("", "options.preempt_mode=REQUEUE options.requeue_delay=30", """
                submit kind=BATCH partition=low tasks=4
                submit kind=ALLOCATION partition=low
                schedule                                -> 1 RUNNING n[1-2]
                submit kind=BATCH partition=high tasks=4
                schedule                                -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                done 1 n1
                done 1 n2
                schedule                                -> 3 RUNNING n[1-2]; 1 PENDING+REQUEUED BeginTime restarts=1
                cancel 2
                exited 3 batch 0:0
                done 3 n1
                done 3 n2
                pass 28
                schedule                                -> 1 PENDING+REQUEUED BeginTime restarts=1
                pass 3
                schedule                                -> 1 RUNNING n[1-2] restarts=1
                """);
    }

    @Test
    void suspendedVictimResumesWhenItsCoresAreFree() {
        play("", "options.preempt_mode=SUSPEND,GANG", """
                submit kind=BATCH partition=low tasks=4 timing.timeLimitMin=10
                schedule                                -> 1 RUNNING n[1-2]
                submit kind=BATCH partition=high exclusive=NODE memPerNodeMb=100
                schedule                                -> 1 SUSPENDED n[1-2]; 2 RUNNING n1
                submit kind=BATCH partition=low
                submit kind=BATCH partition=low timing.timeLimitMin=1
                schedule                                -> 1 SUSPENDED n[1-2]; 3 PENDING; 4 PENDING
                submit kind=BATCH partition=high memPerNodeMb=100
                schedule                                -> 1 SUSPENDED n[1-2]; 3 PENDING; 5 RUNNING n2
                exited 5 batch 0:0
                done 5 n2
                exited 2 batch 0:0
                schedule                                -> 1 SUSPENDED n[1-2]; 3 PENDING
                done 2 n1
                schedule                                -> 1 RUNNING n[1-2]; 3 PENDING; 4 PENDING
                cancel 1
                exited 1 batch 0:15
                done 1 n1
                done 1 n2
                schedule                                -> 3 RUNNING n1; 4 RUNNING n1
                """);
    }

    @Test
    void victimRunsForExemptionAndGraceTime() {
        play("gracetime=30", "options.preempt_mode=CANCEL options.preempt_exempt_s=60", """
                submit kind=BATCH partition=low tasks=4
                schedule                                -> 1 RUNNING n[1-2]
                launched 1 batch
                submit kind=BATCH partition=high
                schedule                                -> 1 RUNNING n[1-2]; 2 PENDING
                pass 60
                schedule                                -> 1 RUNNING n[1-2]; 2 PENDING
                pass 29
                schedule                                -> 1 RUNNING n[1-2]
                pass 1                                  -> 1 PREEMPTED+COMPLETING 0:15
                """);
    }

    /**
     * reclaim_licenses: a job is preempted for licenses that it holds, wherever it runs, and not if it holds none of
     * them.
     */
    @Test
    void licensesAreReclaimed() {
        play("", "options.preempt_mode=CANCEL options.licenses=m:3,k:1", """
                submit kind=BATCH partition=low licenses=m:2 nodeList=n1
                schedule                                -> 1 RUNNING n1
                submit kind=BATCH partition=high licenses=m:2
                schedule                                -> 1 RUNNING n1; 2 PENDING
                why 2                                   -> says (Licenses)
                """);
        String reclaim =
                "options.preempt_mode=CANCEL options.preempt_parameters=reclaim_licenses options.licenses=m:3,k:1";
        play("", reclaim, """
                submit kind=BATCH partition=low licenses=m:2 nodeList=n1
                submit kind=BATCH partition=low nodeList=n2
                submit kind=BATCH partition=low licenses=k nodeList=n2
                schedule     -> 1 RUNNING n1; 2 RUNNING n2; 3 RUNNING n2
                submit kind=BATCH partition=low licenses=m:2
                submit kind=BATCH partition=high licenses=m:2
                submit kind=BATCH partition=high licenses=m:2
                schedule     -> 1 PREEMPTED+COMPLETING 0:15; 2 RUNNING n2; 3 RUNNING n2; 4 PENDING; 5 PENDING; 6 PENDING
                schedule     -> 2 RUNNING n2; 3 RUNNING n2; 4 PENDING; 5 RUNNING n1; 6 PENDING
                why 6        -> says (Licenses)
                """);
        play("", reclaim, """
                submit kind=BATCH partition=low licenses=m:2 nodeList=n1 tasks=2
                submit kind=BATCH partition=low tasks=2
                schedule                          -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high licenses=m:2 tasks=2 nodeList=n2
                schedule                          -> 1 PREEMPTED+COMPLETING 0:15; 2 PREEMPTED+COMPLETING 0:15; 3 PENDING
                done 1 n1
                done 2 n2
                schedule                          -> 3 RUNNING n2
                """);
        play("", reclaim, """
                submit kind=BATCH partition=low licenses=m:2 nodeList=n1
                submit kind=BATCH partition=low licenses=k nodeList=n2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high licenses=m:2|k
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2; 3 PENDING
                why 3                                   -> says (Licenses)
                """);
        play("", reclaim.replace("CANCEL", "SUSPEND,GANG"), """
                submit kind=BATCH partition=low licenses=m:2 nodeList=n1
                schedule                                -> 1 RUNNING n1
                submit kind=BATCH partition=high licenses=m:2
                schedule                                -> 1 RUNNING n1; 2 PENDING
                """);
    }

    /** A job that ends within its grace time is PREEMPTED, whatever its exit code. */
    @Test
    void jobThatEndsInItsGraceTimeIsPreempted() {
        for (String row : List.of(
                "CANCEL -> 1 PREEMPTED+COMPLETING", "REQUEUE -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1")) {
            play("gracetime=30", "options.preempt_mode=" + row.substring(0, row.indexOf(' ')), """
                    submit kind=BATCH partition=low tasks=4
                    schedule                                -> 1 RUNNING n[1-2]
                    launched 1 batch
                    submit kind=BATCH partition=high
                    schedule                                -> 1 RUNNING n[1-2]; 2 PENDING
                    exited 1 batch 0:0                      %s
                    """.formatted(
                            row.substring(row.indexOf('-'))));
        }
    }

    /**
     * The job of the lower QOS goes, whatever the priorities of the two; so does that in the partition of the lower
     * tier.
     */
    @Test
    void jobOfTheLowestQosIsPreemptedFirst() {
        Cluster c = new Cluster(
                "n[1-2] cpus=1 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10",
                "requeueJobs=true options.preempt_type=preempt/qos options.preempt_mode=CANCEL");
        c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(),
                List.of(
                        new DbdMessages.QosPolicy(1, "normal", new TreeMap<>(Map.of("Priority", "20"))),
                        new DbdMessages.QosPolicy(2, "low", new TreeMap<>(Map.of("Priority", "10"))),
                        new DbdMessages.QosPolicy(3, "urgent", new TreeMap<>(Map.of("Preempt", "normal,low")))),
                List.of(),
                List.of())));
        new Play(c).lines("""
                submit kind=BATCH charge.qos=low
                submit kind=BATCH charge.qos=normal timing.nice=1000
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH charge.qos=urgent
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15; 2 RUNNING n2; 3 PENDING
                """);
        new Play(new Cluster(
                        "n[1-2] cpus=1 mem=1000",
                        "a nodes=n[1-2] defmempercpu=10\nb nodes=n[1-2] prioritytier=2 defmempercpu=10\n"
                                + "high nodes=n[1-2] prioritytier=3 defmempercpu=10",
                        "options.preempt_type=preempt/partition_prio options.preempt_mode=CANCEL"))
                .lines("""
                submit kind=BATCH partition=a
                submit kind=BATCH partition=b timing.nice=1000
                schedule                                -> 1 RUNNING n2; 2 RUNNING n1
                submit kind=BATCH partition=high
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15; 2 RUNNING n1; 3 PENDING
                """);
    }

    /** The job on the fewest nodes is preempted first within a partition; then the start time decides. */
    @Test
    void jobOnFewestNodesIsPreemptedFirst() {
        new Play(new Cluster(
                        "n[1-3] cpus=1 mem=1000",
                        "low nodes=n[1-3] defmempercpu=10\nhigh nodes=n[1-3] prioritytier=2 defmempercpu=10",
                        "options.preempt_type=preempt/partition_prio options.preempt_mode=CANCEL"))
                .lines("""
                submit kind=BATCH partition=low nodeList=n3
                schedule                                -> 1 RUNNING n3
                pass 10
                submit kind=BATCH partition=low nodesMin=2 nodesMax=2 timing.nice=1000
                schedule                                -> 2 RUNNING n[1-2]
                submit kind=BATCH partition=high
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15; 2 RUNNING n[1-2]; 3 PENDING
                """);
    }

    /** PreemptMode=OFF of a QOS means the cluster's mode; the Preempt lists say which QOS are preempted. */
    @Test
    void aQosWithoutAWayHasTheClusters() {
        Cluster c = new Cluster(
                "n1 cpus=1 mem=1000",
                "p nodes=n1 default=yes defmempercpu=10",
                "requeueJobs=true options.preempt_type=preempt/qos options.preempt_mode=CANCEL");
        c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(),
                List.of(
                        new DbdMessages.QosPolicy(1, "soft", new TreeMap<>(Map.of("PreemptMode", "OFF"))),
                        new DbdMessages.QosPolicy(2, "urgent", new TreeMap<>(Map.of("Preempt", "soft")))),
                List.of(),
                List.of())));
        new Play(c).lines("""
                submit kind=BATCH charge.qos=soft
                schedule                                -> 1 RUNNING n1
                submit kind=BATCH charge.qos=urgent
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15; 2 PENDING
                """);
    }

    /** A pass is asked for again when the time has come that alone makes a start possible, and not before. */
    @Test
    void passIsDueWhenAPreemptExemptionEnds() {
        Cluster c = cluster("", "options.preempt_mode=CANCEL options.preempt_exempt_s=60");
        Play play = new Play(c);
        play.lines("""
                submit kind=BATCH partition=low tasks=4
                schedule                                -> 1 RUNNING n[1-2]
                submit kind=BATCH partition=high
                schedule                                -> 1 RUNNING n[1-2]; 2 PENDING
                """);
        long began = c.state().jobs().at(1).run().startTime();
        assertThat(c.core().due().takeLook(began + 59)).isFalse();
        assertThat(c.core().due().takeLook(began + 60)).isTrue();
        play.lines("""
                pass 60
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15
                """);
        assertThat(c.core().due().takeLook(began + 600)).isFalse();
    }

    /** SIGCONT and SIGTERM go to the tasks; the batch script goes on until the grace is over. */
    @Test
    void graceTimeBeginsWithTheRequestedSignals() {
        for (String row : """
                ;                                            ; 0:18 0:15
                extras.warnSignal=10                         ; 0:18 0:15
                extras.warnSignal=10 send_user_signal        ; 0:18 0:10
                extras.warnSignal=10 extras.warnBatchOnly=true send_user_signal ; batch:18 batch:10
                """.lines().map(l -> l.replaceFirst("^;", "")).toList()) {
            String[] cells = row.split(";");
            Cluster c = cluster(
                    "gracetime=30",
                    "options.preempt_mode=CANCEL"
                            + (row.contains("send_user") ? " options.preempt_parameters=send_user_signal" : ""));
            new Play(c)
                    .lines("submit kind=BATCH partition=low tasks=4 "
                            + cells[0].replace("send_user_signal", "").strip() + """

                    schedule                                -> 1 RUNNING n[1-2]
                    launched 1 batch
                    step 1 4
                    launched 1 0
                    submit kind=BATCH partition=high
                    """);
            Decision d = c.apply(new Command.Schedule(100));
            String told = String.join(
                    " ",
                    ((Decision.Accepted) d)
                            .direct().stream()
                                    .map(o -> (NodeMessages.Signal) o.message())
                                    .map(s -> (s.stepId() < 0 ? s.batchShell() ? "batch" : "whole batch" : s.stepId())
                                            + ":" + s.signal())
                                    .distinct()
                                    .toList());
            assertThat(told).as(row).isEqualTo(cells[1].strip());
        }
    }

    @Test
    void jobsArePreemptedByTheModeOfTheirQos() {
        Cluster c = new Cluster(
                "n1 cpus=2 mem=1000",
                "p nodes=n1 default=yes defmempercpu=10",
                "requeueJobs=true options.preempt_type=preempt/qos options.preempt_mode=CANCEL");
        c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(),
                List.of(
                        new DbdMessages.QosPolicy(1, "normal", new TreeMap<>()),
                        new DbdMessages.QosPolicy(2, "soft", new TreeMap<>(Map.of("PreemptMode", "REQUEUE"))),
                        new DbdMessages.QosPolicy(3, "urgent", new TreeMap<>(Map.of("Preempt", "normal,soft")))),
                List.of(),
                List.of())));
        new Play(c).lines("""
                submit kind=BATCH charge.qos=normal
                submit kind=BATCH charge.qos=soft
                schedule              -> 1 RUNNING n1; 2 RUNNING n1
                submit kind=BATCH charge.qos=normal tasks=2
                schedule              -> 3 PENDING
                submit kind=BATCH charge.qos=urgent tasks=2
                schedule              -> 1 PREEMPTED+COMPLETING 0:15; 2 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                """);
    }

    /** WITHIN of a QOS says which jobs it preempts; the mode is the cluster's. */
    @Test
    void withinModeLetsHigherPriorityPreemptInAQos() {
        Cluster c = new Cluster(
                "n1 cpus=2 mem=1000",
                "p nodes=n1 default=yes defmempercpu=10",
                "requeueJobs=true options.preempt_type=preempt/qos options.preempt_mode=CANCEL");
        c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(),
                List.of(
                        new DbdMessages.QosPolicy(1, "normal", new TreeMap<>()),
                        new DbdMessages.QosPolicy(2, "in", new TreeMap<>(Map.of("PreemptMode", "WITHIN")))),
                List.of(),
                List.of())));
        new Play(c).lines("""
                submit kind=BATCH charge.qos=in timing.nice=50
                submit kind=BATCH charge.qos=normal timing.nice=50
                schedule                                -> 1 RUNNING n1; 2 RUNNING n1
                submit kind=BATCH charge.qos=in timing.nice=100
                submit kind=BATCH charge.qos=normal
                schedule                                -> 1 RUNNING n1; 2 RUNNING n1; 3 PENDING; 4 PENDING
                cancel 4
                submit kind=BATCH charge.qos=in
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15; 2 RUNNING n1
                """);
    }

    @Test
    void aHigherTierAloneIsNotEnoughWithPriority() {
        Cluster c = new Cluster(
                "n1 cpus=1 mem=1000",
                "low nodes=n1 defmempercpu=10\nhigh nodes=n1 prioritytier=2 defmempercpu=10",
                "requeueJobs=true options.preempt_type=preempt/partition_prio options.preempt_mode=CANCEL,PRIORITY");
        new Play(c).lines("""
                submit kind=BATCH partition=low timing.nice=50
                schedule                                -> 1 RUNNING n1
                submit kind=BATCH partition=high timing.nice=100
                schedule                                -> 1 RUNNING n1; 2 PENDING
                submit kind=BATCH partition=high
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15
                """);
    }

    private static Cluster three() {
        return new Cluster(
                "n[1-2] cpus=2 mem=1000",
                "low nodes=n[1-2] defmempercpu=10\nstays nodes=n[1-2] defmempercpu=10 preemptmode=OFF\n"
                        + "high nodes=n[1-2] prioritytier=2 defmempercpu=10",
                "requeueJobs=true options.preempt_type=preempt/partition_prio" + " options.preempt_mode=CANCEL");
    }

    @Test
    void aHeterogeneousJobGoesAsAWhole() {
        new Play(three()).lines("""
                het kind=BATCH partition=low tasks=2 : kind=BATCH partition=low tasks=2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high tasks=2 request.nodeList=n2
                schedule                                -> 1 PREEMPTED+COMPLETING 0:15; 2 PREEMPTED+COMPLETING 0:15
                """);
    }

    /**
     * A heterogeneous job is suspended for a job that needs one of its nodes, and resumes when all of them are free.
     */
    @Test
    void aHeterogeneousJobStopsAndGoesOnAsAWhole() {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "low nodes=n[1-2] defmempercpu=10\nhigh nodes=n[1-2] prioritytier=2 defmempercpu=10",
                        "options.preempt_type=preempt/partition_prio options.preempt_mode=SUSPEND,GANG"))
                .lines("""
                het kind=BATCH partition=low tasks=2 : kind=BATCH partition=low tasks=2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high tasks=2 request.nodeList=n2
                schedule                                -> 1 SUSPENDED n1; 2 SUSPENDED n2; 3 RUNNING n2
                submit kind=BATCH partition=high tasks=2 request.nodeList=n1
                schedule                                -> 1 SUSPENDED n1; 2 SUSPENDED n2; 3 RUNNING n2; 4 RUNNING n1
                exited 3 batch 0:0
                done 3 n2
                schedule                                -> 1 SUSPENDED n1; 2 SUSPENDED n2; 4 RUNNING n1
                exited 4 batch 0:0
                done 4 n1
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                submit kind=BATCH partition=high tasks=4
                schedule                                -> 1 SUSPENDED n1; 2 SUSPENDED n2; 5 RUNNING n[1-2]
                """);
    }

    @Test
    void hetJobIsNotPreemptedIfOneComponentStays() {
        for (String parts : new String[] {"low,stays,n1", "stays,low,n2"}) {
            String[] p = parts.split(",");
            new Play(three()).lines("""
                    het kind=BATCH partition=%s tasks=2 : kind=BATCH partition=%s tasks=2
                    schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                    submit kind=BATCH partition=high tasks=2 request.nodeList=%s
                    schedule                                -> 1 RUNNING n1; 2 RUNNING n2; 3 PENDING
                    """.formatted(p[0], p[1], p[2]));
        }
    }

    @Test
    void aHeterogeneousJobHasRoomMadeForAllComponentsOrForNone() {
        new Play(three()).lines("""
                submit kind=BATCH partition=low tasks=2
                submit kind=BATCH partition=low tasks=2
                schedule               -> 1 RUNNING n1; 2 RUNNING n2
                het kind=BATCH partition=high tasks=2 : kind=BATCH partition=high tasks=2
                schedule               -> 1 PREEMPTED+COMPLETING 0:15; 2 PREEMPTED+COMPLETING 0:15; 3 PENDING; 4 PENDING
                done 1 n1
                submit kind=BATCH partition=low
                schedule               -> 3 PENDING; 4 PENDING; 5 PENDING
                done 2 n2
                schedule               -> 3 RUNNING n1; 4 RUNNING n2; 5 PENDING
                """);
        new Play(three()).lines("""
                submit kind=BATCH partition=low tasks=2
                submit kind=BATCH partition=stays tasks=2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2
                het kind=BATCH partition=high tasks=2 : kind=BATCH partition=high tasks=2
                schedule                                -> 1 RUNNING n1; 2 RUNNING n2; 3 PENDING; 4 PENDING
                """);
    }
}
