package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Allocation;
import dev.muster.core.Command;
import dev.muster.core.Job;
import dev.muster.model.ExitStatus;
import dev.muster.model.IndexSet;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What holds of every plan, tried on random clusters and queues: each seed is named where it fails. */
class PlanPropertiesTest {
    private static final int SEEDS = 40;
    private static final int STEPS = 30;

    private static Cluster cluster(String backfill) {
        return new Cluster("n[1-3] cpus=4 mem=1000 feature=a\nn[4-6] cpus=2 mem=2000 feature=b",
                "p nodes=n[1-6] default=yes defmempercpu=10\nq nodes=n[4-6] defmempercpu=10",
                "memoryConsumed=true" + (backfill.isEmpty() ? "" : " options.muster_backfill=" + backfill));
    }

    /** A job of a random size, for clusters with partitions p and q and features a and b. */
    static String job(Random r) {
        String size = switch (r.nextInt(4)) {
            case 0 -> "tasks=1 memPerCpuMb=" + (100 + r.nextInt(900));
            case 1 -> "tasks=" + (1 + r.nextInt(8));
            case 2 -> "nodesMin=" + (1 + r.nextInt(3)) + " exclusive=NODE";
            default -> "tasks=" + (1 + r.nextInt(3)) + " cpusPerTask=2";
        };
        return "timing.timeLimitMin=" + (1 + r.nextInt(200)) + " " + size + (r.nextInt(4) == 0 ? " partition=q" : "")
                + (r.nextInt(6) == 0 ? " features=" + (r.nextBoolean() ? "a" : "b") : "");
    }

    private static void end(Cluster c, Job job) {
        c.apply(new Command.CompleteAllocation(Cluster.USER, job.id(), ExitStatus.NONE));
        for (String node : job.run().allocation().nodeNames()) {
            c.apply(new Command.Report(node, new NodeMessages.JobDone(1, job.id(), job.attempt(), "")));
        }
    }

    private static List<Job> running(Cluster c) {
        List<Job> out = new ArrayList<>();
        c.state().jobs().values().forEach(j -> {
            if (j.holdsNodes()) {
                out.add(j);
            }
        });
        return out;
    }

    private static void noUnitIsHadTwice(Cluster c, String as) {
        Map<String, IndexSet> had = new HashMap<>();
        Map<String, Long> memory = new HashMap<>();
        for (Job job : running(c)) {
            for (Allocation.Share s : job.run().allocation().nodes()) {
                IndexSet others = had.getOrDefault(s.node(), IndexSet.empty());
                assertThat(others.intersect(s.cores()).isEmpty()).as(as + " " + job.id() + " on " + s.node()).isTrue();
                had.put(s.node(), others.union(s.cores()));
                long mb = memory.merge(s.node(), s.memoryMb(), Long::sum);
                assertThat(mb).as(as + " memory of " + s.node()).isLessThanOrEqualTo(c.state().nodes().at(s.node()).spec().memoryMb());
            }
        }
    }

    /** Whoever was promised a time in a pass is promised none later by the next, although others have started meanwhile. */
    private static void noReservationMoves(Cluster c, int heads, String as) {
        Scheduler scheduler = (Scheduler) c.core().planner();
        Map<Integer, Long> promised = new HashMap<>();
        for (Job job : scheduler.queued()) {
            // who begins in the coarse part of the plan is rounded anew each time
            if (promised.size() < heads && scheduler.plannedStart(job.id()) > 0) {
                promised.put(job.id(), scheduler.plannedStart(job.id()));
            }
        }
        c.schedule();
        promised.forEach((id, start) -> {
            if (c.state().jobs().at(id).isPending()) {
                assertThat(scheduler.plannedStart(id)).as(as + " start of " + id).isBetween(1L, start);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"''", "easy", "short", "expected"})
    void nothingIsHadTwiceAndNoPromiseIsBroken(String backfill) {
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = cluster(backfill);
            for (int step = 0; step < STEPS; step++) {
                for (int i = r.nextInt(4); i > 0; i--) {
                    c.submit(job(r));
                }
                c.schedule();
                String as = "seed " + seed + " step " + step + " " + backfill;
                noUnitIsHadTwice(c, as);
                noReservationMoves(c, 1, as);
                c.jump(1 + r.nextInt(600), 0);
                for (Job job : running(c)) {
                    boolean over = job.run().limitTickMs() <= c.seconds() * 1000;
                    if (over || r.nextInt(8) == 0) {
                        end(c, job);
                    }
                }
            }
        }
    }
}
