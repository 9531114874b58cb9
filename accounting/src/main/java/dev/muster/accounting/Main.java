package dev.muster.accounting;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.dbd.DbdConfig;
import dev.muster.accounting.dbd.SlurmdbdServer;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.config.SlurmConf;
import dev.muster.config.SlurmdbdConf;
import dev.muster.config.file.SisterFiles;
import dev.muster.config.key.ConfigError;
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
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/** slurmdbd. */
public final class Main {
    private static final String USAGE = """
        Usage: slurmdbd [OPTIONS]
          -D              Run daemon in foreground, logging copied to stdout.
          -f file         Use specified file for slurmdbd configuration.
          -h              Print this help message.
          -n value        Run the daemon at the specified nice value.
          -R [CLUSTERS]   Refused: there are no numbers in the trees of associations that could be wrong.
          -s              Change working directory to that of the log file.
          -u              Say what the update of the database would do, and end.
          -v              Verbose mode. Multiple -v's increase verbosity.
          -V              Print version information and exit.
        """;

    private Main() {}

    private record Options(
            boolean foreground, boolean onlyCheck, boolean changeDirectory, String file, int nice, int verbose) {}

    public static void main(String[] args) {
        Optional<Options> options = parse(args);
        if (options.isEmpty()) {
            return;
        }
        int rc;
        try {
            rc = run(options.get());
        } catch (IOException | RuntimeException e) {
            System.err.println("slurmdbd: fatal: " + ErrorSentence.of(e));
            rc = 1;
        }
        if (rc != 0) {
            DaemonProcess.ready(rc);
        }
        System.exit(rc);
    }

    private static Optional<Options> parse(String[] args) {
        Arguments arguments = new Arguments(args);
        Optional<String> error = arguments.read();
        return error.isPresent() ? usage("slurmdbd: " + error.get()) : Optional.of(arguments.options());
    }

    /** Reads the command line. */
    private static final class Arguments {
        private final String[] args;
        private int next = 1;
        private boolean foreground;
        private boolean check;
        private boolean changeDirectory;
        private String file = "";
        private int nice;
        private int verbose;

        Arguments(String[] args) {
            this.args = args;
        }

        Options options() {
            return new Options(foreground, check, changeDirectory, file, nice, verbose);
        }

        /** Returns the error, empty without one. */
        Optional<String> read() {
            while (next < args.length) {
                String a = args[next++];
                String letters = switch (a) {
                    case "--version" -> "-V";
                    case "--help" -> "-h";
                    case "--systemd" -> "-D";
                    default -> a;
                };
                if (!letters.startsWith("-") || letters.length() < 2) {
                    return Optional.of("unrecognized argument '" + letters + "'");
                }
                Optional<String> error = letters(letters.substring(1));
                if (error.isPresent()) {
                    return error;
                }
            }
            return Optional.empty();
        }

        private Optional<String> letters(String letters) {
            for (int k = 0; k < letters.length(); k++) {
                char c = letters.charAt(k);
                switch (c) {
                    case 'D' -> foreground = true;
                    case 's' -> changeDirectory = true;
                    case 'u' -> check = true;
                    case 'v' -> verbose++;
                    case 'R' -> {
                        return Optional.of("error: -R is not supported by this version: associations hold no "
                                + "numbers (lft, rgt) that could be"
                                + " rebuilt, they are counted anew for every list");
                    }
                    case 'V' -> {
                        System.out.println(Release.LINE);
                        System.exit(0);
                    }
                    case 'h' -> {
                        System.out.print(USAGE);
                        System.exit(0);
                    }
                    case 'f', 'n' -> {
                        return valued(c, letters.substring(k + 1));
                    }
                    default -> {
                        return Optional.of("invalid option -- '" + c + "'");
                    }
                }
            }
            return Optional.empty();
        }

        /** @param remainder of the argument; without one the next argument is the value */
        private Optional<String> valued(char option, String remainder) {
            if (remainder.isEmpty() && next == args.length) {
                return Optional.of("option requires an argument -- '" + option + "'");
            }
            String value = remainder.isEmpty() ? args[next++] : remainder;
            if (option == 'f') {
                file = value;
                return Optional.empty();
            }
            Optional<Integer> niceness = DaemonProcess.niceness(value);
            if (niceness.isEmpty()) {
                return Optional.of("error: Invalid option for -n option (nice value), must be from -20 to 19");
            }
            nice = niceness.get();
            return Optional.empty();
        }
    }

    private static Optional<Options> usage(String problem) {
        System.err.println(problem);
        System.err.println("Try \"slurmdbd -h\" for more information");
        DaemonProcess.ready(1);
        System.exit(1);
        return Optional.empty();
    }

    private static int run(Options options) throws IOException {
        File file = options.file.isEmpty() ? located() : new File(options.file);
        if (!file.exists()) {
            System.err.println(
                    "slurmdbd: fatal: slurmdbd.conf file " + file + " could not be opened: No such file or directory");
            return 1;
        }
        List<ConfigError> errors = new ArrayList<>();
        SlurmdbdConf conf = SlurmdbdConf.read(file, errors);
        errors.forEach(e -> System.err.println("slurmdbd: error: " + e.message()));
        if (!errors.isEmpty()) {
            System.err.println("slurmdbd: fatal: Could not open/read/parse slurmdbd.conf file " + file);
            return 1;
        }
        Identities identities = new Identities();
        Optional<String> unfit = unfit(file, conf, identities);
        if (unfit.isPresent()) {
            System.err.println("slurmdbd: fatal: " + unfit.get());
            return 1;
        }
        return serve(options, conf, DaemonUser.of(conf.slurmUser(), identities));
    }

    private static File located() {
        Optional<File> prefix =
                Optional.ofNullable(System.getProperty("muster.prefix")).map(File::new);
        File slurmConf = SlurmConf.locate(Optional.ofNullable(System.getenv("SLURM_CONF")), prefix);
        return new File(slurmConf.getAbsoluteFile().getParentFile(), SisterFiles.SLURMDBD);
    }

    /** The file holds a password: only its owner, SlurmUser or root, and the owner's group may have read access. */
    private static Optional<String> unfit(File file, SlurmdbdConf conf, Identities identities) throws IOException {
        Path path = file.toPath();
        Optional<Integer> user = identities.byName(conf.slurmUser()).map(i -> i.uid());
        if (user.isEmpty()) {
            return Optional.of("failed to look up SlurmUser uid");
        }
        int owner = (Integer) Files.getAttribute(path, "unix:uid");
        if (owner != user.get() && owner != 0) {
            return Optional.of("slurmdbd.conf owned by " + owner + " not SlurmUser(" + user.get() + ") or root");
        }
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path);
        int bits = 0;
        for (PosixFilePermission p : mode) {
            bits |= 0400 >> p.ordinal();
        }
        if ((bits & 037) != 0) {
            return Optional.of(
                    "slurmdbd.conf file " + file + " should be 600 or 640 but is " + Integer.toOctalString(bits));
        }
        return conf.given("StorageType") ? Optional.empty() : Optional.of("StorageType must be specified");
    }

    private static int serve(Options options, SlurmdbdConf conf, DaemonUser user) throws IOException {
        // the driver writes to standard error on its own; what matters comes as an exception
        System.setProperty("mariadb.logging.disable", "true");
        if (!conf.logFile().isEmpty() && Path.of(conf.logFile()).getParent() != null) {
            Files.createDirectories(Path.of(conf.logFile()).getParent());
        }
        DaemonLog log = new DaemonLog(
                "slurmdbd",
                conf.logFile(),
                options.foreground,
                SlurmdbdServer.logLevel(conf, options.verbose),
                conf.text("LogTimeFormat"));
        if (!conf.logFile().isEmpty()) {
            user.own(Path.of(conf.logFile()), log);
        }
        log.adoptLibraries();
        UncaughtFaults.install(log, Set.of("sweep", "accounting", "lease"));
        if (!conf.given("DbdHost")) {
            log.error("slurmdbd.conf lacks DbdHost parameter, using 'localhost'");
        }
        DbdConfig.inert(conf).forEach(sentence -> log.info("warning: " + sentence));
        CountDownLatch end = new CountDownLatch(1);
        if (options.onlyCheck) {
            user.become();
            return check(conf, log);
        }
        Signals.on("TERM", end::countDown);
        Signals.on("INT", end::countDown);
        SlurmdbdServer dbd = new SlurmdbdServer(conf, options.verbose, log, end::countDown);
        PidFile pid;
        try {
            user.checkPermitted();
            dbd.prepare();
            pid = becomeSlurmUser(options, user, conf, log);
            dbd.start();
        } catch (IOException | RuntimeException e) {
            dbd.stop();
            return fatal(e, options, conf, log);
        }
        pid.write(log);
        Signals.on("HUP", () -> {
            log.info("Reconfigure signal (SIGHUP) received");
            dbd.reconfigure();
        });
        DaemonProcess.reopenOnUsr2(log);
        Signals.ignore("PIPE");
        DaemonProcess.ready(0);
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        log.info("Terminate signal (SIGINT or SIGTERM) received");
        dbd.stop();
        pid.remove();
        return 0;
    }

    /**
     * -u: 0 where the tables are as they are to be, 1 where a start would change them, or would not go on with them.
     * Nothing is written.
     */
    private static int check(SlurmdbdConf conf, DaemonLog log) throws IOException {
        List<String> pending;
        try {
            pending = AccountingStore.pending(SlurmdbdServer.database(conf));
        } catch (AccountingException e) {
            log.error(e.getMessage());
            return 1;
        }
        if (pending.isEmpty()) {
            log.info("Slurm Database is the current version, no conversion needed");
            return 0;
        }
        log.info("Slurm Database needs a conversion: a start of slurmdbd would apply " + String.join(", ", pending));
        return 1;
    }

    private static int fatal(Exception e, Options options, SlurmdbdConf conf, DaemonLog log) {
        log.fatal(ErrorSentence.of(e));
        if (!options.foreground && !conf.logFile().isEmpty()) { // else the log has said it there
            System.err.println("slurmdbd: fatal: " + ErrorSentence.of(e));
        }
        return 1;
    }

    /**
     * Becomes SlurmUser after -n and before -s take effect.
     *
     * @throws IOException in Slurm's words, if that is not possible or SlurmUser cannot use the tables
     */
    private static PidFile becomeSlurmUser(Options options, DaemonUser user, SlurmdbdConf conf, DaemonLog log)
            throws IOException {
        if (options.nice != 0) {
            DaemonProcess.renice(options.nice, log);
        }
        PidFile pid = PidFile.open("PidFile", conf.pidFile(), log);
        user.ownPidFile(pid.path(), log);
        Optional<Path> tables = SlurmdbdServer.embeddedTables(conf);
        if (tables.isPresent()) {
            user.takeOver("StorageLoc", tables.get(), Database.EMBEDDED_FILE, List.of(), log);
        }
        user.become();
        Optional<String> unusable = tables.isEmpty()
                ? Optional.empty()
                : user.unusable("StorageLoc", tables.get(), List.of(Database.EMBEDDED_FILE));
        if (unusable.isPresent()) {
            throw new IOException(unusable.get());
        }
        Path directory = conf.logFile().isEmpty()
                ? null
                : Path.of(conf.logFile()).toAbsolutePath().getParent();
        if (options.changeDirectory && directory != null) {
            DaemonProcess.workIn(directory, log);
        }
        return pid;
    }
}
