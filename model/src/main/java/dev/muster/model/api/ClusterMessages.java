package dev.muster.model.api;

import dev.muster.json.Bytes;
import dev.muster.json.RecordEditor;
import dev.muster.model.cluster.Topology;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import java.util.Map;

/** Requests about the cluster: nodes, partitions, configuration and the controller itself. */
public final class ClusterMessages {
    private ClusterMessages() {}

    /**
     * Asks for the cluster's licenses.
     *
     * @param name of one; "" for all
     */
    public record QueryLicenses(String name) {}

    /**
     * @param total -1 without bound
     * @param used by running jobs, and by others at all times
     * @param free -1 without bound
     * @param nodes of a layer of a resource of resources.yaml
     * @param consumed of a license server: licenses that the server reported as taken at {@code updated}
     * @param deficit of those, beyond what is known of
     */
    public record LicenseInfo(
            String name,
            int total,
            int used,
            int reserved,
            boolean remote,
            int free,
            String nodes,
            long consumed,
            int deficit,
            long updated) {}

    /**
     * @param serversOptional a name without a server stands for the licenses of all servers
     *     (LicenseParameters=RemoteFuzzyMatch)
     */
    public record LicensesReply(List<LicenseInfo> licenses, boolean serversOptional) {}

    public record QueryTopology() {}

    /**
     * burst_buffer/lua as it is; seconds for times.
     *
     * @param name "" where there is none
     */
    public record BurstBuffersReply(
            String name,
            List<BurstPool> pools,
            List<BurstBufferInfo> buffers,
            String flags,
            String allowUsers,
            String denyUsers,
            long stageIn,
            long stageOut,
            long validate,
            long other) {}

    /** A pool of a burst buffer, in the pool's units. */
    public record BurstPool(String name, long granularity, long total, long used) {}

    public record BurstBufferInfo(int jobId, long createTime, String pool, long size, String user, int userId) {}

    /** Asks the site's script for the state of burst buffers. */
    public record QueryBurstStatus(List<String> arguments) {}

    public record BurstStatusReply(String text) {}

    public record TopologyReply(List<Topology> topologies) {}

    public record Ping() {}

    /**
     * @param mode {@code primary}, {@code backup}, {@code backup2}
     * @param version {@code 26.05.3}
     */
    public record PingReply(
            String cluster, String host, String mode, boolean up, String version, long bootTime, JournalMember member) {
        /**
         * Returns Slurm's name of a controller: primary, backup, or one of backup1, backup2, ….
         *
         * @param index of its SlurmctldHost
         * @param controllers number of SlurmctldHost
         */
        public static String mode(int index, int controllers) {
            if (index == 0) {
                return "primary";
            }
            return controllers > 2 ? "backup" + index : "backup";
        }
    }

    /**
     * A controller among those that keep the journal together.
     *
     * @param leads it decides for the cluster
     * @param leader name of the controller that leads as far as this one knows; "" for none
     * @param term grows with each leader; 0 where a controller has the journal alone
     * @param committed index of the last entry of the journal that this controller knows to be on most of them; 0 where
     *     they share a StateSaveLocation
     * @param directory id of the StateSaveLocation that the controllers share; "" where each has one of its own
     */
    public record JournalMember(boolean leads, String leader, long term, long committed, String directory) {
        /** A controller that has its journal alone. */
        public static final JournalMember ALONE = new JournalMember(true, "", 0, 0, "");
    }

    /** Asks the leading controller to let another one lead. */
    public record Takeover(int index) {}

    /** @param shownPartitions of their partitions those alone that are not hidden from the caller */
    public record QueryNodes(List<String> nodes, boolean all, List<String> fields, boolean shownPartitions) {}

    public record NodesReply(long now, long lastUpdate, List<NodeInfo> nodes) {}

    /**
     * A node as queries show it.
     *
     * @param state base state: IDLE, ALLOCATED, MIXED, DOWN, UNKNOWN, FUTURE, ERROR
     * @param flags DRAIN, COMPLETING, NOT_RESPONDING, MAINT, RESERVED, PLANNED, INVALID_REG, …
     * @param cpuLoad hundredths
     * @param gres configured, {@code gpu:a100:4}
     * @param gresUsed {@code gpu:a100:1(IDX:0)}
     * @param restrictedCores {@code 2(0-3,6-9)}: for each GPU, and all of them
     * @param suspendTime seconds without work before it is stopped, or INFINITE; "" in a cluster that stops no nodes
     * @param metered the watts now and on average since slurmd started are known
     * @param reservation the name of one that is on and has the node, "" for none
     */
    public record NodeInfo(
            String name,
            String hostname,
            String address,
            int port,
            String state,
            List<String> flags,
            String reason,
            int reasonUserId,
            String reasonUser,
            long reasonTime,
            String comment,
            String extra,
            int cpus,
            int cpusEffective,
            int boards,
            int sockets,
            int coresPerSocket,
            int threadsPerCore,
            int cpusAllocated,
            long memoryMb,
            long memoryAllocatedMb,
            long memoryFreeMb,
            long tmpDiskMb,
            long memSpecLimitMb,
            String cpuSpecList,
            int coreSpecCount,
            int cpuLoad,
            String features,
            String activeFeatures,
            String gres,
            String gresUsed,
            String gresDrain,
            long weight,
            int owner,
            String mcsLabel,
            List<String> partitions,
            String architecture,
            String operatingSystem,
            String version,
            long bootTime,
            long slurmdStartTime,
            long lastBusy,
            long resumeAfter,
            String tresConfigured,
            String tresAllocated,
            String topology,
            int runningJobs,
            boolean metered,
            int watts,
            int averageWatts,
            String restrictedCores,
            String suspendTime,
            String instanceId,
            String instanceType,
            boolean certTokenSet,
            long certTime,
            String cpuBind,
            String bcastAddress,
            String reservation) {}

    public record QueryPartitions(List<String> partitions, boolean all) {}

    public record PartitionsReply(long now, long lastUpdate, List<PartitionInfo> partitions) {}

    /**
     * A partition: the effective configuration as {@code scontrol show partition} prints it.
     *
     * @param allowGids numbers of the groups in allowGroups that the host knows
     * @param preemptModeSet the partition's own preemptMode; "" for the cluster's
     */
    public record PartitionInfo(
            String name,
            boolean isDefault,
            boolean hidden,
            boolean rootOnly,
            boolean requireReservation,
            boolean disableRootJobs,
            boolean exclusiveUser,
            boolean exclusiveTopo,
            boolean leastLoadedNodes,
            String state,
            String nodes,
            String nodeSets,
            int totalNodes,
            int totalCpus,
            String allowGroups,
            String allowAccounts,
            String denyAccounts,
            String allowQos,
            String denyQos,
            String allocNodes,
            String alternate,
            String qos,
            int maxTimeMin,
            int defaultTimeMin,
            int maxNodes,
            int minNodes,
            int maxCpusPerNode,
            int maxCpusPerSocket,
            long defMemPerCpuMb,
            long defMemPerNodeMb,
            long maxMemPerCpuMb,
            long maxMemPerNodeMb,
            int priorityTier,
            int priorityJobFactor,
            String overSubscribe,
            int overTimeLimitMin,
            String preemptMode,
            int graceTimeSeconds,
            String selectTypeParameters,
            String jobDefaults,
            String tresBillingWeights,
            String tres,
            String resumeTimeout,
            String suspendTimeout,
            String suspendTime,
            boolean exclusiveNode,
            String topology,
            boolean powerDownOnIdle,
            String cpuBind,
            List<Integer> allowGids,
            String preemptModeSet) {
        /** DefaultTime=0: a job without a time limit gets none. 0 itself means that the key is unset. */
        public static final int NO_TIME = -2;
        /** OverTimeLimit=UNLIMITED; -1 is the cluster's. */
        public static final int OVER_UNLIMITED = 65_535;

        /** Returns the partition with the number of its nodes and their CPUs. */
        public PartitionInfo withTotals(int nodes, int cpus) {
            return RecordEditor.of(this)
                    .set("totalNodes", nodes)
                    .set("totalCpus", cpus)
                    .record();
        }
    }

    /**
     * {@code scontrol token}.
     *
     * @param user "" for the caller
     * @param lifespanSeconds 0 for the usual time
     */
    public record CreateToken(String user, long lifespanSeconds) {}

    public record TokenReply(String token) {}

    public record QueryConfig() {}

    /** The lines of {@code scontrol show config} in order. */
    public record ConfigReply(long now, List<String> lines, Map<String, String> values) {}

    /** {@code scontrol update nodename=…}: key names lower case, values as typed. */
    public record UpdateNode(String requestId, String nodes, Map<String, String> changes) {}

    /**
     * {@code scontrol reboot}.
     *
     * @param nextState DOWN, RESUME or ""
     * @param action a PowerAction or ""
     */
    public record RebootNodes(
            String requestId,
            String nodes,
            boolean asap,
            String nextState,
            String reason,
            boolean force,
            String action) {}

    /** {@code scontrol create NodeName=…}: the words as they would stand in slurm.conf. */
    public record CreateNodes(String requestId, String line) {}

    public record DeleteNodes(String requestId, String nodes) {}

    /**
     * A slurmd asks which FUTURE node it may be.
     *
     * @param feature that the node must have, "" for any
     */
    public record AssignNode(
            String hostname, String address, int port, String feature, NodeMessages.Hardware hardware) {}

    /**
     * The configuration files (SlurmctldParameters=enable_configless).
     *
     * @param knownHash of what the caller has: answered when it is another, or after the wait
     * @param waitSeconds at most 60
     */
    public record FetchConfig(String knownHash, int waitSeconds) {}

    /** @param files empty where the caller has them already */
    public record ConfigFiles(String hash, List<ConfigFile> files) {}

    /** @param name beside slurm.conf, without a way up */
    public record ConfigFile(String name, Bytes content, boolean executable) {}

    /**
     * A node wants a certificate.
     *
     * @param request a certificate signing request as text
     * @param token that it may have one
     */
    public record SignCertificate(String node, String request, String token) {}

    /** @param next what to show the next time, "" for what the site's script says */
    public record SignedCertificate(String certificate, String next) {}

    public record AssignedNode(String node) {}

    public record UpdatePartition(String requestId, String partition, Map<String, String> changes) {}

    public record CreatePartition(String requestId, String partition, Map<String, String> values) {}

    public record DeletePartition(String requestId, String partition) {}

    /** @param values key names lower case and full, a last + or - for += and -=, times in seconds */
    public record CreateReservation(String requestId, String name, Map<String, String> values) {}

    public record CreateReservationReply(String name) {}

    public record UpdateReservation(String requestId, String name, Map<String, String> values) {}

    public record DeleteReservation(String requestId, String name) {}

    public record QueryReservations(String name) {}

    public record ReservationsReply(long now, long lastUpdate, List<ReservationInfo> reservations) {}

    /**
     * A reservation as queries show it. Lists are joined by commas, denied names with a minus each; times are seconds
     * since 1970.
     *
     * @param flags names in Slurm's order
     * @param cores what is reserved of nodes that are not reserved whole
     * @param gres devices that are reserved, {@code gres/gpu=2}, as they were asked for, and licenses that are
     *     accounted for
     */
    public record ReservationInfo(
            String name,
            long startTime,
            long endTime,
            String nodes,
            int nodeCount,
            int coreCount,
            int cpuCount,
            String features,
            String partition,
            List<String> flags,
            String users,
            String groups,
            String accounts,
            String qos,
            String allowedPartitions,
            boolean active,
            int maxStartDelaySeconds,
            int purgeAfterSeconds,
            String comment,
            List<ReservedCores> cores,
            String licenses,
            String gres) {}

    /** @param ids {@code 0-3,8} */
    public record ReservedCores(String node, String ids) {}

    public record Reconfigure(String requestId) {}

    /** @param controllerOnly {@code scontrol shutdown slurmctld} */
    public record Shutdown(String requestId, boolean controllerOnly) {}

    /**
     * A setting that counts until slurm.conf is read again.
     *
     * @param value + or - before it adds to a list or takes from it
     */
    public record UpdateSetting(String requestId, String key, String value) {}

    /** @param nodes whose slurmd is meant, "" for slurmctld */
    public record SetDebug(String requestId, String level, String flags, String scheduler, String nodes) {}

    public record QueryDiagnostics(boolean reset) {}

    /** @param values names as in the JSON form of sdiag */
    public record DiagnosticsReply(Map<String, Long> values, List<RpcCount> rpcs, List<RpcCount> users) {}

    /** Requests of one kind or from one user: how many and how long they took together. */
    public record RpcCount(String name, int number, long count, long totalUs) {}

    /**
     * The reply of requests that have nothing to say.
     *
     * @param warnings lines for stderr
     */
    public record Done(List<String> warnings) {
        public static final Done OK = new Done(List.of());
    }

    /** Why a request was refused. */
    public record ApiError(int errno, String error) {}
}
