package dev.muster.scheduler.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests whose jobs meet on a node: users and labels that keep to themselves. */
class SharingPolicyTest {
    private static final String BOB = " owner.uid=2000 owner.user=bob";

    @Test
    void exclusiveUserJobSharesNodesOnlyWithItsUsersJobs() {
        Cluster c = new Cluster("n[1-2] cpus=4", "p nodes=n[1-2] defmempercpu=10", "");
        int[] ids = {
            c.accept("partition=p"),
            bob(c, "partition=p exclusive=USER"),
            c.accept("partition=p exclusive=USER"),
            bob(c, "partition=p"),
            c.accept("partition=p tasks=5")
        };
        c.schedule();
        assertThat(java.util.Arrays.stream(ids).mapToObj(c::shown))
                .containsExactly("n1:1", "n2:1", "n1:1", "n2:1", "(Resources)");
    }

    @Test
    void exclusiveUserPartitionAdmitsOneUserPerNode() {
        Cluster c = new Cluster("n1 cpus=4", "p nodes=n1 exclusiveuser=yes defmempercpu=10", "");
        int[] ids = {c.accept("partition=p"), bob(c, "partition=p"), c.accept("partition=p")};
        c.schedule();
        assertThat(java.util.Arrays.stream(ids).mapToObj(c::shown).filter("n1:1"::equals))
                .hasSize(2);
        assertThat(c.shown(ids[1])).isEqualTo("(Resources)");
    }

    private static int bob(Cluster c, String line) {
        return ((dev.muster.model.api.JobMessages.SubmitReply)
                        ((Decision.Accepted) c.apply(new dev.muster.core.command.Command.SubmitJob(
                                        2000,
                                        Cluster.desc(line + BOB),
                                        "",
                                        dev.muster.json.Bytes.EMPTY,
                                        dev.muster.json.Bytes.EMPTY,
                                        false,
                                        false)))
                                .reply())
                .jobId();
    }

    @Test
    void mcsPluginDecidesTheLabelOfAJob() {
        String row = "mcs/%s %s | %s | %s";
        for (String line : """
                none   |                   | mcsLabel=x        | 'x'
                user   | ondemand          |                   | ''
                user   | ondemand          | mcsLabel=alice    | 'alice'
                user   | ondemand          | mcsLabel=bob      | Invalid mcs_label specified
                user   | ondemand          | exclusive=MCS     | 'alice'
                user   | enforced,noselect |                   | 'alice'
                group  | enforced,select:a | exclusive=MCS     | Invalid mcs_label specified
                group  | ondemand:a        | exclusive=MCS     | Invalid mcs_label specified
                group  | ondemand:a        |                   | ''
                account | enforced,select  |                   | ''
                account | ondemand         | exclusive=MCS     | ''
                account | ondemand         | mcsLabel=x        | Invalid mcs_label specified
                label  | ondemand          | mcsLabel=red      | 'red'
                label  | enforced          |                   | Invalid mcs_label specified
                """.split("\n")) {
            String[] cells = line.split("\\|");
            Cluster c = new Cluster(
                    "n1 cpus=4",
                    "p nodes=n1",
                    "options.mcs_plugin=mcs/" + cells[0].strip() + " options.mcs_parameters=" + cells[1].strip());
            String what = cells[2].strip().replace("mcsLabel", "extras.mcsLabel");
            Decision decision = c.submit("partition=p " + what);
            String shown = decision instanceof Decision.Rejected r
                    ? r.sentence()
                    : "'"
                            + c.state()
                                    .jobs()
                                    .values()
                                    .iterator()
                                    .next()
                                    .desc()
                                    .extras()
                                    .mcsLabel() + "'";
            assertThat(shown).as(row, (Object[]) cells).isEqualTo(cells[3].strip());
        }
    }

    @Test
    void onlyAPendingJobChangesItsMcsLabel() {
        Cluster c =
                new Cluster("n1 cpus=4", "p nodes=n1", "options.mcs_plugin=mcs/label options.mcs_parameters=enforced");
        int waits = c.accept("partition=p extras.mcsLabel=red kind=BATCH");
        Command.JobRef ref = new Command.JobRef(Integer.toString(waits), waits, -1, Command.JobRef.NO_STEP);
        assertThat(c.apply(new Command.UpdateJob(Cluster.USER, ref, Map.of("mcslabel", "blue"))))
                .isInstanceOf(Decision.Accepted.class);
        assertThat(c.state().jobs().at(waits).desc().extras().mcsLabel()).isEqualTo("blue");
        assertThat(c.apply(new Command.UpdateJob(Cluster.USER, ref, Map.of("mcslabel", ""))))
                .as("it must have one")
                .isInstanceOfSatisfying(
                        Decision.Rejected.class,
                        r -> assertThat(r.sentence()).isEqualTo("Invalid mcs_label specified"));
        c.schedule();
        assertThat(c.apply(new Command.UpdateJob(Cluster.USER, ref, Map.of("mcslabel", "red"))))
                .as("it runs")
                .isInstanceOf(Decision.Rejected.class);
    }

    @Test
    void jobsOfALabelKeepToThemselvesWhereTheyAreSelected() {
        for (String line : """
                enforced,select          | n1:1 n2:1 n1:1
                enforced,noselect        | n1:1 n1:1 n1:1
                ondemand,ondemandselect  | n1:1 n1:1 n1:1
                """.split("\n")) {
            String[] cells = line.split("\\|");
            Cluster c = new Cluster(
                    "n[1-2] cpus=4",
                    "p nodes=n[1-2] defmempercpu=10",
                    "options.mcs_plugin=mcs/user" + " options.mcs_parameters=" + cells[0].strip());
            int[] ids = {c.accept("partition=p"), bob(c, "partition=p"), c.accept("partition=p")};
            c.schedule();
            assertThat(c.shown(ids[0]) + " " + c.shown(ids[1]) + " " + c.shown(ids[2]))
                    .as(line)
                    .isEqualTo(cells[1].strip());
        }
    }
}
