package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what holds of every plan, on random clusters and queues: each seed is named where it fails. */
public class PlanPropertiesTest {
    private static final int SEEDS = 40;
    private static final int STEPS = 30;

    private static Cluster cluster(String backfill) {
        return new Cluster(
                "n[1-3] cpus=4 mem=1000 feature=a\nn[4-6] cpus=2 mem=2000 feature=b",
                "p nodes=n[1-6] default=yes defmempercpu=10\nq nodes=n[4-6] defmempercpu=10",
                "memoryConsumed=true" + (backfill.isEmpty() ? "" : " options.muster_backfill=" + backfill));
    }

    /** A job of a random size, for clusters with partitions p and q and features a and b. */
    public static String job(Random r) {
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
                assertThat(others.intersect(s.cores()).isEmpty())
                        .as(as + " " + job.id() + " on " + s.node())
                        .isTrue();
                had.put(s.node(), others.union(s.cores()));
                long mb = memory.merge(s.node(), s.memoryMb(), Long::sum);
                assertThat(mb)
                        .as(as + " memory of " + s.node())
                        .isLessThanOrEqualTo(
                                c.state().nodes().at(s.node()).spec().memoryMb());
            }
        }
    }

    /**
     * Checks that a job which had a planned start in a pass has none later in the next, although other jobs have
     * started meanwhile.
     */
    private static void noReservationMoves(Cluster c, int heads, String as) {
        Scheduler scheduler = (Scheduler) c.core().planner();
        Map<Integer, Long> promised = new HashMap<>();
        for (Job job : scheduler.queue().jobs()) {
            // a start in the coarse part of the plan is rounded anew each time
            if (promised.size() < heads && scheduler.plannedStart(job.id()) > 0) {
                promised.put(job.id(), scheduler.plannedStart(job.id()));
            }
        }
        c.schedule();
        promised.forEach((id, start) -> {
            if (c.state().jobs().at(id).isPending()) {
                assertThat(scheduler.plannedStart(id))
                        .as(as + " start of " + id)
                        .isBetween(1L, start);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"''", "easy", "short", "expected"})
    void planUsesNoResourceTwiceAndKeepsItsPromises(String backfill) {
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

    /**
     * Requests whose CPUs, and with them memory, come from several options at once: of cores with two threads, GPUs and
     * sockets.
     */
    private static String shaped(Random r) {
        StringBuilder out = new StringBuilder("timing.timeLimitMin=10");
        out.append(r.nextInt(3) == 0 ? "" : " tasks=" + (1 + r.nextInt(9)));
        out.append(r.nextInt(3) == 0 ? " cpusPerTask=" + (1 + r.nextInt(5)) : "");
        out.append(r.nextInt(3) == 0 ? " cpusPerNodeMin=" + (1 + r.nextInt(9)) : "");
        out.append(r.nextInt(3) == 0 ? " nodesMin=" + (1 + r.nextInt(3)) : "");
        out.append(r.nextInt(5) == 0 ? " tasksPerNode=" + (1 + r.nextInt(4)) : "");
        out.append(r.nextInt(6) == 0 ? " threadsPerCore=1" : r.nextInt(6) == 0 ? " tasksPerCore=1" : "");
        out.append(r.nextInt(8) == 0 ? " overcommit=true" : r.nextInt(8) == 0 ? " exclusive=NODE" : "");
        int gpus = 1 + r.nextInt(4);
        boolean any = true;
        switch (r.nextInt(5)) {
            case 0 -> out.append(" tresPerNode=gres/gpu:").append(gpus);
            case 1 -> out.append(" tresPerJob=gres/gpu:").append(gpus);
            case 2 -> out.append(" tresPerTask=gres/gpu:").append(1 + r.nextInt(2));
            default -> any = false;
        }
        out.append(any && r.nextInt(3) == 0 ? " cpusPerGpu=" + (1 + r.nextInt(5)) : "");
        int kind = r.nextInt(4);
        out.append(
                kind == 0
                        ? " memPerNodeMb=" + 100 * (1 + r.nextInt(9))
                        : kind == 1 && any
                                ? " memPerGpuMb=" + 100 * (1 + r.nextInt(5))
                                : kind < 3 ? " memPerCpuMb=" + (20 + r.nextInt(300)) : "");
        return out.toString();
    }

    @Test
    void noResourceIsAllocatedTwiceForAnyRequest() {
        int started = 0;
        for (int seed = 1; seed <= 4000; seed++) {
            Random r = new Random(seed);
            Cluster c = new Cluster(
                    "n[1-2] cpus=8 sockets=2 threads=2 mem=1000 gpus=4\nn3 cpus=4 mem=500",
                    "p nodes=n[1-3] default=yes defmempercpu=10",
                    "gresTypes=gpu memoryConsumed=true");
            List<String> words = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                words.add(shaped(r));
                c.submit(words.getLast());
                c.schedule();
                noUnitIsHadTwice(c, "seed " + seed + " " + words);
            }
            started += running(c).size();
        }
        assertThat(started).isGreaterThan(1500);
    }
}
