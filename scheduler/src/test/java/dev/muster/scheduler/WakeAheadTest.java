package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.DecisionTime;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.scheduler.forecast.Forecast;
import dev.muster.scheduler.timeline.TimeGrid;
import org.junit.jupiter.api.Test;

/**
 * Nodes that are powered down are up when their planned job begins, and nodes that a job will have soon are not powered
 * down.
 */
class WakeAheadTest {
    private static final String POWER =
            "requeueJobs=true options.power:starts=true options.power:stops=true options.power:stop=30"
                    + " options.power:start=60 ";
    /** n1 has a job for five minutes, the others are without power. */
    private static final String ONE_BUSY = """
            submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n1 cpusPerTask=2
            schedule                              -> 1 RUNNING n1
            node n[2-4] state=power_down
            pass 1
            pass 30                               -> n2 free+POWERED_DOWN; n3 free+POWERED_DOWN; n4 free+POWERED_DOWN
            """;

    private static void play(String settings, String lines) {
        new Play(new Cluster("n[1-4] cpus=2 mem=1000", "p nodes=n[1-4] default=yes", POWER + settings)).lines(lines);
    }

    /** ResumeTimeout ahead where no node is known to have come sooner, and then as long as it took. */
    @Test
    void aNodeIsThereWhenTheJobBegins() {
        play("options.power:idle=-1", ONE_BUSY + """
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                schedule                              -> 2 PENDING
                pass 208                              -> n2 free+POWERED_DOWN
                pass 1                                -> n2 free+POWERING_UP; n3 free+POWERED_DOWN
                pass 8
                register n2 boot2                     -> n2 free
                exited 1 batch 0:0
                done 1 n1
                schedule                              -> 2 RUNNING n[1-2]
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-4] request.nodesMin=4 request.tasks=4
                schedule                              -> 3 PENDING
                pass 288                              -> n3 free+POWERED_DOWN
                pass 1                                -> n3 free+POWERING_UP; n4 free+POWERING_UP
                """);
    }

    @Test
    void nodesStayPoweredDownIfWakeAheadIsOff() {
        play("options.power:idle=-1 options.muster_no_wake_ahead=", ONE_BUSY + """
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                schedule                              -> 2 PENDING
                pass 290                              -> n2 free+POWERED_DOWN
                """);
    }

    /** A job that waits for something else than nodes has no plan. */
    @Test
    void heldOrDependentJobWakesNoNodes() {
        play("options.power:idle=-1", ONE_BUSY + """
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1,3] request.nodesMin=2 request.tasks=2 timing.dependency=afterok:1
                schedule                              -> 2 PENDING; 3 PENDING Dependency
                hold 2
                schedule                              -> 2 PENDING JobHeldUser
                pass 290                              -> n2 free+POWERED_DOWN; n3 free+POWERED_DOWN
                release 2
                schedule
                pass 1                                -> n2 free+POWERING_UP; n3 free+POWERED_DOWN
                """);
    }

    /**
     * Three nodes at one in a minute: the first begins two minutes before it would otherwise, and then it is known how
     * long it takes.
     */
    @Test
    void wakeAheadHeedsTheResumeRate() {
        play("options.power:idle=-1 options.power:start_rate=1", ONE_BUSY + """
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-4] request.nodesMin=4 request.tasks=4
                schedule                              -> 2 PENDING
                pass 88                               -> n2 free+POWERED_DOWN
                pass 1                                -> n2 free+POWERING_UP; n3 free+POWERED_DOWN
                pass 8
                register n2 boot2
                pass 100                              -> n3 free+POWERED_DOWN
                pass 1                                -> n3 free+POWERING_UP; n4 free+POWERED_DOWN
                pass 8
                register n3 boot2
                pass 51                               -> n4 free+POWERED_DOWN
                pass 1                                -> n4 free+POWERING_UP
                """);
    }

    /** A node that is needed soon is not stopped: it would have to be started again at once. */
    @Test
    void nodeThatIsNeededSoonIsNotPoweredDown() {
        play("options.power:idle=40", """
                submit kind=BATCH timing.timeLimitMin=2 request.nodeList=n1 cpusPerTask=2
                schedule                              -> 1 RUNNING n1
                submit kind=BATCH timing.timeLimitMin=2 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                schedule                              -> 2 PENDING
                pass 30
                pass 10                               -> n2 free; n3 free+POWERING_DOWN
                pass 40                               -> n2 free
                cancel 2
                pass 39                               -> n2 free
                pass 1                                -> n2 free+POWERING_DOWN
                """);
    }

    /** A node that was started for a plan which no longer exists is powered down after SuspendTime without one. */
    @Test
    void wokenNodeWithoutAPlanIsPoweredDownAgain() {
        play("options.power:idle=100", """
                submit kind=BATCH timing.timeLimitMin=10 request.nodeList=n1 cpusPerTask=2
                schedule                              -> 1 RUNNING n1
                pass 100                              -> n2 free+POWERING_DOWN
                pass 30                               -> n2 free+POWERED_DOWN
                submit kind=BATCH timing.timeLimitMin=2 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                schedule                              -> 2 PENDING
                pass 409                              -> n2 free+POWERED_DOWN
                pass 1                                -> n2 free+POWERING_UP
                register n2 boot2
                pass 55                               -> n2 free
                cancel 2
                pass 99                               -> n2 free
                pass 1                                -> n2 free+POWERING_DOWN
                """);
    }

    /** Nodes with power are planned first in both kinds of plans: n3 has power, so n2 is left alone. */
    @Test
    void nodesWithPowerArePlannedFirst() {
        Cluster c =
                new Cluster("n[1-4] cpus=2 mem=1000", "p nodes=n[1-4] default=yes", POWER + "options.power:idle=-1");
        Scheduler s = (Scheduler) c.core().planner();
        new Play(c).lines(ONE_BUSY + """
                node n3 state=power_up
                pass 1
                register n3 boot2                     -> n3 free
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n1 request.nodesMin=2 request.tasks=2
                schedule                              -> 2 PENDING
                """);
        assertThat(s.plannedNodes(2)).containsExactly("n1", "n3");
        Forecast plan = s.forecasts().make(c.state(), new DecisionTime(c.seconds() * 1000, c.seconds() * 1000), 0);
        assertThat(plan.estimate(2).orElseThrow().nodes()).containsExactly("n1", "n3");
    }

    /** A place of a plan that is made beside the core; its times are rounded up to its steps. */
    @Test
    void plansMadeElsewhereCount() {
        Cluster c =
                new Cluster("n[1-4] cpus=2 mem=1000", "p nodes=n[1-4] default=yes", POWER + "options.power:idle=-1");
        Scheduler s = (Scheduler) c.core().planner();
        s.reserving(0);
        Play play = new Play(c);
        play.lines(ONE_BUSY + """
                submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                schedule                              -> 2 PENDING
                pass 100                              -> n2 free+POWERED_DOWN
                """);
        s.forecasts().offer(s.forecasts().make(c.state(), new DecisionTime(c.seconds() * 1000, c.seconds() * 1000), 0));
        long until = s.plannedStart(2) - c.seconds() - TimeGrid.STEP_MIN_S - 60;
        assertThat(until).isBetween(1L, 110L);
        play.lines("pass " + (until - 1)
                + " -> n2 free+POWERED_DOWN\npass 1 -> n2 free+POWERING_UP; n3 free+POWERED_DOWN");
    }

    /** SuspendExcStates=PLANNED: a node that is planned for a waiting job is not stopped. */
    @Test
    void plannedNodesOfThatStateStay() {
        for (String states : new String[] {"PLANNED", "FAIL"}) {
            play(
                    "options.muster_no_wake_ahead= options.power:idle=10 options.power:kept_states=" + states,
                    """
                    submit kind=BATCH timing.timeLimitMin=600 request.nodeList=n1 cpusPerTask=2
                    schedule                              -> 1 RUNNING n1
                    submit kind=BATCH timing.timeLimitMin=5 request.nodeList=n[1-2] request.nodesMin=2 request.tasks=2
                    schedule                              -> 2 PENDING
                    pass 10                               -> n2 free%s; n3 free+POWERING_DOWN
                    """.formatted(states.equals("PLANNED") ? "" : "+POWERING_DOWN"));
        }
    }
}
