package dev.muster.core.state;

import dev.muster.core.step.TaskBinding;
import dev.muster.core.tres.GpuDefaults;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
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
 * @param options SchedulerParameters and other named options
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
        Map<String, String> options,
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
            java.util.Collections.emptySortedMap());

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
            Map<String, String> options) {
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
     * With other options.
     *
     * @param changed an empty value for one that is not there any more
     * @param network how nodes hang together from now on; empty for as before
     */
    public Settings with(Map<String, String> changed, List<Topology> network) {
        Map<String, String> out = new java.util.TreeMap<>(options);
        changed.forEach((name, value) -> {
            // words that are there already may be empty: that they are there is what they say
            if (value.isEmpty()) {
                out.remove(name);
            } else {
                out.put(name, value);
            }
        });
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
                java.util.Collections.unmodifiableMap(out),
                network.isEmpty() ? topologies : network,
                layered);
    }

    /**
     * An option: {@code true} with SlurmctldParameters=enable_stepmgr: each job is as if it had asked for
     * {@code --stepmgr}.
     */
    public static final String STEPMGR = "stepmgr";
    /** An option: {@code true} where what --mem-update needs is configured. */
    public static final String MEMORY_UPDATES = "memory_updates";
    /** An option: the burst buffer's kind, {@code lua}; "" for none. */
    public static final String BURST_BUFFER = "burst_buffer";
    /** An option: {@code true} with burst_buffer.conf's Flags=TeardownFailure. */
    public static final String BUFFER_TEARDOWN_FAILURE = "burst_buffer_teardown_failure";
    /** An option: {@code true} where PrologSlurmctld names a program. */
    public static final String PROLOG_SLURMCTLD = "prolog_slurmctld";
    /** An option: exit codes of batch jobs that go back to the queue, {@code 1-9,18}. */
    public static final String REQUEUE_EXIT = "requeue_exit";
    /** The same, and they wait there for their release as SPECIAL_EXIT. */
    public static final String REQUEUE_EXIT_HOLD = "requeue_exit_hold";
    /** An option: {@code true} with SlurmctldParameters=user_resv_delete: users of a reservation may delete it. */
    public static final String USER_RESV_DELETE = "ctld:user_resv_delete";
    /** An option: {@code true} with SlurmctldParameters=allow_user_triggers. */
    public static final String USER_TRIGGERS = "ctld:allow_user_triggers";
    /** An option: {@code true} with SlurmctldParameters=disable_triggers. */
    public static final String NO_TRIGGERS = "ctld:disable_triggers";
    /** An option: SlurmctldParameters=node_reg_mem_percent. */
    public static final String REG_MEMORY_PERCENT = "ctld:node_reg_mem_percent";
    /** An option: 1 with TaskPluginParam=OOMKillStep. */
    public static final String OOM_KILL_STEP = "oom_kill_step";
    /** An option: {@code true} with PrologFlags=NoHold: only steps wait for prologs. */
    public static final String PROLOG_NO_HOLD = "prolog_no_hold";
    /** An option: {@code true} with PrologFlags=DeferBatch: a batch script waits for the prologs of all its nodes. */
    public static final String PROLOG_DEFER_BATCH = "prolog_defer_batch";
    /** An option: {@code true} with PrologFlags=ForceRequeueOnFail. */
    public static final String PROLOG_FORCE_REQUEUE = "prolog_force_requeue";
    /** An option of SchedulerParameters: a job whose prolog failed is not held. */
    public static final String NO_HOLD_ON_PROLOG_FAIL = "nohold_on_prolog_fail";
    /** An option: MaxBatchRequeue. */
    public static final String MAX_BATCH_REQUEUE = "max_batch_requeue";
    /** An option: {@code true} with PrologFlags=X11. */
    public static final String X11 = "x11";
    /** An option: CompleteWait in seconds. */
    public static final String COMPLETE_WAIT = "complete_wait";
    /** An option: 1 with JobFileAppend. */
    public static final String JOB_FILE_APPEND = "job_file_append";
    /** An option: words of ReconfigFlags in lower case. */
    public static final String RECONFIG_FLAGS = "reconfig_flags";
    /** ScronParameters. */
    public static final String SCRON = "scron";
    /** SchedulerTimeSlice, where PreemptMode has GANG. */
    public static final String GANG_SLICE_S = "gang_slice_s";
    /** MpiParams: the first and last port that steps may reserve, {@code 12000-12999}. */
    public static final String MPI_PORTS = "mpi_ports";
    /** SwitchType=switch/nvidia_imex: how many channels there are. */
    public static final String IMEX_CHANNELS = "imex_channels";

    public static final String TASK_BIND = "task_bind";
    /** Seconds; SchedulerParameters=requeue_delay, else cred_expire of AuthInfo. */
    public static final String REQUEUE_DELAY = "requeue_delay";
    /** An option: nodes with config_overrides among their own Parameters. */
    public static final String BELIEVED_NODES = "believed_nodes";
    /** CpuBind of nodes, as {@link TaskBinding} has it. */
    public static final String NODE_BIND = "node_bind";
    /** An option: JobAcctGatherFrequency, where JobAcctGatherType is not none. */
    public static final String ACCT_GATHER_FREQUENCY = "acct_gather_frequency";
    /**
     * An option: {@code true} with SchedulerType=sched/builtin: jobs of a partition start in the order of the queue.
     */
    public static final String IN_ORDER = "in_order";
    /** An option: {@code true} with RebootProgram: nodes are rebooted for jobs that ask for it. */
    public static final String REBOOTS = "reboots";
    /**
     * An option: {@code true} with AllowSpecResourcesUsage: jobs say how many cores of their nodes they leave alone.
     */
    public static final String SPEC_USAGE = "spec_usage";
    /** An option: with SchedulerParameters=spec_cores_first these are the first of each socket. */
    public static final String SPEC_CORES_FIRST = "spec_cores_first";
    /**
     * An option: JobDefaults, what a job asks for where neither it nor its partition says anything:
     * {@link GpuDefaults}.
     */
    public static final String JOB_DEFAULTS = "job_defaults";
    /** An option: MaxNodeCount, where it is set. */
    public static final String MAX_NODE_COUNT = "max_node_count";
    /** Options that begin so and go on with the name of a NodeSet: its features, with commas. */
    public static final String NODE_SET = "node_set:";
    /** An option: {@code true} with TrackWCKey. */
    public static final String TRACK_WCKEY = "track_wckey";
    /** An option: words of AccountingStoreFlags in lower case. */
    public static final String ACCOUNTING_STORE = "accounting_store";
    /** An option: how many of a job's numbered steps accounting keeps; all where it is not set. */
    public static final String STEP_RECORDS_MAX = "step_records_max";
    /** Names of licenses of AccountingStorageTRES, with commas. */
    public static final String TRACKED_LICENSES = "tracked_licences";
    /** Burst buffers of AccountingStorageTRES without {@code bb/}, with commas. */
    public static final String TRACKED_BUFFERS = "tracked_buffers";
    /** Generic resources of AccountingStorageTRES without {@code gres/}, with commas. */
    public static final String TRACKED_GRES = "tracked_gres";
    /** Words of SelectTypeParameters, and LINEAR for select/linear. */
    public static final String SELECT = "select";
    /** An option: {@code true} with LicenseParameters=RemoteFuzzyMatch: the server of a license need not be named. */
    public static final String BARE_LICENSES = "bare_licences";
    /** ResvOverRun: seconds that jobs may run on after the end of their reservation; -1 for ever. */
    public static final String RESV_OVER_RUN = "resv_over_run";

    /**
     * What slurm.conf says of a node counts, whatever the node finds: SlurmdParameters=config_overrides, or so in the
     * node's own Parameters.
     */
    public boolean believes(String node) {
        return configOverrides
                || HostList.parse(options.getOrDefault(BELIEVED_NODES, "")) instanceof HostList.Parsed.Ok ok
                        && ok.list().contains(node);
    }

    /** By the name that a partition says, or the cluster's. */
    public Topology topology(String name) {
        for (Topology t : topologies) {
            if (t.name().equals(name)) {
                return t;
            }
        }
        return topologies.isEmpty() ? Topology.FLAT : topologies.getFirst();
    }

    /** Whether a word of AccountingStoreFlags is set. */
    public boolean accounts(String word) {
        return java.util.Arrays.asList(
                        options.getOrDefault(ACCOUNTING_STORE, "").split(","))
                .contains(word);
    }

    /** Jobs that have the same cores take turns. */
    public boolean takesTurns() {
        return options.containsKey(GANG_SLICE_S);
    }

    /** Whether a word of SelectTypeParameters is set. */
    public boolean selects(String word) {
        return java.util.Arrays.asList(options.getOrDefault(SELECT, "").split(","))
                .contains(word);
    }
}
