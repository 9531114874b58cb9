package dev.muster.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Words of SlurmctldParameters that change decisions of the core. */
class ControllerWordsTest {
    private static final String POWER =
            "options.power:starts=true options.power:stops=true options.power:stop=30 options.power:start=60"
                    + " options.power:idle=-1 ";

    private static Cluster cluster(String settings) {
        return new Cluster(
                "n[1-2] cpus=2 mem=1000\nc1 cpus=2 mem=1000 state=CLOUD",
                "p nodes=n[1-2] default=yes\nq nodes=c1",
                settings);
    }

    /** user_resv_delete has the effect of the flag USER_DELETE for all reservations. */
    @Test
    void reservationUserMayDeleteItWithUserResvDelete() {
        new Play(cluster("options.ctld:user_resv_delete=true")).lines("""
                reserve r starttime=+0 duration=6000 nodecnt=1 users=alice
                unreserve r bob                       -> says Invalid user id
                unreserve r alice                     -> r unknown
                """);
    }

    @Test
    void userSetsTriggersOnlyWithAllowUserTriggers() {
        String root = "trigger down 0 * 0 once root";
        String user = "trigger down 0 * 0 once uid=7";
        new Play(cluster("")).lines(root + " -> says\n" + user + " -> says Access/permission denied");
        new Play(cluster("options.ctld:allow_user_triggers=true")).lines(root + " -> says\n" + user + " -> says");
        // triggers of all users would run as SlurmUser, because it is not root
        new Play(cluster("slurmUid=900 options.ctld:allow_user_triggers=true"))
                .lines("trigger down 0 * 0 once uid=900 -> says\n" + user + " -> says Access/permission denied");
        new Play(cluster("options.ctld:disable_triggers=true options.ctld:allow_user_triggers=true"))
                .lines(root + " -> says Requested operation is presently disabled");
    }

    /** node_reg_mem_percent; its default is 90 for cloud nodes, 100 for others. */
    @Test
    void aNodeMayHaveALittleLessMemory() {
        String[][] rows = {
            {"", "n1", "999", "Low RealMemory (reported:999 < 100.00% of configured:1000)"},
            {"", "n1", "1000", ""},
            {"", "c1", "900", ""},
            {"", "c1", "899", "Low RealMemory (reported:899 < 90.00% of configured:1000)"},
            {"95", "n1", "950", ""},
            {"95", "n1", "949", "Low RealMemory (reported:949 < 95.00% of configured:1000)"},
            {"97.5", "c1", "974", "Low RealMemory (reported:974 < 97.50% of configured:1000)"},
            {"97.5", "c1", "975", ""}
        };
        for (String[] row : rows) {
            Cluster c = cluster(POWER + (row[0].isEmpty() ? "" : "options.ctld:node_reg_mem_percent=" + row[0]));
            c.apply(new Command.RegisterNode(new NodeMessages.Register(
                    row[1],
                    "c",
                    "boot2",
                    "v",
                    1_000_100,
                    new NodeMessages.Hardware(2, 1, 1, 2, 1, Long.parseLong(row[2]), 0, "", "", "", 0),
                    List.of(),
                    "",
                    "")));
            assertThat(c.state().nodes().at(row[1]).reason())
                    .as(String.join(" ", row))
                    .isEqualTo(row[3]);
        }
    }

    /** reboot_from_controller: no node is told; {@code controller/PowerPrograms} follows the flag. */
    @Test
    void rebootFromControllerTellsNoNode() {
        Cluster c = cluster(POWER + "options.power:reboots_here=true");
        new Play(c).lines("reboot n2\npass 1 -> n2 free+DOWN+REBOOT_ISSUED 'reboot requested : reboot issued'");
        assertThat(c.told()).isEmpty();
    }
}
