package dev.muster.scheduler.queue;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** SlurmctldParameters=max_powered_nodes: jobs wait for power where their nodes would be too many. */
class PowerBudgetTest {
    private static final String POWER =
            "options.power:starts=true options.power:stops=true options.power:stop=30 options.power:start=60"
                    + " options.power:idle=-1 ";

    /** max_powered_nodes counts those that are to be started, and not those that are to be stopped before they are. */
    @Test
    void maxPoweredNodesLimitsTheNodesWithPower() {
        new Play(new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes", POWER + "options.power:most=2"))
                .lines("""
                node n[2-3] state=power_down
                pass 1
                node n3 state=power_up                -> n3 free+POWERING_DOWN+POWER_UP
                node n3 state=power_down
                pass 30                               -> n2 free+POWERED_DOWN; n3 free+POWERED_DOWN
                node n[2-3] state=power_up            -> says Max powered up nodes reached
                submit kind=BATCH nodesMin=3 nodesMax=3 tasks=3
                schedule                              -> 1 PENDING
                cancel 1
                node n3 state=power_up                -> n3 free+POWERED_DOWN+POWER_UP
                node n2 state=power_up                -> says Max powered up nodes reached
                pass 1
                register n3 boot2                     -> n3 free
                submit kind=BATCH cpusPerTask=2 timing.timeLimitMin=5
                submit kind=BATCH cpusPerTask=2 timing.timeLimitMin=5
                submit kind=BATCH cpusPerTask=2 timing.timeLimitMin=5
                schedule                              -> 2 RUNNING n1; 3 RUNNING n3; 4 PENDING
                why 4                                 -> says (Resources)
                cancel 3
                done 3 n3
                node n3 state=power_down
                pass 1
                schedule                              -> 4 PENDING
                pass 30                               -> n3 free+POWERED_DOWN
                schedule                              -> 4 RUNNING+CONFIGURING n2
                """);
    }

    /**
     * The first in order that have room for six are four nodes, two of which would have to be started; only one may be.
     */
    @Test
    void jobGetsNodesThatNeedFewerPowerUps() {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000\nn[3-4] cpus=1 mem=1000\nn5 cpus=4 mem=1000",
                        "p nodes=n[1-5] default=yes",
                        POWER + "options.power:most=3"))
                .lines("""
                node n[3-5] state=power_down
                pass 1
                pass 30                               -> n3 free+POWERED_DOWN; n5 free+POWERED_DOWN
                submit kind=BATCH nodesMin=4 nodesMax=4 tasks=6
                schedule                              -> 1 PENDING
                cancel 1
                submit kind=BATCH tasks=6
                schedule                              -> 2 RUNNING+CONFIGURING n[1-2,5]
                """);
    }

    @Test
    void wakeAheadStartsNoNodeBeyondMaxPoweredNodes() {
        new Play(new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] default=yes", POWER + "options.power:most=1"))
                .lines("""
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n1 cpusPerTask=2
                schedule                              -> 1 RUNNING n1
                node n[2-3] state=power_down
                pass 1
                pass 30                               -> n2 free+POWERED_DOWN
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                schedule                              -> 2 PENDING
                pass 260                              -> n2 free+POWERED_DOWN
                """);
    }
}
