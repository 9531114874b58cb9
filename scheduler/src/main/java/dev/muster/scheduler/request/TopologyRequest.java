package dev.muster.scheduler.request;

import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.step.NetworkOption;
import dev.muster.core.tres.ImexChannels;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.Digits;
import dev.muster.model.format.HostList;
import dev.muster.model.job.ResourceRequest;

/**
 * A job's request for the network between its nodes.
 *
 * @param topology of its partition, "" for the cluster's
 * @param switches leaf switches at most, 0 for any number
 * @param segment number of nodes of each segment; 0 for one segment of all nodes
 * @param apart no two segments share a base block
 * @param together all segments are in one block of blocks
 * @param within the nodes it may have, "" for any: what a job names that has segments, or wants fewer
 * @param ports number of ports that it gets on its nodes; -1 for one more than its tasks on a node
 * @param ownChannels each segment has a channel of its own ({@link ImexChannels})
 */
public record TopologyRequest(
        String topology,
        int switches,
        int segment,
        boolean apart,
        boolean together,
        String within,
        int ports,
        boolean ownChannels) {
    /** @param nodes that are wanted: where all of them are one segment, it has no effect */
    static TopologyRequest of(ResourceRequest r, Partition partition, int ports, int nodes) {
        String text = r.switches().isEmpty() ? "0" : r.switches().split("@")[0];
        return new TopologyRequest(
                partition.info().topology(),
                Digits.only(text, 9) ? Integer.parseInt(text) : 0,
                r.segment() < nodes ? r.segment() : 0,
                r.spreadSegments(),
                r.consolidateSegments(),
                isPool(r) ? r.nodeList() : "",
                ports,
                NetworkOption.has(r.network(), ImexChannels.EACH_SEGMENT));
    }

    /**
     * Tests whether a job need not have all nodes that it names: --nodelist has more than --nodes allows, or segments
     * are taken from it.
     */
    static boolean isPool(ResourceRequest r) {
        int maxNodes = r.nodesMax() > 0 ? r.nodesMax() : r.nodesMin();
        return r.segment() > 0
                || maxNodes > 0
                        && !r.distribution().startsWith("arbitrary")
                        && HostList.distinct(r.nodeList()).size() > maxNodes;
    }

    /** Returns the topology of the job's partition. */
    public Topology in(Settings settings) {
        return settings.topology(topology);
    }

    /** Tests whether any nodes will do, however they hang together. */
    public boolean isPlain() {
        return switches == 0 && segment == 0 && !apart && !together && within.isEmpty();
    }

    TopologyRequest withoutSwitches() {
        return new TopologyRequest(topology, 0, segment, apart, together, within, ports, ownChannels);
    }

    /** Returns what jobs of this kind cannot have of a network, "" if they can. */
    public static String objection(ResourceRequest r, Topology t) {
        boolean blocks = t.kind() == Topology.Kind.BLOCK;
        if (r.segment() > 0 && t.kind() == Topology.Kind.TREE) {
            return "--segment with topology/tree is not supported by this version of Muster";
        }
        if (r.spreadSegments() && !blocks) {
            return "--spread-segments needs TopologyPlugin=topology/block";
        }
        if (r.consolidateSegments() && !blocks) {
            return "--consolidate-segments needs TopologyPlugin=topology/block";
        }
        return "";
    }
}
