package dev.muster.core.timer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.Change;
import dev.muster.core.state.State;
import dev.muster.core.state.Trigger;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Triggers: programs that run at an event, and the users that may set them. */
class TriggersTest {
    private final Cluster cluster = new Cluster(
            "n[1-3] cpus=2 mem=1000",
            "p nodes=n[1-3] default=yes defmempercpu=10",
            "options.ctld:allow_user_triggers=true");

    private final Play play = new Play(cluster);

    private void play(String lines) {
        play.lines(lines);
    }

    /** Returns the numbers of the triggers there are, with what has happened to those that wait for their time. */
    private List<String> triggers() {
        return cluster.state().triggers().byId().values().stream()
                .map(t -> t.id() + (t.dueTime() > 0 ? " " + t.cause() : ""))
                .toList();
    }

    private List<String> fired() {
        return play.entries().stream()
                .flatMap(e -> e.changes().stream())
                .filter(Change.TriggerFired.class::isInstance)
                .map(Change.TriggerFired.class::cast)
                .map(f -> f.id() + " " + f.cause())
                .toList();
    }

    @Test
    void nodesGoDownAndComeBack() {
        play("""
                trigger down 0 * 0 once
                trigger down,drained 0 n2 0 perm
                trigger up 0 n[1-2] 10 once
                node n[1-2] state=down reason=x
                """);
        assertThat(fired()).isEmpty();
        cluster.pass(1);
        assertThat(fired()).containsExactly("1 n[1-2]", "2 n2");
        assertThat(triggers()).containsExactly("2", "3");
        play("node n1 state=resume");
        cluster.pass(2);
        assertThat(triggers()).containsExactly("2", "3 n1");
        cluster.pass(12);
        assertThat(fired()).contains("3 n1");
        play("node n2 state=resume");
        cluster.pass(1);
        play("node n2 state=drain reason=x");
        cluster.pass(1);
        assertThat(fired()).filteredOn(f -> f.startsWith("2 ")).hasSize(2);
    }

    @Test
    void nodesAreTakenOutOfServiceAndPutBack() {
        play("""
                submit kind=BATCH request.nodeList=n1
                schedule
                trigger draining 0 * 0 perm
                trigger drained 0 * 0 perm
                trigger resume 0 * 0 perm
                node n[1-2] state=drain reason=x
                """);
        cluster.pass(1);
        assertThat(fired()).containsExactly("1 n1", "2 n2");
        play("node n[1-2] state=resume");
        cluster.pass(1);
        assertThat(fired()).containsExactly("1 n1", "2 n2", "3 n[1-2]");
    }

    @Test
    void daemonsFailAndComeBack() {
        play("""
                trigger primary_slurmdbd_failure 0 * 0 once
                trigger primary_slurmdbd_failure 0 * 20 perm
                trigger primary_database_failure 0 * 0 once
                trigger primary_slurmctld_failure 0 * 0 once -> says --primary_slurmctld_failure needs a backup controller: there is none here
                trigger backup_slurmctld_failure 0 * 0 once  -> says --backup_slurmctld_failure needs a backup controller: there is none here
                trigger burst_buffer 0 * 0 once              -> says --burst_buffer needs BurstBufferType
                trigger front_end 0 * 0 once -> says --front_end is not supported by this version of Muster
                """);
        cluster.apply(new Command.Happened(Trigger.DBD_FAILED));
        assertThat(fired()).containsExactly("1 primary_slurmdbd_failure");
        cluster.pass(21);
        assertThat(fired()).containsExactly("1 primary_slurmdbd_failure", "2 primary_slurmdbd_failure");
        assertThat(triggers()).containsExactly("2", "3");
        cluster.apply(new Command.Happened(Trigger.DBD_RESUMED));
        assertThat(fired()).hasSize(2);
    }

    @Test
    void controllersFailAndComeBack() {
        Cluster pair = new Cluster(
                "n1 cpus=2 mem=1000",
                "p nodes=n1 default=yes",
                "options.ctld:allow_user_triggers=true options.backup_controller=true");
        new Play(pair).lines("""
                trigger primary_slurmctld_failure 0 * 0 once
                trigger backup_slurmctld_assumed_control 0 * 0 once
                trigger backup_slurmctld_other 0 * 0 once -> says --backup_slurmctld_other is not supported by this version of Muster
                """);
        pair.apply(new Command.Happened(Trigger.PRIMARY_FAILED));
        assertThat(pair.state().triggers().byId().keys()).containsExactly(2);
    }

    @Test
    void jobsReachTheirLimitAndEnd() {
        play("""
                submit kind=BATCH timing.timeLimitMin=5
                submit kind=BATCH timing.timeLimitMin=5
                trigger time 1 * -90 once
                trigger fini 1 * 0 once
                trigger time 2 * -30 once
                trigger fini 9 * 0 once      -> says Invalid job id specified
                trigger fini 0 * 0 once      -> says Invalid job id specified
                schedule
                pass 200
                """);
        assertThat(fired()).isEmpty();
        play("pass 12");
        assertThat(fired()).containsExactly("1 1");
        play("cancel 1\ncancel 2\npass 1");
        assertThat(fired()).containsExactly("1 1", "2 1");
        assertThat(triggers()).as("its job ended before its time").isEmpty();
        play("trigger fini 1 * 0 once        -> says Job/step already completing or completed");
    }

    @Test
    void idleTriggerFiresAfterItsOffset() {
        play("""
                submit kind=BATCH nodeList=n1
                schedule
                trigger idle 0 n[1-2] 60 once
                pass 1
                pass 58
                """);
        assertThat(fired()).isEmpty();
        play("pass 5");
        assertThat(fired()).containsExactly("1 n2");
    }

    @Test
    void triggerWithoutRightsOrForUnknownNodeIsRefused() {
        play("""
                trigger down 0 n9 0 once             -> says Invalid node name specified
                trigger burst_buffer 0 * 0 once      -> says --burst_buffer needs BurstBufferType
                trigger down 0 * 0 once uid=7
                untrigger 1 uid=8                    -> says Access/permission denied
                untrigger 4 uid=8                    -> says No such process
                untrigger 1 uid=7
                trigger reconfig 0 * 0 once
                reconfigure
                pass 1
                """);
        assertThat(fired()).containsExactly("2 reconfig");
        State[] rebuilt = {State.EMPTY};
        cluster.state()
                .snapshot(c -> rebuilt[0] = rebuilt[0].apply(new dev.muster.core.state.Entry(0, 0, 0, "", List.of(c))));
        assertThat(rebuilt[0].triggers())
                .isEqualTo(cluster.state().triggers())
                .isEqualTo(new Trigger.All(2, Trigger.All.NONE.byId()));
        Cluster owned = new Cluster("n1 cpus=2", "p nodes=n1 default=yes", "slurmUid=900");
        new Play(owned).lines("""
                trigger down 0 * 0 once              -> says Access/permission denied
                trigger down 0 * 0 once uid=900
                """);
    }
}
