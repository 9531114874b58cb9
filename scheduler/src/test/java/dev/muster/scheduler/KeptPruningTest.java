package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Planner;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests as {@link PruningTest}, where plans are made elsewhere and passes keep their places: what is remembered from
 * pass to pass changes nothing.
 */
class KeptPruningTest {
    private static final int SEEDS = 8;
    private static final int STEPS = 30;

    private static Map<Integer, String> reasons(Cluster c, Scheduler s, List<Planner.Start> starts) {
        Map<Integer, String> out = new TreeMap<>();
        c.state().jobs().values().forEach(j -> {
            if (j.isPending()
                    && s.queue().ranks().has(j.id())
                    && starts.stream().noneMatch(p -> p.jobId() == j.id())) {
                out.put(j.id(), s.reason(j.id()).toString());
            }
        });
        return out;
    }

    private static void happens(Cluster c, Random r) {
        c.jump(1 + r.nextInt(400), 0);
        int rate = 4 + r.nextInt(12);
        for (Job job : PruningTest.running(c)) {
            if (job.run().limitTickMs() <= c.seconds() * 1000 || r.nextInt(rate) == 0) {
                PruningTest.end(c, job);
            }
        }
        if (r.nextInt(3) == 0) {
            reserve(c, r);
        }
        if (r.nextBoolean()) {
            moves(c, r);
        }
        if (r.nextInt(6) == 0) {
            c.apply(new Command.UpdateNode(
                    0,
                    List.of("n" + (1 + r.nextInt(10))),
                    Map.of("state", r.nextBoolean() ? "drain" : "resume", "reason", "x")));
        }
    }

    /** Ends, holds or moves in the queue a random job that waits, with a reservation or behind a job that leaves. */
    private static void moves(Cluster c, Random r) {
        List<Job> waiting =
                c.state().jobs().values().stream().filter(Job::isPending).toList();
        if (waiting.isEmpty()) {
            return;
        }
        Command.JobRef ref = new Command.JobRef(
                "", waiting.get(r.nextInt(Math.min(waiting.size(), 8))).id(), -1, Command.JobRef.NO_STEP);
        c.apply(
                switch (r.nextInt(4)) {
                    case 0 -> new Command.CancelJobs(0, List.of(ref), 0, false, false);
                    case 1 -> new Command.HoldJobs(0, List.of(ref), r.nextBoolean(), false);
                    case 2 -> new Command.UpdateJob(0, ref, Map.of("priority", String.valueOf(1 + r.nextInt(100_000))));
                    default -> new Command.UpdateJob(0, ref, Map.of("timelimit", String.valueOf(1 + r.nextInt(300))));
                });
    }

    /** Makes a reservation of some nodes from now on or later, of any kind; or ends one of those that there are. */
    private static void reserve(Cluster c, Random r) {
        List<String> names = c.state().reservations().values().stream()
                .map(dev.muster.core.state.Reservation::name)
                .toList();
        if (names.size() > 3) {
            c.apply(new Command.DeleteReservation(0, "root", List.of(), names.get(r.nextInt(names.size()))));
            return;
        }
        String flags = List.of("", "FLEX", "MAINT", "DAILY", "MAGNETIC", "OVERLAP", "TIME_FLOAT")
                .get(r.nextInt(7));
        Map<String, String> values = new TreeMap<>(Map.of(
                "starttime",
                "+" + (r.nextInt(3) == 0 ? 0 : r.nextInt(5000)),
                "duration",
                String.valueOf(600 + r.nextInt(9000)),
                "nodes",
                "n" + (1 + r.nextInt(10)),
                "users",
                r.nextBoolean() ? "u" : "v"));
        if (!flags.isEmpty()) {
            values.put("flags", flags);
        }
        c.apply(new Command.CreateReservation(0, "r" + r.nextInt(1000), c.moments(values), Map.of()));
    }

    private static String inReservation(Cluster c, Random r) {
        List<String> names = c.state().reservations().values().stream()
                .map(dev.muster.core.state.Reservation::name)
                .toList();
        return names.isEmpty() || r.nextInt(8) > 0 ? "" : " charge.reservation=" + names.get(r.nextInt(names.size()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''",
                "options.muster_backfill=easy",
                "options.muster_backfill=short",
                "options.muster_backfill=slowdown",
                "options.muster_backfill=slowdown options.preempt_type=preempt/partition_prio "
                        + "options.preempt_mode=REQUEUE",
                "options.muster_backfill=slowdown options.preempt_type=preempt/qos options.preempt_mode=REQUEUE"
                        + " options.accounting_enforce=associations,limits,qos",
                "options.preempt_type=preempt/partition_prio options.preempt_mode=REQUEUE",
                "options.preempt_type=preempt/qos options.preempt_mode=REQUEUE "
                        + "options.accounting_enforce=associations,limits,qos",
                "options.preempt_type=preempt/qos options.preempt_mode=CANCEL,PRIORITY "
                        + "options.accounting_enforce=associations,limits,qos"
            })
    void pruningBesideReservationsChangesNoStart(String options) {
        int kept = 0;
        int reserved = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = PruningTest.cluster(options);
            boolean charged = options.contains("accounting_enforce");
            if (charged) {
                c.apply(new Command.ApplyPolicy(PruningTest.policy()));
            }
            Scheduler pruned = (Scheduler) c.core().planner();
            pruned.forecasts().elsewhere(true);
            for (int step = 0; step < STEPS; step++) {
                for (int i = r.nextInt(9); i > 0; i--) {
                    c.submit(PruningTest.job(r)
                            + inReservation(c, r)
                            + (charged
                                    ? " charge.account=a owner.user=" + (r.nextBoolean() ? "u" : "v") + " charge.qos="
                                            + List.of("low", "normal", "high").get(r.nextInt(3))
                                    : ""));
                }
                DecisionTime now = new DecisionTime(c.seconds() * 1000, c.seconds() * 1000);
                if (step % 4 == 0) {
                    pruned.starts(c.state(), now, 0);
                    pruned.forecasts().offer(pruned.forecasts().make(c.state(), now, 1 + r.nextInt(30)));
                }
                String as = "seed " + seed + " step " + step + " " + options;
                Scheduler plain = pruned.withSameHistory().withoutConnections().unpruned();
                plain.reset(c.state());
                List<Planner.Start> fast = pruned.starts(c.state(), now, 100);
                reserved += c.state().reservations().size();
                kept += pruned.forecasts().kept().byJob().size();
                plain.forecasts().keeping(pruned.forecasts().kept());
                List<Planner.Start> slow = plain.starts(c.state(), now, 100);
                assertThat(fast).as(as).isEqualTo(slow);
                assertThat(pruned.preemptions()).as(as).isEqualTo(plain.preemptions());
                assertThat(reasons(c, pruned, fast)).as(as).isEqualTo(reasons(c, plain, slow));
                assertThat(pruned.starts(c.state(), now, 100)).as(as + " again").isEqualTo(slow);
                c.schedule();
                happens(c, r);
            }
        }
        assertThat(reserved).as("reservations").isGreaterThan(SEEDS * STEPS);
        assertThat(kept).as("places that were kept").isGreaterThan(SEEDS * STEPS);
    }
}
