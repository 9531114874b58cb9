package dev.muster.controller.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.command.Command;
import dev.muster.core.state.DecisionTime;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.api.JobMessages;
import dev.muster.scheduler.Scheduler;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobViewsTest {
    private static final List<Command.JobRef> FIRST = List.of(new Command.JobRef("1", 1, -1, Command.JobRef.NO_STEP));

    @Test
    void jobKeepsItsDetailsAfterItsNodeIsRemoved() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=2");
        assertThat(details(site)).isEqualTo("n1 0-1 2");
        site.exit(1, 0);
        site.lose("n1");
        assertThat(site.core().state().nodes().find("n1")).isEmpty();
        assertThat(details(site)).isEqualTo("n1 0-1 2");
    }

    /** PriorityFlags=CALCULATE_RUNNING: with the weights of now; otherwise what it had when it started. */
    @Test
    void runningJobsPriorityIsRecalculatedIfSet() {
        for (String flag : List.of("", "PriorityFlags=CALCULATE_RUNNING")) {
            Site site =
                    new Site("DefMemPerCPU=1", "PriorityType=priority/multifactor", "PriorityWeightJobSize=1000", flag);
            site.run("tasks=2");
            long before = priority(site);
            site.lose("n2");
            assertThat(site.core().state().nodes().find("n2")).isEmpty();
            assertThat(priority(site) != before).as(flag).isEqualTo(!flag.isEmpty());
        }
    }

    /** The priority of a job that was suspended by hand is 0 until it goes on, as that of a held job. */
    @Test
    void suspendedJobShowsPriorityZero() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=2");
        long before = priority(site);
        site.apply(new Command.SuspendJobs(0, FIRST, true));
        assertThat(priority(site)).isZero();
        site.apply(new Command.SuspendJobs(0, FIRST, false));
        assertThat(priority(site)).isEqualTo(before).isPositive();
    }

    /**
     * Cancelled before it started it keeps the priority that it waited with, and not its place among those that came by
     * turns.
     */
    @Test
    void jobCancelledBeforeItsStartKeepsItsPriority() {
        Site site = new Site("DefMemPerCPU=1", "PriorityType=priority/multifactor", "PriorityWeightJobSize=1000");
        site.submit("tasks=2");
        long before = priority(site);
        site.apply(new Command.CancelJobs(0, FIRST, 9, false, false));
        assertThat(site.core().state().jobs().at(1).state().isTerminal()).isTrue();
        assertThat(priority(site)).isEqualTo(before).isLessThan(2000);
    }

    /** A pass that comes later, or a restarted slurmctld without passes, does not change it. */
    @Test
    void lastEvaluationOfAnEndedJobStays() {
        Site site = new Site("DefMemPerCPU=1");
        site.submit("tasks=2 nodeList=n1");
        site.pass(5);
        site.apply(new Command.CancelJobs(0, FIRST, 9, false, false));
        long ended = site.core().state().jobs().at(1).run().endTime();
        assertThat(lastEvaluation(site)).isEqualTo(ended);
        site.pass(50);
        site.run("tasks=2");
        assertThat(lastEvaluation(site)).isEqualTo(ended);
    }

    private static long lastEvaluation(Site site) {
        return new JobViews(site.core().state(), (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                .info(site.core().state().jobs().at(1), -1, false)
                .lastSchedEval();
    }

    /** While it completes it is on the nodes that are not done with it, and afterwards on all that it had. */
    @Test
    void completingJobShowsItsRemainingNodes() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=2 nodesMin=2");
        assertThat(nodes(site)).isEqualTo("n[1-2] 2 n1");
        site.end(1, 0);
        assertThat(nodes(site)).isEqualTo("n[1-2] 2 n1");
        site.done("n1", 1);
        assertThat(nodes(site)).isEqualTo("n2 1 n1");
        site.done("n2", 1);
        assertThat(nodes(site)).isEqualTo("n[1-2] 2 n1");
    }

    /**
     * Nodes that a job asks for are shown as one list in order, whichever way they were named, but not where tasks are
     * laid out over the list.
     */
    @Test
    void requestedNodesAreShownSorted() {
        Site site = new Site("DefMemPerCPU=1");
        site.submit("tasks=1 nodeList=n2,n1,n2 hold=true");
        site.submit("tasks=1 excludeList=n2,n2 hold=true");
        site.submit("tasks=2 nodeList=n2,n1 distribution=arbitrary hold=true");
        assertThat(asked(site, 1)).isEqualTo("n[1-2] ");
        assertThat(asked(site, 2)).isEqualTo(" n2");
        assertThat(asked(site, 3)).isEqualTo("n2,n1 ");
    }

    private static String asked(Site site, int job) {
        JobMessages.JobInfo info = new JobViews(
                        site.core().state(), (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                .info(site.core().state().jobs().at(job), -1, false);
        return info.nodeListRequested() + " " + info.excludeList();
    }

    private static String nodes(Site site) {
        JobMessages.JobInfo info = new JobViews(
                        site.core().state(), (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                .info(site.core().state().jobs().at(1), -1, false);
        return info.nodes() + " " + info.nodeCount() + " " + info.batchHost();
    }

    /** However they were written; what its tasks are placed by stays as it was. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            n2,n1             | n[1-2]
            n1,n1             | n1
            n[1-2],n1         | n[1-2]
            n1                | n1
            """)
    void namedNodesAreShownInTheirOrder(String typed, String shown) {
        Site wanted = new Site("DefMemPerCPU=1");
        wanted.submit("nodeList=" + typed);
        assertThat(info(wanted).nodeListRequested()).isEqualTo(shown);
        assertThat(wanted.core().state().jobs().at(1).desc().request().nodeList())
                .isEqualTo(typed);
    }

    /** A job has no memory where memory is not allocated, however much it asked for. */
    @Test
    void jobHasNoAllocatedMemoryWhereNotConsumable() {
        for (String consumed : List.of("CR_CORE", "CR_CORE_MEMORY")) {
            Site site = new Site("SelectTypeParameters=" + consumed);
            site.run("tasks=2 memPerNodeMb=100");
            JobMessages.JobInfo info = new JobViews(
                            site.core().state(), (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                    .info(site.core().state().jobs().at(1), -1, true);
            String mem = consumed.endsWith("Y") ? ",mem=100M" : "";
            assertThat(info.tresRequested() + " " + info.tresAlloc() + " "
                            + info.details().getFirst().memoryMb())
                    .isEqualTo("cpu=2,mem=100M,node=1,billing=2 cpu=2" + mem + ",node=1,billing=2 "
                            + (mem.isEmpty() ? 0 : 100));
        }
    }

    /** A job that requests no memory has all memory of its nodes in ReqTRES, where memory is not consumable. */
    @Test
    void jobWithoutMemoryRequestShowsTheMemoryOfItsNodes() {
        for (String words : List.of("nodesMin=2", "nodesMin=2 exclusive=NODE", "nodesMin=2 memAll=true")) {
            Site site = new Site("SelectTypeParameters=CR_CORE");
            site.submit(words);
            long node = site.core().state().nodes().at("n1").spec().memoryMb();
            assertThat(info(site).tresRequested()).as(words).startsWith("cpu=2,mem=" + 2 * node + "M,node=2");
        }
    }

    /**
     * A time to come where one is known, and when it was cancelled; with ACCRUE_ALWAYS it grows older from its
     * submission on.
     */
    @Test
    void pendingJobShowsItsEligibleAndAccrueTime() {
        for (String flags : List.of("", "PriorityFlags=ACCRUE_ALWAYS")) {
            Site site = new Site("PriorityType=priority/multifactor", flags);
            site.submit("timing.beginTime=4000000000");
            JobMessages.JobInfo waits = info(site);
            assertThat(List.of(waits.eligibleTime(), waits.accrueTime(), waits.startTime()))
                    .containsExactly(
                            4_000_000_000L, flags.isEmpty() ? 4_000_000_000L : waits.submitTime(), 4_000_000_000L);
            PrivateDataFilter all = new PrivateDataFilter(List.of(), site.core().state(), 0, "root", g -> false);
            assertThat(new PolicyViews(site.core().state(), new DecisionTime(1, 1))
                            .priorities(all, List.of())
                            .rows())
                    .as("listed")
                    .hasSize(flags.isEmpty() ? 0 : 1);
            site.apply(new Command.CancelJobs(0, FIRST, 9, false, false));
            assertThat(info(site).startTime()).isEqualTo(info(site).endTime()).isNotZero();
        }
    }

    /** A job shows no accrue time before it has begun to age, where limits are enforced. */
    @Test
    void jobShowsNoAccrueTimeBeforeItAgesUnderLimits() {
        Site site = new Site(
                "PriorityType=priority/multifactor",
                "AccountingStorageType=accounting_storage/slurmdbd",
                "AccountingStorageEnforce=limits");
        site.apply(new Command.ApplyPolicy(new Policy(
                List.of(
                        new AssocPolicy(1, 0, "root", "", "", false, Map.of(), List.of("normal"), "normal"),
                        new AssocPolicy(
                                2, 1, "root", "u", "", true, Map.of("Fairshare", "1"), List.of("normal"), "normal")),
                List.of(new QosPolicy(1, "normal", Map.of()), new QosPolicy(2, "part", Map.of())),
                List.of(),
                List.of())));
        site.submit("timing.beginTime=4000000000");
        assertThat(List.of(info(site).eligibleTime(), info(site).accrueTime())).containsExactly(4_000_000_000L, 0L);
        // nor counted; and a partition's QOS has the jobs there besides their own
        PrivateDataFilter all = new PrivateDataFilter(List.of(), site.core().state(), 0, "root", g -> false);
        for (String partQos : List.of("", "part")) {
            site.apply(new Command.UpdatePartition(
                    0, site.core().state().jobs().at(1).desc().partition(), Map.of("qos", partQos)));
            assertThat(new PolicyViews(site.core().state(), new DecisionTime(1, 1))
                            .assocMgr(all, u -> 0)
                            .qos())
                    .extracting(q -> q.name() + q.submitted() + q.accruing())
                    .containsExactly("normal10", partQos.isEmpty() ? "part00" : "part10");
        }
    }

    /**
     * The partition's OverSubscribe, the job's request, and OverSubscribe of the job as 26.05.3 shows it: pending, then
     * running.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            NO        |                    | NO NO
            NO        | oversubscribe=true | YES YES
            NO        | exclusive=NODE     | NO NO
            NO        | exclusive=USER     | NO NO
            NO        | exclusive=MCS      | NO NO
            EXCLUSIVE |                    | NO NO
            EXCLUSIVE | oversubscribe=true | YES NO
            EXCLUSIVE | exclusive=NODE     | NO NO
            EXCLUSIVE | exclusive=USER     | NO NO
            YES:2     |                    | OK OK
            YES:2     | oversubscribe=true | YES YES
            YES:2     | exclusive=NODE     | NO NO
            YES:2     | exclusive=USER     | OK OK
            YES:2     | exclusive=TOPO     | OK OK
            FORCE:2   |                    | OK YES
            FORCE:2   | oversubscribe=true | YES YES
            FORCE:2   | exclusive=NODE     | NO YES
            FORCE:2   | exclusive=USER     | OK YES
            FORCE:2   | exclusive=TOPO     | OK YES
            FORCE:1   |                    | OK OK
            FORCE:1   | oversubscribe=true | YES YES
            FORCE:1   | exclusive=NODE     | NO NO
            FORCE:1   | exclusive=USER     | OK OK
            """)
    void jobShowsOverSubscribeAsSlurmDoes(String rule, String asked, String shown) {
        Site site = new Site("DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES OverSubscribe=" + rule);
        site.submit(asked == null ? "tasks=1" : "tasks=1 " + asked);
        String waits = info(site).oversubscribe();
        site.schedule();
        assertThat(waits + " " + info(site).oversubscribe()).isEqualTo(shown);
    }

    private static JobMessages.JobInfo info(Site site) {
        return new JobViews(site.core().state(), (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                .info(site.core().state().jobs().at(1), -1, false);
    }

    private static long priority(Site site) {
        return new JobViews(site.core().state(), (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                .info(site.core().state().jobs().at(1), -1, false)
                .priority();
    }

    private static String details(Site site) {
        JobMessages.NodeDetail d = new JobViews(
                        site.core().state(), (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                .info(site.core().state().jobs().at(1), -1, true)
                .details()
                .getFirst();
        return d.nodes() + " " + d.cpuIds() + " " + d.memoryMb();
    }
}
