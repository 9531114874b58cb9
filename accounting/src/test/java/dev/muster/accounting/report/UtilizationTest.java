package dev.muster.accounting.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.report.Utilization.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The figures of the tables are those that the original gives for the same rows. */
class UtilizationTest {
    private static final long AT = 1_199_142_000;
    private static final long MANY = AT + 1000 * Utilization.HOUR;

    private static final List<NodeTime> TIMES = List.of(
            new NodeTime("c", "", AT, AT + 2_681_999, "", Map.of("cpu", 4L, "mem", 4000L)),
            new NodeTime("c", "n0", AT + 2700, AT + 4500, "DOWN", Map.of("cpu", 2L, "mem", 2000L)));

    private static final List<JobUse> JOBS = List.of(
            job(AT, AT, AT + 1200, 2, 500),
            job(AT + 1200, AT + 1200, AT + 3900, 2, 700),
            job(AT + 3600, AT + 7500, AT + 93_900, 4, 4000),
            job(AT + 90_300, AT + 93_900, AT + 97_800, 2, 100));

    static JobUse job(long eligible, long start, long end, long cpus, long mem) {
        return new JobUse(
                1,
                "c",
                "a",
                "u",
                1,
                1,
                "",
                "p",
                "",
                "n0",
                eligible,
                start,
                end,
                0,
                cpus,
                (int) cpus,
                Map.of("cpu", cpus, "mem", mem),
                0,
                "normal");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # from and to in hours | TRES | allocated | down   | idle     | planned | over | reported
            0 | 37                 | cpu  | 361200    | 3600   | 154200   | 13800   | 9000 | 532800
            0 | 1                  | cpu  | 7200      | 1800   | 5400     | 0       | 0    | 14400
            1 | 2                  | cpu  | 600       | 1800   | 0        | 12000   | 2400 | 14400
            1 | 2                  | mem  | 210000    | 1800000 | 12390000 | 0      | 0    | 14400000
            1 | 3                  | cpu  | 13800     | 1800   | 0        | 13200   | 2400 | 28800
            121 | 122              | cpu  | 0         | 0      | 14400    | 0       | 0    | 14400
            """)
    void anHourIsDivided(
            long from,
            long to,
            String tres,
            long allocated,
            long down,
            long idle,
            long planned,
            long over,
            long reported) {
        Part p = Utilization.of(TIMES, JOBS, AT + from * 3600, AT + to * 3600, MANY)
                .get(tres);
        assertThat(p)
                .isEqualTo(new Part(tres.equals("cpu") ? 4 : 4000, allocated, down, 0, idle, planned, over, reported));
    }

    @Test
    void utilizationSpansNoTimeBeforeTheClusterOrAhead() {
        assertThat(Utilization.of(TIMES, JOBS, AT - 36_000, AT, MANY)).isEmpty();
        assertThat(Utilization.of(TIMES, List.of(), AT, AT + 36_000, AT + 1800)
                        .get("cpu")
                        .reported())
                .isEqualTo(4 * 1800);
        assertThat(Utilization.of(TIMES, List.of(job(AT, AT, 0, 2, 0)), AT, AT + 36_000, AT + 1800)
                        .get("cpu")
                        .allocated())
                .isEqualTo(2 * 1800);
    }

    @Test
    void allocatedTimeNeverExceedsReportedTime() {
        Part p = Utilization.of(TIMES, List.of(job(AT, AT, AT + 3600, 99, 0)), AT, AT + 3600, MANY)
                .get("cpu");
        assertThat(p.allocated()).isEqualTo(p.reported());
        assertThat(p.down() + p.idle() + p.planned()).isZero();
    }

    /** Whatever there was: the parts add up to the whole, and so do hours to days, for the cluster and for each job. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void utilizationPartsAddUpToTheWhole(long seed) {
        Random random = new Random(seed);
        List<JobUse> jobs = new ArrayList<>();
        List<NodeTime> times = new ArrayList<>(TIMES);
        for (int i = 0; i < 40; i++) {
            long eligible = AT + random.nextInt(400_000);
            long start = random.nextInt(4) == 0 ? 0 : eligible + random.nextInt(20_000);
            long end = random.nextInt(5) == 0 ? 0 : Math.max(start, eligible) + random.nextInt(90_000);
            jobs.add(new JobUse(
                    i,
                    "c",
                    "a",
                    "u",
                    1,
                    1,
                    "",
                    "p",
                    "",
                    "n0",
                    eligible,
                    start,
                    end,
                    random.nextInt(5_000),
                    1 + random.nextInt(4),
                    1,
                    Map.of("cpu", 1L + random.nextInt(3)),
                    random.nextInt(100_000),
                    "normal"));
            long down = AT + random.nextInt(400_000);
            times.add(new NodeTime(
                    "c",
                    "n" + i,
                    down,
                    down + random.nextInt(9_000),
                    random.nextBoolean() ? "DOWN" : "POWERED_DOWN",
                    Map.of("cpu", 1L)));
        }
        long now = AT + 600_000;
        long end = AT + 400 * 3600;
        Part whole = Utilization.of(times, jobs, AT, end, now).get("cpu");
        assertThat(whole.allocated() + whole.down() + whole.plannedDown() + whole.idle() + whole.planned())
                .isEqualTo(whole.reported());
        Part sum = null;
        for (long at = AT; at < end; at += 3600) {
            Part hour = Utilization.of(times, jobs, at, at + 3600, now).get("cpu");
            sum = hour == null ? sum : sum == null ? hour : Part.sum(sum, hour);
        }
        assertThat(sum.reported()).isEqualTo(whole.reported());
        assertThat(List.of(sum.allocated(), sum.down(), sum.idle(), sum.planned(), sum.overcommitted()))
                .isEqualTo(
                        List.of(whole.allocated(), whole.down(), whole.idle(), whole.planned(), whole.overcommitted()));
        for (JobUse j : jobs) {
            Map<String, Long> all = j.used(AT, now, now);
            Map<String, Long> parts = Amounts.none();
            for (long at = AT; at < now; at += 3600) {
                Amounts.add(parts, j.used(at, Math.min(now, at + 3600), now), 1);
            }
            assertThat(parts).isEqualTo(all);
            if (j.start() > 0) {
                long over = j.end() == 0 ? now : j.end();
                assertThat(all.get("cpu"))
                        .isEqualTo(j.tres().get("cpu") * Math.max(0, over - j.start() - j.suspended()));
                assertThat(all.getOrDefault("energy", 0L)).isEqualTo(over == j.start() ? 0 : j.energyJ());
            }
        }
    }

    @Test
    void tresAmountsAreRead() {
        assertThat(Amounts.of("billing=2,cpu=4,mem=2G,gres/gpu=1,node=1"))
                .containsEntry("mem", 2048L)
                .containsEntry("cpu", 4L)
                .containsEntry("gres/gpu", 1L);
        assertThat(Amounts.of("mem=512M")).containsEntry("mem", 512L);
        assertThat(Amounts.of("mem=4000")).containsEntry("mem", 4000L);
        assertThat(Amounts.of("mem=0.5G,=1,x,cpu=many")).isEqualTo(Map.of("mem", 512L));
    }
}
