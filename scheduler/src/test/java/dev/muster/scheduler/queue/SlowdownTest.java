package dev.muster.scheduler.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the order in which {@code muster_backfill=slowdown} puts jobs. */
class SlowdownTest {
    private static final int DAY_S = 86_400;

    private static RuntimeEstimator after(long limitS, long... runS) {
        RuntimeEstimator e = new RuntimeEstimator();
        for (long r : runS) {
            e.learn(1, limitS, 4, r);
        }
        return e;
    }

    /** The last run is the last one named. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            20 20 20 20 20 40000    | 3000 3000 3000 | who mostly fails at once is cheaper than who never takes long
            20                      | 3000           | one is enough to know him
            20 20                   | 20             | the more often, the cheaper
            20 20 40000 40000       | 40000 40000    | he was quick once
            20                      | none           | the limit is dear
            40000                   | none           | and what is known to be long is not dearer than the limit
            """)
    void pastRunsDecideWhichUserIsCheaper(String one, String other, String why) {
        double first = priced(one);
        double second = priced(other);
        assertThat(first).as(why).isLessThan(second);
    }

    private static double priced(String runs) {
        long[] times = runs.equals("none")
                ? new long[0]
                : Arrays.stream(runs.split(" ")).mapToLong(Long::parseLong).toArray();
        return after(57_600, times).price(1, 57_600, 4, 57_600);
    }

    @Test
    void pastRunsOfAUserCountOnlyUpToTheTimeLimit() {
        RuntimeEstimator e = after(57_600, 40_000);
        assertThat(e.price(1, 600, 4, 600)).isEqualTo(600.0 * 600);
        assertThat(e.price(2, 600, 4, 600)).as("nothing is known of him").isEqualTo(600.0 * 600);
    }

    /**
     * Jobs are ordered on 100 CPUs, where the longest wait is a day: those that are due, then cheap ones, then the
     * others.
     */
    @Test
    void dueJobsComeBeforeCheapJobsBeforeTheRest() {
        Slowdown s = new Slowdown();
        double due = s.key("p", 0, DAY_S * 9 / 10, DAY_S, 1, 100, 1e9, true);
        double cheap = s.key("p", 0, 60, DAY_S, 1, 100, 100, true);
        double cheapButWide = s.key("p", 0, 60, DAY_S, 50, 100, 100, true);
        double narrow = s.key("p", 0, 60, DAY_S, 1, 100, 1e9, true);
        double wide = s.key("p", 0, 60, DAY_S, 50, 100, 1e9, true);
        assertThat(new double[] {due, cheap, cheapButWide, wide, narrow})
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(s.key("p", 0, 60, DAY_S, 50, 100, 1e9, false))
                .as("where nobody wide waits the queue's order is theirs")
                .isEqualTo(s.key("p", 0, 60, DAY_S, 1, 100, 2e9, false));
    }

    @Test
    void overtakingWorkCountsWhereNoWideJobWaits() {
        Slowdown s = new Slowdown();
        assertThat(s.key("p", 0, DAY_S, DAY_S, 1, 100, 1e9, false)).isPositive();
        s.began(1, "p", 600, 50, 0.1 * DAY_S);
        assertThat(s.key("p", 0, DAY_S, DAY_S, 1, 100, 1e9, false))
                .as("a twentieth of what the partition does in a day")
                .isNegative();
        s.ended(1, 50, 60);
        assertThat(s.key("p", 0, DAY_S, DAY_S, 1, 100, 1e9, false))
                .as("it was far less")
                .isPositive();
    }
}
