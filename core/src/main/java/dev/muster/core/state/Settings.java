package dev.muster.core.state;

import dev.muster.core.options.SlurmConfOptions;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.Topology;
import java.util.List;
import java.util.Map;

/**
 * The part of the configuration that decisions depend on, normalised: enters State by a record, so that a replay does
 * not depend on today's slurm.conf.
 *
 * @param slurmUid SlurmUser: may do everything, as root
 * @param memoryConsumed SelectTypeParameters holds CR_…_Memory
 * @param killWaitS KillWait, seconds
 * @param minJobAgeS MinJobAge: how long ended jobs are kept
 * @param overTimeLimitMin OverTimeLimit; -1 unlimited
 * @param returnToService 0, 1 or 2
 * @param nodeTimeoutS SlurmdTimeout; 0 never
 * @param topologies how nodes hang together; empty if nothing is known of it
 * @param requeueJobs JobRequeue
 * @param enforcePartLimits EnforcePartLimits: NO, ANY or ALL
 * @param externSteps PrologFlags holds Contain
 * @param awaitProlog PrologFlags holds Alloc (or what implies it)
 * @param configOverrides SlurmdParameters=config_overrides: believe the configuration, not the node
 * @param gresTypes GresTypes
 * @param options SchedulerParameters and other keys that the rules read by name
 * @param layered of resources.yaml
 */
public record Settings(
        String clusterName,
        int slurmUid,
        int firstJobId,
        int maxJobId,
        int maxJobCount,
        int maxArraySize,
        boolean memoryConsumed,
        long defMemPerCpuMb,
        long defMemPerNodeMb,
        long maxMemPerCpuMb,
        long maxMemPerNodeMb,
        int killWaitS,
        int minJobAgeS,
        int overTimeLimitMin,
        int returnToService,
        int nodeTimeoutS,
        int batchStartTimeoutS,
        int maxStepCount,
        int maxTasksPerNode,
        boolean requeueJobs,
        String enforcePartLimits,
        boolean externSteps,
        boolean awaitProlog,
        boolean configOverrides,
        boolean disableRootJobs,
        List<String> gresTypes,
        SlurmConfOptions options,
        List<Topology> topologies,
        List<LayeredResource> layered) {
    /** Settings before the first configuration is applied. */
    public static final Settings DEFAULT = new Settings(
            "",
            0,
            1,
            0x03ff0000,
            10000,
            1001,
            false,
            0,
            0,
            0,
            0,
            30,
            300,
            0,
            1,
            300,
            10,
            40000,
            512,
            true,
            "NO",
            false,
            false,
            false,
            false,
            List.of(),
            SlurmConfOptions.NONE);

    /** Settings of a cluster without a topology. */
    public Settings(
            String clusterName,
            int slurmUid,
            int firstJobId,
            int maxJobId,
            int maxJobCount,
            int maxArraySize,
            boolean memoryConsumed,
            long defMemPerCpuMb,
            long defMemPerNodeMb,
            long maxMemPerCpuMb,
            long maxMemPerNodeMb,
            int killWaitS,
            int minJobAgeS,
            int overTimeLimitMin,
            int returnToService,
            int nodeTimeoutS,
            int batchStartTimeoutS,
            int maxStepCount,
            int maxTasksPerNode,
            boolean requeueJobs,
            String enforcePartLimits,
            boolean externSteps,
            boolean awaitProlog,
            boolean configOverrides,
            boolean disableRootJobs,
            List<String> gresTypes,
            SlurmConfOptions options) {
        this(
                clusterName,
                slurmUid,
                firstJobId,
                maxJobId,
                maxJobCount,
                maxArraySize,
                memoryConsumed,
                defMemPerCpuMb,
                defMemPerNodeMb,
                maxMemPerCpuMb,
                maxMemPerNodeMb,
                killWaitS,
                minJobAgeS,
                overTimeLimitMin,
                returnToService,
                nodeTimeoutS,
                batchStartTimeoutS,
                maxStepCount,
                maxTasksPerNode,
                requeueJobs,
                enforcePartLimits,
                externSteps,
                awaitProlog,
                configOverrides,
                disableRootJobs,
                gresTypes,
                options,
                List.of(),
                List.of());
    }

    /**
     * Returns the settings with other options.
     *
     * @param changed an empty value for one that is not there any more
     * @param network how nodes hang together from now on; empty for as before
     */
    public Settings with(Map<String, String> changed, List<Topology> network) {
        return new Settings(
                clusterName,
                slurmUid,
                firstJobId,
                maxJobId,
                maxJobCount,
                maxArraySize,
                memoryConsumed,
                defMemPerCpuMb,
                defMemPerNodeMb,
                maxMemPerCpuMb,
                maxMemPerNodeMb,
                killWaitS,
                minJobAgeS,
                overTimeLimitMin,
                returnToService,
                nodeTimeoutS,
                batchStartTimeoutS,
                maxStepCount,
                maxTasksPerNode,
                requeueJobs,
                enforcePartLimits,
                externSteps,
                awaitProlog,
                configOverrides,
                disableRootJobs,
                gresTypes,
                options.with(changed),
                network.isEmpty() ? topologies : network,
                layered);
    }

    /**
     * Tests whether a node's line in slurm.conf counts, whatever the node finds: SlurmdParameters=config_overrides, or
     * so in the node's own Parameters.
     */
    public boolean believes(String node) {
        return configOverrides || options.nodes().believed().contains(node);
    }

    /** Returns the topology that a partition names, or the cluster's. */
    public Topology topology(String name) {
        for (Topology t : topologies) {
            if (t.name().equals(name)) {
                return t;
            }
        }
        return topologies.isEmpty() ? Topology.FLAT : topologies.getFirst();
    }

    /** Tests whether a word of AccountingStoreFlags is set. */
    public boolean accounts(String word) {
        return options.accounting().stored().contains(word);
    }

    /** Tests whether jobs that have the same cores take turns. */
    public boolean takesTurns() {
        return options.preemption().takesTurns();
    }

    /** Tests whether a word of SelectTypeParameters is set. */
    public boolean selects(String word) {
        return options.select().words().contains(word);
    }
}
