package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Planner;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.scheduler.forecast.Forecast;
import dev.muster.scheduler.forecast.ForecastTest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * Tests that every job which waits for room has a planned start, however far away, and that no later job is planned or
 * started in its time.
 */
class FarAheadTest {
    private static final long DAY_S = 86_400;
    private static final int DAY_MIN = 1440;
    private static final int SEEDS = 40;
    private static final String PARTITION = "p nodes=n[1-2] default=yes defmempercpu=10";

    private static Forecast plan(Cluster c) {
        Scheduler s = (Scheduler) c.core().planner();
        DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
        s.starts(c.state(), now, 0);
        return s.forecasts().make(c.state(), now, 1000);
    }

    private static List<Integer> many(Cluster c, int count, String what) {
        List<Integer> jobs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            jobs.add(c.accept(what));
        }
        return jobs;
    }

    /** Days from now, cut to two digits; -1 for never. */
    @SuppressWarnings("NarrowCalculation")
    private static List<Double> days(Cluster c, List<Integer> jobs) {
        Forecast plan = plan(c);
        return jobs.stream()
                .map(j -> plan.start(j) == 0 ? -1 : (plan.start(j) - c.seconds()) * 100 / DAY_S / 100.0)
                .toList();
    }

    /** Checks that each start is between these many days, by its place in the queue. */
    private static void inTurn(List<Double> starts, IntToDoubleFunction least, IntToDoubleFunction most) {
        for (int i = 0; i < starts.size(); i++) {
            assertThat(starts.get(i)).as("job " + i).isBetween(least.applyAsDouble(i), most.applyAsDouble(i));
        }
    }

    private static Cluster one() {
        return new Cluster("n1 cpus=4 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "");
    }

    private static Cluster cluster() {
        return new Cluster("n[1-2] cpus=4 mem=1000", PARTITION, "");
    }

    @Test
    void dayLongJobsArePlannedADayApart() {
        Cluster c = one();
        List<Integer> jobs = many(c, 60, "tasks=4 timing.timeLimitMin=" + DAY_MIN);
        inTurn(days(c, jobs), i -> i, i -> i);
    }

    /** A month of short jobs takes a month in the plan: what is planned hour by hour goes on hour by hour. */
    @Test
    void hourLongJobsArePlannedOverAMonth() {
        Cluster c = one();
        List<Integer> jobs = many(c, 30 * 24, "tasks=4 timing.timeLimitMin=60");
        inTurn(days(c, jobs), i -> i / 24.0 - 0.01, i -> i / 24.0 * 1.15 + 0.1);
    }

    /** Beyond the windows of the forecast the steps are coarse, and every job still has a planned start. */
    @Test
    void jobsBeyondHalfAYearHavePlannedStarts() {
        Cluster c = one();
        List<Integer> jobs = many(c, 26, "tasks=4 timing.timeLimitMin=" + 7 * DAY_MIN);
        inTurn(days(c, jobs), i -> i * 7.0, i -> i * 7.0 * 1.3);
    }

    /**
     * The first job waits for both nodes; later jobs fit beside the running jobs before its start, or begin after it.
     */
    @Test
    void laterJobsArePlannedAroundTheFirstJobsReservation() {
        Cluster c = cluster();
        c.accept("tasks=4 nodeList=n1 timing.timeLimitMin=" + 8 * DAY_MIN);
        c.schedule();
        int both = c.accept("nodesMin=2 exclusive=NODE timing.timeLimitMin=" + DAY_MIN);
        List<Integer> later = many(c, 3, "tasks=4 nodeList=n2 timing.timeLimitMin=" + 3 * DAY_MIN);
        assertThat(days(c, List.of(both))).containsExactly(8.0);
        assertThat(days(c, later)).as("the third would end a day too late").containsExactly(0.0, 3.0, 9.0);
    }

    /** No job is started into the time of the first, by a pass alone and by the reservations of a plan. */
    @Test
    void jobThatWouldDelayTheFirstJobDoesNotStart() {
        for (boolean elsewhere : new boolean[] {false, true}) {
            Cluster c = cluster();
            Scheduler s = (Scheduler) c.core().planner();
            c.accept("tasks=4 nodeList=n1 timing.timeLimitMin=" + 8 * DAY_MIN);
            c.schedule();
            int both = c.accept("nodesMin=2 exclusive=NODE timing.timeLimitMin=" + DAY_MIN);
            if (elsewhere) {
                s.forecasts().elsewhere(true);
                s.forecasts().offer(plan(c));
            }
            int tooLong = c.accept("tasks=4 timing.timeLimitMin=" + 9 * DAY_MIN);
            int fits = c.accept("tasks=4 timing.timeLimitMin=" + 7 * DAY_MIN);
            c.schedule();
            assertThat(List.of(both, tooLong, fits).stream()
                            .map(j -> c.state().jobs().at(j).holdsNodes()))
                    .as("elsewhere " + elsewhere)
                    .containsExactly(false, false, true);
        }
    }

    /**
     * Two that wait for both nodes, one after the other, behind what runs for long: the second's time is kept as well.
     */
    @Test
    void secondWaitingJobKeepsItsReservationToo() {
        Cluster c = cluster();
        c.accept("tasks=4 nodeList=n1 timing.timeLimitMin=" + 8 * DAY_MIN);
        c.schedule();
        List<Integer> both = many(c, 2, "nodesMin=2 exclusive=NODE timing.timeLimitMin=" + 10 * DAY_MIN);
        int later = c.accept("tasks=4 timing.timeLimitMin=" + 15 * DAY_MIN);
        c.schedule();
        assertThat(days(c, both)).containsExactly(8.0, 18.0);
        assertThat(c.state().jobs().at(later).holdsNodes()).isFalse();
        assertThat(days(c, List.of(later))).containsExactly(28.0);
    }

    /** A reservation keeps its nodes however far away it is: no job lasts into its time. */
    @Test
    void jobsArePlannedAroundAReservationOfNextMonth() {
        Cluster c = cluster();
        ForecastTest.reserve(c, "next nodes=n[1-2] users=alice starttime=+" + 20 * DAY_S + " duration=" + 2 * DAY_S);
        int tooLong = c.accept("tasks=4 timing.timeLimitMin=" + 25 * DAY_MIN);
        int endless = c.accept("tasks=4 timing.timeLimitMin=-1");
        int fits = c.accept("tasks=4 timing.timeLimitMin=" + 19 * DAY_MIN);
        c.schedule();
        assertThat(List.of(tooLong, endless, fits).stream()
                        .map(j -> c.state().jobs().at(j).holdsNodes()))
                .containsExactly(false, false, true);
        assertThat(days(c, List.of(tooLong, endless))).containsExactly(22.0, 22.0);
    }

    /** A job behind a job without a time limit shows a start in a year, as in Slurm, and has no reservation. */
    @Test
    void jobBehindAnUnlimitedJobShowsAStartInAYear() {
        Cluster c = cluster();
        c.accept("tasks=4 nodeList=n1 timing.timeLimitMin=-1");
        c.schedule();
        int both = c.accept("nodesMin=2 timing.timeLimitMin=10");
        int one = c.accept("tasks=4 timing.timeLimitMin=10 nodeList=n1");
        int endless = c.accept("tasks=4 timing.timeLimitMin=-1 nodeList=n2");
        assertThat(days(c, List.of(both, endless))).containsExactly(365.0, 0.0);
        assertThat(days(c, List.of(one)).getFirst()).isBetween(365.0, 365.1);
        c.schedule();
        assertThat(c.state().jobs().at(endless).holdsNodes()).isTrue();
        Scheduler s = (Scheduler) c.core().planner();
        DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
        assertThat(s.estimate(c.state(), now, Cluster.desc("partition=p tasks=2 nodesMin=2 timing.timeLimitMin=10"))
                        .map(e -> (e.start() - c.seconds()) / DAY_S))
                .as("and whoever asks")
                .hasValue(365L);
        c.jump(400 * DAY_S, 0);
        assertThat(days(c, List.of(both)).getFirst())
                .as("a year of his own, and then another")
                .isBetween(329.9, 331.0);
    }

    /** Ten without a limit on one node: ten years. */
    @Test
    void unlimitedJobsArePlannedAYearApart() {
        Cluster c = one();
        List<Integer> jobs = many(c, 10, "tasks=4 timing.timeLimitMin=-1");
        inTurn(days(c, jobs), i -> i * 365.0, i -> i * 365.0 * 1.2);
    }

    /** Nodes that are down do not come back by themselves. */
    @Test
    void jobThatNeedsADownNodeHasNoPlannedStart() {
        Cluster c = cluster();
        c.accept("tasks=4 nodeList=n1 timing.timeLimitMin=-1");
        c.schedule();
        c.apply(new Command.UpdateNode(0, List.of("n2"), Map.of("state", "down", "reason", "x")));
        int both = c.accept("nodesMin=2 timing.timeLimitMin=10");
        assertThat(days(c, List.of(both))).containsExactly(-1.0);
    }

    /** The tasks of an array one after the other, and devices, licenses and company with them. */
    @Test
    void planKnowsGpusAndLicensesHeldIntoLaterDays() {
        Cluster c = new Cluster(
                "n1 cpus=8 mem=1000 gpus=2",
                "p nodes=n1 default=yes defmempercpu=10",
                "gresTypes=gpu options.licenses=lic:2");
        List<Integer> gpus = many(c, 5, "tresPerNode=gres/gpu:2 timing.timeLimitMin=" + 6 * DAY_MIN);
        assertThat(days(c, gpus)).containsExactly(0.0, 6.0, 12.0, 18.0, 24.0);
        List<Integer> licenses = many(c, 3, "licenses=lic:2 timing.timeLimitMin=" + 5 * DAY_MIN);
        assertThat(days(c, licenses)).containsExactly(0.0, 5.0, 10.0);
    }

    /** A reservation that begins tomorrow is kept whatever waits behind it. */
    @Test
    void jobsArePlannedAroundARepeatedReservation() {
        Cluster c = one();
        ForecastTest.reserve(
                c, "daily nodes=n1 users=alice flags=" + ReservationFlag.DAILY + " starttime=+3600 duration=3600");
        List<Integer> jobs = many(c, 20, "tasks=4 timing.timeLimitMin=" + 20 * 60);
        inTurn(days(c, jobs), i -> i + 0.08, i -> i * 1.2 + 0.5);
        List<Integer> tooLong = many(c, 1, "tasks=4 timing.timeLimitMin=" + 2 * DAY_MIN);
        assertThat(days(c, tooLong)).as("it never has two days without it").containsExactly(-1.0);
    }

    /**
     * Whole nodes for hours, days and weeks, and reservations for some jobs: no node is planned for two jobs at a time,
     * and every job has a start.
     */
    @Test
    void noNodeIsPlannedForTwo() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = new Cluster("n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=10", "");
            List<Span> spans = new ArrayList<>();
            for (int n = 1; n <= 3; n++) {
                c.accept("exclusive=NODE nodeList=n" + n + " timing.timeLimitMin=" + limitMin(r));
            }
            c.schedule();
            c.state()
                    .jobs()
                    .values()
                    .forEach(j -> spans.add(new Span(
                            "job " + j.id(),
                            j.run().allocation().nodes().getFirst().node(),
                            c.seconds(),
                            c.seconds() + j.run().limitMin() * 60L)));
            if (r.nextBoolean()) {
                long from = (25 + r.nextInt(60)) * DAY_S;
                ForecastTest.reserve(c, "one nodes=n4 users=alice starttime=+" + from + " duration=" + DAY_S);
                spans.add(new Span("reservation", "n4", c.seconds() + from, c.seconds() + from + DAY_S));
            }
            Map<Integer, Integer> limits = new LinkedHashMap<>();
            for (int i = 0; i < 60; i++) {
                int limit = limitMin(r);
                limits.put(
                        c.accept("exclusive=NODE nodesMin=" + (1 + r.nextInt(4)) + " timing.timeLimitMin=" + limit),
                        limit);
            }
            Forecast plan = plan(c);
            for (Map.Entry<Integer, Integer> e : limits.entrySet()) {
                Planner.Estimate at = plan.estimate(e.getKey())
                        .orElseThrow(() -> new AssertionError("no time for job " + e.getKey()));
                for (String node : at.nodes()) {
                    spans.add(new Span("job " + e.getKey(), node, at.start(), at.start() + e.getValue() * 60L));
                }
            }
            for (Span one : spans) {
                assertThat(spans.stream()
                                .filter(o -> o != one && o.node.equals(one.node) && o.from < one.to && o.to > one.from))
                        .as("seed " + seed + ": beside " + one)
                        .isEmpty();
            }
        }
    }

    private record Span(String who, String node, long from, long to) {}

    private static int limitMin(Random r) {
        int days = r.nextInt(24);
        return r.nextInt(3) == 0 ? 1 + r.nextInt(600) : days * DAY_MIN + 1 + r.nextInt(DAY_MIN);
    }

    /**
     * slurmctld's plan in steps: a coarse start until the rest is planned, and none for a job that is held meanwhile.
     */
    @Test
    void stepwisePlanFillsInLaterStarts() {
        Cluster c = one();
        Scheduler s = (Scheduler) c.core().planner();
        List<Integer> jobs = many(c, 4, "tasks=4 timing.timeLimitMin=" + (30 * DAY_MIN + 5));
        Runnable soon = () -> {
            DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
            s.starts(c.state(), now, 0);
            s.plan(s.forecasts().input(c.state(), now, 1000), true);
        };
        soon.run();
        long vague = s.forecasts().start(jobs.get(2));
        while (s.planRest()) {
            assertThat(s.forecasts().start(jobs.get(2))).isEqualTo(vague);
        }
        long exact = s.forecasts().start(jobs.get(2));
        assertThat(exact).isLessThan(vague).isBetween(c.seconds() + 60L * DAY_S, c.seconds() + 61L * DAY_S);
        soon.run();
        assertThat(s.forecasts().start(jobs.get(2)))
                .as("the plan before knows more")
                .isEqualTo(exact);
        c.apply(new Command.UpdateJob(
                0,
                new Command.JobRef("" + jobs.get(2), jobs.get(2), -1, Command.JobRef.NO_STEP),
                Map.of("priority", "0")));
        soon.run();
        assertThat(s.forecasts().start(jobs.get(2))).as("held").isZero();
    }

    private static void cancel(Cluster c, int job) {
        c.apply(new Command.CancelJobs(
                Cluster.USER, List.of(new Command.JobRef("" + job, job, -1, Command.JobRef.NO_STEP)), 0, false, false));
    }

    /** The next job of the queue takes the room that a leaving job frees. */
    @Test
    void cancelledJobMovesLaterPlannedStartsForward() {
        Cluster c = one();
        List<Integer> jobs = many(c, 20, "tasks=4 timing.timeLimitMin=" + 5 * DAY_MIN);
        assertThat(days(c, jobs).getLast()).isEqualTo(95.0);
        cancel(c, jobs.get(3));
        assertThat(days(c, jobs).getLast()).isEqualTo(90.0);
        assertThat(plan(c).estimate(jobs.getLast()).map(e -> Map.of("nodes", e.nodes(), "cpus", e.cpus())))
                .hasValue(Map.of("nodes", List.of("n1"), "cpus", 4));
    }
}
