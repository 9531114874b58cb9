package dev.muster.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import org.junit.jupiter.api.Test;

class NodeCallsTest {
    private final FakeHost host = new FakeHost()
            .reply("QueryNodes", "{\"nodes\":[{\"name\":\"n1\"},{\"name\":\"n3\"}],\"now\":0}")
            .reply("QueryPartitions", "{\"partitions\":[]}")
            .reply("QueryJobs", "{\"jobs\":[]}");

    @Test
    void nodeFeatureListsAreExpanded() {
        assertThat(host.run("scontrol show hostnames feature{gpu},n7").out()).isEqualTo("n1\nn3\nn7\n");
        assertThat(host.sent.get("QueryNodes").toString())
                .isEqualTo("{\"nodes\":[\"feature{gpu}\"],\"all\":true,\"fields\":[\"name\"]}");
        assertThat(host.run("scontrol show hostlist n7,switchWith{n1}").out()).isEqualTo("n[7,1,3]\n");
        assertThat(host.run("scontrol show node feature{gpu}").out())
                .contains("NodeName=n1", "NodeName=n3")
                .doesNotContain("not found");
        assertThat(host.run("squeue -w feature{gpu}").rc()).isZero();
        assertThat(host.sent.get("QueryJobs").texts("nodes").toString()).isEqualTo("[n[1, 3]]");
        host.reply("QueryNodes", "{\"nodes\":[]}");
        assertThat(host.run("scontrol show node feature{none}").out()).isEqualTo("Node feature{none} not found\n");
    }
}
