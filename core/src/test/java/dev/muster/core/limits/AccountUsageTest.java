package dev.muster.core.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.AccountPolicies;
import dev.muster.core.testkit.Cluster;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits on what an association or QOS has used over time, and on the jobs whose age accrues. */
class AccountUsageTest extends AccountPolicies {
    @Test
    void usedUpMinutesHoldLaterJobsOfTheAccount() {
        policy("limits", "GrpTRESMins=cpu=5", "", "");
        cluster.accept("charge.account=dept timing.timeLimitMin=20");
        cluster.schedule();
        int second = cluster.accept("charge.account=dept timing.timeLimitMin=20 nodesMin=1");
        cluster.schedule();
        assertThat(cluster.state().jobs().at(second).isPending())
                .as("nobody has to be safe")
                .isFalse();
        cluster.pass(301);
        cluster.pass(120);
        int third = cluster.accept("charge.account=dept timing.timeLimitMin=1");
        cluster.schedule();
        assertThat(cluster.shown(third)).isEqualTo("(AssocGrpCPUMinutesLimit)");
    }

    /** Sixty seconds on the clock are sixty, wherever in its second the last charge was. */
    @ParameterizedTest
    @CsvSource({"0", "500", "900"})
    void endedJobCountsTowardsGrpWallAtOnce(int charge) {
        cluster.jump(0, charge);
        policy("limits", "GrpWall=1", "", "");
        cluster.pass(0);
        cluster.jump(1, 0);
        int first = cluster.accept("charge.account=dept timing.timeLimitMin=20");
        cluster.schedule();
        cluster.jump(60, 100);
        cluster.apply(new Command.CancelJobs(
                0,
                List.of(new Command.JobRef(Integer.toString(first), first, -1, Command.JobRef.NO_STEP)),
                0,
                false,
                false,
                false,
                false,
                "why"));
        assertThat(cluster.state().jobs().at(first).run().endTime()
                        - cluster.state().jobs().at(first).run().startTime())
                .isEqualTo(60);
        int second = cluster.accept("charge.account=dept timing.timeLimitMin=20");
        cluster.schedule();
        assertThat(cluster.shown(second)).isEqualTo("(AssocGrpWallLimit)");
    }

    /** The time limit of a job alone must fit below GrpWall with "safe"; those of other jobs do not count. */
    @Test
    void safeGrpWallCountsTheJobsOwnLimitOnly() {
        policy("associations,limits,qos,safe", "GrpWall=15", "", "");
        int fits = cluster.accept("charge.account=dept timing.timeLimitMin=15");
        int too = cluster.accept("charge.account=dept timing.timeLimitMin=10");
        int no = cluster.accept("charge.account=dept timing.timeLimitMin=16");
        cluster.schedule();
        assertThat(cluster.state().jobs().at(fits).state()).isEqualTo(dev.muster.model.job.JobState.RUNNING);
        assertThat(cluster.state().jobs().at(too).state()).isEqualTo(dev.muster.model.job.JobState.RUNNING);
        assertThat(cluster.shown(no)).isEqualTo("(AssocGrpWallLimit)");
        int silent = cluster.accept("charge.account=dept");
        assertThat(cluster.state().jobs().at(silent).desc().timing().timeLimitMin())
                .isEqualTo(15);
    }

    /** A running job ends when what its account may use is used up. */
    @ParameterizedTest
    @CsvSource({
        "GrpTRESMins=cpu=5, '', TIMEOUT",
        "GrpTRESMins=cpu=50, '', RUNNING",
        "GrpWall=5, '', TIMEOUT",
        "'', GrpTRESMins=cpu=5, TIMEOUT",
        "GrpTRESMins=cpu=5, GrpTRESMins=cpu=50, RUNNING"
    })
    void runningJobEndsWhenItsUsageLimitIsUsedUp(String ofDept, String ofQos, String state) {
        policy("limits,qos", ofDept, "", ofQos);
        int id = cluster.accept("charge.account=dept charge.qos=fast timing.timeLimitMin=20");
        cluster.schedule();
        cluster.pass(299);
        assertThat(cluster.state().jobs().at(id).state().name()).isEqualTo("RUNNING");
        cluster.pass(302);
        assertThat(cluster.state().jobs().at(id).state().name()).isEqualTo(state);
    }

    /** Total usage has no limit at the root of a cluster; what runs at once has. */
    @ParameterizedTest
    @CsvSource({
        "GrpTRESMins=cpu=5, RUNNING",
        "GrpWall=5, RUNNING",
        "GrpTRESRunMins=cpu=5, AssocGrpCPURunMinutesLimit",
        "GrpTRES=cpu=0, AssocGrpCpuLimit"
    })
    void rootLimitsRunningUsageButNotTotalUsage(String ofRoot, String expected) {
        policy("limits,qos,safe", ofRoot, "", "", "");
        int id = cluster.accept("charge.account=dept timing.timeLimitMin=20");
        cluster.schedule();
        cluster.pass(302);
        assertThat(
                        cluster.state().jobs().at(id).isPending()
                                ? cluster.core().planner().reason(id).word()
                                : "RUNNING")
                .isEqualTo(expected);
    }

    /**
     * Limits on accruing jobs bound the jobs that grow older at once; when one of them starts, or the limit goes, the
     * next one does.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        GrpJobsAccrue=2 |                 |                                   | aab:++-
                        | MaxJobsAccrue=1 |                                   | aab:+-+
                        |                 | GrpJobsAccrue=1                   | aab:+--
                        |                 | MaxJobsAccruePU=1                 | aab:+-+
                        |                 | MaxJobsAccruePA=1                 | aab:+--
        GrpJobsAccrue=1 | MaxJobsAccrue=1 | GrpJobsAccrue=9 MaxJobsAccruePU=9 | aab:+++
        """)
    void accrueLimitBoundsTheJobsThatGainAge(String dept, String alice, String qos, String expected) {
        policy("limits,qos", dept == null ? "" : dept, alice == null ? "" : alice, qos == null ? "" : qos);
        cluster.accept("charge.account=dept charge.qos=normal nodesMin=2 exclusive=NODE timing.timeLimitMin=60");
        cluster.schedule();
        List<Integer> ids = new ArrayList<>();
        for (char who : expected.split(":")[0].toCharArray()) {
            cluster.pass(1);
            String of = who == 'b' ? " owner.user=bob owner.uid=1001" : "";
            cluster.apply(new Command.SubmitJob(
                    who == 'b' ? 1001 : Cluster.USER,
                    Cluster.desc("charge.account=dept charge.qos=fast" + of),
                    "",
                    dev.muster.json.Bytes.EMPTY,
                    dev.muster.json.Bytes.EMPTY,
                    false,
                    false));
            ids.add(cluster.state().nextJobId() - 1);
        }
        cluster.pass(100);
        StringBuilder found = new StringBuilder();
        ids.forEach(id -> found.append(
                dev.muster.core.limits.Priorities.accrueTime(
                                        cluster.state(), cluster.state().jobs().at(id))
                                > 0
                        ? '+'
                        : '-'));
        assertThat(expected).endsWith(":" + found);
        for (int i = found.indexOf("-"); i >= 0; i = -1) {
            long before = cluster.state().jobs().at(ids.get(i)).eligibleTime();
            cluster.apply(new Command.CancelJobs(
                    0,
                    List.of(new Command.JobRef(Integer.toString(ids.get(0)), ids.get(0), -1, Command.JobRef.NO_STEP)),
                    0,
                    false,
                    false,
                    false,
                    false,
                    "why"));
            cluster.pass(5);
            assertThat(dev.muster.core.limits.Priorities.accrueTime(
                            cluster.state(), cluster.state().jobs().at(ids.get(i))))
                    .isGreaterThan(before + 90);
        }
        policy("limits,qos", "", "", "");
        ids.stream()
                .skip(1)
                .forEach(id -> assertThat(dev.muster.core.limits.Priorities.accrueTime(
                                cluster.state(), cluster.state().jobs().at(id)))
                        .isEqualTo(cluster.state().jobs().at(id).eligibleTime()));
    }

    /** Usage of a QOS with NoDecay is not forgotten. */
    @ParameterizedTest
    @CsvSource({"'', false", "Flags=NoDecay, true"})
    void usageOfAQosMayStay(String flags, boolean stays) {
        policy("limits,qos", "", "", flags);
        int id = cluster.accept("charge.account=dept charge.qos=fast timing.timeLimitMin=10");
        cluster.schedule();
        cluster.pass(301);
        cluster.apply(new Command.CancelJobs(
                0,
                List.of(new Command.JobRef(Integer.toString(id), id, -1, Command.JobRef.NO_STEP)),
                0,
                false,
                false,
                false,
                false,
                "why"));
        cluster.pass(400);
        long used = cluster.state().shares().qos().at(2);
        cluster.pass(86_400);
        assertThat(cluster.state().shares().qos().at(2) == used).isEqualTo(stays);
        assertThat(cluster.state().shares().usage().at(3)).isLessThan(used);
    }
}
