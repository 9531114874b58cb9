package dev.muster.core.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Decision;
import dev.muster.core.options.PowerSavingOptions;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Idle nodes are suspended, and resumed when a job needs them. */
class PowerSavingTimesTest {
    private static final String BOTH =
            "requeueJobs=true options.power:starts=true options.power:stops=true options.power:stop=30"
                    + " options.power:start=60 ";

    /** A node is powered down for lack of work, and a job that needs it is placed there. */
    private static final String JOB_OF_A_SLEEPING_NODE = """
            pass 100                              -> n1 free+POWERING_DOWN
            pass 30                               -> n1 free+POWERED_DOWN
            submit kind=BATCH
            schedule                              -> 1 RUNNING+CONFIGURING n1
            """;

    private static void play(String settings, String lines) {
        new Play(new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-2] default=yes\nq nodes=n3", BOTH + settings))
                .lines(lines);
    }

    @Test
    void nodesAreStartedAndStoppedNoMoreOftenThanAsked() {
        play("options.power:idle=100 options.power:rest=10", JOB_OF_A_SLEEPING_NODE + """
                pass 5                                -> n1 holds [1]+POWERED_DOWN+POWER_UP
                pass 5                                -> n1 holds [1]+POWERING_UP
                """);
    }

    @Test
    void jobsOfANodeThatIsForcedDownBeforeItsStartWaitAgain() {
        play("options.power:idle=100 options.power:rest=10", JOB_OF_A_SLEEPING_NODE + """
                node n1 state=power_down_force        -> n1 free+POWER_DOWN; 1 PENDING+REQUEUED BeginTime restarts=1
                pass 10                               -> n1 free+POWERING_DOWN
                pass 30                               -> n1 free+POWERED_DOWN
                """);
    }

    @Test
    void anIdleNodeIsStoppedAndStartedForAJob() {
        play("options.power:idle=100", """
                pass 99                               -> n1 free
                pass 1                                -> n1 free+POWERING_DOWN; n2 free+POWERING_DOWN
                submit kind=BATCH
                schedule                              -> 1 PENDING
                why 1                                 -> says (Resources)
                pass 30                               -> n1 free+POWERED_DOWN
                register n1 boot                      -> n1 free+POWERED_DOWN
                schedule                              -> 1 RUNNING+CONFIGURING n1
                pass 1                                -> n1 holds [1]+POWERING_UP
                pass 59                               -> n1 holds [1]+POWERING_UP; 1 RUNNING+CONFIGURING n1
                register n1 boot2                     -> n1 holds [1]
                prolog 1 n1                           -> 1 RUNNING n1
                exited 1 batch 0:0
                done 1 n1                             -> n1 free
                pass 99                               -> n1 free
                pass 1                                -> n1 free+POWERING_DOWN
                """);
    }

    /**
     * A job that asked not to be requeued is requeued when its node does not come up, if requeue_on_resume_failure is
     * set.
     */
    @Test
    void noRequeueJobIsRequeuedOnResumeFailureIfSet() {
        for (String word : List.of("", " options.requeue_on_resume_failure=yes")) {
            String after = word.isEmpty() ? "NODE_FAIL NodeDown 1:0" : "PENDING+REQUEUED BeginTime restarts=1";
            play("options.power:idle=10" + word, """
                    pass 10
                    pass 30
                    submit kind=BATCH timing.requeue=NO
                    schedule                              -> 1 RUNNING+CONFIGURING n1
                    pass 1
                    pass 60       -> n1 free+DOWN+NOT_RESPONDING+POWERED_DOWN 'ResumeTimeout reached'; 1 %s
                    """.formatted(after));
        }
    }

    /**
     * A cloud's node that does not come up is down and without power, as in Slurm 26.05, also with
     * idle_on_node_suspend.
     */
    @Test
    void aCloudsNodeThatDoesNotComeIsDownAndWithoutPower() {
        new Play(new Cluster(
                        "c1 cpus=2 mem=1000 state=CLOUD", "p nodes=c1 default=yes", BOTH + "options.power:idle=10"))
                .lines("""
                submit kind=BATCH
                schedule                              -> 1 RUNNING+CONFIGURING c1
                pass 1                                -> c1 holds [1]+CLOUD+POWERING_UP
                pass 60        -> c1 free+DOWN+POWERED_DOWN+CLOUD 'ResumeTimeout reached'; 1 PENDING+REQUEUED BeginTime restarts=1
                pass 121
                schedule                              -> 1 PENDING+REQUEUED restarts=1
                node c1 state=resume                  -> c1 free+POWERED_DOWN+CLOUD
                schedule                              -> 1 RUNNING+CONFIGURING c1 restarts=1
                pass 1                                -> c1 holds [1]+CLOUD+POWERING_UP
                """);
    }

    /** A node that was stopped is free for work with idle_on_node_suspend, whatever kept it from work before. */
    @Test
    void poweredDownNodeIsIdleAgainWithIdleOnNodeSuspend() {
        String lines = """
                node n3 state=drain reason=x          -> n3 free+DRAIN 'x'
                pass 10                               -> n3 free+%s
                pass 30                               -> n3 free+%s
                """;
        play("options.power:idle=10", lines.formatted("DRAIN+POWERING_DOWN 'x'", "DRAIN+POWERED_DOWN 'x'"));
        play("options.power:idle=10 options.power:fresh=true", lines.formatted("POWERING_DOWN", "POWERED_DOWN"));
    }

    /** shows: ResumeTimeout */
    @Test
    void aNodeThatDoesNotComeIsDownAndItsJobGoesBack() {
        play("options.power:idle=10", """
                pass 10
                pass 30                              -> n1 free+POWERED_DOWN
                submit kind=BATCH
                schedule                             -> 1 RUNNING+CONFIGURING n1
                pass 1
                pass 60       -> n1 free+DOWN+NOT_RESPONDING+POWERED_DOWN 'ResumeTimeout reached'; 1 PENDING+REQUEUED BeginTime restarts=1
                pass 121                             -> n1 free+DOWN+NOT_RESPONDING+POWERED_DOWN 'ResumeTimeout reached'
                schedule                             -> 1 RUNNING+CONFIGURING n2 restarts=1
                register n1 boot2                    -> n1 free+DOWN 'ResumeTimeout reached'
                """);
    }

    /** A node that did not come is there for the next job when it is resumed. */
    @Test
    void nodeThatDidNotBootIsStartedAgainWhenResumed() {
        play("options.power:idle=10", """
                pass 10
                pass 30
                submit kind=BATCH nodeList=n1
                schedule                             -> 1 RUNNING+CONFIGURING n1
                pass 1
                pass 60                              -> n1 free+DOWN+NOT_RESPONDING+POWERED_DOWN 'ResumeTimeout reached'
                node n1 state=resume                 -> n1 free+POWERED_DOWN
                cancel 1
                submit kind=BATCH nodeList=n1
                schedule                             -> 2 RUNNING+CONFIGURING n1
                """);
    }

    /** The time limit counts from the moment at which the job's last node is up, as in Slurm. */
    @Test
    void timeLimitCountsFromTheLastNodesBoot() {
        play("options.power:idle=-1", """
                node n1 state=power_down
                pass 1
                pass 30                               -> n1 free+POWERED_DOWN
                submit kind=BATCH timing.timeLimitMin=1 request.nodesMin=2 request.nodesMax=2 request.tasks=2
                schedule                              -> 1 RUNNING+CONFIGURING n[1-2]; started 1 0
                pass 1
                prolog 1 n2                           -> 1 RUNNING+CONFIGURING n[1-2]
                pass 55
                register n1 boot2                     -> 1 RUNNING+CONFIGURING n[1-2]; started 1 56
                prolog 1 n1                           -> 1 RUNNING n[1-2]
                pass 59                               -> 1 RUNNING n[1-2]
                pass 1                                -> 1 TIMEOUT+COMPLETING TimeLimit
                """);
    }

    /**
     * The script of the first node does not begin before the others are there; all components of a heterogeneous job
     * begin together.
     */
    @Test
    void batchScriptWaitsUntilAllNodesAreUp() {
        play("options.power:idle=-1", """
                node n2 state=power_down
                pass 1
                pass 30                               -> n2 free+POWERED_DOWN
                submit kind=BATCH timing.timeLimitMin=1 request.nodesMin=2 request.nodesMax=2 request.tasks=2
                schedule                              -> 1 RUNNING+CONFIGURING n[1-2]
                pass 1
                prolog 1 n1                           -> 1 RUNNING+CONFIGURING n[1-2]; steps 1
                register n2 boot2                     -> steps 1
                prolog 1 n2                           -> 1 RUNNING n[1-2]; steps 1 batch
                cancel 1
                done 1 n1
                done 1 n2                             -> n2 free
                node n2 state=power_down
                pass 1
                pass 30                               -> n2 free+POWERED_DOWN
                het kind=BATCH timing.timeLimitMin=1 request.cpusPerNodeMin=2 : timing.timeLimitMin=1 request.cpusPerNodeMin=2
                schedule                              -> 2 RUNNING n1; 3 RUNNING+CONFIGURING n2
                pass 1
                pass 58
                pass 1                                -> 2 RUNNING n1; started 2 0
                register n2 boot3                     -> started 2 60; started 3 60
                prolog 3 n2                           -> 3 RUNNING n2; steps 2 batch
                """);
    }

    /**
     * The limit is reached later by the time that PrologSlurmctld took, but the job counts as begun before it, as in
     * Slurm.
     */
    @Test
    void prologSlurmctldTimeDoesNotCountAgainstTheLimit() {
        play("options.prolog_slurmctld=true", """
                submit kind=BATCH timing.timeLimitMin=1
                schedule                              -> 1 RUNNING+CONFIGURING n1
                pass 20
                ctldprolog 1 ok                       -> 1 RUNNING n1; started 1 0
                pass 59                               -> 1 RUNNING n1
                pass 1                                -> 1 TIMEOUT+COMPLETING TimeLimit
                """);
    }

    @Test
    void aJobThatIsCancelledWhileItWaitsForItsNodeIsGone() {
        play("options.power:idle=10", """
                pass 10
                pass 30                               -> n1 free+POWERED_DOWN
                submit kind=BATCH
                schedule
                pass 1                                -> n1 holds [1]+POWERING_UP
                cancel 1
                pass 1                                -> 1 CANCELLED 'by 1000'; n1 free+POWERING_UP
                register n1 boot2                     -> n1 free
                """);
    }

    @Test
    void nodesThatAreThereGoFirst() {
        play("options.power:idle=-1", """
                node n1 state=power_down              -> n1 free+POWER_DOWN
                pass 1                                -> n1 free+POWERING_DOWN
                pass 30                               -> n1 free+POWERED_DOWN
                submit cpusPerTask=2
                schedule                              -> 1 RUNNING n2
                submit cpusPerTask=2
                schedule                              -> 2 RUNNING+CONFIGURING n1
                """);
    }

    /** shows: SuspendRate, ResumeRate */
    @Test
    void suspendAndResumeRatesLimitNodesPerMinute() {
        play("options.power:idle=10 options.power:stop_rate=1 options.power:start_rate=1", """
                pass 10                               -> n1 free+POWERING_DOWN; n2 free; n3 free
                pass 59                               -> n1 free+POWERED_DOWN; n2 free; n3 free
                pass 1                                -> n2 free+POWERING_DOWN; n3 free
                pass 60                               -> n2 free+POWERED_DOWN; n3 free+POWERING_DOWN
                pass 60                               -> n3 free+POWERED_DOWN
                node n[1-3] state=power_up
                pass 1                                -> n1 free+POWERING_UP; n2 free+POWERED_DOWN+POWER_UP
                register n1 boot2                     -> n1 free
                """);
    }

    /** shows: SuspendExcNodes, SuspendExcParts, SuspendExcStates */
    @Test
    void nodeExceptedFromSuspensionStaysUp() {
        play("options.power:idle=10 options.power:kept_nodes=n[1-2]:1 options.power:kept_partitions=q", """
                pass 10                               -> n1 free; n2 free+POWERING_DOWN; n3 free
                """);
        play("options.power:idle=10 options.power:kept_states=DRAIN", """
                node n1 state=drain reason=disk
                pass 10                               -> n1 free+DRAIN 'disk'; n2 free+POWERING_DOWN
                node n1 state=undrain
                pass 1                                -> n1 free+POWERING_DOWN
                """);
    }

    @Test
    void aPartitionHasTimesOfItsOwn() {
        play("options.power:idle=-1 options.power:partition:q=20,5,,no options.power:partition:p=,,,yes", """
                pass 20                               -> n1 free; n3 free+POWERING_DOWN
                pass 5                                -> n3 free+POWERED_DOWN
                submit kind=BATCH
                schedule                              -> 1 RUNNING n1
                exited 1 batch 0:0
                done 1 n1                             -> n1 free+POWER_DOWN
                pass 1                                -> n1 free+POWERING_DOWN; n2 free
                """);
    }

    @Test
    void nodesMayTakeForever() {
        for (String row : List.of(
                "60 -> n1 free+DOWN+NOT_RESPONDING+POWERED_DOWN 'ResumeTimeout reached'",
                "65535 -> n1 free+POWERING_UP")) {
            String seconds = row.substring(0, row.indexOf(' '));
            Cluster c = new Cluster(
                    "n1 cpus=2 mem=1000",
                    "p nodes=n1 default=yes",
                    BOTH + "options.power:idle=-1 options.power:start=" + seconds);
            new Play(c).lines("""
                    node n1 state=power_down              -> n1 free+POWER_DOWN
                    pass 1                                -> n1 free+POWERING_DOWN
                    pass 30                               -> n1 free+POWERED_DOWN
                    node n1 state=power_up                -> n1 free+POWERED_DOWN+POWER_UP
                    pass 1                                -> n1 free+POWERING_UP
                    pass 100000                           -> %s
                    """.formatted(row.substring(row.indexOf("> ") + 2)));
        }
    }

    @Test
    void powerUpForceStartsANodeInAnyPowerState() {
        play("options.power:idle=-1", """
                node n1 state=power_up                -> n1 free
                node n1 state=power_up_force          -> n1 free+POWERED_DOWN+POWER_UP
                pass 1                                -> n1 free+POWERING_UP
                node n2 state=power_down              -> n2 free+POWER_DOWN
                pass 1                                -> n2 free+POWERING_DOWN
                node n2 state=power_up_force          -> n2 free+POWERED_DOWN+POWER_UP
                """);
    }

    /**
     * A drained node shows why, unless a reason is given or there already; with its power the reason goes. A node fails
     * or is drained, not both.
     */
    @Test
    void powerDownAsapKeepsAnExistingDrainReason() {
        play("options.power:idle=-1", """
                submit kind=BATCH
                schedule                                     -> 1 RUNNING n1
                node n1 state=power_down_asap reason=mine    -> n1 holds [1]+DRAIN+POWER_DOWN+DRAINED_FOR_THIS 'mine'
                node n2 state=fail reason=a                  -> n2 free+FAIL 'a'
                node n2 state=drain                          -> n2 free+DRAIN 'a'
                node n2 state=fail                           -> n2 free+FAIL 'a'
                node n2 state=power_down_asap                -> n2 free+DRAIN+FAIL+POWER_DOWN+DRAINED_FOR_THIS 'a'
                """);
    }

    @Test
    void nodeIsPoweredDownAndUpByScontrol() {
        play("options.power:idle=-1", """
                submit kind=BATCH
                schedule                             -> 1 RUNNING n1
                node n1 state=power_down             -> n1 holds [1]+POWER_DOWN
                node n1 state=power_up               -> n1 holds [1]
                node n1 state=power_down_asap        -> n1 holds [1]+DRAIN+POWER_DOWN+DRAINED_FOR_THIS 'POWER_DOWN_ASAP'
                exited 1 batch 0:0
                done 1 n1
                pass 1                               -> n1 free+DRAIN+POWERING_DOWN+DRAINED_FOR_THIS 'POWER_DOWN_ASAP'
                pass 30                              -> n1 free+POWERED_DOWN
                submit kind=BATCH request.requeue=YES
                schedule                             -> 2 RUNNING n2
                node n2 state=power_down_force       -> 2 PENDING+REQUEUED BeginTime restarts=1; n2 free+POWER_DOWN
                pass 1                               -> n2 free+POWERING_DOWN
                node n2 state=power_up               -> n2 free+POWERING_DOWN+POWER_UP
                pass 30                              -> n2 free+POWERED_DOWN+POWER_UP
                pass 1                               -> n2 free+POWERING_UP
                """);
        new Play(new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes", "")).lines("""
                node n1 state=power_down -> says Invalid power action
                """);
    }

    @Test
    void aCloudNodeIsStartedForItsFirstJob() {
        new Play(new Cluster(
                        "c1 cpus=2 mem=1000 state=CLOUD", "p nodes=c1 default=yes", BOTH + "options.power:idle=10"))
                .lines("""
                submit kind=BATCH
                schedule                              -> 1 RUNNING+CONFIGURING c1
                pass 1                                -> c1 holds [1]+CLOUD+POWERING_UP
                register c1 boot                      -> c1 holds [1]+CLOUD
                """);
    }

    /** A node's own SuspendTime goes before the longest of its partitions', these before the cluster's. */
    @Test
    void aNodeHasATimeOfItsOwn() {
        Cluster c = new Cluster(
                "n1 cpus=2 suspendtime=50\nn2 cpus=2\nn3 cpus=2 suspendtime=INFINITE\nn4 cpus=2",
                "p nodes=n[1-3] default=yes\nq nodes=n[1-2]",
                BOTH + "options.power:idle=300 options.power:partition:p=103,,,no "
                        + "options.power:partition:q=106,,,no");
        PowerSavingTimes power = PowerSavingTimes.of(c.state()).orElseThrow();
        assertThat(c.state().nodes().values().stream().map(power::idleText))
                .containsExactly("50", "106", "INFINITE", "300");
        new Play(c).lines("""
                pass 50                               -> n1 free+POWERING_DOWN; n2 free
                pass 56                               -> n2 free+POWERING_DOWN; n3 free; n4 free
                pass 999                              -> n3 free; n4 free+POWERING_DOWN
                """);
        assertThat(PowerSavingTimes.of(new Cluster("n1 cpus=2", "p nodes=n1", "").state()))
                .isEmpty();
    }

    /** The reason that an administrator wrote stays before the one that the system adds. */
    @Test
    void reasonsAreAdded() {
        new Play(new Cluster("n[1-2] cpus=2", "p nodes=n[1-2] default=yes", "")).lines("""
                node n1 state=drain reason=fan
                lost n1      -> n1 free+DOWN+DRAIN 'fan : Not responding'
                lost n2      -> n2 free+DOWN 'Not responding'
                """);
    }

    /** ReconfigFlags says whether what scontrol has changed outlives the next reading of the files. */
    @Test
    void reconfigFlagsKeepChangedSuspendExceptions() {
        String[][] table = {{"", "n1"}, {"keeppartinfo", "n1"}, {"keeppartinfo,keeppowersavesettings", "n2"}};
        for (String[] row : table) {
            Cluster c = new Cluster(
                    "n[1-3] cpus=2",
                    "p nodes=n[1-3] default=yes",
                    BOTH + "options.power:kept_nodes=n1 options.reconfig_flags=" + row[0]);
            new Play(c).lines("setting root suspendexcnodes n2\nreconfigure\n");
            assertThat(c.state().settings().options().texts().getOrDefault(PowerSavingOptions.KEPT_NODES, ""))
                    .as(row[0])
                    .isEqualTo(row[1]);
        }
    }

    @Test
    void scontrolChangesTheSuspendExceptions() {
        Cluster c = new Cluster(
                "n[1-3] cpus=2", "p nodes=n[1-2] default=yes\nq nodes=n3", BOTH + "options.power:kept_nodes=n1");
        String[][] rows = {
            {"suspendexcnodes +n[2-3]", "n[1-3]"},
            {"suspendexcnodes -n2", "n[1,3]"},
            {"suspendexcnodes n[1-3]:2", "n[1-3]:2"},
            {"suspendexcnodes +n2", "n2,n[1-3]:2"},
            {"suspendexcnodes -n[1-3]:2", "n2"},
            {"suspendexcnodes", ""}
        };
        for (String[] row : rows) {
            new Play(c).lines("setting root " + row[0]);
            assertThat(c.state().settings().options().texts().getOrDefault(PowerSavingOptions.KEPT_NODES, ""))
                    .as(row[0])
                    .isEqualTo(row[1]);
        }
        new Play(c).lines("""
                setting bob suspendexcnodes n1     -> says Access/permission denied
                setting root suspendexcnodes n9    -> says Invalid node name specified
                setting root suspendexcparts r     -> says Invalid partition name specified
                setting root suspendexcstates BLUE -> says Invalid node state specified
                setting root schedulertype x -> says Updating schedulertype is not supported by this version of Muster
                setting root fairsharedampeningfactor 0 -> says invalid dampening factor: 0
                setting root suspendexcparts q
                setting root suspendexcstates drain,down
                setting root suspendexcstates -DOWN
                setting root fairsharedampeningfactor 3
                """);
        assertThat(c.state().settings().options().texts())
                .containsEntry(PowerSavingOptions.KEPT_PARTITIONS, "q")
                .containsEntry(PowerSavingOptions.KEPT_STATES, "DRAIN")
                .containsEntry("priority_dampening", "3");
    }

    private static final String ACTIONS =
            BOTH + "options.power:idle=-1 options.power:action:here=slurmctld options.power:action:there=slurmd";

    @Test
    void aPowerActionIsNamedForOneTime() {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes", ACTIONS);
        Play play = new Play(c);
        play.lines("""
                node n1 state=power_down poweraction=other    -> says Invalid power action
                node n1 state=power_up poweraction=there      -> says Invalid power action
                reboot n1 asap action=other                   -> says Invalid power action
                node n1 state=power_down poweraction=here     -> n1 free+POWER_DOWN by here
                node n2 state=power_down poweraction=there
                pass 1                                -> n1 free+POWERING_DOWN by here; n2 free+POWERING_DOWN by there
                """);
        assertThat(c.told()).containsExactly(new Decision.Direct("n2", new NodeMessages.Reboot(List.of(), "there")));
        play.lines("""
                pass 30                               -> n1 free+POWERED_DOWN; n2 free+POWERED_DOWN
                node n1 state=power_up poweraction=here       -> n1 free+POWERED_DOWN+POWER_UP by here
                pass 1                                -> n1 free+POWERING_UP by here
                register n1 boot2                     -> n1 free
                node n1 state=power_down              -> n1 free+POWER_DOWN
                """);
    }

    @Test
    void resumedNodeOnItsWayDownSkipsSuspendTimeout() {
        play("options.power:idle=-1", """
                node n1 state=power_down
                pass 1                                -> n1 free+POWERING_DOWN
                node n1 state=resume                  -> n1 free+POWERED_DOWN
                """);
    }

    @Test
    void aForcedRebootTakesTheJobsFromTheNode() {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes", ACTIONS);
        Play play = new Play(c);
        play.lines("""
                submit kind=BATCH nodeList=n1
                schedule                    -> 1 RUNNING n1
                reboot n1 force action=here -> n1 free+DRAIN+REBOOT_REQUESTED+DRAINED_FOR_THIS by here 'reboot requested'
                pass 0                      -> 1 PENDING+REQUEUED BeginTime restarts=1
                reboot n2
                pass 1
                """);
        assertThat(c.told()).containsExactly(new Decision.Direct("n2", new NodeMessages.Reboot(List.of(), "")));
        play.lines("register n1 boot2                     -> n1 free");
    }

    @Test
    void aRebootWaitsForJobs() {
        play("options.power:idle=-1", """
                submit kind=BATCH
                schedule                    -> 1 RUNNING n1
                reboot n1                   -> n1 holds [1]+REBOOT_REQUESTED 'reboot requested'
                node n1 state=cancel_reboot -> n1 holds [1]
                node n1 state=CANCEL_REBOOT -> says Invalid node state transition
                reboot n1 asap DOWN -> n1 holds [1]+DRAIN+REBOOT_REQUESTED+DRAINED_FOR_THIS+NEXT_DOWN 'Reboot ASAP'
                exited 1 batch 0:0
                done 1 n1
                pass 1      -> n1 free+DOWN+DRAIN+REBOOT_ISSUED+DRAINED_FOR_THIS+NEXT_DOWN 'Reboot ASAP : reboot issued'
                register n1 boot2           -> n1 free+DOWN 'Reboot ASAP : reboot issued : reboot complete'
                reboot n2 asap RESUME
                pass 1
                register n2 boot2           -> n2 free
                reboot n3
                pass 1                      -> n3 free+DOWN+REBOOT_ISSUED 'reboot requested : reboot issued'
                node n3 state=idle          -> says Invalid node state transition
                silent n3                   -> n3 free+DOWN+REBOOT_ISSUED 'reboot requested : reboot issued'
                pass 60     -> n3 free+DOWN 'reboot requested : reboot issued : ResumeTimeout reached'
                reboot n3 uid=1000          -> says Access/permission denied
                """);
    }

    /**
     * State and reason of a node after a reboot, by scontrol(1): nextstate and ASAP end the drain, nextstate also an
     * administrator's.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            -                 |             | free
            -                 | asap        | free
            -                 | later DOWN  | free+DOWN 'reboot requested : reboot issued : reboot complete'
            -                 | asap DOWN   | free+DOWN 'Reboot ASAP : reboot issued : reboot complete'
            -                 | later RESUME | free
            -                 | asap RESUME | free
            drain reason=mine |             | free+DRAIN 'mine : reboot issued'
            drain reason=mine | asap        | free+DRAIN 'mine : reboot issued'
            drain reason=mine | later DOWN  | free+DOWN 'mine : reboot issued : reboot complete'
            drain reason=mine | asap DOWN   | free+DOWN 'mine : reboot issued : reboot complete'
            drain reason=mine | later RESUME | free
            drain reason=mine | asap RESUME | free
            down reason=bad   |             | free+DOWN 'bad : reboot issued : reboot complete'
            down reason=bad   | asap        | free+DOWN 'bad : reboot issued : reboot complete'
            down reason=bad   | later DOWN  | free+DOWN 'bad : reboot issued : reboot complete'
            down reason=bad   | asap DOWN   | free+DOWN 'bad : reboot issued : reboot complete'
            down reason=bad   | later RESUME | free
            down reason=bad   | asap RESUME | free
            """)
    void stateAfterAReboot(String before, String reboot, String after) {
        String asked = reboot == null ? "" : reboot;
        play(
                "options.power:idle=-1",
                (before == null ? "" : "node n1 state=" + before + "\n")
                        + "reboot n1 " + asked + "\npass 1\nregister n1 boot2 -> n1 " + after + "\n"
                        + (after.equals("free") ? "" : "node n1 state=resume -> n1 free\n"));
    }

    /** A machine that is being started is stopped once it has come; by force it is stopped at once. */
    @Test
    void powerDownWaitsForAStart() {
        play("options.power:idle=100", """
                node n1 state=power_down              -> n1 free+POWER_DOWN
                pass 1                                -> n1 free+POWERING_DOWN
                node n1 state=power_up                -> n1 free+POWERING_DOWN+POWER_UP
                pass 30                               -> n1 free+POWERED_DOWN+POWER_UP
                pass 1                                -> n1 free+POWERING_UP
                node n1 state=power_down              -> n1 free+POWER_DOWN+POWERING_UP
                pass 1
                register n1 boot2                     -> n1 free+POWER_DOWN
                pass 1                                -> n1 free+POWERING_DOWN
                node n1 state=power_up
                pass 30
                pass 1                                -> n1 free+POWERING_UP
                node n1 state=power_down_force        -> n1 free+POWER_DOWN
                pass 1                                -> n1 free+POWERING_DOWN
                """);
    }

    /** SuspendProgram may have to end a machine that is left of a start that failed. */
    @Test
    void aNodeWithoutPowerIsPoweredDownAgain() {
        play("options.power:idle=100", """
                node n1 state=power_down
                pass 1                                -> n1 free+POWERING_DOWN
                pass 30                               -> n1 free+POWERED_DOWN
                node n1 state=power_down              -> n1 free+POWERED_DOWN+POWER_DOWN
                pass 1                                -> n1 free+POWERING_DOWN
                """);
    }

    @Test
    void aCloudNodeLosesItsAddressWithItsPower() {
        Cluster c = new Cluster(
                "c1 cpus=2 mem=1000 state=CLOUD\nn1 cpus=2 mem=1000",
                "p nodes=c1,n1 default=yes",
                BOTH + "options.power:idle=1000");
        Play play = new Play(c);
        play.lines("""
                node c1 state=power_up
                pass 1                                -> c1 free+CLOUD+POWERING_UP
                node c1,n1 nodeaddr=10.0.0.[7-8] nodehostname=ip-[7-8]
                register c1 boot                      -> c1 free+CLOUD
                node c1,n1 state=power_down
                pass 1                                -> c1 free+CLOUD+POWERING_DOWN; n1 free+POWERING_DOWN
                """);
        assertThat(c.state().nodes().at("c1").spec().address()).isEqualTo("10.0.0.7");
        play.lines("pass 30                               -> c1 free+POWERED_DOWN+CLOUD; n1 free+POWERED_DOWN");
        assertThat(List.of("c1", "n1").stream()
                        .map(n -> c.state().nodes().at(n).spec())
                        .map(n -> n.address() + " " + n.hostname()))
                .containsExactly("c1 c1", "10.0.0.8 ip-8");
        play.lines("""
                node c1 nodeaddr=                     -> says Invalid node name specified
                node c1,n1 nodehostname=a             -> says Invalid node name specified
                """);
    }

    /**
     * A node that an operator puts back into service has no reboot ahead any more, and a reboot that was asked for is
     * asked for once.
     */
    @Test
    void resumeCancelsAPendingReboot() {
        play("options.power:idle=-1", """
                submit kind=BATCH
                schedule                           -> 1 RUNNING n1
                reboot n1 asap                     -> n1 holds [1]+DRAIN+REBOOT_REQUESTED+DRAINED_FOR_THIS 'Reboot ASAP'
                reboot n1 asap RESUME
                reboot n1
                node n1 state=resume               -> n1 holds [1]
                reboot n2                          -> n2 free+REBOOT_REQUESTED 'reboot requested'
                reboot n1,n2                       -> n1 holds [1]+REBOOT_REQUESTED 'reboot requested'
                pass 1                             -> n2 free+DOWN+REBOOT_ISSUED 'reboot requested : reboot issued'
                reboot n2 asap
                node n2 state=resume               -> n2 free
                node n3 state=drain reason=mine
                reboot n3 asap
                pass 1                             -> n3 free+DOWN+DRAIN+REBOOT_ISSUED 'mine : reboot issued'
                node n3 state=resume               -> n3 free
                """);
    }

    /** SuspendExcStates. */
    @Test
    void reservedNodesOfTheseStatesStay() {
        String reserve = """
                reserve m starttime=+0 duration=600 nodes=n1 users=alice flags=MAINT
                reserve r starttime=+0 duration=600 nodes=n2 users=alice
                """;
        play("options.power:idle=10 options.power:kept_states=maintenance", reserve + """
                pass 10                               -> n1 free; n2 free+POWERING_DOWN; n3 free+POWERING_DOWN
                """);
        play("options.power:idle=10 options.power:kept_states=RESERVED", reserve + """
                pass 10                               -> n1 free+POWERING_DOWN; n2 free; n3 free+POWERING_DOWN
                """);
    }
}
