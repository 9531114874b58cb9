package dev.muster.controller;

import dev.muster.config.ConfigError;
import dev.muster.config.Key;
import dev.muster.config.SisterFiles;
import dev.muster.config.SlurmConf;
import dev.muster.daemon.CommandServiceKeeper;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.PidFile;
import dev.muster.daemon.Signals;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** slurmctld. */
public final class Main {
    private static final String USAGE = """
            Usage: slurmctld [OPTIONS]
              -c              Do not recover state from last checkpoint.
              -D              Run daemon in foreground, logging copied to stdout.
              -f file         Use specified file for slurmctld configuration.
              -h              Print this help message.
              -i              Ignore errors found while reading in state files on startup.
              -L logfile      Log messages to the specified file.
              -n value        Run the daemon at the specified nice value.
              -R              Recover full state from last checkpoint.
              -s              Change working directory to SlurmctldLogFile/StateSaveLocation.
              -v              Verbose mode. Multiple -v's increase verbosity.
              -V              Print version information and exit.
              --systemd       Started from systemd unit file.
            """;

    private Main() {}

    private record Options(boolean foreground, boolean clean, String file, String logFile, int verbose) {}

    public static void main(String[] args) {
        Optional<Options> options = parse(args);
        if (options.isEmpty()) {
            return;
        }
        int rc = run(options.get());
        if (rc != 0) {
            ready(rc);
        }
        System.exit(rc);
    }

    private static Optional<Options> parse(String[] args) {
        boolean foreground = false;
        boolean clean = false;
        String file = "";
        String log = "";
        int verbose = 0;
        for (int i = 1; i < args.length; i++) {
            String a = args[i];
            switch (a) {
                case "--systemd" -> foreground = true;
                case "-h", "--help" -> {
                    System.out.print(USAGE);
                    System.exit(0);
                }
                case "-V", "--version" -> {
                    System.out.println("slurm " + Controller.VERSION);
                    System.exit(0);
                }
                default -> {
                    if (!a.startsWith("-") || a.length() < 2) {
                        return usage("slurmctld: unrecognized argument '" + a + "'");
                    }
                    for (int k = 1; k < a.length(); k++) {
                        char c = a.charAt(k);
                        switch (c) {
                            case 'D' -> foreground = true;
                            case 'c' -> clean = true;
                            case 'i', 'R', 's', 'B', 'r' -> { }
                            case 'v' -> verbose++;
                            case 'f', 'L', 'n' -> {
                                String value = k + 1 < a.length() ? a.substring(k + 1) : ++i < args.length ? args[i] : null;
                                if (value == null) {
                                    return usage("slurmctld: option requires an argument -- '" + c + "'");
                                }
                                file = c == 'f' ? value : file;
                                log = c == 'L' ? value : log;
                                k = a.length();
                            }
                            default -> {
                                return usage("slurmctld: invalid option -- '" + c + "'");
                            }
                        }
                    }
                }
            }
        }
        return Optional.of(new Options(foreground, clean, file, log, verbose));
    }

    private static Optional<Options> usage(String problem) {
        System.err.println(problem);
        System.err.println("Try \"slurmctld -h\" for more information");
        ready(1);
        System.exit(1);
        return Optional.empty();
    }

    private static int run(Options o) {
        Optional<File> prefix = Optional.ofNullable(System.getProperty("muster.prefix")).map(File::new);
        File file = o.file.isEmpty() ? SlurmConf.locate(Optional.ofNullable(System.getenv("SLURM_CONF")), prefix) : new File(o.file);
        SlurmConf conf;
        switch (SlurmConf.read(file)) {
            case SlurmConf.Parsed.Invalid bad -> {
                bad.errors().forEach((ConfigError e) -> System.err.println("slurmctld: error: " + e.message()));
                System.err.println("slurmctld: fatal: Unable to process configuration file");
                return 1;
            }
            case SlurmConf.Parsed.Ok ok -> conf = ok.conf();
        }
        try {
            return serve(o, conf, file);
        } catch (IOException | RuntimeException e) {
            System.err.println("slurmctld: fatal: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            return 1;
        }
    }

    private static int serve(Options o, SlurmConf conf, File file) throws IOException {
        String logFile = o.logFile.isEmpty() ? conf.slurmctldLogFile() : o.logFile;
        if (!logFile.isEmpty() && Path.of(logFile).getParent() != null) {
            java.nio.file.Files.createDirectories(Path.of(logFile).getParent());
        }
        DaemonLog log = new DaemonLog("slurmctld", logFile, o.foreground, Math.min(9, conf.slurmctldDebug() + o.verbose),
                conf.text(Key.LOG_TIME_FORMAT), conf.slurmctldSyslogDebug());
        log.adoptLibraries();
        conf.warnings().forEach(w -> log.error(w.message()));
        for (List<String> inert : List.of(SisterFiles.inertKeys(conf), SisterFiles.inertPartitionKeys(conf), SisterFiles.unread(conf))) {
            inert.forEach(sentence -> log.info("warning: " + sentence));
        }
        log.info("slurmctld version " + Controller.VERSION + " started on cluster " + conf.clusterName());
        CountDownLatch end = new CountDownLatch(1);
        int[] rc = {0};
        Controller controller = new Controller(conf, file, log, end::countDown, fault -> {
            log.error("fatal: the controller cannot go on", fault);
            Runtime.getRuntime().halt(1);
        });
        try {
            controller.start(o.clean);
        } catch (IOException | RuntimeException e) {
            log.fatal(e.getMessage() == null ? e.toString() : e.getMessage());
            log.debug(java.util.Arrays.toString(e.getStackTrace()));
            System.err.println("slurmctld: fatal: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            controller.stop();
            return 1;
        }
        PidFile pid = new PidFile(conf.slurmctldPidFile());
        Signals.on("TERM", end::countDown);
        Signals.on("INT", end::countDown);
        Signals.on("HUP", controller::reconfigure);
        Signals.on("USR2", () -> {
            try {
                log.reopen();
            } catch (IOException e) {
                log.error("cannot reopen the log", e);
            }
        });
        Signals.ignore("PIPE");
        CommandServiceKeeper.start(Optional.ofNullable(System.getProperty("muster.prefix")), log);
        ready(0);
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        log.info("Terminate signal (SIGINT or SIGTERM) received");
        controller.stop();
        pid.remove();
        log.info("slurmctld stopped");
        return rc[0];
    }

    /** Tells the process that was started, if the launcher forked. */
    private static void ready(int rc) {
        try {
            Native.daemonReady(rc);
        } catch (UnsatisfiedLinkError e) {
            // run by a plain JVM: nobody waits
        }
    }
}
