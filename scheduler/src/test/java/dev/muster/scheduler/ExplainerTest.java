package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.Topology;
import dev.muster.model.job.JobReason;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests why a job waits, in words: the reason that counts, what bears it out, and nothing that the asker may not see.
 */
class ExplainerTest {
    private final Cluster cluster =
            new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "options.licenses=lic:1");

    private Explainer.Explanation why(int id, Predicate<Job> shown) {
        return why(cluster, id, shown);
    }

    private static Explainer.Explanation why(Cluster cluster, int id, Predicate<Job> shown) {
        Scheduler scheduler = (Scheduler) cluster.core().planner();
        Job job = cluster.state().jobs().at(id);
        JobReason reason = job.reason() == JobReason.NONE ? scheduler.reason(id) : job.reason();
        DecisionTime now = new DecisionTime(cluster.seconds() * 1000, cluster.seconds() * 1000);
        return new Explainer(cluster.state(), now, scheduler, shown, s -> "then").of(job, reason);
    }

    private Explainer.Explanation why(int id) {
        return why(id, j -> true);
    }

    @Test
    void dependentJobIsToldOnlyOfJobsItsUserMaySee() {
        int first = cluster.accept("kind=BATCH");
        int second = cluster.accept("kind=BATCH timing.dependency=afterok:" + first);
        cluster.pass(1);
        cluster.schedule();
        assertThat(why(second).evidence()).containsExactly("afterok:" + first + ": job " + first + " is RUNNING");
        assertThat(why(second, j -> j.id() == second).evidence())
                .containsExactly("afterok:" + first + ": job " + first + " is not yours to see");
    }

    @Test
    void dependentJobIsToldTheStatesOfAllArrayTasks() {
        int array = cluster.accept("kind=BATCH timing.array=0-3");
        int after = cluster.accept("kind=BATCH timing.dependency=afterok:" + array);
        cluster.pass(1);
        cluster.schedule();
        assertThat(why(after).evidence())
                .containsExactly("afterok:" + array + ": job " + array + " has tasks: 2 PENDING, 2 RUNNING");
        new Play(cluster).lines("cancel " + array + "_3\ncancel " + array + "_2");
        cluster.schedule();
        assertThat(why(after).evidence()).first().asString().contains("2 RUNNING, 2 CANCELLED");
    }

    @Test
    void waitingJobIsToldWhichJobsHoldItsResources() {
        int holder = cluster.accept("kind=BATCH tasks=2");
        int waits = cluster.accept("kind=BATCH tasks=2");
        cluster.schedule();
        assertThat(why(waits).says()).isEqualTo("It comes next in partition p, and not enough is free for it.");
        assertThat(String.join(" ", why(waits).evidence())).contains("Job " + holder + " of ");
        assertThat(String.join(" ", why(waits, j -> j.id() == waits).evidence()))
                .doesNotContain("Job " + holder);
    }

    @Test
    void jobThatAPartitionDoesNotAdmitIsToldWhy() {
        Cluster c = new Cluster("n1 cpus=2", "p nodes=n1 default=yes allowqos=bio", "");
        int job = c.accept("kind=BATCH charge.qos=chem");
        c.schedule();
        assertThat(why(c, job, j -> true).says()).isEqualTo("Partition p takes no jobs of QOS chem.");
        Cluster groups = new Cluster("n1 cpus=2", "p nodes=n1 default=yes allowgroups=lab", "");
        int stranger = groups.accept("kind=BATCH");
        groups.schedule();
        assertThat(why(groups, stranger, j -> true).says())
                .isEqualTo("Partition p takes jobs of the groups lab alone, and alice is in none of them.");
        groups.apply(
                new dev.muster.core.command.Command.UpdatePartition(0, "p", java.util.Map.of("allowgroups", "ALL")));
        groups.schedule();
        assertThat(groups.shown(stranger)).isEqualTo("n1:1");
    }

    @Test
    void jobThatNeedsDownNodesIsToldWhich() {
        Cluster c = new Cluster(
                "n[1-3] cpus=2 mem=1000\nn[4-5] cpus=2 mem=1000 feature=far",
                "p nodes=n[1-5] default=yes defmempercpu=10",
                "");
        c.apply(new Command.UpdateNode(0, List.of("n4", "n5"), Map.of("state", "down", "reason", "burnt")));
        int many = c.accept("kind=BATCH nodesMin=4");
        int far = c.accept("kind=BATCH features=far");
        c.schedule();
        for (int job : new int[] {many, far}) {
            Explainer.Explanation why = why(c, job, j -> true);
            assertThat(why.says())
                    .isEqualTo("The nodes of partition p that are there could not hold it even if they were free.");
            assertThat(why.evidence()).contains("Node n4 is DOWN: burnt.", "Node n5 is DOWN: burnt.");
            assertThat(why.change()).startsWith("The nodes come back");
        }
    }

    @Test
    void licensesAreCounted() {
        int holder = cluster.accept("kind=BATCH licenses=lic:1");
        int waits = cluster.accept("kind=BATCH licenses=lic:1");
        cluster.schedule();
        assertThat(why(waits).evidence())
                .hasSize(1)
                .first()
                .asString()
                .startsWith("License lic: it asks for 1; 1 of 1 are in use, by job " + holder);
    }

    @Test
    void layersAreCountedOneByOne() {
        Cluster layered = new Cluster(
                "n[1-2] cpus=2 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10",
                "",
                Topology.FLAT,
                List.of(new LayeredResource(
                        "power",
                        2,
                        Map.of(),
                        List.of(
                                new LayeredResource.Layer(List.of("n1"), 5, 1),
                                new LayeredResource.Layer(List.of("n1", "n2"), 9, 0),
                                new LayeredResource.Layer(List.of("n2"), -1, 0)))));
        layered.accept("kind=BATCH licenses=power:4 nodeList=n1");
        int waits = layered.accept("kind=BATCH licenses=power:4 nodeList=n1");
        layered.schedule();
        assertThat(why(layered, waits, j -> true).evidence())
                .hasSize(2)
                .anySatisfy(s ->
                        assertThat(s).startsWith("License power(n1): it asks for 4; 5 of 5 are in use, by job 1 of "))
                .anySatisfy(s -> assertThat(s)
                        .startsWith("License power(n[1-2]): it asks for 4; 4 of 9 are in use, by job 1 of "));
    }

    @Test
    void aLimitIsNamedWithItsUse() {
        Cluster limited = new Cluster(
                "n1 cpus=2 mem=1000",
                "p nodes=n1 default=yes defmempercpu=10",
                "options.accounting_enforce=associations,limits");
        limited.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(
                        new DbdMessages.AssocPolicy(1, 0, "root", "", "", false, Map.of(), List.of("normal"), "normal"),
                        new DbdMessages.AssocPolicy(
                                2, 1, "lab", "", "", false, Map.of("GrpTRES", "cpu=1"), List.of("normal"), "normal"),
                        new DbdMessages.AssocPolicy(
                                3, 2, "lab", "alice", "", true, Map.of(), List.of("normal"), "normal")),
                List.of(new DbdMessages.QosPolicy(1, "normal", Map.of())),
                List.of(),
                List.of())));
        limited.accept("kind=BATCH charge.account=lab charge.qos=normal");
        int waits = limited.accept("kind=BATCH charge.account=lab charge.qos=normal");
        limited.schedule();
        Job job = limited.state().jobs().at(waits);
        Explainer.Explanation e = new Explainer(
                        limited.state(),
                        new DecisionTime(limited.seconds() * 1000, limited.seconds() * 1000),
                        (Scheduler) limited.core().planner(),
                        j -> true,
                        s -> "then")
                .of(job, JobReason.ASSOC_GRP_CPU_LIMIT);
        assertThat(e.says()).isEqualTo("A limit keeps it back: GrpTRES of account lab.");
        assertThat(e.evidence()).containsExactly("1 of 1 cpu are in use, and it asks for 1.");
    }

    @Test
    void heldJobIsToldTheReleaseCommand() {
        int held = cluster.accept("kind=BATCH timing.hold=true");
        assertThat(why(held).change()).isEqualTo("scontrol release " + held);
    }

    /**
     * Jobs that need more than one CPU on one of four nodes wait for room, where one CPU is free on each: however many
     * are free in all.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            tasks=3 nodesMax=1 ~ comes next ~ Its 3 tasks have to fit on one node, where there is room for 1 now.
            tasks=3 nodesMin=1 nodesMax=2 ~ comes next ~ Its 3 tasks have to fit on at most 2 nodes, where there is room for 2 now.
            tasks=5 ~ comes next ~ Its 5 tasks have to fit on at most 4 nodes, where there is room for 4 now.
            tasks=1 cpusPerTask=2 ~ comes next ~ 0 nodes have room
            tasks=2 nodeList=n1 nodesMin=1 nodesMax=1 ~ comes next ~ Its 2 tasks have to fit on one node
            tasks=4 excludeList=n2 nodesMin=2 ~ comes next ~ at most 2 nodes, where there is room for 2 now.
            """)
    void tasksFitOnAsManyNodesAsTheJobMayHave(String request, String says, String evidence) {
        Cluster c = new Cluster("n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=10", "");
        for (int i = 0; i < 4; i++) {
            c.accept("kind=BATCH tasks=3 nodesMin=1 nodesMax=1");
        }
        int waits = c.accept("kind=BATCH " + request.strip());
        int next = c.accept("kind=BATCH tasks=4 nodesMin=1 nodesMax=1");
        c.schedule();
        Explainer.Explanation why = why(c, waits, j -> true);
        assertThat(why.says()).contains(says);
        assertThat(String.join("\n", why.evidence())).contains(evidence);
        assertThat(why(c, next, j -> true).says())
                .isEqualTo("Others come before it, and not enough is free for it beside them.");
        assertThat(why(c, next, j -> true).change()).isEmpty();
    }

    /** No plan of a time before is told for a job that something other than nodes keeps back. */
    @ParameterizedTest
    @EnumSource(JobReason.class)
    void aPlanIsToldOnlyWhereNodesAreWaitedFor(JobReason reason) {
        cluster.accept("kind=BATCH tasks=2 timing.timeLimitMin=5");
        int waits = cluster.accept("kind=BATCH tasks=2 timing.timeLimitMin=5");
        cluster.schedule();
        Scheduler scheduler = (Scheduler) cluster.core().planner();
        Explainer e = new Explainer(
                cluster.state(),
                new DecisionTime(cluster.seconds() * 1000, cluster.seconds() * 1000),
                scheduler,
                j -> true,
                s -> "then");
        Job job = cluster.state().jobs().at(waits);
        assertThat(scheduler.plan(waits)).isPresent();
        boolean told = !java.util.Set.of(
                        "Dependency",
                        "DependencyNeverSatisfied",
                        "JobHeldUser",
                        "JobHeldAdmin",
                        "PartitionDown",
                        "PartitionInactive",
                        "PartitionTimeLimit",
                        "PartitionNodeLimit",
                        "PartitionConfig",
                        "DeadLine")
                .contains(reason.word());
        assertThat(e.planned(job, reason).isPresent()).as(reason.word()).isEqualTo(told);
    }
}
