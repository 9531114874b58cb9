package dev.muster.scheduler.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.Topology;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Tests the plan of the whole queue for jobs that name nodes, want devices of a kind, or want nodes that hang together.
 */
public class ForecastTest {
    private static final int SEEDS = 60;

    private static DecisionTime now(Cluster c) {
        return new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
    }

    private static Forecast plan(Cluster c) {
        Scheduler s = (Scheduler) c.core().planner();
        s.starts(c.state(), now(c), 0);
        return s.forecasts().make(c.state(), now(c), 0);
    }

    /** {@code +60 n1,n2}: seconds from now and the nodes; "never" if it has no time. */
    private static String planned(Cluster c, int job) {
        return plan(c).estimate(job)
                .map(e -> "+" + (e.start() - c.seconds()) + " " + String.join(",", e.nodes()))
                .orElse("never");
    }

    private static void table(Cluster c, String lines) {
        for (String line : lines.strip().split("\n")) {
            String[] cells = line.split("\\|");
            int job = c.accept(cells[0].strip());
            assertThat(planned(c, job)).as(line).isEqualTo(cells[1].strip());
            cancel(c, job);
        }
    }

    private static void cancel(Cluster c, int job) {
        c.apply(new Command.CancelJobs(
                Cluster.USER, List.of(new Command.JobRef("" + job, job, -1, Command.JobRef.NO_STEP)), 0, false, false));
    }

    /**
     * Memory is planned where one partition's SelectTypeParameters allocate it and slurm.conf's allocate cores alone.
     */
    @Test
    void planCountsMemoryOnlyWhereThePartitionDoes() {
        Cluster c = new Cluster(
                "n1 cpus=8 mem=1000",
                "c nodes=n1 default=yes\nm nodes=n1 select=CR_CORE_MEMORY",
                "memoryConsumed=false options.select=CR_CORE");
        c.accept("partition=m memPerNodeMb=600 timing.timeLimitMin=10");
        c.schedule();
        table(c, """
                partition=m memPerNodeMb=600            | +600 n1
                partition=m memPerCpuMb=100 tasks=6     | +600 n1
                partition=m memPerCpuMb=100 tasks=4     | +0 n1
                partition=c memPerNodeMb=600            | +0 n1
                """);
    }

    @Test
    void aJobThatNamesNodesStartsOnThem() {
        Cluster c = new Cluster("n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=10", "");
        c.accept("tasks=4 nodeList=n2 timing.timeLimitMin=10");
        c.schedule();
        c.apply(new Command.UpdateNode(0, List.of("n4"), Map.of("state", "down", "reason", "x")));
        table(c, """
                tasks=1                      | +0 n1
                nodeList=n3                  | +0 n3
                nodeList=n2                  | +600 n2
                nodeList=n[2-3] tasks=2      | +600 n2,n3
                nodeList=n3 nodesMin=2       | +0 n3,n1
                nodeList=n4                  | never
                nodeList=n[3-4] tasks=2      | never
                nodesMin=4                   | never
                nodesMin=3                   | +600 n1,n2,n3
                """);
    }

    @Test
    void devicesOfAKindAreCountedByThemselves() {
        Cluster c = new Cluster(
                "n1 cpus=8 mem=1000 gpus=a:2,b:2\nn2 cpus=8 mem=1000 gpus=b:4\nn3 cpus=8 mem=1000 gpus=b:2 shards=8",
                "p nodes=n[1-3] default=yes defmempercpu=10",
                "gresTypes=gpu,shard");
        c.accept("tresPerNode=gres/gpu:a:2 nodeList=n1 timing.timeLimitMin=10");
        c.accept("tresPerNode=gres/gpu:1 nodeList=n3 timing.timeLimitMin=20");
        c.schedule();
        table(c, """
                tresPerNode=gres/gpu:1                       | +0 n1
                tresPerNode=gres/gpu:a:1                     | +600 n1
                tresPerNode=gres/gpu:b:3                     | +0 n2
                tresPerNode=gres/gpu:b:2 nodesMin=3          | +1200 n1,n2,n3
                tresPerNode=gres/gpu:3 nodesMin=2            | +600 n1,n2
                tresPerTask=gres/gpu:2 tasks=3               | +0 n1,n2
                tresPerTask=gres/gpu:b:1 tasks=7             | +0 n1,n2,n3
                tresPerJob=gres/gpu:8 nodesMin=3             | +600 n1,n2,n3
                tresPerJob=gres/gpu:5 nodesMin=2 nodesMax=2  | +0 n1,n2
                tresPerNode=gres/shard:4                     | +0 n3
                """);
        int first = c.accept("tresPerNode=gres/gpu:b:3 timing.timeLimitMin=60");
        int second = c.accept("tresPerNode=gres/gpu:b:3 timing.timeLimitMin=60");
        assertThat(List.of(planned(c, first), planned(c, second)))
                .as("what the first takes the second waits for")
                .containsExactly("+0 n2", "+3600 n2");
    }

    /**
     * The next task of an array begins when one of the running ones must be over, though there is room: no more of its
     * tasks may run at once. Jobs of its kind begin now.
     */
    @Test
    void tasksWaitForTasksOfTheirArray() {
        Cluster c = new Cluster("n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=10", "");
        int array = c.accept("timing.timeLimitMin=10 timing.array=1-6%2");
        c.schedule();
        assertThat(planned(c, array)).isEqualTo("+600 n1");
        table(c, """
                timing.timeLimitMin=10               | +0 n1
                """);
    }

    /** A node may have more of a resource than a small number holds. */
    @Test
    void planCountsMoreOfAResourceThanAShortHolds() {
        Cluster c = new Cluster(
                "n1 cpus=8 mem=1000 gpus=1 shards=100000",
                "p nodes=n1 default=yes defmempercpu=10",
                "gresTypes=gpu,shard");
        c.accept("tresPerNode=gres/shard:60000 timing.timeLimitMin=10");
        c.schedule();
        table(c, """
                tresPerNode=gres/shard:40000                 | +0 n1
                tresPerNode=gres/shard:40001                 | +600 n1
                """);
    }

    @Test
    void planRespectsMaxCpusPerNodeAndExclusiveUser() {
        Cluster c = new Cluster(
                "n[1-2] cpus=8 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10 maxcpuspernode=4\n" + "q nodes=n[1-2] defmempercpu=10",
                "");
        c.accept("tasks=4 nodeList=n1 timing.timeLimitMin=10");
        c.apply(new Command.SubmitJob(
                0,
                Cluster.desc("tasks=2 nodeList=n2 timing.timeLimitMin=20 owner.uid=7"),
                "",
                Bytes.EMPTY,
                Bytes.EMPTY,
                false,
                false));
        c.schedule();
        table(c, """
                tasks=1                                      | +0 n2
                tasks=4                                      | +600 n1
                tasks=6 partition=q                          | +0 n2
                tasks=7                                      | +1200 n1,n2
                exclusive=USER partition=q                   | +0 n1
                exclusive=USER partition=q nodeList=n2       | +1200 n2
                """);
    }

    @Test
    void planKeepsNodesOfOneBlockTogether() {
        Topology blocks = new Topology(
                "",
                Topology.Kind.BLOCK,
                List.of(),
                List.of(
                        new Topology.Block("b1", Cluster.names("n[1-4]")),
                        new Topology.Block("b2", Cluster.names("n[5-8]"))),
                List.of(4),
                List.of(),
                false);
        Cluster c = new Cluster("n[1-8] cpus=1", "p nodes=n[1-8] default=yes defmempercpu=10", "", blocks);
        c.accept("nodeList=n[2-3] timing.timeLimitMin=10");
        c.accept("nodeList=n[5-6] timing.timeLimitMin=20");
        c.schedule();
        table(c, """
                nodesMin=2            | +0 n1,n4
                nodesMin=3            | +600 n1,n2,n3
                nodesMin=4 segment=2  | +0 n1,n4,n7,n8
                contiguous=true nodesMin=4 | +600 n1,n2,n3,n4
                """);
        List<Topology.Switch> two = List.of(
                new Topology.Switch("s1", 0, 1, Cluster.names("n[1-4]"), List.of()),
                new Topology.Switch("s2", 0, 1, Cluster.names("n[5-8]"), List.of()));
        c = new Cluster(
                "n[1-8] cpus=1",
                "p nodes=n[1-8] default=yes defmempercpu=10",
                "",
                new Topology("", Topology.Kind.TREE, two, List.of(), List.of(), List.of(), false));
        c.accept("nodeList=n[2-3] timing.timeLimitMin=10");
        c.accept("nodeList=n[5-6] timing.timeLimitMin=20");
        c.schedule();
        table(c, """
                nodesMin=3            | +600 n1,n2,n3
                nodesMin=4            | +600 n1,n2,n3,n4
                """);
    }

    /**
     * Jobs of a reservation are planned on what it has, all others on the rest; one that some reservation draws where
     * it starts first.
     */
    @Test
    void planKeepsReservedNodesForTheReservationsJobs() {
        Cluster c = new Cluster("n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=10", "");
        reserve(c, "now nodes=n[1-2] users=alice starttime=+0 duration=6000");
        reserve(c, "soon nodes=n3 users=alice starttime=+3600 duration=6000");
        c.accept("tasks=4 nodeList=n1 charge.reservation=now timing.timeLimitMin=10");
        c.accept("tasks=4 nodeList=n4 timing.timeLimitMin=30");
        c.schedule();
        table(c, """
                tasks=3 charge.reservation=now timing.timeLimitMin=5             | +0 n2
                nodesMin=2 charge.reservation=now timing.timeLimitMin=5          | +600 n1,n2
                nodeList=n1 charge.reservation=now timing.timeLimitMin=5         | +600 n1
                tasks=1 charge.reservation=soon timing.timeLimitMin=5            | +3600 n3
                tasks=1 charge.reservation=soon,now timing.timeLimitMin=5        | +0 n2
                tasks=4 timing.timeLimitMin=5                                    | +0 n3
                tasks=4 nodesMin=1 nodesMax=1 timing.timeLimitMin=90             | +1800 n4
                nodesMin=2 timing.timeLimitMin=90                                | +6000 n1,n2
                """);
        int first = c.accept("nodesMin=2 exclusive=NODE charge.reservation=now timing.timeLimitMin=20");
        int second = c.accept("tasks=4 nodesMin=1 charge.reservation=now timing.timeLimitMin=20");
        int other = c.accept("nodesMin=3 exclusive=NODE timing.timeLimitMin=20");
        assertThat(List.of(planned(c, first), planned(c, second), planned(c, other)))
                .as("who comes after waits for what is kept for those before")
                .containsExactly("+600 n1,n2", "+1800 n1", "+6000 n1,n2,n4");
        c = new Cluster("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "");
        reserve(c, "cores nodes=n1 corecnt=2 users=alice starttime=+0 duration=6000");
        reserve(c, "pull nodes=n2 users=alice starttime=+0 duration=6000 flags=magnetic");
        c.accept("tasks=1 charge.reservation=cores timing.timeLimitMin=10");
        c.schedule();
        table(c, """
                tasks=1 charge.reservation=cores timing.timeLimitMin=5           | +0 n1
                tasks=2 charge.reservation=cores timing.timeLimitMin=5           | +600 n1
                tasks=4 timing.timeLimitMin=5                                    | +0 n2
                nodeList=n1 tasks=2 timing.timeLimitMin=5                        | +0 n1
                nodeList=n1 tasks=3 timing.timeLimitMin=5                        | +6000 n1
                nodesMin=2 timing.timeLimitMin=5                                 | +6000 n1,n2
                """);
        c = new Cluster("n[1-3] cpus=4 mem=1000", "p nodes=n[1-3] default=yes defmempercpu=10", "");
        reserve(c, "wide nodes=n1 users=alice starttime=+0 duration=6000 flags=flex");
        reserve(c, "late nodes=n3 users=alice starttime=+1800 duration=6000 flags=flex");
        c.accept("tasks=4 charge.reservation=wide nodeList=n1 timing.timeLimitMin=10");
        c.schedule();
        table(c, """
                tasks=4 charge.reservation=wide timing.timeLimitMin=5            | +0 n2
                nodesMin=2 charge.reservation=wide timing.timeLimitMin=5         | +0 n2,n3
                nodesMin=3 charge.reservation=wide timing.timeLimitMin=5         | +600 n2,n3,n1
                nodeList=n3 charge.reservation=late timing.timeLimitMin=5        | +0 n3
                nodeList=n3 charge.reservation=late timing.timeLimitMin=40       | +1800 n3
                """);
    }

    /**
     * The plan knows of reservations, kinds of devices, layers and topology also behind more jobs than get reservations
     * in a pass.
     */
    @Test
    void planKnowsAllResourcesBehindAHundredJobs() {
        List<Topology.Switch> two = List.of(
                new Topology.Switch("s1", 0, 1, Cluster.names("n[1-2]"), List.of()),
                new Topology.Switch("s2", 0, 1, Cluster.names("n[3-4]"), List.of()));
        Cluster c = new Cluster(
                "n[1-4] cpus=4 mem=1000 gpus=a:1,b:1\nm1 cpus=1 mem=1000",
                "p nodes=n[1-4] default=yes defmempercpu=10\nq nodes=m1",
                "gresTypes=gpu",
                new Topology("", Topology.Kind.TREE, two, List.of(), List.of(), List.of(), false),
                List.of(new LayeredResource(
                        "power",
                        2,
                        Map.of(),
                        List.of(
                                new LayeredResource.Layer(Cluster.names("n[1-2]"), 2, 0),
                                new LayeredResource.Layer(Cluster.names("n[3-4]"), 2, 0)))));
        for (int i = 0; i < 120; i++) {
            c.accept("partition=q timing.timeLimitMin=60");
        }
        reserve(c, "mine nodes=n4 users=alice starttime=+0 duration=60000");
        c.accept("nodeList=n4 charge.reservation=mine tasks=4 timing.timeLimitMin=10");
        c.accept("nodeList=n1 tresPerNode=gres/gpu:a:1 licenses=power:2 timing.timeLimitMin=20");
        c.schedule();
        table(c, """
                tasks=4 charge.reservation=mine timing.timeLimitMin=5            | +600 n4
                tresPerNode=gres/gpu:a:1 nodeList=n1 timing.timeLimitMin=5       | +1200 n1
                tresPerNode=gres/gpu:b:1 nodeList=n1 timing.timeLimitMin=5       | +0 n1
                licenses=power:2 nodeList=n2 timing.timeLimitMin=5               | +1200 n2
                licenses=power:2 timing.timeLimitMin=5                           | +0 n3
                licenses=power:2 nodesMin=2 timing.timeLimitMin=5                | +1200 n1,n2
                nodesMin=2 exclusive=NODE timing.timeLimitMin=5                  | +1200 n1,n2
                """);
    }

    public static void reserve(Cluster c, String words) {
        Map<String, String> changes = new java.util.LinkedHashMap<>();
        for (String w : words.substring(words.indexOf(' ') + 1).split(" ")) {
            changes.put(w.substring(0, w.indexOf('=')), w.substring(w.indexOf('=') + 1));
        }
        assertThat(c.apply(new Command.CreateReservation(
                                0, words.substring(0, words.indexOf(' ')), c.moments(changes), Map.of()))
                        .toString())
                .as(words)
                .doesNotContain("Rejected");
    }

    @Test
    void exclusiveTopoJobIsPlannedOnAnEmptySwitch() {
        List<Topology.Switch> two = List.of(
                new Topology.Switch("s1", 0, 1, Cluster.names("n[1-2]"), List.of()),
                new Topology.Switch("s2", 0, 1, Cluster.names("n[3-4]"), List.of()));
        Cluster c = new Cluster(
                "n[1-4] cpus=2 mem=1000",
                "p nodes=n[1-4] default=yes defmempercpu=10",
                "",
                new Topology("", Topology.Kind.TREE, two, List.of(), List.of(), List.of(), false));
        c.accept("tasks=1 nodeList=n1 timing.timeLimitMin=10");
        c.accept("tasks=1 nodeList=n3 timing.timeLimitMin=20");
        c.schedule();
        table(c, """
                exclusive=TOPO                   | +600 n1
                exclusive=TOPO nodeList=n4       | +1200 n4
                tasks=1                          | +0 n1
                """);
        int first = c.accept("exclusive=TOPO timing.timeLimitMin=60");
        int second = c.accept("exclusive=TOPO timing.timeLimitMin=60");
        int third = c.accept("nodeList=n2 tasks=2 timing.timeLimitMin=60");
        assertThat(List.of(planned(c, first), planned(c, second), planned(c, third)))
                .containsExactly("+600 n1", "+1200 n3", "+4200 n2");
    }

    /** A job at the head of the queue: the plan says that it starts now if the pass starts it, and only then. */
    @Test
    void firstJobIsPlannedForNowOnlyIfItStartsNow() {
        int starts = 0;
        int waits = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = new Cluster(
                    "n[1-2] cpus=8 sockets=2 mem=1000 gpus=a:2,b:2 feature=a\n"
                            + "n3 cpus=4 threads=2 mem=2000 feature=b\nn4 cpus=4 mem=500 gpus=4",
                    "p nodes=n[1-4] default=yes defmempercpu=10\nq nodes=n[1-4] defmempercpu=10 maxcpuspernode=3",
                    "gresTypes=gpu");
            boolean reserved = seed % 2 == 0;
            if (reserved) {
                reserve(
                        c,
                        "r nodes=n2 users=alice starttime=+0 duration=6000" + (seed % 4 == 0 ? " flags=magnetic" : ""));
                reserve(c, "s nodes=n1 corecnt=" + (1 + r.nextInt(6)) + " users=alice starttime=+0 duration=6000");
                reserve(c, "t nodes=n3 users=alice starttime=+1200 duration=6000");
            }
            for (int i = 0; i < 6; i++) {
                c.submit(job(r) + within(r, reserved));
            }
            c.schedule();
            for (Job job : new ArrayList<>(c.state().jobs().values())) {
                if (job.isPending()) {
                    cancel(c, job.id());
                }
            }
            for (int i = 0; i < 12; i++) {
                String line = job(r) + within(r, reserved);
                int before = c.state().jobs().values().size();
                c.submit(line);
                if (c.state().jobs().values().size() == before) {
                    continue;
                }
                int id = c.state().jobs().values().stream()
                        .mapToInt(Job::id)
                        .max()
                        .orElseThrow();
                Scheduler s = (Scheduler) c.core().planner();
                s.forecasts().elsewhere(true);
                String plan = plan(c).estimate(id)
                        .map(e -> e.start() == c.seconds() ? "now" : "later")
                        .orElse("later");
                c.schedule();
                boolean started = !c.state().jobs().at(id).isPending();
                assertThat(plan)
                        .as("seed " + seed + ", " + line + ": " + c.shown(id))
                        .isEqualTo(started ? "now" : "later");
                starts += started ? 1 : 0;
                waits += started ? 0 : 1;
                c.apply(new Command.CancelJobs(
                        0, List.of(new Command.JobRef("" + id, id, -1, Command.JobRef.NO_STEP)), 0, false, false));
            }
        }
        assertThat(Math.min(starts, waits))
                .as(starts + " start and " + waits + " wait")
                .isGreaterThan(SEEDS);
    }

    private static String within(Random r, boolean reserved) {
        String name = reserved ? List.of("", "", "r", "s", "t", "r,s").get(r.nextInt(6)) : "";
        return name.isEmpty() ? "" : " charge.reservation=" + name;
    }

    private static String job(Random r) {
        String size = switch (r.nextInt(8)) {
            case 0 -> "tasks=1 memPerCpuMb=" + (100 + r.nextInt(400));
            case 1 -> "tasks=" + (1 + r.nextInt(8));
            case 2 -> "nodesMin=" + (1 + r.nextInt(3)) + " exclusive=NODE";
            case 3 -> "tasks=" + (1 + r.nextInt(3)) + " cpusPerTask=2 tasksPerNode=" + (1 + r.nextInt(2));
            case 4 ->
                "tresPerNode=gres/gpu:" + (r.nextBoolean() ? "a:" : "") + (1 + r.nextInt(2)) + " nodesMin="
                        + (1 + r.nextInt(2));
            case 5 -> "tresPerTask=gres/gpu:1 tasks=" + (1 + r.nextInt(5));
            case 6 -> "tresPerJob=gres/gpu:" + (2 + r.nextInt(6)) + " nodesMin=2";
            default ->
                "nodeList=n" + (1 + r.nextInt(4)) + " tasks=" + (1 + r.nextInt(3)) + " memPerNodeMb="
                        + (50 + r.nextInt(500));
        };
        String more = switch (r.nextInt(8)) {
            case 0 -> " features=" + (r.nextBoolean() ? "a" : "b");
            case 1 -> " excludeList=n" + (1 + r.nextInt(4));
            case 2 -> " threadsPerCore=1";
            case 3 -> " contiguous=true";
            case 4 -> " partition=q";
            default -> "";
        };
        return "timing.timeLimitMin=" + (1 + r.nextInt(200)) + " " + size + more;
    }
}
