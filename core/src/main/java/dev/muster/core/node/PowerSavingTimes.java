package dev.muster.core.node;

import dev.muster.core.command.Decision;
import dev.muster.core.options.PowerSavingOptions;
import dev.muster.core.options.PowerSavingOptions.Times;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Power saving of nodes without work as configured: when they are stopped, and how long starting and stopping may take.
 */
public final class PowerSavingTimes {
    /** States that SuspendExcStates may name. */
    public static final List<String> STATES = List.of(
            "CLOUD",
            "DOWN",
            "DRAIN",
            "DYNAMIC_FUTURE",
            "DYNAMIC_NORM",
            "FAIL",
            "INVALID_REG",
            "MAINTENANCE",
            "NOT_RESPONDING",
            "PLANNED",
            "RESERVED");

    /** ResumeTimeout=INFINITE: nodes may take as long as they like. */
    static final int FOREVER_S = 65_535;

    private static final String NEVER = "INFINITE";

    private final State state;
    private final PowerSavingOptions options;
    private final Map<String, Times> special = new HashMap<>();
    private final Times usual;

    PowerSavingTimes(State state) {
        this.state = state;
        this.options = state.settings().options().power();
        this.usual = options.usual();
        for (Partition p : state.partitions().values()) {
            Times times = options.byPartition().get(p.name());
            if (times != null) {
                p.nodes().forEach(n -> special.merge(n, times, Times::longest));
            }
        }
    }

    /** Tests whether a node without power may be given work, because it can be started. */
    public static boolean canStart(Settings settings, Node node) {
        Node awake = node.with(Node.Flag.POWERED_DOWN, false).with(Node.Flag.POWERING_UP, false);
        return node.isAsleep()
                && settings.options().power().starts()
                && (awake.isUsable()
                        || awake.bootId().isEmpty()
                                && awake.with(Node.Flag.CLOUD, false)
                                                .with(Node.Flag.POWER_UP, false)
                                                .with(Node.Flag.DYNAMIC_NORM, false)
                                                .flags()
                                        == 0);
    }

    /**
     * Returns why the action cannot be had; a node without power has no slurmd to start it with.
     *
     * @param action "" for none
     */
    static Optional<Decision.Rejected> wrongAction(Settings settings, String action, boolean up) {
        PowerSavingOptions.Actions actions = settings.options().power().actions();
        return action.isEmpty()
                        || actions.names().contains(action)
                                && !(up && actions.atNode().contains(action))
                ? Optional.empty()
                : Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, "Invalid power action"));
    }

    /** Returns the action, where the node's own slurmd is the one to run it; "" otherwise. */
    static String ofNode(Settings settings, Node node) {
        return settings.options().power().actions().atNode().contains(node.powerAction()) ? node.powerAction() : "";
    }

    /** Returns the action that stops the node, where the node's own slurmd is the one to run it; "" otherwise. */
    static String stopsAtNode(Settings settings, Node node) {
        return node.powerAction().isEmpty()
                ? settings.options().power().actions().stop()
                : ofNode(settings, node);
    }

    /**
     * Tests whether slurmctld runs what reboots the node: by an action named for it, or for all by
     * reboot_from_controller.
     */
    static boolean isOfController(Settings settings, Node node) {
        return node.powerAction().isEmpty()
                ? settings.options().power().rebootsHere()
                : ofNode(settings, node).isEmpty();
    }

    /**
     * Returns how many more nodes may be started by max_powered_nodes, where it is set. Nodes that are to be started
     * have their power already.
     */
    public static int left(State state) {
        int maxPowered = state.settings().options().power().limits().poweredMax();
        return maxPowered < 0
                ? Integer.MAX_VALUE
                : maxPowered
                        - (int) state.nodes().values().stream()
                                .filter(n -> !n.has(Node.Flag.FUTURE)
                                        && (!n.has(Node.Flag.POWERED_DOWN) || n.has(Node.Flag.POWER_UP)))
                                .count();
    }

    static boolean isOn(Settings settings) {
        return settings.options().power().isOn();
    }

    /** Returns the power saving of a state; empty where no nodes are stopped or started. */
    public static Optional<PowerSavingTimes> of(State state) {
        return isOn(state.settings()) ? Optional.of(new PowerSavingTimes(state)) : Optional.empty();
    }

    /** Returns the power saving times of a node: its own goes before its partitions', these before the cluster's. */
    Times of(Node node) {
        Times times = special.getOrDefault(node.name(), usual);
        String own = node.spec().suspendTime();
        if (own.isEmpty()) {
            return times;
        }
        return times.withIdle(own.equals(NEVER) ? -1 : Integer.parseInt(own));
    }

    /** Returns the seconds that stopping a node and starting it again may take, of all nodes the most. */
    int longestS() {
        return special.values().stream()
                .mapToInt(t -> t.stopS() + t.startS())
                .reduce(usual.stopS() + usual.startS(), Math::max);
    }

    /** Returns whether PowerDownOnIdle of one of its partitions powers the node down as soon as its last job ends. */
    static boolean stopsAtOnce(State state, Node node) {
        boolean any = isOn(state.settings())
                && state.settings().options().power().byPartition().values().stream()
                        .anyMatch(Times::atOnce);
        if (!any) {
            return false;
        }
        PowerSavingTimes power = new PowerSavingTimes(state);
        return power.options.stops()
                && power.of(node).atOnce()
                && !power.kept().contains(node.name())
                && !power.keptByState(node, Map.of());
    }

    /** Returns after how many seconds without work the node is stopped, or INFINITE. */
    public String idleText(Node node) {
        int seconds = of(node).idleS();
        return seconds < 0 ? NEVER : Integer.toString(seconds);
    }

    /** Tests for SlurmctldParameters=idle_on_node_suspend. */
    boolean isFreshWhenStopped() {
        return options.freshWhenStopped();
    }

    /** Tests whether some node is ever stopped for want of work. */
    boolean stopsIdle() {
        return options.stops()
                && (usual.idleS() >= 0
                        || special.values().stream().anyMatch(t -> t.idleS() >= 0 || t.atOnce())
                        || state.nodes().values().stream().anyMatch(PowerSavingTimes::stopsOfItself));
    }

    /** Tests whether the node has a SuspendTime of its own that is a number. */
    private static boolean stopsOfItself(Node node) {
        String own = node.spec().suspendTime();
        return !own.isEmpty() && own.charAt(0) >= '0' && own.charAt(0) <= '9';
    }

    /** Returns the nodes that are never stopped for want of work. {@code n[1-9]:2} keeps two of them that are there. */
    Set<String> kept() {
        Set<String> out = new HashSet<>();
        for (String name : options.kept().partitions()) {
            state.partitions().find(name).ifPresent(p -> out.addAll(p.nodes()));
        }
        for (PowerSavingOptions.ExemptNodes.Group group : options.kept().nodes()) {
            // nodes with jobs count first: they are not stopped anyway
            List<Node> candidates = group.names().stream()
                    .map(state.nodes()::find)
                    .flatMap(Optional::stream)
                    .filter(n -> !group.counted()
                            || !n.isSilentByOrder() && !n.has(Node.Flag.DOWN) && !n.has(Node.Flag.DRAIN))
                    .toList();
            List<Node> order = new ArrayList<>(
                    candidates.stream().filter(n -> !n.jobs().isEmpty()).toList());
            order.addAll(candidates.stream().filter(n -> n.jobs().isEmpty()).toList());
            order.stream().limit(group.max()).forEach(n -> out.add(n.name()));
        }
        return out;
    }

    boolean keepsState(String name) {
        return options.kept().states().stream().anyMatch(name::equalsIgnoreCase);
    }

    /**
     * Tests whether SuspendExcStates keeps the node: a node in one of these states stays.
     *
     * @param marked nodes by states that they have no flag for
     */
    boolean keptByState(Node node, Map<String, Set<String>> marked) {
        for (String name : options.kept().states()) {
            boolean matches = switch (name) {
                case "CLOUD" -> node.has(Node.Flag.CLOUD);
                case "DOWN" -> node.has(Node.Flag.DOWN);
                case "DRAIN" -> node.has(Node.Flag.DRAIN);
                case "DYNAMIC_FUTURE" -> node.has(Node.Flag.DYNAMIC_FUTURE);
                case "DYNAMIC_NORM" -> node.has(Node.Flag.DYNAMIC_NORM);
                case "FAIL" -> node.has(Node.Flag.FAIL);
                case "INVALID_REG" -> node.has(Node.Flag.INVALID_REG);
                case "NOT_RESPONDING" -> node.has(Node.Flag.NOT_RESPONDING);
                default -> marked.getOrDefault(name, Set.of()).contains(node.name());
            };
            if (matches) {
                return true;
            }
        }
        return false;
    }
}
