package dev.muster.core.state;

import dev.muster.json.Bytes;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.accounting.DbdMessages.RemoteLicense;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.DbdMessages.WckeyPolicy;
import dev.muster.model.cluster.Topology;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.job.UsageSample;
import dev.muster.model.node.NodeMessages.Hardware;
import java.util.List;
import java.util.Map;

/**
 * The records of the journal: outcomes of decisions, never the commands. A record type is never removed and its
 * components never change their meaning; {@link State#apply} is the one place that says what each does. Times are
 * seconds since 1970, ticks milliseconds of cluster time.
 */
public sealed interface Change {

    // ---- cluster

    /** The configuration in force. Nodes and partitions not named any more go. */
    record ConfigApplied(Settings settings, List<Node.Spec> nodes, List<Partition> partitions) implements Change {}

    /** Job numbers below the ceiling may be given out; after a cut journal the next start goes above it. */
    record JobIdsReserved(int nextJobId, int ceiling, long nextSluid, long sluidCeiling) implements Change {}

    /**
     * Records nothing but that it is later: where nothing else is recorded, a restart would take up the cluster's time
     * from where something last was.
     */
    record TimePassed() implements Change {}

    /** Content behind a hash that jobs refer to; kept on disk beside the journal. */
    record BlobStored(String hash, Bytes content) implements Change {}

    /** The answer to a request, for a client that asks again. */
    record Answered(String requestId, int uid, Bytes reply) implements Change {}

    /** Old answers are forgotten. */
    record AnswersForgotten(List<String> requestIds) implements Change {}

    // ---- a job's life

    /** A job is queued: from here on it exists. */
    record JobSubmitted(Job job) implements Change {}

    /** A task of an array's pending record becomes a job of its own. */
    record ArrayTaskSplit(int arrayJobId, int task, int jobId, long sluid) implements Change {}

    /** Begin time reached and dependencies fulfilled. eligibleTime 0: no more. */
    record JobEligible(int jobId, long eligibleTime) implements Change {}

    record DependenciesChanged(int jobId, List<Dependency> dependencies) implements Change {}

    /** @param time as in {@link Job#accrueTime} */
    record AccrualChanged(int jobId, long time) implements Change {}

    /** Held (priority 0) or released, or a new priority. */
    record PriorityChanged(int jobId, long priority, int holdUid, JobReason reason, String reasonText)
            implements Change {}

    record DescriptionChanged(int jobId, JobDesc desc) implements Change {}

    record ArrayLimitChanged(int jobId, int maxRunning) implements Change {}

    /** The job has its nodes. One attempt starts at most once. configuring: prologs must finish first. */
    record JobStarted(int jobId, int attempt, Allocation allocation, int limitMin, long limitTick, boolean configuring)
            implements Change {}

    /** The prolog ran on a node; with the last one the job stops configuring. */
    record PrologDone(int jobId, int attempt, String node) implements Change {}

    /** PrologSlurmctld ran for the job. */
    record ControllerPrologDone(int jobId, int attempt) implements Change {}

    /** A new time limit of a running job. begins: the last of its nodes has come up, and only now its time begins. */
    record LimitChanged(int jobId, int limitMin, long limitTick, boolean begins) implements Change {}

    /**
     * A running job gives up these nodes; its part of each stays taken until nothing is left there.
     *
     * @param time seconds; 0 in old journals
     */
    record JobShrunk(int jobId, List<String> dropped, long time) implements Change {}

    /** A job gives memory back: it has these MiB of each of the nodes, fewer than before. */
    record JobMemoryLowered(int jobId, Map<String, Long> memoryMb) implements Change {}

    record StepStarted(int jobId, Step step) implements Change {}

    /** Queues a step, which waits within its job for what other steps have. */
    record StepQueued(int jobId, Step step) implements Change {}

    record StepLaunched(int jobId, int stepId, String node) implements Change {}

    /** All tasks of a step on one node have ended. */
    record StepPartEnded(
            int jobId,
            int stepId,
            String node,
            ExitStatus exit,
            Map<String, ExitStatus> exits,
            String reason,
            Usage usage)
            implements Change {}

    /**
     * Usage of a step on a node: times in microseconds, memory in KiB, disk and network in bytes, energy in joules.
     * peaks: of single tasks.
     */
    record Usage(
            long userCpuUs,
            long systemCpuUs,
            long maxRssKb,
            long maxVmKb,
            long readBytes,
            long writeBytes,
            long maxPages,
            long energyJ,
            long netInBytes,
            long netOutBytes,
            TaskPeaks peaks,
            long cpuKhz,
            UsageSample metered) {
        public Usage(
                long userCpuUs,
                long systemCpuUs,
                long maxRssKb,
                long maxVmKb,
                long readBytes,
                long writeBytes,
                long maxPages) {
            this(
                    userCpuUs,
                    systemCpuUs,
                    maxRssKb,
                    maxVmKb,
                    readBytes,
                    writeBytes,
                    maxPages,
                    0,
                    0,
                    0,
                    TaskPeaks.NONE,
                    0,
                    UsageSample.NONE);
        }
    }

    /** The step was told to end; atOnce: by SIGKILL without a warning. */
    record StepEnding(int jobId, int stepId, String reason, boolean atOnce) implements Change {}

    /** A trigger is there, or something has happened to it. */
    record TriggerSet(Trigger trigger) implements Change {}

    /** A trigger is gone; its number is not given again. */
    record TriggerCleared(int id) implements Change {}

    /** The program of a trigger runs, with the cause as its argument; gone unless it is permanent. */
    record TriggerFired(int id, String cause) implements Change {}

    /** Sets another time limit of a running step, minutes; 0 for none of its own. */
    record StepLimitChanged(int jobId, int stepId, int limitMin) implements Change {}

    record StepEnded(int jobId, int stepId, long endTime) implements Change {}

    /** A running job is over: its nodes are told to clean up (COMPLETING until all have). */
    record JobEnded(int jobId, JobState state, JobReason reason, String reasonText, ExitStatus exit, long endTime)
            implements Change {}

    /** A pending job is over without a start. */
    record PendingJobEnded(int jobId, JobState state, JobReason reason, String reasonText, long endTime)
            implements Change {}

    /** Frees a node's part of the allocation: nothing of the attempt is left on it. */
    record NodeReleased(int jobId, int attempt, String node) implements Change {}

    /**
     * The job goes back to the queue; its number stays. special: it waits for an administrator as SPECIAL_EXIT. exit:
     * of what sent it back. anew: it counts as submitted then.
     */
    record JobRequeued(
            int jobId,
            boolean held,
            JobReason reason,
            String reasonText,
            long priority,
            long time,
            boolean special,
            ExitStatus exit,
            boolean anew)
            implements Change {
        public JobRequeued(
                int jobId,
                boolean held,
                JobReason reason,
                String reasonText,
                long priority,
                long time,
                boolean special) {
            this(jobId, held, reason, reasonText, priority, time, special, ExitStatus.NONE);
        }

        public JobRequeued(
                int jobId,
                boolean held,
                JobReason reason,
                String reasonText,
                long priority,
                long time,
                boolean special,
                ExitStatus exit) {
            this(jobId, held, reason, reasonText, priority, time, special, exit, true);
        }
    }

    /** A node's failure ends the attempt: what becomes of the job is in the entry's other records. */
    record JobFailedNode(int jobId, String node) implements Change {}

    /** A mark of the job's state that no other record brings. */
    record JobFlagged(int jobId, JobFlag flag, boolean on) implements Change {}

    record JobSuspended(int jobId, long time) implements Change {}

    /** Records that the job's processes were sent SIGSTOP, or SIGCONT. */
    record JobStopped(int jobId, boolean stopped) implements Change {}

    record JobResumed(int jobId, long time, long limitTick) implements Change {}

    /** Replaces a user's crontab; one without text and entries is removed. */
    record CrontabChanged(Crontab crontab) implements Change {}

    /** Preempts a job: at once, or at a cluster time when its grace is over. */
    record JobPreempted(int jobId, long time, Preemption.Mode mode, long endTick) implements Change {}

    /** A job that ended long ago is forgotten. */
    record JobPurged(int jobId) implements Change {}

    // ---- nodes and partitions

    record NodeRegistered(String node, String bootId, String version, long startTime, Hardware hardware)
            implements Change {}

    /** flags as in {@link Node#flags}. */
    record NodeStateChanged(String node, int flags, String reason, int reasonUid, long reasonTime) implements Change {}

    /**
     * Sets the features that the node can be rebooted with, those that it has, and those that it is being rebooted for.
     */
    record NodeFeaturesChanged(String node, List<String> changeable, List<String> active, List<String> wanted)
            implements Change {}

    /**
     * Options of the settings until slurm.conf is read again; "" unsets one. An empty list of topologies keeps the
     * present ones.
     */
    record OptionsChanged(Map<String, String> options, List<Topology> topologies) implements Change {
        public OptionsChanged {
            // records of before have none
            topologies = topologies == null ? List.of() : topologies;
        }

        public OptionsChanged(Map<String, String> options) {
            this(options, List.of());
        }
    }

    /**
     * Chooses how the node's next start, stop or reboot is done: a PowerAction of slurm.conf, "" for the usual program.
     */
    record NodePowerActionChosen(String node, String action) implements Change {}

    record NodeMarked(String node, Node.CloudIdentity marks) implements Change {}

    record NodeTextsChanged(String node, String comment, String extra, long resumeAfter) implements Change {}

    /** A node that the configuration does not name. flags as in {@link Node#flags}. */
    record NodeAdded(Node.Spec spec, int flags) implements Change {}

    record NodeRemoved(String node) implements Change {}

    record NodeSpecChanged(String node, Node.Spec spec) implements Change {}

    record PartitionChanged(Partition partition) implements Change {}

    record PartitionRemoved(String partition) implements Change {}

    // ---- burst buffers

    /** A job's burst buffer as it is from now on. */
    record BufferChanged(BurstBuffer buffer) implements Change {}

    /** Sets the pools that the site's script has to give now. */
    record PoolsChanged(List<BurstBuffer.Pool> pools) implements Change {}

    // ---- reservations

    /** A reservation as it is from now on, new or changed. */
    record ReservationChanged(Reservation reservation) implements Change {}

    record ReservationRemoved(String name) implements Change {}

    /**
     * Removes a lost reservation from a waiting job: the job names what is left of it, and is held where held says so.
     */
    record ReservationLost(int jobId, String reservation, boolean held) implements Change {}

    // ---- usage

    /** All usage as of a moment; see {@link Shares}. */
    record UsageCharged(
            long time, long tickMs, long resetAt, List<Shares.UsageRecord> usage, List<Shares.UsageRecord> qos)
            implements Change {}

    // ---- snapshots only

    /** Associations, QOS and users as slurmdbd has them now: what differs from before. */
    record PolicyChanged(
            List<AssocPolicy> assocs,
            List<Integer> assocsGone,
            List<QosPolicy> qos,
            List<Integer> qosGone,
            List<UserPolicy> users,
            List<String> usersGone,
            List<WckeyPolicy> wckeys,
            List<String> wckeysGone,
            List<String> licenses,
            List<RemoteLicense> remotes)
            implements Change {
        /** Licenses of servers outside came later than this record, and are always all. */
        public PolicyChanged {
            licenses = licenses == null ? List.of() : licenses;
            remotes = remotes == null ? List.of() : remotes;
        }
    }

    record JobRestored(Job job) implements Change {}

    record NodeRestored(Node node) implements Change {}

    record PartitionRestored(Partition partition) implements Change {}

    record AnswerRestored(String requestId, AnsweredRequest answer) implements Change {}

    record ClusterRestored(
            String clusterId,
            long tickMs,
            Settings settings,
            int nextJobId,
            int jobIdCeiling,
            long nextSluid,
            long sluidCeiling)
            implements Change {}
}
