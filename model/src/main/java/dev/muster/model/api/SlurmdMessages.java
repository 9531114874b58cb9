package dev.muster.model.api;

import dev.muster.model.Identity;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.UsageSample;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.StepManaged;
import java.util.List;

/** Messages that slurmd answers on its port. */
public final class SlurmdMessages {
    private SlurmdMessages() {}

    public record QueryDaemon() {}

    /**
     * Another controller leads.
     *
     * @param address as SlurmctldHost has it
     * @param term grows with each leader
     */
    public record FollowController(String address, long term) {}

    /**
     * The daemon as {@code scontrol show slurmd} shows it.
     *
     * @param steps running ones, as {@code 12.0}, {@code 12.batch}
     * @param lastMessage when the controller was last heard, seconds since 1970; 0 never
     */
    public record DaemonReply(
            String node,
            String hostname,
            String version,
            int pid,
            long startTime,
            long lastMessage,
            String debugLevel,
            String logFile,
            int cpus,
            int boards,
            int sockets,
            int cores,
            int threads,
            long memoryMb,
            long tmpDiskMb,
            List<String> steps) {}

    /**
     * Processes of steps.
     *
     * @param jobId 0 for all jobs
     * @param pid only the step that this process belongs to; 0 for all
     */
    public record QueryProcesses(int jobId, int pid) {}

    public record ProcessesReply(String node, List<StepProcesses> steps) {}

    /**
     * @param stepId number or one of the STEP constants of the node's messages
     * @param energyJ joules that the node used since the step's start, and bytes that its interfaces took in and sent;
     *     0 without a meter
     * @param metered file systems and GPUs
     */
    public record StepProcesses(
            int jobId,
            int stepId,
            List<TaskUsage> tasks,
            long energyJ,
            long netInBytes,
            long netOutBytes,
            Identity owner,
            UsageSample metered) {}

    /**
     * A task with everything below it, as it is now.
     *
     * @param rank -1 for processes of the step that belong to no task
     * @param cpuMs user and system time together
     * @param khz of the CPU that it ran on last, 0 where the kernel says none
     */
    public record TaskUsage(
            int rank,
            int local,
            int pid,
            List<Integer> pids,
            long cpuMs,
            long residentKb,
            long virtualKb,
            long pages,
            long readBytes,
            long writeBytes,
            long khz) {
        public TaskUsage(
                int rank,
                int local,
                int pid,
                List<Integer> pids,
                long cpuMs,
                long residentKb,
                long virtualKb,
                long pages,
                long readBytes,
                long writeBytes) {
            this(rank, local, pid, pids, cpuMs, residentKb, virtualKb, pages, readBytes, writeBytes, 0);
        }
    }

    /** Numbers of jobs from here on are those of steps that slurmctld knows nothing of; no job of its own has one. */
    public static final int UNALLOCATED_FIRST = 1 << 30;

    /**
     * Runs tasks as the caller without an allocation (srun --no-allocate); for root and SlurmUser. Answered when it is
     * on its way: the rest is told on the step's {@code io} stream.
     *
     * @param jobId {@link #UNALLOCATED_FIRST} or more, the caller's choice; the attempt is 1
     * @param step as srun asks for it, its environment included
     * @param ranks of the tasks on this node
     * @param nodeIndex of this node in the step
     * @param limitS seconds that it may run; 0 for ever
     */
    public record RunUnallocated(
            int jobId,
            int stepId,
            StepDesc step,
            List<Integer> ranks,
            int nodeIndex,
            int stepNodes,
            int stepTasks,
            String nodeList,
            String ioToken,
            int limitS) {}

    /** To the tasks of such a step; SIGKILL ends it. Its owner and administrators may. */
    public record SignalUnallocated(int jobId, int stepId, int signal) {}

    /**
     * To a step's tasks on the node while slurmctld is away; SIGKILL ends it there. Its owner and administrators may.
     */
    public record SignalStep(int jobId, int stepId, int signal) {}

    /** Asks a job's other nodes which of its steps they run: its step manager sends it while slurmctld is away. */
    public record QueryJobSteps(int jobId, int attempt) {}

    /**
     * @param connected slurmctld speaks to the node: it is not away
     * @param live steps that run, or are about to
     * @param highest number of a step that the node has heard of; -1 of none
     */
    public record JobStepsReply(boolean connected, List<Integer> live, int highest) {}

    /** Begins a node's part of a step that the job's step manager has made. Answered when the node has stored it. */
    public record TakeStep(Launch launch, StepManaged managed) {}

    /** Ends it again: another of its nodes was not reached. */
    public record DropStep(int stepId, StepManaged managed) {}

    public record Done() {}
}
