package dev.muster.cli.connection;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.KnownCluster;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.ResumableStep;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Session;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The host of a command that runs in its caller's own process. It reads /proc and works with and without the launcher.
 */
public final class ProcessHost implements Host {
    private static final int PROC_BYTES_MAX = 1 << 20;
    private static final String[] LIMITS = {
        "Max cpu time",
        "CPU",
        "Max file size",
        "FSIZE",
        "Max data size",
        "DATA",
        "Max stack size",
        "STACK",
        "Max core file size",
        "CORE",
        "Max resident set",
        "RSS",
        "Max processes",
        "NPROC",
        "Max open files",
        "NOFILE",
        "Max locked memory",
        "MEMLOCK",
        "Max address space",
        "AS"
    };

    private final Map<String, String> env;
    final Optional<Launcher> launcher;
    final int backOffSeconds;
    private String status = "";
    private @Nullable ZoneId zone;
    private @Nullable ClientConf conf;
    private final Map<Class<?>, Object> perProcess = new HashMap<>();
    private String turnedTo = "";
    private Optional<KnownCluster> elsewhere = Optional.empty();
    /** Pending requests to all daemons. */
    final PendingRequests inFlight = new PendingRequests();

    private @Nullable Controller controller;
    private @Nullable Controller accounting;
    private final UserNames names = new UserNames();
    private final Optional<RequestIds> requestIds;
    private final Optional<ResumableStep> resumable;

    /** @param launcher of this process, empty if java was started by hand */
    public ProcessHost(Map<String, String> env, Optional<Launcher> launcher) {
        this(env, launcher, Client.BACK_OFF_S_MAX);
    }

    /** @param backOffSeconds how long a request that slurmctld throttles is repeated */
    public ProcessHost(Map<String, String> env, Optional<Launcher> launcher, int backOffSeconds) {
        this.env = env;
        this.launcher = launcher;
        this.backOffSeconds = backOffSeconds;
        byte[][] left = launcher.isPresent() ? launcher.get().resumable() : null;
        this.resumable = left == null ? Optional.empty() : Optional.of(ResumableStep.of(left[0], left[1], left[2]));
        // a resumed step makes new requests: the launcher's id belongs to the first process's
        this.requestIds = launcher.isPresent() && left == null
                ? Optional.of(new RequestIds(launcher.get().firstRequestId()))
                : Optional.empty();
    }

    String setting(String variable) {
        return env.getOrDefault(variable, "");
    }

    @Override
    public <T> T oncePerProcess(Class<T> type, Maker<T> maker) throws UsageException {
        Object known = perProcess.get(type);
        if (known == null) {
            known = maker.make();
            perProcess.put(type, known);
        }
        return type.cast(known);
    }

    @Override
    public String workDir() {
        return System.getProperty("user.dir");
    }

    @Override
    public long nowMs() {
        return System.currentTimeMillis();
    }

    @Override
    public ZoneId zone() {
        if (zone == null) {
            zone = zoneOf(setting("TZ"));
        }
        return zone;
    }

    /** TZ as the C library takes it: a name with or without colon; empty means the machine's. */
    public static ZoneId zoneOf(String tz) {
        String name = tz.startsWith(":") ? tz.substring(1) : tz;
        if (name.isEmpty()) {
            return systemZone();
        }
        if (name.equals("UTC") || name.equals("UTC0") || name.equals("GMT")) {
            return ZoneOffset.UTC;
        }
        try {
            return ZoneId.of(name);
        } catch (DateTimeException e) {
            return ZoneOffset.UTC;
        }
    }

    /** Most servers run in UTC: seen from the link's target, which saves loading the rules of all zones. */
    private static ZoneId systemZone() {
        File link = new File("/etc/localtime");
        try {
            if (!link.exists() || link.getCanonicalPath().endsWith("/UTC")) {
                return ZoneOffset.UTC;
            }
        } catch (IOException e) {
            return ZoneOffset.UTC;
        }
        return ZoneId.systemDefault();
    }

    private String statusLine(String key) {
        if (status.isEmpty()) {
            status = readProc("/proc/self/status");
        }
        int index = status.indexOf("\n" + key + ":");
        if (index < 0) {
            return "";
        }
        int from = index + key.length() + 2;
        return status.substring(from, status.indexOf('\n', from)).strip();
    }

    private String readProc(String path) {
        try {
            return RawText.decode(readFile(path, PROC_BYTES_MAX));
        } catch (IOException e) {
            return "";
        }
    }

    private int statusNumber(String key, int word) {
        List<String> words = Texts.words(statusLine(key));
        return words.size() <= word ? 0 : Integer.parseInt(words.get(word));
    }

    @Override
    public int uid() {
        return statusNumber("Uid", 0);
    }

    @Override
    public int gid() {
        return statusNumber("Gid", 0);
    }

    @Override
    public int pid() {
        return statusNumber("Pid", 0);
    }

    @Override
    public int umask() {
        String value = statusLine("Umask");
        return value.isEmpty() ? 022 : Integer.parseInt(value, 8);
    }

    @Override
    public Map<String, Long> limits() {
        String text = readProc("/proc/self/limits");
        Map<String, Long> out = new LinkedHashMap<>();
        for (int i = 0; i < LIMITS.length; i += 2) {
            int index = text.indexOf("\n" + LIMITS[i] + " ");
            if (index < 0) {
                continue;
            }
            List<String> words =
                    Texts.words(text.substring(index + 1 + LIMITS[i].length(), text.indexOf('\n', index + 1)));
            String soft = words.getFirst();
            out.put(LIMITS[i + 1], soft.equals("unlimited") ? -1L : Long.parseLong(soft));
        }
        return out;
    }

    @Override
    public String hostName() {
        String name = readProc("/proc/sys/kernel/hostname").strip();
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }

    @Override
    public String userName(int uid) {
        return names.userName(uid);
    }

    @Override
    public int userId(String nameOrId) {
        return names.userId(nameOrId);
    }

    @Override
    public int groupId(String nameOrId) {
        return names.groupId(nameOrId);
    }

    @Override
    public String groupName(int gid) {
        return names.groupName(gid);
    }

    @Override
    public byte[] readFile(String path, int maxBytes) throws IOException {
        try (FileInputStream in = new FileInputStream(path)) {
            return in.readNBytes(maxBytes);
        }
    }

    @Override
    public void writeFile(String path, byte[] content, int mode) throws IOException {
        File file = new File(path);
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(content);
        }
        if ((mode & 0100) != 0 && !file.setExecutable(true, true)) {
            throw new IOException(path);
        }
    }

    @Override
    public boolean isTty(int fd) {
        if (launcher.isPresent()) {
            return launcher.get().isTty(fd);
        }
        try {
            String target = new File("/proc/self/fd/" + fd).getCanonicalPath();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }

    /** The configuration: SLURM_CONF, the installation's, /etc/slurm. */
    public ClientConf conf() throws SlurmException {
        if (conf == null) {
            String path = confPath();
            try {
                conf = ClientConf.read(path, this::readFile);
            } catch (IOException e) {
                throw new SlurmException(-1, "Could not establish a configuration source: unable to read " + path);
            }
        }
        return conf;
    }

    private static final String FETCHED_CONF = "/run/slurm/conf/slurm.conf";

    @Override
    public String confPath() {
        String named = setting("SLURM_CONF");
        if (!named.isEmpty()) {
            return named;
        }
        String prefix = System.getProperty("muster.prefix", "");
        if (!prefix.isEmpty() && new File(prefix + "/etc/slurm.conf").exists()) {
            return prefix + "/etc/slurm.conf";
        }
        // what slurmd or sackd fetched from slurmctld
        return new File(FETCHED_CONF).exists() ? FETCHED_CONF : "/etc/slurm/slurm.conf";
    }

    /** Finds its controller when it is asked. */
    private interface Route {
        Controller open() throws SlurmException;
    }

    private static Controller by(Route way) {
        return new Controller() {
            @Override
            public Json.Obj call(String message, Json.Obj request) throws SlurmException {
                return way.open().call(message, request);
            }

            @Override
            public byte[] bytes(String message, Json.Obj request) throws SlurmException {
                return way.open().bytes(message, request);
            }

            @Override
            public Rows rows(String message, Json.Obj request, String list) throws SlurmException {
                return way.open().rows(message, request, list);
            }

            @Override
            public void rows(String message, Json.Obj request, String list, Taker taker) throws SlurmException {
                way.open().rows(message, request, list, taker);
            }
        };
    }

    @Override
    public Controller controller() {
        return by(this::connected);
    }

    private synchronized Controller connected() throws SlurmException {
        if (controller == null) {
            controller = new HttpController(conf(), this);
        }
        return controller;
    }

    @Override
    public Controller accounting() {
        return by(this::connectedAccounting);
    }

    private synchronized Controller connectedAccounting() throws SlurmException {
        if (accounting == null) {
            accounting = HttpController.accounting(conf(), this);
        }
        return accounting;
    }

    @Override
    public ClientConf settings() {
        try {
            return conf();
        } catch (SlurmException e) {
            return ClientConf.standard();
        }
    }

    @Override
    public void needsOwnProcess() {
        // this is the caller's own
    }

    @Override
    public boolean pause(long ms) {
        try {
            Thread.sleep(ms);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    @Override
    public synchronized void selectCluster(KnownCluster cluster) {
        turnedTo = cluster.name();
        elsewhere = Optional.empty();
        try {
            elsewhere = cluster.name().equals(conf().clusterName) ? Optional.empty() : Optional.of(cluster);
            controller = elsewhere.isEmpty()
                    ? new HttpController(conf(), this)
                    : HttpController.forCluster(conf(), this, cluster);
        } catch (SlurmException e) {
            // the next call reports the error
            controller = null;
        }
    }

    @Override
    public Optional<KnownCluster> remoteCluster() {
        return elsewhere;
    }

    /** Returns the session with nodes of the cluster that this command turned to. */
    private Session ofNodes() throws SlurmException {
        return Sessions.own(conf(), this, elsewhere.map(KnownCluster::name).orElse(conf().clusterName));
    }

    @Override
    public String selectedCluster() {
        return turnedTo;
    }

    @Override
    public List<String> clusters() {
        if (!turnedTo.isEmpty()) {
            return List.of(turnedTo);
        }
        try {
            return List.of(conf().clusterName);
        } catch (SlurmException e) {
            return List.of();
        }
    }

    @Override
    public Json.Obj callController(int index, String message, Json.Obj request) throws SlurmException {
        return HttpController.ofServer(conf(), this, index).call(message, request);
    }

    @Override
    public Json.Obj callAccounting(int index, String message, Json.Obj request) throws SlurmException {
        return HttpController.ofAccountingServer(conf(), this, index).call(message, request);
    }

    @Override
    public List<String> controllers() {
        List<String> out = new java.util.ArrayList<>();
        try {
            for (ClientConf.Server s : conf().servers) {
                out.add(s.name());
            }
        } catch (SlurmException e) {
            out.clear();
        }
        return out;
    }

    @Override
    public Frames openStream(String address, int port, String name) throws IOException, SlurmException {
        Session session = ofNodes();
        Client client = new Client(address, port, () -> session, this::nonce)
                .to(Audience.SLURMD)
                .connectWithin(conf().connectMs)
                .over(conf().tls());
        try {
            return client.stream("/muster/v1/stream/" + name, "muster-" + name);
        } catch (IOException e) {
            client.close();
            throw e;
        }
    }

    @Override
    public Json.Obj callNode(String address, int port, String message, Json.Obj request) throws SlurmException {
        Session session = ofNodes();
        return HttpController.callOnce(
                new Client(address, port, () -> session, this::nonce)
                        .to(Audience.SLURMD)
                        .connectWithin(conf().connectMs)
                        .over(conf().tls()),
                message,
                request,
                inFlight);
    }

    @Override
    public InputStream openFile(String path) throws IOException {
        return new FileInputStream(path);
    }

    @Override
    public void giveUp(Thread asking) {
        inFlight.giveUp(asking);
    }

    @Override
    public void onSignal(String name, Runnable handler) {
        try {
            sun.misc.Signal.handle(new sun.misc.Signal(name), s -> handler.run());
        } catch (IllegalArgumentException e) {
            // a machine started without signal handling (-Xrs): the signal keeps its default action
        }
    }

    @Override
    public void ignoreSignal(String name) {
        try {
            sun.misc.Signal.handle(new sun.misc.Signal(name), sun.misc.SignalHandler.SIG_IGN);
        } catch (IllegalArgumentException e) {
            // as above
        }
    }

    /**
     * The terminal's foreground is another process group: fields 5 and 8 of /proc/self/stat, after the name in
     * brackets.
     */
    @Override
    public boolean inBackground() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Integer.parseInt(fields[5]) > 0 && !fields[2].equals(fields[5]);
        } catch (IOException | NumberFormatException e) {
            return false;
        }
    }

    /** Returns the launcher's request number: a command repeated on the other path asks the same requests. */
    @Override
    public String requestId() {
        return requestIds.isPresent() ? requestIds.get().next() : nonce();
    }

    @Override
    public Optional<ResumableStep> resumable() {
        return resumable;
    }

    public String nonce() {
        byte[] raw = random(16);
        StringBuilder text = new StringBuilder(32);
        for (byte x : raw) {
            text.append(Character.forDigit(x >> 4 & 15, 16)).append(Character.forDigit(x & 15, 16));
        }
        return text.toString();
    }

    byte[] random(int count) {
        try (FileInputStream in = new FileInputStream("/dev/urandom")) {
            return in.readNBytes(count);
        } catch (IOException e) {
            throw new IllegalStateException("no /dev/urandom", e);
        }
    }
}
