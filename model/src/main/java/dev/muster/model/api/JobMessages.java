package dev.muster.model.api;

import dev.muster.json.Bytes;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Requests about jobs and steps, and their replies. Times are seconds since 1970; 0 means none. */
public final class JobMessages {
    private JobMessages() {}

    /**
     * Submits a job.
     *
     * @param requestId 32 hex digits made by the client; a repeated request gets the first one's answer
     * @param script the batch script; empty for an allocation
     * @param environment NAME=value entries of the job
     * @param testOnly {@code --test-only}: answer when and where it would start, submit nothing
     * @param immediate {@code -I}: fail if it cannot start now
     */
    public record Submit(
            String requestId,
            JobDesc job,
            Bytes script,
            List<Bytes> environment,
            boolean testOnly,
            boolean immediate) {}

    /**
     * Submits a heterogeneous job: all components or none. Answered as a single one, with the number of the first.
     *
     * @param parts in order; their request ids and flags do not count
     */
    public record SubmitHet(String requestId, List<Submit> parts, boolean testOnly, boolean immediate) {}

    /**
     * @param warnings lines to print on stderr
     * @param testStart for testOnly: planned start
     * @param testNodes for testOnly: hostlist of the planned nodes
     * @param testCpus for testOnly: CPUs it would use
     * @param testPartition for testOnly
     */
    public record SubmitReply(
            int jobId, List<String> warnings, long testStart, String testNodes, int testCpus, String testPartition) {
        /** Adds warnings for the user before those that there are. */
        public SubmitReply saying(List<String> more) {
            return new SubmitReply(
                    jobId,
                    java.util.stream.Stream.concat(more.stream(), warnings.stream())
                            .toList(),
                    testStart,
                    testNodes,
                    testCpus,
                    testPartition);
        }
    }

    /**
     * Waits until a job has its allocation and its nodes are ready, or has ended; answers at the latest after waitMs
     * with the state as it is.
     */
    public record AwaitAllocation(int jobId, int waitMs) {}

    /** Waits until the job's or step's state differs from the given version, at most waitMs. */
    public record AwaitChange(int jobId, int stepId, long version, int waitMs) {}

    /**
     * An allocation as srun and salloc need it.
     *
     * @param state base state's name
     * @param ready the nodes are configured (prolog done where it must be waited for)
     * @param version for {@link AwaitChange}
     * @param environment SLURM_* entries NAME=value that salloc sets for its command
     * @param notices what operators say to the client, each once, in answers to {@link AwaitChange}
     * @param hetMembers numbers of all components of a heterogeneous job, by offset; ready says of all that they are
     */
    public record Allocation(
            int jobId,
            String state,
            String reason,
            boolean ready,
            long version,
            String nodes,
            int nodeCount,
            String partition,
            String account,
            String qos,
            String name,
            int userId,
            int groupId,
            String userName,
            long startTime,
            long endTime,
            int timeLimitMin,
            List<NodeShare> shares,
            List<String> environment,
            ExitStatus exit,
            String workDir,
            List<Integer> hetMembers,
            List<String> notices) {}

    /**
     * One node of an allocation or of a step.
     *
     * @param usableCpus those that tasks may use where threads of its cores are left alone
     */
    public record NodeShare(
            String node,
            String address,
            int port,
            int cpus,
            long memoryMb,
            String gres,
            int tasks,
            List<Integer> taskIds,
            int usableCpus) {}

    /**
     * Creates (and launches) a step in an allocation. Waits for resources at most waitMs, then answers with errno
     * NODES_BUSY.
     */
    public record CreateStep(String requestId, int jobId, StepDesc step, int waitMs) {}

    /**
     * @param stepId as in {@link dev.muster.model.job.StepId}
     * @param shares its nodes in order with their tasks
     * @param ioToken shown to each node's {@code io} stream
     * @param cpuBind how its tasks are bound: what it asked for, or else what its nodes, its partition or
     *     TaskPluginParam say
     */
    public record StepStarted(
            int jobId,
            int stepId,
            int attempt,
            int tasks,
            List<NodeShare> shares,
            String ioToken,
            List<String> warnings,
            String cpuBind) {}

    /**
     * One step over several components, of a heterogeneous job or, all for the same ordinary one, its own: created in
     * all of them, or none.
     *
     * @param parts in the order of the ranks; their request ids and times to wait do not count
     */
    public record CreateHetStep(String requestId, List<CreateStep> parts, int waitMs) {}

    /** Its parts, in that order: all have the same step number, the ranks go on from one to the next. */
    public record HetStepStarted(List<StepStarted> parts) {}

    /**
     * swait: answered with an {@link Allocation} that is ready when none of the job's numbered steps runs and no
     * asynchronous one waits, or after the time with one that is not.
     *
     * @param waitMs bounded by the controller
     */
    public record AwaitSteps(int jobId, int waitMs) {}

    /**
     * Asks for running steps; jobIds empty means all.
     *
     * @param shownPartitions of jobs in partitions that are not hidden from the caller
     */
    public record QuerySteps(List<Integer> jobIds, int stepId, int userId, boolean allUsers, boolean shownPartitions) {}

    /**
     * Asks for jobs. Empty lists do not filter. The filters are squeue's and scontrol's; the reply holds only the named
     * fields.
     *
     * @param jobs ids as typed: {@code 12}, {@code 12_3}, {@code 12_[3-5]}, {@code 12+1}
     * @param states base state or flag names; empty means "as squeue": pending, running, suspended, completing
     * @param allStates finished jobs that are still known as well
     * @param fields components of {@link JobInfo} wanted; empty means all
     * @param details per-node CPU ids and GRES ({@code scontrol -d})
     * @param expandArrays one row per pending array task ({@code squeue -r})
     * @param lines the asker can take a long answer while it is made: its rows in lines of their own
     * @param joinArrays tasks that wait by themselves stand in the row of those of their array that still wait together
     */
    public record QueryJobs(
            List<String> jobs,
            List<Integer> userIds,
            List<String> accounts,
            List<String> partitions,
            List<String> qos,
            List<String> states,
            List<String> names,
            List<String> reservations,
            List<String> licenses,
            List<String> nodes,
            boolean allStates,
            boolean allPartitions,
            boolean details,
            boolean expandArrays,
            boolean startEstimates,
            List<String> fields,
            boolean lines,
            boolean joinArrays) {
        public QueryJobs {
            accounts = lowerCase(accounts);
            qos = lowerCase(qos);
        }
    }

    /** Names of accounts, QOS and workload characterization keys are lower case everywhere, however they are typed. */
    private static List<String> lowerCase(List<String> names) {
        return names.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    }

    /** @param now the controller's clock, for elapsed and left times */
    public record JobsReply(long now, long lastUpdate, List<JobInfo> jobs) {}

    /**
     * A job as queries show it. Texts are as Slurm prints them where a form is fixed (states, reasons, TRES).
     *
     * @param arrayJobId 0 if not of an array
     * @param arrayTaskId -1 if not a single task
     * @param arrayTasks compressed pending task set, for example {@code 0-9%2}; "" if none
     * @param state base state's name
     * @param flags names of flags such as COMPLETING
     * @param nodes hostlist of the allocation, "" while pending
     * @param schedNodes planned nodes
     * @param timeLimitMin minutes; -1 for unlimited
     * @param tresAlloc {@code cpu=2,mem=4G,node=1,billing=2}
     * @param licensesAlloc what it was given of the licenses that it asks for
     * @param exclusiveUse NO, NODE, USER, MCS or TOPO: which jobs may share its nodes, by the job or its partition
     * @param cpusPerTres {@code gres/gpu:2}
     * @param memPerTres {@code gres/gpu:10}, mebibytes
     * @param stdinPattern the file's name with its % codes; stdin is the one with these filled in. So for stdout and
     *     stderr
     * @param assocId of its association; 0 if it has none
     * @param segment nodes that each hang together; 0 for all
     * @param memUpdateMin minutes after its start; 0 for never
     * @param wishes what has no field of its own, by the words of the REST API: SPREAD_JOB
     * @param ownStderr its errors were asked to go to a file; else they go with its output
     * @param partitionPriorities of a job that waits for one of several partitions: {@code main=12}
     * @param hetJobIdSet numbers of all components of a heterogeneous job, {@code 12-14}; "" if it is none
     */
    public record JobInfo(
            int jobId,
            int arrayJobId,
            int arrayTaskId,
            String arrayTasks,
            int arrayMaxRunning,
            int hetJobId,
            int hetOffset,
            String name,
            int userId,
            String userName,
            int groupId,
            String groupName,
            String account,
            String qos,
            String wckey,
            String partition,
            String reservation,
            String state,
            List<String> flags,
            String reason,
            String reasonText,
            long priority,
            int nice,
            String dependency,
            int restarts,
            boolean requeue,
            boolean batch,
            boolean held,
            ExitStatus exit,
            ExitStatus derivedExit,
            long submitTime,
            long eligibleTime,
            long accrueTime,
            long startTime,
            long endTime,
            long suspendTime,
            long preSuspendSeconds,
            long runSeconds,
            long deadline,
            long preemptTime,
            long preemptEligibleTime,
            long lastSchedEval,
            int timeLimitMin,
            int timeMinMin,
            int delayBootMin,
            String submitHost,
            int submitPid,
            String nodes,
            String schedNodes,
            String batchHost,
            int nodeCount,
            int nodeCountMax,
            int cpus,
            int cpusMax,
            int tasks,
            int cpusPerTask,
            int tasksPerNode,
            int tasksPerSocket,
            int tasksPerCore,
            int cpusPerNodeMin,
            long memPerNodeMb,
            long memPerCpuMb,
            long tmpDiskMb,
            String features,
            String prefer,
            String nodeListRequested,
            String excludeList,
            String exclusive,
            String oversubscribe,
            boolean contiguous,
            boolean overcommit,
            int socketsPerNode,
            int coresPerSocket,
            int threadsPerCore,
            int coreSpec,
            int threadSpec,
            String licenses,
            String network,
            String switches,
            String tresPerNode,
            String tresPerJob,
            String tresPerTask,
            String tresPerSocket,
            String tresRequested,
            String tresAlloc,
            String command,
            String workDir,
            String stdin,
            String stdout,
            String stderr,
            String comment,
            String adminComment,
            String extra,
            String mailUser,
            String mailType,
            String container,
            String mcsLabel,
            String burstBuffer,
            String burstBufferState,
            String submitLine,
            long sluid,
            List<NodeDetail> details,
            String gresTotal,
            String hetJobIdSet,
            String licensesAlloc,
            String exclusiveUse,
            String tresBind,
            String cpusPerTres,
            String memPerTres,
            String cpuFreq,
            String tresFreq,
            boolean backfilled,
            String cronSpec,
            String containerId,
            String stdinPattern,
            String stdoutPattern,
            String stderrPattern,
            boolean expedite,
            int assocId,
            boolean stepMgr,
            int segment,
            boolean spreadSegments,
            boolean consolidateSegments,
            String containerType,
            int memUpdateMargin,
            int memUpdateMin,
            boolean reboot,
            String profile,
            String batchFeatures,
            int tasksPerGpu,
            String failedNode,
            List<String> wishes,
            List<String> partitionPriorities,
            boolean ownStderr) {}

    /**
     * CPUs (abstract ids), memory and GRES of a job on nodes that have the same of each.
     *
     * @param cores numbers within a node, as a list of ranges
     * @param channel one more than the number of the channel of the fabric; 0 for none
     */
    public record NodeDetail(
            String nodes,
            String cpuIds,
            long memoryMb,
            String gres,
            int sockets,
            int coresPerSocket,
            String cores,
            int channel) {}

    public record StepsReply(long now, List<StepInfo> steps) {}

    /**
     * @param stepId number, for a component of a heterogeneous step {@code 3+1}, or "batch", "extern", "interactive"
     * @param nodeTasks the ranks on each of the nodes, in the nodes' order
     */
    public record StepInfo(
            int jobId,
            int arrayJobId,
            int arrayTaskId,
            String stepId,
            String name,
            int userId,
            String userName,
            String partition,
            String state,
            String nodes,
            int nodeCount,
            int cpus,
            int tasks,
            long startTime,
            int timeLimitMin,
            String tresAlloc,
            String tresPerNode,
            String submitHost,
            int submitPid,
            String cpuBind,
            String distribution,
            String account,
            String submitLine,
            long sluid,
            int hetJobId,
            int hetOffset,
            String resvPorts,
            String container,
            String network,
            String cpuFreq,
            String containerId,
            List<String> nodeTasks) {}

    /**
     * Cancels or signals jobs: those named, or those all filters match (scancel).
     *
     * @param jobs as typed, with steps: {@code 12.0}, {@code 12_[1-3]}, {@code 12.batch}
     * @param signal 0 for an ordinary cancel (the job ends as CANCELLED)
     * @param batchOnly {@code -b}
     * @param full {@code -f}
     * @param hurry {@code -H}
     * @param adminComment what administrators say about it; "" says nothing
     * @param tellsOthers each job that the filters find and that the caller may not cancel is an error
     * @param ctld {@code --ctld}: each named job that a filter excludes is an error, and a pending component is
     *     cancelled alone
     */
    public record Cancel(
            String requestId,
            List<String> jobs,
            int signal,
            boolean batchOnly,
            boolean full,
            boolean hurry,
            List<Integer> userIds,
            List<String> accounts,
            List<String> partitions,
            List<String> names,
            List<String> qos,
            List<String> states,
            List<String> nodes,
            List<String> reservations,
            List<String> wckeys,
            boolean cronAllowed,
            String adminComment,
            boolean tellsOthers,
            boolean ctld) {
        /**
         * Used in place of a signal, above the kernel's signals: ends a step as 0 does, because one of its tasks
         * failed.
         */
        public static final int TASK_FAILURE = 1000;

        /**
         * Used in place of a signal: SIGINT to a step whose srun was interrupted. A job that was made for the step is
         * cancelled when the step ends, also where srun has died by then.
         */
        public static final int INTERRUPT = 1001;

        private static final int SIGINT = 2;

        /** Returns the signal that a node hears; 0 where the step is to be ended. */
        public static int plain(int signal) {
            if (signal == TASK_FAILURE) {
                return 0;
            }
            if (signal == INTERRUPT) {
                return SIGINT;
            }
            return signal;
        }

        public Cancel {
            accounts = lowerCase(accounts);
            qos = lowerCase(qos);
            wckeys = lowerCase(wckeys);
        }
    }

    /** One line per job that could not be touched; jobs in {@link #done} were. */
    public record CancelReply(List<String> done, List<JobError> errors) {}

    /**
     * @param errno 0 if the change was made and is listed beside others or for its lines
     * @param said lines of job_submit.lua; "" without any
     */
    public record JobError(String job, int errno, String error, String said) {
        public JobError(String job, int errno, String error) {
            this(job, errno, error, "");
        }
    }

    /** When and where a waiting job would start; answered as a submission that is only tested. */
    public record TestJob(int jobId) {}

    /** Changes a job: Slurm's key names of {@code scontrol update}, lower case, with their values as typed. */
    public record UpdateJob(String requestId, String job, Map<String, String> changes) {}

    /** hold, uhold, release, requeue, requeuehold, suspend, resume, top, notify on jobs as typed. */
    public record JobAction(String requestId, String action, List<String> jobs, String argument) {}

    /**
     * The script of a batch job.
     *
     * @param environment instead of it the variables that it begins with, each followed by a NUL
     */
    public record QueryScript(int jobId, boolean environment) {}

    public record ScriptReply(Bytes script) {}

    /**
     * The client of an interactive job says that it is done with it: ends the allocation (salloc) with this exit
     * status.
     */
    public record CompleteAllocation(String requestId, int jobId, ExitStatus exit) {}
}
