package dev.muster.scheduler;

import org.junit.jupiter.api.Test;

/** Nodes are stopped when nobody needs them, and started when somebody does. */
class PowerTest {
    private static final String BOTH = "requeueJobs=true options.power:starts=true options.power:stops=true options.power:stop=30"
            + " options.power:start=60 ";

    private static void play(String settings, String lines) {
        new Play(new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-2] default=yes\nq nodes=n3", BOTH + settings)).lines(lines);
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

    /** shows: ResumeTimeout */
    @Test
    void aNodeThatDoesNotComeIsDownAndItsJobGoesBack() {
        play("options.power:idle=10", """
                pass 10
                pass 30                               -> n1 free+POWERED_DOWN
                submit kind=BATCH
                schedule                              -> 1 RUNNING+CONFIGURING n1
                pass 1
                pass 60                               -> n1 free+DOWN 'ResumeTimeout reached'; 1 PENDING+REQUEUED BeginTime restarts=1
                pass 120
                schedule                              -> 1 RUNNING+CONFIGURING n2 restarts=1
                register n1 boot2                     -> n1 free+DOWN+POWERING_DOWN 'ResumeTimeout reached'
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
    void noMoreInAMinuteThanTheRatesAllow() {
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
    void whatIsExceptedStays() {
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
                done 1 n1
                pass 1                                -> n1 free+POWERING_DOWN; n2 free
                """);
    }

    @Test
    void byHand() {
        play("options.power:idle=-1", """
                submit kind=BATCH
                schedule                              -> 1 RUNNING n1
                node n1 state=power_down              -> n1 holds [1]+POWER_DOWN
                node n1 state=power_up                -> n1 holds [1]
                node n1 state=power_down_asap         -> n1 holds [1]+DRAIN+POWER_DOWN+DRAINED_FOR_THIS
                exited 1 batch 0:0
                done 1 n1
                pass 1                                -> n1 free+DRAIN+POWERING_DOWN+DRAINED_FOR_THIS
                pass 30                               -> n1 free+POWERED_DOWN
                submit kind=BATCH request.requeue=YES
                schedule                              -> 2 RUNNING n2
                node n2 state=power_down_force        -> 2 PENDING+REQUEUED BeginTime restarts=1; n2 free+POWER_DOWN
                pass 1                                -> n2 free+POWERING_DOWN
                node n2 state=power_up                -> n2 free+POWERING_DOWN+POWER_UP
                pass 30                               -> n2 free+POWERED_DOWN+POWER_UP
                pass 1                                -> n2 free+POWERING_UP
                """);
        new Play(new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes", "")).lines("""
                node n1 state=power_down -> says Invalid node state specified
                """);
    }

    @Test
    void aCloudNodeIsStartedForItsFirstJob() {
        new Play(new Cluster("c1 cpus=2 mem=1000 state=CLOUD", "p nodes=c1 default=yes", BOTH + "options.power:idle=10")).lines("""
                submit kind=BATCH
                schedule                              -> 1 RUNNING+CONFIGURING c1
                pass 1                                -> c1 holds [1]+CLOUD+POWERING_UP
                register c1 boot                      -> c1 holds [1]+CLOUD
                """);
    }

    @Test
    void aRebootWaitsForJobs() {
        play("options.power:idle=-1", """
                submit kind=BATCH
                schedule                              -> 1 RUNNING n1
                reboot n1                             -> n1 holds [1]+REBOOT_REQUESTED 'reboot requested'
                reboot n1 cancel                      -> n1 holds [1]
                reboot n1 cancel                      -> says Invalid node state specified
                reboot n1 asap DOWN                   -> n1 holds [1]+DRAIN+REBOOT_REQUESTED+DRAINED_FOR_THIS+NEXT_DOWN 'reboot requested'
                exited 1 batch 0:0
                done 1 n1
                pass 1                -> n1 free+DOWN+DRAIN+REBOOT_ISSUED+DRAINED_FOR_THIS+NEXT_DOWN 'reboot requested : reboot issued'
                register n1 boot2                     -> n1 free+DOWN+DRAIN 'reboot requested : reboot issued : reboot complete'
                reboot n2 asap RESUME
                pass 1
                register n2 boot2                     -> n2 free
                reboot n3
                pass 1                                -> n3 free+DOWN+REBOOT_ISSUED 'reboot requested : reboot issued'
                silent n3                             -> n3 free+DOWN+REBOOT_ISSUED 'reboot requested : reboot issued'
                pass 60                               -> n3 free+DOWN 'ResumeTimeout reached'
                reboot n3 uid=1000                    -> says Access/permission denied
                """);
    }
}
