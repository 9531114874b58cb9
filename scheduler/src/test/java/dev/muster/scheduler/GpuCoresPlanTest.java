package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * GPUs near cores (gres.conf has Cores=): a job that asks for both together begins when it is planned to and not before
 * it can, and one that has room now begins now. Jobs end at their limits here, so that a plan can come true.
 */
class GpuCoresPlanTest {
    private static final int SEEDS = Integer.getInteger("seeds", 400);
    private static final int NODES = 2;
    private static final int CORES = 8;
    private static final int GPUS = 4;
    private static final int RESOLUTION_S = 60;
    private static final int RUNNING_MAX = 7;

    private static Cluster cluster() {
        return new Cluster(
                "n[1-2] cpus=8 sockets=2 mem=1000 gpus=4 near=0-3;4-7",
                "p nodes=n[1-2] default=yes defmempercpu=10",
                "gresTypes=gpu");
    }

    /**
     * Returns a job that holds some of the cores and of the GPUs, so that what is free of both is not always side by
     * side.
     */
    private static String other(Random r) {
        String cores = "tasks=1 cpusPerTask=" + (1 + r.nextInt(5));
        return switch (r.nextInt(4)) {
            case 0 -> cores;
            case 1 -> cores + " tresPerNode=gres/gpu:" + (1 + r.nextInt(2)) + " gresFlags=disable-binding";
            case 2 -> "tasks=1 tresPerNode=gres/gpu:" + (1 + r.nextInt(3)) + " gresFlags=enforce-binding";
            default -> "tasks=2 tresPerTask=gres/gpu:1";
        };
    }

    private static String wanted(Random r) {
        int gpus = 1 + r.nextInt(4);
        String cores = " cpusPerTask=" + (1 + r.nextInt(6));
        String words = switch (r.nextInt(6)) {
            case 0 -> "tasks=1" + cores + " tresPerNode=gres/gpu:" + gpus + " gresFlags=enforce-binding";
            case 1 ->
                "tasks=" + (1 + r.nextInt(3)) + " tresPerTask=gres/gpu:" + (1 + r.nextInt(2))
                        + " gresFlags=enforce-binding";
            case 2 ->
                "tasks=2" + cores + " nodesMin=1 nodesMax=1 socketsPerNode=2 tresPerSocket=gres/gpu:"
                        + (1 + r.nextInt(2));
            case 3 ->
                "tasks=1 nodesMin=1 nodesMax=1 socketsPerNode=1 tresPerSocket=gres/gpu:" + (1 + r.nextInt(2)) + cores;
            case 4 ->
                "cpusPerGpu=" + (1 + r.nextInt(3)) + " tresPerNode=gres/gpu:" + gpus
                        + " nodesMin=1 nodesMax=1 gresFlags=enforce-binding";
            default ->
                "tasks=2 nodesMin=2 nodesMax=2" + cores + " tresPerNode=gres/gpu:" + gpus
                        + " gresFlags=enforce-binding";
        };
        return words + " timing.timeLimitMin=30";
    }

    @Test
    void plansComeTrue() {
        int waited = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = cluster();
            List<String> story = occupied(c, r);
            String words = wanted(r);
            if (!(c.submit(words) instanceof Decision.Accepted a)) {
                continue;
            }
            int id = ((SubmitReply) a.reply()).jobId();
            long planned = planned(c, id);
            String as = "seed " + seed + " " + story + " then " + words + " planned in " + (planned - c.seconds());
            assertThat(planned).as(as).isGreaterThanOrEqualTo(c.seconds());
            c.schedule();
            assertThat(runs(c, id)).as(as).isEqualTo(planned == c.seconds());
            fits(c, id, words, as);
            long began = beginning(c, id);
            assertThat(began).as(as + " began in").isBetween(planned - 2 * RESOLUTION_S, planned + RESOLUTION_S);
            waited += runs(c, id) && began > 1 ? 1 : 0;
        }
        assertThat(waited).as("is about something").isGreaterThan(SEEDS / 5);
    }

    /** Returns the jobs that run, with where they are. */
    private static List<String> occupied(Cluster c, Random r) {
        List<String> story = new ArrayList<>();
        for (int i = r.nextInt(RUNNING_MAX); i > 0; i--) {
            String words = other(r) + " timing.timeLimitMin=" + 10 * (1 + r.nextInt(6));
            story.add(words + " -> " + c.place(words));
        }
        List.copyOf(c.state().jobs().values()).stream()
                .filter(Job::isPending)
                .forEach(j -> c.apply(new Command.CancelJobs(
                        Cluster.USER,
                        List.of(new Command.JobRef("" + j.id(), j.id(), -1, Command.JobRef.NO_STEP)),
                        0,
                        false,
                        false)));
        return story;
    }

    private static long planned(Cluster c, int id) {
        Scheduler s = (Scheduler) c.core().planner();
        DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
        s.starts(c.state(), now, 0);
        return s.forecasts()
                .make(c.state(), now, 0)
                .estimate(id)
                .map(e -> e.start())
                .orElse(-1L);
    }

    private static boolean runs(Cluster c, int id) {
        return c.state().jobs().at(id).state() == JobState.RUNNING;
    }

    /** Returns when the job begins, if all that runs ends at its limit. */
    private static long beginning(Cluster c, int id) {
        while (!runs(c, id)) {
            List<Job> all = List.copyOf(c.state().jobs().values()).stream()
                    .filter(Job::holdsNodes)
                    .toList();
            long next = all.stream().mapToLong(j -> j.run().limitTickMs()).min().orElse(Long.MAX_VALUE);
            if (next == Long.MAX_VALUE) {
                return Long.MAX_VALUE;
            }
            c.jump(Math.max(1, next / 1000 - c.seconds()), 0);
            all.stream()
                    .filter(j -> j.run().limitTickMs() <= c.seconds() * 1000)
                    .forEach(j -> end(c, j));
            c.schedule();
        }
        return c.state().jobs().at(id).run().startTime();
    }

    private static void end(Cluster c, Job job) {
        c.apply(new Command.CompleteAllocation(Cluster.USER, job.id(), ExitStatus.NONE));
        for (String node : job.run().allocation().nodeNames()) {
            c.apply(new Command.Report(node, new NodeMessages.JobDone(1, job.id(), job.attempt(), "")));
        }
    }

    /**
     * Checks one task with its cores near its GPUs: whether there is a node for it can be told by trying all sets of
     * GPUs.
     */
    private static void fits(Cluster c, int id, String words, String as) {
        if (!words.matches("tasks=1 cpusPerTask=[0-9]+ tresPerNode=.*enforce-binding.*")) {
            return;
        }
        int cores = Integer.parseInt(words.replaceAll(".*cpusPerTask=([0-9]+).*", "$1"));
        int gpus = Integer.parseInt(words.replaceAll(".*gpu:([0-9]+).*", "$1"));
        boolean room = false;
        for (int n = 1; n <= NODES; n++) {
            IndexSet coresHad = IndexSet.empty();
            IndexSet gpusHad = IndexSet.empty();
            for (Job job : List.copyOf(c.state().jobs().values())) {
                for (Allocation.Share s : job.holdsNodes() && job.id() != id
                        ? job.run().allocation().nodes()
                        : List.<Allocation.Share>of()) {
                    coresHad = s.node().equals("n" + n) ? coresHad.union(s.cores()) : coresHad;
                    gpusHad = s.node().equals("n" + n)
                            ? gpusHad.union(s.gres().getOrDefault("gpu", IndexSet.empty()))
                            : gpusHad;
                }
            }
            room |= room(coresHad, gpusHad, cores, gpus);
        }
        assertThat(runs(c, id)).as(as + " has room").isEqualTo(room);
    }

    /** Tests whether each socket that a GPU of the set is near to has a core for it. */
    private static boolean room(IndexSet coresHad, IndexSet gpusHad, int cores, int gpus) {
        for (int set = 0; set < 1 << GPUS; set++) {
            int near = 0;
            boolean free = Integer.bitCount(set) == gpus;
            int sockets = 0;
            for (int socket = 0; socket < 2; socket++) {
                int of = set >> socket * GPUS / 2 & (1 << GPUS / 2) - 1;
                int here = 0;
                for (int k = 0; k < CORES / 2; k++) {
                    here += coresHad.contains(socket * CORES / 2 + k) ? 0 : 1;
                }
                near += of == 0 ? 0 : here;
                sockets += of == 0 ? 0 : 1;
                free &= of == 0 || here > 0;
            }
            for (int g = 0; g < GPUS; g++) {
                free &= (set >> g & 1) == 0 || !gpusHad.contains(g);
            }
            if (free && near >= Math.max(cores, sockets)) {
                return true;
            }
        }
        return false;
    }
}
