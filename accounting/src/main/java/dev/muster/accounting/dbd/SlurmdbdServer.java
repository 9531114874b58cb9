package dev.muster.accounting.dbd;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.Fence;
import dev.muster.accounting.db.LeaseRule;
import dev.muster.accounting.db.LeaseTable;
import dev.muster.accounting.db.PassScript;
import dev.muster.accounting.table.AccountingStore;
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
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Caller;
import dev.muster.transport.Client;
import dev.muster.transport.Server;
import dev.muster.transport.Server.Reply;
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
            "CommunicationParameters",
            "DbdAddr",
            "DbdBackupHost",
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
    /** Whether the configuration at the start names two hosts. */
    private final boolean isPaired;

    private final int verbose;
    private final DaemonLog log;
    private final Identities identities = new Identities();
    private Optional<Verifier> verifier = Optional.empty();
    private final Runnable onShutdown;
    private volatile boolean stopping;
    /** Serves; absent in standby mode. */
    private volatile @Nullable ActiveDbd active;

    /** Absent with the embedded database, which no other process can open. */
    private volatile @Nullable LeaseRenewal keeper;

    private @Nullable Server server;

    /** @param verbose how often -v was given */
    public SlurmdbdServer(SlurmdbdConf conf, int verbose, DaemonLog log, Runnable onShutdown) {
        this.conf = conf;
        this.isPaired = !conf.dbdBackupHost().isEmpty();
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

    /** Opens the port, and takes the tables. Returns when a primary serves, and at once with a backup. */
    public void start() throws IOException {
        if (verifier.isEmpty()) {
            prepare();
        }
        DbdRole role = DbdRole.ofThisHost(conf);
        Database database = database(conf);
        if (isPaired && database.dialect() == Database.Dialect.H2) {
            throw new IOException("DbdBackupHost needs a database that both hosts reach: StorageType=" + MARIADB
                    + " or " + POSTGRESQL);
        }
        int slurmUid = identities
                .byName(conf.slurmUser())
                .map(i -> i.uid())
                .orElseThrow(() -> new IOException("Invalid user for SlurmUser " + conf.slurmUser()));
        ActiveDbd.Edge edge = (store, books) ->
                new DbdApi(store, books, () -> conf, slurmUid, identities, log, this::shutDownSoon, this::reconfigure);
        listen(role);
        if (database.dialect() == Database.Dialect.H2) {
            active = new ActiveDbd(AccountingStore.on(database), edge, log).started();
        } else {
            keeper = new LeaseRenewal(
                    new LeaseTable(database, LeaseRenewal.LEASE_MS),
                    new LeaseRule(role.host(conf), role == DbdRole.PRIMARY, LeaseRenewal.LEASE_MS),
                    role.host(conf),
                    new LeaseHandler(database, edge));
            keeper.start();
        }
        if (role == DbdRole.PRIMARY) {
            awaitActive();
        } else {
            log.info("slurmdbd version " + Release.VERSION + " started in standby mode");
        }
    }

    private void listen(DbdRole role) throws IOException {
        TlsPlaces tls = TlsPlaces.of(conf);
        Optional<TlsIdentity> identity =
                tls.on() ? Optional.of(Sessions.identity(tls, TlsRole.DBD, log::error)) : Optional.empty();
        identity.ifPresent(own -> own.tell(new TlsLog(flag -> DbdConfig.hasFlag(conf, flag), log::info)));
        Verifier callers = verifier.orElseThrow();
        server = StartErrors.listening(
                "DbdPort",
                conf.dbdPort(),
                () -> Server.start(
                        role.boundAddress(conf),
                        conf.dbdPort(),
                        identity,
                        callers,
                        this::handle,
                        Map.of(),
                        this::page,
                        log::error));
    }

    private synchronized void awaitActive() throws IOException {
        try {
            while (active == null && !stopping) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (active == null) {
            throw new IOException("stopped before the database answered");
        }
        log.info("slurmdbd version " + Release.VERSION + " started");
    }

    // ---- the lease

    /** Serves while this slurmdbd has the lease. */
    private final class LeaseHandler implements LeaseRenewal.LeaseListener {
        private final Database database;
        private final ActiveDbd.Edge edge;

        LeaseHandler(Database database, ActiveDbd.Edge edge) {
            this.database = database;
            this.edge = edge;
        }

        @Override
        public void begin(long epoch) {
            // renewals go on meanwhile: migrations may take longer than a lease
            Thread.ofPlatform().name("takeover").daemon(true).start(() -> serve(epoch));
        }

        private void serve(long epoch) {
            try {
                activate(epoch, new ActiveDbd(AccountingStore.on(database, fence(epoch)), edge, log));
            } catch (AccountingException e) {
                failed(String.valueOf(e.getMessage()), true);
                giveUp(epoch);
            } catch (RuntimeException e) {
                log.error("taking over", e);
                giveUp(epoch);
            }
        }

        private Fence fence(long epoch) {
            Fence stored = LeaseTable.fence(database, epoch);
            return connection -> {
                try {
                    stored.check(connection);
                } catch (Fence.StaleEpochException e) {
                    LeaseRenewal own = keeper;
                    if (own != null) {
                        own.renewNow();
                    }
                    throw e;
                }
            };
        }

        private void giveUp(long epoch) {
            LeaseRenewal own = keeper;
            if (own != null) {
                own.giveUp(epoch, RETRY_MS);
            }
        }

        @Override
        public void end(String sentence) {
            log.error(sentence + ": this slurmdbd is in standby mode");
            ActiveDbd former = deactivated();
            if (former != null) {
                // a write under way may wait for the database, and the lease does not wait for it
                Thread.ofVirtual().name("handover").start(former::close);
            }
        }

        @Override
        public void failed(String sentence, boolean isStart) {
            log.error(sentence.startsWith("cannot") ? sentence : unreachable(sentence));
            if (isStart) {
                log.error("The database must be up when starting the "
                        + (database.dialect() == Database.Dialect.POSTGRESQL ? "PostgreSQL" : "MYSQL")
                        + " plugin.  Trying again in 5 seconds.");
            }
        }

        private String unreachable(String sentence) {
            return "cannot open the accounting database " + database.where() + ": " + sentence;
        }
    }

    private synchronized void activate(long epoch, ActiveDbd next) {
        LeaseRenewal own = keeper;
        if (stopping || own == null || !own.isCurrent(epoch)) {
            next.close();
            return;
        }
        active = next.started();
        if (isPaired) {
            log.info("this slurmdbd is active (epoch " + epoch + ")");
        }
        notifyAll();
    }

    private synchronized @Nullable ActiveDbd deactivated() {
        ActiveDbd former = active;
        active = null;
        return former;
    }

    /** A database that fails holds up no answer from memory where there is no other slurmdbd. */
    private boolean mayServe(@Nullable LeaseRenewal own) {
        return own == null || !isPaired || own.isValid();
    }

    private Reply handle(Caller caller, String message, byte[] body) {
        ActiveDbd serving = active;
        LeaseRenewal own = keeper;
        if (serving != null && mayServe(own)) {
            return serving.api().handle(caller, message, body);
        }
        if (message.equals("Ping") && isPaired) {
            return Reply.of(new DbdMessages.Pinged(true));
        }
        return serving != null && own != null && !own.lastError().isEmpty()
                ? Reply.error(503, SlurmErrno.ERROR, "the accounting database does not answer: " + own.lastError())
                : Reply.error(Client.STANDBY, SlurmErrno.IN_STANDBY_MODE, SlurmErrno.IN_STANDBY_MODE.sentence());
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

    private Optional<Server.Page> page(String path) {
        return switch (path) {
            case "/readyz" ->
                Optional.of(active != null && mayServe(keeper) ? page(200, "ok\n") : page(503, "standby\n"));
            case "/livez", "/healthz" -> Optional.of(page(200, "ok\n"));
            default -> Optional.empty();
        };
    }

    private static Server.Page page(int status, String text) {
        return new Server.Page(status, "text/plain", text.getBytes(StandardCharsets.UTF_8));
    }

    /** After the answer has left. */
    private void shutDownSoon() {
        Thread.ofPlatform().start(() -> {
            pause(200);
            onShutdown.run();
        });
    }

    /** Ends. A slurmdbd with the lease gives it up, so that the other one takes over at once. */
    public void stop() {
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
        if (server != null) {
            server.close();
        }
        ActiveDbd former = deactivated();
        if (former != null) {
            former.close();
        }
        if (keeper != null) {
            keeper.close();
        }
    }
}
