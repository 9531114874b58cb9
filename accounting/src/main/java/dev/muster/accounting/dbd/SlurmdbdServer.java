package dev.muster.accounting.dbd;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.PassScript;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.config.SlurmdbdConf;
import dev.muster.config.TlsPlaces;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.TlsRole;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.Sessions;
import dev.muster.daemon.StartErrors;
import dev.muster.daemon.TlsLog;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Server;
import dev.muster.transport.Verifier;
import dev.muster.transport.tls.TlsIdentity;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** slurmdbd: database, book and edge put together. */
public final class SlurmdbdServer {
    /** The documented value for the embedded database; StorageLoc names its directory. */
    static final String EMBEDDED = "accounting_storage/embedded";

    private static final String MARIADB = "accounting_storage/mysql";
    /** The documented value for a PostgreSQL server. */
    static final String POSTGRESQL = "accounting_storage/postgresql";
    /** Prefix of a StorageHost that is a path. */
    private static final String UNIX = "unix:";

    private static final long RETRY_MS = 5_000;

    /** Read when the daemon starts, and never again. */
    private static final List<String> FIXED = List.of(
            "AuthInfo",
            "AuthType",
            "DbdAddr",
            "DbdHost",
            "DbdPort",
            "PidFile",
            "SlurmUser",
            "StorageBackupHost",
            "StorageHost",
            "StorageLoc",
            "StorageParameters",
            "StoragePass",
            "StoragePassScript",
            "StoragePort",
            "StorageType",
            "StorageUser");

    private volatile SlurmdbdConf conf;
    private final int verbose;
    private final DaemonLog log;
    private final Identities identities = new Identities();
    private Optional<Verifier> verifier = Optional.empty();
    private final Runnable onShutdown;
    private volatile boolean stopping;
    private @Nullable AccountingStore store;

    @SuppressWarnings("NullAway.Init") // start() sets it before the server and the sweeper ask it
    private DbdApi api;

    private @Nullable Server server;

    /** @param verbose how often -v was given */
    public SlurmdbdServer(SlurmdbdConf conf, int verbose, DaemonLog log, Runnable onShutdown) {
        this.conf = conf;
        this.verbose = verbose;
        this.log = log;
        this.onShutdown = onShutdown;
    }

    /**
     * Where the tables are, by StorageType.
     *
     * @throws IOException if nothing here can be that
     */
    public static Database database(SlurmdbdConf conf) throws IOException {
        return switch (conf.storageType()) {
            case MARIADB -> Database.mariaDb(checked(conf));
            case POSTGRESQL -> Database.postgreSql(checked(conf));
            case EMBEDDED -> {
                if (!conf.storageLoc().startsWith("/")) {
                    throw new IOException("StorageType=" + EMBEDDED + " needs a directory as StorageLoc, not '"
                            + conf.storageLoc() + "'");
                }
                yield Database.embedded(Path.of(conf.storageLoc()));
            }
            default ->
                throw new IOException("StorageType=" + conf.storageType() + " is not known: " + MARIADB + ", "
                        + POSTGRESQL + " or " + EMBEDDED);
        };
    }

    /** The directory of the embedded tables; empty where a server has the tables. */
    public static Optional<Path> embeddedTables(SlurmdbdConf conf) {
        boolean embedded =
                conf.storageType().equals(EMBEDDED) && conf.storageLoc().startsWith("/");
        return embedded ? Optional.of(Path.of(conf.storageLoc())) : Optional.empty();
    }

    private static Database.Server checked(SlurmdbdConf conf) throws IOException {
        Database.Server server = server(conf);
        try {
            server.tls();
        } catch (IllegalArgumentException e) {
            throw new IOException(ErrorSentence.of(e), e);
        }
        if (!server.socket().isEmpty()
                && (conf.storageType().equals(POSTGRESQL) || server.tls().isPresent())) {
            throw new IOException("StorageHost=" + conf.text("StorageHost")
                    + " is for MariaDB without encryption: this version's " + "other connections go over TCP");
        }
        return server;
    }

    private static Database.Server server(SlurmdbdConf conf) {
        String named = conf.text("StorageHost");
        boolean socket = named.startsWith(UNIX);
        String backup = conf.text("StorageBackupHost");
        String host;
        if (socket) {
            host = "localhost";
        } else {
            host = named + (backup.isEmpty() ? "" : "," + backup);
        }

        int port = Integer.parseInt(conf.text("StoragePort"));
        String user = conf.text("StorageUser").isEmpty() ? System.getProperty("user.name") : conf.text("StorageUser");
        String script = conf.text("StoragePassScript");
        Database.Secret secret = () -> conf.text("StoragePass");
        if (!script.isEmpty()) {
            int shown;
            if (port > 0) {
                shown = port;
            } else if (conf.storageType().equals(POSTGRESQL)) {
                shown = Database.POSTGRESQL_PORT;
            } else {
                shown = Database.PORT;
            }

            secret = new PassScript("StoragePassScript", script, named, shown, user, conf.tokenDurationS())::password;
        }
        return new Database.Server(
                host,
                port,
                socket ? named.substring(UNIX.length()) : "",
                user,
                secret,
                conf.storageLoc(),
                conf.text("StorageParameters"));
    }

    /**
     * Reads keys, before slurmdbd becomes SlurmUser: they may be root's alone.
     *
     * @throws IOException if a key is unfit
     */
    public void prepare() throws IOException {
        verifier = Optional.of(
                DbdAuth.verifier(conf, new File(conf.path()).getAbsoluteFile().getParentFile(), identities)
                        .telling(log::error));
    }

    public void start() throws IOException {
        if (verifier.isEmpty()) {
            prepare();
        }
        store = opened(database(conf));
        AssocTreeStore books = new AssocTreeStore(store, System.currentTimeMillis() / 1000);
        int slurmUid = identities
                .byName(conf.slurmUser())
                .map(i -> i.uid())
                .orElseThrow(() -> new IOException("Invalid user for SlurmUser " + conf.slurmUser()));
        api = new DbdApi(store, books, () -> conf, slurmUid, identities, log, this::shutDownSoon, this::reconfigure);
        TlsPlaces tls = TlsPlaces.of(conf);
        Optional<TlsIdentity> identity =
                tls.on() ? Optional.of(Sessions.identity(tls, TlsRole.DBD, log::error)) : Optional.empty();
        identity.ifPresent(own -> own.tell(new TlsLog(flag -> DbdConfig.hasFlag(conf, flag), log::info)));
        Verifier callers = verifier.get();
        server = StartErrors.listening(
                "DbdPort",
                conf.dbdPort(),
                () -> Server.start(
                        "",
                        conf.dbdPort(),
                        identity,
                        callers,
                        api::handle,
                        Map.of(),
                        SlurmdbdServer::page,
                        log::error));
        Thread.ofVirtual().name("sweep").start(this::sweep);
        log.info("slurmdbd version " + Release.VERSION + " started");
    }

    /** The database may come later than this daemon. */
    private AccountingStore opened(Database database) throws IOException {
        while (!stopping) {
            try {
                return AccountingStore.on(database);
            } catch (AccountingException e) {
                if (database.dialect() == Database.Dialect.H2) {
                    throw e;
                }
                log.error(e.getMessage());
                log.error("The database must be up when starting the "
                        + (database.dialect() == Database.Dialect.POSTGRESQL ? "PostgreSQL" : "MYSQL")
                        + " plugin.  Trying again in 5 seconds.");
                pause(RETRY_MS);
            }
        }
        throw new IOException("stopped before the database answered");
    }

    /** The level of the log: what the file says, or more by -v. */
    public static int logLevel(SlurmdbdConf conf, int verbose) {
        return verbose == 0 ? conf.debugLevel() : Math.max(conf.debugLevel(), DaemonLog.INFO + verbose);
    }

    /** Reads the configuration again. One with mistakes changes nothing; what needs a new start is named. */
    public synchronized void reconfigure() {
        List<ConfigError> errors = new ArrayList<>();
        SlurmdbdConf next = SlurmdbdConf.read(new File(conf.path()), errors);
        if (!errors.isEmpty()) {
            errors.forEach(e -> log.error(e.message()));
            log.error("the configuration stays as it was");
            return;
        }
        for (String key : FIXED) {
            if (!next.text(key).equals(conf.text(key))) {
                log.error(key + " is another now: this needs a new start of slurmdbd");
            }
        }
        if (!next.logFile().equals(conf.logFile())
                || !next.text("LogTimeFormat").equals(conf.text("LogTimeFormat"))) {
            try {
                log.redirect(next.logFile(), next.text("LogTimeFormat"));
            } catch (IOException e) {
                log.error("LogFile stays as it was: " + ErrorSentence.of(e));
            }
        }
        log.level(logLevel(next, verbose));
        DbdConfig.inert(next).forEach(sentence -> log.info("warning: " + sentence));
        conf = next;
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Optional<Server.Page> page(String path) {
        return switch (path) {
            case "/livez", "/readyz", "/healthz" ->
                Optional.of(new Server.Page(200, "text/plain", "ok\n".getBytes(StandardCharsets.UTF_8)));
            default -> Optional.empty();
        };
    }

    private void sweep() {
        while (!stopping) {
            pause(1000);
            try {
                api.sweep();
            } catch (RuntimeException e) {
                log.error("looking after the controllers", e);
            }
        }
    }

    /** After the answer has left. */
    private void shutDownSoon() {
        Thread.ofPlatform().start(() -> {
            pause(200);
            onShutdown.run();
        });
    }

    public void stop() {
        stopping = true;
        if (server != null) {
            server.close();
        }
        if (store != null) {
            store.close();
        }
    }
}
