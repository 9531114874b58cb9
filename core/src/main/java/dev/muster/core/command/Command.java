package dev.muster.core.command;

import dev.muster.core.index.DueIndex;
import dev.muster.core.reservation.ReservationEdit;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.Trigger;
import dev.muster.json.Bytes;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobState;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A request to the core by the edge. uid is the authenticated caller; names and files have been resolved by the edge.
 */
public sealed interface Command {
    record ApplyConfig(Settings settings, List<Node.Spec> nodes, List<Partition> partitions) implements Command {}

    /** Applies associations and QOS of this cluster, as slurmdbd reports them. */
    record ApplyPolicy(Policy policy) implements Command {}

    /** Skips numbers that may have been given out, after a journal whose tail was cut. */
    record SkipReservedIds(int knownJobId, long knownSluid) implements Command {
        public SkipReservedIds() {
            this(0, 0);
        }
    }

    /**
     * @param script "" content for allocations
     * @param environment the environment blob (entries joined by NUL)
     * @param requestId as in the message
     */
    record SubmitJob(
            int uid,
            JobDesc desc,
            String requestId,
            Bytes script,
            Bytes environment,
            boolean immediate,
            boolean testOnly)
            implements Command {}

    /**
     * A heterogeneous job: its components in order. All of them are queued, or none.
     *
     * @param parts with no request id of their own, neither immediate nor to be tested each by itself
     */
    record SubmitHet(int uid, List<SubmitJob> parts, String requestId, boolean immediate, boolean testOnly)
            implements Command {}

    /**
     * A command that must not act twice: asked for again under the same id, it is answered as the first time.
     *
     * @param requestId as in the message, with something for each command where a message makes several; "" for none
     * @param command one that answers {@link dev.muster.model.api.JobMessages.CancelReply} or a text
     */
    record Once(String requestId, int uid, Command command) implements Command {}

    /**
     * Ends (signal 0) or signals single jobs; tasks as in {@link JobRef}.
     *
     * @param hurry their burst buffers go without stage-out
     * @param adminComment what the jobs that end get as theirs; "" leaves it. Administrators only
     * @param parts whether a pending component of a heterogeneous job ends alone; the others stay pending
     * @param states a job in another state than these is passed over: it started since the filter found it. Empty means
     *     any state
     */
    record CancelJobs(
            int uid,
            List<JobRef> jobs,
            int signal,
            boolean batchOnly,
            boolean full,
            boolean cron,
            boolean hurry,
            String adminComment,
            Set<JobState> states,
            boolean parts)
            implements Command {
        public CancelJobs(int uid, List<JobRef> jobs, int signal, boolean batchOnly, boolean full) {
            this(uid, jobs, signal, batchOnly, full, false, false, "", Set.of(), false);
        }

        public CancelJobs(
                int uid,
                List<JobRef> jobs,
                int signal,
                boolean batchOnly,
                boolean full,
                boolean cron,
                boolean hurry,
                String adminComment) {
            this(uid, jobs, signal, batchOnly, full, cron, hurry, adminComment, Set.of(), false);
        }
    }

    /**
     * A user's new crontab.
     *
     * @param uid the user that sends the request
     * @param zone of the controller
     */
    record SetCrontab(int uid, int owner, String zone, String text, List<CronEntry> entries) implements Command {}

    /**
     * One line of a crontab.
     *
     * @param when five fields or a word as {@code @daily}
     */
    record CronEntry(SubmitJob job, String when, int firstLine, int lastLine) {}

    /**
     * A job as its user names it, or as a filter finds it.
     *
     * @param task -1 for no task
     * @param step {@link #NO_STEP} for the job itself
     * @param tasks what a filter found in the waiting record of the array jobId: these tasks and no others. Empty where
     *     the whole job, with every task of an array, or the one task is meant
     */
    record JobRef(String text, int jobId, int task, int step, IndexSet tasks) {
        public static final int NO_STEP = Integer.MIN_VALUE;

        public JobRef(String text, int jobId, int task, int step) {
            this(text, jobId, task, step, IndexSet.empty());
        }

        /**
         * Returns a reference to a job that a filter found; of an array's pending record to these tasks, or to all
         * pending tasks where {@code tasks} is empty.
         */
        public static JobRef found(Job job, IndexSet tasks) {
            if (job.isArrayTask()) {
                return new JobRef(
                        job.displayId(), job.array().jobId(), job.array().task(), NO_STEP);
            }
            IndexSet pending = job.isArrayRecord() ? job.array().pending() : IndexSet.empty();
            IndexSet meant = tasks.isEmpty() ? pending : pending.intersect(tasks);
            String limit = job.array().maxRunning() > 0 ? "%" + job.array().maxRunning() : "";
            String name = job.isHet() ? Integer.toString(job.id()) : job.displayId();
            return new JobRef(
                    meant.isEmpty() ? name : job.id() + "_[" + IndexSet.shown(meant.compact()) + limit + "]",
                    job.id(),
                    -1,
                    NO_STEP,
                    meant);
        }
    }

    /** Asks when and where a waiting job would start. */
    record TestJob(int uid, int jobId) implements Command {}

    record UpdateJob(int uid, JobRef job, Map<String, String> changes) implements Command {}

    /** Words for the job's standard error or its client. */
    record NotifyJob(int uid, JobRef job, String text) implements Command {}

    record HoldJobs(int uid, List<JobRef> jobs, boolean hold, boolean asUser) implements Command {}

    /** special: State=SpecialExit; incomplete: jobs that do not run are passed over */
    record RequeueJobs(int uid, List<JobRef> jobs, boolean hold, boolean special, boolean incomplete)
            implements Command {
        public RequeueJobs(int uid, List<JobRef> jobs, boolean hold, boolean special) {
            this(uid, jobs, hold, special, false);
        }
    }

    /** Moves jobs to the top of their user's queue. */
    record TopJobs(int uid, List<JobRef> jobs) implements Command {}

    record SuspendJobs(int uid, List<JobRef> jobs, boolean suspend) implements Command {}

    /**
     * Reports how PrologSlurmctld ended for an attempt.
     *
     * @param isReady the burst buffer is; true where there is none
     * @param environment what the burst buffer gives the job, NAME=VALUE
     */
    record ControllerProlog(int jobId, int attempt, boolean success, boolean isReady, List<String> environment)
            implements Command {
        public ControllerProlog(int jobId, int attempt, boolean success) {
            this(jobId, attempt, success, true, List.of());
        }
    }

    /**
     * Reports how a stage of a burst buffer ended.
     *
     * @param round of {@link BurstBuffer}
     * @param words for people, if it failed
     * @param size really taken of the pool; 0 as asked for
     */
    record BufferStage(int jobId, int round, boolean success, String words, long size) implements Command {}

    /** Sets the pools that burst buffers share. */
    record SetPools(List<BurstBuffer.Pool> pools) implements Command {}

    record CompleteAllocation(int uid, int jobId, ExitStatus exit) implements Command {}

    /** InactiveLimit: nothing was heard of the command that has the allocation. */
    record EndInactive(int jobId, int attempt) implements Command {}

    /** The command that waited for the allocation is gone. */
    record EndUnclaimed(int jobId, int attempt) implements Command {}

    /** @param ioToken random, made by the edge */
    record CreateStep(int uid, String requestId, int jobId, StepDesc step, Bytes environment, String ioToken)
            implements Command {}

    /** One step over several components of a heterogeneous job: a part for each, in the order of the ranks. */
    record CreateHetStep(int uid, String requestId, List<CreateStep> parts) implements Command {}

    // ---- nodes

    record RegisterNode(NodeMessages.Register message) implements Command {}

    record Report(String node, NodeMessages.ToController message) implements Command {}

    /** The node has not been heard of for SlurmdTimeout. */
    record NodeLost(String node) implements Command {}

    /** The connection to the node is gone or back. */
    record NodeResponding(String node, boolean responding) implements Command {}

    record UpdateNode(int uid, List<String> nodes, Map<String, String> changes) implements Command {}

    /**
     * slurmctld had the node's certificate signed.
     *
     * @param next SHA-256, in hex, of what counts the next time; "" for the same token
     */
    record CertificateSigned(String node, String next) implements Command {}

    /**
     * Nodes are rebooted as soon as no job has them.
     *
     * @param asap no job goes to them until then
     * @param nextState what they are afterwards: DOWN, RESUME or "" for what they were
     * @param force jobs are taken from them
     * @param action a PowerAction of slurm.conf instead of RebootProgram, or ""
     */
    record RebootNodes(
            int uid, List<String> nodes, boolean asap, String nextState, String reason, boolean force, String action)
            implements Command {}

    /**
     * Nodes that the configuration does not name.
     *
     * @param registering by a slurmd of that name: known ones take the new configuration; else by scontrol create
     */
    record AddNodes(int uid, List<Node.Spec> specs, boolean registering) implements Command {}

    record RemoveNodes(int uid, List<String> nodes) implements Command {}

    /**
     * A slurmd asks which FUTURE node it may be; answers the name.
     *
     * @param port 0: as configured for the node
     * @param feature that the node must have, "" for any
     */
    record AssignNode(
            int uid, String hostname, String address, int port, String feature, NodeMessages.Hardware hardware)
            implements Command {}

    /**
     * A setting of slurm.conf that may be changed while the cluster runs.
     *
     * @param key lower case
     * @param value + or - before it adds or takes away
     */
    record ChangeSetting(int uid, String key, String value) implements Command {}

    /** @param gids of the groups that the changes name */
    record UpdatePartition(int uid, String partition, Map<String, String> changes, Map<String, Integer> gids)
            implements Command {
        public UpdatePartition(int uid, String partition, Map<String, String> changes) {
            this(uid, partition, changes, Map.of());
        }
    }

    record CreatePartition(int uid, Partition partition) implements Command {}

    record DeletePartition(int uid, String partition) implements Command {}

    // ---- reservations

    /**
     * @param values keys in lower case and full, times in seconds; see {@link ReservationEdit}
     * @param gids of the groups that values name
     */
    record CreateReservation(int uid, String name, Map<String, String> values, Map<String, Integer> gids)
            implements Command {}

    /** @param user the caller's name, with its groups: reservations may let their users change them */
    record UpdateReservation(
            int uid,
            String user,
            List<Integer> userGids,
            String name,
            Map<String, String> values,
            Map<String, Integer> gids)
            implements Command {}

    record DeleteReservation(int uid, String user, List<Integer> userGids, String name) implements Command {}

    // ---- time

    /** @param user name of the owner, for listings; the program runs as this user */
    record SetTrigger(
            int uid,
            String user,
            List<String> events,
            int jobId,
            String nodes,
            int offsetS,
            String program,
            boolean permanent)
            implements Command {}

    /** {@code --mem-update}: what an attempt uses on the node where it uses most, in KiB. */
    record MemoryMeasured(int jobId, int attempt, long usedKb) implements Command {}

    /** @param gids of users, the groups that they are in now */
    record RenewGroups(Map<Integer, List<Integer>> gids) implements Command {}

    /**
     * Reports that something has happened to a daemon.
     *
     * @param event of {@link Trigger#OF_DAEMONS}
     */
    record Happened(String event) implements Command {}

    /**
     * @param id 0 for any
     * @param jobId 0 for any
     * @param owner -1 for any
     */
    record ClearTriggers(int uid, int id, int jobId, int owner) implements Command {}

    /** Starts what can start. */
    record Schedule(int maxStarts) implements Command {}

    /**
     * Decides everything that is due: limits, begin times, dependencies, purging. Looks at all nodes and more: once a
     * second.
     */
    record Tick() implements Command {}

    /**
     * Does only the due work that follows from other changes and must not wait for the next second:
     * {@link DueIndex#urgent}.
     */
    record Settle() implements Command {}
}
