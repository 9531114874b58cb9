package dev.muster.scheduler.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.forecast.Forecast;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * GPUs for all nodes together (--gpus): what the plan says has room now is what a pass starts, and the other way round.
 */
class DevicePlanTest {
    private static final int SEEDS = Integer.getInteger("seeds", 500);
    private static final List<String> GPUS =
            List.of("gpus=a:2,b:2", "gpus=a:4", "gpus=a:4 near=0-3;4-7", "gpus=b:4 near=0-3;4-7");
    private static final int RUNNING_MAX = 4;

    /**
     * Plan and start agree beside what runs already: of two jobs the first may leave the second what it needs, or not.
     */
    @Test
    void planAndStartAgree() {
        int together = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            boolean near = random.nextBoolean();
            Cluster c = cluster(random, near);
            List<String> story = new ArrayList<>();
            for (int i = near ? 0 : random.nextInt(RUNNING_MAX); i > 0; i--) {
                String words = job(random);
                story.add(words + " -> " + c.place(words + " timing.timeLimitMin=60"));
            }
            c.state().jobs().values().forEach(j -> cancel(c, j));
            List<Integer> waiting = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                String words = job(random);
                if (c.submit(words + " timing.timeLimitMin=60") instanceof Decision.Accepted a) {
                    waiting.add(((SubmitReply) a.reply()).jobId());
                    story.add(words);
                }
            }
            List<Integer> planned = planned(c, waiting);
            c.schedule();
            List<Integer> started = waiting.stream()
                    .filter(id -> c.state().jobs().at(id).state() == JobState.RUNNING)
                    .toList();
            boolean first =
                    waiting.isEmpty() || started.contains(waiting.getFirst()) && planned.contains(waiting.getFirst());
            int told = first ? 2 : 1; // whoever comes after one that waits may have to leave him his place
            assertThat(started.stream().filter(id -> waiting.indexOf(id) < told))
                    .as("seed " + seed + " " + story)
                    .containsExactlyElementsOf(planned.stream()
                            .filter(id -> waiting.indexOf(id) < told)
                            .toList());
            together += started.size() == 2 ? 1 : 0;
        }
        assertThat(together).as("is about something").isGreaterThan(SEEDS / 10);
    }

    private static void cancel(Cluster c, Job job) {
        if (job.isPending()) {
            Command.JobRef ref = new Command.JobRef("" + job.id(), job.id(), -1, Command.JobRef.NO_STEP);
            c.apply(new Command.CancelJobs(Cluster.USER, List.of(ref), 0, false, false));
        }
    }

    private static List<Integer> planned(Cluster c, List<Integer> waiting) {
        Scheduler s = (Scheduler) c.core().planner();
        DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
        s.starts(c.state(), now, 0);
        Forecast plan = s.forecasts().make(c.state(), now, 0);
        return waiting.stream()
                .filter(id ->
                        plan.estimate(id).filter(e -> e.start() == c.seconds()).isPresent())
                .toList();
    }

    /**
     * Makes a cluster with nodes of one type only: where the cores decide which GPUs are near, a plan counts nodes
     * without jobs and of one type only.
     */
    private static Cluster cluster(Random random, boolean near) {
        StringBuilder nodes = new StringBuilder();
        for (int n = 1; n <= 3; n++) {
            nodes.append("n")
                    .append(n)
                    .append(" cpus=8 sockets=2 mem=1000 ")
                    .append(GPUS.get(random.nextInt(near ? GPUS.size() : 2)))
                    .append("\n");
        }
        return new Cluster(nodes.toString(), "p nodes=n[1-3] default=yes defmempercpu=10", "gresTypes=gpu");
    }

    private static String job(Random random) {
        String type = List.of("", "", "a:", "b:").get(random.nextInt(4));
        String size = List.of(
                        "", "nodesMin=2 nodesMax=2", "nodesMin=1 nodesMax=1", "nodesMin=2", "nodesMin=3 nodesMax=3")
                .get(random.nextInt(5));
        String tasks = random.nextInt(3) == 0 ? "" : " tasks=" + (3 + random.nextInt(8));
        String more = List.of("", "", "", " cpusPerGpu=2", " memPerGpuMb=100", " cpusPerTask=2")
                .get(random.nextInt(6));
        return "tresPerJob=gres/gpu:" + type + (1 + random.nextInt(6)) + " " + size + tasks + more;
    }
}
