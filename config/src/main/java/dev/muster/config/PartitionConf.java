package dev.muster.config;

import java.util.List;
import java.util.OptionalInt;

/**
 * One partition as the file describes it.
 *
 * @param nodes names, in the order of the file's node lines
 * @param nodesText the Nodes value as written
 * @param nodeSets those of the Nodes value that name node sets
 * @param allowGroups empty means ALL, as in the other Allow lists
 * @param defaultTimeMin -1 when there is none: MaxTime then counts
 * @param maxTimeMin -1 is UNLIMITED
 * @param maxNodes -1 is UNLIMITED
 * @param maxCpusPerNode -1 is UNLIMITED
 * @param defMemPerCpuMb 0 is not set; the file's global value then counts
 * @param overSubscribe NO, EXCLUSIVE, YES:4 or FORCE:4
 * @param overTimeLimitMin empty when the global value counts
 * @param preemptMode empty when the global value counts
 * @param qos empty when there is none
 * @param selectParameters NONE when the global value counts
 * @param state UP, DOWN, DRAIN or INACTIVE
 * @param suspendTime as written; empty when the global value counts
 */
public record PartitionConf(
        String name,
        List<String> nodes,
        String nodesText,
        List<String> nodeSets,
        boolean isDefault,
        List<String> allocNodes,
        List<String> allowAccounts,
        List<String> allowGroups,
        List<String> allowQos,
        List<String> denyAccounts,
        List<String> denyQos,
        String alternate,
        String cpuBind,
        long defaultTimeMin,
        long maxTimeMin,
        long defCpuPerGpu,
        long defMemPerGpuMb,
        long defMemPerCpuMb,
        long defMemPerNodeMb,
        long maxMemPerCpuMb,
        long maxMemPerNodeMb,
        boolean disableRootJobs,
        boolean exclusiveUser,
        boolean exclusiveTopo,
        boolean exclusiveNode,
        int graceTimeSec,
        boolean hidden,
        boolean leastLoadedNodes,
        long maxCpusPerNode,
        long maxCpusPerSocket,
        long maxNodes,
        long minNodes,
        String overSubscribe,
        OptionalInt overTimeLimitMin,
        boolean powerDownOnIdle,
        String preemptMode,
        int priorityJobFactor,
        int priorityTier,
        String qos,
        boolean reqResv,
        OptionalInt resumeTimeoutSec,
        boolean rootOnly,
        String selectParameters,
        String state,
        String suspendTime,
        OptionalInt suspendTimeoutSec,
        String topology,
        String tresBillingWeights,
        String file,
        int line) {}
