package dev.muster.model.cluster;

import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A resource of resources.yaml: like a license, but in layers, each of which is there for some of the nodes.
 *
 * @param mode 1: one layer that the job's nodes touch has enough; 2: all of them; 3: each node takes the count, from
 *     every layer that it is in
 * @param variables words that stand for a count
 * @param layers in the order of the file
 */
public record LayeredResource(String name, int mode, Map<String, Integer> variables, List<Layer> layers) {
    /**
     * @param count -1 without bound
     * @param base units that consumers other than jobs always hold
     */
    public record Layer(List<String> nodes, int count, int base) {}

    /** A layer's share as jobs, reservations and plans name it: {@code power(node[1-8])}. */
    public String pool(Layer layer) {
        return name + "(" + HostList.of(layer.nodes).compressed() + ")";
    }

    /** The layers that a node is in, the smallest first. */
    public List<Layer> of(String node) {
        List<Layer> out = new ArrayList<>(
                layers.stream().filter(l -> l.nodes.contains(node)).toList());
        out.sort(java.util.Comparator.comparingInt(l -> l.nodes.size()));
        return out;
    }

    /** Use of a layer by others than jobs: in mode 3 with their use of the layers below it. */
    public int baseOf(Layer layer) {
        if (mode < 3) {
            return layer.base;
        }
        return layers.stream()
                .filter(l -> l.equals(layer) || l.nodes.size() < layer.nodes.size() && layer.nodes.containsAll(l.nodes))
                .mapToInt(Layer::base)
                .sum();
    }
}
