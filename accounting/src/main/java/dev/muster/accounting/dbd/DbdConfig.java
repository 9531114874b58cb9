package dev.muster.accounting.dbd;

import dev.muster.config.SlurmdbdConf;
import dev.muster.daemon.Identities;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** slurmdbd.conf as sacctmgr shows it, and what of it has no effect. */
public final class DbdConfig {
    private static final String[] SHOWN = """
            AllowNoDefAcct ArchiveDir ArchiveEvents ArchiveJobEnv ArchiveJobScript ArchiveJobs ArchiveResvs
            ArchiveScript ArchiveSteps ArchiveSuspend ArchiveTXN ArchiveUsage AuthAltTypes AuthAltParameters AuthInfo
            AuthType BOOT_TIME CommitDelay CommunicationParameters DbdAddr DbdBackupHost DbdHost DbdPort DebugFlags
            DebugLevel DebugLevelSyslog DefaultQOS DisableArchiveCommands DisableCoordDBD DisableRollups HashPlugin
            LogFile MaxPurgeLimit MaxQueryTimeRange MessageTimeout Parameters PidFile PluginDir PrivateData
            PurgeEventAfter PurgeJobAfter PurgeJobEnvAfter PurgeJobScriptAfter PurgeResvAfter PurgeStepAfter
            PurgeSuspendAfter PurgeTXNAfter PurgeUsageAfter SLURMDBD_CONF SLURMDBD_VERSION SlurmUser StorageBackupHost
            StorageHost StorageLoc StorageParameters StoragePassScript StoragePort StorageType StorageUser TCPTimeout
            TLSParameters TLSType TrackWCKey TrackSlurmctldDown""".split("\\s+");
    private static final List<String> INERT = List.of(
            "ArchiveSuspend",
            "ArchiveUsage",
            "CommitDelay",
            "DebugLevelSyslog",
            "HashPlugin",
            "MessageTimeout",
            "PluginDir",
            "PurgeSuspendAfter",
            "PurgeUsageAfter",
            "TCPTimeout",
            "TrackSlurmctldDown");
    /** CommunicationParameters with an effect. */
    private static final String OWN_ADDRESS = "NoInAddrAny";

    /** DebugFlags with an effect. */
    private static final List<String> WRITTEN = List.of("AuditRPCs", "AuditTLS", "TLS");

    private static final long BOOT = System.currentTimeMillis() / 1000;

    private DbdConfig() {}

    static Map<String, String> shown(SlurmdbdConf conf, Identities identities) {
        Map<String, String> out = new LinkedHashMap<>();
        for (String key : SHOWN) {
            out.put(
                    key,
                    switch (key) {
                        case "BOOT_TIME" -> Long.toString(BOOT);
                        case "SLURMDBD_VERSION" -> Release.VERSION;
                        case "SLURMDBD_CONF" -> conf.path();
                        case "SlurmUser" ->
                            conf.slurmUser() + "("
                                    + identities
                                            .byName(conf.slurmUser())
                                            .map(i -> i.uid())
                                            .orElse(0) + ")";
                        case "StoragePort" -> {
                            if (!conf.text(key).equals("0")) {
                                yield conf.text(key);
                            }
                            if (conf.storageType().equals(SlurmdbdServer.POSTGRESQL)) {
                                yield "5432";
                            }
                            yield "3306";
                        }
                        default -> conf.text(key);
                    });
        }
        return out;
    }

    /** A sentence for every key that is given and has no effect. */
    public static List<String> inert(SlurmdbdConf conf) {
        List<String> out = new ArrayList<>();
        for (String key : INERT) {
            if (conf.given(key)) {
                out.add(key + " has no effect in this version");
            }
        }
        List<String> others = words(conf, "CommunicationParameters").stream()
                .filter(w -> !w.equalsIgnoreCase(OWN_ADDRESS))
                .toList();
        if (!others.isEmpty()) {
            out.add("CommunicationParameters=" + String.join(",", others) + " has no effect in this version");
        }
        List<String> silent = flags(conf).stream()
                .filter(f -> WRITTEN.stream().noneMatch(f::equalsIgnoreCase))
                .toList();
        if (!silent.isEmpty()) {
            out.add("DebugFlags: nothing is written for " + String.join(",", silent) + " in this version");
        }
        return out;
    }

    private static List<String> flags(SlurmdbdConf conf) {
        return words(conf, "DebugFlags");
    }

    /** Whether slurmdbd listens on its own address alone. */
    static boolean bindsOwnAddress(SlurmdbdConf conf) {
        return words(conf, "CommunicationParameters").stream().anyMatch(OWN_ADDRESS::equalsIgnoreCase);
    }

    private static List<String> words(SlurmdbdConf conf, String key) {
        return List.of(conf.text(key).split(",")).stream()
                .map(String::strip)
                .filter(f -> !f.isEmpty())
                .toList();
    }

    /** Whether one of DebugFlags is set. */
    static boolean hasFlag(SlurmdbdConf conf, String flag) {
        return flags(conf).stream().anyMatch(flag::equalsIgnoreCase);
    }
}
