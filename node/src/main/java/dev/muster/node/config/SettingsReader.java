package dev.muster.node.config;

import static java.util.Objects.requireNonNull;

import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.TlsPlaces;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.sister.AcctGatherConf;
import dev.muster.config.sister.CertmgrConf;
import dev.muster.config.sister.CgroupConf;
import dev.muster.config.sister.GresConf;
import dev.muster.config.sister.HelpersConf;
import dev.muster.config.sister.JobContainerConf;
import dev.muster.config.sister.MpiConf;
import dev.muster.config.sister.OciConf;
import dev.muster.config.sister.ProfileConf;
import dev.muster.node.hardware.GpuProbe;
import dev.muster.node.os.Os;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/** slurm.conf as far as one slurmd is concerned. */
public final class SettingsReader {
    /** Devices of one GRES that are listed; more of them are not constrained. */
    private static final int DEVICES_MAX = 4096;

    /** NO_VAL16: what Slurm keeps for "no limit" in 16 bits. */
    private static final int NO_LIMIT = 65534;

    public static final int POLL_SECONDS_DEFAULT = 30;

    private SettingsReader() {}

    /** The node that this host is, or that {@code -N} names. */
    public static Optional<NodeConf> node(SlurmConf conf, String wanted, String hostname) {
        if (!wanted.isEmpty()) {
            return conf.node(wanted);
        }
        String shortName = hostname.contains(".") ? hostname.substring(0, hostname.indexOf('.')) : hostname;
        return conf.nodes().stream()
                .filter(n -> n.hostname().equals(hostname) || n.hostname().equals(shortName))
                .findFirst()
                .or(() -> conf.node(shortName))
                .or(() -> conf.nodes().stream()
                        .filter(n -> n.hostname().equals("localhost"))
                        .findFirst());
    }

    /** The files beside slurm.conf as far as this node is concerned. */
    public record Sisters(
            CgroupConf cgroup,
            JobContainerConf container,
            AcctGatherConf gather,
            OciConf oci,
            HelpersConf helpers,
            MpiConf mpi) {
        /** Mistakes are added to {@code errors}. */
        public static Sisters read(SlurmConf conf, NodeConf node, String hostname, List<ConfigError> errors) {
            return new Sisters(
                    CgroupConf.read(conf.sister("cgroup.conf"), errors),
                    SettingsReader.container(conf, node, hostname, errors),
                    SettingsReader.gather(conf, errors),
                    OciConf.read(conf.sister("oci.conf"), errors),
                    HelpersConf.read(conf, errors),
                    MpiConf.read(conf.sister("mpi.conf"), errors));
        }
    }

    /** "" where steps that ask for no frequency are left alone. */
    public static String cpuFreqDef(SlurmConf conf) {
        return conf.given(Key.CPU_FREQ_DEF) ? conf.text(Key.CPU_FREQ_DEF) : "";
    }

    public static Settings read(
            SlurmConf conf,
            NodeConf node,
            String dynamic,
            SlurmdOptions options,
            Path prefix,
            int slurmUserId,
            Sisters sisters) {
        CgroupConf cgroup = sisters.cgroup();
        GpuProbe.Merged gres = GpuProbe.merged(conf, node, !dynamic.isEmpty(), new ArrayList<>());
        List<Settings.Address> controllers = new ArrayList<>();
        conf.controllers()
                .forEach(c ->
                        conf.slurmctldPorts().forEach(p -> controllers.add(new Settings.Address(c.address(), p))));
        Path beside =
                requireNonNull(Path.of(conf.file()).toAbsolutePath().getParent(), "slurm.conf is no root directory");
        Map<String, String> gather = conf.parameters(Key.JOB_ACCT_GATHER_PARAMS);
        boolean cgroupTask = conf.has(Key.TASK_PLUGIN, "task/cgroup") || conf.has(Key.TASK_PLUGIN, "cgroup");
        return new Settings(
                node.name(),
                conf.clusterName(),
                List.copyOf(controllers),
                node.port(),
                conf.has(Key.COMMUNICATION_PARAMETERS, "NoInAddrAny") ? node.address() : "",
                (int) Math.max(1, conf.number(Key.TCP_TIMEOUT)) * 1000,
                Path.of(conf.slurmdSpoolDir(node)).toAbsolutePath(),
                conf.slurmdPidFile(node),
                options.logFile().isEmpty() ? conf.slurmdLogFile(node) : options.logFile(),
                Math.min(9, conf.slurmdDebug() + options.verbose()),
                conf.text(Key.LOG_TIME_FORMAT),
                Path.of(conf.tmpFs(node)),
                programs(conf.list(Key.PROLOG), beside),
                programs(conf.list(Key.EPILOG), beside),
                limit(conf.prologTimeoutSec()),
                limit(conf.epilogTimeoutSec()),
                conf.killWaitSec(),
                conf.unkillableStepTimeoutSec(),
                ofTasks(conf.text(Key.TASK_PROLOG), beside),
                ofTasks(conf.text(Key.TASK_EPILOG), beside),
                slurmUserId,
                confinement(conf, node, cgroup, cgroupTask, gres.conf()),
                conf.has(Key.TASK_PLUGIN, "task/affinity")
                        || conf.has(Key.TASK_PLUGIN, "affinity")
                        || cgroupTask && cgroup.constrainCores(),
                gather.containsKey("overmemorykill") && gathers(conf),
                pollSeconds(conf.text(Key.JOB_ACCT_GATHER_FREQUENCY)),
                stepd(
                        options.stepd().isEmpty()
                                ? prefix.resolve("sbin/slurmstepd")
                                : Path.of(options.stepd()).toAbsolutePath(),
                        conf.yes(Key.USE_PAM)),
                Path.of(conf.file()).toAbsolutePath().toString(),
                node.gresText(),
                dynamic,
                options.extra(),
                around(conf, node, options, sisters, gres),
                conf.configOverrides() || node.has("config_overrides") || options.configOverrides()
                        ? Optional.of(shape(node))
                        : Optional.empty());
    }

    private static Settings.Around around(
            SlurmConf conf, NodeConf node, SlurmdOptions options, Sisters sisters, GpuProbe.Merged gres) {
        return new Settings.Around(
                conf.has(Key.PROLOG_FLAGS, "Serial"),
                conf.has(Key.PROLOG_FLAGS, "RunInJob"),
                (int) conf.number(Key.PROPAGATE_PRIO_PROCESS),
                conf.text(Key.UNKILLABLE_STEP_PROGRAM),
                conf.text(Key.HEALTH_CHECK_PROGRAM),
                healthTimeout(conf),
                conf.text(Key.REBOOT_PROGRAM),
                (int) conf.number(Key.V_SIZE_FACTOR),
                sisters.container(),
                cpuFreqDef(conf),
                sensing(
                        conf,
                        sisters.gather(),
                        node.gres().stream().anyMatch(g -> g.name().equals("gpu"))),
                conf.given(Key.EPILOG_MSG_TIME) ? conf.number(Key.EPILOG_MSG_TIME) : 0,
                conf.yes(Key.USE_PAM),
                conf.has(Key.X11_PARAMETERS, "home_xauthority"),
                sisters.oci(),
                sisters.helpers(),
                gres.conf().flags(node.name(), "gpu"),
                GpuProbe.uuids(conf, node.name(), gres.conf()),
                gres.error(),
                conf.has(Key.LAUNCH_PARAMETERS, "mem_sort"),
                sisters.mpi(),
                powerActions(conf),
                TlsPlaces.of(conf).on() ? CertmgrConf.of(conf) : CertmgrConf.NONE,
                options.instanceId(),
                options.instanceType(),
                !conf.has(Key.COMMUNICATION_PARAMETERS, "disable_http"),
                conf.has(Key.HEALTH_CHECK_NODE_STATE, "REBOOT_ONLY"),
                conf.has(Key.SCHEDULER_PARAMETERS, "requeue_setup_env_fail")
                        || conf.has(Key.SCHEDULER_PARAMETERS, "no_env_cache"),
                suspendGrace(conf),
                imexMajor(conf),
                conf.has(Key.PRIVATE_DATA, "jobs") || conf.has(Key.PRIVATE_DATA, "all"));
    }

    /** Returns the number that SwitchParameters names, or else the driver's. */
    private static int imexMajor(SlurmConf conf) {
        if (conf.imexChannels() == 0) {
            return 0;
        }
        String major = conf.parameters(Key.SWITCH_PARAMETERS).getOrDefault("imex_dev_major", "");
        return !major.isEmpty()
                ? Integer.parseInt(major)
                : Os.read(Path.of("/proc/devices"))
                        .orElse("")
                        .lines()
                        .map(l -> l.strip().split("\\s+"))
                        .filter(w -> w.length == 2 && w[1].equals("nvidia-caps-imex-channels"))
                        .map(w -> Integer.parseInt(w[0]))
                        .findFirst()
                        .orElse(0);
    }

    /** HealthCheckTimeout in seconds; 0 means the default. */
    private static int healthTimeout(SlurmConf conf) {
        int seconds = (int) conf.number(Key.HEALTH_CHECK_TIMEOUT);
        return seconds > 0 ? seconds : Settings.Around.HEALTH_TIMEOUT_S;
    }

    private static int suspendGrace(SlurmConf conf) {
        String seconds = conf.parameters(Key.PREEMPT_PARAMETERS).getOrDefault("suspend_grace_time", "");
        return seconds.matches("[0-9]{1,6}") ? Integer.parseInt(seconds) : Settings.Around.SUSPEND_GRACE_S;
    }

    private static Map<String, String> powerActions(SlurmConf conf) {
        Map<String, String> out = new TreeMap<>();
        conf.powerActions().stream()
                .filter(a -> a.location().equals("slurmd"))
                .forEach(a -> out.put(a.name(), a.program()));
        return out;
    }

    private static AcctGatherConf gather(SlurmConf conf, List<ConfigError> errors) {
        AcctGatherConf gather = AcctGatherConf.read(conf.sister("acct_gather.conf"), errors);
        if (sysfs(conf) && gather.interfaces().isEmpty()) {
            errors.add(new ConfigError(
                    conf.file(),
                    0,
                    conf.text(Key.ACCT_GATHER_INTERCONNECT_TYPE) + " needs SysfsInterfaces in acct_gather.conf",
                    ""));
        }
        ProfileConf.of(conf, gather, errors);
        Map<String, String> params = conf.parameters(Key.JOB_ACCT_GATHER_PARAMS);
        if (params.containsKey("usepss") && params.containsKey("noshared")) {
            errors.add(
                    new ConfigError(conf.file(), 0, "JobAcctGatherParams: NoShared and UsePss exclude each other", ""));
        }
        return gather;
    }

    private static boolean sysfs(SlurmConf conf) {
        return conf.text(Key.ACCT_GATHER_INTERCONNECT_TYPE).equalsIgnoreCase("acct_gather_interconnect/sysfs");
    }

    private static boolean gathers(SlurmConf conf) {
        return conf.given(Key.JOB_ACCT_GATHER_TYPE)
                && !conf.text(Key.JOB_ACCT_GATHER_TYPE).endsWith("none");
    }

    private static boolean lustre(SlurmConf conf) {
        return conf.text(Key.ACCT_GATHER_FILESYSTEM_TYPE).equalsIgnoreCase("acct_gather_filesystem/lustre");
    }

    private static Settings.Tasks tasks(SlurmConf conf, boolean gpus) {
        Map<String, String> params = conf.parameters(Key.JOB_ACCT_GATHER_PARAMS);
        return new Settings.Tasks(
                gathers(conf),
                taskSeconds(conf.text(Key.JOB_ACCT_GATHER_FREQUENCY)).orElse(POLL_SECONDS_DEFAULT),
                params.containsKey("usepss"),
                params.containsKey("noshared"),
                gpus && !params.containsKey("disablegpuacct"));
    }

    private static Settings.Sensing sensing(SlurmConf conf, AcctGatherConf gather, boolean gpus) {
        boolean accounted = sysfs(conf) && conf.has(Key.ACCOUNTING_STORAGE_TRES, "ic/sysfs");
        return new Settings.Sensing(
                energy(conf, gather),
                (int) conf.number(Key.ACCT_GATHER_NODE_FREQ),
                accounted ? gather.interfaces() : List.of(),
                lustre(conf) && conf.has(Key.ACCOUNTING_STORAGE_TRES, "fs/lustre"),
                tasks(conf, gpus),
                new Settings.Profiling(
                        ProfileConf.of(conf, gather, new ArrayList<>()),
                        conf.text(Key.JOB_ACCT_GATHER_FREQUENCY),
                        sysfs(conf) ? gather.interfaces() : List.of(),
                        lustre(conf)));
    }

    private static Settings.Energy energy(SlurmConf conf, AcctGatherConf gather) {
        return switch (conf.text(Key.ACCT_GATHER_ENERGY_TYPE).toLowerCase(java.util.Locale.ROOT)) {
            case "acct_gather_energy/rapl" -> Settings.Energy.RAPL;
            case "acct_gather_energy/ipmi" ->
                new Settings.Energy(Settings.Energy.Kind.IPMI, gather.energySeconds(), gather.energySensors());
            case "acct_gather_energy/gpu" ->
                new Settings.Energy(Settings.Energy.Kind.GPU, AcctGatherConf.ENERGY_SECONDS_DEFAULT, "");
            default -> Settings.Energy.NOT;
        };
    }

    /** job_container.conf or namespace.yaml as far as this node is concerned, where slurm.conf asks for it. */
    static JobContainerConf container(SlurmConf conf, NodeConf node, String hostname, List<ConfigError> errors) {
        String type =
                conf.given(Key.NAMESPACE_TYPE) ? conf.text(Key.NAMESPACE_TYPE) : conf.text(Key.JOB_CONTAINER_TYPE);
        return switch (type.substring(type.indexOf('/') + 1).toLowerCase(java.util.Locale.ROOT)) {
            case "", "none" -> JobContainerConf.NONE;
            case "tmpfs" ->
                JobContainerConf.read(conf.sister("job_container.conf"), node.name(), errors)
                        .replacing(Map.of("%h", hostname, "%n", node.name()));
            case "linux" ->
                JobContainerConf.readYaml(conf.sister("namespace.yaml"), node.name(), errors)
                        .replacing(Map.of("%h", hostname, "%n", node.name()));
            default -> {
                errors.add(new ConfigError(conf.file(), 0, type + " is not part of this version", ""));
                yield JobContainerConf.NONE;
            }
        };
    }

    private static CgroupSettings confinement(
            SlurmConf conf, NodeConf node, CgroupConf cgroup, boolean task, GresConf gres) {
        boolean off = cgroup.plugin().equals("disabled");
        boolean confines = task && !off;
        return new CgroupSettings(
                cgroup,
                tracking(conf.text(Key.PROCTRACK_TYPE), off),
                confines && cgroup.constrainCores(),
                confines && cgroup.constrainDevices(),
                confines && cgroup.constrainRamSpace(),
                confines && cgroup.constrainSwapSpace(),
                deviceFiles(node, gres));
    }

    /** The files of each device, by the name of its GRES. */
    private static Map<String, List<List<String>>> deviceFiles(NodeConf node, GresConf gres) {
        Map<String, List<List<String>>> files = new TreeMap<>();
        for (NodeConf.Gres g : node.gres()) {
            List<List<String>> devices = files.computeIfAbsent(g.name(), n -> new ArrayList<>());
            int before = devices.size();
            for (GresConf.Device d : gres.forNode(node.name())) {
                if (d.name().equals(g.name())
                        && (d.type().equals(g.type()) || g.type().isEmpty())) {
                    d.files().forEach(f -> devices.add(List.of(f)));
                    if (!d.multiple().isEmpty()) {
                        devices.add(d.multiple());
                    }
                }
            }
            while (devices.size() - before < Math.min(g.count(), DEVICES_MAX)) {
                devices.add(List.of()); // a device that is only counted has no file
            }
        }
        return files;
    }

    private static CgroupSettings.Tracking tracking(String type, boolean noGroups) {
        return switch (type.substring(type.indexOf('/') + 1)) {
            case "pgid" -> CgroupSettings.Tracking.GROUP;
            case "cgroup" -> noGroups ? CgroupSettings.Tracking.DESCENT : CgroupSettings.Tracking.CGROUP;
            default -> CgroupSettings.Tracking.DESCENT;
        };
    }

    private static Settings.Shape shape(NodeConf n) {
        return new Settings.Shape(
                n.cpus(),
                n.boards(),
                n.sockets(),
                n.coresPerSocket(),
                n.threadsPerCore(),
                n.realMemoryMb(),
                n.tmpDiskMb());
    }

    private static int limit(int seconds) {
        return seconds == NO_LIMIT ? 0 : seconds;
    }

    /** PAM's modules need the C library as they know it, the usual program does without libraries. */
    private static Path stepd(Path program, boolean pam) {
        Path twin = program.resolveSibling(program.getFileName() + "-pam");
        return pam && Files.exists(twin) ? twin : program;
    }

    private static int pollSeconds(String frequency) {
        return Math.max(1, taskSeconds(frequency).orElse(POLL_SECONDS_DEFAULT));
    }

    /** The interval of {@code 30} or {@code task=30,energy=5}. */
    public static OptionalInt taskSeconds(String frequency) {
        return seconds(frequency, "task=");
    }

    /** Seconds of one kind such as {@code energy=}; a number alone means tasks. */
    public static OptionalInt seconds(String frequency, String kind) {
        for (String part : frequency.split(",")) {
            String number;
            if (part.startsWith(kind)) {
                number = part.substring(kind.length());
            } else if (kind.equals("task=")) {
                number = part;
            } else {
                number = "";
            }

            if (!number.isEmpty() && number.chars().allMatch(Character::isDigit)) {
                return OptionalInt.of(Integer.parseInt(number));
            }
        }
        return OptionalInt.empty();
    }

    /** TaskProlog and TaskEpilog: what begins with no slash lies beside slurm.conf. */
    private static String ofTasks(String program, Path beside) {
        return program.isEmpty() ? "" : beside.resolve(program).toString();
    }

    /**
     * Prolog and Epilog may be patterns or directories; the programs they match run in the reverse order of their names
     * (z to a, Z to A, 9 to 0), without what is hidden. What begins with no slash lies beside slurm.conf.
     */
    static List<String> programs(List<String> patterns, Path beside) {
        List<String> out = new ArrayList<>();
        for (String pattern : patterns) {
            Path path = beside.resolve(pattern);
            boolean directory = Files.isDirectory(path);
            if (!directory && pattern.indexOf('*') < 0 && pattern.indexOf('?') < 0 && pattern.indexOf('[') < 0) {
                out.add(path.toString());
                continue;
            }
            List<String> found = new ArrayList<>();
            try (DirectoryStream<Path> all = Files.newDirectoryStream(
                    directory ? path : path.getParent(),
                    directory ? "*" : path.getFileName().toString())) {
                all.forEach(p -> {
                    if (Files.isRegularFile(p) && !p.getFileName().toString().startsWith(".")) {
                        found.add(p.toString());
                    }
                });
            } catch (IOException e) {
                out.add(path.toString());
            }
            found.sort(java.util.Comparator.reverseOrder());
            out.addAll(found);
        }
        return List.copyOf(out);
    }
}
