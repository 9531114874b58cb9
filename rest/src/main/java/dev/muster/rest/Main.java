package dev.muster.rest;

import dev.muster.config.SlurmConf;
import dev.muster.config.TlsPlaces;
import dev.muster.config.key.TlsRole;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.DaemonProcess;
import dev.muster.daemon.ProcessIds;
import dev.muster.daemon.Signals;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import dev.muster.rest.contract.Contract;
import dev.muster.rest.contract.Document;
import dev.muster.rest.http.Connection;
import dev.muster.rest.http.Listeners;
import dev.muster.rest.http.Privileges;
import dev.muster.rest.http.Request;
import dev.muster.rest.http.StartupException;
import dev.muster.rest.operation.Auth;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** slurmrestd. */
public final class Main {
    private static final String NAME = "slurmrestd";

    private Main() {}

    public static void main(String[] args) {
        int rc;
        try {
            rc = run(List.of(args).subList(Math.min(1, args.length), args.length), System.getenv());
        } catch (StartupException e) {
            rc = fatal(e.getMessage());
        } catch (IOException | RuntimeException e) {
            rc = fatal(ErrorSentence.of(e));
        }
        if (rc != 0) {
            DaemonProcess.ready(rc);
        }
        System.exit(rc);
    }

    private static int fatal(@Nullable String sentence) {
        System.err.println(NAME + ": fatal: " + sentence);
        return 1;
    }

    private static int run(List<String> args, Map<String, String> env) throws StartupException, IOException {
        SlurmrestdOptions options = SlurmrestdOptions.read(args, env);
        if (!options.printed().isEmpty()) {
            print(options.printed());
            return 0;
        }
        Contract contract = Contract.read();
        if (options.document()) {
            print(new String(
                            Json.print(new Document(
                                            contract,
                                            options.served().tags(),
                                            options.served().versions())
                                    .make()),
                            StandardCharsets.UTF_8)
                    + "\n");
            return 0;
        }
        Optional<File> prefix =
                Optional.ofNullable(System.getProperty("muster.prefix")).map(File::new);
        File file = options.file().isEmpty() ? SlurmConf.locate(Optional.empty(), prefix) : new File(options.file());
        if (!file.canRead()) {
            throw new StartupException("Unable to read " + file);
        }
        DaemonLog log = new DaemonLog(
                NAME, "", true, options.logging().level(), "", options.logging().syslogLevel());
        log.adoptLibraries();
        options.notes().forEach(log::info);
        Signals.ignore("PIPE");
        Optional<SSLContext> tls = tls(file, options, log);
        try (Listeners listeners = new Listeners(options.limits().connections(), tls, log)) {
            for (String place : options.listen()) {
                listeners.open(place);
            }
            Privileges.become(options.runAs().user(), options.runAs().group());
            if (options.checked()) {
                Privileges.check(slurmUser(file));
            }
            SlurmrestdOptions.Served served = options.served();
            Auth auth = new Auth(served.auth(), file.getPath(), Privileges.userName());
            Router router = new Router(
                    contract,
                    auth,
                    served.tags(),
                    served.versions(),
                    options.limits().threads(),
                    served.page(),
                    served.forms(),
                    log);
            return options.listen().isEmpty() ? piped(router) : listening(listeners, router, options, log);
        }
    }

    /**
     * Where there is a certificate, whatever TLSType says: requests may be encrypted where the cluster's own
     * connections are not.
     */
    private static Optional<SSLContext> tls(File file, SlurmrestdOptions options, DaemonLog log)
            throws StartupException {
        if (options.listen().isEmpty() || !(SlurmConf.read(file) instanceof SlurmConf.Parsed.Ok ok)) {
            return Optional.empty();
        }
        TlsPlaces places = TlsPlaces.of(ok.conf());
        boolean wanted = places.on() || options.listen().stream().anyMatch(l -> l.startsWith(Listeners.HTTPS));
        if (!wanted && !new File(places.certificate(TlsRole.RESTD)).exists()) {
            return Optional.empty();
        }
        try {
            return Optional.of(dev.muster.daemon.Sessions.identity(places, TlsRole.RESTD, log::error)
                    .context());
        } catch (IOException e) {
            throw new StartupException(ErrorSentence.of(e));
        }
    }

    private static String slurmUser(File file) {
        return SlurmConf.read(file) instanceof SlurmConf.Parsed.Ok ok
                ? ok.conf().slurmUser()
                : "root";
    }

    private static void print(String text) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        out.print(text);
        out.flush();
    }

    /** Serves standard input and output, as inetd or a pipe connects them. The user is that of the process. */
    private static int piped(Router router) throws IOException {
        Request.Peer self = new Request.Peer(ProcessIds.uid(), ProcessIds.gid());
        return new Connection(router, "stdin", Optional.of(self))
                        .serve(new FileInputStream(FileDescriptor.in), new FileOutputStream(FileDescriptor.out))
                ? 0
                : 1;
    }

    private static int listening(Listeners listeners, Router router, SlurmrestdOptions options, DaemonLog log) {
        CountDownLatch end = new CountDownLatch(1);
        for (String signal : List.of("TERM", "INT")) {
            Signals.on(signal, end::countDown);
        }
        listeners.serve(router);
        DaemonProcess.ready(0);
        log.info(NAME + " version " + Release.VERSION + " listens on " + String.join(", ", options.listen()));
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        log.info("slurmrestd stopped");
        return 0;
    }
}
