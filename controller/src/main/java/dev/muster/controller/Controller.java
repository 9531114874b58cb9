package dev.muster.controller;

import static java.util.Objects.requireNonNull;

import dev.muster.config.SlurmConf;
import dev.muster.controller.StopSequence.Part;
import dev.muster.controller.accounting.DbdAccounting;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.controller.config.PartitionQos;
import dev.muster.controller.dbd.ExternalDbds;
import dev.muster.controller.edge.ControllerApi;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.JournalLossCheck;
import dev.muster.controller.engine.PlanThread;
import dev.muster.controller.engine.StateDirectory;
import dev.muster.controller.engine.TriggerEventRelay;
import dev.muster.controller.ha.ControllerPeers;
import dev.muster.controller.ha.ControllerWatch;
import dev.muster.controller.ha.Membership;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Trigger;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.journal.Journal;
import dev.muster.transport.Server;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops slurmctld: recovers its state ({@link StateStore}), starts the core with its effects
 * ({@link CoreRuntime}) and the handlers of requests ({@link RunningController}), opens the port, and starts what runs
 * beside them.
 */
public final class Controller implements Main.Daemon {
    private final ControllerEnvironment environment;
    private final StopSequence stops = new StopSequence();
    private @Nullable Credentials credentials;
    private volatile @Nullable RunningController running;

    /**
     * @param confFile that the configuration was read from
     * @param onShutdown called when a request asks slurmctld to end
     * @param onFault called when slurmctld cannot go on
     */
    public Controller(SlurmConf conf, File confFile, DaemonLog log, Runnable onShutdown, Consumer<Throwable> onFault) {
        environment = new ControllerEnvironment(conf, confFile, log, onShutdown, onFault);
    }

    /**
     * Reads keys, and makes the socket for the callers of this host, before slurmctld becomes SlurmUser.
     *
     * @throws IOException if a key is unfit
     */
    @Override
    public void prepare() throws IOException {
        credentials = environment.readCredentials();
        credentials.sack().ifPresent(sack -> stops.add(Part.LOCAL_SOCKET, sack::close));
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
        start(false, read, Optional.of(new SharedJournal(journal, among, state)));
    }

    /**
     * Recovers the state and serves.
     *
     * @param clean forget everything that was ({@code -c})
     * @throws IOException if a place cannot be used or the port is taken
     */
    @Override
    public void start(boolean clean) throws IOException {
        if (credentials == null) {
            prepare();
        }
        start(clean, requireNonNull(credentials, "prepare sets them"), Optional.empty());
    }

    private void start(boolean clean, Credentials keys, Optional<SharedJournal> shared) throws IOException {
        SlurmConf conf = environment.conf();
        DaemonLog log = environment.log();
        StateDirectory directory =
                StateDirectory.open(Path.of(conf.stateSaveLocation()), conf.clusterName(), clean, log::error);
        TriggerEventRelay events = new TriggerEventRelay();
        Membership membership = shared.map(SharedJournal::membership).orElse(Membership.ALONE);
        StateStore store = StateStore.open(environment, keys, shared, events, stops);
        CoreRuntime runtime = CoreRuntime.start(environment, store, stops);
        CoreThread thread = runtime.thread();
        RunningController controller = new RunningController(environment, store, runtime, membership, keys.tokens());
        running = controller;
        JournalLossCheck lossCheck = new JournalLossCheck(directory, thread, store.recoveredIndex(), log);
        lossCheck.check(directory.remembered().and(store.accounting().highest()));
        PartitionQos.require(conf, thread.durable(), log::error);
        controller.reconfiguration().apply(conf);
        State configured = thread.durable();
        runtime.programs()
                .resume(
                        configured,
                        controller.activeJobs(configured),
                        runtime.clock().now().tickMs());
        if (membership.self() > 0) {
            events.happened(Trigger.BACKUP_CONTROLS);
        } else if (store.recoveredIndex() > 0) {
            events.happened(Trigger.CONTROL_RESUMED);
            events.happened(Trigger.OPERATION_RESUMED);
        }
        stops.add(Part.PRIMARY_PROGRAMS, () -> runtime.programs().primary(false));
        events.begin(thread);
        if (membership.group().isPresent()) {
            int self = membership.self();
            ControllerPeers peers = new ControllerPeers(conf, self, keys.sessions()::client);
            new ControllerWatch(self, conf.controllers().size(), peers::answers, events::happened)
                    .start(stops::isStopping);
        }
        runtime.programs().primary(true);
        Server server = SlurmctldPort.open(environment, keys, controller);
        stops.add(Part.SERVER, server::close);
        controller.clients().started(store.core().state().jobs().values(), System.nanoTime() / 1_000_000_000L);
        thread.doorsOpen();
        startBackground(
                keys,
                store,
                controller,
                new BackgroundChecks(environment, controller, lossCheck, events, stops::isStopping));
        log.info("Running as primary controller");
    }

    /** Starts what runs beside the core and the server. */
    private void startBackground(
            Credentials keys, StateStore store, RunningController controller, BackgroundChecks checks)
            throws IOException {
        SlurmConf conf = environment.conf();
        DaemonLog log = environment.log();
        CoreThread thread = controller.runtime().thread();
        Sessions sessions = keys.sessions();
        WarmUp.start(ConfigBridge.command(conf, environment.slurmUid(conf)), sessions, log);
        keys.sack().ifPresent(s -> s.serve(sessions.keys()));
        Thread.ofVirtual().name("nodes").start(checks::run);
        Thread.ofVirtual().name("groups").start(controller.groupLook()::run);
        new PlanThread(
                        store.scheduler(),
                        thread,
                        stops::isStopping,
                        store.statistics().plans(),
                        log)
                .start();
        if (store.accounting() instanceof DbdAccounting dbd) {
            dbd.start();
        }
        ExternalDbds external = DbdAccounting.external(environment::conf, sessions, thread::durable, log::info);
        stops.add(Part.EXTERNAL_DBDS, external::close);
        external.start();
    }

    @Override
    public String reconfigure() {
        RunningController controller = running;
        return controller == null ? "" : controller.reconfigure();
    }

    /** Stops what {@link #start} has started: all or, where it failed, the first of it. */
    @Override
    public void stop() {
        stops.run();
    }

    /** Returns the handlers of requests. Called after the start. */
    public ControllerApi api() {
        return running().api();
    }

    CoreThread core() {
        return running().runtime().thread();
    }

    /** Returns the nodes as of the last durable entry. */
    List<Node> nodes() {
        List<Node> nodes = new ArrayList<>();
        core().durable().nodes().values().forEach(nodes::add);
        return nodes;
    }

    RunningController running() {
        return requireNonNull(running, "the controller has been started");
    }
}
