package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.controller.engine.StateDirectory;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sack;
import dev.muster.daemon.Sessions;
import dev.muster.daemon.StartErrors;
import dev.muster.journal.FileJournal;
import dev.muster.journal.Journal;
import dev.muster.journal.JournalException;
import dev.muster.journal.JournalGroup;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One of three or more slurmctld of a cluster, each with a StateSaveLocation of its own. While it leads it is a whole
 * {@link Controller}; while another one leads it stores what that one decides. Commands and slurmd find the leader by
 * asking each SlurmctldHost: the others do not listen.
 */
final class ReplicatedController implements JournalGroup.Roles, Main.Daemon {
    /** Number of SlurmctldHost from which on the controllers keep their journal together. */
    static final int CONTROLLERS_MIN = 3;
    /** Port of the controllers' connections among themselves, unless SlurmctldParameters has raft_port. */
    private static final int PORT = 6821;
    /** Period in seconds at which a following controller looks at the length of its journal. */
    private static final int SNAPSHOT_LOOK_S = 60;

    private final File confFile;
    private final DaemonLog log;
    private final Runnable onShutdown;
    private final Consumer<Throwable> onFault;
    private @Nullable Credentials credentials;
    private SlurmConf conf;
    private @Nullable FileJournal file;
    private @Nullable JournalGroup group;
    private @Nullable Controller leading;
    private volatile boolean stopping;

    ReplicatedController(
            SlurmConf conf, File confFile, DaemonLog log, Runnable onShutdown, Consumer<Throwable> onFault) {
        this.conf = conf;
        this.confFile = confFile;
        this.log = log;
        this.onShutdown = onShutdown;
        this.onFault = onFault;
    }

    static boolean isConfigured(SlurmConf conf) {
        return conf.controllers().size() >= CONTROLLERS_MIN;
    }

    @Override
    public void prepare() throws IOException {
        credentials = new Controller(conf, confFile, log, onShutdown, onFault).readCredentials();
    }

    private Credentials credentials() {
        return Objects.requireNonNull(credentials, "prepare comes first");
    }

    /**
     * Opens this controller's copy of the journal and joins the others.
     *
     * @throws IOException if a place cannot be used, a port is taken, or the room raft is not installed
     */
    @Override
    public void start(boolean clean) throws IOException {
        if (clean) {
            throw new IOException("-c: the state of several controllers is not forgotten by one of them");
        }
        StateDirectory.open(Path.of(conf.stateSaveLocation()), conf.clusterName(), false, log::error);
        Path state = Path.of(conf.stateSaveLocation());
        Path journal = state.resolve("journal");
        byte[] secret = credentials()
                .secret()
                .orElseThrow(
                        () -> new IOException("several SlurmctldHost need a key that all of them have: slurm.key"));
        UUID clusterId = FileJournal.clusterIdOf(journal)
                .orElseGet(() ->
                        UUID.nameUUIDFromBytes(("muster " + conf.clusterName()).getBytes(StandardCharsets.UTF_8)));
        file = FileJournal.open(journal, FileJournal.Options.of(clusterId, log::info));
        Sessions sessions = credentials().sessions();
        credentials().sack().ifPresent(s -> s.serve(sessions.keys()));
        group = provider()
                .join(
                        new JournalGroup.Options(
                                state.resolve("raft"),
                                file,
                                clusterId,
                                conf.clusterName(),
                                members(conf),
                                ControllerHost.ofThisHost().index(conf),
                                secret,
                                log::info),
                        this);
        Thread.ofVirtual().name("snapshots").start(this::keepShort);
        log.info("slurmctld waits for a leader among " + conf.controllers().size() + " controllers");
    }

    /** While another controller leads, this one's copy of the journal is cut off before a snapshot now and then. */
    private void keepShort() {
        try {
            while (!stopping) {
                TimeUnit.SECONDS.sleep(SNAPSHOT_LOOK_S);
                shorten();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void shorten() {
        FileJournal copy = file;
        if (stopping || leading != null || copy == null) {
            return;
        }
        long covered = copy.latestSnapshot().map(Journal.Snapshot::index).orElse(0L);
        if (copy.durableIndex() - covered < SnapshotWriter.EVERY) {
            return;
        }
        try {
            new Controller(conf, confFile, log, onShutdown, onFault).shorten(copy, credentials().withoutSack());
        } catch (IOException | RuntimeException e) {
            log.error("the copy of the journal cannot be cut off before a snapshot", e);
        }
    }

    private static List<JournalGroup.Member> members(SlurmConf conf) {
        String port = conf.parameters(Key.SLURMCTLD_PARAMETERS).getOrDefault("raft_port", Integer.toString(PORT));
        return conf.controllers().stream()
                .map(c -> new JournalGroup.Member(c.host(), c.address(), Integer.parseInt(port)))
                .toList();
    }

    /** The room raft has jars of its own: they are read only where slurm.conf names several controllers. */
    private static JournalGroup.Provider provider() throws IOException {
        ClassLoader loader = ReplicatedController.class.getClassLoader();
        Optional<Path> place = Optional.ofNullable(System.getProperty("muster.prefix"))
                .map(prefix -> Path.of(prefix, "lib/muster/jars/raft"))
                .filter(Files::isDirectory);
        if (place.isPresent()) {
            try (Stream<Path> jars = Files.list(place.get())) {
                List<URL> urls = new ArrayList<>();
                for (Path jar : jars.sorted().toList()) {
                    urls.add(url(jar));
                }
                loader = new URLClassLoader(urls.toArray(URL[]::new), loader);
                // the library finds its own parts by the thread's loader, and its threads inherit it
                Thread.currentThread().setContextClassLoader(loader);
            }
        }
        return ServiceLoader.load(JournalGroup.Provider.class, loader)
                .findFirst()
                .orElseThrow(() -> new IOException("SlurmctldHost: " + CONTROLLERS_MIN
                        + " or more controllers need the room raft, which is not installed"));
    }

    private static URL url(Path jar) throws MalformedURLException {
        return jar.toUri().toURL();
    }

    @Override
    public synchronized void leads(long term, Journal journal) {
        if (SlurmConf.read(confFile) instanceof SlurmConf.Parsed.Ok ok) {
            conf = ok.conf();
        }
        Controller controller = new Controller(conf, confFile, log, onShutdown, this::fault);
        leading = controller;
        try {
            controller.lead(journal, credentials().withoutSack());
            log.info("slurmctld leads in term " + term);
        } catch (JournalException e) {
            log.info("slurmctld does not lead: " + e.getMessage());
        } catch (IOException | RuntimeException e) {
            log.fatal(StartErrors.sentence(e));
            onFault.accept(e);
        }
    }

    @Override
    public synchronized void follows() {
        Controller controller = leading;
        leading = null;
        if (controller != null) {
            controller.stop();
            log.info("slurmctld does not lead any more");
        }
    }

    @Override
    public void refused(String sentence) {
        log.fatal(sentence);
        onShutdown.run();
    }

    /** An end of the shared journal is a change of the leader; anything else is a fault. */
    private void fault(Throwable e) {
        if (!(e instanceof JournalException)) {
            onFault.accept(e);
        }
    }

    /** A configuration that has changed: the leader reads it; another one when it leads. */
    @Override
    public String reconfigure() {
        Controller controller = leading;
        return controller == null ? "" : controller.reconfigure();
    }

    @Override
    public void stop() {
        stopping = true;
        if (group != null) {
            group.close();
        }
        follows();
        credentials().sack().ifPresent(Sack::close);
        if (file != null) {
            file.close();
        }
    }
}
