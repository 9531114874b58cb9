package dev.muster.node;

import static java.util.Objects.requireNonNull;

import dev.muster.config.AuthPlaces;
import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.daemon.CommandServiceLog;
import dev.muster.daemon.ConfServers;
import dev.muster.daemon.Configless;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.DaemonProcess;
import dev.muster.daemon.Identities;
import dev.muster.daemon.PidFile;
import dev.muster.daemon.Sack;
import dev.muster.daemon.Sessions;
import dev.muster.daemon.TlsLog;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.HostList;
import dev.muster.node.config.NodeIdentity;
import dev.muster.node.config.Settings;
import dev.muster.node.config.SettingsReader;
import dev.muster.node.config.SlurmdOptions;
import dev.muster.node.hardware.GpuProbe;
import dev.muster.node.hardware.GresReport;
import dev.muster.node.hardware.HardwareProbe;
import dev.muster.node.os.Os;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.node.spool.JobSpool;
import dev.muster.transport.Caller;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** slurmd as a process. */
public final class Main {
    /** How long launches in flight may take at a new configuration: a login environment takes up to two minutes. */
    private static final long LAUNCHES_MS = 130_000;
    /** The same at the end of the process. */
    private static final long LAST_LAUNCHES_MS = 5_000;

    private Main() {}

    public static void main(String[] args) {
        int rc = run(Arrays.asList(args).subList(1, args.length));
        System.exit(rc);
    }

    private static int run(List<String> arguments) {
        return switch (SlurmdOptions.parse(arguments)) {
            case SlurmdOptions.Parsed.Wrong w -> {
                System.err.println("slurmd: " + (w.showUsage() ? "" : "fatal: ") + w.sentence());
                if (w.showUsage()) {
                    System.err.print(SlurmdOptions.USAGE);
                }
                yield 1;
            }
            case SlurmdOptions.Parsed.Ok ok -> run(ok.options());
        };
    }

    private static int run(SlurmdOptions options) {
        return switch (options.mode()) {
            case HELP -> {
                System.err.print(SlurmdOptions.USAGE);
                yield 0;
            }
            case VERSION -> {
                System.out.println(Release.LINE);
                yield 0;
            }
            case SHOW_HARDWARE -> showHardware(options);
            case SHOW_GRES, SERVE -> configured(options);
        };
    }

    private static int showHardware(SlurmdOptions options) {
        HardwareProbe probe = new HardwareProbe(Path.of("/"), Path.of("/tmp"));
        String name = options.nodeName().isEmpty() ? NodeIdentity.shortName(Os.hostName()) : options.nodeName();
        System.out.println(
                HardwareProbe.describe(name, probe.read(""), GpuProbe.gresText(gpus(probe)), probe.uptimeSeconds()));
        return 0;
    }

    private static List<GpuProbe.Gpu> gpus(HardwareProbe probe) {
        return new GpuProbe(
                        Path.of("/"),
                        Optional.empty(),
                        probe.topology(),
                        probe.read("").threadsPerCore())
                .find("full");
    }

    static Path prefix() {
        return Path.of(System.getProperty("muster.prefix", "/usr"));
    }

    private static File configFile(SlurmdOptions options) {
        return options.configFile().isEmpty()
                ? SlurmConf.locate(Optional.ofNullable(System.getenv("SLURM_CONF")), Optional.of(prefix().toFile()))
                : new File(options.configFile());
    }

    private static int configured(SlurmdOptions options) {
        try {
            File file = configFile(options);
            boolean isNamed = !options.configFile().isEmpty()
                    || !Optional.ofNullable(System.getenv("SLURM_CONF"))
                            .orElse("")
                            .isEmpty();
            Optional<Configless> source = ConfServers.of(options.confServer(), isNamed, file)
                    .map(servers -> new Configless(
                            servers, Configless.keyOf(prefix()), options.mungeSocket(), options.authority()));
            if (source.isPresent()) {
                file = source.get()
                        .fetchInto(Files.createTempDirectory("slurm-conf-"))
                        .resolve("slurm.conf")
                        .toFile();
            }
            return configured(options, source, file);
        } catch (IOException e) {
            System.err.println("slurmd: fatal: " + ErrorSentence.reason(e));
            return 1;
        }
    }

    private static int configured(SlurmdOptions options, Optional<Configless> source, File file) throws IOException {
        return switch (SlurmConf.read(file)) {
            case SlurmConf.Parsed.Invalid invalid -> {
                for (ConfigError error : invalid.errors()) {
                    System.err.println("slurmd: error: " + error.message());
                }
                System.err.println("slurmd: fatal: Unable to process configuration file");
                yield 1;
            }
            case SlurmConf.Parsed.Ok ok -> onNode(ok.conf(), options, source);
        };
    }

    private static int onNode(SlurmConf conf, SlurmdOptions options, Optional<Configless> source) throws IOException {
        Identities identities = new Identities();
        int slurmUser = userId(identities, conf.slurmUser());
        if (slurmUser < 0) {
            System.err.println("slurmd: error: Invalid user for SlurmUser " + conf.slurmUser() + ", ignored");
            System.err.println("slurmd: fatal: Unable to process configuration file");
            return 1;
        }
        if (userId(identities, conf.slurmdUser()) < 0) {
            System.err.println("slurmd: error: Invalid user for SlurmdUser " + conf.slurmdUser() + ", ignored");
            System.err.println("slurmd: fatal: Unable to process configuration file");
            return 1;
        }
        List<String> names = several(options);
        if (names.size() > 1 && options.mode() == SlurmdOptions.Mode.SERVE) {
            return serveSeveral(conf, names, options, slurmUser, identities, source);
        }
        return switch (which(conf, options, slurmUser)) {
            case NodeIdentity.Unknown u -> {
                System.err.println("slurmd: fatal: " + u.sentence());
                yield 1;
            }
            case NodeIdentity.Found f
            when options.mode() == SlurmdOptions.Mode.SHOW_GRES -> {
                GresReport.lines(conf, f.node()).forEach(System.err::println);
                yield 0;
            }
            case NodeIdentity.Found f ->
                serve(
                        source.isPresent() ? cached(conf, f.node()) : conf,
                        List.of(f),
                        options,
                        slurmUser,
                        identities,
                        source);
        };
    }

    /** -N n[1-64]: one process stands for all of these, each with its port, its registration and its stepds. */
    private static List<String> several(SlurmdOptions options) {
        return HostList.parse(options.nodeName()) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : List.of();
    }

    private static int serveSeveral(
            SlurmConf conf,
            List<String> names,
            SlurmdOptions options,
            int slurmUser,
            Identities identities,
            Optional<Configless> source)
            throws IOException {
        List<NodeIdentity.Found> nodes = names.stream()
                .flatMap(name -> conf.node(name).stream())
                .map(n -> new NodeIdentity.Found(n, ""))
                .toList();
        String wrong;
        if (options.dynamic() || options.future().isPresent()) {
            wrong = "several nodes are for nodes that slurm.conf names";
        } else if (nodes.size() < names.size()) {
            wrong = "Unable to determine this slurmd's NodeName";
        } else if (nodes.stream()
                        .map(n -> conf.slurmdSpoolDir(n.node()))
                        .distinct()
                        .count()
                < names.size()) {
            wrong = "SlurmdSpoolDir must be another for each node (%n)";
        } else {
            wrong = "";
        }

        if (!wrong.isEmpty()) {
            System.err.println("slurmd: fatal: " + wrong);
            return 1;
        }
        return serve(
                source.isPresent() ? cached(conf, nodes.getFirst().node()) : conf,
                nodes,
                options,
                slurmUser,
                identities,
                source);
    }

    private static NodeIdentity.Answer which(SlurmConf conf, SlurmdOptions options, int slurmUser) throws IOException {
        HardwareProbe probe = new HardwareProbe(Path.of("/"), Path.of("/tmp"));
        if (options.dynamic()) {
            return NodeIdentity.dynamic(conf, options, Os.hostName(), probe.read(""));
        }
        if (options.future().isPresent()) {
            Sessions sessions = new Sessions(conf, new Caller(Os.uid(), Os.gid()), slurmUser, false);
            return NodeIdentity.future(conf, sessions, options, Os.hostName(), probe.read(""));
        }
        return SettingsReader.node(conf, options.nodeName(), Os.hostName())
                .<NodeIdentity.Answer>map(n -> new NodeIdentity.Found(n, ""))
                .orElse(new NodeIdentity.Unknown("Unable to determine this slurmd's NodeName"));
    }

    private static Path directory(SlurmConf fetched) {
        return requireNonNull(Path.of(fetched.file()).getParent(), "fetched files lie in a directory");
    }

    /**
     * The fetched files, where they stay: in the spool directory, and for commands behind the runtime directory's link.
     */
    private static SlurmConf cached(SlurmConf fetched, NodeConf node) throws IOException {
        Path place = Path.of(fetched.slurmdSpoolDir(node)).toAbsolutePath().resolve("conf-cache");
        Path temporary = directory(fetched);
        Configless.replace(temporary, place);
        Configless.link(place);
        if (SlurmConf.read(place.resolve("slurm.conf").toFile()) instanceof SlurmConf.Parsed.Ok ok) {
            return ok.conf();
        }
        throw new IOException("unusable configuration in " + place);
    }

    private static int serve(
            SlurmConf conf,
            List<NodeIdentity.Found> nodes,
            SlurmdOptions options,
            int slurmUser,
            Identities identities,
            Optional<Configless> source) {
        List<ConfigError> errors = new ArrayList<>();
        List<Settings> all = nodes.stream()
                .map(node -> SettingsReader.read(
                        conf,
                        node.node(),
                        node.line(),
                        options,
                        prefix(),
                        slurmUser,
                        SettingsReader.Sisters.read(conf, node.node(), Os.hostName(), errors)))
                .toList();
        Settings settings = all.getFirst();
        if (!errors.isEmpty()) {
            errors.forEach(e -> System.err.println("slurmd: error: " + e.message()));
            System.err.println("slurmd: fatal: Unable to process configuration file");
            return 1;
        }
        DaemonLog log;
        try {
            log = new DaemonLog(
                    "slurmd",
                    settings.logFile(),
                    options.foreground(),
                    settings.debugLevel(),
                    settings.logTimeFormat(),
                    conf.slurmdSyslogDebug());
        } catch (IOException e) {
            System.err.println(
                    "slurmd: fatal: Unable to open logfile `" + settings.logFile() + "': " + ErrorSentence.reason(e));
            return 1;
        }
        log.adoptLibraries();
        UnexpectedErrors.install(log);
        conf.warnings().forEach(w -> log.error(w.message()));
        options.idle().forEach(log::error);
        nodes.stream()
                .filter(n -> !n.detected().isEmpty())
                .forEach(n -> log.info(
                        "Autodetected Gres for dynamic node " + n.node().name() + ": " + n.detected()));
        if (Os.uid() != userId(identities, conf.slurmdUser())) {
            // the number is the uid of this process, as in the original's sentence
            return fatal(
                    log,
                    options,
                    "You are running slurmd as something other than user " + conf.slurmdUser() + "(" + Os.uid()
                            + "). If you want to run as this user add SlurmdUser=" + identities.userName(Os.uid())
                            + " to the slurm.conf file.");
        }
        try {
            return serveToTheEnd(new Start(conf, all, options, identities, log, source));
        } catch (Slurmd.CannotStartException e) {
            return fatal(log, options, e.getMessage());
        } catch (IOException e) {
            return fatal(log, options, ErrorSentence.reason(e));
        }
    }

    /** Logs why the daemon does not start, and writes it to standard error as well unless it runs in the foreground. */
    private static int fatal(DaemonLog log, SlurmdOptions options, @Nullable String sentence) {
        log.fatal(sentence);
        if (!options.foreground()) {
            System.err.println("slurmd: fatal: " + sentence);
        }
        return 1;
    }

    /** @param nodes more than one only with -N of several; what concerns the process is taken from the first */
    private record Start(
            SlurmConf conf,
            List<Settings> nodes,
            SlurmdOptions options,
            Identities identities,
            DaemonLog log,
            Optional<Configless> source) {
        Settings settings() {
            return nodes.getFirst();
        }
    }

    private static int userId(Identities identities, String name) {
        if (name.equals("root")) {
            return 0;
        }
        return identities
                .byName(name)
                .map(i -> i.uid())
                .orElse(name.matches("[0-9]{1,9}") ? Integer.parseInt(name) : -1);
    }

    /** Serves, again with a new configuration after each change of it, until told to stop. */
    private static int serveToTheEnd(Start first) throws Slurmd.CannotStartException, IOException {
        applyProcessOptions(first);
        SlurmdLifecycle lifetime = new SlurmdLifecycle(first.log);
        Start start = first;
        try (SlurmdProcess machine = new SlurmdProcess(first.settings().stepd(), first.nodes.size())) {
            WarmUp.start(
                    first.settings(),
                    new Sessions(
                            first.conf,
                            new Caller(Os.uid(), Os.gid()),
                            first.settings().slurmUserId(),
                            false),
                    first.log);
            while (serveOnce(start, lifetime, machine) == SlurmdLifecycle.Order.READ_CONFIG) {
                start = reread(start);
            }
        }
        first.log.info("Slurmd shutdown completing");
        return 0;
    }

    private static SlurmdLifecycle.Order serveOnce(Start start, SlurmdLifecycle lifetime, SlurmdProcess machine)
            throws Slurmd.CannotStartException, IOException {
        Settings settings = start.settings();
        Sessions sessions = new Sessions(start.conf, new Caller(Os.uid(), Os.gid()), settings.slurmUserId(), false)
                .telling(new TlsLog(start.conf.debugFlags()::contains, start.log::info))
                .complainingTo(start.log::error);
        List<Slurmd> running = new ArrayList<>();
        long launchesMs = LAST_LAUNCHES_MS;
        try {
            for (Settings node : start.nodes) {
                running.add(new Slurmd(
                        node,
                        start.log,
                        sessions,
                        lifetime,
                        start.options.reportReboot(),
                        name -> start.conf.node(name).map(n -> new Settings.Address(n.address(), n.port())),
                        machine));
            }
            Optional<Sack> sack = Sack.open(
                    AuthPlaces.of(start.conf), sessions.keys(), settings.cluster(), start.identities, start.log);
            List<PidFile> pidFiles = new ArrayList<>();
            for (String file :
                    start.nodes.stream().map(Settings::pidFile).distinct().toList()) {
                pidFiles.add(PidFile.make("SlurmdPidFile", file, start.log));
            }
            running.forEach(Slurmd::start);
            DaemonProcess.ready(0);
            CommandServiceLog.follow(start.log);
            SlurmdLifecycle.Order order = lifetime.await();
            sack.ifPresent(Sack::close);
            if (order == SlurmdLifecycle.Order.STOP) {
                pidFiles.forEach(PidFile::remove);
            } else {
                launchesMs = LAUNCHES_MS;
            }
            return order;
        } finally {
            awaitLaunches(start, running, machine, launchesMs);
            running.forEach(Slurmd::close);
        }
    }

    /**
     * Waits for launches that have begun. After a reconfiguration the same process serves on: a step that was not there
     * yet when it looked for its jobs would run without it.
     */
    private static void awaitLaunches(Start start, List<Slurmd> running, SlurmdProcess machine, long ms) {
        running.forEach(Slurmd::disconnect);
        int left = machine.starters.awaitNone(ms);
        if (left > 0) {
            start.log.error(left + " launches go on after " + ms / 1000 + " s");
        }
    }

    /** The new configuration; the old one where the new cannot be used. Jobs are found again as after a restart. */
    private static Start reread(Start start) {
        start.log.info("reconfigure");
        if (start.source.isPresent()) {
            try {
                start.source.get().fetchInto(directory(start.conf));
            } catch (IOException e) {
                start.log.error("the configuration stays as it is: " + ErrorSentence.reason(e));
                return start;
            }
        }
        return switch (SlurmConf.read(new File(start.conf.file()))) {
            case SlurmConf.Parsed.Invalid invalid -> {
                invalid.errors().forEach(e -> start.log.error(e.message()));
                yield start;
            }
            case SlurmConf.Parsed.Ok ok -> {
                List<Settings> next = new ArrayList<>();
                for (Settings now : start.nodes) {
                    reread(start, ok.conf(), now).ifPresent(next::add);
                }
                if (next.size() < start.nodes.size()) {
                    yield start;
                }
                start.log.level(next.getFirst().debugLevel());
                yield new Start(ok.conf(), next, start.options, start.identities, start.log, start.source);
            }
        };
    }

    /** A node's new settings; empty, and told, where the new configuration does not do for it. */
    private static Optional<Settings> reread(Start start, SlurmConf conf, Settings now) {
        String line = now.dynamic();
        Optional<NodeConf> node;
        if (line.isEmpty()) {
            node = conf.node(now.nodeName());
        } else if (NodeIdentity.ofLine(conf, line) instanceof NodeIdentity.Found f) {
            node = Optional.of(f.node());
        } else {
            node = Optional.empty();
        }

        if (node.isEmpty()) {
            start.log.error("node " + now.nodeName() + " is no longer in " + start.conf.file());
            return Optional.empty();
        }
        List<ConfigError> errors = new ArrayList<>();
        SettingsReader.Sisters sisters = SettingsReader.Sisters.read(conf, node.get(), Os.hostName(), errors);
        errors.forEach(e -> start.log.error(e.message()));
        return errors.isEmpty()
                ? Optional.of(SettingsReader.read(
                        conf, node.get(), line, start.options, prefix(), now.slurmUserId(), sisters))
                : Optional.empty();
    }

    private static void applyProcessOptions(Start start) throws IOException {
        if (start.options.nice() != 0) {
            DaemonProcess.renice(start.options.nice(), start.log);
        }
        int refused;
        if (start.options.lockMemory()) {
            if (Native.isLinked()) {
                refused = Native.lockMemory();
            } else {
                refused = -1;
            }
        } else {
            refused = 0;
        }

        if (refused != 0) {
            start.log.error("failed to mlock() slurmd pages: "
                    + (refused < 0 ? "not begun by the launcher" : "errno " + refused));
        }
        if (start.options.cleanStart()) {
            int forgotten = 0;
            for (Settings node : start.nodes) {
                forgotten += CleanStart.forgetDead(new JobSpool(node.spoolDirectory()));
            }
            start.log.info("clean start: " + forgotten + " jobs without processes forgotten");
        }
        if (start.options.changeDirectory() || !start.options.foreground()) {
            Path logDirectory =
                    Path.of(start.settings().logFile()).toAbsolutePath().getParent();
            DaemonProcess.workIn(
                    start.settings().logFile().isEmpty() || logDirectory == null
                            ? start.settings().spoolDirectory()
                            : logDirectory,
                    start.log);
        }
    }
}
