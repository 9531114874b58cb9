package dev.muster.core.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.testkit.AccountPolicies;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Associations and QOS: the association that a job is charged to, and the limit and reason that hold it back. */
class AccountLimitsTest extends AccountPolicies {
    @Test
    void defaultAccountAndQosAreFilledIn() {
        policy("", "", "", "");
        cluster.submit("");
        assertThat(last().desc().charge().account()).isEqualTo("dept");
        assertThat(last().desc().charge().qos()).isEqualTo("normal");
        cluster.submit("charge.account=OTHER");
        assertThat(last().desc().charge().account()).isEqualTo("other");
        cluster.submit("charge.account=nowhere");
        assertThat(last().desc().charge().account())
                .as("no association is enforced")
                .isEqualTo("dept");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        associations | charge.account=nowhere              | Invalid account or account/partition combination specified
        associations     | charge.account=dept charge.qos=nope | ''
        associations,qos | charge.account=dept charge.qos=nope | Invalid qos specification
        associations,qos | charge.account=other charge.qos=fast | Invalid qos specification
        associations,qos | charge.account=dept charge.qos=fast | ''
        """)
    void unknownAccountOrQosIsRefused(String enforce, String job, String sentence) {
        policy(enforce, "", "", "");
        String said = cluster.apply(new Command.SubmitJob(
                                Cluster.USER,
                                Cluster.desc(job),
                                "",
                                dev.muster.json.Bytes.EMPTY,
                                dev.muster.json.Bytes.EMPTY,
                                false,
                                false))
                        instanceof Decision.Rejected r
                ? r.sentence()
                : "";
        assertThat(said).isEqualTo(sentence);
    }

    /** A reservation cannot be made for a user that could not submit a job. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        associations | users=nobody | Invalid account or account/partition combination specified
        associations | users=-nobody | Invalid account or account/partition combination specified
        associations | users=USER,nobody | Invalid account or account/partition combination specified
        associations | users=USER    | ''
        ''           | users=nobody | ''
        """)
    void reservationsAreForUsersOfAccounts(String enforce, String of, String sentence) {
        policy(enforce, "", "", "");
        String user = Cluster.desc("").owner().user();
        Map<String, String> values = cluster.moments(new TreeMap<>(Map.of(
                "starttime",
                "+60",
                "duration",
                "60",
                "nodes",
                "n1",
                "users",
                of.substring(6).replace("USER", user))));
        String said =
                cluster.apply(new Command.CreateReservation(0, "r", values, Map.of())) instanceof Decision.Rejected r
                        ? r.sentence()
                        : "";
        assertThat(said).isEqualTo(sentence);
    }

    /**
     * A node that several jobs share counts once, and is taken first; which ones come is known only when they are
     * chosen.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        GrpTRES=node=1 |                  | -, -, nodeList=n2      | n1 n1 AssocGrpNodeLimit
        GrpTRES=node=1 |                  | nodesMin=2, -          | AssocGrpNodeLimit n1
        GrpTRES=node=1 |                  | tasks=4, -             | n1 AssocGrpNodeLimit
        GrpTRES=node=2 |                  | nodeList=n2, -, -      | n2 n2 n2
                       |                  | nodeList=n2, -, -      | n2 n1 n1
        GrpTRES=node=2 |                  | nodeList=n2, nodesMin=2, nodesMin=2, -  | n2 n[1-2] n[1-2] n1
                       | MaxTRESPU=node=1 | -, -, nodeList=n2      | n1 n1 QOSMaxNodePerUserLimit
                       | MaxTRESPA=node=1 | nodeList=n2, -, nodesMin=2      | n2 n2 MaxNodePerAccount
                       | GrpTRES=node=1   | -, -, nodeList=n2      | n1 n1 QOSGrpNodeLimit
        """)
    void aNodeThatIsSharedCountsOnce(String ofDept, String ofQos, String jobs, String outcome) {
        policy("limits,qos", ofDept == null ? "" : ofDept, "", ofQos == null ? "" : ofQos);
        List<Integer> ids = new ArrayList<>();
        for (String job : jobs.split(",")) {
            cluster.submit("charge.account=dept charge.qos=fast " + (job.strip().equals("-") ? "" : job.strip()));
            ids.add(last().id());
            cluster.schedule();
        }
        cluster.schedule();
        assertThat(ids.stream()
                        .map(id -> cluster.state().jobs().at(id))
                        .map(j -> j.isPending()
                                ? cluster.core().planner().reason(j.id()).word()
                                : j.run().allocation().hostList())
                        .toList())
                .isEqualTo(List.of(outcome.split(" ")));
    }

    /** All components of a job wait for the limit that one of them meets. */
    @Test
    void componentsThatALimitKeepsBackSaySo() {
        policy("limits,qos", "GrpTRES=cpu=3", "", "");
        cluster.submit("charge.account=dept tasks=2");
        cluster.schedule();
        Command.SubmitJob part = new Command.SubmitJob(
                Cluster.USER,
                Cluster.desc("kind=BATCH charge.account=dept"),
                "",
                dev.muster.json.Bytes.EMPTY,
                dev.muster.json.Bytes.EMPTY,
                false,
                false);
        assertThat(cluster.apply(new Command.SubmitHet(Cluster.USER, List.of(part, part), "", false, false)))
                .isInstanceOf(Decision.Accepted.class);
        cluster.schedule();
        for (int id = last().id() - 1; id <= last().id(); id++) {
            assertThat(cluster.core().planner().reason(id).word()).isEqualTo("AssocGrpCpuLimit");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        GrpTRES=node=3  | Flags=DenyOnLimit                        | 2,2 | refused
        GrpTRES=node=4  | Flags=DenyOnLimit                        | 2,2 | taken
        GrpTRES=node=3  | MaxTRESPU=node=9                         | 2,2 | refused
        GrpTRES=node=9  | MaxTRESPU=node=3                         | 2,2 | taken
                        | Flags=DenyOnLimit MaxTRESPU=node=1       | 1,1 | refused
        GrpTRES=node=10 | Flags=DenyOnLimit LimitFactor=0.3        | 2,2 | refused
        GrpTRES=node=2  | Flags=DenyOnLimit LimitFactor=2          | 2,2 | taken
        """)
    void limitsCountAllHetComponentsTogether(String ofDept, String ofQos, String nodes, String outcome) {
        policy("limits,qos", ofDept == null ? "" : ofDept, "", ofQos);
        List<Command.SubmitJob> parts = java.util.Arrays.stream(nodes.split(","))
                .map(n -> new Command.SubmitJob(
                        Cluster.USER,
                        Cluster.desc("charge.account=dept charge.qos=fast nodesMin=" + n),
                        "",
                        dev.muster.json.Bytes.EMPTY,
                        dev.muster.json.Bytes.EMPTY,
                        false,
                        false))
                .toList();
        Decision decision = cluster.apply(new Command.SubmitHet(Cluster.USER, parts, "", false, false));
        assertThat(decision instanceof Decision.Rejected ? "refused" : "taken").isEqualTo(outcome);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        GrpTRES=cpu=2                       | GrpTRES=cpu=1 | (QOSGrpCpuLimit)
        GrpTRES=cpu=1                       | GrpTRES=cpu=9 | run
        GrpTRES=cpu=1 Flags=OverPartQOS     | GrpTRES=cpu=9 | (QOSGrpCpuLimit)
        GrpTRES=cpu=9 Flags=OverPartQOS     | GrpTRES=cpu=1 | run
        GrpJobs=1                           | GrpTRES=cpu=9 | (QOSGrpJobsLimit)
        """)
    void aPartitionsQosCountsBeforeTheJobsOwn(String ofFast, String ofNormal, String second) {
        policy("limits,qos", "", "", ofFast);
        cluster.apply(new Command.ApplyPolicy(new Policy(
                cluster.state().accounts().assocs().values().stream().toList(),
                List.of(new QosPolicy(1, "normal", limits(ofNormal)), new QosPolicy(2, "fast", limits(ofFast))),
                List.of(),
                List.of())));
        cluster.apply(new Command.UpdatePartition(0, "p", Map.of("qos", "normal")));
        cluster.accept("charge.account=dept charge.qos=fast");
        int id = cluster.accept("charge.account=dept charge.qos=fast");
        cluster.schedule();
        assertThat(cluster.shown(id).startsWith("(") ? cluster.shown(id) : "run")
                .isEqualTo(second);
    }

    /** A job that may run under several QOS waits by the best of them and runs under the best that has room for it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        Priority=9               | normal,fast | fast,normal | fast fast
        Priority=9               | FAST,fast   | fast        | fast fast
                                 | normal,fast | normal,fast | normal normal
        Priority=9 GrpJobs=1     | normal,fast | fast,normal | fast normal
        Priority=9 MaxTRES=cpu=0 | normal,fast | fast,normal | normal normal
        Priority=9               | normal,nope | refused     | ''
        """)
    void severalQosAreTriedBestFirst(String ofFast, String asked, String queued, String ran) {
        policy("associations,limits,qos", "", "", ofFast == null ? "" : ofFast);
        List<String> found = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            if (cluster.submit("charge.account=dept charge.qos=" + asked) instanceof Decision.Rejected) {
                assertThat(queued).isEqualTo("refused");
                return;
            }
            assertThat(last().desc().charge().qos()).isEqualTo(queued);
            cluster.schedule();
            assertThat(last().isPending()).isFalse();
            found.add(last().desc().charge().qos());
        }
        assertThat(String.join(" ", found)).isEqualTo(ran);
    }

    /** AllowAccounts and DenyAccounts mean those below an account as well. */
    @Test
    void allowAndDenyAccountsIncludeAccountsBelow() {
        policy("associations", "", "", "");
        String[][] rows = {
            {"root", "", "ok ok"}, {"dept", "", "ok no"}, {"ALL", "root", "no no"}, {"ALL", "other", "ok no"}
        };
        for (String[] row : rows) {
            cluster.apply(new Command.UpdatePartition(0, "p", Map.of("allowaccounts", row[0])));
            cluster.apply(new Command.UpdatePartition(0, "p", Map.of("denyaccounts", row[1])));
            List<String> outcome = new ArrayList<>();
            for (String account : List.of("dept", "other")) {
                int id = cluster.accept("charge.account=" + account);
                cluster.schedule();
                outcome.add(cluster.shown(id).equals("(AccountNotAllowed)") ? "no" : "ok");
            }
            assertThat(String.join(" ", outcome)).as(row[0] + "-" + row[1]).isEqualTo(row[2]);
        }
    }

    /** A QOS that refuses a job at submission does not see it again. */
    @Test
    void qosThatRefusesAtSubmissionIsDroppedFromTheList() {
        policy("associations,limits,qos", "", "", "Priority=9 MaxSubmitJobsPU=1");
        int first = cluster.accept("charge.account=dept charge.qos=fast,normal");
        int second = cluster.accept("charge.account=dept charge.qos=fast,normal");
        assertThat(cluster.state().jobs().at(first).desc().charge().qos()).isEqualTo("fast,normal");
        assertThat(cluster.state().jobs().at(second).desc().charge().qos()).isEqualTo("normal");
    }

    /** A job without a reservation runs under no QOS that asks for one, wherever that QOS stands among others. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Priority=9 Flags=RequiresReservation | fast,normal | normal
            Flags=RequiresReservation            | normal,fast | normal
            Flags=RequiresReservation            | normal      | normal
            """)
    void qosThatRequiresAReservationIsDroppedFromTheList(String ofQos, String asked, String left) {
        policy("associations,limits,qos", "", "", ofQos);
        int id = cluster.accept("charge.account=dept charge.qos=" + asked);
        assertThat(cluster.state().jobs().at(id).desc().charge().qos()).isEqualTo(left);
    }

    /**
     * The QOS that a limit holds back is skipped among several: the job waits for nodes by another. A partition that
     * denies one leaves the job both.
     */
    @Test
    void qosThatMayNotRunIsSkippedAmongSeveral() {
        policy("associations,limits,qos", "", "", "Priority=9 GrpJobs=0");
        cluster.accept("charge.account=dept nodesMin=2 exclusive=NODE timing.timeLimitMin=5");
        cluster.schedule();
        int waits = cluster.accept("charge.account=dept charge.qos=fast,normal nodesMin=2");
        cluster.schedule();
        assertThat(cluster.shown(waits)).isEqualTo("(Resources)");
        policy("associations,limits,qos", "", "", "Priority=9");
        cluster.apply(new Command.UpdatePartition(0, "p", Map.of("denyqos", "fast")));
        int alone = cluster.accept("charge.account=dept charge.qos=fast");
        cluster.schedule();
        assertThat(cluster.shown(alone)).isEqualTo("(QOSNotAllowed)");
        int denied = cluster.accept("charge.account=dept charge.qos=fast,normal");
        assertThat(cluster.state().jobs().at(denied).desc().charge().qos()).isEqualTo("fast,normal");
    }

    @Test
    void immediateJobIsRefusedWhereALimitHoldsItBack() {
        policy("limits", "", "MaxTRES=node=1", "");
        assertThat(cluster.apply(new Command.SubmitJob(
                        Cluster.USER,
                        Cluster.desc("charge.account=dept nodesMin=2"),
                        "",
                        dev.muster.json.Bytes.EMPTY,
                        dev.muster.json.Bytes.EMPTY,
                        true,
                        false)))
                .isEqualTo(Decision.reject(dev.muster.model.SlurmErrno.ACCOUNTING_POLICY));
    }

    /** Licenses count as other resources do. */
    @Test
    void licenseLimitsHoldTheJob() {
        policy("associations,limits,qos,safe", "GrpTRES=license/lic=2", "", "");
        int first = cluster.accept("charge.account=dept licenses=lic:2");
        int next = cluster.accept("charge.account=dept licenses=lic:1");
        cluster.schedule();
        assertThat(cluster.state().jobs().at(first).state()).isEqualTo(dev.muster.model.job.JobState.RUNNING);
        assertThat(cluster.shown(next)).isEqualTo("(AssocGrpLicense)");
        Map<String, String> named = Map.of(
                "GrpTRES=license/lic=1||",
                "AssocGrpLicense",
                "|MaxTRES=license/lic=1|",
                "AssocMaxLicensePerJob",
                "||GrpTRES=license/lic=1",
                "QOSGrpLicense",
                "||MaxTRESPU=license/lic=1",
                "QOSMaxLicensePerUser",
                "||MinTRES=license/lic=3",
                "QOSMinLicense",
                "||MaxTRESPA=license/lic=1",
                "MaxLicensePerAccount");
        named.forEach((limits, name) -> {
            String[] part = limits.split("\\|", -1);
            policy("associations,limits,qos,safe", part[0], part[1], part[2]);
            int id = cluster.accept("charge.account=dept charge.qos=fast licenses=lic:2");
            cluster.schedule();
            assertThat(cluster.shown(id)).as(limits).isEqualTo("(" + name + ")");
        });
    }

    /** Burst buffers count in mebibytes. */
    @Test
    void burstBufferLimitsCountInMebibytes() {
        Map<String, String> named = Map.of(
                "|MaxTRES=bb/lua=1999|Flags=DenyOnLimit",
                "AssocMaxBBPerJob",
                "||Flags=DenyOnLimit MaxTRES=bb/lua=1999",
                "QOSMaxBBPerJob",
                "||Flags=DenyOnLimit MaxTRESPU=bb/lua=1999",
                "QOSMaxBBPerUser",
                "||Flags=DenyOnLimit MinTRES=bb/lua=2001",
                "QOSMinBB",
                "||Flags=DenyOnLimit GrpTRESMins=bb/lua=19999",
                "QOSGrpBBMinutes",
                "|MaxTRES=bb/lua=2000|Flags=DenyOnLimit",
                "");
        named.forEach((limits, name) -> {
            String[] part = limits.split("\\|", -1);
            policy("associations,limits,qos,safe", part[0], part[1], part[2]);
            dev.muster.model.job.JobDesc desc =
                    Cluster.desc("charge.account=dept charge.qos=fast timing.timeLimitMin=10");
            desc = desc.withExtras(desc.extras().withBurstBuffer("#BB_LUA pool=big capacity=2000MiB"));
            Decision d = cluster.apply(new Command.SubmitJob(
                    Cluster.USER, desc, "", dev.muster.json.Bytes.EMPTY, dev.muster.json.Bytes.EMPTY, false, false));
            assertThat(d instanceof Decision.Rejected r ? r.sentence() + "\n" : "\n")
                    .as(limits)
                    .startsWith(name + "\n");
        });
    }

    /** The refusal of a job has the limit by its name, then the sentence that is the same for all limits. */
    @Test
    void aRefusalNamesTheLimit() {
        Map<String, String> named = Map.of(
                "GrpSubmitJobs=0||",
                "AssocGrpSubmitJobsLimit",
                "|MaxSubmitJobs=0|",
                "AssocMaxSubmitJobLimit",
                "||GrpSubmitJobs=0",
                "QOSGrpSubmitJobsLimit",
                "||MaxSubmitJobsPU=0",
                "QOSMaxSubmitJobPerUserLimit",
                "||MaxSubmitJobsPA=0",
                "MaxSubmitJobsPerAccount",
                "||Flags=DenyOnLimit MaxTRES=cpu=1",
                "QOSMaxCpuPerJobLimit",
                "||Flags=DenyOnLimit GrpTRESMins=cpu=5",
                "QOSGrpCPUMinutesLimit",
                "||Flags=DenyOnLimit GrpWall=5",
                "QOSGrpWallLimit",
                "|GrpTRESRunMins=cpu=19|Flags=DenyOnLimit",
                "AssocGrpCPURunMinutesLimit");
        named.forEach((limits, name) -> {
            String[] part = limits.split("\\|", -1);
            policy("associations,limits,qos,safe", part[0], part[1], part[2]);
            dev.muster.model.job.JobDesc desc =
                    Cluster.desc("charge.account=dept charge.qos=fast tasks=2 timing.timeLimitMin=10");
            Decision d = cluster.apply(new Command.SubmitJob(
                    Cluster.USER, desc, "", dev.muster.json.Bytes.EMPTY, dev.muster.json.Bytes.EMPTY, false, false));
            assertThat(d)
                    .as(limits)
                    .isInstanceOfSatisfying(
                            Decision.Rejected.class,
                            r -> assertThat(r.sentence()).startsWith(name + "\nJob violates"));
        });
    }

    /** Accounts are checked where associations are enforced, a QOS everywhere. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            allowqos=fast,q2    | | normal | Job's QOS not permitted to use this partition (p allows fast,q2 not normal)
            denyqos=normal | | normal | Job's QOS not permitted to use this partition (p denies normal including normal)
            allowqos=fast,q2    | | nosuch | Job's QOS not known, so it can't use this partition (p allows fast,q2)
            allowaccounts=other | associations |        | Job's account not permitted to use this partition (p allows other not dept)
            denyaccounts=dept   | associations |        | Job's account not permitted to use this partition (p denies dept including dept)
            denyaccounts=other  | associations |        | ''
            allowaccounts=other | limits       |        | ''
            denyaccounts=dept   | ''           |        | ''
            """)
    void partitionNamesTheAccountOrQosItDoesNotAdmit(String list, String enforced, String qos, String expected) {
        cluster = new Cluster("n1 cpus=4 mem=1000", "q nodes=n1 default=yes\np nodes=n1 " + list, "");
        policy(enforced == null ? "" : enforced, "", "", "");
        JobDesc desc = Cluster.desc("partition=q,p charge.account=dept charge.qos=" + (qos == null ? "normal" : qos));

        assertThat(PartitionLimits.notAdmitted(desc, cluster.state(), qos != null))
                .isEqualTo(expected);
    }

    /** One of several broken limits is reported; without it the next one is. */
    @Test
    void firstOfSeveralBrokenLimitsIsReported() {
        Map<String, String> limits =
                new TreeMap<>(limits("GrpTRES=cpu=2 MaxTRES=cpu=2 MaxTRESPerNode=cpu=2 MaxTRESPU=cpu=2 MaxTRESPA=cpu=2"
                        + " GrpTRESMins=cpu=5 GrpTRESRunMins=cpu=5 GrpWall=5 MaxWall=5 MaxTRESMins=cpu=5 "
                        + "MinTRES=cpu=4 GrpSubmitJobs=0 MaxSubmitJobsPU=0"
                        + " MaxSubmitJobsPA=0"));
        String told = "MaxTRESPA MaxCpuPerAccount, MaxTRESPU QOSMaxCpuPerUserLimit, GrpTRES QOSGrpCpuLimit, "
                + "GrpSubmitJobs QOSGrpSubmitJobsLimit,"
                + " MaxTRESMins QOSMaxCpuMinutesPerJobLimit, GrpTRESMins QOSGrpCPUMinutesLimit, "
                + "GrpTRESRunMins QOSGrpCPURunMinutesLimit,"
                + " MaxWall QOSMaxWallDurationPerJobLimit, GrpWall QOSGrpWallLimit, MaxTRES "
                + "QOSMaxCpuPerJobLimit, MaxTRESPerNode QOSMaxCpuPerNode,"
                + " MaxSubmitJobsPA MaxSubmitJobsPerAccount, MaxSubmitJobsPU QOSMaxSubmitJobPerUserLimit, "
                + "MinTRES QOSMinCpuNotSatisfied";
        for (String step : told.split(", ")) {
            StringBuilder text = new StringBuilder("Flags=DenyOnLimit");
            limits.forEach(
                    (name, value) -> text.append(' ').append(name).append('=').append(value));
            policy("associations,limits,qos,safe", "", "", text.toString());
            Decision d = cluster.apply(new Command.SubmitJob(
                    Cluster.USER,
                    Cluster.desc("charge.account=dept charge.qos=fast tasks=3" + " timing.timeLimitMin=6"),
                    "",
                    dev.muster.json.Bytes.EMPTY,
                    dev.muster.json.Bytes.EMPTY,
                    false,
                    false));
            assertThat(d)
                    .as(step)
                    .isInstanceOfSatisfying(
                            Decision.Rejected.class,
                            r -> assertThat(r.sentence()).startsWith(step.substring(step.indexOf(' ') + 1) + "\n"));
            limits.remove(step.substring(0, step.indexOf(' ')));
        }
    }

    /**
     * Limits count the memory that a job requests at its submission where memory is not a consumable resource, and a
     * whole node's if it requests none; they do not count it while the job runs.
     */
    @Test
    void memoryThatIsNotDealtOutIsNotCounted() {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000",
                "p nodes=n[1-2] default=yes",
                "memoryConsumed=false options.accounting_enforce=limits,qos");
        for (String flags : List.of("", "DenyOnLimit")) {
            Map<String, String> most = limits(
                    "GrpTRES=mem=100 MaxTRES=mem=100 MaxTRESPU=mem=100" + (flags.isEmpty() ? "" : " Flags=" + flags));
            c.apply(new Command.ApplyPolicy(new Policy(
                    List.of(
                            assoc(1, 0, "root", "", "GrpTRES=mem=50"),
                            assoc(3, 1, "dept", "alice", "MaxTRES=mem=50", "fast")),
                    List.of(new QosPolicy(2, "fast", most)),
                    List.of(),
                    List.of())));
            List<String> found = new ArrayList<>();
            for (String job : List.of("request.memPerNodeMb=200", "request.memPerNodeMb=20", "")) {
                Decision d = c.apply(new Command.SubmitJob(
                        Cluster.USER,
                        Cluster.desc("charge.account=dept charge.qos=fast " + job.replace("request.", "")),
                        "",
                        dev.muster.json.Bytes.EMPTY,
                        dev.muster.json.Bytes.EMPTY,
                        false,
                        false));
                c.schedule();
                found.add(
                        d instanceof Decision.Rejected r
                                ? r.sentence().split("\n")[0]
                                : c.state()
                                        .jobs()
                                        .at(c.state().nextJobId() - 1)
                                        .state()
                                        .name());
            }
            assertThat(found)
                    .isEqualTo(
                            flags.isEmpty()
                                    ? List.of("RUNNING", "RUNNING", "RUNNING")
                                    : List.of("QOSMaxMemoryPerUser", "RUNNING", "QOSMaxMemoryPerUser"));
        }
    }

    /** Each job in turn: whether it runs, waits for a reason, or is refused. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        GrpJobs=1              |   |                       | a,a       | RUNNING AssocGrpJobsLimit
        GrpTRES=cpu=2          |   |                       | a:2,a     | RUNNING AssocGrpCpuLimit
        GrpTRES=node=1         |   |                       | a:4,a     | RUNNING AssocGrpNodeLimit
        GrpTRESMins=cpu=30     |   |                       | a/20,a/20 | RUNNING AssocGrpCPUMinutesLimit
        GrpTRESMins=cpu=40     |   |                       | a/20,a/20 | RUNNING RUNNING
        GrpTRESRunMins=node=30 |   |                       | a/20,a/20 | RUNNING AssocGrpNodeRunMinutes
                                | | GrpTRESMins=billing=30 | qa/20,qa/20 | RUNNING QOSGrpBillingMinutes
        GrpTRESMins=cpu=10     |   | GrpTRESMins=cpu=50    | qa/20,qa/20 | RUNNING RUNNING
        GrpTRES=mem=15         |   |                       | a,a       | RUNNING AssocGrpMemLimit
        GrpJobs=1              |   |                       | a,b       | RUNNING AssocGrpJobsLimit
                                | MaxJobs=1          |                       | a,a,b | RUNNING AssocMaxJobsLimit RUNNING
                                | MaxTRES=cpu=1      |                       | a:2,a | AssocMaxCpuPerJobLimit RUNNING
                                | MaxWall=10         | | a/20,a/5  | AssocMaxWallDurationPerJobLimit RUNNING
                                | MaxSubmitJobs=1    |                       | a,a       | RUNNING refused
        GrpSubmitJobs=1        |   |                       | a,b       | RUNNING refused
                                |                    | MaxJobsPU=1 | qa,qa,qb  | RUNNING QOSMaxJobsPerUserLimit RUNNING
                                |                    | MaxJobsPA=1           | qa,qb     | RUNNING MaxJobsPerAccount
                                |                    | GrpTRES=cpu=2         | qa:2,qb   | RUNNING QOSGrpCpuLimit
                                |                    | GrpTRES=node=1        | qa:4,qb   | RUNNING QOSGrpNodeLimit
                                |                    | MaxTRES=cpu=1         | qa:2      | QOSMaxCpuPerJobLimit
                                |                    | MaxTRESPU=cpu=2       | qa:2,qa   | RUNNING QOSMaxCpuPerUserLimit
                                |                    | MinTRES=cpu=2         | qa,qa:2   | QOSMinCpuNotSatisfied RUNNING
                                |                    | MaxWall=10            | qa/20     | QOSMaxWallDurationPerJobLimit
                                |                    | MaxWall=10 Flags=DenyOnLimit | qa/20 | refused
                                |                    | MaxSubmitJobsPU=1     | qa,qa,qb  | RUNNING refused RUNNING
                                | MaxTRESMins=cpu=20 | | a:2/11,a:2/10 | AssocMaxCpuMinutesPerJobLimit RUNNING
                                |                    | MaxTRESMins=cpu=20    | qa:2/11   | QOSMaxCpuMinutesPerJobLimit
                                |                    | GrpTRES=billing=1     | qa:2      | QOSGrpBilling
                                | MaxTRES=cpu=1      | MaxTRES=cpu=2         | qa:2,a:2 | RUNNING AssocMaxCpuPerJobLimit
                                |                    | MaxTRESPerNode=cpu=2  | qa:3,qa:2 | QOSMaxCpuPerNode RUNNING
                                | MaxTRESPerNode=cpu=2 |                     | a:3,a:2   | AssocMaxCpuPerNode RUNNING
                                | MaxTRESPerNode=cpu=2 | MaxTRESPerNode=cpu=3 | qa:3,qa:4 | RUNNING QOSMaxCpuPerNode
                                |                    | MaxTRESPerNode=mem=15 | qa:2      | QOSMaxMemoryPerNode
                                | | MaxTRESRunMinsPU=cpu=30 | qa/20,qa/20,qb/20 | RUNNING MaxCpuRunMinsPerUser RUNNING
                                | | MaxTRESRunMinsPA=mem=300 | qa/20,qb/20 | RUNNING MaxMemoryRunMinsPerAccount
                                | MaxTRESRunMins=cpu=30 | | a/20,a/20,b/20 | RUNNING MaxCpuRunMinsPerUser RUNNING
                                | MaxTRESRunMins=mem=300 | | a/20,a/20 | RUNNING MaxMemoryRunMinsPerUser
                                | MaxTRESRunMins=cpu=30 | MaxTRESRunMinsPU=cpu=50 | qa/20,qa/20,qa/20 | RUNNING RUNNING MaxCpuRunMinsPerUser
                                | MaxTRESRunMins=cpu=30 |                    | a/31      | MaxCpuRunMinsPerUser
                                |                    | MaxTRESPA=cpu=2       | qa:2,qb   | RUNNING MaxCpuPerAccount
                                |                    | MaxSubmitJobsPA=1     | qa,qb     | RUNNING refused
                                |                    | GrpSubmitJobs=1       | qa,qb     | RUNNING refused
                                |                    | GrpJobs=1             | qa,qb     | RUNNING QOSGrpJobsLimit
                                | | GrpTRESRunMins=cpu=30 | qa/20,qb/20 | RUNNING QOSGrpCPURunMinutesLimit
        GrpTRES=billing=1      |   |                       | a:2,a     | AssocGrpBilling RUNNING
                                |                    | LimitFactor=2         | qa:2      | RUNNING
        GrpTRES=cpu=2          |   | LimitFactor=2         | qa:4,a    | RUNNING AssocGrpCpuLimit
                                |                    | Flags=Relative GrpTRES=cpu=25 | qa:2,qa | RUNNING QOSGrpCpuLimit
                                | | Flags=DenyOnLimit,Relative MaxTRES=cpu=25 | qa:3,qa:2 | refused RUNNING
        GrpTRESMins=cpu=30     |   | UsageFactor=2         | qa/20     | RUNNING
        GrpTRESMins=cpu=30     |   | UsageFactor=2 Flags=UsageFactorSafe | qa/20,qa/14 | AssocGrpCPUMinutesLimit RUNNING
                                |     | UsageFactor=2 Flags=UsageFactorSafe MaxTRESMins=cpu=30 | qa/20,qa/15 | QOSMaxCpuMinutesPerJobLimit RUNNING
                                | | GrpTRES=cpu=3,node=1  | qa:2,qa:2,qa:4 | RUNNING QOSGrpCpuLimit QOSGrpCpuLimit
        GrpTRES=cpu=4,mem=45   |   |                       | a:3,a:2,a:5 | RUNNING AssocGrpCpuLimit AssocGrpCpuLimit
        GrpTRES=cpu=5,mem=35   |   |                       | a:3,a:4   | RUNNING AssocGrpCpuLimit
                                |                    | GrpTRES=cpu=3,node=1  | qa:2,qa+  | RUNNING QOSGrpNodeLimit
                                | MaxWall=10 MaxTRES=cpu=1 |                 | a:2/20 | AssocMaxWallDurationPerJobLimit
                                | MaxTRES=cpu=1 MaxTRESMins=cpu=10 MaxTRESPerNode=cpu=1 | | a:2/20 | AssocMaxCpuMinutesPerJobLimit
                                | | MaxTRES=cpu=1 MaxTRESPerNode=cpu=1 MinTRES=cpu=3 | qa:2/20 | QOSMaxCpuPerJobLimit
                                |                    | MaxTRESPerNode=cpu=1 MinTRES=cpu=3 | qa:2/20 | QOSMaxCpuPerNode
                                | MaxWall=10         | MaxTRES=cpu=1         | qa:2/20 | AssocMaxWallDurationPerJobLimit
                                | MaxTRES=cpu=1,mem=5 |                      | a:2       | AssocMaxCpuPerJobLimit
                                |                    | UsageThreshold=1.5    | qa        | RUNNING
                                | | UsageThreshold=1.5 Flags=EnforceUsageThreshold | qa,a | QOSUsageThreshold RUNNING
                                |                    | UsageThreshold=0.0 Flags=EnforceUsageThreshold | qa | RUNNING
        """)
    void accountLimitHoldsOrRefusesTheJob(String dept, String alice, String qos, String jobs, String expected) {
        policy(
                "associations,limits,qos,safe",
                dept == null ? "" : dept,
                alice == null ? "" : alice,
                qos == null ? "" : qos);
        List<String> found = new ArrayList<>();
        for (String job : jobs.split(",")) {
            String who = job.contains("b") ? " owner.user=bob owner.uid=1001" : "";
            String asked = job.startsWith("q") ? "charge.account=dept charge.qos=fast" : "charge.account=dept";
            String cpus = job.contains(":")
                    ? " tasks=" + job.charAt(job.indexOf(':') + 1)
                    : job.contains("+") ? " tasks=2 nodesMin=2" : "";
            String time = job.contains("/") ? " timing.timeLimitMin=" + job.substring(job.indexOf('/') + 1) : "";
            int uid = who.isEmpty() ? Cluster.USER : 1001;
            Decision d = cluster.apply(new Command.SubmitJob(
                    uid,
                    Cluster.desc(asked + who + cpus + time),
                    "",
                    dev.muster.json.Bytes.EMPTY,
                    dev.muster.json.Bytes.EMPTY,
                    false,
                    false));
            if (d instanceof Decision.Rejected r) {
                assertThat(r.sentence()).matches("(Assoc|QOS|MaxSubmit)\\w+\nJob violates accounting/QOS policy.*");
                found.add("refused");
            } else {
                int id = cluster.state().nextJobId() - 1;
                cluster.schedule();
                Job j = cluster.state().jobs().at(id);
                found.add(
                        j.isPending()
                                ? cluster.core().planner().reason(id).word()
                                : j.state().name());
            }
        }
        assertThat(String.join(" ", found)).isEqualTo(expected);
    }

    /** Relative limits of a partition's QOS bind the partition's jobs, and are not limits of the jobs' own QOS. */
    @Test
    void aPartitionsRelativeQosIsNoJobsOwn() {
        policy("associations,limits,qos", "", "", "Flags=Relative GrpTRES=cpu=25");
        Command.SubmitJob own = new Command.SubmitJob(
                Cluster.USER,
                Cluster.desc("charge.account=dept charge.qos=fast"),
                "",
                dev.muster.json.Bytes.EMPTY,
                dev.muster.json.Bytes.EMPTY,
                false,
                false);
        assertThat(cluster.apply(own)).isInstanceOf(Decision.Accepted.class);
        cluster.apply(new Command.UpdatePartition(0, "p", Map.of("qos", "fast")));
        assertThat(cluster.apply(own))
                .isInstanceOfSatisfying(
                        Decision.Rejected.class, r -> assertThat(r.errno()).isEqualTo(SlurmErrno.INVALID_QOS));
        int id = cluster.accept("charge.account=dept tasks=3");
        cluster.schedule();
        assertThat(cluster.core().planner().reason(id).word()).isEqualTo("QOSGrpCpuLimit");
        // nor another partition's
        cluster.apply(new Command.CreatePartition(0, cluster.partition("more nodes=n1")));
        assertThat(cluster.apply(new Command.UpdatePartition(0, "more", Map.of("qos", "fast"))))
                .isEqualTo(new Decision.Rejected(
                        SlurmErrno.INVALID_QOS,
                        "Invalid qos specification: fast is Relative, and the QOS of partition p"));
        assertThat(cluster.apply(new Command.UpdatePartition(0, "p", Map.of("qos", "fast", "maxtime", "60"))))
                .isInstanceOf(Decision.Accepted.class);
    }

    /** A QOS may lift a partition's limits on time and nodes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        maxtime=5   | timing.timeLimitMin=20              | PartitionTimeLimit | PartitionTimeLimit
        maxnodes=1  | nodesMin=2                          | PartitionNodeLimit | PartitionMaxNodes
        minnodes=2  | nodesMin=1 nodesMax=1               | PartitionNodeLimit | PartitionMinNodes
        """)
    void aQosLiftsLimitsOfThePartition(String limit, String job, String reason, String flag) {
        policy("limits,qos", "", "", "");
        cluster.apply(new Command.UpdatePartition(0, "p", Map.of(limit.split("=")[0], limit.split("=")[1])));
        int id = cluster.accept("charge.account=dept charge.qos=fast " + job);
        cluster.schedule();
        assertThat(cluster.shown(id)).isEqualTo("(" + reason + ")");
        policy("limits,qos", "", "", "Flags=" + flag);
        cluster.schedule();
        assertThat(cluster.state().jobs().at(id).state().name()).isEqualTo("RUNNING");
    }

    @Test
    void aQosMayAskForAReservation() {
        policy("limits,qos", "", "", "Flags=RequiresReservation");
        assertThat(cluster.apply(new Command.SubmitJob(
                        Cluster.USER,
                        Cluster.desc("charge.account=dept charge.qos=fast"),
                        "",
                        dev.muster.json.Bytes.EMPTY,
                        dev.muster.json.Bytes.EMPTY,
                        false,
                        false)))
                .isEqualTo(Decision.reject(dev.muster.model.SlurmErrno.INVALID_QOS));
    }

    /** A cpu here is charged three times, and charging less lets the next job in. */
    @Test
    void billingLimitsCountWhatThePartitionCharges() {
        charge("CPU=3");
        policy("associations,limits,qos", "GrpTRES=billing=6", "", "");
        play("RUNNING RUNNING AssocGrpBilling");
        charge("CPU=2");
        cluster.schedule();
        assertThat(last().state().name()).isEqualTo("RUNNING");
    }

    private void charge(String weights) {
        assertThat(cluster.apply(new Command.UpdatePartition(0, "p", Map.of("tresbillingweights", weights))))
                .isNotInstanceOf(Decision.Rejected.class);
    }

    private void play(String expected) {
        List<String> found = new ArrayList<>();
        for (String ignored : expected.split(" ")) {
            cluster.submit("charge.account=dept");
            cluster.schedule();
            found.add(
                    last().isPending()
                            ? cluster.core().planner().reason(last().id()).word()
                            : last().state().name());
        }
        assertThat(String.join(" ", found)).isEqualTo(expected);
    }

    @Test
    void noWckeyBeginsWithAStar() {
        assertThat(cluster.submit("charge.wckey=*w"))
                .isInstanceOfSatisfying(
                        Decision.Rejected.class,
                        r -> assertThat(r.sentence()).isEqualTo("Invalid wckey specification"));
    }

    @Test
    void repeatedPolicyIsNoChange() {
        policy("limits", "GrpJobs=1", "", "");
        State before = cluster.state();
        policy("limits", "GrpJobs=1", "", "");
        assertThat(cluster.state().accounts()).isEqualTo(before.accounts());
        policy("limits", "", "", "");
        assertThat(cluster.state().accounts().assocs().at(2).limits()).isEmpty();
    }
}
