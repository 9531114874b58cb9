package dev.muster.controller.config;

import static java.util.Objects.requireNonNull;

import dev.muster.config.NodeConf;
import dev.muster.config.PartitionConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.sister.BurstBufferConf;
import dev.muster.config.sister.GresConf;
import dev.muster.config.sister.HelpersConf;
import dev.muster.config.sister.ResourcesYaml;
import dev.muster.config.sister.Topologies;
import dev.muster.core.command.Command;
import dev.muster.core.options.AccountingOptions;
import dev.muster.core.options.BurstBufferOptions;
import dev.muster.core.options.ControllerOptions;
import dev.muster.core.options.GpuJobDefaults;
import dev.muster.core.options.JobRequestOptions;
import dev.muster.core.options.LicenseOptions;
import dev.muster.core.options.McsOptions;
import dev.muster.core.options.NodeOptions;
import dev.muster.core.options.PreemptionOptions;
import dev.muster.core.options.PriorityOptions;
import dev.muster.core.options.PrologOptions;
import dev.muster.core.options.RequeueOptions;
import dev.muster.core.options.SchedulingOptions;
import dev.muster.core.options.SelectTypeOptions;
import dev.muster.core.options.SlurmConfOptions;
import dev.muster.core.options.StepOptions;
import dev.muster.core.options.SubmissionOptions;
import dev.muster.core.options.UsageDecayOptions;
import dev.muster.core.options.UserRights;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.step.TaskBinding;
import dev.muster.core.tres.SharedGpus;
import dev.muster.core.tres.SpecialCores;
import dev.muster.daemon.Identities;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.MpiBootstrap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** slurm.conf as the core takes it. */
public final class ConfigBridge {
    private ConfigBridge() {}

    public static Command.ApplyConfig command(SlurmConf conf, int slurmUid) {
        List<Node.Spec> nodes = new ArrayList<>();
        // mistakes in it are told by the daemon that opens the devices
        GresConf gres = GresConf.read(conf.sister("gres.conf"), new ArrayList<>());
        Identities identities = new Identities();
        Map<String, Integer> cpus = new HashMap<>();
        Map<String, Integer> order = new HashMap<>();
        Settings settings = settings(conf, slurmUid);
        Topologies.ranked(conf, settings.topologies()).forEach(name -> order.put(name, order.size()));
        for (NodeConf node : conf.nodes()) {
            int rank = requireNonNull(order.get(node.name()), "ranked() has each node of the file");
            nodes.add(node(node, conf, gres, rank));
            cpus.put(node.name(), node.cpus());
        }
        List<Partition> partitions = new ArrayList<>();
        for (PartitionConf p : conf.partitions()) {
            partitions.add(partition(p, cpus, gids(identities, p.allowGroups())));
        }
        return new Command.ApplyConfig(settings, nodes, partitions);
    }

    /** Returns the nodes of a line that does not stand in the file. Mistakes are added to the list. */
    public static List<Node.Spec> nodes(String line, SlurmConf conf, List<ConfigError> errors) {
        GresConf gres = GresConf.read(conf.sister("gres.conf"), new ArrayList<>());
        return conf.nodesOf(line, errors).stream()
                .map(n -> node(n, conf, gres, 0))
                .toList();
    }

    private static void preemption(SlurmConf conf, Map<String, String> options) {
        if (conf.controllers().size() > 1) {
            options.put(ControllerOptions.HAS_BACKUP, "true");
        }
        options.put(PreemptionOptions.TYPE, conf.text(Key.PREEMPT_TYPE));
        options.put(
                PreemptionOptions.MODE,
                String.join(",", conf.list(Key.PREEMPT_MODE)).toUpperCase(java.util.Locale.ROOT));
        options.put(
                PreemptionOptions.PARAMETERS,
                String.join(",", conf.list(Key.PREEMPT_PARAMETERS)).toLowerCase(java.util.Locale.ROOT));
        options.put(
                PreemptionOptions.EXEMPT_S,
                Long.toString(dev.muster.model.format.Durations.parseSeconds(conf.text(Key.PREEMPT_EXEMPT_TIME))
                        .orElse(-1)));
    }

    private static void buffers(SlurmConf conf, Map<String, String> options) {
        if (BurstBufferConf.isAsked(conf)) {
            options.put(BurstBufferOptions.BURST_BUFFER, "lua");
            options.put(
                    BurstBufferOptions.BUFFER_TEARDOWN_FAILURE,
                    Boolean.toString(
                            BurstBufferConf.read(conf, new ArrayList<>()).teardownFailure()));
        }
    }

    /** Returns the settings that the core reads by name. */
    private static Map<String, String> options(SlurmConf conf) {
        Map<String, String> options = new TreeMap<>(conf.schedulerParameters());
        dependencies(conf, options);
        exits(conf, Key.REQUEUE_EXIT).ifPresent(e -> options.put(RequeueOptions.REQUEUE_EXIT, e));
        exits(conf, Key.REQUEUE_EXIT_HOLD).ifPresent(e -> options.put(RequeueOptions.REQUEUE_EXIT_HOLD, e));
        licenses(conf, options);
        long overRunMin = conf.number(Key.RESV_OVER_RUN);
        options.put(
                SchedulingOptions.RESV_OVER_RUN,
                Long.toString(overRunMin < 0 || overRunMin >= 65_535 ? -1 : overRunMin * 60));
        priorities(conf, options);
        List<String> select = new ArrayList<>();
        conf.selectTypeParameters().forEach(p -> select.add(p.toUpperCase(java.util.Locale.ROOT)));
        select.addAll(conf.selectType().equals("select/linear") ? List.of("LINEAR") : List.of());
        options.put(SelectTypeOptions.SELECT, String.join(",", select));
        preemption(conf, options);
        bindings(conf, options);
        requeueDelay(conf, options);
        options.put(PrologOptions.MAX_BATCH_REQUEUE, Long.toString(conf.number(Key.MAX_BATCH_REQUEUE)));
        if (conf.completeWaitSec() > 0) {
            options.put(SchedulingOptions.COMPLETE_WAIT, Integer.toString(conf.completeWaitSec()));
        }
        if (conf.number(Key.JOB_FILE_APPEND) != 0) {
            options.put(StepOptions.JOB_FILE_APPEND, "1");
        }
        if (!conf.list(Key.RECONFIG_FLAGS).isEmpty()) {
            options.put(
                    NodeOptions.RECONFIG_FLAGS,
                    String.join(",", conf.list(Key.RECONFIG_FLAGS)).toLowerCase(java.util.Locale.ROOT));
        }
        if (conf.has(Key.TASK_PLUGIN_PARAM, "OOMKillStep")) {
            options.put(StepOptions.OOM_KILL_STEP, "1");
        }
        shares(conf, options);
        labels(conf, options);
        defaults(conf, options);
        PowerOptions.put(conf, options);
        PowerOptions.features(HelpersConf.read(conf, new ArrayList<>()), options);
        submissions(conf, options);
        buffers(conf, options);
        if (conf.given(Key.MAX_NODE_COUNT)) {
            options.put(NodeOptions.MAX_NODE_COUNT, Long.toString(conf.number(Key.MAX_NODE_COUNT)));
        }
        for (SlurmConf.NodeSet set : conf.nodeSets()) {
            if (!set.feature().isEmpty()) {
                options.merge(NodeOptions.NODE_SET + set.name(), set.feature(), (a, b) -> a + "," + b);
            }
        }
        // limits without slurmdbd have nowhere to come from
        if (conf.text(Key.ACCOUNTING_STORAGE_TYPE).equals("accounting_storage/slurmdbd")) {
            options.put(AccountingOptions.ENFORCE, String.join(",", conf.list(Key.ACCOUNTING_STORAGE_ENFORCE)));
        }
        prolog(conf, options);
        return options;
    }

    private static void dependencies(SlurmConf conf, Map<String, String> options) {
        List<String> parameters = conf.list(Key.DEPENDENCY_PARAMETERS);
        parameters.stream()
                .filter(p -> p.matches("max_depend_depth=\\d{1,6}"))
                .forEach(p -> options.put(SubmissionOptions.DEPENDENCY_DEPTH_MAX, p.substring(p.indexOf('=') + 1)));
        options.put(
                SubmissionOptions.KILL_INVALID_DEPENDENCY,
                Boolean.toString(
                        parameters.contains("kill_invalid_depend") || options.containsKey("kill_invalid_depend")));
    }

    private static void prolog(SlurmConf conf, Map<String, String> options) {
        if (!conf.list(Key.PROLOG_SLURMCTLD).isEmpty()) {
            options.put(PrologOptions.PROLOG_SLURMCTLD, "true");
        }
        List<String> prolog = conf.prologFlags();
        flag(options, prolog, "NoHold", PrologOptions.PROLOG_NO_HOLD);
        flag(options, prolog, "DeferBatch", PrologOptions.PROLOG_DEFER_BATCH);
        flag(options, prolog, "X11", JobRequestOptions.X11);
        flag(options, prolog, "ForceRequeueOnFail", PrologOptions.PROLOG_FORCE_REQUEUE);
    }

    private static Settings settings(SlurmConf conf, int slurmUid) {
        List<String> prolog = conf.prologFlags();
        return new Settings(
                conf.clusterName(),
                slurmUid,
                conf.firstJobId(),
                conf.maxJobId(),
                conf.maxJobCount(),
                conf.maxArraySize(),
                conf.memoryConsumable(),
                conf.defMemPerCpuMb(),
                conf.defMemPerNodeMb(),
                conf.maxMemPerCpuMb(),
                conf.maxMemPerNodeMb(),
                conf.killWaitSec(),
                conf.minJobAgeSec(),
                conf.overTimeLimitMin(),
                conf.returnToService(),
                conf.slurmdTimeoutSec(),
                conf.batchStartTimeoutSec(),
                (int) conf.number(Key.MAX_STEP_COUNT),
                (int) conf.number(Key.MAX_TASKS_PER_NODE),
                conf.jobRequeue(),
                enforce(conf.enforcePartLimits()),
                externSteps(conf),
                has(prolog, "Alloc") || has(prolog, "Contain") || has(prolog, "X11") || has(prolog, "RunInJob"),
                conf.configOverrides(),
                conf.yes(Key.DISABLE_ROOT_JOBS),
                conf.gresTypes(),
                SlurmConfOptions.of(options(conf)),
                Topologies.read(conf, new ArrayList<>()),
                ResourcesYaml.read(conf, new ArrayList<>()));
    }

    private static void licenses(SlurmConf conf, Map<String, String> options) {
        if (!conf.list(Key.LICENSES).isEmpty()) {
            options.put(LicenseOptions.LICENSES, String.join(",", conf.list(Key.LICENSES)));
        }
        flag(options, conf.list(Key.LICENSE_PARAMETERS), "RemoteFuzzyMatch", LicenseOptions.BARE_LICENSES);
    }

    public static boolean externSteps(SlurmConf conf) {
        return has(conf.prologFlags(), "Contain") || has(conf.prologFlags(), "X11");
    }

    private static void submissions(SlurmConf conf, Map<String, String> options) {
        Map.of(
                        "license/",
                        AccountingOptions.TRACKED_LICENSES,
                        "gres/",
                        AccountingOptions.TRACKED_GRES,
                        "bb/",
                        AccountingOptions.TRACKED_BUFFERS)
                .forEach((kind, option) -> {
                    List<String> tracked = conf.list(Key.ACCOUNTING_STORAGE_TRES).stream()
                            .filter(t -> t.startsWith(kind))
                            .map(t -> t.substring(kind.length()))
                            .toList();
                    if (!tracked.isEmpty()) {
                        options.put(option, String.join(",", tracked));
                    }
                });
        List<String> words = conf.list(Key.SLURMCTLD_PARAMETERS);
        flag(options, words, "enable_expedited_requeue", JobRequestOptions.EXPEDITED_REQUEUE);
        flag(options, words, "user_resv_delete", UserRights.USER_RESV_DELETE);
        flag(options, words, "allow_user_triggers", UserRights.USER_TRIGGERS);
        flag(options, words, "disable_triggers", UserRights.NO_TRIGGERS);
        Optional.ofNullable(conf.parameters(Key.SLURMCTLD_PARAMETERS).get("node_reg_mem_percent"))
                .ifPresent(p -> options.put(NodeOptions.REG_MEMORY_PERCENT, p));
        if (conf.has(Key.SLURMCTLD_PARAMETERS, "enable_stepmgr")) {
            options.put(SubmissionOptions.STEPMGR, "true");
            if (conf.text(Key.JOB_ACCT_GATHER_TYPE).endsWith("cgroup")) {
                options.put(JobRequestOptions.MEMORY_UPDATES, "true");
            }
        }
        if (!conf.list(Key.JOB_SUBMIT_PLUGINS).isEmpty()) {
            options.put(SubmissionOptions.PLUGINS, String.join(",", conf.list(Key.JOB_SUBMIT_PLUGINS)));
        }
    }

    /** Adds the options of resources that jobs have by turns or again and again, or one step alone. */
    private static void shares(SlurmConf conf, Map<String, String> options) {
        if (!conf.list(Key.SCRON_PARAMETERS).isEmpty()) {
            options.put(
                    UserRights.SCRON,
                    String.join(",", conf.list(Key.SCRON_PARAMETERS)).toLowerCase(java.util.Locale.ROOT));
        }
        if (!conf.mpiPorts().isEmpty()) {
            options.put(StepOptions.MPI_PORTS, conf.mpiPorts());
        }
        if (conf.imexChannels() > 0) {
            options.put(StepOptions.IMEX_CHANNELS, Integer.toString(conf.imexChannels()));
        }
        if (conf.has(Key.MPI_PARAMS, MpiBootstrap.OFF)) {
            options.put(MpiBootstrap.OFF, "");
        }
        if (conf.has(Key.PREEMPT_MODE, "GANG")) {
            options.put(PreemptionOptions.GANG_SLICE_S, Long.toString(conf.number(Key.SCHEDULER_TIME_SLICE)));
        }
    }

    /** Adds the options of multi-category security; groups by number, because the core looks nothing up. */
    private static void labels(SlurmConf conf, Map<String, String> options) {
        String parameters = conf.text(Key.MCS_PARAMETERS);
        options.put(McsOptions.PLUGIN, conf.text(Key.MCS_PLUGIN));
        options.put(McsOptions.PARAMETERS, parameters);
        if (conf.text(Key.MCS_PLUGIN).equals("mcs/group") && parameters.contains(":")) {
            Identities identities = new Identities();
            List<String> groups = new ArrayList<>();
            for (String name : parameters.substring(parameters.indexOf(':') + 1).split("\\|")) {
                identities.group(name.strip()).ifPresent(g -> groups.add(g.name() + ":" + g.gid()));
            }
            options.put(McsOptions.GROUPS, String.join(",", groups));
        }
    }

    /** Adds the options of what jobs get and may ask for, where the file says more than a number. */
    private static void defaults(SlurmConf conf, Map<String, String> options) {
        if (conf.yes(Key.TRACK_WCKEY) || conf.has(Key.ACCOUNTING_STORAGE_ENFORCE, "wckeys")) {
            options.put(AccountingOptions.TRACK_WCKEY, "true");
        }
        String steps = conf.parameters(Key.ACCOUNTING_STORAGE_PARAMETERS).getOrDefault("max_step_records", "");
        if (!steps.isEmpty()) {
            options.put(AccountingOptions.STEP_RECORDS_MAX, steps);
        }
        if (!conf.list(Key.ACCOUNTING_STORE_FLAGS).isEmpty()) {
            options.put(
                    AccountingOptions.ACCOUNTING_STORE,
                    String.join(",", conf.list(Key.ACCOUNTING_STORE_FLAGS)).toLowerCase(java.util.Locale.ROOT));
        }
        // without a plugin there is no frequency either
        if (!conf.text(Key.JOB_ACCT_GATHER_TYPE).endsWith("none")) {
            options.put(StepOptions.ACCT_GATHER_FREQUENCY, conf.text(Key.JOB_ACCT_GATHER_FREQUENCY));
        }
        if (conf.text(Key.SCHEDULER_TYPE).endsWith("builtin")) {
            options.put(SchedulingOptions.IN_ORDER, "true");
        }
        if (!conf.text(Key.REBOOT_PROGRAM).isEmpty()) {
            options.put(JobRequestOptions.REBOOTS, "true");
        }
        if (conf.yes(Key.ALLOW_SPEC_RESOURCES_USAGE)) {
            options.put(JobRequestOptions.SPEC_USAGE, "true");
        }
        if (conf.schedulerParameters().containsKey(SelectTypeOptions.SPEC_CORES_FIRST)) {
            options.put(SelectTypeOptions.SPEC_CORES_FIRST, "");
        }
        String jobDefaults = gpuDefaults(
                conf.text(Key.JOB_DEFAULTS), conf.number(Key.DEF_CPU_PER_GPU), conf.number(Key.DEF_MEM_PER_GPU));
        if (!jobDefaults.isEmpty()) {
            options.put(SubmissionOptions.JOB_DEFAULTS, jobDefaults);
        }
    }

    /** JobDefaults as one text, from the old key or the two newer ones. */
    private static String gpuDefaults(String words, long cpus, long memoryMb) {
        long[] values = {cpus, memoryMb};
        for (String word : words.split(",")) {
            String[] pair = word.strip().split("=");
            boolean number = pair.length == 2 && pair[1].matches("[0-9]{1,12}");
            int which;
            if (pair[0].equalsIgnoreCase("DefCpuPerGPU")) {
                which = 0;
            } else if (pair[0].equalsIgnoreCase("DefMemPerGPU")) {
                which = 1;
            } else {
                which = -1;
            }

            if (number && which >= 0 && values[which] <= 0) {
                values[which] = Long.parseLong(pair[1]);
            }
        }
        return new GpuJobDefaults(Math.max(0, values[0]), Math.max(0, values[1])).text();
    }

    private static void priorities(SlurmConf conf, Map<String, String> options) {
        options.put(PriorityOptions.TYPE, conf.text(Key.PRIORITY_TYPE));
        options.put(PriorityOptions.FLAGS, String.join(",", conf.list(Key.PRIORITY_FLAGS)));
        options.put(PriorityOptions.FAVOR_SMALL, Boolean.toString(conf.yes(Key.PRIORITY_FAVOR_SMALL)));
        options.put(
                UsageDecayOptions.RESET_PERIOD,
                conf.text(Key.PRIORITY_USAGE_RESET_PERIOD).toUpperCase(java.util.Locale.ROOT));
        options.put(PriorityOptions.WEIGHT + "tres", conf.text(Key.PRIORITY_WEIGHT_TRES));
        options.put(UsageDecayOptions.ZONE, java.time.ZoneId.systemDefault().getId());
        Map<String, Key> numbers = new TreeMap<>(Map.of(
                PriorityOptions.CALC_PERIOD_S,
                Key.PRIORITY_CALC_PERIOD,
                UsageDecayOptions.HALF_LIFE_S,
                Key.PRIORITY_DECAY_HALF_LIFE,
                PriorityOptions.MAX_AGE_S,
                Key.PRIORITY_MAX_AGE,
                UsageDecayOptions.DAMPENING,
                Key.FAIR_SHARE_DAMPENING_FACTOR,
                PriorityOptions.WEIGHT + "age",
                Key.PRIORITY_WEIGHT_AGE,
                PriorityOptions.WEIGHT + "assoc",
                Key.PRIORITY_WEIGHT_ASSOC,
                PriorityOptions.WEIGHT + "fairshare",
                Key.PRIORITY_WEIGHT_FAIR_SHARE,
                PriorityOptions.WEIGHT + "size",
                Key.PRIORITY_WEIGHT_JOB_SIZE,
                PriorityOptions.WEIGHT + "partition",
                Key.PRIORITY_WEIGHT_PARTITION,
                PriorityOptions.WEIGHT + "qos",
                Key.PRIORITY_WEIGHT_QOS));
        numbers.forEach((name, key) -> options.put(name, Long.toString(conf.number(key))));
    }

    /** Returns the exit codes as a list of numbers and ranges; the reader has refused what is none. */
    private static Optional<String> exits(SlurmConf conf, Key key) {
        String text = conf.text(key);
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    /** Adds cred_expire of AuthInfo as the delay of a requeue, where no delay is configured. */
    private static void requeueDelay(SlurmConf conf, Map<String, String> options) {
        String expire = conf.authInfo().getOrDefault("cred_expire", "");
        if (expire.matches("[0-9]{1,8}")
                && !options.getOrDefault(RequeueOptions.REQUEUE_DELAY, "").matches("[0-9]{1,8}")) {
            options.put(RequeueOptions.REQUEUE_DELAY, expire);
        }
    }

    private static void bindings(SlurmConf conf, Map<String, String> options) {
        List<String> believed = conf.nodes().stream()
                .filter(n -> n.has("config_overrides"))
                .map(NodeConf::name)
                .toList();
        if (!believed.isEmpty()) {
            options.put(NodeOptions.BELIEVED_NODES, HostList.of(believed).compressed());
        }
        String bind = taskBind(conf.list(Key.TASK_PLUGIN_PARAM));
        if (!bind.isEmpty()) {
            options.put(StepOptions.TASK_BIND, bind);
        }
        Map<String, String> ofNodes = new TreeMap<>();
        conf.nodes().stream().filter(n -> !n.cpuBind().isEmpty()).forEach(n -> ofNodes.put(n.name(), n.cpuBind()));
        if (!ofNodes.isEmpty()) {
            options.put(StepOptions.NODE_BIND, TaskBinding.ofNodes(ofNodes));
        }
    }

    private static String taskBind(List<String> words) {
        List<String> out = new ArrayList<>();
        for (String word : List.of("verbose", "none", "sockets", "cores", "threads")) {
            if (has(words, word) || has(words, "autobind=" + word)) {
                out.add(word);
            }
        }
        return String.join(",", out);
    }

    private static void flag(Map<String, String> options, List<String> words, String word, String option) {
        if (has(words, word)) {
            options.put(option, "true");
        }
    }

    private static boolean has(List<String> words, String word) {
        return words.stream().anyMatch(w -> w.equalsIgnoreCase(word));
    }

    private static String enforce(String value) {
        return value.equalsIgnoreCase("YES") ? "ALL" : value.toUpperCase(java.util.Locale.ROOT);
    }

    private static Node.Spec node(NodeConf n, SlurmConf conf, GresConf gresConf, int order) {
        int cores = Math.max(1, n.cores());
        // where fewer CPUs than cores or not all threads are configured as CPUs, each CPU is its own unit
        boolean cpuUnits = n.cpus() % cores != 0 || n.cpus() < cores;
        int units = cpuUnits ? n.cpus() : cores;
        List<Node.Gres> gres = new ArrayList<>();
        Map<String, Integer> next = new HashMap<>();
        for (NodeConf.Gres g : n.gres()) {
            int first = next.merge(g.name(), (int) g.count(), Integer::sum) - (int) g.count();
            gres.add(new Node.Gres(
                    g.name(),
                    g.type(),
                    first,
                    (int) g.count(),
                    file(gresConf, n.name(), g),
                    gresConf.flags(n.name(), g.name()),
                    near(gresConf, n, g, units),
                    links(gresConf, n, g),
                    parts(gresConf, n, g)));
        }
        return new Node.Spec(
                n.name(),
                n.hostname(),
                n.address(),
                n.port(),
                n.cpus(),
                n.boards(),
                n.sockets(),
                n.coresPerSocket(),
                n.threadsPerCore(),
                units,
                Math.max(1, n.cpus() / Math.max(1, units)),
                n.realMemoryMb(),
                n.memSpecLimitMb(),
                n.tmpDiskMb(),
                n.features(),
                n.weight(),
                gres,
                reserved(n, units, conf.schedulerParameters().containsKey(SelectTypeOptions.SPEC_CORES_FIRST)),
                n.state(),
                n.reason(),
                order,
                n.restrictedCoresPerGpu() * Math.max(1, units / cores),
                n.suspendTime(),
                List.of(),
                n.topology(),
                n.bcastAddress());
    }

    /** Returns the units near each device, as the Cores of gres.conf have it; empty where it says of none. */
    private static List<IndexSet> near(GresConf conf, NodeConf n, NodeConf.Gres g, int units) {
        List<IndexSet> out = new ArrayList<>();
        int perCore = Math.max(1, units / Math.max(1, n.cores()));
        for (GresConf.Device d : conf.forNode(n.name())) {
            if (d.name().equals(g.name())
                    && (d.type().equals(g.type()) || g.type().isEmpty())) {
                IndexSet cores = IndexSet.parseSpec(d.cores(), Math.max(0, n.cores() - 1)).stream()
                        .findFirst()
                        .map(IndexSet.Spec::indexes)
                        .orElse(IndexSet.empty());
                IndexSet here = IndexSet.empty();
                for (int c = cores.first(); c >= 0; c = cores.next(c + 1)) {
                    here = here.union(IndexSet.range(c * perCore, (c + 1) * perCore - 1, 1));
                }
                for (int i = 0; i < d.count() && out.size() < g.count(); i++) {
                    out.add(here);
                }
            }
        }
        return out.stream().allMatch(IndexSet::isEmpty) ? List.of() : List.copyOf(out);
    }

    /** Returns the links of each device, as gres.conf has them; empty where it says of none. */
    private static List<String> links(GresConf conf, NodeConf n, NodeConf.Gres g) {
        List<String> out = new ArrayList<>();
        for (GresConf.Device d : conf.forNode(n.name())) {
            if (d.name().equals(g.name())
                    && (d.type().equals(g.type()) || g.type().isEmpty())) {
                for (int i = 0; i < d.count() && out.size() < g.count(); i++) {
                    out.add(d.links());
                }
            }
        }
        return out.stream().allMatch(String::isEmpty) ? List.of() : List.copyOf(out);
    }

    /** Returns how many of mps or shard each GPU has, where gres.conf names its file with a Count. */
    private static List<Integer> parts(GresConf conf, NodeConf n, NodeConf.Gres g) {
        List<GresConf.Device> devices = conf.forNode(n.name()).stream()
                .filter(d -> d.name().equals(g.name()) && !d.files().isEmpty())
                .toList();
        if (devices.isEmpty() || !SharedGpus.isShared(g.name())) {
            return List.of();
        }
        List<String> gpus = new ArrayList<>();
        n.gres().stream()
                .filter(other -> other.name().equals("gpu"))
                .forEach(
                        other -> gpus.addAll(List.of(file(conf, n.name(), other).split(","))));
        Map<Integer, Integer> each = new HashMap<>();
        for (GresConf.Device d : devices) {
            d.files()
                    .forEach(file -> each.merge(
                            gpus.indexOf(file), (int) (d.count() / d.files().size()), Integer::sum));
        }
        return java.util.stream.IntStream.range(0, gpus.size())
                .mapToObj(gpu -> each.getOrDefault(gpu, 0))
                .toList();
    }

    /** Returns the device files of gres.conf; "" for a resource that is only counted. */
    private static String file(GresConf conf, String node, NodeConf.Gres g) {
        List<String> files = new ArrayList<>();
        for (GresConf.Device d : conf.forNode(node)) {
            if (d.name().equals(g.name())
                    && (d.type().equals(g.type()) || g.type().isEmpty())) {
                files.addAll(d.files());
                files.addAll(d.multiple());
            }
        }
        return String.join(",", files);
    }

    /** CpuSpecList names the CPUs kept from jobs: the whole core of each; CoreSpecCount says how many. */
    private static IndexSet reserved(NodeConf n, int units, boolean fromFirst) {
        List<IndexSet.Spec> named =
                n.cpuSpecList().isEmpty() ? List.of() : IndexSet.parseSpec(n.cpuSpecList(), n.cpus() - 1);
        if (!named.isEmpty()) {
            IndexSet cpus = named.getFirst().indexes();
            IndexSet out = IndexSet.empty();
            int perUnit = Math.max(1, n.cpus() / Math.max(1, units));
            for (int cpu = cpus.first(); cpu >= 0; cpu = cpus.next(cpu + 1)) {
                out = cpu / perUnit < units ? out.with(cpu / perUnit) : out;
            }
            return out;
        }
        int count = Math.max(0, Math.min(units - 1, n.coreSpecCount()));
        return SpecialCores.of(IndexSet.empty(), units, n.sockets(), count, fromFirst);
    }

    /** Returns the numbers of the groups that this host knows: core and scheduler compare numbers only. */
    public static Map<String, Integer> gids(Identities identities, List<String> groups) {
        Map<String, Integer> out = new TreeMap<>();
        groups.forEach(g -> identities.group(g).ifPresent(found -> out.put(g, found.gid())));
        return out;
    }

    private static int defaultTime(long minutes) {
        if (minutes < 0) {
            return 0;
        }
        if (minutes == 0) {
            return PartitionInfo.NO_TIME;
        }
        return (int) minutes;
    }

    static Partition partition(PartitionConf p, Map<String, Integer> cpusByNode, Map<String, Integer> gids) {
        int cpus = 0;
        for (String node : p.nodes()) {
            cpus += cpusByNode.getOrDefault(node, 0);
        }
        PartitionInfo info = new PartitionInfo(
                p.name(),
                p.isDefault(),
                p.hidden(),
                p.rootOnly(),
                p.reqResv(),
                p.disableRootJobs(),
                p.exclusiveUser(),
                p.exclusiveTopo(),
                p.leastLoadedNodes(),
                p.state(),
                p.nodesText(),
                String.join(",", p.nodeSets()),
                p.nodes().size(),
                cpus,
                all(p.allowGroups()),
                all(p.allowAccounts()),
                join(p.denyAccounts()),
                all(p.allowQos()),
                join(p.denyQos()),
                all(p.allocNodes()),
                p.alternate(),
                p.qos(),
                (int) p.maxTimeMin(),
                defaultTime(p.defaultTimeMin()),
                (int) p.maxNodes(),
                (int) p.minNodes(),
                cpus(p.maxCpusPerNode()),
                cpus(p.maxCpusPerSocket()),
                p.defMemPerCpuMb(),
                p.defMemPerNodeMb(),
                p.maxMemPerCpuMb(),
                p.maxMemPerNodeMb(),
                p.priorityTier(),
                p.priorityJobFactor(),
                p.overSubscribe(),
                p.overTimeLimitMin().orElse(-1),
                p.preemptMode(),
                p.graceTimeSec(),
                p.selectParameters(),
                gpuDefaults("", p.defCpuPerGpu(), p.defMemPerGpuMb()),
                p.tresBillingWeights(),
                "",
                PowerOptions.text(p.resumeTimeoutSec()),
                PowerOptions.text(p.suspendTimeoutSec()),
                p.suspendTime(),
                p.exclusiveNode(),
                p.topology(),
                p.powerDownOnIdle(),
                p.cpuBind(),
                List.copyOf(gids.values()),
                "");
        return new Partition(info, p.nodes());
    }

    private static int cpus(long max) {
        return max == 0 ? Partition.NO_CPUS : (int) max;
    }

    private static String all(List<String> words) {
        return words.isEmpty() ? "ALL" : String.join(",", words);
    }

    private static String join(List<String> words) {
        return String.join(",", words);
    }
}
