package dev.muster.config;

import static java.util.Objects.requireNonNull;

import dev.muster.config.file.SisterFiles;
import dev.muster.config.key.ConfigRow;
import dev.muster.config.key.Key;
import dev.muster.config.key.Names;
import dev.muster.config.key.Values;
import dev.muster.config.sister.MpiConf;
import dev.muster.model.format.Durations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The lines of {@code scontrol show config}. */
public final class ShowConfig {
    /** Keys in order; after the colon, how the value is written. Without a colon: the text, or {@code (null)}. */
    private static final String LAYOUT = """
        AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageHost AccountingStorageExternalHost
        AccountingStorageParameters AccountingStoragePort:n AccountingStorageTRES:tres AccountingStorageType
        AccountingStoreFlags AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInterconnectType
        AcctGatherNodeFreq:sec AcctGatherProfileType AllowSpecResourcesUsage:yn AuthAltTypes AuthAltParameters AuthInfo
        AuthType BatchStartTimeout:sec BcastExclude BcastParameters BOOT_TIME:live BurstBufferType CertgenParameters
        CertgenType CertmgrParameters CertmgrType CliFilterParameters CliFilterPlugins ClusterName
        CommunicationParameters CompleteWait:sec CpuFreqDef CpuFreqGovernors CredType:cred DataParserParameters
        DebugFlags DefMem:mem DependencyParameters DisableRootJobs:yn EioTimeout:n EnforcePartLimits Epilog:lines
        EpilogMsgTime:usec EpilogSlurmctld:lines EpilogTimeout:given FairShareDampeningFactor:n FederationParameters
        FirstJobId:n GresTypes GpuFreqDef GroupUpdateForce:n GroupUpdateTime:sec HASH_VAL:live HashPlugin
        HealthCheckInterval:sec HealthCheckNodeState HealthCheckProgram HealthCheckTimeout:sec HttpParserType
        InactiveLimit:sec InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherType JobAcctGatherParams
        JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPort:n JobCompType JobCompUser JobDefaults:defaults
        JobFileAppend:n JobRequeue:n JobSubmitPlugins KillOnBadExit:n KillWait:sec LaunchParameters LicenseParameters
        Licenses LogTimeFormat MailDomain MailProg MaxArraySize:n MaxBatchRequeue:n MaxDBDMsgs:dbd MaxJobCount:n
        MaxJobId:n MaxMem:mem MaxNodeCount:nodes MaxStepCount:n MaxTasksPerNode:n MCSPlugin MCSParameters
        MessageTimeout:sec MetricsAuthUsers MetricsParameters MetricsType MinJobAge:sec MpiDefault MpiParams
        NamespaceType NEXT_JOB_ID:live NodeFeaturesPlugins OverTimeLimit:min PluginDir PlugStackConfig PreemptMode:modes
        PreemptParameters PreemptType PreemptExemptTime:exempt PrEpParameters PrEpPlugins PriorityParameters
        PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityDecayHalfLife:prio PriorityCalcPeriod:prio
        PriorityFavorSmall:prio PriorityFlags:prio PriorityMaxAge:prio PriorityType PriorityUsageResetPeriod:prio
        PriorityWeightAge:prio PriorityWeightAssoc:prio PriorityWeightFairShare:prio PriorityWeightJobSize:prio
        PriorityWeightPartition:prio PriorityWeightQOS:prio PriorityWeightTRES:prio PrivateData ProctrackType
        Prolog:lines PrologEpilogTimeout:n PrologSlurmctld:lines PrologTimeout:given PrologFlags PropagatePrioProcess:n
        PropagateResourceLimits:limits PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit
        RequeueExitHold ResumeFailProgram ResumeProgram ResumeRate:rate ResumeTimeout:forever ResvEpilog ResvOverRun:min
        ResvProlog ReturnToService:n SchedulerParameters SchedulerTimeSlice:sec SchedulerType ScronParameters SelectType
        SelectTypeParameters SlurmUser:user SlurmctldAddr SlurmctldDebug:level SlurmctldHost:hosts
        SlurmctldHttpAuthParameters SlurmctldLogFile SlurmctldPort SlurmctldSyslogDebug:level SlurmctldPrimaryOffProg
        SlurmctldPrimaryOnProg SlurmctldTimeout:sec SlurmctldParameters SlurmdDebug:level SlurmdHttpAuthParameters
        SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort:n SlurmdSpoolDir SlurmdSyslogDebug:level
        SlurmdTimeout:sec SlurmdUser:user SlurmSchedLogFile SlurmSchedLogLevel:n SlurmctldPidFile SLURM_CONF:live
        SLURM_VERSION:live SrunEpilog SrunPortRange:range SrunProlog StateSaveLocation SuspendExcNodes:joined
        SuspendExcParts:joined SuspendExcStates:joined SuspendProgram SuspendRate:rate SuspendTime:suspend
        SuspendTimeout:sec SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam:task TaskProlog
        TCPTimeout:sec TLSParameters TLSType TmpFS TopologyParam TopologyPlugin TrackWCKey:keys TreeWidth:n UsePam:yn
        UnkillableStepProgram UnkillableStepTimeout:sec UrlParserType VSizeFactor:percent WaitTime:sec X11Parameters\
        """;

    private static final String NULL = "(null)";
    private static final String ALL_TRES = "cpu,mem,energy,node,billing,fs/disk,vmem,pages";

    private final SlurmConf conf;
    private final LiveValues live;
    private final List<String> out = new ArrayList<>();
    private final Map<String, Key> byName = new HashMap<>();

    private ShowConfig(SlurmConf conf, LiveValues live) {
        this.conf = conf;
        this.live = live;
        for (Key key : Key.values()) {
            byName.put(key.slurmName().toLowerCase(Locale.ROOT), key);
        }
    }

    /** The lines of {@code scontrol show config} between its title and the state of the controllers. */
    public static List<String> of(SlurmConf conf, LiveValues live) {
        ShowConfig show = new ShowConfig(conf, live);
        for (String item : LAYOUT.split("\\s+")) {
            int colon = item.indexOf(':');
            show.item(colon < 0 ? item : item.substring(0, colon), colon < 0 ? "" : item.substring(colon + 1));
        }
        show.out.addAll(
                MpiConf.read(conf.sister(SisterFiles.MPI), new ArrayList<>()).show());
        return List.copyOf(show.out);
    }

    private void item(String name, String format) {
        switch (format) {
            case "live" -> row(name, live(name));
            case "mem" -> memory(name);
            case "hosts" -> hosts();
            default -> item(name, format, requireNonNull(byName.get(name.toLowerCase(Locale.ROOT)), name));
        }
    }

    private void item(String name, String format, Key key) {
        switch (format) {
            case "" -> row(name, orNull(conf.text(key)));
            case "n", "sec", "min", "usec", "percent", "rate", "yn" -> row(name, number(key, format));
            case "keys" ->
                row(name, conf.yes(key) || conf.has(Key.ACCOUNTING_STORAGE_ENFORCE, "wckeys") ? "yes" : "no");
            case "lines" -> indexed(name, conf.list(key));
            case "modes" -> row(name, modes(conf.list(key)));
            case "joined" -> row(name, orNull(String.join(",", conf.list(key))));
            case "given" -> {
                if (conf.given(key)) {
                    row(name, number(key, "sec"));
                }
            }
            case "prio" -> {
                if (conf.text(Key.PRIORITY_TYPE).equals("priority/multifactor")) {
                    row(name, priority(key));
                }
            }
            case "user" -> row(name, live.userWithId().apply(conf.text(key)));
            default -> row(name, special(key, format));
        }
    }

    /** PreemptMode with GANG and WITHIN before the mode itself. */
    private static String modes(List<String> given) {
        List<String> words = given.stream().map(w -> w.toUpperCase(Locale.ROOT)).toList();
        return String.join(
                ",", Names.PREEMPT_MODES.stream().filter(words::contains).toList());
    }

    private void row(String name, String value) {
        out.add(ConfigRow.of(name, value));
    }

    private static String orNull(String text) {
        return text.isEmpty() ? NULL : text;
    }

    private void indexed(String name, List<String> values) {
        for (int i = 0; i < values.size(); i++) {
            row(name + "[" + i + "]", values.get(i));
        }
    }

    private void hosts() {
        for (int i = 0; i < conf.controllers().size(); i++) {
            Controller c = conf.controllers().get(i);
            String address = c.host().equals(c.address()) ? "" : "(" + c.address() + ")";
            row("SlurmctldHost[" + i + "]", c.host() + address);
        }
    }

    private String number(Key key, String format) {
        long value = conf.number(key);
        if (format.equals("min") && value == SlurmConf.UNLIMITED) {
            return "UNLIMITED";
        }
        long shown = value < 0 ? Values.U16_MAX : value;
        return switch (format) {
            case "n" -> Long.toString(shown);
            case "rate" -> shown + " nodes/min";
            case "yn" -> value != 0 ? "yes" : "no";
            default -> shown + " " + format;
        };
    }

    private String priority(Key key) {
        return switch (key.kind()) {
            case DURATION -> conf.number(key) == SlurmConf.UNLIMITED ? "UNLIMITED" : Durations.full(conf.number(key));
            case YES_NO -> number(key, "yn");
            case U32 -> number(key, "n");
            default -> key == Key.PRIORITY_FLAGS ? priorityFlags() : orNull(conf.text(key));
        };
    }

    /** One of them brings another along. */
    private String priorityFlags() {
        boolean brings =
                conf.has(Key.PRIORITY_FLAGS, "DEPTH_OBLIVIOUS") && !conf.has(Key.PRIORITY_FLAGS, "NO_FAIR_TREE");
        return conf.text(Key.PRIORITY_FLAGS) + (brings ? ",NO_FAIR_TREE" : "");
    }

    private String live(String name) {
        return switch (name) {
            case "BOOT_TIME" -> live.bootTime();
            case "HASH_VAL" -> "Match";
            case "NEXT_JOB_ID" -> Integer.toString(live.nextJobId());
            case "SLURM_CONF" -> conf.file();
            default -> live.version();
        };
    }

    private void memory(String which) {
        long perCpu = which.startsWith("Def") ? conf.defMemPerCpuMb() : conf.maxMemPerCpuMb();
        long perNode = which.startsWith("Def") ? conf.defMemPerNodeMb() : conf.maxMemPerNodeMb();
        if (perCpu > 0) {
            row(which + "PerCPU", Long.toString(perCpu));
        } else {
            row(which + "PerNode", perNode > 0 ? Long.toString(perNode) : "UNLIMITED");
        }
    }

    private String special(Key key, String format) {
        return switch (format) {
            case "tres" -> ALL_TRES + (conf.text(key).isEmpty() ? "" : "," + conf.text(key));
            case "cred" -> conf.text(key).isEmpty() ? conf.authType().replace("auth/", "cred/") : conf.text(key);
            case "defaults" -> orNull(jobDefaults());
            case "dbd" ->
                Long.toString(
                        conf.given(key)
                                ? conf.number(key)
                                : Math.max(
                                        10_000,
                                        2L * conf.maxJobCount()
                                                + 4L * conf.nodes().size()));
            case "nodes" ->
                Integer.toString((int) Math.max(conf.number(key), conf.nodes().size()));
            case "exempt" ->
                conf.text(key).isEmpty()
                        ? "00:00:00"
                        : Durations.full(Durations.parseSeconds(conf.text(key)).orElse(0));
            case "limits" ->
                conf.text(key).isEmpty()
                                && conf.text(Key.PROPAGATE_RESOURCE_LIMITS_EXCEPT)
                                        .isEmpty()
                        ? "ALL"
                        : orNull(conf.text(key));
            case "level" -> conf.text(key).isEmpty() ? NULL : SlurmConf.debugName((int) conf.number(key));
            case "range" -> conf.text(key).isEmpty() ? "0-0" : conf.text(key);
            case "forever" -> conf.text(key).matches("(?i)infinite|unlimited") ? "INFINITE" : conf.number(key) + " sec";
            case "suspend" ->
                conf.text(key).isEmpty() || conf.text(key).equals("INFINITE") ? "INFINITE" : conf.text(key) + " sec";
            case "task" -> conf.text(key).isEmpty() ? "(null type)" : conf.text(key);
            default -> throw new IllegalStateException("format " + format);
        };
    }

    private String jobDefaults() {
        StringBuilder text = new StringBuilder(conf.text(Key.JOB_DEFAULTS));
        for (Key key : List.of(Key.DEF_CPU_PER_GPU, Key.DEF_MEM_PER_GPU)) {
            if (conf.number(key) > 0) {
                text.append(text.isEmpty() ? "" : ",")
                        .append(key.slurmName())
                        .append('=')
                        .append(conf.number(key));
            }
        }
        return text.toString();
    }
}
