package dev.muster.core;

import java.util.List;

/** Copies of a node's configuration with one thing changed. */
final class NodeSpecs {
    private NodeSpecs() {}

    static Node.Spec withWeight(Node.Spec s, int weight) {
        return new Node.Spec(s.name(), s.hostname(), s.address(), s.port(), s.cpus(), s.boards(), s.sockets(), s.coresPerSocket(),
                s.threadsPerCore(), s.units(), s.cpusPerUnit(), s.memoryMb(), s.memSpecLimitMb(), s.tmpDiskMb(), s.features(),
                weight, s.gres(), s.reservedUnits(), s.configState(), s.configReason(), s.order(), s.restrictedPerGpu(), s.suspendTime(),
                s.inactive(), s.topology(), s.bcastAddress());
    }

    static Node.Spec withGres(Node.Spec s, List<Node.Gres> gres) {
        return new Node.Spec(s.name(), s.hostname(), s.address(), s.port(), s.cpus(), s.boards(), s.sockets(), s.coresPerSocket(),
                s.threadsPerCore(), s.units(), s.cpusPerUnit(), s.memoryMb(), s.memSpecLimitMb(), s.tmpDiskMb(), s.features(),
                s.weight(), gres, s.reservedUnits(), s.configState(), s.configReason(), s.order(), s.restrictedPerGpu(), s.suspendTime(),
                s.inactive(), s.topology(), s.bcastAddress());
    }

    static Node.Spec withAddress(Node.Spec s, String hostname, String address) {
        return new Node.Spec(s.name(), hostname, address, s.port(), s.cpus(), s.boards(), s.sockets(), s.coresPerSocket(),
                s.threadsPerCore(), s.units(), s.cpusPerUnit(), s.memoryMb(), s.memSpecLimitMb(), s.tmpDiskMb(), s.features(),
                s.weight(), s.gres(), s.reservedUnits(), s.configState(), s.configReason(), s.order(), s.restrictedPerGpu(), s.suspendTime(),
                s.inactive(), s.topology(), s.bcastAddress());
    }

    static Node.Spec withPort(Node.Spec s, int port) {
        return new Node.Spec(s.name(), s.hostname(), s.address(), port, s.cpus(), s.boards(), s.sockets(), s.coresPerSocket(),
                s.threadsPerCore(), s.units(), s.cpusPerUnit(), s.memoryMb(), s.memSpecLimitMb(), s.tmpDiskMb(), s.features(),
                s.weight(), s.gres(), s.reservedUnits(), s.configState(), s.configReason(), s.order(), s.restrictedPerGpu(), s.suspendTime(),
                s.inactive(), s.topology(), s.bcastAddress());
    }

    static Node.Spec withOrder(Node.Spec s, int order) {
        return new Node.Spec(s.name(), s.hostname(), s.address(), s.port(), s.cpus(), s.boards(), s.sockets(), s.coresPerSocket(),
                s.threadsPerCore(), s.units(), s.cpusPerUnit(), s.memoryMb(), s.memSpecLimitMb(), s.tmpDiskMb(), s.features(),
                s.weight(), s.gres(), s.reservedUnits(), s.configState(), s.configReason(), order, s.restrictedPerGpu(), s.suspendTime(),
                s.inactive(), s.topology(), s.bcastAddress());
    }

    /** @param inactive those of the features that the node has not now */
    static Node.Spec withFeatures(Node.Spec s, List<String> features, List<String> inactive) {
        return new Node.Spec(s.name(), s.hostname(), s.address(), s.port(), s.cpus(), s.boards(), s.sockets(), s.coresPerSocket(),
                s.threadsPerCore(), s.units(), s.cpusPerUnit(), s.memoryMb(), s.memSpecLimitMb(), s.tmpDiskMb(), features,
                s.weight(), s.gres(), s.reservedUnits(), s.configState(), s.configReason(), s.order(), s.restrictedPerGpu(), s.suspendTime(),
                inactive, s.topology(), s.bcastAddress());
    }

    static Node.Spec withTopology(Node.Spec s, String topology) {
        return new Node.Spec(s.name(), s.hostname(), s.address(), s.port(), s.cpus(), s.boards(), s.sockets(), s.coresPerSocket(),
                s.threadsPerCore(), s.units(), s.cpusPerUnit(), s.memoryMb(), s.memSpecLimitMb(), s.tmpDiskMb(), s.features(),
                s.weight(), s.gres(), s.reservedUnits(), s.configState(), s.configReason(), s.order(), s.restrictedPerGpu(), s.suspendTime(),
                s.inactive(), topology, s.bcastAddress());
    }
}
