package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code scontrol ping}, {@code takeover} and {@code shutdown} with three controllers, of which the second leads. */
class ScontrolControllersTest {
    private final FakeHost host = new FakeHost();

    @BeforeEach
    void threeControllers() {
        host.controllers = List.of("c1", "c2", "c3");
        host.reply("Ping@0", ping("c1", false, "c2", 40));
        host.reply("Ping@1", ping("c2", true, "c2", 42));
    }

    private static String ping(String name, boolean leads, String leader, long committed) {
        return "{\"host\":\"" + name + "\",\"member\":{\"leads\":" + leads + ",\"leader\":\"" + leader
                + "\",\"term\":7,\"committed\":" + committed + "}}";
    }

    @Test
    void pingShowsTheRoleOfEachControllerBehindTheWordsOfSlurm() {
        assertThat(host.run("scontrol ping")).isEqualTo(new FakeHost.Ran(0, """
                Slurmctld(primary) at c1 is UP (follows in term 7, 2 entries behind)
                Slurmctld(backup1) at c2 is UP (leads in term 7)
                Slurmctld(backup2) at c3 is DOWN
                """, ""));
    }

    @Test
    void pingFailsOnlyIfNoControllerAnswers() {
        host.replies.clear();
        FakeHost.Ran ran = host.run("scontrol ping");
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.out()).contains("c1 is DOWN", "c2 is DOWN", "c3 is DOWN");
    }

    @Test
    void aControllerWithoutALeaderSaysSo() {
        host.reply("Ping@0", ping("c1", false, "", 40));
        assertThat(host.run("scontrol ping").out())
                .startsWith("Slurmctld(primary) at c1 is UP (knows no leader in term 7)\n");
    }

    @Test
    void twoControllersAreCalledPrimaryAndBackup() {
        host.controllers = List.of("c1", "c2");
        host.reply("Ping@0", "{\"host\":\"c1\"}");
        host.replies.remove("Ping@1");
        assertThat(host.run("scontrol ping").out())
                .isEqualTo("Slurmctld(primary) at c1 is UP\nSlurmctld(backup) at c2 is DOWN\n");
    }

    @Test
    void jsonHasARowForEachController() {
        assertThat(host.run("scontrol ping --json").out())
                .contains("\"hostname\": \"c1\"", "\"hostname\": \"c2\"", "\"hostname\": \"c3\"");
    }

    @Test
    void theLeaderIsNotAskedToTakeOver() {
        assertThat(host.run("scontrol takeover")).isEqualTo(new FakeHost.Ran(0, "", ""));
        assertThat(host.calls).doesNotContain("Takeover");
    }

    @Test
    void takeoverAsksTheLeaderAndWaitsForTheNamedController() {
        host.timeGoesOn = true;
        assertThat(host.run("scontrol takeover 0").err())
                .isEqualTo("slurm_takeover error: c1 does not lead after 10 s; the log of slurmctld says why\n");
        assertThat(host.sent.get("Takeover").number("index")).isZero();
    }

    @Test
    void takeoverNamesABackupThatIsConfigured() {
        assertThat(host.run("scontrol takeover 3"))
                .isEqualTo(new FakeHost.Ran(1, "", "takeover: invalid backup controller index (3)\n"));
        assertThat(host.run("scontrol takeover 1 2").rc()).isEqualTo(1);
        host.controllers = List.of("head");
        assertThat(host.run("scontrol takeover"))
                .isEqualTo(new FakeHost.Ran(1, "", "slurm_takeover error: no backup controller is configured\n"));
    }

    @Test
    void shutdownStopsTheControllersInStandbyFirst() {
        host.reply("Shutdown@0", "{}");
        host.run("scontrol shutdown");
        assertThat(host.calls).containsSubsequence("Shutdown@0", "Shutdown");
        assertThat(host.calls).doesNotContain("Shutdown@1");
    }
}
