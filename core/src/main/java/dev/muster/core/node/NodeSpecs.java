package dev.muster.core.node;

import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.model.node.NodeMessages.Hardware;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Copies of a node's configuration with one thing changed, and how what a node says of itself compares with it. */
final class NodeSpecs {
    /** Least memory of a cloud's machine, in percent of its configured memory: machines of one kind differ a little. */
    private static final double CLOUD_MEMORY_PERCENT = 90;

    private NodeSpecs() {}

    /** Returns what a node lacks of its line in slurm.conf; "" for nothing. */
    static String shortfall(Settings settings, Node node, Hardware h) {
        Node.Spec spec = node.spec();
        List<String> low = new ArrayList<>();
        if (h.cpus() < spec.cpus()) {
            low.add("Low socket*core*thread count");
            low.add("Low CPUs");
        }
        double percent = settings.options()
                .nodes()
                .memoryPercent()
                .orElse(node.has(Node.Flag.CLOUD) ? CLOUD_MEMORY_PERCENT : 100);
        if (h.memoryMb() < spec.memoryMb() * percent / 100) {
            low.add(String.format(
                    Locale.ROOT,
                    "Low RealMemory (reported:%d < %.2f%% of configured:%d)",
                    h.memoryMb(),
                    percent,
                    spec.memoryMb()));
        }
        if (h.tmpDiskMb() < spec.tmpDiskMb()) {
            low.add("Low TmpDisk");
        }
        return String.join(", ", low);
    }

    static Node.Spec withWeight(Node.Spec s, int weight) {
        return new Node.Spec(
                s.name(),
                s.hostname(),
                s.address(),
                s.port(),
                s.cpus(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                s.units(),
                s.cpusPerUnit(),
                s.memoryMb(),
                s.memSpecLimitMb(),
                s.tmpDiskMb(),
                s.features(),
                weight,
                s.gres(),
                s.reservedUnits(),
                s.configState(),
                s.configReason(),
                s.order(),
                s.restrictedPerGpu(),
                s.suspendTime(),
                s.inactive(),
                s.topology(),
                s.bcastAddress());
    }

    static Node.Spec withGres(Node.Spec s, List<Node.Gres> gres) {
        return new Node.Spec(
                s.name(),
                s.hostname(),
                s.address(),
                s.port(),
                s.cpus(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                s.units(),
                s.cpusPerUnit(),
                s.memoryMb(),
                s.memSpecLimitMb(),
                s.tmpDiskMb(),
                s.features(),
                s.weight(),
                gres,
                s.reservedUnits(),
                s.configState(),
                s.configReason(),
                s.order(),
                s.restrictedPerGpu(),
                s.suspendTime(),
                s.inactive(),
                s.topology(),
                s.bcastAddress());
    }

    static Node.Spec withAddress(Node.Spec s, String hostname, String address) {
        return new Node.Spec(
                s.name(),
                hostname,
                address,
                s.port(),
                s.cpus(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                s.units(),
                s.cpusPerUnit(),
                s.memoryMb(),
                s.memSpecLimitMb(),
                s.tmpDiskMb(),
                s.features(),
                s.weight(),
                s.gres(),
                s.reservedUnits(),
                s.configState(),
                s.configReason(),
                s.order(),
                s.restrictedPerGpu(),
                s.suspendTime(),
                s.inactive(),
                s.topology(),
                s.bcastAddress());
    }

    static Node.Spec withPort(Node.Spec s, int port) {
        return new Node.Spec(
                s.name(),
                s.hostname(),
                s.address(),
                port,
                s.cpus(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                s.units(),
                s.cpusPerUnit(),
                s.memoryMb(),
                s.memSpecLimitMb(),
                s.tmpDiskMb(),
                s.features(),
                s.weight(),
                s.gres(),
                s.reservedUnits(),
                s.configState(),
                s.configReason(),
                s.order(),
                s.restrictedPerGpu(),
                s.suspendTime(),
                s.inactive(),
                s.topology(),
                s.bcastAddress());
    }

    static Node.Spec withOrder(Node.Spec s, int order) {
        return new Node.Spec(
                s.name(),
                s.hostname(),
                s.address(),
                s.port(),
                s.cpus(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                s.units(),
                s.cpusPerUnit(),
                s.memoryMb(),
                s.memSpecLimitMb(),
                s.tmpDiskMb(),
                s.features(),
                s.weight(),
                s.gres(),
                s.reservedUnits(),
                s.configState(),
                s.configReason(),
                order,
                s.restrictedPerGpu(),
                s.suspendTime(),
                s.inactive(),
                s.topology(),
                s.bcastAddress());
    }

    /** @param inactive those of the features that the node has not now */
    static Node.Spec withFeatures(Node.Spec s, List<String> features, List<String> inactive) {
        return new Node.Spec(
                s.name(),
                s.hostname(),
                s.address(),
                s.port(),
                s.cpus(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                s.units(),
                s.cpusPerUnit(),
                s.memoryMb(),
                s.memSpecLimitMb(),
                s.tmpDiskMb(),
                features,
                s.weight(),
                s.gres(),
                s.reservedUnits(),
                s.configState(),
                s.configReason(),
                s.order(),
                s.restrictedPerGpu(),
                s.suspendTime(),
                inactive,
                s.topology(),
                s.bcastAddress());
    }

    static Node.Spec withTopology(Node.Spec s, String topology) {
        return new Node.Spec(
                s.name(),
                s.hostname(),
                s.address(),
                s.port(),
                s.cpus(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                s.units(),
                s.cpusPerUnit(),
                s.memoryMb(),
                s.memSpecLimitMb(),
                s.tmpDiskMb(),
                s.features(),
                s.weight(),
                s.gres(),
                s.reservedUnits(),
                s.configState(),
                s.configReason(),
                s.order(),
                s.restrictedPerGpu(),
                s.suspendTime(),
                s.inactive(),
                topology,
                s.bcastAddress());
    }
}
