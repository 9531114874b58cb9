package dev.muster.core.node;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** CompleteWait and reduce_completing_frag: no job starts for ten seconds beside a job that is ending. */
class CompleteWaitTest {
    private static final String PARTITIONS = """
            a nodes=n[1-2] default=yes defmempercpu=10
            b nodes=n3 defmempercpu=10
            c nodes=n[2-3] defmempercpu=10
            """;

    private static void play(String settings, String lines) {
        new Play(new Cluster("n[1-3] cpus=4 mem=1000", PARTITIONS, "options.complete_wait=10 " + settings))
                .lines(lines);
    }

    @Test
    void completeWaitHoldsAllPartitions() {
        play("", """
                submit kind=BATCH partition=a
                schedule                      -> 1 RUNNING n1
                cancel 1                      -> 1 CANCELLED+COMPLETING 'by 1000'
                submit kind=BATCH partition=a
                submit kind=BATCH partition=b
                schedule                      -> 2 PENDING; 3 PENDING
                pass 11
                schedule                      -> 2 RUNNING n1; 3 RUNNING n3
                """);
    }

    @Test
    void completeWaitHoldsPartitionsThatShareItsNodes() {
        play("options.reduce_completing_frag=yes", """
                submit kind=BATCH partition=a
                schedule                      -> 1 RUNNING n1
                cancel 1                      -> 1 CANCELLED+COMPLETING 'by 1000'
                submit kind=BATCH partition=a
                submit kind=BATCH partition=b
                submit kind=BATCH partition=c
                submit kind=BATCH partition=a,b
                het kind=BATCH partition=b : kind=BATCH partition=c
                schedule                      -> 2 PENDING; 3 RUNNING n3; 4 PENDING; 5 RUNNING n3; 6 PENDING; 7 PENDING
                why 2                         -> says (Priority)
                why 4                         -> says (Priority)
                done 1 n1
                schedule                      -> 2 RUNNING n1; 4 RUNNING n2; 6 RUNNING n3; 7 RUNNING n2
                """);
    }

    @Test
    void completingJobHoldsOthersForCompleteWaitAtMost() {
        play("options.reduce_completing_frag=yes", """
                submit kind=BATCH partition=a
                schedule
                cancel 1                      -> 1 CANCELLED+COMPLETING 'by 1000'
                submit kind=BATCH partition=a
                pass 9
                schedule                      -> 2 PENDING
                pass 1
                schedule                      -> 2 RUNNING n1; 1 CANCELLED+COMPLETING 'by 1000'
                """);
    }

    /** A job that found no room keeps its reason meanwhile, and gets it anew afterwards. */
    @Test
    void waitReasonStaysWhileJobsComplete() {
        play("options.reduce_completing_frag=yes", """
                submit kind=BATCH partition=b tasks=4
                submit kind=BATCH partition=a
                submit kind=BATCH partition=b tasks=4
                schedule                      -> 1 RUNNING n3; 2 RUNNING n1
                why 3                         -> says (Resources)
                cancel 1
                submit kind=BATCH partition=b
                schedule
                why 3                         -> says (Resources)
                why 4                         -> says (Priority)
                pass 11
                schedule                      -> 3 PENDING; 4 PENDING
                why 3                         -> says (Resources)
                done 1 n3
                schedule                      -> 3 RUNNING n3; 4 PENDING
                why 4                         -> says (Resources)
                """);
    }
}
