package dev.muster.scheduler;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Reservations that jobs enter or leave without naming them: MAGNETIC and FLEX. */
class MagneticReservationTest {
    private static void play(String lines) {
        new Play(new Cluster(
                        "n[1-3] cpus=2 mem=1000",
                        "p nodes=n[1-3] default=yes defmempercpu=10",
                        "requeueJobs=true returnToService=1 "))
                .lines(lines);
    }

    @Test
    void aFlexibleReservationIsLeftAndEnteredEarly() {
        play("""
                reserve r starttime=+600 duration=60 nodecnt=1 users=alice flags=FLEX
                submit kind=BATCH charge.reservation=r nodesMin=2
                schedule                                                        -> 1 RUNNING n[1-2]
                pass 700                                                        -> 1 RUNNING n[1-2]; r unknown
                """);
    }

    @Test
    void aMagneticReservationTakesJobsIn() {
        play("""
                reserve r starttime=+0 duration=600 nodes=n3 users=alice flags=MAGNETIC
                submit kind=BATCH
                schedule                                                        -> 1 RUNNING n3
                submit kind=BATCH tasks=2
                schedule                                                        -> 2 RUNNING n1
                """);
    }

    /** A job that is longer than the reservation is not taken in. */
    @Test
    void magneticReservationTakesOnlyJobsThatFit() {
        play("""
                reserve r starttime=+0 duration=600 nodes=n3 users=alice flags=MAGNETIC
                submit kind=BATCH timing.timeLimitMin=11
                schedule                                                        -> 1 RUNNING n1
                submit kind=BATCH timing.timeLimitMin=10
                schedule                                                        -> 2 RUNNING n3
                """);
        play("""
                reserve r starttime=+0 duration=600 nodes=n3 users=alice flags=MAGNETIC,FLEX
                submit kind=BATCH timing.timeLimitMin=11 nodeList=n3
                schedule                                                        -> 1 RUNNING n3
                """);
    }
}
