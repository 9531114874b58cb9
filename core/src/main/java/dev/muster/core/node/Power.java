package dev.muster.core.node;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the configuration says of nodes without work: when they are stopped, and how long starting and stopping may
 * take.
 */
public final class Power {
    /** An option: {@code true} where SuspendProgram names a program. */
    public static final String STOPS = "power:stops";
    /** An option: {@code true} where ResumeProgram names a program. */
    public static final String STARTS = "power:starts";
    /** An option: {@code true} where a node that is stopped may be given work again, whatever kept it from that. */
    public static final String FRESH = "power:fresh";
    /** Options: seconds; -1 for never. */
    public static final String IDLE_S = "power:idle";

    public static final String STOP_S = "power:stop";
    public static final String START_S = "power:start";
    /** Options: nodes in a minute; 0 for any number. */
    public static final String STOP_RATE = "power:stop_rate";

    public static final String START_RATE = "power:start_rate";
    /** Options: SuspendExcNodes, SuspendExcParts, SuspendExcStates. */
    public static final String KEPT_NODES = "power:kept_nodes";

    public static final String KEPT_PARTITIONS = "power:kept_partitions";
    public static final String KEPT_STATES = "power:kept_states";
    /**
     * Options that go on with a partition's name: {@code idle,stop,start,now}, seconds, "" where the cluster's count;
     * now: yes or no.
     */
    public static final String PARTITION = "power:partition:";
    /**
     * Options that go on with the name of a PowerAction: {@code slurmctld} or {@code slurmd}, where its program runs.
     */
    public static final String ACTION = "power:action:";
    /** An option: the PowerAction of slurmd that SuspendProgram names. */
    public static final String STOP_ACTION = "power:stop_action";
    /** An option: SlurmctldParameters=max_powered_nodes. */
    public static final String MOST = "power:most";
    /** An option: SlurmctldParameters=power_save_min_interval, seconds. */
    public static final String REST_S = "power:rest";
    /** An option: {@code true} with SlurmctldParameters=reboot_from_controller. */
    public static final String REBOOTS_HERE = "power:reboots_here";
    /** What SuspendExcStates may name. */
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

    static final int STARTS_S_DEFAULT = 60;
    /** ResumeTimeout=INFINITE: nodes may take as long as they like. */
    static final int FOREVER_S = 65_535;

    private static final String NEVER = "INFINITE";

    /**
     * For one node.
     *
     * @param idleS -1: it stays
     */
    record Times(int idleS, int stopS, int startS, boolean atOnce) {}

    private final State state;
    private final Map<String, String> options;
    private final Map<String, Times> special = new HashMap<>();
    private final Times usual;

    Power(State state) {
        this.state = state;
        this.options = state.settings().options();
        this.usual = new Times(number(IDLE_S, -1), number(STOP_S, 30), number(START_S, STARTS_S_DEFAULT), false);
        for (Partition p : state.partitions().values()) {
            String text = options.get(PARTITION + p.name());
            if (text != null) {
                String[] parts = text.split(",", -1);
                p.nodes().forEach(n -> special.merge(n, of(parts), Power::longer));
            }
        }
    }

    /** Whether a node without power may be given work, because it can be started. */
    public static boolean canStart(Settings settings, Node node) {
        Node awake = node.with(Node.Flag.POWERED_DOWN, false).with(Node.Flag.POWERING_UP, false);
        return node.isAsleep()
                && settings.options().containsKey(STARTS)
                && (awake.isUsable()
                        || awake.bootId().isEmpty()
                                && awake.with(Node.Flag.CLOUD, false)
                                                .with(Node.Flag.POWER_UP, false)
                                                .with(Node.Flag.DYNAMIC_NORM, false)
                                                .flags()
                                        == 0);
    }

    /**
     * Why the action cannot be had; a node without power has no slurmd to start it with.
     *
     * @param action "" for none
     */
    static Optional<Decision.Rejected> wrongAction(Settings settings, String action, boolean up) {
        String where = settings.options().getOrDefault(ACTION + action, "");
        return action.isEmpty() || !where.isEmpty() && !(up && where.equals(AT_NODE))
                ? Optional.empty()
                : Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, "Invalid power action"));
    }

    private static final String AT_NODE = "slurmd";

    /** The action, where the node's own slurmd is the one to run it; "" otherwise. */
    static String ofNode(Settings settings, Node node) {
        return settings.options().getOrDefault(ACTION + node.powerAction(), "").equals(AT_NODE)
                ? node.powerAction()
                : "";
    }

    /** As {@link #ofNode}, of what stops the node. */
    static String stopsAtNode(Settings settings, Node node) {
        return node.powerAction().isEmpty() ? settings.options().getOrDefault(STOP_ACTION, "") : ofNode(settings, node);
    }

    /**
     * Whether slurmctld runs what reboots the node: by an action named for it, or for all by reboot_from_controller.
     */
    static boolean isOfController(Settings settings, Node node) {
        return node.powerAction().isEmpty()
                ? settings.options().containsKey(REBOOTS_HERE)
                : ofNode(settings, node).isEmpty();
    }

    /**
     * How many more nodes may be started by max_powered_nodes, where it is set. Those that are to be started have their
     * power already.
     */
    public static int left(State state) {
        String most = state.settings().options().get(MOST);
        return most == null
                ? Integer.MAX_VALUE
                : Integer.parseInt(most)
                        - (int) state.nodes().values().stream()
                                .filter(n -> !n.has(Node.Flag.FUTURE)
                                        && (!n.has(Node.Flag.POWERED_DOWN) || n.has(Node.Flag.POWER_UP)))
                                .count();
    }

    static boolean isOn(Settings settings) {
        return settings.options().containsKey(STARTS) || settings.options().containsKey(STOPS);
    }

    int number(String option, int fallback) {
        return Integer.parseInt(options.getOrDefault(option, Integer.toString(fallback)));
    }

    private Times of(String[] parts) {
        return new Times(
                parts[0].isEmpty() ? usual.idleS : Integer.parseInt(parts[0]),
                parts[1].isEmpty() ? usual.stopS : Integer.parseInt(parts[1]),
                parts[2].isEmpty() ? usual.startS : Integer.parseInt(parts[2]),
                parts[3].equals("yes"));
    }

    /** A node of several partitions has the longest of their times. */
    private static Times longer(Times a, Times b) {
        return new Times(
                a.idleS < 0 || b.idleS < 0 ? -1 : Math.max(a.idleS, b.idleS),
                Math.max(a.stopS, b.stopS),
                Math.max(a.startS, b.startS),
                a.atOnce || b.atOnce);
    }

    /** Empty where no nodes are stopped or started. */
    public static Optional<Power> of(State state) {
        return isOn(state.settings()) ? Optional.of(new Power(state)) : Optional.empty();
    }

    /** What the node itself says goes before its partitions, these before the cluster. */
    Times of(Node node) {
        Times times = special.getOrDefault(node.name(), usual);
        String own = node.spec().suspendTime();
        if (own.isEmpty()) {
            return times;
        }
        return new Times(own.equals(NEVER) ? -1 : Integer.parseInt(own), times.stopS, times.startS, times.atOnce);
    }

    /** Seconds that stopping a node and starting it again may take, of all nodes the most. */
    int longestS() {
        return special.values().stream()
                .mapToInt(t -> t.stopS + t.startS)
                .reduce(usual.stopS + usual.startS, Math::max);
    }

    /** Returns whether PowerDownOnIdle of one of its partitions powers the node down as soon as its last job ends. */
    static boolean stopsAtOnce(State state, Node node) {
        boolean any = isOn(state.settings())
                && state.settings().options().entrySet().stream()
                        .anyMatch(e ->
                                e.getKey().startsWith(PARTITION) && e.getValue().endsWith(",yes"));
        if (!any) {
            return false;
        }
        Power power = new Power(state);
        return power.options.containsKey(STOPS)
                && power.of(node).atOnce
                && !power.kept().contains(node.name())
                && !power.keptByState(node, Map.of());
    }

    /** After how many seconds without work the node is stopped, or INFINITE. */
    public String idleText(Node node) {
        int seconds = of(node).idleS;
        return seconds < 0 ? NEVER : Integer.toString(seconds);
    }

    /** SlurmctldParameters=idle_on_node_suspend. */
    boolean isFreshWhenStopped() {
        return options.containsKey(FRESH);
    }

    /** Whether some node is ever stopped for want of work. */
    boolean stopsIdle() {
        return options.containsKey(STOPS)
                && (usual.idleS >= 0
                        || special.values().stream().anyMatch(t -> t.idleS >= 0 || t.atOnce)
                        || state.nodes().values().stream().anyMatch(Power::stopsOfItself));
    }

    /** It has a SuspendTime of its own that is a number. */
    private static boolean stopsOfItself(Node node) {
        String own = node.spec().suspendTime();
        return !own.isEmpty() && own.charAt(0) >= '0' && own.charAt(0) <= '9';
    }

    /** Nodes that are never stopped for want of work. {@code n[1-9]:2} keeps two of them that are there. */
    Set<String> kept() {
        Set<String> out = new HashSet<>();
        for (String name : words(KEPT_PARTITIONS)) {
            state.partitions().find(name).ifPresent(p -> out.addAll(p.nodes()));
        }
        for (String word : HostList.split(options.getOrDefault(KEPT_NODES, ""))) {
            int colon = word.lastIndexOf(':');
            int most = colon < 0 ? Integer.MAX_VALUE : Integer.parseInt(word.substring(colon + 1));
            String hosts = colon < 0 ? word : word.substring(0, colon);
            List<String> named = HostList.parse(hosts) instanceof HostList.Parsed.Ok ok
                    ? ok.list().names()
                    : List.of();
            // nodes with jobs count first: they are not stopped anyway
            List<Node> there = named.stream()
                    .map(state.nodes()::find)
                    .flatMap(Optional::stream)
                    .filter(n -> colon < 0 || !n.isSilentByOrder() && !n.has(Node.Flag.DOWN) && !n.has(Node.Flag.DRAIN))
                    .toList();
            List<Node> order = new ArrayList<>(
                    there.stream().filter(n -> !n.jobs().isEmpty()).toList());
            order.addAll(there.stream().filter(n -> n.jobs().isEmpty()).toList());
            order.stream().limit(most).forEach(n -> out.add(n.name()));
        }
        return out;
    }

    private List<String> words(String option) {
        String text = options.getOrDefault(option, "");
        return text.isEmpty() ? List.of() : List.of(text.split(","));
    }

    boolean keepsState(String name) {
        return words(KEPT_STATES).stream().anyMatch(name::equalsIgnoreCase);
    }

    /**
     * SuspendExcStates: a node in one of these stays.
     *
     * @param marked nodes by states that they have no flag for
     */
    boolean keptByState(Node node, Map<String, Set<String>> marked) {
        for (String word : words(KEPT_STATES)) {
            String name = word.toUpperCase(Locale.ROOT);
            boolean is = switch (name) {
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
            if (is) {
                return true;
            }
        }
        return false;
    }
}
