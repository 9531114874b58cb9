package dev.muster.scheduler;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Cores that several jobs have at once, where the partition lets them. */
class OverSubscribeTest {
    private static void play(String partitions, String lines) {
        new Play(new Cluster("n[1-2] cpus=2 mem=1000", partitions, "")).lines(lines);
    }

    @Test
    void oversubscribeForceSharesBusyCores() {
        play("p nodes=n[1-2] defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=p
                submit kind=BATCH partition=p tasks=3
                schedule               -> 1 RUNNING n1; 2 RUNNING n2; 3 RUNNING n1; 4 RUNNING n[1-2]
                submit kind=BATCH partition=p
                schedule               -> 5 PENDING
                exited 3 batch 0:0
                done 3 n1
                schedule               -> 5 RUNNING n1
                """);
    }

    @Test
    void jobsShareCoresOnlyOnRequestAndWhereAllowed() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=YES:4\nq nodes=n1 defmempercpu=10 oversubscribe=YES:4", """
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                submit kind=BATCH partition=p tasks=2
                submit kind=BATCH partition=q tasks=2 oversubscribe=true
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                schedule               -> 1 RUNNING n1; 2 PENDING; 3 PENDING; 4 RUNNING n1 ahead
                why 2                  -> says (Resources)
                exited 1 batch 0:0
                done 1 n1
                schedule               -> 2 PENDING; 3 PENDING
                exited 4 batch 0:0
                done 4 n1
                schedule               -> 2 RUNNING n1; 3 PENDING
                """);
        play("p nodes=n1 defmempercpu=10 oversubscribe=NO", """
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                submit kind=BATCH partition=p tasks=2 oversubscribe=true
                schedule               -> 1 RUNNING n1; 2 PENDING
                """);
    }

    /**
     * --exclusive gives all CPUs of a node, and no node alone, where the partition forces jobs to share; FORCE:1 forces
     * nothing.
     */
    @Test
    void exclusiveSharesWhereItIsForced() {
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p exclusive=NODE
                submit kind=BATCH partition=p
                submit kind=BATCH partition=p exclusive=NODE
                schedule               -> 1 RUNNING n1; 2 RUNNING n1; 3 PENDING
                exited 2 batch 0:0
                done 2 n1
                schedule               -> 3 RUNNING n1
                """);
        play("p nodes=n1 defmempercpu=400 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p exclusive=NODE
                submit kind=BATCH partition=p
                schedule               -> 1 RUNNING n1; 2 PENDING
                """);
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p
                submit kind=BATCH partition=p exclusive=NODE
                schedule               -> 1 RUNNING n1; 2 RUNNING n1
                """);
        play("p nodes=n1 defmempercpu=10 oversubscribe=FORCE:2", """
                submit kind=BATCH partition=p exclusive=USER tasks=2
                submit kind=BATCH partition=p exclusive=USER tasks=2
                submit kind=BATCH partition=p exclusive=USER tasks=2
                schedule               -> 1 RUNNING n1; 2 RUNNING n1; 3 PENDING
                """);
        for (String alone : new String[] {"FORCE:1", "YES:2", "NO", "EXCLUSIVE"}) {
            play("p nodes=n1 defmempercpu=10 oversubscribe=" + alone, """
                    submit kind=BATCH partition=p exclusive=NODE
                    submit kind=BATCH partition=p
                    schedule           -> 1 RUNNING n1; 2 PENDING
                    """);
        }
    }

    @Test
    void memoryIsNotShared() {
        play("p nodes=n1 oversubscribe=FORCE:4", """
                submit kind=BATCH partition=p memPerNodeMb=600
                submit kind=BATCH partition=p memPerNodeMb=600
                submit kind=BATCH partition=p memPerNodeMb=400
                schedule               -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n1 ahead
                """);
    }
}
