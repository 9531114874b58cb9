package dev.muster.core.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.AccountPolicies;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The time limit that a job has from its association or QOS. */
class AccountTimeLimitTest extends AccountPolicies {
    @Test
    void aJobWithoutALimitGetsTheAssociations() {
        policy("associations,limits", "", "MaxWall=10", "");
        cluster.submit("");
        assertThat(last().desc().timing().timeLimitMin()).isEqualTo(10);
    }

    /** Another QOS brings its time limit, whatever was asked for before, unless the same request says one. */
    @Test
    void anotherQosBringsItsLimit() {
        policy("associations,limits,qos", "", "", "");
        List<AssocPolicy> assocs =
                List.copyOf(cluster.state().accounts().assocs().values());
        cluster.apply(new Command.ApplyPolicy(new Policy(
                assocs,
                List.of(new QosPolicy(1, "normal", limits("")), new QosPolicy(2, "fast", limits("MaxWall=30"))),
                List.of(),
                List.of())));
        String[][] table = {{"fast", "", "30"}, {"fast", "20", "20"}, {"normal", "", "10"}};
        for (String[] row : table) {
            cluster.accept("charge.account=dept charge.qos=normal timing.timeLimitMin=10 timing.hold=true");
            Map<String, String> changes = new java.util.TreeMap<>(Map.of("qos", row[0]));
            if (!row[1].isEmpty()) {
                changes.put("timelimit", row[1]);
            }
            cluster.apply(
                    new Command.UpdateJob(0, new Command.JobRef("", last().id(), -1, Command.JobRef.NO_STEP), changes));
            assertThat(last().desc().charge().qos() + " "
                            + last().desc().timing().timeLimitMin())
                    .isEqualTo(row[0] + " " + row[2]);
        }
    }

    /** The partition's QOS goes before the job's own, unless that has OverPartQOS. */
    @ParameterizedTest
    @CsvSource({"MaxWall=1, 2", "MaxWall=1 Flags=OverPartQOS, 1"})
    void partitionQosMaxWallGoesBeforeTheJobsQos(String own, int minutes) {
        policy("associations,limits,qos", "", "MaxWall=10", "MaxWall=2");
        List<AssocPolicy> assocs =
                List.copyOf(cluster.state().accounts().assocs().values());
        cluster.apply(new Command.ApplyPolicy(new Policy(
                assocs,
                List.of(new QosPolicy(1, "normal", limits(own)), new QosPolicy(2, "fast", limits("MaxWall=2"))),
                List.of(),
                List.of())));
        cluster.apply(new Command.UpdatePartition(0, "p", Map.of("qos", "fast")));
        cluster.accept("charge.account=dept charge.qos=normal");
        assertThat(last().desc().timing().timeLimitMin()).isEqualTo(minutes);
    }
}
