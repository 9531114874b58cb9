package dev.muster.scheduler;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** A node reboots for a job that requests features which it has only after a reboot. shows: NodeFeaturesPlugins */
class ChangingFeaturesTest {
    private static void play(String settings, String lines) {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "p nodes=n[1-2] default=yes defmempercpu=10",
                        "requeueJobs=true " + settings))
                .lines(lines);
    }

    @Test
    void aNodeIsRebootedForAJob() {
        play("options.features:boot=300", """
                features n1 boot f1,f2 f1
                submit kind=BATCH features=f1 tasks=2
                schedule                              -> 1 RUNNING n1
                submit kind=BATCH features=f2
                schedule                              -> 2 PENDING
                exited 1 batch 0:0
                done 1 n1
                schedule                              -> 2 RUNNING+CONFIGURING n1; n1 holds [2]+POWERING_UP
                submit kind=BATCH nodeList=n1
                schedule                              -> 3 PENDING
                pass 299                              -> 2 RUNNING+CONFIGURING n1
                features n1 boot2 f1,f2 f2            -> n1 holds [2]
                schedule                              -> 3 RUNNING n1
                submit kind=BATCH features=f1
                schedule                              -> 4 PENDING
                """);
    }

    /** A cloud node that runs without the features is stopped when it has been idle, and started for the job. */
    @Test
    void cloudNodeIsRestartedWithTheRequestedFeatures() {
        new Play(new Cluster(
                        "c1 cpus=2 mem=1000 feature=f1;nf1 state=CLOUD",
                        "p nodes=c1 default=yes defmempercpu=10",
                        "requeueJobs=true options.power:starts=true options.power:stops=true "
                                + "options.power:stop=30 options.power:start=60 "
                                + "options.power:idle=10 options.features:boot=300"))
                .lines("""
                submit kind=BATCH features=f1
                schedule                              -> 1 RUNNING+CONFIGURING c1
                pass 1
                features c1 boot nf1                  -> c1 holds [1]+CLOUD
                prolog 1 c1                           -> 1 RUNNING c1
                submit kind=BATCH features=nf1
                schedule                              -> 2 PENDING
                exited 1 batch 0:0
                done 1 c1
                schedule                              -> 2 PENDING; c1 free+CLOUD
                pass 30
                schedule                              -> 2 PENDING; c1 free+CLOUD+POWERING_DOWN
                pass 31
                schedule                              -> 2 RUNNING+CONFIGURING c1
                pass 1
                features c1 boot2 nf1                 -> c1 holds [2]+CLOUD
                features c1 boot2 nf1
                submit kind=BATCH features=nf1
                schedule                              -> 3 RUNNING c1
                """);
    }

    /** {@code --delay-boot}, or the cluster's: so long a job waits for nodes that need no reboot. */
    @Test
    void aJobWaitsBeforeItReboots() {
        for (String[] delay : new String[][] {
            {"", " timing.delayBootMin=5"},
            {" options.delay_boot=5", ""},
            {" options.delay_boot=60", " timing.delayBootMin=5"}
        }) {
            play("options.features:boot=300" + delay[0], """
                    features n1 boot f1,f2 f1
                    features n2 boot f1,f2 f1
                    submit kind=BATCH features=f2%s
                    schedule                              -> 1 PENDING
                    pass 299
                    schedule                              -> 1 PENDING
                    pass 1
                    schedule                              -> 1 RUNNING+CONFIGURING n1; n1 holds [1]+POWERING_UP
                    submit kind=BATCH features=f1
                    schedule                              -> 2 RUNNING n2
                    """.formatted(delay[1]));
        }
    }

    @Test
    void aNodeThatComesWithoutThemOrNotAtAllIsDown() {
        play("options.features:boot=300", """
                features n1 boot f1,f2 f1
                features n2 boot f2
                submit kind=BATCH features=f2
                submit kind=BATCH features=f2
                schedule                   -> 1 RUNNING+CONFIGURING n1; 2 RUNNING+CONFIGURING n2
                features n1 boot2 f1,f2 f1 -> n1 free+DOWN 'requested node features not set'; 1 PENDING+REQUEUED BeginTime restarts=1
                pass 300 -> n2 free+DOWN 'ResumeTimeout reached'; 2 PENDING+REQUEUED BeginTime restarts=1
                """);
    }

    /** {@code --reboot}: whatever the node has. */
    @Test
    void aNodeIsRebootedBecauseItIsAskedFor() {
        play("options.reboots=true options.features:boot=300", """
                features n1 boot f1,f2 f1
                submit kind=BATCH extras.reboot=true nodeList=n1 -> says Access/permission denied
                admin submit kind=BATCH nodeList=n1
                schedule                              -> 1 RUNNING n1
                admin submit kind=BATCH extras.reboot=true features=f1 nodeList=n1
                schedule                              -> 2 PENDING
                exited 1 batch 0:0
                done 1 n1
                schedule                              -> 2 RUNNING+CONFIGURING n1; n1 holds [2]+POWERING_UP
                features n1 boot2 f1,f2 f1            -> n1 holds [2]
                """);
        play(
                "options.features:boot=300",
                "admin submit kind=BATCH extras.reboot=true -> says without RebootProgram --reboot is not supported "
                        + "by this version of Muster");
    }

    @Test
    void impossibleFeatureRequestIsRefusedOrWaits() {
        play("options.features:boot=300 options.features:exclusive=f1,f2 options.features:users=77", """
                features n1 boot f1,f2,f3 f3
                submit kind=BATCH features=f1|f3      -> says Features that need a reboot can only be joined by &
                submit kind=BATCH features=f1&f2      -> says Invalid feature specification
                submit kind=BATCH features=f4         -> says Invalid feature specification
                submit kind=BATCH features=f3
                schedule                              -> 1 RUNNING n1
                exited 1 batch 0:0
                done 1 n1
                submit kind=BATCH features=f1
                schedule                              -> 2 PENDING
                """);
    }
}
