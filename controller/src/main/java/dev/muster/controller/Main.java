package dev.muster.controller;

import dev.muster.config.AuthPlaces;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.sister.BurstBufferConf;
import dev.muster.config.sister.CgroupConf;
import dev.muster.config.sister.HelpersConf;
import dev.muster.config.sister.ResourcesYaml;
import dev.muster.config.sister.Topologies;
import dev.muster.controller.engine.StateDirectory;
import dev.muster.controller.ha.ControllerHost;
import dev.muster.controller.kafka.KafkaConnector;
import dev.muster.daemon.CommandServiceLog;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.DaemonProcess;
import dev.muster.daemon.DaemonUser;
import dev.muster.daemon.Identities;
import dev.muster.daemon.PidFile;
import dev.muster.daemon.Signals;
import dev.muster.daemon.UncaughtFaults;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** slurmctld. */
public final class Main {
    /** Threads without which slurmctld would go on without doing its work: it ends instead, and is started again. */
    private static final Set<String> ESSENTIAL = Set.of(
            "core",
            "release",
            "nodes",
            "acknowledge",
            "accounting",
            "journal-writer",
            "journal-segments",
            "slurmdbd",
            "plan",
            "sack");

    /** What this process is: the cluster's only controller, or one of several. */
    interface Daemon {
        /** @throws IOException if a key is unfit */
        void prepare() throws IOException;

        /** @throws IOException if a place cannot be used or a port is taken */
        void start(boolean clean) throws IOException;

        String reconfigure();

        void stop();

        /** Returns the exit code of slurmctld: 1 where this daemon has refused to go on. */
        default int exitCode() {
            return 0;
        }
    }

    private Main() {}

    public static void main(String[] args) {
        switch (SlurmctldOptions.parse(List.of(args).subList(1, args.length))) {
            case SlurmctldOptions.Parsed.Wrong wrong -> {
                System.err.println("slurmctld: " + wrong.sentence());
                System.err.println("Try \"slurmctld -h\" for more information");
                DaemonProcess.ready(1);
                System.exit(1);
            }
            case SlurmctldOptions.Parsed.Ok ok -> {
                int rc = switch (ok.options().mode()) {
                    case HELP -> say(SlurmctldOptions.USAGE);
                    case VERSION -> say(Release.LINE + "\n");
                    case SERVE -> run(ok.options());
                };
                if (rc != 0) {
                    DaemonProcess.ready(rc);
                }
                System.exit(rc);
            }
        }
    }

    private static int say(String text) {
        System.out.print(text);
        return 0;
    }

    /**
     * Returns whether the text is a user's name or number, or the number of this process, which may have no name in a
     * container.
     */
    private static boolean isUser(String text, Identities identities) {
        try {
            return identities.byName(text).isPresent()
                    || text.equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")
                            .toString());
        } catch (IOException e) {
            return false;
        }
    }

    private static int run(SlurmctldOptions o) {
        Optional<File> prefix =
                Optional.ofNullable(System.getProperty("muster.prefix")).map(File::new);
        File file = o.file().isEmpty()
                ? SlurmConf.locate(Optional.ofNullable(System.getenv("SLURM_CONF")), prefix)
                : new File(o.file()).getAbsoluteFile();
        SlurmConf conf;
        switch (SlurmConf.read(file)) {
            case SlurmConf.Parsed.Invalid bad -> {
                bad.errors().forEach((ConfigError e) -> System.err.println("slurmctld: error: " + e.message()));
                System.err.println("slurmctld: fatal: Unable to process configuration file");
                return 1;
            }
            case SlurmConf.Parsed.Ok ok -> conf = ok.conf();
        }
        Identities identities = new Identities();
        for (Map.Entry<String, String> user :
                List.of(Map.entry("SlurmUser", conf.slurmUser()), Map.entry("SlurmdUser", conf.slurmdUser()))) {
            if (!isUser(user.getValue(), identities)) {
                System.err.println(
                        "slurmctld: error: Invalid user for " + user.getKey() + " " + user.getValue() + ", ignored");
                System.err.println("slurmctld: fatal: Unable to process configuration file");
                return 1;
            }
        }
        List<ConfigError> wrong = new java.util.ArrayList<>();
        CgroupConf.check(conf.sister("cgroup.conf"), wrong);
        if (!wrong.isEmpty()) {
            wrong.forEach(e -> System.err.println("slurmctld: error: " + e.message()));
            System.err.println(
                    "slurmctld: fatal: Could not open/read/parse cgroup.conf file " + conf.sister("cgroup.conf"));
            return 1;
        }
        HelpersConf.read(conf, wrong);
        Topologies.read(conf, wrong);
        BurstBufferConf.read(conf, wrong);
        String failure =
                wrong.isEmpty() ? "Failed to initialize jobcomp plugin" : "Failed to initialize topology plugin";
        KafkaConnector.check(conf, wrong);
        if (wrong.isEmpty()) {
            failure = "Unable to process resources.yaml";
        }
        ResourcesYaml.read(conf, wrong);
        if (!wrong.isEmpty()) {
            wrong.forEach(e -> System.err.println("slurmctld: error: " + e.message()));
            System.err.println("slurmctld: fatal: " + failure);
            return 1;
        }
        try {
            return serve(o, conf, file, DaemonUser.of(conf.slurmUser(), identities));
        } catch (IOException | RuntimeException e) {
            System.err.println("slurmctld: fatal: " + ErrorSentence.of(e));
            return 1;
        }
    }

    private static int serve(SlurmctldOptions o, SlurmConf conf, File file, DaemonUser user) throws IOException {
        String logFile = o.logFile().isEmpty() ? conf.slurmctldLogFile() : o.logFile();
        DaemonLog log = openLog(o, conf, logFile);
        log.adoptLibraries();
        UncaughtFaults.install(log, ESSENTIAL);
        o.remarks().forEach(sentence -> log.info("warning: " + sentence));
        if (!logFile.isEmpty()) {
            user.own(Path.of(logFile), log);
        }
        if (o.nice() != 0) {
            DaemonProcess.renice(o.nice(), log);
        }
        Optional<String> stranger = ControllerHost.refusal(conf, ControllerHost.ofThisHost());
        if (stranger.isPresent()) {
            log.error(stranger.get());
            toTerminal(o, logFile, "slurmctld: error: " + stranger.get());
            return 1;
        }
        CountDownLatch end = new CountDownLatch(1);
        Daemon controller = daemon(conf, file, log, end::countDown);
        PidFile pid;
        try {
            user.checkPermitted();
            controller.prepare();
            pid = becomeSlurmUser(user, conf, log);
            if (o.changeDirectory() || !o.foreground()) {
                DaemonProcess.workIn(
                        SlurmctldOptions.workingDirectory(logFile, Path.of(conf.stateSaveLocation())), log);
            }
            controller.start(o.clean());
        } catch (IOException | RuntimeException e) {
            log.fatal(ErrorSentence.of(e));
            log.debug(java.util.Arrays.toString(e.getStackTrace()));
            toTerminal(o, logFile, "slurmctld: fatal: " + ErrorSentence.of(e));
            controller.stop();
            return 1;
        }
        log.info("slurmctld version " + Release.VERSION + " started on cluster " + conf.clusterName());
        pid.write(log);
        Signals.on("TERM", end::countDown);
        Signals.on("INT", end::countDown);
        Signals.on("HUP", controller::reconfigure);
        DaemonProcess.reopenOnUsr2(log);
        Signals.ignore("PIPE");
        CommandServiceLog.follow(log);
        DaemonProcess.ready(0);
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        log.info("Terminate signal (SIGINT or SIGTERM) received");
        controller.stop();
        pid.remove();
        log.info("slurmctld stopped");
        return controller.exitCode();
    }

    private static Daemon daemon(SlurmConf conf, File file, DaemonLog log, Runnable onShutdown) {
        Consumer<Throwable> fault = e -> {
            log.error("fatal: the controller cannot go on", e);
            Runtime.getRuntime().halt(1);
        };
        return ReplicatedController.isConfigured(conf)
                ? new ReplicatedController(conf, file, log, onShutdown, fault)
                : new Controller(conf, file, log, onShutdown, fault);
    }

    private static DaemonLog openLog(SlurmctldOptions o, SlurmConf conf, String logFile) throws IOException {
        try {
            if (!logFile.isEmpty() && Path.of(logFile).getParent() != null) {
                java.nio.file.Files.createDirectories(Path.of(logFile).getParent());
            }
            return new DaemonLog(
                    "slurmctld",
                    logFile,
                    o.foreground(),
                    Math.min(9, conf.slurmctldDebug() + o.verbose()),
                    conf.text(Key.LOG_TIME_FORMAT),
                    conf.slurmctldSyslogDebug());
        } catch (IOException e) {
            throw new IOException("SlurmctldLogFile=" + logFile + ": cannot open it: " + ErrorSentence.reason(e), e);
        }
    }

    /** Writes an error to the terminal, unless the log is written there anyway. */
    private static void toTerminal(SlurmctldOptions o, String logFile, String sentence) {
        if (!o.foreground() && !logFile.isEmpty()) {
            System.err.println(sentence);
        }
    }

    /** @throws IOException in Slurm's words, if that is not possible or SlurmUser cannot use the state */
    private static PidFile becomeSlurmUser(DaemonUser user, SlurmConf conf, DaemonLog log) throws IOException {
        PidFile pid = PidFile.open("SlurmctldPidFile", conf.slurmctldPidFile(), log);
        user.ownPidFile(pid.path(), log);
        if (!conf.text(Key.SLURM_SCHED_LOG_FILE).isEmpty()) {
            user.own(Path.of(conf.text(Key.SLURM_SCHED_LOG_FILE)), log);
        }
        String key = Key.STATE_SAVE_LOCATION.slurmName();
        Path state = Path.of(conf.stateSaveLocation());
        user.takeOver(key, state, StateDirectory.MARK, StateDirectory.LARGE, log);
        user.become();
        AuthPlaces.of(conf).keyFiles().stream()
                .filter(File::isFile)
                .findFirst()
                .filter(f -> !f.canRead())
                .ifPresent(f -> log.error(f
                        + " cannot be read by SlurmUser: another key in it is known after the next start only. To "
                        + "change keys without one: chown "
                        + conf.slurmUser() + " " + f));
        StateDirectory.checkAccess(state);
        Optional<String> unusable = user.unusable(key, state, StateDirectory.NEEDED);
        if (unusable.isPresent()) {
            throw new IOException(unusable.get());
        }
        return pid;
    }
}
