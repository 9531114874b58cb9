package dev.muster.cli.command;

import dev.muster.config.TlsPlaces;
import dev.muster.config.file.IncludedFiles;
import dev.muster.model.format.Digits;
import dev.muster.transport.tls.Tls;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys of slurm.conf that commands need, chiefly to find their controller. It does without the full configuration
 * reader: reading is on the start path of every command, and slurmctld has checked the file.
 */
public final class ClientConf {
    private static final int CONF_BYTES_MAX = 64 << 20;
    private static final int INCLUDE_DEPTH_MAX = 8;
    private static final int PORT_DEFAULT = 6817;
    private static final int STEP_END_MARGIN_S = 2;
    private static final int ACCOUNTING_PORT_DEFAULT = 6819;
    private static final int MESSAGE_TIMEOUT_MAX = 65_533;

    /** Returns the path of slurm.conf. */
    public String path() {
        return path;
    }

    /**
     * @param address where to connect
     * @param name as configured
     */
    public record Server(String name, String address) {}

    /** Reads files as the caller. */
    public interface Files {
        public byte[] read(String path, int maxBytes) throws IOException;
    }

    public final String path;
    public String clusterName = "cluster";
    public final List<Server> servers = new ArrayList<>();
    public int port = PORT_DEFAULT;
    public String authType = "auth/munge";
    String authInfo = "";
    public String slurmUser = "root";
    public List<String> gresTypes = List.of();
    String stateSaveLocation = "/var/spool";
    String slurmctldPidFile = "/var/run/slurmctld.pid";
    String slurmdPidFile = "/var/run/slurmd.pid";
    String accountingType = "";
    String accountingHost = "localhost";
    String accountingBackupHost = "";
    /** AccountingStoragePass: with munge, the socket of the munged that slurmdbd believes. */
    public String accountingPass = "";

    public int accountingPort = ACCOUNTING_PORT_DEFAULT;
    public boolean trackWckey;
    public String jobCompType = "";
    /** "" where unset. */
    public String jobCompLoc = "";

    public String mpiDefault = "";
    public List<String> cliFilters = List.of();
    /** Path of cli_filter.lua; "" beside slurm.conf. */
    public String cliFilterPath = "";
    /** KillOnBadExit, WaitTime in seconds and MessageTimeout in seconds; 0 where unset. */
    public int killOnBadExit;
    /** Seconds; 0 for none. */
    int inactiveLimit;

    public int waitTime;
    /** TCPTimeout, milliseconds. */
    public int connectMs = 2_000;
    /** Seconds; 0 for ever. */
    public int eioTimeout = 60;

    public int messageTimeout;
    /** KillWait, seconds between SIGTERM and SIGKILL. */
    int killWait = 30;
    /** TreeWidth; 0 where unset. */
    public int treeWidth;
    /** Default directory of sbcast's files; "" for the working directory. */
    public String bcastDirectory = "";

    public String srunProlog = "";
    public String srunEpilog = "";
    /** Upper case, with commas; "" for all. */
    public String propagateLimits = "";

    public String propagateLimitsExcept = "";
    /** Words of LaunchParameters in lower case. */
    public boolean bcastSendLibs;

    public List<String> bcastExclude = List.of("/lib", "/usr/lib", "/lib64", "/usr/lib64");
    public List<String> launchParameters = List.of();
    public List<String> mpiParameters = List.of();
    public List<String> cpuFreqGovernors = List.of("ondemand", "performance", "userspace");
    public String interactiveStepOptions = "--interactive --preserve-env --pty $SHELL";
    private String tlsType = "";
    private String tlsParameters = "";
    private @Nullable Tls tls;
    private String slurmctldAddress = "";
    private String controlMachine = "";
    private String controlAddress = "";

    private ClientConf(String path) {
        this.path = path;
    }

    /** Returns the default configuration. */
    public static ClientConf standard() {
        return new ClientConf("");
    }

    public static ClientConf read(String path, Files files) throws IOException {
        ClientConf conf = new ClientConf(path);
        conf.readFile(path, files, 0);
        if (conf.servers.isEmpty() && !conf.controlMachine.isEmpty()) {
            conf.servers.add(server(conf.controlMachine, conf.controlAddress));
        }
        if (!conf.slurmctldAddress.isEmpty() && !conf.servers.isEmpty()) {
            // one address for whichever of them is active
            conf.servers.replaceAll(s -> new Server(s.name, conf.slurmctldAddress));
        }
        return conf;
    }

    private void readFile(String file, Files files, int depth) throws IOException {
        String text = RawText.decode(files.read(file, CONF_BYTES_MAX));
        int index = 0;
        StringBuilder line = new StringBuilder();
        while (index < text.length()) {
            int end = text.indexOf('\n', index);
            end = end < 0 ? text.length() : end;
            int stop = end;
            while (stop > index && text.charAt(stop - 1) <= ' ') {
                stop--;
            }
            boolean goesOn = stop > index && text.charAt(stop - 1) == '\\';
            line.append(text, index, goesOn ? stop - 1 : stop);
            index = end + 1;
            if (goesOn && index < text.length()) {
                continue;
            }
            line(line.toString(), files, depth);
            line.setLength(0);
        }
    }

    private void line(String raw, Files files, int depth) throws IOException {
        int hash = raw.indexOf('#');
        String line = (hash < 0 ? raw : raw.substring(0, hash)).strip();
        if (line.isEmpty()) {
            return;
        }
        if (line.regionMatches(true, 0, "include", 0, 7) && line.length() > 8 && line.charAt(7) <= ' ') {
            if (depth < INCLUDE_DEPTH_MAX) {
                include(line.substring(8).strip().replace("%c", clusterName), files, depth);
            }
            return;
        }
        int equalSign = line.indexOf('=');
        if (equalSign > 0) {
            key(
                    Texts.lower(line.substring(0, equalSign).strip()),
                    line.substring(equalSign + 1).strip());
        }
    }

    /** Reads an included file, or all files of a pattern, relative to slurm.conf as the daemons do. */
    private void include(String name, Files files, int depth) throws IOException {
        String target = name.startsWith("/") ? name : directory() + "/" + name;
        if (name.indexOf('*') < 0 && name.indexOf('?') < 0) {
            readFile(target, files, depth + 1);
            return;
        }
        for (File file : IncludedFiles.of(new File(target))
                .orElseThrow(() -> new IOException("cannot list the files of " + target))) {
            readFile(file.getPath(), files, depth + 1);
        }
    }

    /** Returns how long the end of a step may take, in seconds, as srun says it. */
    public int stepEndSeconds() {
        return killWait + STEP_END_MARGIN_S;
    }

    private static final String FILTER_PATH = "cli_filter_lua_path=";

    private void key(String key, String value) {
        String first = value.startsWith("\"") && value.indexOf('"', 1) > 0
                ? value.substring(1, value.indexOf('"', 1))
                : firstWord(value);
        switch (key) {
            case "clustername" -> clusterName = Texts.lower(first);
            case "slurmctldhost" -> {
                int open = first.indexOf('(');
                boolean named = open > 0 && first.endsWith(")");
                servers.add(server(
                        named ? first.substring(0, open) : first,
                        named ? first.substring(open + 1, first.length() - 1) : ""));
            }
            case "controlmachine" -> controlMachine = first;
            case "controladdr" -> controlAddress = first;
            case "slurmctldport" -> port = port(first);
            case "accountingstoragetype" -> accountingType = first;
            case "accountingstoragebackuphost" -> accountingBackupHost = first;
            case "accountingstoragepass" -> accountingPass = first;
            case "jobcomptype" -> jobCompType = first;
            case "jobcomploc" -> jobCompLoc = first;
            case "accountingstoragehost" -> accountingHost = first;
            case "accountingstorageport" -> {
                long n = Digits.parseNumber(first);
                accountingPort = n < 1 || n > 65_535 ? ACCOUNTING_PORT_DEFAULT : (int) n;
            }
            case "trackwckey" -> trackWckey |= Texts.lower(first).matches("yes|up|true|1");
            case "accountingstorageenforce" ->
                trackWckey |= Texts.split(Texts.lower(first), ',').contains("wckeys");
            case "mpidefault" -> mpiDefault = first;
            case "clifilterparameters" ->
                cliFilterPath = Texts.split(first, ',').stream()
                        .filter(p -> Texts.lower(p).startsWith(FILTER_PATH))
                        .map(p -> p.substring(FILTER_PATH.length()))
                        .findFirst()
                        .orElse("");
            case "clifilterplugins" -> cliFilters = Texts.split(first, ',');
            case "killonbadexit" -> killOnBadExit = (int) Math.max(0, Digits.parseNumber(first));
            case "treewidth" ->
                treeWidth = Math.clamp(Digits.parseNumber(first), 0, dev.muster.model.cluster.LaunchTree.WIDTH_MAX);
            case "eiotimeout" -> eioTimeout = Math.clamp(Digits.parseNumber(first), 0, 65_535);
            case "tcptimeout" -> connectMs = Math.clamp(Digits.parseNumber(first), 1, 65_535) * 1000;
            case "tlstype" -> tlsType = first;
            case "tlsparameters" -> tlsParameters = first;
            case "inactivelimit" -> inactiveLimit = Math.clamp(Digits.parseNumber(first), 0, 65_533);
            case "killwait" -> killWait = Math.clamp(Digits.parseNumber(first), 0, 65_534);
            case "waittime" -> waitTime = (int) Math.max(0, Digits.parseNumber(first));
            case "messagetimeout" -> messageTimeout = Math.clamp(Digits.parseNumber(first), 0, MESSAGE_TIMEOUT_MAX);
            case "bcastparameters" -> {
                bcastDirectory = destination(first);
                bcastSendLibs = Texts.split(Texts.lower(first), ',').contains("send_libs");
            }
            case "bcastexclude" -> bcastExclude = first.equalsIgnoreCase("none") ? List.of() : Texts.split(first, ',');
            case "authtype" -> authType = first;
            case "authinfo" -> authInfo = first;
            case "slurmuser" -> slurmUser = first;
            case "grestypes" -> gresTypes = Texts.split(first, ',');
            case "statesavelocation" -> stateSaveLocation = first;
            case "slurmctldpidfile" -> slurmctldPidFile = first;
            case "slurmdpidfile" -> slurmdPidFile = first;
            case "srunprolog" -> srunProlog = first;
            case "srunepilog" -> srunEpilog = first;
            case "propagateresourcelimits" -> propagateLimits = Texts.upper(first);
            case "propagateresourcelimitsexcept" -> propagateLimitsExcept = Texts.upper(first);
            case "cpufreqgovernors" -> cpuFreqGovernors = Texts.split(Texts.lower(first), ',');
            case "launchparameters" -> launchParameters = Texts.split(Texts.lower(first), ',');
            case "mpiparams" -> mpiParameters = Texts.split(Texts.lower(first), ',');
            case "interactivestepoptions" -> interactiveStepOptions = value.startsWith("\"") ? first : value;
            case "slurmctldaddr" -> slurmctldAddress = first;
            default -> {}
        }
    }

    private static String destination(String parameters) {
        for (String word : Texts.split(parameters, ',')) {
            if (word.regionMatches(true, 0, "DestDir=", 0, 8)) {
                return word.substring(8);
            }
        }
        return "";
    }

    private static String firstWord(String value) {
        int i = 0;
        while (i < value.length() && value.charAt(i) > ' ') {
            i++;
        }
        return value.substring(0, i);
    }

    private static Server server(String name, String address) {
        return new Server(name, address.isEmpty() ? name : address);
    }

    /** The first of a range of ports. */
    private static int port(String text) {
        int dash = text.indexOf('-');
        long n = Digits.parseNumber(dash < 0 ? text : text.substring(0, dash));
        return n < 1 || n > 65_535 ? PORT_DEFAULT : (int) n;
    }

    /** Returns the TLS settings of connections: none unless TLSType sets TLS. */
    public synchronized Tls tls() {
        if (tls == null) {
            TlsPlaces places = TlsPlaces.of(tlsType, tlsParameters, directory());
            tls = !places.on()
                    ? Tls.NONE
                    : Tls.trusting(java.nio.file.Path.of(places.authority()), places.system())
                            .brief();
        }
        return tls;
    }

    /** A word of AuthInfo: {@code socket=…}. */
    public String authInfo(String name) {
        for (String item : Texts.split(authInfo, ',')) {
            if (item.startsWith(name + "=")) {
                return item.substring(name.length() + 1);
            }
        }
        return "";
    }

    public String directory() {
        return path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }

    /** Returns the possible files of the cluster's key, in the daemons' order. */
    public List<String> keyFiles() {
        List<String> out = new ArrayList<>();
        if (!authInfo("key").isEmpty() && !authType.equals("auth/munge")) {
            out.add(authInfo("key"));
        }
        out.add(directory() + "/slurm.jwks");
        out.add(directory() + "/slurm.key");
        out.add(stateSaveLocation + "/slurm.key");
        return out;
    }

    /** Returns the sockets of this host's daemons that vouch for callers. */
    public List<String> sackSockets() {
        List<String> out = new ArrayList<>();
        for (String pidFile : List.of(slurmctldPidFile, slurmdPidFile)) {
            int slash = pidFile.lastIndexOf('/');
            String socket = (slash < 0 ? "." : pidFile.substring(0, slash)) + "/sack-" + clusterName + ".socket";
            if (!out.contains(socket) && socket.indexOf('%') < 0) {
                out.add(socket);
            }
        }
        return out;
    }

    /** Returns the hosts of slurmdbd, the primary first. */
    public java.util.List<Server> accountingServers() {
        Server first = new Server(accountingHost, accountingHost);
        return accountingBackupHost.isEmpty()
                ? java.util.List.of(first)
                : java.util.List.of(first, new Server(accountingBackupHost, accountingBackupHost));
    }
}
