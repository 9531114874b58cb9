package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.key.TlsRole;
import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.accounting.DbdAccounting;
import dev.muster.controller.accounting.EmbeddedAccounting;
import dev.muster.controller.accounting.NoAccounting;
import dev.muster.controller.accounting.WaitReasons;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.controller.config.ConfigService;
import dev.muster.controller.config.ConfigWarnings;
import dev.muster.controller.config.PartitionQos;
import dev.muster.controller.config.ReconfigureCheck;
import dev.muster.controller.dbd.ExternalDbds;
import dev.muster.controller.edge.Certificates;
import dev.muster.controller.edge.ClientActivity;
import dev.muster.controller.edge.ControllerApi;
import dev.muster.controller.edge.ControllerServices;
import dev.muster.controller.edge.DebugLevels;
import dev.muster.controller.edge.Diagnostics;
import dev.muster.controller.edge.GroupLookup;
import dev.muster.controller.edge.HttpPages;
import dev.muster.controller.edge.RateLimit;
import dev.muster.controller.edge.SubmitFilter;
import dev.muster.controller.edge.TokenIssuer;
import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.ChangeLog;
import dev.muster.controller.engine.Clock;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.JobWatch;
import dev.muster.controller.engine.JournalLossCheck;
import dev.muster.controller.engine.PlanThread;
import dev.muster.controller.engine.StateDirectory;
import dev.muster.controller.nodes.HealthChecks;
import dev.muster.controller.nodes.NodeEffects;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.nodes.NodeMessagesFromState;
import dev.muster.controller.nodes.NodeTimeouts;
import dev.muster.controller.site.BurstBuffers;
import dev.muster.controller.site.JobPrograms;
import dev.muster.controller.stats.DebugFlags;
import dev.muster.controller.stats.Metrics;
import dev.muster.controller.stats.SchedulerLog;
import dev.muster.controller.stats.Statistics;
import dev.muster.controller.view.ConfigView;
import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.NodeViews;
import dev.muster.controller.view.OwnedJobs;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Trigger;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.Requests;
import dev.muster.daemon.Sack;
import dev.muster.daemon.Sessions;
import dev.muster.daemon.StartErrors;
import dev.muster.daemon.TlsLog;
import dev.muster.daemon.TokenKey;
import dev.muster.journal.FileJournal;
import dev.muster.journal.Journal;
import dev.muster.journal.JournalGenerations;
import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.Scheduler;
import dev.muster.transport.Audience;
import dev.muster.transport.Server;
import dev.muster.transport.Tokens;
import dev.muster.transport.Verifier;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** slurmctld: journal, core, planner, nodes and edge put together. */
public final class Controller implements ControllerServices, Main.Daemon {
    private final File confFile;
    private volatile SlurmConf conf;
    private final DaemonLog log;
    private final Identities identities = new Identities();
    private final GroupLookup groupLook;
    private final Scheduler scheduler = new Scheduler();
    private final SecureRandom random = new SecureRandom();
    private final DebugFlags flags;
    private final SchedulerLog scheduling;
    private final long bootTime = System.currentTimeMillis() / 1000;
    private final long startedNs = System.nanoTime();
    private final Runnable onShutdown;
    private final Consumer<Throwable> onFault;
    private final OwnedJobs owned = new OwnedJobs();
    private SnapshotWriter snapshots;
    private Journal journal;
    private BlobStore blobs;
    private Clock clock;
    private Core core;
    private CoreThread thread;
    private NodeLinks links;
    private ControllerApi api;
    private JobPrograms programs;
    private BurstBuffers buffers;
    private Accounting accounting;
    private ExternalDbds external;
    private Server server;
    private Optional<Sack> sack = Optional.empty();
    private Optional<Credentials> credentials = Optional.empty();
    private volatile boolean stopping;
    private volatile boolean primary;
    private final TriggerEventRelay events = new TriggerEventRelay();
    private boolean rowsFull;
    /** The journal that this controller keeps with others; empty where it has one of its own. */
    private Optional<SharedJournal> shared = Optional.empty();

    private final ClientActivity clients = new ClientActivity();
    private final HealthChecks healthChecks = new HealthChecks();
    private final ConfigService configService = new ConfigService();
    private Certificates certificates;
    private final Statistics statistics = new Statistics();
    private final ChangeLog news = new ChangeLog(randomToken());
    private TokenIssuer tokenIssuer;
    private final Requests requests;
    private final SubmitFilter filter;
    private long applied;
    /** The journal's last entry when it was read. */
    private long recovered;

    private JournalLossCheck lossCheck;

    public Controller(SlurmConf conf, File confFile, DaemonLog log, Runnable onShutdown, Consumer<Throwable> onFault) {
        this.conf = conf;
        this.confFile = confFile;
        this.log = log;
        this.groupLook = new GroupLookup(
                () -> core().durable(),
                identities::gidsNow,
                c -> core().execute(c, -1),
                new File("/etc/group")::lastModified,
                e -> log.error("the groups of those whose jobs wait could not be looked up", e));
        this.requests = new Requests(log, Set.of(), Set.of("Follow", "ReadOutput", "QueryUse"));
        filter = new SubmitFilter(
                log,
                () -> thread.durable(),
                (uid, p) -> identities
                        .byUid(uid)
                        .filter(i -> PartitionLimits.admitsGroups(p.info(), i, thread.durable()))
                        .isPresent());
        scheduling = new SchedulerLog(log);
        scheduling.configure(conf);
        flags = new DebugFlags(log);
        flags.set(conf.debugFlags());
        this.onShutdown = onShutdown;
        this.onFault = onFault;
    }

    // ---- start

    /**
     * Reads keys, and makes the socket for the callers of this host, before slurmctld becomes SlurmUser.
     *
     * @throws IOException if a key is unfit
     */
    @Override
    public void prepare() throws IOException {
        credentials = Optional.of(readCredentials());
        sack = credentials.get().sack();
    }

    Credentials readCredentials() throws IOException {
        SlurmConf c = conf;
        return Credentials.read(c, slurmUid(c), identities, new TlsLog(flags::has, log::info), log);
    }

    /**
     * Leads the cluster's controllers: recovers the state and serves, until the journal ends.
     *
     * @param journal that the controllers keep together; it stays open after {@link #stop}
     * @param read keys, without the socket for the callers of this host
     * @param state as of the journal's last entry; read from the journal where it is not known
     * @throws IOException if a place cannot be used or the port is taken
     */
    void lead(Journal journal, Credentials read, Membership among, Optional<RecoveredState> state) throws IOException {
        shared = Optional.of(new SharedJournal(journal, among, state));
        credentials = Optional.of(read);
        start(false);
    }

    /**
     * Recovers the state and serves.
     *
     * @param clean forget everything that was ({@code -c})
     * @throws IOException if a place cannot be used or the port is taken
     */
    @Override
    public void start(boolean clean) throws IOException {
        SlurmConf c = conf;
        if (credentials.isEmpty()) {
            prepare();
        }
        StateDirectory place = StateDirectory.open(Path.of(c.stateSaveLocation()), c.clusterName(), clean, log::error);
        openState(c);
        JobWatch watch = new JobWatch();
        startCore(watch);
        lossCheck = new JournalLossCheck(place, thread, recovered, log);
        lossCheck.check(place.remembered().and(accounting.highest()));
        PartitionQos.require(c, thread.durable(), log::error);
        configure(c);
        programs.resume(
                thread.durable(), activeJobs(thread.durable()), clock.now().tickMs());
        certificates = new Certificates(
                this::conf, thread::durable, command -> thread.execute(command, -1) instanceof Decision.Accepted, log);
        api = new ControllerApi(this, thread, identities, blobs, watch, links, log);
        if (recovered > 0) {
            events.happened(Trigger.CONTROL_RESUMED);
            events.happened(Trigger.OPERATION_RESUMED);
        }
        primary = true;
        events.begin(thread);
        programs.primary(true);
        listen(c);
        clients.started(core.state().jobs().values(), System.nanoTime() / 1_000_000_000L);
        thread.doorsOpen();
        startBackground(c);
        log.info("Running as primary controller");
    }

    /** Opens the journal and recovers the state from it. */
    private void openState(SlurmConf c) throws IOException {
        Path stateDir = Path.of(c.stateSaveLocation());
        Path journalDir = JournalGenerations.newest(stateDir);
        UUID clusterId = FileJournal.clusterIdOf(journalDir).orElseGet(UUID::randomUUID);
        journal = shared.map(SharedJournal::journal)
                .orElseGet(() -> FileJournal.open(journalDir, FileJournal.Options.of(clusterId, log::info)));
        core = new Core(scheduler);
        Sessions sessions = credentials.get().sessions();
        Optional<RecoveredState> followed =
                shared.flatMap(SharedJournal::followed).filter(state -> state.index() == journal.lastIndex());
        RecoveredState read = followed.isPresent()
                ? followed.get()
                : RecoveredState.read(
                        journal,
                        stateDir,
                        contents -> accounting(c, stateDir, clusterId, sessions, contents::read),
                        log);
        shared = shared.map(SharedJournal::begun);
        blobs = read.blobs();
        accounting = read.accounting();
        accounting.queue(new WaitReasons.Queue(scheduler::reason, scheduler::priority));
        core.recovered(read.state(), Controller::inParallel);
        owned.reset(read.state());
        applied = read.index();
        recovered = applied;
        snapshots = new SnapshotWriter(journal, blobs, accounting, read.snapshotIndex(), log);
        journal.retainFrom(
                () -> accounting.projected() == Long.MAX_VALUE ? Long.MAX_VALUE : accounting.projected() + 1);
    }

    /** Starts the core thread, with the nodes' connections and the site's programs as its effects. */
    private void startCore(JobWatch watch) {
        clock = new Clock(core.state().tickMs() + 1);
        NodeMessagesFromState outgoing = new NodeMessagesFromState(
                blobs::read, (job, e) -> log.error("job " + job.id() + " cannot be launched", e));
        links = new NodeLinks(log, this::conf, outgoing, clock, this::connection);
        buffers = new BurstBuffers(this::conf, log, command -> thread.post(command), blobs::read);
        programs = new JobPrograms(this::conf, log, command -> thread.post(command), blobs::read, buffers);
        programs.check();
        NodeEffects effects =
                new NodeEffects(links, outgoing, watch, log, flags, programs, scheduling, news, this::project);
        thread = new CoreThread(core, journal, clock, log, effects, onFault, us -> {
            statistics.pass(us, scheduler.queueLength(), scheduler.counts());
            news.passed();
        });
        links.core(thread);
        scheduler.planElsewhere();
        thread.start();
        journal.repair().ifPresent(r -> {
            log.error(r.sentence());
            thread.execute(new Command.SkipReservedIds(), -1);
        });
    }

    private void listen(SlurmConf c) throws IOException {
        Sessions sessions = credentials.get().sessions();
        int slurmUid = slurmUid(c);
        Optional<Tokens> taken = credentials.get().tokens();
        tokenIssuer = new TokenIssuer(taken, this::conf, identities, slurmUid, log);
        RateLimit limit = new RateLimit(this::conf, slurmUid, () -> System.nanoTime() / 1_000_000_000L, log);
        String bound = membership().boundAddress(c);
        Verifier verifier = sessions.verifier(taken, identities::state).as(Audience.SLURMCTLD);
        int port = c.slurmctldPorts().getFirst();
        server = StartErrors.listening(
                "SlurmctldPort",
                port,
                () -> Server.start(
                        bound,
                        port,
                        sessions.identity(TlsRole.CTLD, log::error),
                        verifier,
                        limit.before(api::handle),
                        Map.of("node", links::serve),
                        pages(c, taken, slurmUid),
                        log::error));
    }

    /** Starts what runs beside the core and the server. */
    private void startBackground(SlurmConf c) throws IOException {
        Sessions sessions = credentials.get().sessions();
        WarmUp.start(ConfigBridge.command(c, slurmUid(c)), sessions, log);
        sack.ifPresent(s -> s.serve(sessions.keys()));
        Thread.ofVirtual().name("nodes").start(this::watchNodes);
        Thread.ofVirtual().name("groups").start(groupLook::run);
        new PlanThread(scheduler, thread, () -> stopping, statistics.plans(), log).start();
        if (accounting instanceof DbdAccounting dbd) {
            dbd.start();
        }
        external = DbdAccounting.external(this::conf, sessions, thread::durable, log::info);
        external.start();
    }

    private Accounting accounting(
            SlurmConf c, Path stateDir, UUID clusterId, Sessions sessions, Function<String, Bytes> contents) {
        String type = c.text(Key.ACCOUNTING_STORAGE_TYPE);
        if (membership().sharesDirectory() && !type.equals("accounting_storage/slurmdbd")) {
            // rows in StateSaveLocation cannot be kept from a former leader that comes back
            return new NoAccounting();
        }
        return switch (type) {
            case "accounting_storage/none" ->
                c.given(Key.ACCOUNTING_STORAGE_TYPE)
                        ? new NoAccounting()
                        : EmbeddedAccounting.open(stateDir, clusterId, journal.lastIndex(), contents, log::info);
            case "accounting_storage/slurmdbd" ->
                new DbdAccounting(
                        this::conf,
                        sessions,
                        clusterId.toString(),
                        journal::lastIndex,
                        this::knownState,
                        this::policy,
                        contents,
                        log::info,
                        events::happened,
                        () -> onFault.accept(
                                new IOException("MaxDBDMsgs: more waits for slurmdbd (max_dbd_msg_action=exit)")));
            default -> EmbeddedAccounting.open(stateDir, clusterId, journal.lastIndex(), contents, log::info);
        };
    }

    /** The recovered state, before {@link #startCore} makes the thread. */
    private State knownState() {
        return thread == null ? core.state() : thread.durable();
    }

    /** Associations and QOS came from slurmdbd: in force when this returns. */
    private void policy(DbdMessages.Policy policy) {
        List<DbdMessages.UserPolicy> users = policy.users().stream()
                .map(u -> u.isPrivileged()
                        ? u.withUid(
                                identities.byName(u.user()).map(Identity::uid).orElse(-1))
                        : u)
                .toList();
        boolean first = thread.durable().accounts().isEmpty();
        thread.execute(new Command.ApplyPolicy(policy.withUsers(users)), -1);
        (first ? PartitionQos.unknown(conf, thread.durable()) : List.<ConfigError>of())
                .forEach(e -> log.error(e.message()));
    }

    private int slurmUid(SlurmConf c) {
        String user = c.slurmUser();
        return identities
                .byName(user)
                .map(Identity::uid)
                .orElseGet(() -> user.matches("[0-9]{1,9}") ? Integer.parseInt(user) : 0);
    }

    /** Runs both at the same time: a restart with a long queue waits for both. */
    private static void inParallel(Runnable one, Runnable other) {
        CompletableFuture<Void> running = CompletableFuture.runAsync(other);
        one.run();
        running.join();
    }

    private void configure(SlurmConf c) throws IOException {
        if (c.has(Key.SLURMCTLD_PARAMETERS, "enable_stepmgr") && !ConfigBridge.externSteps(c)) {
            throw new IOException("SlurmctldParameters=enable_stepmgr needs PrologFlags=Contain");
        }
        for (Key key : List.of(Key.PROLOG_SLURMCTLD, Key.EPILOG_SLURMCTLD)) {
            for (String program : c.list(key)) {
                if (!new File(program).canExecute()) {
                    throw new IOException(key.slurmName() + "=" + program + " cannot be executed");
                }
            }
        }
        Decision decision = thread.execute(ConfigBridge.command(c, slurmUid(c)), -1);
        if (decision instanceof Decision.Rejected r) {
            throw new IOException(r.sentence());
        }
        links.dropUnknown(thread.durable());
        identities.groups().update(c.number(Key.GROUP_UPDATE_TIME), c.number(Key.GROUP_UPDATE_FORCE) != 0);
        groupLook.update(c.number(Key.GROUP_UPDATE_TIME), c.number(Key.GROUP_UPDATE_FORCE) != 0);
        configService.take(c);
        String wrong = filter.configure(c);
        if (!wrong.isEmpty()) {
            throw new IOException("job_submit/lua: " + wrong);
        }
        wrong = buffers.configure(c);
        if (!wrong.isEmpty()) {
            throw new IOException(wrong);
        }
        ConfigWarnings.tell(c, thread.durable(), log);
    }

    public ControllerApi api() {
        return api;
    }

    CoreThread core() {
        return thread;
    }

    @Override
    public OwnedJobs owned() {
        return owned;
    }

    @Override
    public BurstBuffers buffers() {
        return buffers;
    }

    @Override
    public SubmitFilter filter() {
        return filter;
    }

    // ---- running

    void connection(String node, boolean up) {
        scheduler.connected(node, up);
        thread.wake();
    }

    private void project(Entry entry, State before, State after) {
        applied++;
        owned.follow(entry, before, after);
        statistics.follow(entry);
        accounting.follow(applied, entry, after);
        if (thread.areDoorsOpen()) {
            snapshots.after(applied, after);
        }
    }

    private void watchNodes() {
        while (!stopping) {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                return;
            }
            try {
                watchNodes(thread.durable());
            } catch (RuntimeException e) {
                log.error("the look at nodes failed and is repeated", e);
            }
        }
    }

    private void watchNodes(State state) {
        lossCheck.check(accounting.highest());
        lossCheck.remember();
        programs.tick(state, clock.now().tickMs());
        boolean full = accounting.overloaded();
        if (full && !rowsFull) {
            events.happened(Trigger.ROWS_FULL);
        }
        rowsFull = full;
        long nowS = System.nanoTime() / 1_000_000_000L;
        clients.silent(activeJobs(state), nowS, conf.number(Key.INACTIVE_LIMIT)).forEach(thread::post);
        clients.unclaimed(
                        activeJobs(state),
                        id -> state.jobs().find(id).filter(Job::isPending).isPresent(),
                        nowS)
                .forEach(c -> {
                    log.info("Killing interactive JobId=" + ((Command.EndUnclaimed) c).jobId()
                            + ": Communication connection failure");
                    thread.post(c);
                });
        links.memory().tick(state, activeJobs(state), clock.now().tickMs(), links::send);
        healthChecks.tick(conf, state.nodes().values(), System.nanoTime() / 1_000_000_000L, links::send);
        int timeout = state.settings().nodeTimeoutS();
        for (Node node : state.nodes().values()) {
            NodeTimeouts.verdict(
                            node, links.isConnected(node.name()), links.silentSeconds(node.name(), startedNs), timeout)
                    .ifPresent(c -> {
                        boolean lost = c instanceof Command.NodeLost;
                        if (lost || c instanceof Command.NodeResponding r && !r.responding()) {
                            log.error("Nodes " + node.name() + " not responding" + (lost ? ", setting DOWN" : ""));
                        }
                        var _ = thread.submit(c, -1).thenAccept(d -> {
                            if (lost) {
                                links.drop(node.name());
                            }
                        });
                    });
        }
    }

    /** Returns the pages for web programs on the same port. */
    private HttpPages pages(SlurmConf c, Optional<Tokens> tokens, int slurmUid) throws IOException {
        String own = c.parameters(Key.SLURMCTLD_HTTP_AUTH_PARAMETERS).getOrDefault("jwt_key", "");
        Optional<Tokens> taken = own.isEmpty() ? tokens : Optional.of(TokenKey.tokens(Path.of(own), "", identities));
        return new HttpPages(
                this::conf,
                taken,
                uid -> uid == 0 || uid == slurmUid,
                name -> identities
                        .byName(name)
                        .map(i -> Integer.toString(i.uid()))
                        .orElse(""),
                this::metrics);
    }

    private Optional<String> metrics(String page) {
        State state = thread.durable();
        NodeViews nodes = new NodeViews(
                state, links::beat, links::address, identities::userName, System.currentTimeMillis() / 1000);
        JobViews jobs = new JobViews(state, scheduler, clock.now(), "");
        return new Metrics(state, nodes::info, jobs::reason)
                .page(page, partitionOrder(state), diagnostics().reply().values());
    }

    // ---- what the edge asks

    @Override
    public SlurmConf conf() {
        return conf;
    }

    @Override
    public Scheduler planner() {
        return scheduler;
    }

    @Override
    public NodeLinks links() {
        return links;
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public boolean isFull() {
        return journal.spaceLow() || accounting.overloaded() && !accounting.discards();
    }

    @Override
    public Accounting accounting() {
        return accounting;
    }

    @Override
    public String randomToken() {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return dev.muster.transport.Hash.hex(bytes);
    }

    @Override
    public ClusterMessages.PingReply ping() {
        return membership().ping(conf, bootTime);
    }

    private Membership membership() {
        return shared.map(SharedJournal::membership).orElse(Membership.ALONE);
    }

    /** Returns the nodes as of the last durable entry. */
    List<Node> nodes() {
        List<Node> nodes = new ArrayList<>();
        thread.durable().nodes().values().forEach(nodes::add);
        return nodes;
    }

    @Override
    public String takeover(int index) {
        return membership().takeover(conf, index, log::error);
    }

    @Override
    public ClusterMessages.ConfigReply config() {
        return new ConfigView(identities, flags, scheduling, log, bootTime).reply(conf, thread.durable());
    }

    @Override
    public Requests requests() {
        return requests;
    }

    @Override
    public ChangeLog news() {
        return news;
    }

    @Override
    public Statistics statistics() {
        return statistics;
    }

    @Override
    public Diagnostics diagnostics() {
        return new Diagnostics(thread, scheduler, statistics, requests, links, accounting, identities);
    }

    @Override
    public List<Job> activeJobs(State state) {
        TreeSet<Integer> ids = new TreeSet<>();
        state.nodes().values().forEach(n -> ids.addAll(n.jobs()));
        return ids.stream().map(state.jobs()::at).toList();
    }

    @Override
    public List<String> partitionOrder(State state) {
        List<String> out = new ArrayList<>();
        conf.partitions().forEach(p -> out.add(p.name()));
        state.partitions().keys().forEach(name -> {
            if (!out.contains(name)) {
                out.add(name);
            }
        });
        return out;
    }

    @Override
    public GroupLookup groupLook() {
        return groupLook;
    }

    @Override
    public synchronized String reconfigure() {
        switch (SlurmConf.read(confFile)) {
            case SlurmConf.Parsed.Invalid bad -> {
                return refused(bad.errors());
            }
            case SlurmConf.Parsed.Ok ok -> {
                List<ConfigError> wrong = ReconfigureCheck.of(ok.conf(), conf, thread.durable());
                if (!wrong.isEmpty()) {
                    return refused(wrong);
                }
                try {
                    configure(ok.conf());
                } catch (IOException e) {
                    return ErrorSentence.of(e);
                }
                conf = ok.conf();
                if (accounting instanceof DbdAccounting dbd) {
                    dbd.reconfigured();
                }
                log.level(ok.conf().slurmctldDebug());
                flags.set(ok.conf().debugFlags());
                scheduling.configure(ok.conf());
                links.broadcast(new NodeMessages.ReadConfig());
                log.info("reconfigured");
                return "";
            }
        }
    }

    /** Logs errors, and returns the first of them. */
    private String refused(List<ConfigError> errors) {
        errors.forEach(e -> log.error(e.message()));
        return ReconfigureCheck.text(errors);
    }

    @Override
    public DebugLevels debugLevels() {
        return new DebugLevels(log, scheduling, flags, thread, links);
    }

    @Override
    public ClientActivity clients() {
        return clients;
    }

    @Override
    public TokenIssuer tokens() {
        return tokenIssuer;
    }

    @Override
    public Certificates certificates() {
        return certificates;
    }

    @Override
    public ConfigService configService() {
        return configService;
    }

    @Override
    public DebugFlags debugFlags() {
        return flags;
    }

    @Override
    public String shutdown(boolean controllerOnly) {
        log.info("shutdown requested");
        if (!controllerOnly) {
            links.broadcast(new NodeMessages.StopDaemon());
        }
        Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(200);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            onShutdown.run();
        });
        return "";
    }

    /** Stops what {@link #start} has started: all or, where it failed, the first of it. */
    @Override
    public void stop() {
        stopping = true;
        sack.ifPresent(Sack::close);
        if (server != null) {
            server.close();
        }
        if (primary) {
            programs.primary(false);
        }
        if (thread != null) {
            thread.stop();
        }
        if (programs != null) {
            programs.close();
        }
        if (external != null) {
            external.close();
        }
        if (accounting != null) {
            accounting.close();
        }
        if (journal != null) {
            journal.close();
        }
    }

    DaemonLog log() {
        return log;
    }
}
