package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.tres.ImexChannels;
import dev.muster.model.cluster.Topology;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Channels of an NVIDIA IMEX domain: one for each job, or one for each of its segments. */
class ImexChannelsTest {
    private static final Topology BLOCKS = new Topology(
            "",
            Topology.Kind.BLOCK,
            List.of(),
            List.of(
                    new Topology.Block("b1", Cluster.names("n[1,3,5,7]")),
                    new Topology.Block("b2", Cluster.names("n[2,4,6,8]"))),
            List.of(4, 8),
            List.of(),
            false);

    private static Cluster cluster(int channels) {
        return new Cluster(
                "n[1-8] cpus=1", "p nodes=n[1-8]", channels == 0 ? "" : "options.imex_channels=" + channels, BLOCKS);
    }

    private static String channels(Cluster c, int job) {
        return c.state().jobs().at(job).run().allocation().channels().stream()
                .map(h -> h.number() + (h.nodes().isEmpty() ? "" : ":" + h.nodes()))
                .collect(Collectors.joining(" "));
    }

    /** shows: SwitchType=switch/nvidia_imex, SwitchParameters=imex_channel_count. */
    @Test
    void jobHasAnImexChannelOrOnePerSegment() {
        String own = " network=unique-channel-per-segment";
        String[][] rows = {
            {"0", "nodesMin=8", ""},
            {"8", "nodesMin=8", "0"},
            {"8", "nodesMin=8 segment=2", "0"},
            {"8", "nodesMin=8 segment=8" + own, "0"},
            {"8", "nodesMin=8 segment=4" + own, "0:n[1,3,5,7] 1:n[2,4,6,8]"},
            {"8", "nodesMin=8 segment=2" + own, "0:n[1,3] 1:n[5,7] 2:n[2,4] 3:n[6,8]"},
            {
                "8",
                "nodesMin=8 segment=1" + own.toUpperCase(java.util.Locale.ROOT).replace("NETWORK", "network"),
                "0:n1 1:n3 2:n5 3:n7 4:n2 5:n4 6:n6 7:n8"
            },
            {"8", "nodesMin=8" + own, "0"}
        };
        for (String[] row : rows) {
            Cluster c = cluster(Integer.parseInt(row[0]));
            int id = c.accept("partition=p tasks=8 " + row[1]);
            c.schedule();
            assertThat(c.state().jobs().at(id).holdsNodes()).as(row[1]).isTrue();
            assertThat(channels(c, id)).as(row[0] + " " + row[1]).isEqualTo(row[2]);
        }
    }

    @Test
    void nodeHasTheImexChannelOfItsSegment() {
        Cluster c = cluster(8);
        int id = c.accept("partition=p nodesMin=8 tasks=8 segment=4 network=unique-channel-per-segment");
        c.schedule();
        var allocation = c.state().jobs().at(id).run().allocation();
        assertThat(allocation.nodeNames().stream()
                        .map(n -> n + "=" + ImexChannels.on(allocation, n).orElseThrow())
                        .toList())
                .containsExactlyInAnyOrder("n1=0", "n3=0", "n5=0", "n7=0", "n2=1", "n4=1", "n6=1", "n8=1");
    }

    @Test
    void jobWaitsForAFreeImexChannel() {
        Cluster c = cluster(2);
        int first = c.accept("partition=p");
        int second = c.accept("partition=p");
        int third = c.accept("partition=p");
        c.schedule();
        assertThat(List.of(channels(c, first), channels(c, second), channels(c, third), c.shown(third)))
                .containsExactly("0", "1", "", "(Resources)");
        c.apply(new Command.CancelJobs(
                Cluster.USER,
                List.of(new Command.JobRef(Integer.toString(first), first, -1, Command.JobRef.NO_STEP)),
                0,
                false,
                false));
        Job over = c.state().jobs().at(first);
        c.apply(new Command.Report("n1", new NodeMessages.JobDone(1, first, over.attempt(), "")));
        c.schedule();
        assertThat(channels(c, third)).as("the first that is free").isEqualTo("0");
    }
}
