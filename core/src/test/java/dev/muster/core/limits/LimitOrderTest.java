package dev.muster.core.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which reason a job is told that waits for several limits at once, while others run: as measured of Slurm. */
class LimitOrderTest {
    /**
     * The limits in the order in which they are reported: whose limit it is (of the partition's QOS, the job's, the
     * user, the account, the root), the limit and its word.
     */
    private static final List<String> TOLD = """
            p GrpJobs=1 QOSGrpJobsLimit
            p GrpWall=4 QOSGrpWallLimit
            p MaxJobsPA=1 MaxJobsPerAccount
            p MaxJobsPU=1 QOSMaxJobsPerUserLimit
            p MaxWall=4 QOSMaxWallDurationPerJobLimit
            q GrpJobs=1 QOSGrpJobsLimit
            q GrpWall=4 QOSGrpWallLimit
            q MaxJobsPA=1 MaxJobsPerAccount
            q MaxJobsPU=1 QOSMaxJobsPerUserLimit
            q MaxWall=4 QOSMaxWallDurationPerJobLimit
            u GrpJobs=1 AssocGrpJobsLimit
            u GrpWall=4 AssocGrpWallLimit
            u MaxJobs=1 AssocMaxJobsLimit
            u MaxWall=4 AssocMaxWallDurationPerJobLimit
            a GrpJobs=1 AssocGrpJobsLimit
            a GrpWall=4 AssocGrpWallLimit
            r GrpJobs=1 AssocGrpJobsLimit
            p GrpTRESMins=cpu=4 QOSGrpCPUMinutesLimit
            p GrpTRES=cpu=1 QOSGrpCpuLimit
            p GrpTRESRunMins=cpu=4 QOSGrpCPURunMinutesLimit
            p MaxTRESMins=cpu=4 QOSMaxCpuMinutesPerJobLimit
            p MaxTRES=cpu=1 QOSMaxCpuPerJobLimit
            p MaxTRESPerNode=cpu=1 QOSMaxCpuPerNode
            p MinTRES=cpu=9 QOSMinCpuNotSatisfied
            p MaxTRESPA=cpu=1 MaxCpuPerAccount
            p MaxTRESPU=cpu=1 QOSMaxCpuPerUserLimit
            q GrpTRESMins=cpu=4 QOSGrpCPUMinutesLimit
            q GrpTRES=cpu=1 QOSGrpCpuLimit
            q GrpTRESRunMins=cpu=4 QOSGrpCPURunMinutesLimit
            q MaxTRESMins=cpu=4 QOSMaxCpuMinutesPerJobLimit
            q MaxTRES=cpu=1 QOSMaxCpuPerJobLimit
            q MaxTRESPerNode=cpu=1 QOSMaxCpuPerNode
            q MinTRES=cpu=9 QOSMinCpuNotSatisfied
            q MaxTRESPA=cpu=1 MaxCpuPerAccount
            q MaxTRESPU=cpu=1 QOSMaxCpuPerUserLimit
            u GrpTRESMins=cpu=4 AssocGrpCPUMinutesLimit
            u GrpTRES=cpu=1 AssocGrpCpuLimit
            u GrpTRESRunMins=cpu=4 AssocGrpCPURunMinutesLimit
            u MaxTRESMins=cpu=4 AssocMaxCpuMinutesPerJobLimit
            u MaxTRES=cpu=1 AssocMaxCpuPerJobLimit
            u MaxTRESPerNode=cpu=1 AssocMaxCpuPerNode
            a GrpTRESMins=cpu=4 AssocGrpCPUMinutesLimit
            a GrpTRES=cpu=1 AssocGrpCpuLimit
            a GrpTRESRunMins=cpu=4 AssocGrpCPURunMinutesLimit
            r GrpTRES=cpu=1 AssocGrpCpuLimit
            r GrpTRESRunMins=cpu=4 AssocGrpCPURunMinutesLimit
            """.lines().toList();

    private static Policy policy(List<String> rows) {
        Map<String, Map<String, String>> of = new TreeMap<>();
        for (String row : rows) {
            String[] part = row.split(" ");
            int equals = part[1].indexOf('=');
            of.computeIfAbsent(part[0], k -> new TreeMap<>())
                    .put(part[1].substring(0, equals), part[1].substring(equals + 1));
        }
        List<String> qos = List.of("fast", "part");
        return new Policy(
                List.of(
                        new AssocPolicy(1, 0, "root", "", "", false, of.getOrDefault("r", Map.of()), qos, ""),
                        new AssocPolicy(2, 1, "dept", "", "", false, of.getOrDefault("a", Map.of()), qos, ""),
                        new AssocPolicy(3, 2, "dept", "alice", "", true, of.getOrDefault("u", Map.of()), qos, "")),
                List.of(
                        new QosPolicy(1, "part", of.getOrDefault("p", Map.of())),
                        new QosPolicy(2, "fast", of.getOrDefault("q", Map.of()))),
                List.of(),
                List.of());
    }

    /**
     * The next limit is reported once the reported one is gone. Limits that one QOS names do not count of the other,
     * nor of associations, so some are left out.
     */
    @ParameterizedTest
    @ValueSource(strings = {"p", "q", "pq", ""})
    void brokenLimitsAreReportedInSlurmsOrder(String qos) {
        Cluster c = new Cluster(
                "n[1-2] cpus=8 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10" + (qos.contains("p") ? " qos=part" : ""),
                "memoryConsumed=true options.accounting_enforce=associations,limits,qos,safe");
        List<String> left = new ArrayList<>(TOLD);
        left.removeIf(row -> row.startsWith("p") && !qos.contains("p") || row.startsWith("q") && !qos.contains("q"));
        // either QOS has every second limit
        List<String> names = TOLD.stream().map(r -> r.split(" ")[1]).distinct().toList();
        left.removeIf(row -> qos.length() == 2
                && "pq".contains(row.substring(0, 1))
                && names.indexOf(row.split(" ")[1]) % 2 == (row.startsWith("p") ? 0 : 1));
        c.apply(new Command.ApplyPolicy(policy(List.of())));
        c.accept("charge.account=dept charge.qos=fast tasks=2 timing.timeLimitMin=5");
        c.schedule();
        c.apply(new Command.ApplyPolicy(policy(left)));
        int id = c.accept("charge.account=dept charge.qos=fast tasks=2 timing.timeLimitMin=5");
        while (!left.isEmpty()) {
            String row = left.removeFirst();
            c.schedule();
            Job job = c.state().jobs().at(id);
            assertThat(job.isPending()).as(row).isTrue();
            if (isHidden(row, left)) {
                c.apply(new Command.ApplyPolicy(policy(left)));
                continue;
            }
            String word = c.core().planner().reason(id).word();
            assertThat(word).as(row).isEqualTo(row.split(" ")[2]);
            AccountUse use = new AccountUse();
            use.reset(c.state());
            assertThat(new AccountRules(c.state())
                            .blocks(job.desc(), Allocation.NONE, 5, use)
                            .word())
                    .as(row)
                    .isEqualTo(word);
            c.apply(new Command.ApplyPolicy(policy(left)));
        }
        c.schedule();
        assertThat(c.state().jobs().at(id).isPending()).isFalse();
    }

    /** Tests whether a QOS that is still to come names the same limit, which counts in place of the association's. */
    private static boolean isHidden(String row, List<String> left) {
        String name = row.substring(2, row.indexOf('=')).replace("MaxJobs", "MaxJobsPU");
        return "uar".contains(row.substring(0, 1))
                && left.stream().anyMatch(r -> "pq".contains(r.substring(0, 1)) && r.startsWith(name + "=", 2));
    }
}
