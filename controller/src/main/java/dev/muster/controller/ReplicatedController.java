package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.controller.accounting.EmbeddedAccounting;
import dev.muster.controller.accounting.NoAccounting;
import dev.muster.controller.engine.StateDirectory;
import dev.muster.controller.ha.ControllerHost;
import dev.muster.controller.ha.ControllerPeers;
import dev.muster.controller.ha.Membership;
import dev.muster.controller.nodes.LeaderNotice;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sack;
import dev.muster.daemon.Sessions;
import dev.muster.journal.FileJournal;
import dev.muster.journal.Journal;
import dev.muster.journal.JournalException;
import dev.muster.journal.JournalGenerations;
import dev.muster.journal.JournalGroup;
import dev.muster.journal.SharedDirectoryGroup;
import dev.muster.model.api.SlurmdMessages.FollowController;
import dev.muster.model.format.ErrorSentence;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One of several slurmctld of a cluster: three or more, each with a StateSaveLocation of its own, or two that share
 * one. While it leads it is a whole {@link Controller}; while another one leads it stands by, and of three or more it
 * stores what the leader decides. Commands and slurmd find the leader by asking each SlurmctldHost: the others answer
 * that they are in standby mode ({@link StandbyServer}).
 */
final class ReplicatedController implements JournalGroup.Roles, Main.Daemon {
    /** Number of SlurmctldHost from which on each has a StateSaveLocation of its own. */
    static final int CONTROLLERS_MIN = 3;
    /** Longest time without a sign of life of the leader after which the other of two leads, in seconds. */
    private static final int LEASE_MAX_S = 5;
    /** Port of the controllers' connections among themselves, unless SlurmctldParameters has raft_port. */
    private static final int PORT = 6821;

    private final File confFile;
    private final DaemonLog log;
    private final Runnable onShutdown;
    private final Consumer<Throwable> onFault;
    private @Nullable Credentials credentials;
    private final long bootTime = System.currentTimeMillis() / 1000;
    private SlurmConf conf;
    private @Nullable FileJournal file;
    private @Nullable JournalGroup group;
    private @Nullable Controller leading;
    private @Nullable StandbyServer standby;
    private volatile @Nullable StandbyState followed;
    private volatile boolean stopping;
    private volatile int exitCode;

    ReplicatedController(
            SlurmConf conf, File confFile, DaemonLog log, Runnable onShutdown, Consumer<Throwable> onFault) {
        this.conf = conf;
        this.confFile = confFile;
        this.log = log;
        this.onShutdown = onShutdown;
        this.onFault = onFault;
    }

    static boolean isConfigured(SlurmConf conf) {
        return conf.controllers().size() > 1 || JournalGenerations.isLeased(Path.of(conf.stateSaveLocation()));
    }

    @Override
    public void prepare() throws IOException {
        credentials = new ControllerEnvironment(conf, confFile, log, onShutdown, onFault).readCredentials();
    }

    private Credentials credentials() {
        return Objects.requireNonNull(credentials, "prepare comes first");
    }

    /**
     * Joins the others.
     *
     * @throws IOException if a place cannot be used, a port is taken, or the room raft is not installed
     */
    @Override
    public void start(boolean clean) throws IOException {
        if (clean && conf.controllers().size() > 1) {
            throw new IOException("-c: the state of several controllers is not forgotten by one of them: stop"
                    + " all, and start one with a slurm.conf that names it alone");
        }
        StateDirectory.open(Path.of(conf.stateSaveLocation()), conf.clusterName(), clean, log::error);
        Sessions sessions = credentials().sessions();
        credentials().sack().ifPresent(s -> s.serve(sessions.keys()));
        synchronized (this) { // a role that comes at once waits until the group is known
            group = conf.controllers().size() < CONTROLLERS_MIN ? shareDirectory(sessions) : keepCopy();
            stand();
        }
        log.info("slurmctld waits for a leader among " + conf.controllers().size() + " controllers");
    }

    private JournalGroup shareDirectory(Sessions sessions) {
        int self = Math.max(ControllerHost.ofThisHost().index(conf), 0); // one that is localhost has no index
        long leaseMs = 1000L * Math.clamp(conf.number(Key.SLURMCTLD_TIMEOUT), 1, LEASE_MAX_S);
        return SharedDirectoryGroup.join(
                new SharedDirectoryGroup.Options(
                        Path.of(conf.stateSaveLocation()),
                        conf.clusterName(),
                        self,
                        leaseMs,
                        new ControllerPeers(conf, self, sessions::client),
                        log::info),
                this);
    }

    /** Opens this controller's copy of the journal. */
    private JournalGroup keepCopy() throws IOException {
        Path state = Path.of(conf.stateSaveLocation());
        Path journal = journalDirectory();
        byte[] secret = credentials()
                .secret()
                .orElseThrow(
                        () -> new IOException("several SlurmctldHost need a key that all of them have: slurm.key"));
        UUID clusterId = FileJournal.clusterIdOf(journal)
                .orElseGet(() ->
                        UUID.nameUUIDFromBytes(("muster " + conf.clusterName()).getBytes(StandardCharsets.UTF_8)));
        file = FileJournal.open(journal, FileJournal.Options.of(clusterId, log::info));
        follow(file, clusterId);
        return provider()
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
        CountDownLatch ended = new CountDownLatch(1);
        journal.onFailure(_ -> ended.countDown());
        Controller controller = new Controller(conf, confFile, log, onShutdown, this::fault);
        leading = controller;
        StandbyState following = followed;
        followed = null;
        closeStandby();
        try {
            controller.lead(
                    journal,
                    credentials().withoutSack(),
                    membership(),
                    following == null ? Optional.empty() : following.take());
            log.info("slurmctld leads in term " + term);
            announce(controller, term);
        } catch (IOException | RuntimeException e) {
            if (e instanceof JournalException || hasEnded(ended)) {
                log.info("slurmctld does not lead: " + ErrorSentence.of(e));
                return;
            }
            log.fatal(ErrorSentence.of(e));
            onFault.accept(e);
        }
    }

    /** A leader that hung while it started finds its files gone, and hears a moment later that another one leads. */
    private static boolean hasEnded(CountDownLatch ended) {
        try {
            return ended.await(LEASE_MAX_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public synchronized void follows() {
        Controller controller = leading;
        leading = null;
        if (controller != null) {
            controller.stop();
            log.info("slurmctld does not lead any more");
            if (file != null && !stopping) {
                follow(file, FileJournal.clusterIdOf(journalDirectory()).orElseThrow());
            }
            stand();
        }
    }

    @Override
    public void committed(long index, byte[] entry) {
        StandbyState following = followed;
        if (following != null) {
            following.committed(index, entry);
        }
    }

    private Path journalDirectory() {
        try {
            return JournalGenerations.newest(Path.of(conf.stateSaveLocation()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Follows what the leading controller decides. With slurmdbd the rows that it has not taken yet are made from the
     * journal by the controller that leads: this one follows nothing, and reads its journal when it leads.
     */
    private void follow(FileJournal copy, UUID clusterId) {
        String type = conf.text(Key.ACCOUNTING_STORAGE_TYPE);
        if (type.equals("accounting_storage/slurmdbd")) {
            return;
        }
        Path state = Path.of(conf.stateSaveLocation());
        boolean none = type.equals("accounting_storage/none") && conf.given(Key.ACCOUNTING_STORAGE_TYPE);
        followed = new StandbyState(
                copy,
                state,
                contents -> none
                        ? new NoAccounting()
                        : EmbeddedAccounting.open(state, clusterId, copy.lastIndex(), contents::read, log::info),
                log);
    }

    private void announce(Controller controller, long term) throws IOException {
        Sessions sessions = credentials().sessions();
        String address = conf.controllers().get(membership().self()).address();
        LeaderNotice.send(controller.nodes(), new FollowController(address, term), sessions::client, log::verbose);
    }

    private Membership membership() {
        return new Membership(ControllerHost.ofThisHost().index(conf), Optional.ofNullable(group));
    }

    /** Answers on SlurmctldPort until this controller leads. */
    private synchronized void stand() {
        if (stopping || leading != null || standby != null) {
            return;
        }
        try {
            Credentials keys = credentials();
            standby = new StandbyServer(
                    conf, keys.withoutSack(), keys.slurmUid(), membership(), bootTime, log, onShutdown);
        } catch (IOException e) {
            log.fatal(ErrorSentence.of(e));
            onFault.accept(e);
        }
    }

    private synchronized void closeStandby() {
        if (standby != null) {
            standby.close();
            standby = null;
        }
    }

    @Override
    public void refused(String sentence) {
        log.fatal(sentence);
        exitCode = 1;
        onShutdown.run();
    }

    /** An end of the shared journal is a change of the leader; anything else is a fault. */
    private void fault(Throwable e) {
        if (!(e instanceof JournalException)) {
            onFault.accept(e);
        }
    }

    @Override
    public int exitCode() {
        return exitCode;
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
        closeStandby();
        StandbyState following = followed;
        if (following != null) {
            following.close();
        }
        credentials().sack().ifPresent(Sack::close);
        if (file != null) {
            file.close();
        }
    }
}
