package dev.muster.model.node;

import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.StepId;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.job.UsageSample;
import java.util.List;
import java.util.Map;

/** Messages on the stream between slurmd and slurmctld. */
public final class NodeMessages {
    private NodeMessages() {}

    /** Step numbers with a meaning of their own. */
    public static final int STEP_BATCH = StepId.BATCH;

    public static final int STEP_EXTERN = StepId.EXTERN;

    /** Messages that a node sends. */
    public sealed interface ToController {}

    /**
     * The first frame after a connect.
     *
     * @param bootId of the node's kernel: a launch names it
     * @param startTime of this slurmd, seconds since 1970
     * @param attempts every job attempt the node knows: alive or with something unacknowledged
     * @param dynamic of slurmd -Z: its line as it would stand in slurm.conf; else ""
     * @param extra for the node's Extra=, "" to leave that as it is
     * @param features that it can be rebooted with; active: those of them that it has now
     * @param instanceId of a cloud; "" to leave it, as its type, as it is
     * @param highestJobId of those that were ever launched there, as far as the node remembers; 0 for none
     * @param changed when they were changed without a reboot, seconds since 1970; 0: never since slurmd started
     */
    public record Register(
            String node,
            String cluster,
            String bootId,
            String version,
            long startTime,
            Hardware hardware,
            List<Attempt> attempts,
            String dynamic,
            String extra,
            List<String> features,
            List<String> active,
            long changed,
            String instanceId,
            String instanceType,
            int highestJobId)
            implements ToController {
        public Register(
                String node,
                String cluster,
                String bootId,
                String version,
                long startTime,
                Hardware hardware,
                List<Attempt> attempts,
                String dynamic,
                String extra) {
            this(
                    node, cluster, bootId, version, startTime, hardware, attempts, dynamic, extra, List.of(), List.of(),
                    0, "", "", 0);
        }

        /** The message with the highest job number that was launched on the node. */
        public Register knowing(int jobId) {
            return new Register(
                    node,
                    cluster,
                    bootId,
                    version,
                    startTime,
                    hardware,
                    attempts,
                    dynamic,
                    extra,
                    features,
                    active,
                    changed,
                    instanceId,
                    instanceType,
                    jobId);
        }

        public Register with(List<String> can, List<String> has) {
            return new Register(
                    node,
                    cluster,
                    bootId,
                    version,
                    startTime,
                    hardware,
                    attempts,
                    dynamic,
                    extra,
                    can,
                    has,
                    changed,
                    instanceId,
                    instanceType,
                    highestJobId);
        }
    }

    public record Hardware(
            int cpus,
            int boards,
            int sockets,
            int coresPerSocket,
            int threadsPerCore,
            long memoryMb,
            long tmpDiskMb,
            String gres,
            String architecture,
            String operatingSystem,
            long bootTime) {}

    /**
     * @param steps running on the node
     * @param done the attempt is over on this node: the last StepExited/JobDone are unacknowledged and follow
     */
    public record Attempt(int jobId, int attempt, String bootId, List<Integer> steps, boolean done) {}

    /** @param load hundredths; metered: the watts now and since slurmd started are known */
    public record Heartbeat(int load, long freeMemoryMb, boolean metered, int watts, int averageWatts)
            implements ToController {
        /** A heartbeat of a node without a power meter. */
        public Heartbeat(int load, long freeMemoryMb) {
            this(load, freeMemoryMb, false, 0, 0);
        }
    }

    /**
     * The outcome of a {@link Relay}, reported in parts. The node does not store it: a controller that does not receive
     * a part sends those launches itself.
     *
     * @param reached have the launch
     * @param missed have it not, or it is not known
     */
    public record Relayed(long id, List<String> reached, List<String> missed) implements ToController {}

    /** The batch script, extern step or tasks of a step have been started. seq as in {@link JobDone}. */
    public record StepLaunched(long seq, int jobId, int attempt, int stepId, List<Integer> pids)
            implements ToController {}

    /** A launch that failed before any task ran. */
    public record LaunchFailed(
            long seq, int jobId, int attempt, int stepId, String reason, boolean nodeFault, boolean drain)
            implements ToController {
        /** The reason where the user's environment was needed and could not be had. */
        public static final String NO_ENVIRONMENT = "Job env setup error";
        /** The reason where the site's Prolog failed. */
        public static final String PROLOG_ERROR = "Prolog error";
    }

    /**
     * All tasks of the step on this node have ended.
     *
     * @param tasks rank → exit
     * @param reason "" or why the node ended it: TimeLimit, OutOfMemory, StepdKilled, …
     */
    public record StepExited(
            long seq,
            int jobId,
            int attempt,
            int stepId,
            Map<String, ExitStatus> tasks,
            String reason,
            long endTimeMs,
            Usage usage)
            implements ToController {}

    /**
     * Times in microseconds, memory in KiB, disk and network in bytes, energy in joules: sums over the step's tasks on
     * this node, maxima where so named. Energy and network are those of the whole node in the step's time; 0 where
     * there is no meter.
     *
     * @param peaks of single tasks
     * @param cpuKhz how fast their CPUs ran, each moment weighted by the CPU time that they used then; 0 where the
     *     kernel does not say
     * @param metered file systems and GPUs
     */
    public record Usage(
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
        /** Nothing is known. */
        public static final Usage NONE = new Usage(0, 0, 0, 0, 0, 0, 0);

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

        /** Adds the readings of the node's meters. */
        public Usage with(long joules, long inBytes, long outBytes, long fsRead, long fsWritten) {
            return new Usage(
                    userCpuUs,
                    systemCpuUs,
                    maxRssKb,
                    maxVmKb,
                    readBytes,
                    writeBytes,
                    maxPages,
                    joules,
                    inBytes,
                    outBytes,
                    peaks,
                    cpuKhz,
                    metered.withFs(fsRead, fsWritten));
        }
    }

    /** A task has asked, by PMI, that the whole step is ended. seq as in {@link JobDone}. */
    public record StepAborted(long seq, int jobId, int attempt, int stepId) implements ToController {}

    /**
     * A step that the job's step manager began while slurmctld was away. Each of the step's nodes says it, before
     * anything else of the step, so that whichever comes first makes it known. seq as in {@link JobDone}.
     *
     * @param uid user that asked for the step in that request
     * @param step the core's record of it
     * @param missed nodes of it that could not be told to begin it: it was ended on the others
     */
    public record StepManaged(
            long seq, int jobId, int attempt, int uid, String requestId, Bytes step, List<String> missed)
            implements ToController {
        public StepManaged numbered(long number) {
            return new StepManaged(number, jobId, attempt, uid, requestId, step, missed);
        }
    }

    /** Something is wrong with the node: nothing new is to go there. seq as in {@link JobDone}. */
    public record NodeTrouble(long seq, String reason) implements ToController {}

    /**
     * Nothing of the attempt is left on the node and its epilog ran.
     *
     * @param seq grows per node; kept on the node until an {@link Ack} reaches it
     * @param epilogError "" or the reason to drain the node for
     */
    public record JobDone(long seq, int jobId, int attempt, String epilogError) implements ToController {}

    /** Prolog of the job has run on this node. */
    public record PrologDone(long seq, int jobId, int attempt, String error) implements ToController {}

    /**
     * Bytes read for {@link ReadFile}.
     *
     * @param offset of the first byte
     * @param size of the file when it was opened; -1 if there is none that the user may read
     * @param error why it could not be read at all, "" otherwise
     * @param file tells this file from another one of the same name; "" where there is none, and of older nodes
     */
    public record FileRead(long id, long offset, long size, Bytes data, String error, String file)
            implements ToController {
        /** Nothing was read. */
        public FileRead(long id, String error) {
            this(id, 0, -1, Bytes.EMPTY, error, "");
        }
    }

    /**
     * Samples of a job's steps, for {@link ReadUse}.
     *
     * @param error why nothing could be read, "" otherwise
     */
    public record UseRead(long id, List<StepUse> steps, String error) implements ToController {}

    /** A step on one node, as it was looked at from time to time; earliest first. */
    public record StepUse(int stepId, List<UsePoint> points) {}

    /**
     * All tasks of a step on a node together.
     *
     * @param time seconds since 1970
     * @param cpuMs since the step's begin, milliseconds, without tasks that have ended; the bytes as well
     */
    public record UsePoint(long time, long cpuMs, long residentKb, long readBytes, long writtenBytes) {}

    /** Messages that the controller sends. */
    public sealed interface ToNode {}

    /**
     * The registration is accepted: the settings the node needs from the controller's configuration.
     *
     * @param staleRelay relayed launches up to this number are not to be begun any more: what is still wanted of them
     *     follows
     */
    public record Welcome(long term, int heartbeatSeconds, long staleRelay) implements ToNode {
        public Welcome(long term, int heartbeatSeconds) {
            this(term, heartbeatSeconds, 0);
        }
    }

    /**
     * Launches for the node, which is the first part's, and for others that it passes them on to. Travels between
     * slurmds as well.
     *
     * @param id grows with each relayed launch of a controller, and from one controller to the next
     * @param width for the tree below
     */
    public record Relay(long id, int width, SharedLaunch launches) implements ToNode {}

    /** Relayed launches up to this number are not to be begun any more: the controller speaks to the node itself. */
    public record StaleRelay(long id) implements ToNode {}

    /**
     * The registration is refused; the node logs it, closes and tries again later.
     *
     * @param forGood not before slurmd is started again
     */
    public record Refused(String error, boolean forGood) implements ToNode {}

    /** Everything up to seq is durable at the controller and may be forgotten. */
    public record Ack(long seq) implements ToNode {}

    /**
     * Makes the node's share of a job known and, where configured, runs the prolog. Sent before any step's launch;
     * idempotent.
     *
     * @param environment for prolog and epilog
     * @param cpus abstract core ids of the node given to the job, for example {@code 0-3,8}
     * @param gres {@code gpu:0,1} device indices per GRES name
     * @param secondsLeft seconds from now until the time limit; -1 none
     * @param sampleSeconds between two looks at its processes; 0 for the node's own
     * @param x11Cookie of the display that windows opened on this node are to appear on; "" for none
     * @param channel one more than the number of the channel of the fabric that the job has on this node; 0 for none
     */
    public record JobShare(
            int jobId,
            int attempt,
            String bootId,
            Identity owner,
            List<String> environment,
            String cpus,
            long memoryMb,
            Map<String, String> gres,
            long secondsLeft,
            int killWaitSeconds,
            boolean externStep,
            Bytes jobName,
            int sampleSeconds,
            String x11Cookie,
            int channel) {

        /** A share without a channel. */
        public JobShare(
                int jobId,
                int attempt,
                String bootId,
                Identity owner,
                List<String> environment,
                String cpus,
                long memoryMb,
                Map<String, String> gres,
                long secondsLeft,
                int killWaitSeconds,
                boolean externStep,
                Bytes jobName,
                int sampleSeconds,
                String x11Cookie) {
            this(
                    jobId,
                    attempt,
                    bootId,
                    owner,
                    environment,
                    cpus,
                    memoryMb,
                    gres,
                    secondsLeft,
                    killWaitSeconds,
                    externStep,
                    jobName,
                    sampleSeconds,
                    x11Cookie,
                    0);
        }

        public JobShare withMemory(long mb) {
            return new JobShare(
                    jobId,
                    attempt,
                    bootId,
                    owner,
                    environment,
                    cpus,
                    mb,
                    gres,
                    secondsLeft,
                    killWaitSeconds,
                    externStep,
                    jobName,
                    sampleSeconds,
                    x11Cookie,
                    channel);
        }

        /** Adds environment variables of the job that were set since. */
        public JobShare and(List<String> more) {
            List<String> all = new java.util.ArrayList<>(environment);
            all.addAll(more);
            return new JobShare(
                    jobId,
                    attempt,
                    bootId,
                    owner,
                    List.copyOf(all),
                    cpus,
                    memoryMb,
                    gres,
                    secondsLeft,
                    killWaitSeconds,
                    externStep,
                    jobName,
                    sampleSeconds,
                    x11Cookie,
                    channel);
        }
    }

    /**
     * Starts one step's tasks on this node.
     *
     * @param share of the job on this node, so that a launch stands alone
     * @param stepId number or one of the STEP constants
     * @param tasks this node's tasks
     * @param environment all entries that are equal for all tasks; the task's own follow in {@link Task}
     * @param script of a batch step: bytes of the script
     * @param step of a numbered step: as asked for (streams, pty, cpu-bind, prologs); of a batch step only its
     *     container
     * @param nodeIndex of this node in the step
     * @param gres device indices of the step by GRES name, as in {@link JobShare}
     * @param mpi with {@code --mpi=pmi2} or pmix: all nodes of the step in their order, else none
     * @param userEnvironment the variables of a fresh login of the user go before those of environment
     */
    public record Launch(
            JobShare share,
            int stepId,
            List<Task> tasks,
            List<Bytes> environment,
            Bytes script,
            StepDesc step,
            Bytes workDir,
            int umask,
            Map<String, Long> limits,
            Bytes stdin,
            Bytes stdout,
            Bytes stderr,
            boolean append,
            int nodeIndex,
            int stepNodes,
            int stepTasks,
            long secondsLeft,
            String ioToken,
            long memoryMb,
            String nodeList,
            boolean userEnvironment,
            Map<String, String> gres,
            List<MpiNode> mpi)
            implements ToNode {

        /** A launch of a step without PMI. */
        public Launch(
                JobShare share,
                int stepId,
                List<Task> tasks,
                List<Bytes> environment,
                Bytes script,
                StepDesc step,
                Bytes workDir,
                int umask,
                Map<String, Long> limits,
                Bytes stdin,
                Bytes stdout,
                Bytes stderr,
                boolean append,
                int nodeIndex,
                int stepNodes,
                int stepTasks,
                long secondsLeft,
                String ioToken,
                long memoryMb,
                String nodeList,
                boolean userEnvironment,
                Map<String, String> gres) {
            this(
                    share,
                    stepId,
                    tasks,
                    environment,
                    script,
                    step,
                    workDir,
                    umask,
                    limits,
                    stdin,
                    stdout,
                    stderr,
                    append,
                    nodeIndex,
                    stepNodes,
                    stepTasks,
                    secondsLeft,
                    ioToken,
                    memoryMb,
                    nodeList,
                    userEnvironment,
                    gres,
                    List.of());
        }

        public Launch with(List<MpiNode> nodes) {
            return new Launch(
                    share,
                    stepId,
                    tasks,
                    environment,
                    script,
                    step,
                    workDir,
                    umask,
                    limits,
                    stdin,
                    stdout,
                    stderr,
                    append,
                    nodeIndex,
                    stepNodes,
                    stepTasks,
                    secondsLeft,
                    ioToken,
                    memoryMb,
                    nodeList,
                    userEnvironment,
                    gres,
                    nodes);
        }

        public Launch withTasks(List<Task> others) {
            return new Launch(
                    share,
                    stepId,
                    others,
                    environment,
                    script,
                    step,
                    workDir,
                    umask,
                    limits,
                    stdin,
                    stdout,
                    stderr,
                    append,
                    nodeIndex,
                    stepNodes,
                    stepTasks,
                    secondsLeft,
                    ioToken,
                    memoryMb,
                    nodeList,
                    userEnvironment,
                    gres,
                    mpi);
        }

        public Launch withEnvironment(List<Bytes> entries) {
            return new Launch(
                    share,
                    stepId,
                    tasks,
                    entries,
                    script,
                    step,
                    workDir,
                    umask,
                    limits,
                    stdin,
                    stdout,
                    stderr,
                    append,
                    nodeIndex,
                    stepNodes,
                    stepTasks,
                    secondsLeft,
                    ioToken,
                    memoryMb,
                    nodeList,
                    userEnvironment,
                    gres,
                    mpi);
        }
    }

    /**
     * A node of a step whose tasks speak PMI, by its place among these.
     *
     * @param jobId of the job that has it, which differs within a step over several components of a heterogeneous job
     * @param stepId that it knows the step by, which differs within a heterogeneous step of one job
     * @param tasks on it, {@code 0-3,8}
     */
    public record MpiNode(String node, int jobId, int stepId, String tasks) {}

    /**
     * The first frame on the {@code mpi} stream: from a node's slurmd to that of its parent in the step's tree.
     *
     * @param index of the child
     */
    public record MpiAttach(int jobId, int stepId, int index) {}

    /**
     * @param rank global
     * @param local index on this node
     * @param cpus logical CPUs it may use, list form; "" for no affinity
     * @param arguments argv, none for those of the step; argv[0] is looked up in PATH on the node
     */
    public record Task(int rank, int local, String cpus, List<Bytes> arguments, List<Bytes> environment) {}

    /**
     * Makes the share known without launching a step.
     *
     * @param runProlog now, and answer PrologDone (PrologFlags=Alloc)
     */
    public record Prepare(JobShare share, boolean runProlog) implements ToNode {}

    /**
     * Sends a signal.
     *
     * @param stepId one step, or {@link Integer#MIN_VALUE} for all steps of the job
     * @param batchShell the batch step's shell only
     * @param full batch shell and all its children as well
     */
    public record Signal(int jobId, int attempt, int stepId, int signal, boolean batchShell, boolean full)
            implements ToNode {}

    /** Ends the step: SIGCONT, SIGTERM, SIGKILL after killWait. reason is reported in {@link StepExited}. */
    public record EndStep(int jobId, int attempt, int stepId, int killWaitSeconds, String reason) implements ToNode {}

    /** Ends the whole attempt on this node (as EndStep for all steps), runs the epilog, answers {@link JobDone}. */
    public record EndJob(int jobId, int attempt, int killWaitSeconds, String reason, List<String> environment)
            implements ToNode {
        public EndJob(int jobId, int attempt, int killWaitSeconds, String reason) {
            this(jobId, attempt, killWaitSeconds, reason, List.of());
        }
    }

    /** Stops or continues all processes of the attempt. */
    public record Suspend(int jobId, int attempt, boolean stop) implements ToNode {}

    /** A new time limit: seconds from now, -1 none. */
    public record SetTimeLimit(int jobId, int attempt, long secondsLeft) implements ToNode {}

    /** Reduces a job's memory on the node to that many mebibytes. */
    public record SetMemory(int jobId, int attempt, long memoryMb) implements ToNode {}

    /** Answered with {@link MemoryUsed}. */
    public record MeasureMemory(int jobId, int attempt) implements ToNode {}

    /** Writes the words to the standard error of the step's first task on the node. */
    public record Notify(int jobId, int attempt, int stepId, String text) implements ToNode {}

    /**
     * What the first node of a job needs to begin steps of it while slurmctld is away (--stepmgr).
     *
     * @param whole the entry rebuilds what is known of the job; else it is what has happened since
     * @param entry of the core, with nothing in it but this job, its nodes and the settings
     */
    public record Charter(int jobId, int attempt, boolean whole, Bytes entry) implements ToNode {}

    /** Read the configuration again. */
    public record ReadConfig() implements ToNode {}

    /**
     * How much slurmd logs until it reads its configuration again.
     *
     * @param level as SlurmdDebug
     */
    public record SetDebug(String level) implements ToNode {}

    /**
     * Resident memory of all processes of a job's steps on the node, in KiB. A lost message does no harm: slurmctld
     * asks again.
     */
    public record MemoryUsed(int jobId, int attempt, long residentKb) implements ToController {}

    /** Runs HealthCheckProgram. */
    public record CheckHealth() implements ToNode {}

    /**
     * Runs RebootProgram, or that of the PowerAction.
     *
     * @param features that the node is to have afterwards
     * @param action "" for none
     */
    public record Reboot(List<String> features, String action) implements ToNode {}

    /** End the daemon ({@code scontrol shutdown}); running jobs go on. */
    public record StopDaemon() implements ToNode {}

    /**
     * Reads a file as a user; answered by {@link FileRead} with the same id, at the latest when the time is over.
     *
     * @param job its view of the file system is used, if it has one of its own and still runs
     * @param offset from the beginning, below 0 from the end
     * @param maxBytes of the answer
     * @param waitMs for the first byte behind the offset
     * @param file of which the offset is, as {@link FileRead} said it: another one is read from its beginning; "" for
     *     any
     */
    public record ReadFile(
            long id, Identity owner, int job, Bytes path, long offset, int maxBytes, int waitMs, String file)
            implements ToNode {}

    /** Asks for the use of a job's attempt on the node over time; answered by {@link UseRead} with the same id. */
    public record ReadUse(long id, int jobId, int attempt) implements ToNode {}

    /**
     * The first frame of srun (or sattach) on a node's {@code io} stream; stepd's frames follow both ways.
     *
     * @param token of {@code Launch.ioToken}
     * @param observer sattach: sees output, gives no input and releases nothing
     * @param relayed what is said of the node as a whole carries the number of its first task, rank, by which a relay's
     *     client knows it
     * @param width for the tree below
     * @param behind nodes of the step that this one is to reach; never for an observer
     */
    public record IoAttach(
            int jobId,
            int attempt,
            int stepId,
            String token,
            boolean observer,
            boolean relayed,
            int rank,
            int width,
            List<Behind> behind) {
        public IoAttach(int jobId, int attempt, int stepId, String token, boolean observer) {
            this(jobId, attempt, stepId, token, observer, false, 0, 0, List.of());
        }
    }

    /**
     * A node behind a relay, which knows itself where that is.
     *
     * @param tasks on it, {@code 0-3,8}
     */
    public record Behind(String node, String tasks) {}

    /**
     * The first frame of srun or salloc on a node's {@code x11} stream. The one without a connection stays open: over
     * it the node tells of each window program that wants to reach the display, and a further stream then carries what
     * that says, both ways.
     *
     * @param attempt 0 for the newest
     * @param connection 0, or one that an {@link X11Connect} named
     */
    public record X11Attach(int jobId, int attempt, int connection) {}

    /** A program has connected to the display of the node. */
    public record X11Connect(int connection) {}
}
