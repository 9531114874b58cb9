package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs that are refused at submission, by the settings of the cluster. */
class FeasibilityTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            | timing.expedite=true timing.requeue=YES timing.timeLimitMin=60 | Requested operation is presently disabled
            | extras.batchFeatures=f1 | Job --batch option is invalid or not a subset of --constraint
            STEPMGR | extras.memUpdateMin=2 | --mem-update needs SlurmctldParameters=enable_stepmgr and JobAcctGatherType=jobacct_gather/cgroup
            STEPMGR options.memory_updates=true | extras.memUpdateMin=2 | n1:1
            """)
    void jobsThatTheSettingsDoNotAllowAreRefused(String settings, String job, String answer) {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=1",
                settings == null ? "" : settings.replace("STEPMGR", "externSteps=true options.stepmgr=true"));
        assertThat(c.place("kind=BATCH " + job)).isEqualTo(answer);
    }

    @Test
    void rebootWithoutARebootProgramIsRefused() {
        new Play(new Cluster("n1 cpus=4", "p nodes=n1 default=yes", "")).lines("""
                submit kind=BATCH
                update 1 reboot=yes root -> says without RebootProgram --reboot is not supported by this version of Muster
                """);
    }
}
