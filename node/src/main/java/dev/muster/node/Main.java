package dev.muster.node;

import dev.muster.config.AuthPlaces;
import dev.muster.config.CgroupConf;
import dev.muster.config.ConfigError;
import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import dev.muster.daemon.CommandServiceKeeper;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.DaemonProcess;
import dev.muster.daemon.Identities;
import dev.muster.daemon.PidFile;
import dev.muster.daemon.Sack;
import dev.muster.daemon.Sessions;
import dev.muster.model.Release;
import dev.muster.transport.Caller;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

/** slurmd as a process. */
public final class Main {
    /** Held here, because a logger that nobody holds forgets its level. */
    private static final Logger WEB_SERVER = Logger.getLogger("io.helidon");

    private Main() {}

    public static void main(String[] args) {
        WEB_SERVER.setLevel(Level.WARNING);
        int rc = run(Arrays.asList(args).subList(1, args.length));
        System.exit(rc);
    }

    private static int run(List<String> arguments) {
        return switch (Options.parse(arguments)) {
            case Options.Parsed.Wrong w -> {
                System.err.println("slurmd: " + (w.showUsage() ? "" : "fatal: ") + w.sentence());
                if (w.showUsage()) {
                    System.err.print(Options.USAGE);
                }
                yield 1;
            }
            case Options.Parsed.Ok ok -> run(ok.options());
        };
    }

    private static int run(Options options) {
        return switch (options.mode()) {
            case HELP -> {
                System.err.print(Options.USAGE);
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

    private static int showHardware(Options options) {
        HardwareProbe probe = new HardwareProbe(Path.of("/"), Path.of("/tmp"));
        String name = options.nodeName().isEmpty() ? shortHostName() : options.nodeName();
        System.out.println(HardwareProbe.describe(name, probe.read(""), "", probe.uptimeSeconds()));
        return 0;
    }

    private static String hostName() {
        String name = Os.read(Path.of("/proc/sys/kernel/hostname")).map(String::trim).orElse("");
        try {
            return name.isEmpty() ? InetAddress.getLocalHost().getHostName() : name;
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }

    private static String shortHostName() {
        String name = hostName();
        return name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
    }

    static Path prefix() {
        return Path.of(System.getProperty("muster.prefix", "/usr"));
    }

    private static File configFile(Options options) {
        return options.configFile().isEmpty()
                ? SlurmConf.locate(Optional.ofNullable(System.getenv("SLURM_CONF")), Optional.of(prefix().toFile()))
                : new File(options.configFile());
    }

    private static int configured(Options options) {
        return switch (SlurmConf.read(configFile(options))) {
            case SlurmConf.Parsed.Invalid invalid -> {
                for (ConfigError error : invalid.errors()) {
                    System.err.println("slurmd: error: " + error.message());
                }
                System.err.println("slurmd: fatal: Unable to process configuration file");
                yield 1;
            }
            case SlurmConf.Parsed.Ok ok -> onNode(ok.conf(), options);
        };
    }

    private static int onNode(SlurmConf conf, Options options) {
        Optional<NodeConf> node = SettingsReader.node(conf, options.nodeName(), hostName());
        if (node.isEmpty()) {
            System.err.println("slurmd: fatal: Unable to determine this slurmd's NodeName");
            return 1;
        }
        if (options.mode() == Options.Mode.SHOW_GRES) {
            GresReport.lines(conf, node.get()).forEach(System.err::println);
            return 0;
        }
        return serve(conf, node.get(), options);
    }

    private static int serve(SlurmConf conf, NodeConf node, Options options) {
        Identities identities = new Identities();
        int slurmUser = userId(identities, conf.slurmUser());
        if (slurmUser < 0) {
            System.err.println("slurmd: fatal: Invalid user for SlurmUser " + conf.slurmUser());
            return 1;
        }
        List<ConfigError> errors = new ArrayList<>();
        Settings settings = SettingsReader.read(conf, node, options, prefix(), slurmUser,
                CgroupConf.read(conf.sister("cgroup.conf"), errors));
        if (!errors.isEmpty()) {
            errors.forEach(e -> System.err.println("slurmd: error: " + e.message()));
            System.err.println("slurmd: fatal: Unable to process configuration file");
            return 1;
        }
        DaemonLog log;
        try {
            log = new DaemonLog("slurmd", settings.logFile(), options.foreground(), settings.debugLevel(),
                    settings.logTimeFormat(), conf.slurmdSyslogDebug());
        } catch (IOException e) {
            System.err.println("slurmd: fatal: Unable to open logfile `" + settings.logFile() + "': " + Reasons.of(e));
            return 1;
        }
        conf.warnings().forEach(w -> log.error(w.message()));
        try {
            return serveToTheEnd(new Start(conf, settings, options, identities, log));
        } catch (Slurmd.CannotStartException e) {
            return fatal(log, options, e.getMessage());
        } catch (IOException e) {
            return fatal(log, options, Reasons.of(e));
        }
    }

    /** Whoever started the daemon must see why it did not start, also where the log is a file. */
    private static int fatal(DaemonLog log, Options options, String sentence) {
        log.fatal(sentence);
        if (!options.foreground()) {
            System.err.println("slurmd: fatal: " + sentence);
        }
        return 1;
    }

    private record Start(SlurmConf conf, Settings settings, Options options, Identities identities, DaemonLog log) {}

    private static int userId(Identities identities, String name) {
        if (name.chars().allMatch(Character::isDigit)) {
            return Integer.parseInt(name);
        }
        return name.equals("root") ? 0 : identities.byName(name).map(i -> i.uid()).orElse(-1);
    }

    /** Serves, again with a new configuration after each change of it, until told to stop. */
    private static int serveToTheEnd(Start first) throws Slurmd.CannotStartException, IOException {
        applyProcessOptions(first);
        Lifetime lifetime = new Lifetime(first.log);
        Start start = first;
        while (serveOnce(start, lifetime) == Lifetime.Order.READ_CONFIG) {
            start = reread(start);
        }
        first.log.info("Slurmd shutdown completing");
        return 0;
    }

    private static Lifetime.Order serveOnce(Start start, Lifetime lifetime) throws Slurmd.CannotStartException,
            IOException {
        Settings settings = start.settings;
        Sessions sessions = new Sessions(start.conf, new Caller(Os.uid(), Os.gid()), settings.slurmUserId(), false);
        try (Slurmd slurmd = new Slurmd(settings, start.log, sessions, lifetime, start.options.reportReboot())) {
            Optional<Sack> sack = sessions.key().flatMap(key -> Sack.open(AuthPlaces.of(start.conf).sackSockets(), key,
                    settings.cluster(), start.identities, start.log));
            PidFile pidFile = new PidFile(settings.pidFile());
            slurmd.start();
            DaemonProcess.ready(0);
            CommandServiceKeeper.start(Optional.ofNullable(System.getProperty("muster.prefix")), start.log);
            Lifetime.Order order = lifetime.await();
            sack.ifPresent(Sack::close);
            if (order == Lifetime.Order.STOP) {
                pidFile.remove();
            }
            return order;
        }
    }

    /** The new configuration; the old one where the new cannot be used. Jobs are found again as after a restart. */
    private static Start reread(Start start) {
        start.log.info("reconfigure");
        return switch (SlurmConf.read(new File(start.conf.file()))) {
            case SlurmConf.Parsed.Invalid invalid -> {
                invalid.errors().forEach(e -> start.log.error(e.message()));
                yield start;
            }
            case SlurmConf.Parsed.Ok ok -> {
                Optional<NodeConf> node = ok.conf().node(start.settings.nodeName());
                if (node.isEmpty()) {
                    start.log.error("node " + start.settings.nodeName() + " is no longer in " + start.conf.file());
                    yield start;
                }
                List<ConfigError> errors = new ArrayList<>();
                CgroupConf cgroup = CgroupConf.read(ok.conf().sister("cgroup.conf"), errors);
                if (!errors.isEmpty()) {
                    errors.forEach(e -> start.log.error(e.message()));
                    yield start;
                }
                Settings next = SettingsReader.read(
                        ok.conf(), node.get(), start.options, prefix(), start.settings.slurmUserId(), cgroup);
                start.log.level(next.debugLevel());
                yield new Start(ok.conf(), next, start.options, start.identities, start.log);
            }
        };
    }

    private static void applyProcessOptions(Start start) throws IOException {
        if (start.options.nice() != 0) {
            DaemonProcess.renice(start.options.nice(), start.log);
        }
        if (start.options.cleanStart()) {
            int forgotten = CleanStart.forgetDead(new Spool(start.settings.spoolDirectory()));
            start.log.info("clean start: " + forgotten + " jobs without processes forgotten");
        }
        if (start.options.changeDirectory() || !start.options.foreground()) {
            Path logDirectory = Path.of(start.settings.logFile()).toAbsolutePath().getParent();
            DaemonProcess.workIn(start.settings.logFile().isEmpty() || logDirectory == null ? start.settings.spoolDirectory()
                    : logDirectory, start.log);
        }
    }
}
