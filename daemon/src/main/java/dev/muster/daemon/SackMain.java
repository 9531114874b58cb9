package dev.muster.daemon;

import dev.muster.config.AuthPlaces;
import dev.muster.config.ConfigError;
import dev.muster.config.Key;
import dev.muster.config.SlurmConf;
import dev.muster.model.Release;
import dev.muster.transport.Caller;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * sackd: vouches for the callers of commands on a host where neither slurmctld nor slurmd runs, and keeps the command service there.
 * Reads its slurm.conf and the cluster's key from files.
 */
public final class SackMain {
    private static final String USAGE = """
            Usage: sackd [OPTIONS]
              -D                         Run daemon in foreground.
              -f file                    Read configuration from the specified file.
              -h                         Print this help message.
              -v                         Verbose mode. Multiple -v's increase verbosity.
              -V                         Print version information and exit.
              --systemd                  Stay in the foreground as a service of systemd.
            """;

    private SackMain() {}

    private record Options(boolean foreground, String file, int verbose) {}

    /** args[0] is the program's name. */
    public static void main(String[] args) {
        int rc;
        try {
            rc = run(args);
        } catch (IOException | RuntimeException e) {
            rc = fatal(e.getMessage() == null ? e.toString() : e.getMessage());
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
        boolean foreground = false;
        String file = "";
        int verbose = 0;
        for (int i = 1; i < args.length; i++) {
            String a = args[i];
            switch (a) {
                case "-h", "--help", "--usage" -> {
                    System.out.print(USAGE);
                    return 0;
                }
                case "-V", "--version" -> {
                    System.out.println(Release.LINE);
                    return 0;
                }
                case "--systemd" -> foreground = true;
                case "-f" -> {
                    if (++i == args.length) {
                        return fatal("option requires an argument -- 'f'");
                    }
                    file = args[i];
                }
                default -> {
                    if (a.startsWith("--conf-server") || a.startsWith("--port") || a.equals("--disable-reconfig")) {
                        return fatal(a + ": fetching the configuration from slurmctld is not part of this version: give -f");
                    }
                    if (!a.matches("-[Dv]+")) {
                        System.err.print("sackd: unrecognized option '" + a + "'\n" + USAGE);
                        return 1;
                    }
                    foreground |= a.indexOf('D') > 0;
                    verbose += (int) a.chars().filter(c -> c == 'v').count();
                }
            }
        }
        return configured(new Options(foreground, file, verbose));
    }

    private static int configured(Options o) throws IOException {
        Optional<File> prefix = Optional.ofNullable(System.getProperty("muster.prefix")).map(File::new);
        File file = o.file.isEmpty() ? SlurmConf.locate(Optional.ofNullable(System.getenv("SLURM_CONF")), prefix) : new File(o.file);
        return switch (SlurmConf.read(file)) {
            case SlurmConf.Parsed.Invalid bad -> {
                bad.errors().forEach((ConfigError e) -> System.err.println("sackd: error: " + e.message()));
                yield fatal("Unable to process configuration file");
            }
            case SlurmConf.Parsed.Ok ok -> serve(ok.conf(), o);
        };
    }

    private static int serve(SlurmConf conf, Options o) throws IOException {
        DaemonLog log = new DaemonLog("sackd", "", o.foreground, DaemonLog.INFO + o.verbose, conf.text(Key.LOG_TIME_FORMAT), -1);
        AuthPlaces places = AuthPlaces.of(conf);
        Optional<byte[]> key = new Sessions(conf, new Caller(0, 0), 0, false).key();
        if (key.isEmpty()) {
            log.fatal("no cluster key: put slurm.key beside " + conf.file());
            return o.foreground ? 1 : fatal("no cluster key: put slurm.key beside " + conf.file());
        }
        Optional<Sack> sack = Sack.open(places.sackSockets(), key.get(), conf.clusterName(), new Identities(), log);
        if (sack.isEmpty()) {
            log.fatal("no place for the socket: tried " + String.join(", ", places.sackSockets()));
            return o.foreground ? 1 : fatal("no place for the socket: tried " + String.join(", ", places.sackSockets()));
        }
        CountDownLatch end = new CountDownLatch(1);
        for (String signal : List.of("TERM", "INT")) {
            Signals.on(signal, end::countDown);
        }
        for (String signal : List.of("HUP", "PIPE")) {
            Signals.ignore(signal);
        }
        CommandServiceKeeper.start(Optional.ofNullable(System.getProperty("muster.prefix")), log);
        DaemonProcess.ready(0);
        log.info("sackd version " + Release.VERSION + " serves " + sack.get().path());
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sack.get().close();
        log.info("sackd stopped");
        return 0;
    }
}
