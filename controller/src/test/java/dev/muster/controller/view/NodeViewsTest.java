package dev.muster.controller.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.NodeInfo;
import dev.muster.model.node.NodeMessages;
import org.junit.jupiter.api.Test;

class NodeViewsTest {
    private Site site = new Site("DefMemPerCPU=100");

    private String shown() {
        NodeInfo n = new NodeViews(
                        site.core().state(),
                        node -> Codec.bind(new Json.Obj(), NodeMessages.Heartbeat.class),
                        x -> x.spec().address(),
                        uid -> "u",
                        1)
                .info(site.core().state().nodes().at("n1"));
        return n.state() + n.flags() + " " + n.cpusAllocated() + " " + n.memoryAllocatedMb() + " " + n.tresAllocated();
    }

    /** Resources of a job that is over, until its node has cleaned up, are shown as allocated to no job. */
    @Test
    void completingJobHasNoAllocatedResources() {
        assertThat(shown()).isEqualTo("IDLE[] 0 0 ");
        site.run("tasks=2");
        site.run("tasks=1");
        assertThat(shown()).isEqualTo("MIXED[] 3 300 cpu=3,mem=300M");
        site.end(1, 0);
        assertThat(shown()).isEqualTo("MIXED[COMPLETING] 1 100 cpu=1,mem=100M");
        site.end(2, 0);
        assertThat(shown()).isEqualTo("IDLE[COMPLETING] 0 0 ");
    }

    /** A job's memory is no part of a node where memory is not dealt out. */
    @Test
    void nodeHasNoAllocatedMemoryWhereNotConsumable() {
        site = new Site("DefMemPerCPU=100", "SelectTypeParameters=CR_CORE");
        site.run("tasks=2");
        assertThat(shown()).isEqualTo("MIXED[] 2 0 cpu=2");
        site.run("tasks=1");
        site.end(1, 0);
        assertThat(shown()).isEqualTo("MIXED[COMPLETING] 1 0 cpu=1");
    }

    /** Cores that a job leaves alone on its node are in use all the same. */
    @Test
    void sparedCoresCountAsAllocated() {
        site = new Site("DefMemPerCPU=100", "AllowSpecResourcesUsage=yes");
        site.run("coreSpec=1 exclusive=NODE");
        assertThat(shown()).startsWith("ALLOCATED[] 4 ");
        site.end(1, 0);
        assertThat(shown()).isEqualTo("IDLE[COMPLETING] 0 0 ");
    }

    @Test
    void preemptModeIsWrittenInSlurmsOrder() {
        assertThat(NodeViews.preemption("CANCEL,GANG")).isEqualTo("GANG,CANCEL");
        assertThat(NodeViews.preemption("OFF,GANG")).isEqualTo("GANG");
        assertThat(NodeViews.preemption("OFF")).isEqualTo("OFF");
        assertThat(NodeViews.preemption("")).isEmpty();
    }
}
