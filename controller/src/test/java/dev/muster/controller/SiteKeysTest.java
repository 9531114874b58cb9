package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.config.PowerOptions;
import dev.muster.core.command.Command;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.WckeyPolicy;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys of slurm.conf from the file to what they do to a job. */
class SiteKeysTest {
    private static final String BUSY = "Resource temporarily unavailable";

    /** shows: FirstJobId, MaxJobCount, MaxArraySize, DisableRootJobs */
    @Test
    void submissionKeepsToConfiguredIdsCountsAndUsers() {
        Site site = new Site("FirstJobId=100", "MaxJobCount=2", "MaxArraySize=5", "DisableRootJobs=YES");
        assertThat(site.submit("timing.array=0-4")).isEqualTo("100");
        assertThat(site.submit("timing.array=0-5")).isEqualTo("Invalid job array specification");
        assertThat(site.submit(0, "")).isEqualTo("Invalid user id");
        assertThat(site.submit("")).isEqualTo("101");
        assertThat(site.submit("")).isEqualTo(BUSY);
    }

    @Test
    void wordsOfSlurmctldParametersReachTheCore() {
        Site site = new Site(
                "SuspendProgram=/bin/true",
                "ResumeProgram=/bin/true",
                "SlurmctldParameters=user_resv_delete,allow_user_triggers,"
                        + "disable_triggers,node_reg_mem_percent=92.5,max_powered_nodes=7,reboot_from_controller");
        assertThat(site.core().state().settings().options().texts())
                .containsEntry("ctld:user_resv_delete", "true")
                .containsEntry("ctld:allow_user_triggers", "true")
                .containsEntry("ctld:disable_triggers", "true")
                .containsEntry("ctld:node_reg_mem_percent", "92.5")
                .containsEntry("power:most", "7")
                .containsEntry("power:reboots_here", "true");
        assertThat(new Site("SchedulerParameters=muster_no_wake_ahead")
                        .core()
                        .state()
                        .settings()
                        .options()
                        .texts())
                .containsKey("muster_no_wake_ahead");
    }

    /** Neither program runs, not by hand either, where one of the two is missing or is no program, as in Slurm. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            /bin/true | /bin/true | true |
            off       | /bin/true | true |
                        |           | null |
            /bin/true |           | null | power_save module disabled, NULL ResumeProgram
                        | /bin/true | null | power_save module disabled, NULL SuspendProgram
            /bin/true | bin/t     | null | power_save program bin/t not absolute pathname/power_save module disabled, invalid ResumeProgram bin/t
            /nowhere  | /bin/true | null | power_save program /nowhere not executable/power_save module disabled, invalid SuspendProgram /nowhere
            /etc      | /bin/true | null | power_save program /etc not executable/power_save module disabled, invalid SuspendProgram /etc
            /etc/group  |/bin/true|null|power_save program /etc/group not executable/power_save module disabled, invalid SuspendProgram /etc/group
            """)
    void powerSavingIsOffWithoutBothPrograms(String stops, String starts, String on, String errors) {
        String lines = (stops == null ? "" : "SuspendProgram=" + stops + "\n")
                + (starts == null ? "" : "ResumeProgram=" + starts + "\n")
                + "PowerAction=off Location=slurmd Program=/nowhere";
        Map<String, String> is =
                new Site(lines).core().state().settings().options().texts();
        assertThat(is.get("power:stops") + " " + is.get("power:starts")).isEqualTo(on + " " + on);
        assertThat(String.join("/", PowerOptions.errors(Site.conf(lines)))).isEqualTo(errors == null ? "" : errors);
    }

    @Test
    void nodeSetsAreExceptedByTheirNodes() {
        Site site = new Site(
                "SuspendProgram=/bin/true",
                "ResumeProgram=/bin/true",
                "NodeName=n[1-3] CPUs=1 Feature=f",
                "NodeName=n4 CPUs=1",
                "NodeSet=s Feature=f",
                "NodeSet=t Nodes=n[3-4]",
                "SuspendExcNodes=s:2,t,n1");
        assertThat(site.core().state().settings().options().texts())
                .containsEntry("power:kept_nodes", "n[1-3]:2,n[3-4],n1");
    }

    /** shows: MaxJobId */
    @Test
    void jobIdsWrapAroundAtMaxJobId() {
        Site site = new Site("FirstJobId=5", "MaxJobId=7", "MinJobAge=2");
        assertThat(List.of(site.submit(""), site.submit(""))).containsExactly("5", "6");
        assertThat(site.submit("")).isEqualTo(BUSY);
        site.apply(new Command.CancelJobs(
                0, List.of(new Command.JobRef("5", 5, -1, Command.JobRef.NO_STEP)), 0, false, false));
        site.pass(10);
        assertThat(site.submit("")).isEqualTo("5");
    }

    /** shows: EnforcePartLimits */
    @Test
    void enforcePartLimitsRefusesJobsBeyondThem() {
        String partitions = "PartitionName=p Nodes=n[1-2] Default=YES MaxTime=5\nPartitionName=q Nodes=n1 MaxTime=60";
        String tooLong = "Requested time limit is invalid (missing or exceeds some limit)";
        assertThat(new Site("EnforcePartLimits=NO", partitions).run("timing.timeLimitMin=10"))
                .isEqualTo("PENDING PartitionTimeLimit");
        assertThat(new Site("EnforcePartLimits=ALL", partitions).run("timing.timeLimitMin=10"))
                .isEqualTo(tooLong);
        assertThat(new Site("EnforcePartLimits=ALL", partitions).run("timing.timeLimitMin=10 partition=p,q"))
                .isEqualTo(tooLong);
        assertThat(new Site("EnforcePartLimits=ANY", partitions)
                        .run("timing.timeLimitMin=10 partition=p,q memPerNodeMb=5"))
                .isEqualTo("RUNNING n1:1/5");
    }

    /** shows: DefMemPerCPU, DefMemPerNode, MaxMemPerCPU, MaxMemPerNode */
    @Test
    void memoryDefaultsAndLimitsApply() {
        assertThat(new Site().run("")).isEqualTo("RUNNING n1:1/1000");
        assertThat(new Site("DefMemPerCPU=100").run("cpusPerTask=2")).isEqualTo("RUNNING n1:2/200");
        assertThat(new Site("DefMemPerNode=300").run("cpusPerTask=2")).isEqualTo("RUNNING n1:2/300");
        assertThat(new Site("MaxMemPerNode=200", "EnforcePartLimits=ALL", "DefMemPerCPU=1").run("memPerNodeMb=300"))
                .isEqualTo("Memory required by task is not available");
        assertThat(new Site("MaxMemPerCPU=100", "DefMemPerCPU=1").run("memPerCpuMb=200"))
                .startsWith("RUNNING n1:2/");
    }

    /** shows: DefCpuPerGPU, DefMemPerGPU, JobDefaults */
    @Test
    void gpuRequestBringsDefaultCpusAndMemory() {
        String node = "GresTypes=gpu\nNodeName=n1 CPUs=4 RealMemory=1000 Gres=gpu:2";
        assertThat(new Site("DefCpuPerGPU=2", "DefMemPerGPU=100", node).run("tresPerJob=gres/gpu:1"))
                .isEqualTo("RUNNING n1:2/100");
        assertThat(new Site("JobDefaults=DefCpuPerGPU=3,DefMemPerGPU=50", node).run("tresPerJob=gres/gpu:1"))
                .isEqualTo("RUNNING n1:3/50");
    }

    /** shows: JobRequeue */
    @Test
    void jobOfALostNodeIsRequeuedIfJobRequeueSaysSo() {
        for (String requeue : List.of("1", "0")) {
            Site site = new Site("JobRequeue=" + requeue, "DefMemPerCPU=1");
            site.run("");
            site.apply(new Command.NodeLost("n1"));
            assertThat(site.job(1)).isEqualTo(requeue.equals("1") ? "PENDING BeginTime" : "NODE_FAIL n1:1/1");
        }
    }

    /** shows: ReturnToService */
    @Test
    void returnToServiceDecidesWhichDownNodesReturn() {
        Map<String, List<String>> wanted = Map.of(
                "0",
                List.of("DOWN Not responding", "DOWN fan"),
                "1",
                List.of("IDLE", "DOWN fan"),
                "2",
                List.of("IDLE", "IDLE"));
        wanted.forEach((value, states) -> {
            Site site = new Site("ReturnToService=" + value);
            site.apply(new Command.NodeLost("n1"));
            site.apply(new Command.UpdateNode(0, List.of("n2"), Map.of("state", "down", "reason", "fan")));
            site.register("n1", "boot2");
            site.register("n2", "boot2");
            assertThat(List.of(site.node("n1"), site.node("n2"))).as(value).isEqualTo(states);
        });
    }

    @Test
    void nodeStartsInItsConfiguredState() {
        Site site = new Site(
                "NodeName=n[1-5] CPUs=1",
                "NodeName=n6 CPUs=1 State=DOWN Reason=old",
                "DownNodes=n1 State=DOWN Reason=fan",
                "DownNodes=n[2-3] State=DRAIN Reason=\"a b\"",
                "DownNodes=n4 State=FAIL");
        assertThat(List.of(site.node("n1"), site.node("n3"), site.node("n4"), site.node("n5"), site.node("n6")))
                .containsExactly("DOWN fan", "IDLE a b", "IDLE Set in slurm.conf", "IDLE", "DOWN old");
        assertThat(site.run("nodeList=n3 memPerNodeMb=0")).startsWith("PENDING");
        Site absent = new Site(
                "NodeName=n1 CPUs=1", "NodeName=x[1-3] CPUs=1", "DownNodes=x2 State=IDLE", "DownNodes=x3 State=DRAIN");
        assertThat(List.of(absent.node("x1"), absent.node("x2"), absent.node("x3")))
                .containsExactly("UNKNOWN", "IDLE", "UNKNOWN Set in slurm.conf");
        assertThat(absent.run("nodeList=x2 memPerNodeMb=0")).startsWith("PENDING");
    }

    /** shows: OverTimeLimit, MinJobAge */
    @Test
    void overTimeLimitAndMinJobAgeApply() {
        Site site = new Site("OverTimeLimit=2", "MinJobAge=30", "DefMemPerCPU=1");
        site.run("timing.timeLimitMin=1");
        site.pass(179);
        assertThat(site.job(1)).isEqualTo("RUNNING n1:1/1");
        site.pass(1);
        assertThat(site.job(1)).isEqualTo("TIMEOUT n1:1/1");
        site.run("");
        site.exit(2, 0);
        site.pass(29);
        assertThat(site.job(2)).isEqualTo("COMPLETED n1:1/1");
        site.pass(5);
        assertThat(site.job(2)).isEqualTo("unknown");
    }

    /** shows: DependencyParameters */
    @Test
    void dependencyParametersApply() {
        for (String words : List.of("kill_invalid_depend", "max_depend_depth=5")) {
            Site site = new Site("DependencyParameters=" + words, "DefMemPerCPU=1");
            site.run("");
            site.submit("timing.dependency=afterok:1");
            site.exit(1, 1);
            site.pass(1);
            assertThat(site.job(2))
                    .isEqualTo(words.startsWith("kill") ? "CANCELLED" : "PENDING DependencyNeverSatisfied");
        }
    }

    /** shows: SchedulerType */
    @Test
    void builtinSchedulerKeepsTheOrderAndBackfillDoesNot() {
        for (String type : List.of("sched/backfill", "sched/builtin")) {
            Site site = new Site("SchedulerType=" + type, "DefMemPerCPU=1");
            site.run("cpusPerTask=2 timing.timeLimitMin=10");
            site.run("nodesMin=2 tasks=2 exclusive=NODE timing.timeLimitMin=10");
            assertThat(site.run("timing.timeLimitMin=5"))
                    .isEqualTo(type.endsWith("builtin") ? "PENDING Priority" : "RUNNING n1:1/1");
        }
    }

    /** shows: SelectTypeParameters */
    @Test
    void memoryIsConsumedOnlyIfSelectTypeParametersSaySo() {
        assertThat(new Site("SelectTypeParameters=CR_CORE").run("memPerNodeMb=10"))
                .isEqualTo("RUNNING n1:1/10");
        Site site = new Site("SelectTypeParameters=CR_CORE");
        site.run("memPerNodeMb=900");
        assertThat(site.run("memPerNodeMb=900")).isEqualTo("RUNNING n1:1/900");
        Site consumed = new Site();
        consumed.run("memPerNodeMb=900");
        assertThat(consumed.run("memPerNodeMb=900")).isEqualTo("RUNNING n2:1/900");
    }

    /** shows: MaxStepCount */
    @Test
    void maxStepCountLimitsTheStepsOfAJob() {
        Site site = new Site("MaxStepCount=1", "DefMemPerCPU=1");
        site.run("kind=ALLOCATION");
        List<String> said = List.of(step(site), step(site));
        assertThat(said).containsExactly("0", "Step limit reached for this job");
    }

    private static String step(Site site) {
        return switch (site.apply(new Command.CreateStep(
                1000,
                "",
                1,
                dev.muster.json.Codec.bind(
                        new dev.muster.json.Json.Obj()
                                .put("request", new dev.muster.json.Json.Obj().put("tasks", 1L))
                                .put("overlap", Boolean.TRUE),
                        dev.muster.model.job.StepDesc.class),
                dev.muster.json.Bytes.EMPTY,
                "io"))) {
            case dev.muster.core.command.Decision.Accepted a -> "0";
            case dev.muster.core.command.Decision.Rejected r -> r.sentence();
        };
    }

    /** shows: TrackWCKey; the words of AccountingStorageEnforce are in the cluster test of accounting. */
    @Test
    void trackWckeyGivesJobsTheirWckey() {
        Policy policy = new Policy(
                List.of(
                        new AssocPolicy(1, 0, "root", "", "", false, Map.of(), List.of("normal"), "normal"),
                        new AssocPolicy(2, 1, "root", "u", "", true, Map.of(), List.of("normal"), "normal")),
                List.of(),
                List.of(),
                List.of(
                        new WckeyPolicy("u", "known", true),
                        new WckeyPolicy("u", "other", false),
                        new WckeyPolicy("v", "theirs", true)));
        String unknown = "Invalid wckey specification";
        record Case(List<String> conf, String asked, String key) {}
        List<String> none = List.of();
        List<String> tracks = List.of("TrackWCKey=yes");
        List<String> enforces =
                List.of("AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageEnforce=wckeys");
        for (Case c : List.of(
                new Case(none, "Any", "any"),
                new Case(none, "", ""),
                new Case(tracks, "", "*known"),
                new Case(tracks, "Any", "any"),
                new Case(tracks, "*other", unknown),
                new Case(enforces, "", "*known"),
                new Case(enforces, "OTHER", "other"),
                new Case(enforces, "theirs", unknown))) {
            Site site = new Site(c.conf.toArray(String[]::new));
            site.apply(new Command.ApplyPolicy(policy));
            String id = site.submit(c.asked.isEmpty() ? "" : "charge.wckey=" + c.asked);
            assertThat(
                            id.matches("[0-9]+")
                                    ? site.core()
                                            .state()
                                            .jobs()
                                            .at(Integer.parseInt(id))
                                            .desc()
                                            .charge()
                                            .wckey()
                                    : id)
                    .as(c.toString())
                    .isEqualTo(c.key);
        }
    }

    @Test
    void jobGetsTheUsersCurrentDefaultWckey() {
        Site site = new Site("TrackWCKey=yes");
        for (List<WckeyPolicy> keys : List.of(
                List.of(new WckeyPolicy("u", "a", true), new WckeyPolicy("u", "b", false)),
                List.of(new WckeyPolicy("u", "a", false), new WckeyPolicy("u", "b", true)),
                List.of(new WckeyPolicy("u", "a", false)),
                List.of(new WckeyPolicy("u", "a", true)),
                List.<WckeyPolicy>of())) {
            site.apply(new Command.ApplyPolicy(new Policy(List.of(), List.of(), List.of(), keys)));
            String id = site.submit("");
            assertThat(site.core()
                            .state()
                            .jobs()
                            .at(Integer.parseInt(id))
                            .desc()
                            .charge()
                            .wckey())
                    .as(keys.toString())
                    .isEqualTo("*"
                            + keys.stream()
                                    .filter(WckeyPolicy::isDefault)
                                    .map(WckeyPolicy::name)
                                    .findFirst()
                                    .orElse(""));
        }
    }
}
