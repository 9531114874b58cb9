package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.AccountPolicies;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Room that is kept, or not, for jobs with limits of associations and QOS. */
class LimitPlanTest extends AccountPolicies {
    private long plannedStart(int job) {
        return ((Scheduler) cluster.core().planner()).plannedStart(job);
    }

    @Test
    void componentsHeldByALimitReserveNoNodes() {
        policy("limits,qos", "GrpTRES=cpu=3", "", "");
        cluster.submit("charge.account=dept tasks=2");
        cluster.schedule();
        Command.SubmitJob part = new Command.SubmitJob(
                Cluster.USER,
                Cluster.desc("kind=BATCH charge.account=dept"),
                "",
                Bytes.EMPTY,
                Bytes.EMPTY,
                false,
                false);
        assertThat(cluster.apply(new Command.SubmitHet(Cluster.USER, List.of(part, part), "", false, false)))
                .isInstanceOf(Decision.Accepted.class);
        cluster.schedule();
        for (int id = last().id() - 1; id <= last().id(); id++) {
            assertThat(cluster.shown(id)).isEqualTo("(AssocGrpCpuLimit)");
            assertThat(plannedStart(id)).isZero();
        }
    }

    /** A job that may have no reservation waits without a planned start. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                                | true
        Flags=NoReserve         | false
        MinPrioThresh=4         | true
        MinPrioThresh=4294967294 | false
        """)
    void qosDecidesWhetherAJobHasAPlannedStart(String ofQos, boolean kept) {
        policy("limits,qos", "", "", ofQos == null ? "" : ofQos);
        cluster.accept("charge.account=dept charge.qos=fast nodesMin=2 exclusive=NODE timing.timeLimitMin=20");
        cluster.schedule();
        int id = cluster.accept("charge.account=dept charge.qos=fast nodesMin=2 exclusive=NODE timing.timeLimitMin=20");
        cluster.schedule();
        assertThat(cluster.shown(id)).isEqualTo("(Resources)");
        assertThat(plannedStart(id) > 0).isEqualTo(kept);
    }
}
