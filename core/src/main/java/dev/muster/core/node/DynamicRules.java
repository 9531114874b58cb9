package dev.muster.core.node;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.options.NodeOptions;
import dev.muster.core.partition.PartitionEdit;
import dev.muster.core.state.Change;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.NodeTopology;
import dev.muster.model.cluster.Topology;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Nodes that come and go while the cluster runs: scontrol create and delete, slurmd -Z, and -F into a FUTURE place. */
public final class DynamicRules {
    private static final List<String> CREATED_STATES = List.of("FUTURE", "CLOUD", "EXTERNAL");
    private final State state;
    private final List<Change> changes = new ArrayList<>();

    public DynamicRules(State state) {
        this.state = state;
    }

    public Decision add(Command.AddNodes c) {
        List<Node.Spec> fresh = new ArrayList<>();
        int order = state.nodes().values().stream()
                .mapToInt(n -> n.spec().order())
                .max()
                .orElse(-1);
        for (Node.Spec spec : c.specs()) {
            Optional<Node> known = state.nodes().find(spec.name());
            if (known.isPresent() && !c.registering()) {
                return new Decision.Rejected(
                        SlurmErrno.INVALID_NODE_NAME, "Node already exists in the node table (" + spec.name() + ")");
            }
            if (known.isEmpty() && !c.registering() && !CREATED_STATES.contains(spec.configState())) {
                return Decision.reject(SlurmErrno.INVALID_NODE_STATE);
            }
            if (known.isEmpty()) {
                fresh.add(NodeSpecs.withOrder(spec, ++order));
            } else if (known.get().has(Node.Flag.DYNAMIC_NORM)) {
                respecified(
                        known.get(),
                        NodeSpecs.withOrder(spec, known.get().spec().order()));
            }
        }
        if (state.nodes().size() + fresh.size() > most() && !fresh.isEmpty()) {
            String outside =
                    fresh.get(Math.max(0, most() - state.nodes().size())).name();
            return new Decision.Rejected(
                    SlurmErrno.INVALID_NODE_COUNT,
                    most() == 0 && c.registering()
                            ? "There is no room for nodes that slurm.conf does not name: MaxNodeCount is not set"
                            : "Unable to add node, node table is full (" + outside + ")");
        }
        for (Node.Spec spec : fresh) {
            changes.add(new Change.NodeAdded(
                    spec, Node.of(spec).with(Node.Flag.DYNAMIC_NORM, true).flags()));
        }
        join(fresh);
        return topologiesChanged(state.settings().topologies());
    }

    /** Decides the changes, with the topologies that follow from the places that the nodes name. */
    private Decision topologiesChanged(List<Topology> before) {
        List<Topology> after = before;
        for (Change change : changes) {
            Optional<Node.Spec> spec = switch (change) {
                case Change.NodeAdded a -> Optional.of(a.spec());
                case Change.NodeSpecChanged s -> Optional.of(s.spec());
                default -> Optional.empty();
            };
            String own = spec.map(Node.Spec::topology).orElse("");
            if (!own.isEmpty()) {
                switch (NodeTopology.place(after, spec.get().name(), own)) {
                    case NodeTopology.Placed p -> after = p.topologies();
                    case NodeTopology.Wrong w -> {
                        return new Decision.Rejected(SlurmErrno.REQUESTED_TOPO_CONFIG_UNAVAILABLE, w.sentence());
                    }
                }
            }
        }
        if (!after.equals(before)) {
            changes.add(new Change.OptionsChanged(Map.of(), after));
        }
        return Decision.of(changes, "");
    }

    private int most() {
        return state.settings().options().nodes().countMax();
    }

    /**
     * Takes over the hardware that a registering slurmd reports; a node with jobs keeps the one they were placed by.
     */
    private void respecified(Node node, Node.Spec spec) {
        if (node.jobs().isEmpty() && !spec.equals(node.spec())) {
            changes.add(new Change.NodeSpecChanged(node.name(), spec));
        }
    }

    private void join(List<Node.Spec> fresh) {
        for (Partition p : state.partitions().values()) {
            Partition after = with(p, fresh, state.settings());
            if (!after.nodes().equals(p.nodes())) {
                changes.add(new Change.PartitionChanged(after));
            }
        }
    }

    /**
     * Returns the partition with those of the nodes that it takes: all with Nodes=ALL, else by the features of its node
     * sets.
     */
    private static Partition with(Partition p, Iterable<Node.Spec> specs, Settings settings) {
        List<String> nodes = new ArrayList<>(p.nodes());
        for (Node.Spec spec : specs) {
            if (!nodes.contains(spec.name()) && takes(p, spec, settings)) {
                nodes.add(spec.name());
            }
        }
        return new Partition(p.info(), List.copyOf(nodes));
    }

    private static boolean takes(Partition p, Node.Spec spec, Settings settings) {
        for (String word : p.info().nodes().split(",")) {
            if (word.equalsIgnoreCase("ALL")) {
                return true;
            }
            for (String feature : settings.options().nodes().nodeSets().getOrDefault(word, List.of())) {
                if (spec.features().contains(feature)) {
                    return true;
                }
            }
        }
        return false;
    }

    public Decision remove(Command.RemoveNodes c) {
        List<Decision.Direct> direct = new ArrayList<>();
        for (String name : c.nodes()) {
            Optional<Node> node = state.nodes().find(name);
            if (node.isEmpty()) {
                return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
            }
            if (!node.get().jobs().isEmpty()) {
                return Decision.reject(SlurmErrno.NODES_BUSY);
            }
            if (!node.get().has(Node.Flag.DYNAMIC_NORM)) {
                // it is in slurm.conf
                return Decision.reject(SlurmErrno.INVALID_NODE_STATE);
            }
            if (state.reservations().values().stream().anyMatch(r -> r.nodes().contains(name))) {
                return Decision.reject(SlurmErrno.NODES_BUSY);
            }
            changes.add(new Change.NodeRemoved(name));
            direct.add(new Decision.Direct(name, new NodeMessages.Refused("node " + name + " was deleted", true)));
        }
        for (Partition p : state.partitions().values()) {
            List<String> rest =
                    p.nodes().stream().filter(n -> !c.nodes().contains(n)).toList();
            if (rest.size() < p.nodes().size()) {
                changes.add(new Change.PartitionChanged(new Partition(p.info(), rest)));
            }
        }
        List<Topology> network = state.settings().topologies();
        for (String name : c.nodes()) {
            network = NodeTopology.place(network, name, "") instanceof NodeTopology.Placed p ? p.topologies() : network;
        }
        if (!network.equals(state.settings().topologies())) {
            changes.add(new Change.OptionsChanged(Map.of(), network));
        }
        return Decision.of(changes, "", direct);
    }

    /** Assigns a registering node its place: the one it had before, else the first FUTURE node of the same hardware. */
    public Decision assign(Command.AssignNode c) {
        for (Node node : state.nodes().values()) {
            if (node.has(Node.Flag.DYNAMIC_FUTURE) && node.spec().hostname().equals(c.hostname())) {
                return Decision.of(List.of(), node.name());
            }
        }
        Optional<Node> place = state.nodes().values().stream()
                .filter(n -> n.has(Node.Flag.FUTURE) && fits(n.spec(), c))
                .min(java.util.Comparator.comparingInt(n -> n.spec().order()));
        if (place.isEmpty()) {
            return new Decision.Rejected(
                    SlurmErrno.INVALID_NODE_NAME,
                    "No FUTURE node has this hardware" + (c.feature().isEmpty() ? "" : " and feature " + c.feature()));
        }
        Node after = place.get()
                .with(Node.Flag.FUTURE, false)
                .with(Node.Flag.UNKNOWN, true)
                .with(Node.Flag.DYNAMIC_FUTURE, true);
        Node.Spec spec = NodeSpecs.withPort(
                NodeSpecs.withAddress(after.spec(), c.hostname(), c.address()),
                c.port() > 0 ? c.port() : after.spec().port());
        changes.add(new Change.NodeSpecChanged(after.name(), spec));
        changes.add(new Change.NodeStateChanged(
                after.name(), after.flags(), after.reason(), after.reasonUid(), after.reasonTime()));
        return Decision.of(changes, after.name());
    }

    private static boolean fits(Node.Spec s, Command.AssignNode c) {
        NodeMessages.Hardware h = c.hardware();
        return s.cpus() == h.cpus()
                && s.sockets() == h.sockets()
                && s.coresPerSocket() == h.coresPerSocket()
                && s.threadsPerCore() == h.threadsPerCore()
                && (c.feature().isEmpty() || s.features().contains(c.feature()));
    }

    /**
     * A configuration does not name dynamic nodes, and does not know where those are that took a FUTURE node's place.
     */
    public Change configured(Command.ApplyConfig c) {
        Map<String, Node.Spec> dynamic = new LinkedHashMap<>();
        for (Node n : state.nodes().values()) {
            if (n.has(Node.Flag.DYNAMIC_NORM)) {
                dynamic.put(n.name(), n.spec());
            }
        }
        List<Node.Spec> specs = new ArrayList<>();
        for (Node.Spec s : c.nodes()) {
            dynamic.remove(s.name());
            Optional<Node> placed = state.nodes().find(s.name()).filter(n -> n.has(Node.Flag.DYNAMIC_FUTURE));
            specs.add(placed.map(n -> NodeSpecs.withPort(
                            NodeSpecs.withAddress(
                                    s, n.spec().hostname(), n.spec().address()),
                            n.spec().port()))
                    .orElse(s));
        }
        // where a node's own words do not fit the files it stays where those have it
        List<Topology> network = c.settings().topologies();
        for (Node.Spec s : java.util.stream.Stream.concat(specs.stream(), dynamic.values().stream())
                .toList()) {
            if (!s.topology().isEmpty()
                    && NodeTopology.place(network, s.name(), s.topology()) instanceof NodeTopology.Placed p) {
                network = p.topologies();
            }
        }
        return new Change.ConfigApplied(
                c.settings().with(kept(c.settings()), network),
                specs,
                c.partitions().stream()
                        .map(p -> with(kept(p, c.settings()), dynamic.values(), c.settings()))
                        .toList());
    }

    /** ReconfigFlags: keeps what scontrol changed of SuspendExc* in place of the values in slurm.conf. */
    private Map<String, String> kept(Settings settings) {
        boolean keeps = settings.options().nodes().keepsPowerSaving()
                && PowerSavingTimes.isOn(settings)
                && PowerSavingTimes.isOn(state.settings());
        return keeps ? state.settings().options().power().kept().texts() : Map.of();
    }

    /** ReconfigFlags: what scontrol changed of a partition goes before the file, all of it or the state alone. */
    private Partition kept(Partition p, Settings settings) {
        NodeOptions options = settings.options().nodes();
        Optional<Partition> now = state.partitions().find(p.name());
        if (now.isEmpty() || !options.keepsPartitions() && !options.keepsPartitionStates()) {
            return p;
        }
        if (options.keepsPartitions()) {
            return now.get();
        }
        if (PartitionEdit.edit(p, Map.of("state", now.get().info().state()), state) instanceof PartitionEdit.Edited e) {
            return e.partition();
        }
        return p;
    }
}
