package dev.muster.node.config;

import dev.muster.config.sister.CertmgrConf;
import dev.muster.config.sister.HelpersConf;
import dev.muster.config.sister.JobContainerConf;
import dev.muster.config.sister.MpiConf;
import dev.muster.config.sister.OciConf;
import dev.muster.config.sister.ProfileConf;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What slurmd takes from the configuration, ready for use: every %n and %h is replaced.
 *
 * @param controllers addresses to register at, in order
 * @param port of this slurmd
 * @param connectMs for a connection to slurmctld (TCPTimeout)
 * @param listenAt the address that it listens at, "" for all
 * @param prologs programs in order, as the epilogs
 * @param slurmUserId may connect and give orders, as root
 * @param confinement control groups
 * @param bindTasks tasks are bound to their CPUs (TaskPlugin=task/affinity, or task/cgroup with ConstrainCores)
 * @param pollMemory end a step whose processes exceed their memory (JobAcctGatherParams=OverMemoryKill)
 * @param stepd the slurmstepd program
 * @param configFile for SLURM_CONF in prologs and jobs
 * @param gres of this node as configured, {@code gpu:a100:4}
 * @param logTimeFormat LogTimeFormat as written
 * @param dynamic of slurmd -Z: this node's line as it would stand in slurm.conf; else ""
 * @param extra for the node's Extra=
 * @param around programs around jobs
 * @param registered hardware as configured, where the configuration overrides what the machine has
 */
public record Settings(
        String nodeName,
        String cluster,
        List<Address> controllers,
        int port,
        String listenAt,
        int connectMs,
        Path spoolDirectory,
        String pidFile,
        String logFile,
        int debugLevel,
        String logTimeFormat,
        Path tmpFs,
        List<String> prologs,
        List<String> epilogs,
        int prologTimeoutSeconds,
        int epilogTimeoutSeconds,
        int killWaitSeconds,
        int unkillableSeconds,
        String taskProlog,
        String taskEpilog,
        int slurmUserId,
        CgroupSettings confinement,
        boolean bindTasks,
        boolean pollMemory,
        int pollSeconds,
        Path stepd,
        String configFile,
        String gres,
        String dynamic,
        String extra,
        Around around,
        Optional<Shape> registered) {

    /**
     * Programs beside the jobs' own.
     *
     * @param serial PrologFlags=Serial: one prolog or epilog at a time
     * @param inJob PrologFlags=RunInJob: they run in the job's external step
     * @param propagateNice PropagatePrioProcess
     * @param unkillable run when a step's processes do not end, "" for none
     * @param health HealthCheckProgram, "" for none
     * @param healthTimeoutSeconds HealthCheckTimeout, after which the program is killed
     * @param cpuFreqDef frequency for steps that ask for none, "" to leave it
     * @param reboot RebootProgram, "" for none
     * @param addressPercent VSizeFactor: address space of a process in percent of its step's memory; 0 for no limit
     * @param container which directories a job has for itself
     * @param sensing meters of the node
     * @param epilogMsgMicros EpilogMsgTime
     * @param pam UsePAM: a session around each step
     * @param oci how containers are run
     * @param helpers features that a reboot brings
     * @param gpuFlags of gres.conf
     * @param gpuUuids UUIDs by GPU index for the jobs' variables; empty if these hold indexes
     * @param gresError why the node cannot be used: its devices are not those of gres.conf; "" where they are
     * @param powerActions names of those PowerActions that slurmd runs, and their programs
     * @param certmgr how it comes to a certificate; NONE where its files are the site's, or connections are not
     *     encrypted
     * @param instanceId of a cloud, and instanceType: what the node is to say of itself
     * @param sortMemory LaunchParameters=mem_sort
     * @param homeXauthority X11Parameters=home_xauthority: cookies lie in ~/.Xauthority, not in a file of their own
     * @param pages web programs are told that it lives: not with CommunicationParameters=disable_http
     * @param healthAtBoot HealthCheckNodeState=REBOOT_ONLY: the program is run when the machine was started anew, and
     *     at no other time
     * @param needsLogin SchedulerParameters=requeue_setup_env_fail or no_env_cache: a node that does not know a job's
     *     user takes no more jobs
     * @param imexMajor of the devices of SwitchType=switch/nvidia_imex, 0 where the node has none
     * @param privateJobs PrivateData=jobs: users hear of their own jobs alone
     */
    public record Around(
            boolean serial,
            boolean inJob,
            int propagateNice,
            String unkillable,
            String health,
            int healthTimeoutSeconds,
            String reboot,
            int addressPercent,
            JobContainerConf container,
            String cpuFreqDef,
            Sensing sensing,
            long epilogMsgMicros,
            boolean pam,
            boolean homeXauthority,
            OciConf oci,
            HelpersConf helpers,
            List<String> gpuFlags,
            List<String> gpuUuids,
            String gresError,
            boolean sortMemory,
            MpiConf mpi,
            Map<String, String> powerActions,
            CertmgrConf certmgr,
            String instanceId,
            String instanceType,
            boolean pages,
            boolean healthAtBoot,
            boolean needsLogin,
            int suspendGraceSeconds,
            int imexMajor,
            boolean privateJobs) {
        /** Seconds from SIGTSTP to SIGSTOP where PreemptParameters=suspend_grace_time says nothing. */
        static final int SUSPEND_GRACE_S = 2;

        static final int HEALTH_TIMEOUT_S = 60;
        public static final Around NOTHING = new Around(
                false,
                false,
                0,
                "",
                "",
                HEALTH_TIMEOUT_S,
                "",
                0,
                JobContainerConf.NONE,
                "",
                Sensing.NOTHING,
                0,
                false,
                false,
                OciConf.NONE,
                HelpersConf.NONE,
                List.of(),
                List.of(),
                "",
                false,
                MpiConf.DEFAULT,
                Map.of(),
                CertmgrConf.NONE,
                "",
                "",
                true,
                false,
                false,
                SUSPEND_GRACE_S,
                0,
                false);
    }

    /**
     * @param energy AcctGatherEnergyType
     * @param nodeSeconds AcctGatherNodeFreq: between two samples of the node's power; 0 for none
     * @param interfaces AcctGatherInterconnectType=acct_gather_interconnect/sysfs: network interfaces that are metered;
     *     none where ic/sysfs is not accounted
     * @param lustre AcctGatherFilesystemType=acct_gather_filesystem/lustre: what the node does there counts, if
     *     fs/lustre is accounted
     * @param tasks how tasks are looked at
     * @param profiling time series of steps
     */
    public record Sensing(
            Energy energy, int nodeSeconds, List<String> interfaces, boolean lustre, Tasks tasks, Profiling profiling) {
        public static final Sensing NOTHING = new Sensing(Energy.NOT, 0, List.of(), false, Tasks.NOT, Profiling.NOT);
    }

    /**
     * What tells a node's energy.
     *
     * @param seconds between two looks at a meter of power
     * @param sensors of acct_gather_energy/ipmi: numbers of records, DCMI or DCMI_ENHANCED; "" for the first that shows
     *     watts
     */
    public record Energy(Kind kind, int seconds, String sensors) {
        public enum Kind {
            NONE,
            RAPL,
            IPMI,
            GPU
        }

        public static final Energy NOT = new Energy(Kind.NONE, 0, "");
        public static final Energy RAPL = new Energy(Kind.RAPL, 0, "");

        public String type() {
            return "acct_gather_energy/" + kind.name().toLowerCase(java.util.Locale.ROOT);
        }

        public boolean measuresPower() {
            return kind == Kind.IPMI || kind == Kind.GPU;
        }
    }

    /**
     * @param conf what becomes of the series
     * @param frequency JobAcctGatherFrequency: between two samples of each
     * @param interfaces network interfaces of the series network
     * @param lustre what the node does there is the series filesystem
     */
    public record Profiling(ProfileConf conf, String frequency, List<String> interfaces, boolean lustre) {
        public static final Profiling NOT = new Profiling(ProfileConf.NONE, "", List.of(), false);
    }

    /**
     * @param on JobAcctGatherType names a plugin that looks
     * @param seconds JobAcctGatherFrequency between two looks; 0 for none where a job does not ask for them
     * @param pss JobAcctGatherParams=UsePss: memory that several processes share counts in parts
     * @param noShare JobAcctGatherParams=NoShared: memory that may be shared does not count
     * @param gpus the node has some that AutoDetect found: what processes do on them is asked as well, but for
     *     DisableGPUAcct
     */
    public record Tasks(boolean on, int seconds, boolean pss, boolean noShare, boolean gpus) {
        public static final Tasks NOT = new Tasks(false, 0, false, false, false);
    }

    public record Address(String host, int port) {}

    /** Configured sizes that stand in for the machine's own (SlurmdParameters=config_overrides). */
    public record Shape(
            int cpus, int boards, int sockets, int coresPerSocket, int threadsPerCore, long memoryMb, long tmpDiskMb) {}
}
