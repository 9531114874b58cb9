package dev.muster.core.node;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Nodes that slurm.conf does not name, and those that take the place of FUTURE ones. */
class DynamicNodesTest {
    private static void play(String lines) {
        new Play(new Cluster(
                        "n1 cpus=2 mem=1000\nf[1-2] cpus=4 mem=1000 state=FUTURE feature=big",
                        "p nodes=ALL default=yes defmempercpu=10\nq nodes=n1",
                        "requeueJobs=true options.max_node_count=5 options.node_set:q=x"))
                .lines(lines);
    }

    @Test
    void registeredDynamicNodeStaysOverAReconfigure() {
        play("""
                introduce d1 cpus=2 feature=x
                register d1 boot                      -> d1 free+DYNAMIC_NORM; members p=n1,f1,f2,d1
                submit kind=BATCH
                schedule                              -> 1 RUNNING n1
                reconfigure                           -> d1 free+DYNAMIC_NORM; members p=n1,f1,f2,d1
                submit kind=BATCH request.cpusPerTask=2
                schedule                              -> 2 RUNNING d1
                remove d1                             -> says Requested nodes are busy
                exited 2 batch 0:0
                done 2 d1
                introduce d1 cpus=3 feature=x         -> d1 free+DYNAMIC_NORM
                introduce n1 cpus=9                   -> n1 holds [1]
                remove d1                             -> d1 unknown; members p=n1,f1,f2; says Refused@d1
                remove d1                             -> says Invalid node name specified
                remove n1                             -> says Requested nodes are busy
                remove n1 uid=1000                    -> says Invalid user id
                cancel 1
                done 1 n1
                remove n1                             -> says Invalid node state specified
                introduce d1 cpus=3
                reserve r starttime=+0 duration=600 nodes=d1 users=alice
                remove d1                             -> says Requested nodes are busy
                """);
    }

    @Test
    void dynamicNodeIsCreatedInThreeStates() {
        play("""
                create d[1-2] cpus=1 state=CLOUD -> d1 free+POWERED_DOWN+CLOUD+DYNAMIC_NORM; members p=n1,f1,f2,d1,d2
                create d1 cpus=1 state=CLOUD            -> says Node already exists in the node table (d1)
                create d3 cpus=1 state=DOWN             -> says Invalid node state specified
                create d3 cpus=1 state=FUTURE           -> says Unable to add node, node table is full (d3)
                create d3 cpus=1 state=FUTURE uid=1000  -> says Invalid user id
                create d3 cpus=1 state=EXTERNAL         -> says Unable to add node, node table is full (d3)
                remove d2
                create d3 cpus=1 mem=100 state=EXTERNAL -> d3 free+DYNAMIC_NORM+EXTERNAL
                node d3 state=drain reason=x            -> d3 free+DRAIN+DYNAMIC_NORM+EXTERNAL 'x'
                node d3 state=resume                    -> d3 free+DYNAMIC_NORM+EXTERNAL
                remove d3
                create d3 cpus=1 state=FUTURE           -> d3 free+FUTURE+DYNAMIC_NORM
                introduce d1 cpus=2
                register d1 boot                        -> d1 free+CLOUD+DYNAMIC_NORM
                """);
    }

    @Test
    void dynamicNodeTakesTheFirstFuturePlaceThatFits() {
        play("""
                assign h1 4 big                            -> says f1
                assign h1 4 big                            -> says f1; f1 free+UNKNOWN+DYNAMIC_FUTURE
                register f1 boot                           -> f1 free+DYNAMIC_FUTURE
                reconfigure
                assign h2 2                                -> says No FUTURE node has this hardware
                assign h2 4 small                          -> says No FUTURE node has this hardware and feature small
                assign h2 4                                -> says f2
                """);
    }

    @Test
    void aFutureNodeIsPutIntoServiceByHand() {
        play("""
                register f1 boot                           -> f1 free+FUTURE
                node f1 state=resume                       -> f1 free
                """);
    }

    @Test
    void dynamicNodesNeedMaxNodeCount() {
        new Play(new Cluster("n1 cpus=2 mem=1000", "p nodes=ALL default=yes", "")).lines("""
                introduce d1 cpus=1 -> says There is no room for nodes that slurm.conf does not name: MaxNodeCount is not set
                """);
    }
}
