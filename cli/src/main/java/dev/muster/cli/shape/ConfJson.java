package dev.muster.cli.shape;

import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import dev.muster.model.format.Durations;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Shapes slurm.conf and slurmdbd.conf as {@code slurm/v0.0.45/conf} and {@code slurmdb/v0.0.45/conf}, each value in its
 * type.
 */
public final class ConfJson {
    private static final String TEXTS = """
        AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageType
        AcctGatherProfileType AcctGatherInterconnectType AcctGatherFilesystemType AuthInfo AuthAltParameters
        AuthType BurstBufferType CertgenType CertmgrParameters CertmgrType ClusterName CpuFreqDef CredType
        DataParserParameters GpuFreqDef HashPlugin HealthCheckProgram HttpParserType InteractiveStepOptions
        JobAcctGatherType JobCompHost JobCompLoc JobCompParams JobCompType JobCompUser LogTimeFormat MailDomain
        MailProg MCSPlugin MetricsType MpiDefault NamespaceType PluginDir PlugStackConfig PreemptType PrEpParameters
        PriorityDecayHalfLife PriorityCalcPeriod PriorityMaxAge PriorityParameters PriorityUsageResetPeriod
        PriorityType PriorityWeightTRES ProctrackType PropagatePrioProcess RebootProgram ResumeFailProgram
        ResumeProgram ResvEpilog ResvProlog ReturnToService SlurmSchedLogFile SchedulerType SelectType
        PrioritySiteFactorPlugin PrioritySiteFactorParameters SlurmctldAddr SlurmctldDebug SlurmctldLogFile
        SlurmctldPidFile SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmdDebug
        SlurmdLogFile SlurmdPidFile SlurmdSpoolDir SlurmdSyslogDebug SrunEpilog SrunProlog StateSaveLocation
        SuspendProgram SwitchType TaskEpilog TaskProlog TLSType TmpFS TopologyPlugin UnkillableStepProgram
        UrlParserType ArchiveDir ArchiveScript DbdAddr DbdBackupHost DbdHost DebugLevel DefaultQOS LogFile
        MaxQueryTimeRange PidFile StorageLoc StoragePassScript StorageUser DebugLevelSyslog\
        """;
    private static final String NUMBERS = """
        AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout CompleteWait EioTimeout EpilogMsgTime FirstJobId
        FairShareDampeningFactor GroupUpdateTime HealthCheckInterval HealthCheckTimeout InactiveLimit JobCompPort
        KillWait MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxNodeCount MaxStepCount
        MaxTasksPerNode MinJobAge MessageTimeout OverTimeLimit PriorityWeightAge PriorityWeightAssoc
        PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS ResumeRate
        ResumeTimeout ResvOverRun SlurmSchedLogLevel SchedulerTimeSlice SlurmctldPort SlurmctldTimeout SlurmdPort
        SlurmdTimeout SuspendRate SuspendTimeout TCPTimeout TreeWidth UnkillableStepTimeout VSizeFactor WaitTime
        CommitDelay DbdPort MaxPurgeLimit\
        """;
    private static final String LISTS = """
        AccountingStorageTRES AccountingStorageParameters AcctGatherEnergyType AuthAltTypes BcastExclude
        BcastParameters CertgenParameters CliFilterParameters CliFilterPlugins CommunicationParameters
        DependencyParameters Epilog EpilogSlurmctld FederationParameters GresTypes JobAcctGatherFrequency
        JobAcctGatherParams JobSubmitPlugins LaunchParameters Licenses MCSParameters MetricsAuthUsers
        MetricsParameters MpiParams NodeFeaturesPlugins PreemptParameters PrEpPlugins Prolog PrologSlurmctld
        PropagateResourceLimits PropagateResourceLimitsExcept RequeueExit RequeueExitHold SchedulerParameters
        ScronParameters SlurmctldParameters SlurmdParameters SuspendExcNodes SuspendExcParts SuspendExcStates
        SwitchParameters TaskPlugin TLSParameters TopologyParam X11Parameters CpuFreqGovernors DebugFlags
        AccountingStorageEnforce PrivateData PrologFlags ReconfigFlags AccountingStoreFlags Parameters JobDefaults
        LicenseParameters SlurmctldHttpAuthParams SlurmdHttpAuthParams TaskPluginParam\
        """;
    /** Keys whose values are lists of upper-case words. */
    private static final String CAPITALS =
            "EnforcePartLimits HealthCheckNodeState PreemptMode PriorityFlags SelectTypeParameters";

    private static final String SWITCHES =
            "GroupUpdateForce JobFileAppend JobRequeue KillOnBadExit PriorityFavorSmall TrackSlurmctldDown TrackWCKey";
    private static final String OPTIONAL = "DefMemPerCPU EpilogTimeout MaxMemPerCPU PrologTimeout SuspendTime";
    /** Names in the text that differ from those in the tree. */
    private static final Map<String, String> RENAMED = Map.of(
            "SlurmctldHttpAuthParameters",
            "SlurmctldHttpAuthParams",
            "SlurmdHttpAuthParameters",
            "SlurmdHttpAuthParams");
    /** Lists that the text omits when they are empty. */
    private static final String LISTED_ALWAYS = "Epilog EpilogSlurmctld Prolog PrologSlurmctld";
    /** Words of a parameter that are also flags in the tree. */
    private static final Map<String, List<String>> PARAMETER_FLAGS = new TreeMap<>(Map.of(
            "CommunicationParameters",
            List.of("IPv4", "IPv6", "disable_http"),
            "SlurmdParameters",
            List.of(
                    "config_overrides",
                    "l3cache_as_socket",
                    "numa_node_as_socket",
                    "allow_ecores",
                    "shutdown_on_reboot",
                    "contain_spank")));
    /** Keys of slurmdbd.conf that are shown. */
    private static final String DBD = """
        ArchiveDir ArchiveScript CommitDelay DbdAddr DbdBackupHost DbdHost DbdPort DebugLevel DefaultQOS LogFile
        MaxPurgeLimit MaxQueryTimeRange Parameters PidFile StorageLoc StoragePassScript StorageUser DebugLevelSyslog
        TrackSlurmctldDown TrackWCKey\
        """;

    private static final String FLAGS = "DisableRootJobs AllowSpecResourcesUsage UsePam TrackWCKey";

    private ConfJson() {}

    /**
     * @param reply to QueryConfig
     * @param controllers their names, the primary first
     */
    public static Json.Obj slurm(Json.Obj reply, List<String> controllers) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String line : reply.texts("lines")) {
            int equals = line.indexOf('=');
            if (equals > 0 && line.charAt(0) > ' ') {
                String value = line.substring(equals + 1).strip();
                String name = line.substring(0, equals).strip();
                values.putIfAbsent(RENAMED.getOrDefault(name, name), value.startsWith("(null") ? "" : value);
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
        always(conf, values);
        List<Object> hosts = new ArrayList<>();
        controllers.forEach(
                name -> hosts.add(new Json.Obj().put("machine", name).put("address", address(values, name))));
        conf.put("controllers", hosts);
        for (String who : List.of("SlurmUser", "SlurmdUser")) {
            String text = values.getOrDefault(who, "");
            int open = text.indexOf('(');
            if (open > 0) {
                conf.put(who, text.substring(0, open)).put(who + "Id", leading(text.substring(open + 1)));
            }
        }
        return new Json.Obj()
                .put("slurm_conf", conf)
                .put(
                        "slurm_conf_meta",
                        new Json.Obj()
                                .put("LastUpdate", reply.number("now"))
                                .put("BOOT_TIME", moment(values.getOrDefault("BOOT_TIME", "")))
                                .put("ClusterId", Tree.number(0))
                                .put("HashValue", 0L)
                                .put("NEXT_JOB_ID", Tree.orUnset(leading(values.getOrDefault("NEXT_JOB_ID", ""))))
                                .put("SLURM_CONF", values.getOrDefault("SLURM_CONF", ""))
                                .put("SLURM_VERSION", values.getOrDefault("SLURM_VERSION", "")));
    }

    /** Adds the fields that only the tree has, or has in another form. */
    private static void always(Json.Obj conf, Map<String, String> values) {
        for (String name : LISTED_ALWAYS.split(" ")) {
            if (!conf.has(name)) {
                conf.put(name, new ArrayList<>());
            }
        }
        PARAMETER_FLAGS.forEach((name, words) -> {
            List<String> flags = Texts.split(Texts.lower(values.getOrDefault(name, "")), ',');
            List<Object> on = new ArrayList<>();
            words.forEach(word -> {
                // slurmctld reaches nodes by IPv4 unless IPv4 is disabled
                if (flags.contains(Texts.lower(word))
                        || word.equals("IPv4") && !flags.contains("disableipv4")
                        || word.equals("IPv6") && flags.contains("enableipv6")) {
                    on.add(word);
                }
            });
            conf.put(name + "Flags", on);
        });
        for (String name : List.of("EpilogTimeout", "PrologTimeout")) {
            conf.put(name, conf.has(name) ? conf.raw(name) : Tree.unset());
        }
        conf.put("MaxMemPerCPU", conf.has("MaxMemPerCPU") ? conf.raw("MaxMemPerCPU") : Tree.number(0));
        String exempt = values.getOrDefault("PreemptExemptTime", "");
        conf.put("PreemptExemptTime", Tree.number(Durations.parseSeconds(exempt).orElse(0)));
        // the system's socket values apply unless CommunicationParameters sets others
        for (String name : List.of(
                "GetNameInfoCacheTimeout",
                "HostUnreachRetryCount",
                "KeepaliveInterval",
                "KeepaliveProbes",
                "KeepaliveTime")) {
            conf.put(name, parameter(values, name));
        }
        conf.put(
                "JobAcctOomKill",
                Texts.split(Texts.lower(values.getOrDefault("JobAcctGatherParams", "")), ',')
                        .contains("overmemorykill"));
        conf.put("SlurmctldPortCount", portCount(values.getOrDefault("SlurmctldPort", "")));
        String[] ports = values.getOrDefault("SrunPortRange", "0-0").split("-", 2);
        long low = leading(ports[0]);
        conf.put(
                "SrunPortRange",
                new Json.Obj()
                        .put("minimum", low)
                        .put("maximum", leading(ports[ports.length - 1]))
                        .put("set", low > 0));
        conf.put("PropagatePrioProcess", WORDS_OF_PRIORITY.getOrDefault(conf.text("PropagatePrioProcess"), "off"));
        conf.put(
                "ReturnToService",
                WORDS_OF_RETURN.getOrDefault(conf.text("ReturnToService"), conf.text("ReturnToService")));
    }

    private static final Map<String, String> WORDS_OF_RETURN = Map.of("0", "off", "1", "non-responsive", "2", "all");
    private static final Map<String, String> WORDS_OF_PRIORITY = Map.of("0", "off", "1", "on", "2", "nicer");

    private static long moment(String text) {
        return text.matches("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}")
                ? LocalDateTime.parse(text).atZone(ZoneId.systemDefault()).toEpochSecond()
                : 0;
    }

    /** {@code GetNameInfoCacheTimeout=60} among CommunicationParameters. */
    private static long parameter(Map<String, String> values, String name) {
        for (String word : Texts.split(values.getOrDefault("CommunicationParameters", ""), ',')) {
            if (Texts.lower(word).startsWith(Texts.lower(name) + "=")) {
                return leading(word.substring(name.length() + 1));
            }
        }
        return 0;
    }

    private static long portCount(String range) {
        int dash = range.indexOf('-');
        return dash < 0 ? 1 : leading(range.substring(dash + 1)) - leading(range) + 1;
    }

    /** {@code 12months}, {@code 30days}; NONE is not set. */
    private static Json.Obj purge(String text, boolean archived) {
        String unit = text.replaceAll("[0-9]", "");
        long count = leading(text);
        return new Json.Obj()
                .put("set", count > 0)
                .put("hours", unit.startsWith("hour") ? count : 0)
                .put("days", unit.startsWith("day") ? count : 0)
                .put("months", unit.startsWith("month") || unit.isEmpty() ? count : 0)
                .put("archive", archived);
    }

    private static final List<String> PURGED =
            List.of("Event", "Job", "Resv", "Step", "Suspend", "TXN", "Usage", "JobScript", "JobEnv");

    /** @param row of slurmdbd's configuration */
    public static Json.Obj slurmdbd(Json.Obj row) {
        Map<String, String> values = new LinkedHashMap<>();
        List<String> shown = List.of(DBD.split("\\s+"));
        row.fields().forEach((k, v) -> {
            if (shown.contains(k)) {
                values.put(k, String.valueOf(v));
            }
        });
        Json.Obj conf = converted(values);
        for (String table : PURGED) {
            conf.put(
                    "Purge" + table + "After",
                    purge(
                            row.text("Purge" + table + "After"),
                            row.text("Archive" + table + "s").equals("Yes")));
        }
        List<String> words = Texts.split(Texts.lower(row.text("Parameters")), ',');
        conf.put(
                "PersistConnFlags",
                words.contains("preservecaseuser") ? Tree.texts("PreserveCaseUser") : new ArrayList<>());
        List<Object> flags = new ArrayList<>();
        for (String flag :
                List.of("AllowNoDefAcct", "AllResourcesAbsolute", "DisableCoordDBD", "DisableArchiveCommands")) {
            if (Texts.lower(row.text(flag)).equals("yes")) {
                flags.add(flag);
            }
        }
        return new Json.Obj().put("slurmdbd_conf", conf.put("Flags", flags));
    }

    private static String address(Map<String, String> values, String name) {
        for (Map.Entry<String, String> entry : values.entrySet()) {
            if (entry.getKey().startsWith("SlurmctldHost[") && entry.getValue().startsWith(name + "(")) {
                return entry.getValue()
                        .substring(name.length() + 1, entry.getValue().length() - 1);
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
            case CAPITALS ->
                new ArrayList<Object>(Texts.split(text.equals("OFF") ? "DISABLED" : Texts.upper(text), ','));
            case SWITCHES -> text.equals("1") || text.equalsIgnoreCase("yes");
            case OPTIONAL ->
                text.equals("INFINITE") || text.equals("UNLIMITED") ? Tree.infinite() : Tree.orUnset(leading(text));
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
