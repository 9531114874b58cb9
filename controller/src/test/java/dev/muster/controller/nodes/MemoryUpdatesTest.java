package dev.muster.controller.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * --mem-update: all nodes of the job are asked when it is time, again where they say nothing, and not after all have
 * answered.
 */
class MemoryUpdatesTest {
    private final Site site = new Site(
            "DefMemPerCPU=1",
            "PrologFlags=Contain",
            "SlurmctldParameters=enable_stepmgr",
            "JobAcctGatherType=jobacct_gather/cgroup");
    private final MemoryUpdates updates = new MemoryUpdates();
    private final List<String> asked = new ArrayList<>();

    private void tick(long seconds) {
        Job job = site.core().state().jobs().at(1);
        updates.tick(
                site.core().state(),
                List.of(job),
                job.run().sinceTickMs() + seconds * 1000,
                (node, message) -> asked.add(node));
    }

    private List<Command> told(String node, int attempt, long kb) {
        return updates.told(site.core().state(), node, new NodeMessages.MemoryUsed(1, attempt, kb)).stream()
                .toList();
    }

    @Test
    void jobMemoryIsMeasuredOnceOverAllNodes() {
        site.run("kind=ALLOCATION nodesMin=2 tasks=2 memPerNodeMb=400 extras.memUpdateMin=1 extras.memUpdateMargin=20");
        for (String node : List.of("n1", "n2")) {
            site.apply(new Command.Report(node, new NodeMessages.PrologDone(1, 1, 1, "")));
        }
        tick(59);
        assertThat(asked).isEmpty();
        tick(60);
        assertThat(asked).containsExactly("n1", "n2");
        assertThat(told("n1", 1, 1000)).isEmpty();
        tick(61);
        assertThat(asked).hasSize(2);
        tick(65);
        assertThat(asked).containsExactly("n1", "n2", "n2");
        assertThat(told("n2", 7, 5000)).as("of another run").isEmpty();
        assertThat(told("n2", 1, 5000)).containsExactly(new Command.MemoryMeasured(1, 1, 5000));
        assertThat(told("n2", 1, 5000)).isEmpty();
        tick(80);
        assertThat(asked).hasSize(3);
    }
}
