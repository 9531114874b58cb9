package dev.muster.config;

import dev.muster.config.key.ConfigError;
import dev.muster.config.key.KeyCheck;
import dev.muster.config.key.KeyTable;
import dev.muster.config.key.TlsWords;
import dev.muster.config.key.Values;
import dev.muster.model.format.Durations;
import java.io.File;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** slurmdbd.conf: every key is known and checked; the accounting daemon asks for those it acts on. */
public final class SlurmdbdConf {
    private static final KeyTable TABLE = new KeyTable("""
        AllowNoDefAcct yesno no
        AllResourcesAbsolute yesno no
        ArchiveDir text /tmp
        ArchiveEvents yesno no
        ArchiveJobEnv text -
        ArchiveJobs yesno no
        ArchiveJobScript text -
        ArchiveResvs yesno no
        ArchiveScript text -
        ArchiveSteps yesno no
        ArchiveSuspend yesno no
        ArchiveTXN yesno no
        ArchiveUsage yesno no
        AuthAltParameters text -
        AuthAltTypes text -
        AuthInfo text -
        AuthType text auth/munge
        CommitDelay number 0
        CommunicationParameters text -
        DbdAddr text -
        DbdBackupHost text -
        DbdHost text -
        DbdPort number 6819
        DebugFlags text -
        DebugLevel text info
        DebugLevelSyslog text -
        DefaultQOS text -
        DisableArchiveCommands yesno no
        DisableCoordDBD yesno no
        DisableRollups yesno no
        HashPlugin text hash/k12
        LogFile text -
        LogTimeFormat text iso8601_ms
        MaxPurgeLimit number 50000
        MaxQueryTimeRange text INFINITE
        MessageTimeout number 10
        Parameters text -
        PidFile text /var/run/slurmdbd.pid
        PluginDir text -
        PrivateData text none
        PurgeEventAfter text -
        PurgeJobAfter text -
        PurgeJobEnvAfter text -
        PurgeJobScriptAfter text -
        PurgeResvAfter text -
        PurgeStepAfter text -
        PurgeSuspendAfter text -
        PurgeTXNAfter text -
        PurgeUsageAfter text -
        SlurmUser text root
        StorageBackupHost text -
        StorageHost text localhost
        StorageLoc text slurm_acct_db
        StorageParameters text -
        StoragePass text -
        StoragePassScript text -
        StoragePort number 0
        StorageType text accounting_storage/mysql
        StorageUser text -
        TCPTimeout number 2
        TLSParameters text -
        TLSType text tls/none
        TrackSlurmctldDown yesno no
        TrackWCKey yesno no\
        """, "keepalivetime preservecaseuser");

    /** Words of PrivateData that hide something here. */
    private static final List<String> PRIVATE_DATA =
            List.of("none", "accounts", "events", "jobs", "reservations", "usage", "users", "all");

    private static final String TOKEN_DURATION = "token_duration";
    private static final int TOKEN_DURATION_S = 300;
    private static final List<String> STORAGE_PARAMETERS =
            List.of("SSL_CERT", "SSL_CA", "SSL_CAPATH", "SSL_KEY", "SSL_CIPHER", TOKEN_DURATION);
    private static final List<String> PARAMETERS =
            List.of("PreserveCaseUser", "PreserveCaseResource", "PreserveCaseAll");
    private static final int PORT_MAX = 65_535;

    private final String path;
    private final Map<String, String> values;
    private final Set<String> names;

    private SlurmdbdConf(String path, Map<String, String> values, Set<String> names) {
        this.path = path;
        this.values = values;
        this.names = names;
    }

    /** Reads the file; mistakes are added to {@code errors}. */
    public static SlurmdbdConf read(File file, List<ConfigError> errors) {
        Set<String> names = new HashSet<>();
        Map<String, String> values = TABLE.read(file, errors, names);
        Values check = new Values(errors).at(file.getPath(), 0, "");
        KeyCheck.debugLevel("DebugLevel", Values.of(values, "debuglevel"), check);
        for (String word :
                Values.of(values, "privatedata").toLowerCase(Locale.ROOT).split(",")) {
            if (!PRIVATE_DATA.contains(word.strip())) {
                check.error("Bad PrivateData: " + word.strip());
            }
        }
        if (!Values.of(values, "archivescript").isEmpty()
                && !Values.of(values, "archivescript").startsWith("/")) {
            check.error("ArchiveScript " + Values.of(values, "archivescript") + " is no absolute path");
        }
        values.put("tlstype", TlsWords.checkedType(Values.of(values, "tlstype"), check));
        TlsWords.checkedParameters(Values.of(values, "tlsparameters"), check);
        storageParameters(Values.of(values, "storageparameters"), check);
        words("Parameters", Values.of(values, "parameters"), PARAMETERS, check);
        texts(values, "Script", check);
        texts(values, "Env", check);
        String range = Values.of(values, "maxquerytimerange");
        if (Durations.parseMinutes(range).isEmpty()) {
            check.error("Bad value \"" + range + "\" for MaxQueryTimeRange");
        }
        if (Long.parseLong("0" + Values.of(values, "dbdport").replaceAll("[^0-9]", "")) > PORT_MAX) {
            check.error("Bad value \"" + Values.of(values, "dbdport") + "\" for DbdPort");
        }
        return new SlurmdbdConf(file.getPath(), values, names);
    }

    private static void storageParameters(String text, Values check) {
        for (String item : text.split(",")) {
            String name = item.replaceFirst("=.*", "").strip();
            if (!name.isEmpty()
                    && (STORAGE_PARAMETERS.stream().noneMatch(name::equalsIgnoreCase) || !item.contains("="))) {
                check.error("Bad StorageParameters: " + item.strip());
            } else if (name.equalsIgnoreCase(TOKEN_DURATION) && !item.matches(".*=\\s*[1-9][0-9]{0,6}\\s*")) {
                check.error("Bad StorageParameters: " + item.strip());
            }
        }
    }

    /**
     * Refuses archives of scripts and environments that are purged before their jobs: they are not written to files,
     * and a configuration must not suggest that they are.
     */
    private static void texts(Map<String, String> values, String kind, Values check) {
        String archive = Values.of(values, "archivejob" + kind.toLowerCase(Locale.ROOT));
        boolean yes = archive.isEmpty()
                ? Values.of(values, "archivejobs").equals("yes")
                : check.yesNo("ArchiveJob" + kind, archive);
        if (yes
                && !Values.of(values, "purgejob" + kind.toLowerCase(Locale.ROOT) + "after")
                        .isEmpty()) {
            check.error(
                    "PurgeJob" + kind + "After needs ArchiveJob" + kind + "=no: this version does not archive them");
        }
    }

    private static void words(String key, String text, List<String> known, Values check) {
        for (String word : text.split(",")) {
            if (!word.isBlank() && known.stream().noneMatch(word.strip()::equalsIgnoreCase)) {
                check.error("Bad " + key + ": " + word.strip());
            }
        }
    }

    /** Whether a word stands among Parameters. */
    public boolean hasParameter(String word) {
        return List.of(text("Parameters").split(",")).stream()
                .anyMatch(w -> w.strip().equalsIgnoreCase(word));
    }

    /** Seconds for which the password of StoragePassScript is used. */
    public int tokenDurationS() {
        for (String item : text("StorageParameters").split(",")) {
            if (item.strip().toLowerCase(Locale.ROOT).startsWith(TOKEN_DURATION + "=")) {
                return Integer.parseInt(item.substring(item.indexOf('=') + 1).strip());
            }
        }
        return TOKEN_DURATION_S;
    }

    /** The value of a key in Slurm's spelling, or its default; empty when there is neither. */
    public String text(String key) {
        return values.getOrDefault(key.toLowerCase(Locale.ROOT), "");
    }

    /** The {@code name} or {@code name=value} parts of a list by lower-case name. */
    public Map<String, String> parameters(String key) {
        return Values.parameters(text(key));
    }

    /** The file it was read from. */
    public String path() {
        return path;
    }

    /** Whether the file names the key. */
    public boolean given(String key) {
        return names.contains(key.toLowerCase(Locale.ROOT));
    }

    /** Returns the level as the log counts it: 3 is info. */
    public int debugLevel() {
        return (int) KeyCheck.debugLevel("DebugLevel", text("DebugLevel"), new Values(new java.util.ArrayList<>()));
    }

    public int dbdPort() {
        return Integer.parseInt(text("DbdPort"));
    }

    public String dbdHost() {
        return text("DbdHost");
    }

    /** The host of the slurmdbd that takes over; "" without one. */
    public String dbdBackupHost() {
        return text("DbdBackupHost");
    }

    /** The address to connect to: DbdAddr, else DbdHost. */
    public String dbdAddress() {
        return text("DbdAddr").isEmpty() ? dbdHost() : text("DbdAddr");
    }

    public String logFile() {
        return text("LogFile");
    }

    public String pidFile() {
        return text("PidFile");
    }

    public String slurmUser() {
        return text("SlurmUser");
    }

    public String storageType() {
        return text("StorageType");
    }

    public String storageLoc() {
        return text("StorageLoc");
    }
}
