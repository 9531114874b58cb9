package dev.muster.scheduler.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.PlanPropertiesTest;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.forecast.Forecast;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Plans that another thread makes: every waiting job has a start, passes keep the reservations of the first jobs, and
 * no job is planned twice.
 */
class ReservationsInForceTest {
    private static final int SEEDS = 20;
    private static final int STEPS = 25;

    private static DecisionTime now(Cluster c) {
        return new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
    }

    private static Scheduler elsewhere(Cluster c) {
        Scheduler s = (Scheduler) c.core().planner();
        s.forecasts().elsewhere(true);
        return s;
    }

    private static void plan(Cluster c, Scheduler s) {
        s.starts(c.state(), now(c), 0);
        s.forecasts().offer(s.forecasts().make(c.state(), now(c), 1000));
    }

    private static Cluster cluster() {
        return new Cluster(
                "n[1-3] cpus=4 mem=1000 feature=a\nn[4-6] cpus=2 mem=2000 feature=b",
                "p nodes=n[1-6] default=yes defmempercpu=10\nq nodes=n[4-6] defmempercpu=10",
                "memoryConsumed=true");
    }

    @Test
    void reservationHoldsOffOnlyJobsThatWouldDelayIt() {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes maxtime=1000", "");
        Scheduler s = elsewhere(c);
        c.accept("tasks=2 nodesMin=1 nodesMax=1 timing.timeLimitMin=100");
        c.schedule();
        int wide = c.accept("nodesMin=2 exclusive=NODE timing.timeLimitMin=10 timing.nice=5");
        int longer = c.accept("tasks=1 timing.timeLimitMin=200 timing.nice=10");
        int shorter = c.accept("tasks=1 timing.timeLimitMin=60 timing.nice=20");
        plan(c, s);
        c.schedule();
        assertThat(c.shown(wide)).isEqualTo("(Resources)");
        assertThat(s.plannedStart(wide)).isBetween(c.seconds() + 100 * 60, c.seconds() + 120 * 60);
        assertThat(c.shown(longer)).as("it would be in the way").startsWith("(");
        assertThat(c.shown(shorter)).as("it is over by then").isEqualTo("n2:1");
    }

    /** Freed room is reserved for a job: jobs behind it skip it without another look, jobs before it may take it. */
    @Test
    void freedRoomIsKeptOnlyFromJobsBehindTheReservation() {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes maxtime=1000", "");
        Scheduler s = elsewhere(c);
        c.accept("tasks=2 nodesMin=1 nodesMax=1 timing.timeLimitMin=100");
        int ends = c.accept("tasks=2 nodesMin=1 nodesMax=1 timing.timeLimitMin=100");
        c.schedule();
        int wide = c.accept("nodesMin=2 exclusive=NODE timing.timeLimitMin=10 timing.nice=5");
        int longer = c.accept("tasks=1 timing.timeLimitMin=200 timing.nice=10");
        plan(c, s);
        c.schedule();
        c.schedule();
        end(c, c.state().jobs().at(ends));
        c.schedule();
        assertThat(c.shown(wide)).isEqualTo("(Resources)");
        assertThat(c.shown(longer)).as("what is free is kept").isEqualTo("(Priority)");
        int before = c.accept("tasks=1 timing.timeLimitMin=200");
        c.schedule();
        assertThat(c.shown(before)).isEqualTo("n2:1");
        assertThat(c.shown(longer)).startsWith("(");
    }

    @Test
    void everyRunnableJobHasAPlannedStart() {
        Cluster c = cluster();
        Scheduler s = elsewhere(c);
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            ids.add(c.accept("nodesMin=" + (1 + i % 6) + " exclusive=NODE timing.timeLimitMin=20"));
        }
        c.schedule();
        plan(c, s);
        for (int id : ids) {
            if (c.state().jobs().at(id).isPending()) {
                assertThat(s.plannedStart(id)).as("job " + id).isGreaterThanOrEqualTo(c.seconds());
                assertThat(s.plannedNodes(id)).hasSize(1 + ids.indexOf(id) % 6);
            }
        }
    }

    private static void nothingIsHadTwice(Cluster c, String as) {
        Map<String, IndexSet> had = new HashMap<>();
        c.state().jobs().values().forEach(job -> {
            for (Allocation.Share sh :
                    job.holdsNodes() ? job.run().allocation().nodes() : List.<Allocation.Share>of()) {
                IndexSet others = had.getOrDefault(sh.node(), IndexSet.empty());
                assertThat(others.intersect(sh.cores()).isEmpty())
                        .as(as + " " + job.id() + " on " + sh.node())
                        .isTrue();
                had.put(sh.node(), others.union(sh.cores()));
            }
        });
    }

    /**
     * The first waiting job starts no later than the plan said whose reservations have been kept since: jobs that
     * started meanwhile are not in its way.
     */
    @Test
    void startsBetweenPlansNeverDelayTheFirstJob() {
        int checked = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = cluster();
            Scheduler s = elsewhere(c);
            for (int step = 0; step < STEPS; step++) {
                arrivals(c, r);
                if (step % 3 == 0) {
                    plan(c, s);
                }
                List<Integer> before = s.queue().jobs().stream().map(Job::id).toList();
                boolean had = s.forecasts().keepsFirst(c.state(), now(c));
                c.schedule();
                String as = "seed " + seed + " step " + step;
                nothingIsHadTwice(c, as);
                List<Integer> after = s.queue().jobs().stream().map(Job::id).toList();
                if (had && !after.isEmpty() && after.getFirst().equals(before.getFirst())) {
                    assertThat(s.forecasts().keepsFirst(c.state(), now(c)))
                            .as(as)
                            .isTrue();
                    checked++;
                }
                c.jump(1 + r.nextInt(300), 0);
                for (Job job : List.copyOf(c.state().jobs().values())) {
                    if (isOver(c, r, job)) {
                        end(c, job);
                    }
                }
            }
        }
        assertThat(checked).isGreaterThan(SEEDS * STEPS / 3);
    }

    /** Submits some jobs, or none. */
    private static void arrivals(Cluster c, Random r) {
        for (int i = r.nextInt(5); i > 0; i--) {
            c.submit(PlanPropertiesTest.job(r));
        }
    }

    /** Tests whether the job has had its time, or ends before it. */
    private static boolean isOver(Cluster c, Random r, Job job) {
        return job.holdsNodes() && (job.run().limitTickMs() <= c.seconds() * 1000 || r.nextInt(8) == 0);
    }

    private static void end(Cluster c, Job job) {
        c.apply(new Command.CompleteAllocation(Cluster.USER, job.id(), ExitStatus.NONE));
        for (String node : job.run().allocation().nodeNames()) {
            c.apply(new Command.Report(node, new NodeMessages.JobDone(1, job.id(), job.attempt(), "")));
        }
    }

    /**
     * Places on nodes where nothing has changed since the plan was noted down are not looked at again: the same are
     * kept as if all were.
     */
    @Test
    void reservationsOnUnchangedNodesAreKeptUnchecked() {
        int lost = 0;
        int kept = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = cluster();
            Scheduler s = elsewhere(c);
            for (int step = 0; step < STEPS; step++) {
                arrivals(c, r);
                c.schedule();
                Forecast plan = s.forecasts().make(c.state(), now(c), 1000);
                c.jump(r.nextInt(60), 0);
                for (Job job : List.copyOf(c.state().jobs().values())) {
                    if (isOver(c, r, job)) {
                        end(c, job);
                    } else if (job.holdsNodes() && r.nextInt(8) == 0) {
                        c.apply(new Command.UpdateJob(
                                0,
                                new Command.JobRef("" + job.id(), job.id(), -1, Command.JobRef.NO_STEP),
                                Map.of("timelimit", "" + (1 + r.nextInt(400)))));
                    }
                }
                if (r.nextBoolean()) {
                    c.schedule();
                }
                Map<Integer, List<PlannedPlace>> all = new ReservationsInForce(
                                s.cluster(), s.queue().ranks()::has, c.state(), now(c), PlannedReservations.NONE)
                        .renewed(plan.claims(), -1)
                        .byJob();
                assertThat(new ReservationsInForce(
                                        s.cluster(),
                                        s.queue().ranks()::has,
                                        c.state(),
                                        now(c),
                                        PlannedReservations.NONE)
                                .renewed(plan.claims(), plan.changes())
                                .byJob())
                        .as("seed " + seed + " step " + step)
                        .isEqualTo(all);
                kept += all.size();
                lost += (int) plan.claims().jobs().stream()
                        .filter(id -> s.queue().ranks().has(id) && !all.containsKey(id))
                        .count();
                s.forecasts().offer(plan);
            }
        }
        assertThat(kept).isGreaterThan(SEEDS * STEPS);
        assertThat(lost).as("some were taken by others meanwhile").isPositive();
    }
}
