package dev.muster.daemon;

import dev.muster.config.AuthPlaces;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Caller;
import dev.muster.transport.KeySet;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * sackd: vouches for the callers of commands on a host where neither slurmctld nor slurmd runs, and keeps the command
 * service there. Reads its slurm.conf and the cluster's key from files.
 */
public final class SackMain {
    private static final String USAGE = """
        Usage: sackd [OPTIONS]
          --ca-cert-file file        Whom to trust when configs are fetched over TLS.
          --conf-server host[:port]  Get configs from slurmctld at `host[:port]`.
          -D                         Run daemon in foreground.
          --disable-reconfig         Do not follow changes of the configuration.
          -f file                    Read configuration from the specified file.
          -h                         Print this help message.
          -v                         Verbose mode. Multiple -v's increase verbosity.
          -V                         Print version information and exit.
          --systemd                  Stay in the foreground as a service of systemd.
        """;

    private static final int FOLLOW_SECONDS = 30;
    private static final String NO_PORT = "sackd asks slurmctld for changes and listens on no port";

    private SackMain() {}

    private record Options(
            boolean foreground,
            String file,
            int verbose,
            String confServer,
            Optional<Path> authority,
            boolean follow) {}

    /** args[0] is the program's name. */
    public static void main(String[] args) {
        int rc;
        try {
            rc = run(args);
        } catch (IOException | RuntimeException e) {
            rc = fatal(ErrorSentence.of(e));
        }
        if (rc != 0) {
            DaemonProcess.ready(rc);
        }
        System.exit(rc);
    }

    private static int fatal(String sentence) {
        System.err.println("sackd: fatal: " + sentence);
        return 1;
    }

    private static int run(String[] args) throws IOException {
        if (System.getenv("SACKD_PORT") != null) {
            return fatal("SACKD_PORT: " + NO_PORT);
        }
        Arguments arguments = new Arguments(args);
        OptionalInt rc = arguments.read();
        return rc.isPresent() ? rc.getAsInt() : configured(arguments.options());
    }

    /** Reads the command line. */
    private static final class Arguments {
        private final String[] args;
        private int next = 1;
        private boolean foreground;
        private String file = "";
        private int verbose;
        private String confServer = "";
        private Optional<Path> authority = Optional.empty();
        private boolean follow = System.getenv("SACKD_DISABLE_RECONFIG") == null;

        Arguments(String[] args) {
            this.args = args;
        }

        Options options() {
            return new Options(foreground, file, verbose, confServer, authority, follow);
        }

        /** Returns the exit code, empty if the daemon is to serve. */
        OptionalInt read() {
            while (next < args.length) {
                String a = args[next++];
                switch (a) {
                    case "-h", "--help", "--usage" -> {
                        System.out.print(USAGE);
                        return OptionalInt.of(0);
                    }
                    case "-V", "--version" -> {
                        System.out.println(Release.LINE);
                        return OptionalInt.of(0);
                    }
                    case "--systemd" -> foreground = true;
                    case "--disable-reconfig" -> follow = false;
                    case "--conf-server", "--ca-cert-file", "-f" -> {
                        if (next == args.length) {
                            return OptionalInt.of(fatal(
                                    a.equals("-f")
                                            ? "option requires an argument -- 'f'"
                                            : "option '" + a + "' requires an argument"));
                        }
                        set(a, args[next++]);
                    }
                    default -> {
                        OptionalInt rc = joined(a);
                        if (rc.isPresent()) {
                            return rc;
                        }
                    }
                }
            }
            return OptionalInt.empty();
        }

        private void set(String option, String value) {
            switch (option) {
                case "--conf-server" -> confServer = value;
                case "--ca-cert-file" -> authority = Optional.of(Path.of(value));
                default -> file = value;
            }
        }

        /** Options with their value after an equals sign, and letters in one argument. */
        private OptionalInt joined(String a) {
            if (a.startsWith("--conf-server=") || a.startsWith("--ca-cert-file=")) {
                int equals = a.indexOf('=');
                set(a.substring(0, equals), a.substring(equals + 1));
                return OptionalInt.empty();
            }
            if (a.startsWith("--port")) {
                return OptionalInt.of(fatal("--port: " + NO_PORT));
            }
            if (!a.matches("-[Dv]+")) {
                System.err.print("sackd: unrecognized option '" + a + "'\n" + USAGE);
                return OptionalInt.of(1);
            }
            foreground |= a.indexOf('D') > 0;
            verbose += (int) a.chars().filter(c -> c == 'v').count();
            return OptionalInt.empty();
        }
    }

    private static int configured(Options options) throws IOException {
        Optional<File> prefix =
                Optional.ofNullable(System.getProperty("muster.prefix")).map(File::new);
        Path home = prefix.map(File::toPath).orElse(Path.of("/usr"));
        Optional<String> named =
                Optional.ofNullable(System.getenv("SLURM_CONF")).filter(n -> !n.isEmpty());
        File file = options.file.isEmpty() ? SlurmConf.locate(named, prefix) : new File(options.file);
        Optional<Configless> source = ConfServers.of(
                        options.confServer, named.isPresent() || !options.file.isEmpty(), file)
                .map(servers -> new Configless(servers, Configless.keyOf(home), "", options.authority));
        if (source.isPresent()) {
            file = source.get()
                    .fetchInto(Configless.runtimeDirectory())
                    .resolve("slurm.conf")
                    .toFile();
        }
        return switch (SlurmConf.read(file)) {
            case SlurmConf.Parsed.Invalid bad -> {
                bad.errors().forEach((ConfigError e) -> System.err.println("sackd: error: " + e.message()));
                yield fatal("Unable to process configuration file");
            }
            case SlurmConf.Parsed.Ok ok -> serve(ok.conf(), options, source);
        };
    }

    /** Commands read the files anew each time and need no message. */
    private static void follow(Configless source, DaemonLog log) {
        while (true) {
            try {
                if (source.followInto(Configless.runtimeDirectory(), FOLLOW_SECONDS)) {
                    log.info("new configuration from slurmctld");
                }
            } catch (IOException e) {
                log.error(ErrorSentence.of(e));
            }
        }
    }

    /** A log level as in SlurmctldDebug: a number or a word. */
    private static int level(String variable, int otherwise) throws IOException {
        String configured = System.getenv(variable);
        int level = configured == null ? otherwise : SlurmConf.debugLevel(configured);
        if (configured != null && level < 0) {
            throw new IOException(variable + " invalid: " + configured);
        }
        return level;
    }

    private static int serve(SlurmConf conf, Options options, Optional<Configless> source) throws IOException {
        int both = level("SACKD_DEBUG", -1);
        DaemonLog log = new DaemonLog(
                "sackd",
                "",
                options.foreground,
                level("SACKD_STDERR_DEBUG", both < 0 ? DaemonLog.INFO + options.verbose : both),
                conf.text(Key.LOG_TIME_FORMAT),
                level("SACKD_SYSLOG_DEBUG", both));
        AuthPlaces places = AuthPlaces.of(conf);
        Supplier<KeySet> keys = new Sessions(conf, new Caller(0, 0), 0, false).keys();
        if (keys.get().isEmpty()) {
            log.fatal("no cluster key: put slurm.key beside " + conf.file());
            return options.foreground ? 1 : fatal("no cluster key: put slurm.key beside " + conf.file());
        }
        Optional<Sack> sack = Sack.open(places, keys, conf.clusterName(), new Identities(), log);
        if (sack.isEmpty() && source.isPresent()) {
            log.info("another daemon of this host vouches for its callers: only the configuration is followed");
        } else if (sack.isEmpty()) {
            log.fatal("no place for the socket: tried " + String.join(", ", places.sackSockets()));
            return options.foreground
                    ? 1
                    : fatal("no place for the socket: tried " + String.join(", ", places.sackSockets()));
        }
        CountDownLatch end = new CountDownLatch(1);
        for (String signal : List.of("TERM", "INT")) {
            Signals.on(signal, end::countDown);
        }
        for (String signal : List.of("HUP", "PIPE")) {
            Signals.ignore(signal);
        }
        CommandServiceLog.follow(log);
        source.filter(s -> options.follow)
                .ifPresent(
                        s -> Thread.ofPlatform().daemon().name("configuration").start(() -> follow(s, log)));
        DaemonProcess.ready(0);
        log.info("sackd version " + Release.VERSION + " serves "
                + sack.map(Sack::path).map(String::valueOf).orElse("nobody"));
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sack.ifPresent(Sack::close);
        log.info("sackd stopped");
        return 0;
    }
}
