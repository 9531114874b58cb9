package dev.muster.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Traces are read, replayed and measured; and the fast replay starts each job when the product does. */
class ReplayTest {
    private static final int SEEDS = 6;

    private static Trace trace(String text) throws IOException {
        return Trace.read("t.swf", new BufferedReader(new StringReader(text)));
    }

    /** One job of the archive's form. */
    private static String swf(int id, long submit, long run, int had, int asked, long limit, int user) {
        return id + " " + submit + " -1 " + run + " " + had + " -1 -1 " + asked + " " + limit + " -1 1 " + user
                + " 1 1 1 1 -1 -1\n";
    }

    @Test
    void standardWorkloadFormatIsRead() throws IOException {
        Trace t = trace("; MaxProcs: 16\n; Note: any\n" + swf(7, 100, 50, 4, -1, 600, 3) + swf(8, 40, 900, 2, 3, 600, 4)
                + swf(9, 200, -1, 2, 2, 600, 1)
                + swf(10, 200, 60, -1, -1, 600, 1) + swf(11, 300, 60, 1, 1, -1, 1));
        assertThat(t.cpus()).isEqualTo(16);
        assertThat(t.jobs())
                .as("by submission, from 0; cut at the limit; without what has no size or never ran; no limit "
                        + "said: its run time")
                .containsExactly(
                        new Trace.Job(8, 0, 600, 600, 3, 4),
                        new Trace.Job(7, 60, 50, 600, 4, 3),
                        new Trace.Job(11, 260, 60, 60, 1, 1));
        assertThat(t.load()).isEqualTo((600 * 3 + 50 * 4 + 60) / 16.0 / 260);
        assertThat(t.atLoad(0.5).load()).isBetween(0.49, 0.51);
        assertThat(t.on(3).jobs()).hasSize(2);
        assertThat(t.jittered(300, 1))
                .as("the same by the same seed")
                .isEqualTo(t.jittered(300, 1))
                .isNotEqualTo(t.jittered(300, 2));
        assertThat(t.jittered(300, 1).jobs())
                .as("later by so much at most, in order of submission")
                .isSortedAccordingTo(Comparator.comparingLong(Trace.Job::submitS))
                .allSatisfy(m -> assertThat(m.submitS()
                                - t.jobs().stream()
                                        .filter(j -> j.id() == m.id())
                                        .findAny()
                                        .orElseThrow()
                                        .submitS())
                        .isBetween(0L, 300L));
        assertThat(t.first(1).wholeMinutes().jobs().getFirst().limitS()).isEqualTo(600);
    }

    @Test
    void aTableOfGpuJobsIsRead() throws IOException {
        Trace t = trace("timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,a\n2017-10-09 "
                + "07:00:55,7200.5,8,1,b\n");
        assertThat(t.jobs())
                .containsExactly(new Trace.Job(2, 0, 7201, 14_400, 8, 1), new Trace.Job(1, 60, 66, 3600, 1, 0));
        assertThat(t.cpus()).as("nobody says how large it is: the widest job").isEqualTo(8);
    }

    @Test
    void unreadableTraceOrPolicyIsNamed() {
        assertThatThrownBy(() -> trace("; MaxProcs: 16\n1 2 3\n")).hasMessage("t.swf:2: not a job: 1 2 3");
        assertThatThrownBy(() -> trace("; MaxProcs: 16\n")).hasMessage("t.swf: no job is in it");
        assertThatThrownBy(() -> Policy.of("best")).hasMessage("no policy best");
        assertThat(Policy.of("sjbf")).isEqualTo(Policy.SHORT);
    }

    /**
     * A machine of four CPUs: the third job waits for the first, which has two until 100; 4 to 6 want the one that is
     * free.
     */
    @Test
    void policyDecidesWhichJobIsBackfilled() throws IOException {
        Trace t = trace("; MaxProcs: 4\n" + swf(1, 0, 100, 2, 2, 100, 1) + swf(2, 0, 300, 1, 1, 300, 1)
                + swf(3, 1, 50, 3, 3, 50, 1) + swf(4, 2, 500, 1, 1, 500, 2) + swf(5, 2, 60, 1, 1, 90, 2)
                + swf(6, 2, 20, 1, 1, 30, 2));
        assertThat(new FastReplay(t, Policy.FCFS).replay()).containsExactly(0, 0, 100, 150, 150, 150);
        assertThat(new FastReplay(t, Policy.EASY).replay())
                .as("4 would delay 3")
                .containsExactly(0, 0, 100, 150, 2, 62);
        assertThat(new FastReplay(t, Policy.SHORT).replay())
                .as("6 is over before 5 would be")
                .containsExactly(0, 0, 100, 150, 150, 2);
        assertThat(new FastReplay(t, Policy.CONSERVATIVE).replay()).containsExactly(0, 0, 100, 150, 2, 62);
    }

    @Test
    void replayResultMeasuresSlowdownWaitAndUse() throws IOException {
        Trace t = trace("; MaxProcs: 2\n" + swf(1, 0, 100, 2, 2, 100, 1) + swf(2, 0, 1, 1, 1, 60, 2)
                + swf(3, 0, 50, 1, 1, 60, 2));
        ReplayResult r = ReplayResult.of(t, new long[] {0, 100, 100}, 3);
        assertThat(r.mean())
                .as("1, (100 + 1) / 10, (100 + 50) / 50")
                .isCloseTo((1 + 10.1 + 3) / 3, org.assertj.core.data.Offset.offset(1e-9));
        assertThat(r.max()).isEqualTo(10.1);
        assertThat(r.meanOfUsers()).isCloseTo((1 + 13.1 / 2) / 2, org.assertj.core.data.Offset.offset(1e-9));
        assertThat(r.maxWaitS()).isEqualTo(100);
        assertThat(r.utilisation()).isEqualTo((200 + 1 + 50) / 2.0 / 150);
    }

    /** Bursts of a few users with favourite jobs, of which most run far shorter than they say. */
    static Trace made(int seed, int jobs, int cpus, double load) {
        return made(seed, jobs, cpus, cpus, load);
    }

    /** @param widest CPUs that a job requests at most */
    static Trace made(int seed, int jobs, int cpus, int widest, double load) {
        Random r = new Random(seed);
        List<Trace.Job> out = new ArrayList<>();
        long at = 0;
        int user = 0;
        long limit = 60;
        int width = 1;
        for (int i = 0; i < jobs; i++) {
            if (i == 0 || r.nextInt(4) == 0) {
                at += r.nextInt(4000);
                user = r.nextInt(8);
                limit = 60L * (1 + r.nextInt(r.nextBoolean() ? 20 : 600));
                width = r.nextInt(3) == 0 ? 1 + r.nextInt(widest) : 1 + r.nextInt(Math.max(1, widest / 8));
            }
            at += r.nextInt(30);
            long run = Math.min(limit, 1 + (long) (limit * Math.pow(r.nextDouble(), 3)));
            out.add(new Trace.Job(i + 1, at, run, limit, width, user));
        }
        out.sort(Comparator.comparingLong(Trace.Job::submitS));
        return new Trace(out, cpus).atLoad(load);
    }

    @ParameterizedTest
    @EnumSource(names = {"FCFS", "EASY", "SHORT", "EXPECTED", "SLOWDOWN"})
    void theFastReplayStartsEachJobWhenTheProductDoes(Policy policy) {
        for (int seed = 1; seed <= SEEDS; seed++) {
            Trace t = made(seed, 120, 16, 0.9);
            assertThat(new CoreReplay(t, 1, policy).replay())
                    .as("seed " + seed)
                    .containsExactly(new FastReplay(t, policy).replay());
        }
    }

    /** No job is wide: the order of the queue does not decide which job has the reservation. */
    @Test
    void fastReplayAgreesForAPolicyWithItsOwnOrder() {
        boolean differs = false;
        for (int seed = 1; seed <= SEEDS; seed++) {
            Trace t = made(seed, 150, 32, 4, 0.95);
            long[] kernel = new FastReplay(t, Policy.SLOWDOWN).replay();
            assertThat(new CoreReplay(t, 1, Policy.SLOWDOWN).replay())
                    .as("seed " + seed)
                    .containsExactly(kernel);
            differs |= !Arrays.equals(kernel, new FastReplay(t, Policy.EXPECTED).replay());
        }
        assertThat(differs).as("it is another order than beside a reservation").isTrue();
    }

    /** Many small jobs: slowdowns fall to a part, and no job waits much longer than the longest wait was. */
    @Test
    void smallJobsGoByTheirPrice() {
        double slowdown = 0;
        int tried = 0;
        for (int seed = 200; seed < 206; seed++) {
            Trace t = made(seed, 6000, 64, 4, 0.95);
            ReplayResult easy = Main.replay(t, Policy.EASY, false, 1);
            ReplayResult ours = Main.replay(t, Policy.SLOWDOWN, false, 1);
            slowdown += Math.log(ours.mean() / easy.mean());
            tried++;
            assertThat(ours.maxWaitS()).as("seed " + seed).isLessThan(1.2 * easy.maxWaitS());
        }
        assertThat(Math.exp(slowdown / tried)).isLessThan(0.7);
    }

    /**
     * What the policies are for, on work that they were not made from; the figures of real traces are docs/replay.md's.
     */
    @Test
    void slowdownsAreLowerAndTheLongestWaitIsNotMuchLonger() {
        double slowdown = 0;
        double expected = 0;
        int tried = 0;
        for (double load : new double[] {0.7, 0.8, 0.9}) {
            for (int seed = 100; seed < 106; seed++) {
                Trace t = made(seed, 4000, 64, load);
                ReplayResult easy = Main.replay(t, Policy.EASY, false, 1);
                ReplayResult ours = Main.replay(t, Policy.SLOWDOWN, false, 1);
                slowdown += Math.log(ours.mean() / easy.mean());
                expected += Math.log(Main.replay(t, Policy.EXPECTED, false, 1).mean() / easy.mean());
                tried++;
                assertThat(ours.maxWaitS()).as("seed " + seed + " load " + load).isLessThan(1.2 * easy.maxWaitS());
            }
        }
        assertThat(Math.exp(slowdown / tried)).isLessThan(0.91);
        assertThat(Math.exp(expected / tried)).isLessThan(0.91);
    }
}
