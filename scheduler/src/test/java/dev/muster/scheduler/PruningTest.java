package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Planner;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.Topology;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.queue.QueueOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A job is skipped because it is known that it cannot start: with and without the memory of this, the same jobs start
 * and the others have the same reasons.
 */
class PruningTest {
    private static final int SEEDS = 16;
    private static final int STEPS = 25;

    static Cluster cluster(String options) {
        return new Cluster(
                "n[1-4] cpus=4 mem=1000 feature=a gpus=2\nn[5-8] cpus=2 mem=2000 feature=b\nn[9-10] cpus=8 "
                        + "threads=2 mem=1000",
                "p nodes=n[1-10] default=yes defmempercpu=10\nq nodes=n[5-10] defmempercpu=10 prioritytier=2\n"
                        + "r nodes=n[1-6] defmempercpu=10 maxcpuspernode=3",
                "memoryConsumed=true gresTypes=gpu options.licenses=lic:3 " + options,
                Topology.FLAT,
                List.of(new LayeredResource(
                        "power",
                        3,
                        Map.of(),
                        List.of(
                                new LayeredResource.Layer(Cluster.names("n[1-5]"), 4, 0),
                                new LayeredResource.Layer(Cluster.names("n[1-10]"), 9, 1)))));
    }

    static String job(Random r) {
        String size = switch (r.nextInt(9)) {
            case 0 -> "tasks=1 memPerCpuMb=" + 100 * (1 + r.nextInt(9));
            case 1 -> "tasks=" + (1 + r.nextInt(12));
            case 2 -> "nodesMin=" + (1 + r.nextInt(4)) + " exclusive=NODE";
            case 3 -> "nodesMin=1 nodesMax=1 tasks=" + (1 + r.nextInt(5));
            case 4 -> "tasks=" + (1 + r.nextInt(3)) + " tresPerNode=gres/gpu:" + (1 + r.nextInt(2));
            case 5 -> "nodesMin=2 nodesMax=4 tasks=" + (2 + r.nextInt(8)) + " tasksPerNode=2";
            case 6 -> "tasks=2 tresPerJob=gres/gpu:" + (1 + r.nextInt(4));
            case 7 -> "tasks=1 memPerNodeMb=" + 300 * (1 + r.nextInt(6));
            default -> "tasks=" + (1 + r.nextInt(3)) + " cpusPerTask=" + (1 + r.nextInt(4));
        };
        String partition = List.of("", " partition=q", " partition=r", " partition=p,q", "")
                .get(r.nextInt(5));
        return "timing.timeLimitMin=" + (1 + r.nextInt(200)) + " " + size + partition
                + (r.nextInt(5) == 0 ? " features=" + List.of("a", "b", "a|b").get(r.nextInt(3)) : "")
                + (r.nextInt(4) == 0
                        ? " licenses="
                                + List.of("lic:1", "lic:2", "power:1", "power:2")
                                        .get(r.nextInt(4))
                        : "")
                + (r.nextInt(8) == 0 ? " timing.nice=" + r.nextInt(50) : "")
                + (r.nextInt(7) == 0 ? " timing.timeMinMin=1" : "")
                + (r.nextInt(12) == 0 ? " nodeList=n" + (1 + r.nextInt(10)) : "")
                + (r.nextInt(12) == 0 ? " timing.array=0-" + r.nextInt(5) : "")
                + (r.nextInt(15) == 0 ? " overcommit=true" : "");
    }

    /** Limits that are reached, in what runs and in minutes; low gives way to all others. */
    static Policy policy() {
        List<String> qos = List.of("low", "normal", "high");
        return new Policy(
                List.of(
                        new AssocPolicy(1, 0, "root", "", "", false, Map.of(), qos, ""),
                        new AssocPolicy(
                                2,
                                1,
                                "a",
                                "",
                                "",
                                false,
                                Map.of("GrpTRES", "cpu=30", "GrpTRESRunMins", "cpu=4000"),
                                qos,
                                ""),
                        new AssocPolicy(3, 2, "a", "u", "", true, Map.of("MaxJobs", "5"), qos, ""),
                        new AssocPolicy(4, 2, "a", "v", "", true, Map.of("GrpTRESMins", "cpu=900"), qos, "")),
                List.of(
                        new QosPolicy(1, "low", Map.of()),
                        new QosPolicy(2, "normal", Map.of("Preempt", "low", "MaxTRESPU", "cpu=12")),
                        new QosPolicy(3, "high", Map.of("Preempt", "low,normal", "GrpJobs", "4"))),
                List.of(),
                List.of());
    }

    static List<Job> running(Cluster c) {
        List<Job> out = new ArrayList<>();
        c.state().jobs().values().forEach(j -> {
            if (j.holdsNodes()) {
                out.add(j);
            }
        });
        return out;
    }

    static void end(Cluster c, Job job) {
        c.apply(new Command.CompleteAllocation(Cluster.USER, job.id(), ExitStatus.NONE));
        for (String node : job.run().allocation().nodeNames()) {
            c.apply(new Command.Report(node, new NodeMessages.JobDone(1, job.id(), job.attempt(), "")));
        }
    }

    /** Reasons of the jobs that keep waiting; a started job's reason is the last one. */
    private static Map<Integer, String> reasons(Cluster c, Scheduler s, List<Planner.Start> starts) {
        Map<Integer, String> out = new TreeMap<>();
        c.state().jobs().values().forEach(j -> {
            if (j.isPending() && starts.stream().noneMatch(p -> p.jobId() == j.id())) {
                out.put(j.id(), s.reason(j.id()) + " " + s.plannedStart(j.id()) + " " + s.plannedNodes(j.id()));
            }
        });
        return out;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''",
                "options.bf_licenses=yes",
                "options.preempt_type=preempt/partition_prio options.preempt_mode=REQUEUE",
                "options.preempt_type=preempt/qos options.preempt_mode=REQUEUE "
                        + "options.accounting_enforce=associations,limits,qos",
                "options.preempt_type=preempt/qos options.preempt_mode=CANCEL,PRIORITY "
                        + "options.accounting_enforce=associations,limits,qos",
                "options.muster_backfill=easy",
                "options.bf_job_part_count_reserve=1",
                "options.bf_min_age_reserve=900 options.bf_licenses=yes"
            })
    void pruningChangesNoStartOrPreemption(String options) {
        int gaveWay = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = cluster(options);
            boolean charged = options.contains("accounting_enforce");
            if (charged) {
                c.apply(new Command.ApplyPolicy(policy()));
            }
            Scheduler pruned = (Scheduler) c.core().planner();
            for (int step = 0; step < STEPS; step++) {
                for (int i = r.nextInt(8); i > 0; i--) {
                    c.submit(job(r)
                            + (charged
                                    ? " charge.account=a owner.user=" + (r.nextBoolean() ? "u" : "v") + " charge.qos="
                                            + List.of("low", "normal", "high").get(r.nextInt(3))
                                    : ""));
                }
                DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
                Scheduler plain = new Scheduler().withoutConnections().unpruned();
                // of few reservations most jobs have none, and are passed over
                plain.reserving(2 + seed % 5);
                pruned.reserving(2 + seed % 5);
                plain.reset(c.state());
                List<Planner.Start> slow = plain.starts(c.state(), now, 100);
                String as = "seed " + seed + " step " + step + " " + options;
                String before = pruned.fingerprint();
                List<Planner.Start> fast = pruned.starts(c.state(), now, 100);
                assertThat(pruned.fingerprint())
                        .as(as + ": a look at the queue leaves everything as it was")
                        .isEqualTo(before);
                assertThat(fast).as(as).isEqualTo(slow);
                assertThat(pruned.preemptions()).as(as).isEqualTo(plain.preemptions());
                gaveWay += plain.preemptions().size();
                assertThat(reasons(c, pruned, fast)).as(as).isEqualTo(reasons(c, plain, slow));
                // twice: what the first look remembers must not mislead the second
                assertThat(pruned.starts(c.state(), now, 100)).as(as + " again").isEqualTo(slow);
                c.schedule();
                c.jump(1 + r.nextInt(600), 0);
                for (Job job : running(c)) {
                    if (job.run().limitTickMs() <= c.seconds() * 1000 || r.nextInt(6) == 0) {
                        end(c, job);
                    }
                }
                if (r.nextInt(6) == 0) {
                    c.apply(new Command.UpdateNode(
                            0,
                            List.of("n" + (1 + r.nextInt(10))),
                            Map.of("state", r.nextBoolean() ? "drain" : "resume", "reason", "x")));
                }
            }
        }
        assertThat(gaveWay > SEEDS).as(gaveWay + " gave way").isEqualTo(options.contains("preempt_mode"));
    }

    /**
     * No job is preempted for the first job, which would run into a reservation. The second ends before the reservation
     * and requests the same.
     */
    @Test
    void jobBlockedByAReservationPrunesNoShorterJob() {
        Cluster c = new Cluster(
                "n1 cpus=4 mem=1000",
                "low nodes=n1 prioritytier=1 defmempercpu=1\nhigh nodes=n1 prioritytier=2 defmempercpu=1",
                "options.preempt_type=preempt/partition_prio options.preempt_mode=REQUEUE");
        int low = c.accept("partition=low kind=BATCH tasks=4 timing.timeLimitMin=50");
        c.schedule();
        assertThat(c.shown(low)).isEqualTo("n1:4");
        c.apply(new Command.CreateReservation(
                0,
                "r",
                c.moments(new java.util.TreeMap<>(
                        Map.of("starttime", "+3600", "duration", "3600", "nodes", "n1", "users", "root"))),
                Map.of()));
        c.accept("partition=high tasks=4 timing.timeLimitMin=120");
        c.accept("partition=high tasks=4 timing.timeLimitMin=20");
        DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
        Scheduler plain = new Scheduler().withoutConnections().unpruned();
        plain.reset(c.state());
        plain.starts(c.state(), now, 100);
        assertThat(plain.preemptions()).as("somebody has to go").hasSize(1);
        Scheduler pruned = (Scheduler) c.core().planner();
        pruned.starts(c.state(), now, 100);
        assertThat(pruned.preemptions()).isEqualTo(plain.preemptions());
    }

    /**
     * The first job is skipped without a look; then another job takes the last license; the second, which needs no
     * license, is considered.
     */
    @Test
    void skippedJobIsNotHeldForLicensesTakenMeanwhile() {
        Cluster c =
                new Cluster("n1 cpus=4 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "options.licenses=lic:1");
        Scheduler pruned = (Scheduler) c.core().planner();
        pruned.reserving(1);
        c.accept("tasks=3 timing.timeLimitMin=100");
        c.schedule();
        c.accept("tasks=4 timing.timeLimitMin=60");
        int first = c.accept("tasks=2 licenses=lic:1 timing.timeLimitMin=60");
        c.schedule();
        c.schedule();
        int taker = c.accept("tasks=1 licenses=lic:1 timing.timeLimitMin=1");
        int second = c.accept("tasks=2 licenses=lic:1 timing.timeLimitMin=60 timing.array=0-3%1");
        DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
        Scheduler plain = new Scheduler().withoutConnections().unpruned().reserving(1);
        plain.reset(c.state());
        for (Scheduler s : List.of(plain, pruned)) {
            assertThat(s.starts(c.state(), now, 100))
                    .extracting(Planner.Start::jobId)
                    .containsExactly(taker);
            assertThat(List.of(s.reason(first), s.reason(second)))
                    .containsOnly(dev.muster.model.job.JobReason.PRIORITY);
        }
    }

    @Test
    void queueStaysInOrderWhenJobsComeAndGo() {
        Random r = new Random(1);
        QueueOrder order = new QueueOrder();
        java.util.TreeSet<QueueOrder.Place> expected = new java.util.TreeSet<>();
        Cluster c = cluster("");
        int id = c.accept("tasks=1");
        Job job = c.state().jobs().at(id);
        for (int i = 0; i < 20_000; i++) {
            QueueOrder.Place place = new QueueOrder.Place(r.nextInt(3), r.nextInt(50), i, job);
            order.add(place);
            expected.add(place);
            if (r.nextInt(3) > 0 && i % 5000 > 2500) {
                QueueOrder.Place gone = expected.ceiling(place) == place && r.nextBoolean() ? place : expected.first();
                order.remove(gone);
                expected.remove(gone);
            }
            if (i == 15_000) {
                order.fill(expected);
            }
        }
        List<QueueOrder.Place> all = new ArrayList<>();
        order.forEach(all::add);
        assertThat(all).isEqualTo(new ArrayList<>(expected));
        assertThat(order.size()).isEqualTo(expected.size());
    }
}
