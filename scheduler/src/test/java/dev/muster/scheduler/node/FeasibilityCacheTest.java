package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Decision;
import dev.muster.core.state.State;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that remembered requests which fit get the same answer as a new look, whatever has changed in between. */
class FeasibilityCacheTest {
    private static final List<String> WORDS = List.of(
            "nodesMin=3",
            "tasks=5",
            "tasks=9",
            "cpusPerTask=4",
            "memPerNodeMb=1500",
            "features=big",
            "nodeList=n3",
            "excludeList=n1",
            "timing.hold=true",
            "coresPerSocket=2",
            "partition=q",
            "licenses=disc:3",
            "tmpDiskMb=1",
            "extras.reboot=true",
            "timing.expedite=true",
            "kind=BATCH",
            "exclusive=NODE");

    private static State state(String nodes, String settings) {
        Cluster cluster = new Cluster(nodes, "p nodes=n[1-2] default=yes", settings);
        cluster.partition("q nodes=n1");
        return cluster.state();
    }

    @Test
    void feasibilityCacheAgreesWithAFreshLook() {
        List<State> states = Stream.of("", "enforcePartLimits=ALL")
                .flatMap(settings -> Stream.of(
                                "n[1-2] cpus=2 mem=1000",
                                "n[1-2] cpus=8 mem=2000 features=big",
                                "n[1-4] cpus=4 mem=4000")
                        .map(nodes -> state(nodes, settings)))
                .toList();
        Random random = new Random(7);
        int refused = 0;
        FeasibilityCache vetted = new FeasibilityCache();
        State state = states.getFirst();
        for (int i = 0; i < 5_000; i++) {
            if (random.nextInt(30) == 0) {
                state = states.get(random.nextInt(states.size()));
            }
            List<String> words = new ArrayList<>(List.of("partition=p"));
            WORDS.stream().filter(w -> random.nextInt(8) == 0).forEach(words::add);
            JobDesc desc = Cluster.desc(String.join(" ", words));
            Optional<Decision.Rejected> why = vetted.infeasible(state, desc);
            assertThat(why).as(String.join(" ", words)).isEqualTo(Feasibility.infeasible(state, desc));
            refused += why.isPresent() ? 1 : 0;
        }
        assertThat(refused).isBetween(1_000, 4_000);
    }
}
