package dev.muster.cli.option;

import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.GetOpt.Arg;
import java.util.ArrayList;
import java.util.List;

/**
 * Every option of sbatch (B), srun (R) and salloc (A): names, commands, kind of value, and the environment variables
 * that set it. An environment name without a colon is prefixed for each command ({@code SBATCH_ SLURM_ SALLOC_});
 * {@code B:NAME} belongs to one.
 */
public enum JobOption {
    ACCEL_BIND("accel-bind", 0, Arg.REQUIRED, "R", Kind.SPECIAL, ""),
    ACCOUNT("account", 'A', Arg.REQUIRED, "BRA", Kind.TEXT, "ACCOUNT"),
    ACCTG_FREQ("acctg-freq", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "ACCTG_FREQ"),
    ARRAY("array", 'a', Arg.REQUIRED, "B", Kind.TEXT, "B:SBATCH_ARRAY_INX"),
    ASYNC("async", 0, Arg.NONE, "R", Kind.FLAG, ""),
    BATCH("batch", 0, Arg.REQUIRED, "B", Kind.TEXT, "B:SBATCH_BATCH"),
    BB("bb", 0, Arg.REQUIRED, "BRA", Kind.TEXT, "BURST_BUFFER"),
    BBF("bbf", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    BCAST("bcast", 0, Arg.OPTIONAL, "R", Kind.SPECIAL, "R:SLURM_BCAST"),
    BCAST_EXCLUDE("bcast-exclude", 0, Arg.REQUIRED, "R", Kind.TEXT, "R:SLURM_BCAST_EXCLUDE"),
    BEGIN("begin", 'b', Arg.REQUIRED, "BRA", Kind.MOMENT, ""),
    BELL("bell", 0, Arg.NONE, "A", Kind.FLAG, "A:SALLOC_BELL"),
    CHDIR("chdir", 'D', Arg.REQUIRED, "BRA", Kind.TEXT, "R:SLURM_REMOTE_CWD,R:SLURM_WORKING_DIR"),
    CLUSTER("cluster", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    CLUSTER_CONSTRAINT("cluster-constraint", 0, Arg.REQUIRED, "BRA", Kind.REFUSED, "B:SBATCH_CLUSTER_CONSTRAINT"),
    CLUSTERS("clusters", 'M', Arg.REQUIRED, "BRA", Kind.SPECIAL, "CLUSTERS,B:SLURM_CLUSTERS,A:SLURM_CLUSTERS"),
    COMMENT("comment", 0, Arg.REQUIRED, "BRA", Kind.TEXT, ""),
    COMPRESS("compress", 0, Arg.OPTIONAL, "R", Kind.TEXT, "R:SLURM_COMPRESS"),
    CONSOLIDATE_SEGMENTS("consolidate-segments", 0, Arg.NONE, "BRA", Kind.FLAG, ""),
    CONSTRAINT("constraint", 'C', Arg.REQUIRED, "BRA", Kind.TEXT, "CONSTRAINT"),
    CONTAINER("container", 0, Arg.REQUIRED, "BRA", Kind.TEXT, "B:SBATCH_CONTAINER,R:SRUN_CONTAINER,A:SALLOC_CONTAINER"),
    CONTAINER_ID(
            "container-id",
            0,
            Arg.REQUIRED,
            "BRA",
            Kind.TEXT,
            "B:SBATCH_CONTAINER_ID,R:SRUN_CONTAINER_ID,A:SALLOC_CONTAINER_ID"),
    CONTAINER_TYPE(
            "container-type",
            0,
            Arg.REQUIRED,
            "BRA",
            Kind.TEXT,
            "B:SBATCH_CONTAINER_TYPE,R:SRUN_CONTAINER_TYPE,A:SALLOC_CONTAINER_TYPE"),
    CONTIGUOUS("contiguous", 0, Arg.NONE, "BRA", Kind.FLAG, ""),
    CORE_SPEC("core-spec", 'S', Arg.REQUIRED, "BRA", Kind.NUMBER, "CORE_SPEC"),
    CORES_PER_SOCKET("cores-per-socket", 0, Arg.REQUIRED, "BRA", Kind.COUNT, ""),
    /** The older word for {@link #CPU_BIND}. */
    CPU_BIND_OLD("cpu_bind", 0, Arg.REQUIRED, "R", Kind.SPECIAL, ""),
    CPU_BIND("cpu-bind", 0, Arg.REQUIRED, "R", Kind.SPECIAL, "R:SLURM_CPU_BIND"),
    CPU_FREQ("cpu-freq", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "B:SBATCH_CPU_FREQ_REQ,R:SLURM_CPU_FREQ_REQ"),
    CPUS_PER_GPU("cpus-per-gpu", 0, Arg.REQUIRED, "BRA", Kind.COUNT, "CPUS_PER_GPU"),
    CPUS_PER_TASK("cpus-per-task", 'c', Arg.REQUIRED, "BRA", Kind.COUNT, "R:SLURM_CPUS_PER_TASK"),
    DEADLINE("deadline", 0, Arg.REQUIRED, "BRA", Kind.MOMENT, ""),
    DEBUGGER_TEST("debugger-test", 0, Arg.NONE, "R", Kind.FLAG, ""),
    DELAY_BOOT("delay-boot", 0, Arg.REQUIRED, "BRA", Kind.TIME, "DELAY_BOOT"),
    DEPENDENCY("dependency", 'd', Arg.REQUIRED, "BRA", Kind.TEXT, "R:SLURM_DEPENDENCY"),
    DISABLE_STATUS("disable-status", 'X', Arg.NONE, "R", Kind.FLAG, "R:SLURM_DISABLE_STATUS"),
    DISTRIBUTION("distribution", 'm', Arg.REQUIRED, "BRA", Kind.SPECIAL, "B:SBATCH_DISTRIBUTION,R:SLURM_DISTRIBUTION"),
    EPILOG("epilog", 0, Arg.REQUIRED, "R", Kind.TEXT, "R:SLURM_EPILOG"),
    ERROR("error", 'e', Arg.REQUIRED, "BR", Kind.TEXT, "B:SBATCH_ERROR,R:SRUN_ERROR,R:SLURM_STDERRMODE"),
    EXACT("exact", 0, Arg.NONE, "R", Kind.FLAG, "R:SLURM_EXACT"),
    EXCLUDE("exclude", 'x', Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    EXCLUSIVE("exclusive", 0, Arg.OPTIONAL, "BRA", Kind.SPECIAL, "EXCLUSIVE"),
    EXPORT("export", 0, Arg.REQUIRED, "BR", Kind.TEXT, "B:SBATCH_EXPORT,R:SRUN_EXPORT_ENV,R:SLURM_EXPORT_ENV"),
    EXPORT_FILE("export-file", 0, Arg.REQUIRED, "B", Kind.TEXT, ""),
    EXTERNAL_LAUNCHER("external-launcher", 0, Arg.OPTIONAL, "R", Kind.SPECIAL, ""),
    EXTRA("extra", 0, Arg.REQUIRED, "BRA", Kind.TEXT, ""),
    EXTRA_NODE_INFO("extra-node-info", 'B', Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    GET_USER_ENV("get-user-env", 0, Arg.NONE, "B", Kind.FLAG, "B:SBATCH_GET_USER_ENV"),
    GID("gid", 0, Arg.REQUIRED, "B", Kind.SPECIAL, ""),
    GPU_BIND("gpu-bind", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "GPU_BIND"),
    GPU_FREQ("gpu-freq", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "GPU_FREQ"),
    GPUS("gpus", 'G', Arg.REQUIRED, "BRA", Kind.GRES, "GPUS"),
    GPUS_PER_NODE("gpus-per-node", 0, Arg.REQUIRED, "BRA", Kind.GRES, "GPUS_PER_NODE"),
    GPUS_PER_SOCKET("gpus-per-socket", 0, Arg.REQUIRED, "BRA", Kind.GRES, "GPUS_PER_SOCKET"),
    GPUS_PER_TASK("gpus-per-task", 0, Arg.REQUIRED, "BRA", Kind.GRES, "GPUS_PER_TASK"),
    GRES("gres", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "GRES,R:SLURM_STEP_GRES"),
    GRES_FLAGS("gres-flags", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "GRES_FLAGS"),
    HELP("help", 'h', Arg.NONE, "BRA", Kind.FLAG, ""),
    /** The older word for {@link #HET_GROUP}. */
    PACK_GROUP("pack-group", 0, Arg.REQUIRED, "R", Kind.TEXT, ""),
    HET_GROUP("het-group", 0, Arg.REQUIRED, "R", Kind.TEXT, ""),
    HINT("hint", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "HINT,B:SLURM_HINT,A:SLURM_HINT"),
    HOLD("hold", 'H', Arg.NONE, "BRA", Kind.FLAG, ""),
    IGNORE_PBS("ignore-pbs", 0, Arg.NONE, "B", Kind.FLAG, "B:SBATCH_IGNORE_PBS"),
    IGNORE_SIGNALS("ignore-signals", 0, Arg.REQUIRED, "R", Kind.SPECIAL, ""),
    IMMEDIATE("immediate", 'I', Arg.OPTIONAL, "RA", Kind.SPECIAL, "IMMEDIATE"),
    INPUT("input", 'i', Arg.REQUIRED, "BR", Kind.TEXT, "B:SBATCH_INPUT,R:SRUN_INPUT,R:SLURM_STDINMODE"),
    INTERACTIVE("interactive", 0, Arg.NONE, "R", Kind.FLAG, ""),
    JOB_NAME("job-name", 'J', Arg.REQUIRED, "BRA", Kind.TEXT, "B:SBATCH_JOB_NAME,A:SALLOC_JOB_NAME,R:SLURM_JOB_NAME"),
    JOBID("jobid", 0, Arg.REQUIRED, "R", Kind.SPECIAL, "R:SLURM_JOB_ID,R:SLURM_JOBID"),
    KILL_COMMAND("kill-command", 'K', Arg.OPTIONAL, "A", Kind.SPECIAL, "A:SALLOC_KILL_CMD"),
    KILL_ON_BAD_EXIT("kill-on-bad-exit", 'K', Arg.OPTIONAL, "R", Kind.SPECIAL, "R:SLURM_KILL_BAD_EXIT"),
    KILL_ON_INVALID_DEP("kill-on-invalid-dep", 0, Arg.REQUIRED, "B", Kind.SPECIAL, ""),
    LABEL("label", 'l', Arg.NONE, "R", Kind.FLAG, "R:SLURM_LABELIO"),
    LICENSES("licenses", 'L', Arg.REQUIRED, "BRA", Kind.TEXT, ""),
    MAIL_TYPE("mail-type", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    MAIL_USER("mail-user", 0, Arg.REQUIRED, "BRA", Kind.TEXT, ""),
    MCS_LABEL("mcs-label", 0, Arg.REQUIRED, "BRA", Kind.TEXT, ""),
    MEM("mem", 0, Arg.REQUIRED, "BRA", Kind.MEM, "MEM_PER_NODE"),
    MEM_BIND("mem-bind", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "MEM_BIND"),
    MEM_UPDATE("mem-update", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    MEM_PER_CPU("mem-per-cpu", 0, Arg.REQUIRED, "BRA", Kind.MEM, "MEM_PER_CPU"),
    MEM_PER_GPU("mem-per-gpu", 0, Arg.REQUIRED, "BRA", Kind.MEM, "MEM_PER_GPU"),
    MINCPUS("mincpus", 0, Arg.REQUIRED, "BRA", Kind.COUNT, ""),
    MPI("mpi", 0, Arg.REQUIRED, "R", Kind.TEXT, "R:SLURM_MPI_TYPE"),
    MSG_TIMEOUT("msg-timeout", 0, Arg.REQUIRED, "R", Kind.COUNT, ""),
    MULTI_PROG("multi-prog", 0, Arg.NONE, "R", Kind.FLAG, ""),
    NETWORK("network", 0, Arg.REQUIRED, "BRA", Kind.TEXT, "NETWORK"),
    NICE("nice", 0, Arg.OPTIONAL, "BRA", Kind.SPECIAL, ""),
    NO_ALLOCATE("no-allocate", 'Z', Arg.NONE, "R", Kind.FLAG, ""),
    NO_BELL("no-bell", 0, Arg.NONE, "A", Kind.FLAG, "A:SALLOC_NO_BELL"),
    NO_KILL("no-kill", 'k', Arg.OPTIONAL, "BRA", Kind.SPECIAL, "NO_KILL"),
    NO_REQUEUE("no-requeue", 0, Arg.NONE, "B", Kind.FLAG, "B:SBATCH_NO_REQUEUE"),
    NO_SHELL("no-shell", 0, Arg.NONE, "A", Kind.FLAG, ""),
    NODEFILE("nodefile", 'F', Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    NODELIST("nodelist", 'w', Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    NODES("nodes", 'N', Arg.REQUIRED, "BRA", Kind.SPECIAL, "R:SLURM_JOB_NUM_NODES,R:SLURM_NNODES"),
    NTASKS("ntasks", 'n', Arg.REQUIRED, "BRA", Kind.COUNT, "R:SLURM_NTASKS,R:SLURM_NPROCS"),
    NTASKS_PER_CORE("ntasks-per-core", 0, Arg.REQUIRED, "BRA", Kind.COUNT, "R:SLURM_NTASKS_PER_CORE"),
    NTASKS_PER_GPU(
            "ntasks-per-gpu", 0, Arg.REQUIRED, "BRA", Kind.COUNT, "R:SLURM_NTASKS_PER_GPU,R:SLURM_NTASKS_PER_TRES"),
    NTASKS_PER_NODE("ntasks-per-node", 0, Arg.REQUIRED, "BRA", Kind.COUNT, "R:SLURM_NTASKS_PER_NODE"),
    NTASKS_PER_SOCKET("ntasks-per-socket", 0, Arg.REQUIRED, "BRA", Kind.COUNT, "R:SLURM_NTASKS_PER_SOCKET"),
    /** Another word for {@link #NTASKS_PER_NODE}. */
    TASKS_PER_NODE("tasks-per-node", 0, Arg.REQUIRED, "BRA", Kind.COUNT, ""),
    /** The older word for {@link #NTASKS_PER_GPU}. */
    NTASKS_PER_TRES("ntasks-per-tres", 0, Arg.REQUIRED, "BRA", Kind.COUNT, ""),
    OOM_KILL_STEP("oom-kill-step", 0, Arg.OPTIONAL, "BRA", Kind.SPECIAL, "OOMKILLSTEP"),
    OPEN_MODE("open-mode", 0, Arg.REQUIRED, "BR", Kind.SPECIAL, "OPEN_MODE"),
    OUTPUT("output", 'o', Arg.REQUIRED, "BR", Kind.TEXT, "B:SBATCH_OUTPUT,R:SRUN_OUTPUT,R:SLURM_STDOUTMODE"),
    OVERCOMMIT("overcommit", 'O', Arg.NONE, "BRA", Kind.FLAG, "OVERCOMMIT"),
    OVERLAP("overlap", 0, Arg.NONE, "R", Kind.FLAG, "R:SLURM_OVERLAP"),
    OVERSUBSCRIBE("oversubscribe", 's', Arg.NONE, "BRA", Kind.FLAG, ""),
    PARSABLE("parsable", 0, Arg.NONE, "BR", Kind.FLAG, ""),
    PARTITION("partition", 'p', Arg.REQUIRED, "BRA", Kind.TEXT, "PARTITION"),
    PREFER("prefer", 0, Arg.REQUIRED, "BRA", Kind.TEXT, ""),
    PRESERVE_ENV("preserve-env", 'E', Arg.NONE, "R", Kind.FLAG, "R:SLURM_PRESERVE_ENV"),
    PRIORITY("priority", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, ""),
    PROFILE("profile", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "PROFILE"),
    PROLOG("prolog", 0, Arg.REQUIRED, "R", Kind.TEXT, "R:SLURM_PROLOG"),
    PROPAGATE("propagate", 0, Arg.OPTIONAL, "BR", Kind.SPECIAL, ""),
    PTY("pty", 0, Arg.OPTIONAL, "R", Kind.FLAG, ""),
    QOS("qos", 'q', Arg.REQUIRED, "BRA", Kind.TEXT, "QOS"),
    QUIET("quiet", 'Q', Arg.NONE, "BRA", Kind.FLAG, ""),
    QUIT_ON_INTERRUPT("quit-on-interrupt", 0, Arg.NONE, "R", Kind.FLAG, ""),
    REBOOT("reboot", 0, Arg.NONE, "BRA", Kind.FLAG, ""),
    RELATIVE("relative", 'r', Arg.REQUIRED, "R", Kind.NUMBER, ""),
    REQUEUE("requeue", 0, Arg.OPTIONAL, "B", Kind.SPECIAL, "B:SBATCH_REQUEUE"),
    RESOURCES("resources", 0, Arg.REQUIRED, "BRA", Kind.TEXT, ""),
    RESERVATION("reservation", 0, Arg.REQUIRED, "BRA", Kind.TEXT, "RESERVATION"),
    RESV_PORTS("resv-ports", 0, Arg.OPTIONAL, "BRA", Kind.SPECIAL, "R:SLURM_RESV_PORTS"),
    SEGMENT(
            "segment",
            0,
            Arg.REQUIRED,
            "BRA",
            Kind.SPECIAL,
            "B:SBATCH_SEGMENT_SIZE,R:SRUN_SEGMENT_SIZE,A:SALLOC_SEGMENT_SIZE"),
    SEND_LIBS("send-libs", 0, Arg.OPTIONAL, "R", Kind.SPECIAL, "R:SLURM_SEND_LIBS"),
    SIGNAL("signal", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "SIGNAL"),
    SLURMD_DEBUG("slurmd-debug", 0, Arg.REQUIRED, "R", Kind.SPECIAL, "R:SLURMD_DEBUG"),
    SOCKETS_PER_NODE("sockets-per-node", 0, Arg.REQUIRED, "BRA", Kind.COUNT, ""),
    SPREAD_JOB("spread-job", 0, Arg.NONE, "BRA", Kind.FLAG, "SPREAD_JOB"),
    SPREAD_SEGMENTS("spread-segments", 0, Arg.NONE, "BRA", Kind.FLAG, ""),
    /** SLURM_STEPMGR is not among its variables: it tells a job the node that manages its steps. */
    STEPMGR("stepmgr", 0, Arg.NONE, "BRA", Kind.FLAG, "B:SBATCH_STEPMGR,A:SALLOC_STEPMGR"),
    SWITCHES("switches", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "REQ_SWITCH"),
    TASK_EPILOG("task-epilog", 0, Arg.REQUIRED, "R", Kind.TEXT, "R:SLURM_TASK_EPILOG"),
    TASK_PROLOG("task-prolog", 0, Arg.REQUIRED, "R", Kind.TEXT, "R:SLURM_TASK_PROLOG"),
    TEST_ONLY("test-only", 0, Arg.NONE, "BR", Kind.FLAG, ""),
    THREAD_SPEC("thread-spec", 0, Arg.REQUIRED, "BRA", Kind.COUNT, "THREAD_SPEC"),
    THREADS("threads", 'T', Arg.REQUIRED, "R", Kind.COUNT, "R:SLURM_THREADS"),
    THREADS_PER_CORE("threads-per-core", 0, Arg.REQUIRED, "BRA", Kind.COUNT, "THREADS_PER_CORE"),
    TIME("time", 't', Arg.REQUIRED, "BRA", Kind.TIME, "TIMELIMIT"),
    TIME_MIN("time-min", 0, Arg.REQUIRED, "BRA", Kind.TIME, ""),
    TMP("tmp", 0, Arg.REQUIRED, "BRA", Kind.MEM, ""),
    TREE_WIDTH("treewidth", 0, Arg.REQUIRED, "R", Kind.TEXT, "R:SLURM_TREE_WIDTH"),
    TRES_BIND("tres-bind", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "TRES_BIND"),
    TRES_PER_TASK("tres-per-task", 0, Arg.REQUIRED, "BRA", Kind.SPECIAL, "TRES_PER_TASK"),
    UID("uid", 0, Arg.REQUIRED, "B", Kind.SPECIAL, ""),
    UNBUFFERED("unbuffered", 'u', Arg.NONE, "R", Kind.FLAG, "R:SLURM_UNBUFFEREDIO"),
    USAGE("usage", 0, Arg.NONE, "BRA", Kind.FLAG, ""),
    USE_MIN_NODES("use-min-nodes", 0, Arg.NONE, "BRA", Kind.FLAG, "USE_MIN_NODES"),
    VERBOSE("verbose", 'v', Arg.NONE, "BRA", Kind.SPECIAL, "DEBUG"),
    VERSION("version", 'V', Arg.NONE, "BRA", Kind.FLAG, ""),
    WAIT("wait", 'W', Arg.NONE, "B", Kind.FLAG, "B:SBATCH_WAIT"),
    WAIT_SECONDS("wait", 'W', Arg.REQUIRED, "R", Kind.NUMBER, "R:SLURM_WAIT"),
    WAIT_ALL_NODES("wait-all-nodes", 0, Arg.REQUIRED, "BA", Kind.SPECIAL, "WAIT_ALL_NODES"),
    WAIT_FOR_CHILDREN("wait-for-children", 0, Arg.NONE, "R", Kind.FLAG, "R:SLURM_WAIT_FOR_CHILDREN"),
    WCKEY("wckey", 0, Arg.REQUIRED, "BRA", Kind.TEXT, "WCKEY"),
    WHOLE("whole", 0, Arg.NONE, "R", Kind.FLAG, ""),
    WRAP("wrap", 0, Arg.REQUIRED, "B", Kind.TEXT, ""),
    X11("x11", 0, Arg.OPTIONAL, "RA", Kind.SPECIAL, "");

    /** The check of a value. */
    public enum Kind {
        FLAG,
        TEXT,
        /** A number of at least one. */
        COUNT,
        /** A number of at least zero. */
        NUMBER,
        TIME,
        MOMENT,
        MEM,
        GRES,
        /** A rule of its own in {@link OptionCheck}. */
        SPECIAL,
        /** Known, but nothing here can honour it yet: refused, not dropped. */
        REFUSED
    }

    private static final JobOption[] ALL = values();

    public final String longName;
    final char letter;
    public final Arg arg;
    final String takers;
    public final Kind kind;
    private final String variables;

    JobOption(String longName, int letter, Arg arg, String takers, Kind kind, String variables) {
        this.longName = longName;
        this.letter = (char) letter;
        this.arg = arg;
        this.takers = takers;
        this.kind = kind;
        this.variables = variables;
    }

    /** The option that an older word means; of any other option itself. */
    JobOption standsFor() {
        return switch (this) {
            case NTASKS_PER_TRES -> NTASKS_PER_GPU;
            case TASKS_PER_NODE -> NTASKS_PER_NODE;
            case CLUSTER -> CLUSTERS;
            case CPU_BIND_OLD -> CPU_BIND;
            case PACK_GROUP -> HET_GROUP;
            default -> this;
        };
    }

    public boolean takenBy(char command) {
        return takers.indexOf(command) >= 0;
    }

    /** The table for {@link GetOpt}; entry i belongs to {@link #of}(command, i). */
    public static List<GetOpt.Opt> table(char command) {
        List<GetOpt.Opt> out = new ArrayList<>(ALL.length);
        for (JobOption option : ALL) {
            if (option.takenBy(command)) {
                out.add(new GetOpt.Opt(option.longName, option.letter, option.arg));
            }
        }
        return out;
    }

    public static JobOption of(char command, String longName) {
        for (JobOption option : ALL) {
            if (option.takenBy(command) && option.longName.equals(longName)) {
                return option;
            }
        }
        throw new IllegalArgumentException(longName);
    }

    /** The environment variables of this option for a command, the weaker ones first. */
    public List<String> variables(char command) {
        List<String> out = new ArrayList<>();
        if (variables.isEmpty() || !takenBy(command)) {
            return out;
        }
        String prefix;
        if (command == 'B') {
            prefix = "SBATCH_";
        } else if (command == 'R') {
            prefix = "SLURM_";
        } else {
            prefix = "SALLOC_";
        }

        int index = 0;
        while (index < variables.length()) {
            int comma = variables.indexOf(',', index);
            int end = comma < 0 ? variables.length() : comma;
            String value = variables.substring(index, end);
            if (value.length() < 2 || value.charAt(1) != ':') {
                out.addFirst(prefix + value);
            } else if (value.charAt(0) == command) {
                out.addFirst(value.substring(2));
            }
            index = end + 1;
        }
        return out;
    }
}
