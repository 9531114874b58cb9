package dev.muster.core.options;

import dev.muster.model.format.HostList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * Nodes: what counts of a registration, and what a new reading of slurm.conf keeps.
 *
 * @param memoryPercent node_reg_mem_percent: percent of RealMemory that a registering node must have; empty by default
 * @param believed nodes with config_overrides among their own Parameters; none by default
 * @param nodeSets features of NodeSets by name; none by default
 * @param countMax MaxNodeCount; 0, the default, for any number
 * @param requeuesNotResumed requeue_on_resume_failure: jobs go back to the queue when their node does not come; no by
 *     default
 * @param keepsPowerSaving ReconfigFlags=KeepPowerSaveSettings; no by default
 * @param keepsPartitions ReconfigFlags=KeepPartInfo; no by default
 * @param keepsPartitionStates ReconfigFlags=KeepPartState; no by default
 * @param features that change by a reboot
 */
public record NodeOptions(
        OptionalDouble memoryPercent,
        HostList believed,
        Map<String, List<String>> nodeSets,
        int countMax,
        boolean requeuesNotResumed,
        boolean keepsPowerSaving,
        boolean keepsPartitions,
        boolean keepsPartitionStates,
        Features features) {
    /** SlurmctldParameters=node_reg_mem_percent. */
    public static final String REG_MEMORY_PERCENT = "ctld:node_reg_mem_percent";
    /** Nodes with config_overrides among their own Parameters. */
    public static final String BELIEVED_NODES = "believed_nodes";
    /** Goes on with the name of a NodeSet: its features, with commas. */
    public static final String NODE_SET = "node_set:";
    /** MaxNodeCount, where it is set. */
    public static final String MAX_NODE_COUNT = "max_node_count";
    /** Words of ReconfigFlags in lower case, with commas. */
    public static final String RECONFIG_FLAGS = "reconfig_flags";
    /** BootTime, seconds that a reboot may take. */
    public static final String BOOT_S = "features:boot";
    /** Features that no node has at once, with commas; groups with semicolons. */
    public static final String EXCLUSIVE = "features:exclusive";
    /** AllowUserBoot, user ids with commas; absent if every user may have nodes rebooted. */
    public static final String USERS = "features:users";

    /**
     * Features that nodes get by a reboot (NodeFeaturesPlugins=node_features/helpers).
     *
     * @param bootS BootTime: seconds that a reboot may take; 0 by default
     * @param exclusive groups of features that no node has at once; none by default
     * @param anyUser whether nodes are rebooted for the jobs of every user; yes without AllowUserBoot
     * @param users ids of the users for whose jobs nodes are rebooted
     */
    public record Features(int bootS, List<Set<String>> exclusive, boolean anyUser, Set<Integer> users) {
        private static Features of(OptionParser text) {
            Set<Integer> users = new HashSet<>();
            for (String uid : text.list(USERS)) {
                users.add((int) OptionParser.parsed(uid, -1));
            }
            return new Features(
                    text.count(BOOT_S, 0),
                    OptionParser.items(text.text(EXCLUSIVE), ";").stream()
                            .map(group -> Set.copyOf(OptionParser.items(group, ",")))
                            .toList(),
                    !text.has(USERS),
                    Set.copyOf(users));
        }

        /** Tests whether nodes are rebooted for this user's jobs. */
        public boolean mayReboot(int uid) {
            return anyUser || users.contains(uid);
        }
    }

    static NodeOptions of(OptionParser text) {
        Map<String, List<String>> nodeSets = new HashMap<>();
        text.below(NODE_SET).forEach(e -> nodeSets.put(e.getKey(), OptionParser.items(e.getValue(), ",")));
        List<String> kept = text.list(RECONFIG_FLAGS);
        return new NodeOptions(
                percent(text.text(REG_MEMORY_PERCENT)),
                HostList.parse(text.text(BELIEVED_NODES)) instanceof HostList.Parsed.Ok ok
                        ? ok.list()
                        : HostList.empty(),
                Map.copyOf(nodeSets),
                text.count(MAX_NODE_COUNT, 0),
                text.has("requeue_on_resume_failure"),
                kept.contains("keeppowersavesettings"),
                kept.contains("keeppartinfo"),
                kept.contains("keeppartstate"),
                Features.of(text));
    }

    private static OptionalDouble percent(String text) {
        try {
            return text.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(text));
        } catch (NumberFormatException e) {
            return OptionalDouble.empty();
        }
    }
}
