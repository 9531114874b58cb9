package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SimulatorTest {
    private static final int SEEDS = 300;
    private static final int TWICE = 15;
    private static final int BUDGET = 250;

    /** A run of seeds that never came here would prove little. */
    private static final List<String> WORTH_REACHING = List.of(
            "crash at DECIDED",
            "crash at APPENDED",
            "crash at DURABLE",
            "crash at EFFECTS_OUT",
            "crash at between-effects",
            "crash at between-messages",
            "crash at during-snapshot",
            "crash at during-recovery",
            "unsynced entries lost",
            "snapshot",
            "recovered from a snapshot",
            "NodeLost",
            "NodeLost although connected",
            "NodeResponding",
            "requeued by NodeLost",
            "requeued by RegisterNode",
            "requeued by Report",
            "requeued by RequeueJobs",
            "requeued by UpdateNode",
            "launch repeated",
            "stepd killed",
            "end of an unknown attempt",
            "late frame of an earlier boot",
            "node sent away by its configuration",
            "job COMPLETED",
            "job FAILED",
            "job CANCELLED",
            "job TIMEOUT",
            "job NODE_FAIL");

    @Test
    void simulationHoldsForAllSeeds() {
        Map<String, Integer> seen = new TreeMap<>();
        List<String> failed = new ArrayList<>();
        for (long seed = 1; seed <= SEEDS; seed++) {
            Simulation.Outcome o = Simulation.run(seed, PlantedBug.NONE, false);
            o.violation()
                    .ifPresent(v -> failed.add("seed " + o.seed() + ": " + v.getMessage() + "\n" + o.parameters()
                            + "\n(./muster simulate with -Dseed=" + o.seed() + " shows the trace)"));
            o.seen().forEach((what, times) -> seen.merge(what, times, Integer::sum));
        }
        assertThat(failed).isEmpty();
        assertThat(seen.keySet()).containsAll(WORTH_REACHING);
    }

    @Test
    void sameSeedGivesTheSameTrace() {
        for (long seed = 1000; seed < 1000 + TWICE; seed++) {
            assertThat(Simulation.run(seed, PlantedBug.NONE, false).hash())
                    .isEqualTo(Simulation.run(seed, PlantedBug.NONE, false).hash());
        }
    }

    /** The simulator is worth as much as the bugs it catches. */
    @Test
    void plantedBugsAreCaught() {
        List<String> missed = new ArrayList<>();
        for (PlantedBug bug : PlantedBug.values()) {
            if (bug != PlantedBug.NONE && firstCaught(bug) == 0) {
                missed.add(bug + ": " + bug.sentence());
            }
        }
        assertThat(missed).isEmpty();
    }

    private static long firstCaught(PlantedBug bug) {
        for (long seed = 1; seed <= BUDGET; seed++) {
            if (Simulation.run(seed, bug, false).violation().isPresent()) {
                return seed;
            }
        }
        return 0;
    }
}
