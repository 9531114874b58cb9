package dev.muster.scheduler.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.forecast.Forecast;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Short jobs go ahead of one that waits, where they do not delay it. */
class BackfillPolicyTest {
    private static final String PARTITION = "p nodes=n[1-2] default=yes defmempercpu=10";

    @Test
    void aShortJobGoesAheadOfOneThatWaitsForBothNodes() {
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "")).lines("""
                submit kind=BATCH timing.timeLimitMin=60
                submit kind=BATCH timing.timeLimitMin=60 nodesMin=2 nodesMax=2 exclusive=NODE
                submit kind=BATCH timing.timeLimitMin=10
                submit kind=BATCH timing.timeLimitMin=59
                submit kind=BATCH timing.timeLimitMin=120
                schedule -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n1 ahead; 4 RUNNING n2 ahead; 5 PENDING
                """);
    }

    /**
     * A job that does not fit beside the wide job for its whole time begins for as long as it fits, but for no less
     * than its --time-min.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            timing.timeLimitMin=50                          | RUNNING n2 ahead | 50
            timing.timeLimitMin=50 timing.timeMinMin=5      | RUNNING n2 ahead | 50
            timing.timeLimitMin=200                         | PENDING          | 0
            timing.timeLimitMin=200 timing.timeMinMin=5     | RUNNING n2 ahead | 60
            timing.timeLimitMin=200 timing.timeMinMin=60    | RUNNING n2 ahead | 60
            timing.timeLimitMin=200 timing.timeMinMin=61    | PENDING          | 0
            timing.timeLimitMin=-1 timing.timeMinMin=30     | RUNNING n2 ahead | 60
            """)
    void backfilledJobIsShortenedDownToItsTimeMin(String job, String state, int minutes) {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "");
        Play play = new Play(c);
        play.lines("""
                submit kind=BATCH timing.timeLimitMin=60 tasks=2
                submit kind=BATCH timing.timeLimitMin=60 nodesMin=2 nodesMax=2 exclusive=NODE
                submit kind=BATCH tasks=2 %s
                schedule -> 1 RUNNING n1; 2 PENDING; 3 %s
                """.formatted(job, state));
        assertThat(minutes == 0 ? 0 : c.state().jobs().at(3).run().limitMin()).isEqualTo(minutes);
    }

    /**
     * Planned as well: for less than its whole time where it begins earlier then, and for as long as it begins as
     * early.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            timing.timeLimitMin=200                         | 120 | 30
            timing.timeLimitMin=200 timing.timeMinMin=10    | 30  | 120
            timing.timeLimitMin=200 timing.timeMinMin=31    | 120 | 30
            timing.timeLimitMin=30  timing.timeMinMin=10    | 30  | 120
            """)
    void timeMinJobIsPlannedShorterToStartEarlier(String job, int minutes, int other) {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "");
        Scheduler s = (Scheduler) c.core().planner();
        new Play(c).lines("""
                submit kind=BATCH timing.timeLimitMin=60 tasks=2
                submit kind=BATCH timing.timeLimitMin=30 tasks=2
                submit kind=BATCH timing.timeLimitMin=60 nodesMin=2 nodesMax=2 exclusive=NODE
                submit kind=BATCH tasks=2 %s
                submit kind=BATCH tasks=2 timing.timeLimitMin=25
                schedule -> 1 RUNNING n1; 2 RUNNING n2; 3 PENDING; 4 PENDING; 5 PENDING
                """.formatted(job));
        assertThat(java.util.List.of((s.plannedStart(4) - c.seconds()) / 60, (s.plannedStart(5) - c.seconds()) / 60))
                .containsExactly((long) minutes, (long) other);
        Forecast f = Forecast.of(s.forecasts()
                .input(c.state(), new dev.muster.core.state.DecisionTime(c.seconds() * 1000, c.seconds() * 1000), 0));
        assertThat((f.start(4) - c.seconds()) / 60)
                .as("in the plan of the whole queue")
                .isEqualTo(minutes);
    }

    /** A job gets a minute less some seconds later, when the pass has looked at the queue before. */
    @Test
    void backfilledJobGetsTheTimeLeftAtItsStart() {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "");
        new Play(c).lines("""
                submit kind=BATCH timing.timeLimitMin=60 tasks=2
                schedule
                pass 1
                submit kind=BATCH timing.timeLimitMin=60 nodesMin=2 nodesMax=2 exclusive=NODE
                schedule -> 1 RUNNING n1; 2 PENDING
                pass 1
                submit kind=BATCH tasks=2 timing.timeLimitMin=200 timing.timeMinMin=5
                schedule -> 3 RUNNING n2 ahead
                """);
        assertThat(c.state().jobs().at(3).run().limitMin()).isEqualTo(59);
    }

    /** A job begins for as long as it fits before a reservation of its nodes as well. */
    @Test
    void jobIsShortenedToEndBeforeAReservation() {
        Cluster c = new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "");
        c.apply(new dev.muster.core.command.Command.CreateReservation(
                0,
                "r",
                c.moments(new java.util.TreeMap<>(java.util.Map.of(
                        "starttime", "+3600", "duration", "3600", "nodes", "n[1-2]", "users", "root"))),
                java.util.Map.of()));
        new Play(c).lines("""
                submit kind=BATCH timing.timeLimitMin=100 timing.timeMinMin=70
                submit kind=BATCH timing.timeLimitMin=100 timing.timeMinMin=10
                schedule -> 1 PENDING; 2 RUNNING n1 ahead
                """);
        assertThat(c.state().jobs().at(2).run().limitMin()).isEqualTo(60);
    }

    /** bf_min_prio_reserve: job 5, which would delay job 2, starts where job 2 has no reservation. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            bf_min_prio_reserve=1            | PENDING
            bf_min_prio_reserve=9999999999   | RUNNING
            bf_min_age_reserve=0             | PENDING
            bf_min_age_reserve=100           | RUNNING
            bf_job_part_count_reserve=1      | PENDING
            bf_max_job_array_resv=0          | PENDING
            bf_max_job_array_resv=0 array    | RUNNING
            bf_max_job_array_resv=1 array    | PENDING
            """)
    void bfMinReserveOptionsDecideWhichJobsReserve(String word, String state) {
        String[] w = word.split(" ");
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "options." + w[0])).lines("""
                submit kind=BATCH timing.timeLimitMin=60
                submit kind=BATCH timing.timeLimitMin=60 nodesMin=2 nodesMax=2 exclusive=NODE%s
                submit kind=BATCH timing.timeLimitMin=120
                schedule -> 3 %s
                """.formatted(
                        w.length > 1 ? " timing.array=1-9" : "", state.equals("RUNNING") ? "RUNNING n1" : state));
    }

    /** The first of two jobs that wait alone has a reservation: the third may delay the second. */
    @Test
    void bfJobPartCountReserveLimitsReservingJobs() {
        for (String count : java.util.List.of("1", "2")) {
            new Play(new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "options.bf_job_part_count_reserve=" + count))
                    .lines("""
                    submit kind=BATCH timing.timeLimitMin=60 nodeList=n1 tasks=2
                    submit kind=BATCH timing.timeLimitMin=60 nodeList=n1 tasks=2
                    submit kind=BATCH timing.timeLimitMin=30 nodeList=n2
                    submit kind=BATCH timing.timeLimitMin=60 nodeList=n2 tasks=2
                    submit kind=BATCH timing.timeLimitMin=90 nodeList=n2
                    schedule -> 2 PENDING; 3 RUNNING n2 ahead; 4 PENDING; %s
                    """.formatted(count.equals("1") ? "5 RUNNING n2 ahead" : "5 PENDING"));
        }
    }

    /** A job of two partitions keeps room in one of them. */
    @Test
    void bfOneResvPerJobReservesInOnePartition() {
        for (String options : java.util.List.of("", "options.bf_one_resv_per_job=true")) {
            new Play(new Cluster(
                            "n[1-2] cpus=2 mem=1000",
                            "p nodes=n1 defmempercpu=10\nq nodes=n2 defmempercpu=10",
                            options))
                    .lines("""
                    submit kind=BATCH partition=p timing.timeLimitMin=60 tasks=2
                    submit kind=BATCH partition=q timing.timeLimitMin=30
                    submit kind=BATCH partition=p,q timing.timeLimitMin=60 tasks=2
                    submit kind=BATCH partition=q timing.timeLimitMin=120
                    schedule -> 3 PENDING; %s
                    """.formatted(options.isEmpty() ? "4 PENDING" : "4 RUNNING n2"));
        }
    }

    /** {@code srun --immediate}. */
    @Test
    void immediateJobStartsNowOrIsRefused() {
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", PARTITION + "\nq nodes=n2 defmempercpu=10", "")).lines("""
                immediately nodesMin=2 tasks=4 timing.timeLimitMin=60
                schedule                                   -> 1 RUNNING n[1-2]
                immediately tasks=1                        -> says Requested nodes are busy
                immediately tasks=1 timing.beginTime=9999999 -> says Job can not start immediately
                submit kind=BATCH timing.hold=true
                submit kind=BATCH partition=q
                immediately tasks=1                        -> says Requested nodes are busy
                submit kind=BATCH
                immediately tasks=1                        -> says Immediate execution impossible, insufficient priority
                """);
    }

    @Test
    void shortJobBackfillsAFreeNode() {
        new Play(new Cluster("n[1-2] cpus=1 mem=1000", PARTITION, "")).lines("""
                submit kind=BATCH timing.timeLimitMin=30
                submit kind=BATCH timing.timeLimitMin=30 nodesMin=2 nodesMax=2
                submit kind=BATCH timing.timeLimitMin=10
                schedule                             -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n2 ahead
                """);
    }

    /**
     * Checks the order beside one CPU that is free for an hour. Jobs of 50 minutes have run for a second until now, all
     * others that there were for 1000.
     */
    private static void beside(String backfill, String expected) {
        Play play = new Play(new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "options.muster_backfill=" + backfill));
        for (int id = 1; id <= 4; id++) {
            play.lines("""
                    submit kind=ALLOCATION timing.timeLimitMin=%d
                    schedule
                    pass %d
                    complete %d 0:0
                    done %d n1
                    """.formatted(id <= 2 ? 50 : 40, id <= 2 ? 1 : 1000, id, id));
        }
        play.lines("""
                submit kind=BATCH timing.timeLimitMin=60 tasks=3
                submit kind=BATCH timing.timeLimitMin=60 tasks=4
                submit kind=BATCH timing.timeLimitMin=40
                submit kind=BATCH timing.timeLimitMin=20
                submit kind=BATCH timing.timeLimitMin=50
                pass 600
                schedule                             -> 5 RUNNING n[1-2]; 6 PENDING; %s
                """.formatted(expected));
    }

    @Test
    void backfillPolicyChoosesTheJobThatOvertakes() {
        beside("easy", "7 RUNNING n2 ahead; 8 PENDING; 9 PENDING");
        beside("short", "7 PENDING; 8 RUNNING n2 ahead; 9 PENDING");
        beside("expected", "7 PENDING; 8 PENDING; 9 RUNNING n2 ahead");
        beside("slowdown", "7 PENDING; 8 PENDING; 9 RUNNING n2 ahead");
    }

    @Test
    void jobLongerThanTheReservationAllowsIsNotBackfilled() {
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", PARTITION, "options.muster_backfill=expected")).lines("""
                submit kind=BATCH timing.timeLimitMin=60 tasks=3
                submit kind=BATCH timing.timeLimitMin=60 tasks=4
                submit kind=BATCH timing.timeLimitMin=61
                submit kind=BATCH timing.timeLimitMin=60
                schedule                             -> 1 RUNNING n[1-2]; 2 PENDING; 3 PENDING; 4 RUNNING n2 ahead
                """);
    }
    /** --test-only: the start is not before --begin, however far away, and behind the jobs that wait by then. */
    @Test
    void testOnlyStartIsNotBeforeTheBeginTime() {
        for (String row : List.of(
                "timing.beginTime=0 -> +3600",
                "timing.beginTime=1000010 -> +3600",
                "timing.beginTime=1004000 -> +4000",
                "timing.beginTime=1000010 nodeList=n2 -> +10",
                "timing.beginTime=9000000 -> +8000000")) {
            Cluster c = new Cluster("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "");
            c.accept("kind=BATCH tasks=4 nodeList=n1 timing.timeLimitMin=60");
            c.schedule();
            String line = row.substring(0, row.indexOf(" ->"));
            assertThat("+"
                            + (c.wouldStart("kind=BATCH tasks=4 timing.timeLimitMin=10 "
                                            + (line.contains("nodeList") ? "" : "nodeList=n1 ") + line)
                                    - c.seconds()))
                    .as(row)
                    .isEqualTo(row.substring(row.indexOf('+')));
        }
    }
}
