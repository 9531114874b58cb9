package dev.muster.cli.shape;

import dev.muster.cli.Texts;
import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** slurm.conf and slurmdbd.conf as {@code slurm/v0.0.45/conf} and {@code slurmdb/v0.0.45/conf} have them: each value in its kind. */
public final class ConfJson {
    private static final String TEXTS = """
            AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageType AcctGatherProfileType
            AcctGatherInterconnectType AcctGatherFilesystemType AuthInfo AuthAltParameters AuthType BurstBufferType CertgenType
            CertmgrParameters CertmgrType ClusterName CpuFreqDef CredType DataParserParameters GpuFreqDef HashPlugin HealthCheckProgram
            HttpParserType InteractiveStepOptions JobAcctGatherType JobCompHost JobCompLoc JobCompParams JobCompType JobCompUser
            LogTimeFormat MailDomain MailProg MCSPlugin MetricsType MpiDefault NamespaceType PluginDir PlugStackConfig PreemptType
            PrEpParameters PriorityDecayHalfLife PriorityCalcPeriod PriorityMaxAge PriorityParameters PriorityUsageResetPeriod PriorityType
            PriorityWeightTRES ProctrackType PropagatePrioProcess RebootProgram ResumeFailProgram ResumeProgram ResvEpilog ResvProlog
            ReturnToService SlurmSchedLogFile SchedulerType SelectType PrioritySiteFactorPlugin PrioritySiteFactorParameters SlurmctldAddr
            SlurmctldDebug SlurmctldLogFile SlurmctldPidFile SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmdDebug
            SlurmdLogFile SlurmdPidFile SlurmdSpoolDir SlurmdSyslogDebug SrunEpilog SrunProlog StateSaveLocation SuspendProgram SwitchType
            TaskEpilog TaskProlog TLSType TmpFS TopologyPlugin UnkillableStepProgram UrlParserType ArchiveDir ArchiveScript DbdAddr
            DbdBackupHost DbdHost DebugLevel DefaultQOS LogFile MaxQueryTimeRange PidFile StorageLoc StoragePassScript StorageUser
            DebugLevelSyslog""";
    private static final String NUMBERS = """
            AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout CompleteWait EioTimeout EpilogMsgTime FirstJobId
            FairShareDampeningFactor GroupUpdateTime HealthCheckInterval InactiveLimit JobCompPort KillWait MaxArraySize MaxBatchRequeue
            MaxDBDMsgs MaxJobCount MaxJobId MaxNodeCount MaxStepCount MaxTasksPerNode MinJobAge MessageTimeout OverTimeLimit
            PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS
            ResumeRate ResumeTimeout ResvOverRun SlurmSchedLogLevel SchedulerTimeSlice SlurmctldPort SlurmctldTimeout SlurmdPort
            SlurmdTimeout SuspendRate SuspendTimeout TCPTimeout TreeWidth UnkillableStepTimeout VSizeFactor WaitTime CommitDelay DbdPort
            MaxPurgeLimit""";
    private static final String LISTS = """
            AccountingStorageTRES AccountingStorageParameters AcctGatherEnergyType AuthAltTypes BcastExclude BcastParameters
            CertgenParameters CliFilterParameters CliFilterPlugins CommunicationParameters DependencyParameters Epilog EpilogSlurmctld
            FederationParameters GresTypes JobAcctGatherFrequency JobAcctGatherParams JobSubmitPlugins LaunchParameters Licenses
            MCSParameters MetricsAuthUsers MetricsParameters MpiParams NodeFeaturesPlugins PreemptParameters PrEpPlugins Prolog
            PrologSlurmctld PropagateResourceLimits PropagateResourceLimitsExcept RequeueExit RequeueExitHold SchedulerParameters
            ScronParameters SlurmctldParameters SlurmdParameters SuspendExcNodes SuspendExcParts SuspendExcStates SwitchParameters
            TaskPlugin TLSParameters TopologyParam X11Parameters CpuFreqGovernors DebugFlags AccountingStorageEnforce PrivateData
            PrologFlags ReconfigFlags AccountingStoreFlags Parameters""";
    /** The same with their words in upper case. */
    private static final String CAPITALS = "EnforcePartLimits HealthCheckNodeState PreemptMode PriorityFlags SelectTypeParameters";
    private static final String SWITCHES = "GroupUpdateForce JobFileAppend JobRequeue KillOnBadExit PriorityFavorSmall TrackSlurmctldDown TrackWCKey";
    private static final String OPTIONAL = "DefMemPerCPU EpilogTimeout MaxMemPerCPU PrologTimeout SuspendTime";
    /** What is shown of slurmdbd.conf. */
    private static final String DBD = """
            ArchiveDir ArchiveScript CommitDelay DbdAddr DbdBackupHost DbdHost DbdPort DebugLevel DefaultQOS LogFile MaxPurgeLimit
            MaxQueryTimeRange Parameters PidFile StorageLoc StoragePassScript StorageUser DebugLevelSyslog TrackSlurmctldDown TrackWCKey""";
    private static final String FLAGS = "DisableRootJobs AllowSpecResourcesUsage UsePam TrackWCKey";

    private ConfJson() {}

    /**
     * @param reply       to QueryConfig
     * @param controllers their names, the primary first
     */
    public static Json.Obj slurm(Json.Obj reply, List<String> controllers) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String line : reply.texts("lines")) {
            int equals = line.indexOf('=');
            if (equals > 0 && line.charAt(0) > ' ') {
                String value = line.substring(equals + 1).strip();
                values.putIfAbsent(line.substring(0, equals).strip(), value.startsWith("(null") ? "" : value);
            }
        }
        List<Object> flags = new ArrayList<>();
        for (String flag : FLAGS.split(" ")) {
            if (values.getOrDefault(flag, "").equals("yes")) {
                flags.add(flag);
            }
            values.remove(flag);
        }
        Json.Obj conf = converted(values).put("ConfFlags", flags);
        List<Object> hosts = new ArrayList<>();
        controllers.forEach(name -> hosts.add(new Json.Obj().put("machine", name).put("address", address(values, name))));
        conf.put("controllers", hosts);
        for (String who : List.of("SlurmUser", "SlurmdUser")) {
            String text = values.getOrDefault(who, "");
            int open = text.indexOf('(');
            if (open > 0) {
                conf.put(who, text.substring(0, open)).put(who + "Id", leading(text.substring(open + 1)));
            }
        }
        return new Json.Obj().put("slurm_conf", conf).put("slurm_conf_meta", new Json.Obj().put("LastUpdate", reply.number("now"))
                .put("NEXT_JOB_ID", Tree.orUnset(leading(values.getOrDefault("NEXT_JOB_ID", ""))))
                .put("SLURM_CONF", values.getOrDefault("SLURM_CONF", "")).put("SLURM_VERSION", values.getOrDefault("SLURM_VERSION", "")));
    }

    /** @param row of slurmdbd's configuration */
    public static Json.Obj slurmdbd(Json.Obj row) {
        Map<String, String> values = new LinkedHashMap<>();
        List<String> shown = List.of(DBD.split("\\s+"));
        row.fields().forEach((k, v) -> {
            if (shown.contains(k)) {
                values.put(k, String.valueOf(v));
            }
        });
        return new Json.Obj().put("slurmdbd_conf", converted(values));
    }

    private static String address(Map<String, String> values, String name) {
        for (Map.Entry<String, String> e : values.entrySet()) {
            if (e.getKey().startsWith("SlurmctldHost[") && e.getValue().startsWith(name + "(")) {
                return e.getValue().substring(name.length() + 1, e.getValue().length() - 1);
            }
        }
        return name;
    }

    private static Json.Obj converted(Map<String, String> values) {
        Json.Obj out = new Json.Obj();
        // names differ in their letters' case here and there
        Map<String, String> lower = new LinkedHashMap<>();
        values.forEach((k, v) -> lower.putIfAbsent(Texts.lower(k), v));
        String[] kinds = {TEXTS, NUMBERS, LISTS, CAPITALS, SWITCHES, OPTIONAL};
        for (String kind : kinds) {
            for (String name : kind.split("\\s+")) {
                String value = lower.get(Texts.lower(name));
                if (value != null) {
                    out.put(name, value(kind, value));
                }
            }
        }
        return out;
    }

    private static Object value(String kind, String text) {
        return switch (kind) {
            case NUMBERS -> leading(text);
            case LISTS -> text.equals("none") ? new ArrayList<>() : new ArrayList<Object>(Texts.split(text, ','));
            case CAPITALS -> new ArrayList<Object>(Texts.split(text.equals("OFF") ? "DISABLED" : Texts.upper(text), ','));
            case SWITCHES -> text.equals("1") || text.equalsIgnoreCase("yes");
            case OPTIONAL -> text.equals("INFINITE") || text.equals("UNLIMITED") ? Tree.infinite() : Tree.orUnset(leading(text));
            default -> text;
        };
    }

    /** {@code 30 sec} */
    private static long leading(String text) {
        int end = 0;
        while (end < text.length() && end < 15 && Character.isDigit(text.charAt(end))) {
            end++;
        }
        return end == 0 ? 0 : Long.parseLong(text.substring(0, end));
    }
}
