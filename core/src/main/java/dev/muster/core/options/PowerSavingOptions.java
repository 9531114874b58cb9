package dev.muster.core.options;

import dev.muster.model.format.HostList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Power saving: when nodes without work are stopped, and how they are started, stopped and rebooted.
 *
 * @param stops SuspendProgram names a program; no by default
 * @param starts ResumeProgram names a program; no by default
 * @param freshWhenStopped SlurmctldParameters=idle_on_node_suspend: a stopped node may be given work again, whatever
 *     kept it from that; no by default
 * @param rebootsHere SlurmctldParameters=reboot_from_controller; no by default
 * @param wakesAhead nodes are started ahead of planned jobs; yes without muster_no_wake_ahead
 * @param usual times of nodes without times of their own
 * @param byPartition times of the nodes of a partition, by its name
 * @param limits how many nodes are started and stopped
 * @param kept nodes that are never stopped for want of work
 * @param actions where programs run
 */
public record PowerSavingOptions(
        boolean stops,
        boolean starts,
        boolean freshWhenStopped,
        boolean rebootsHere,
        boolean wakesAhead,
        Times usual,
        Map<String, Times> byPartition,
        Limits limits,
        ExemptNodes kept,
        Actions actions) {
    /** {@code true} where SuspendProgram names a program. */
    public static final String STOPS = "power:stops";
    /** {@code true} where ResumeProgram names a program. */
    public static final String STARTS = "power:starts";
    /** {@code true} where a node that is stopped may be given work again, whatever kept it from that. */
    public static final String FRESH = "power:fresh";
    /** Seconds; -1 for never. */
    public static final String IDLE_S = "power:idle";
    /** Seconds. */
    public static final String STOP_S = "power:stop";
    /** Seconds. */
    public static final String START_S = "power:start";
    /** Nodes in a minute; 0 for any number. */
    public static final String STOP_RATE = "power:stop_rate";
    /** Nodes in a minute; 0 for any number. */
    public static final String START_RATE = "power:start_rate";
    /** SuspendExcNodes. */
    public static final String KEPT_NODES = "power:kept_nodes";
    /** SuspendExcParts. */
    public static final String KEPT_PARTITIONS = "power:kept_partitions";
    /** SuspendExcStates. */
    public static final String KEPT_STATES = "power:kept_states";
    /**
     * Goes on with a partition's name: {@code idle,stop,start,now}, seconds, "" where the cluster's count; now: yes or
     * no.
     */
    public static final String PARTITION = "power:partition:";
    /** Goes on with the name of a PowerAction: {@code slurmctld} or {@code slurmd}, where its program runs. */
    public static final String ACTION = "power:action:";
    /** The PowerAction of slurmd that SuspendProgram names. */
    public static final String STOP_ACTION = "power:stop_action";
    /** SlurmctldParameters=max_powered_nodes. */
    public static final String MOST = "power:most";
    /** SlurmctldParameters=power_save_min_interval, seconds. */
    public static final String REST_S = "power:rest";
    /** {@code true} with SlurmctldParameters=reboot_from_controller. */
    public static final String REBOOTS_HERE = "power:reboots_here";
    /** A word of SchedulerParameters: nodes are started when a job has them, and not before. */
    public static final String NO_WAKE_AHEAD = "muster_no_wake_ahead";

    /**
     * Times of a node.
     *
     * @param idleS SuspendTime: seconds without work after which it is stopped, -1 for never; -1 by default
     * @param stopS SuspendTimeout: seconds that stopping may take; 30 by default
     * @param startS ResumeTimeout: seconds that starting may take; 60 by default
     * @param atOnce PowerDownOnIdle: it is stopped as soon as its last job ends; no by default
     */
    public record Times(int idleS, int stopS, int startS, boolean atOnce) {
        private static Times usual(OptionParser text) {
            return new Times(text.count(IDLE_S, -1), text.count(STOP_S, 30), text.count(START_S, 60), false);
        }

        /** Reads {@code idle,stop,start,now}; a part that is not a number keeps this value. */
        private Times with(String written) {
            String[] parts = written.split(",", -1);
            return parts.length != 4
                    ? this
                    : new Times(
                            seconds(parts[0], idleS),
                            seconds(parts[1], stopS),
                            seconds(parts[2], startS),
                            parts[3].equals("yes"));
        }

        private static int seconds(String text, int otherwise) {
            return (int) OptionParser.parsed(text, otherwise);
        }

        /** Returns these times with another SuspendTime. */
        public Times withIdle(int seconds) {
            return new Times(seconds, stopS, startS, atOnce);
        }

        /** Returns the longest times of both; a node of several partitions has the longest of their times. */
        public Times longest(Times other) {
            return new Times(
                    idleS < 0 || other.idleS < 0 ? -1 : Math.max(idleS, other.idleS),
                    Math.max(stopS, other.stopS),
                    Math.max(startS, other.startS),
                    atOnce || other.atOnce);
        }
    }

    /**
     * Rates at which nodes are started and stopped.
     *
     * @param stopsPerMinute SuspendRate; 0, the default, for any number
     * @param startsPerMinute ResumeRate; 0, the default, for any number
     * @param restS power_save_min_interval: seconds between two looks at nodes; 0 by default
     * @param poweredMax max_powered_nodes; -1, the default, for any number
     */
    public record Limits(int stopsPerMinute, int startsPerMinute, int restS, int poweredMax) {
        private static Limits of(OptionParser text) {
            return new Limits(
                    text.count(STOP_RATE, 0), text.count(START_RATE, 0), text.count(REST_S, 0), text.count(MOST, -1));
        }
    }

    /**
     * Nodes that are never stopped for want of work.
     *
     * @param nodesText SuspendExcNodes as written
     * @param nodes the same; none by default
     * @param partitions SuspendExcParts; none by default
     * @param statesText SuspendExcStates as written
     * @param states the same in upper case; none by default
     */
    public record ExemptNodes(
            String nodesText, List<Group> nodes, List<String> partitions, String statesText, List<String> states) {
        /**
         * Nodes of which some are kept.
         *
         * @param counted whether the number is given: {@code n[1-9]:2} keeps two of those that are there
         * @param max how many; {@link Integer#MAX_VALUE} for all
         */
        public record Group(List<String> names, boolean counted, int max) {
            private static Group of(String word) {
                int colon = word.lastIndexOf(':');
                String hosts = colon < 0 ? word : word.substring(0, colon);
                List<String> names = HostList.parse(hosts) instanceof HostList.Parsed.Ok ok
                        ? List.copyOf(ok.list().names())
                        : List.of();
                int max = colon < 0
                        ? Integer.MAX_VALUE
                        : (int) OptionParser.parsed(word.substring(colon + 1), Integer.MAX_VALUE);
                return new Group(names, colon >= 0, max);
            }
        }

        private static ExemptNodes of(OptionParser text) {
            String nodes = text.text(KEPT_NODES);
            return new ExemptNodes(
                    nodes,
                    HostList.split(nodes).stream().map(Group::of).toList(),
                    text.list(KEPT_PARTITIONS),
                    text.text(KEPT_STATES),
                    text.list(KEPT_STATES).stream()
                            .map(word -> word.toUpperCase(Locale.ROOT))
                            .toList());
        }

        /** Returns the three options as written; "" for one that is not set. */
        public Map<String, String> texts() {
            return Map.of(
                    KEPT_NODES, nodesText, KEPT_PARTITIONS, String.join(",", partitions), KEPT_STATES, statesText);
        }
    }

    /**
     * The places where the programs of PowerAction lines run.
     *
     * @param names of all actions
     * @param atNode names of those that the node's slurmd runs
     * @param stop the action at the node that SuspendProgram names; "" by default
     */
    public record Actions(Set<String> names, Set<String> atNode, String stop) {
        private static final String AT_NODE = "slurmd";

        private static Actions of(OptionParser text) {
            Set<String> names = new HashSet<>();
            Set<String> atNode = new HashSet<>();
            text.below(ACTION).filter(e -> !e.getValue().isEmpty()).forEach(e -> {
                names.add(e.getKey());
                if (e.getValue().equals(AT_NODE)) {
                    atNode.add(e.getKey());
                }
            });
            return new Actions(Set.copyOf(names), Set.copyOf(atNode), text.text(STOP_ACTION));
        }
    }

    static PowerSavingOptions of(OptionParser text) {
        Times usual = Times.usual(text);
        Map<String, Times> byPartition = new HashMap<>();
        text.below(PARTITION).forEach(e -> byPartition.put(e.getKey(), usual.with(e.getValue())));
        return new PowerSavingOptions(
                text.has(STOPS),
                text.has(STARTS),
                text.has(FRESH),
                text.has(REBOOTS_HERE),
                !text.has(NO_WAKE_AHEAD),
                usual,
                Map.copyOf(byPartition),
                Limits.of(text),
                ExemptNodes.of(text),
                Actions.of(text));
    }

    /** Tests whether nodes are started or stopped at all. */
    public boolean isOn() {
        return starts || stops;
    }
}
