package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.model.node.NodeMessages.NodeTrouble;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.cgroup.Namespaces;
import dev.muster.node.config.Settings;
import dev.muster.node.hardware.FeatureHelpers;
import dev.muster.node.hardware.HardwareProbe;
import dev.muster.node.io.IoRelay;
import dev.muster.node.io.LaunchRelay;
import dev.muster.node.io.MpiLinks;
import dev.muster.node.io.X11Tunnels;
import dev.muster.node.job.Hooks;
import dev.muster.node.job.Jobs;
import dev.muster.node.job.NoAllocateSteps;
import dev.muster.node.job.StepManager;
import dev.muster.node.job.UnacknowledgedReports;
import dev.muster.node.meter.Profiles;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.node.os.UserFiles;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.SpoolLock;
import dev.muster.node.step.SpecBuilder;
import dev.muster.node.step.StepStarter;
import dev.muster.transport.Audience;
import dev.muster.transport.Server;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One node of a running slurmd: the parts put together. */
public final class Slurmd implements AutoCloseable {
    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final FileLock lock;
    private final UnacknowledgedReports reports;
    private final Hooks hooks;
    private final NodeRegistration registration;
    private final X11Tunnels windows;
    private final Jobs jobs;
    private final ControllerLink link;
    private final ControllerOrders orders;
    private final SlurmdApi queries;
    private final Server server;
    /** Has this node drained, for {@link UnexpectedErrors}. */
    private final Consumer<String> faults = this::drain;

    /** Functions of the whole process, which may serve several nodes. */
    public interface Owner {
        void readConfig();

        void stop();
    }

    /** The daemon cannot start; the sentence says why. */
    public static final class CannotStartException extends Exception {
        private static final long serialVersionUID = 1L;

        CannotStartException(@Nullable String message) {
            super(message);
        }
    }

    /** Addresses of other nodes of the cluster by the configuration. */
    public interface Neighbours {
        Optional<Settings.Address> find(String node);
    }

    public Slurmd(
            Settings settings,
            DaemonLog log,
            Sessions sessions,
            Owner owner,
            boolean reportReboot,
            Neighbours neighbours,
            SlurmdProcess machine)
            throws CannotStartException {
        this.settings = settings;
        this.log = log;
        HardwareProbe probe = new HardwareProbe(Path.of("/"), settings.tmpFs());
        if (settings.around().pam()) {
            requirePam(settings.stepd());
        }
        loop = machine.loop(log);
        JobSpool spool = new JobSpool(settings.spoolDirectory());
        try {
            spool.open();
            lock = SpoolLock.take(settings.spoolDirectory(), machine.nodes == 1, log);
            reports = new UnacknowledgedReports(settings.spoolDirectory());
        } catch (IOException e) {
            throw new CannotStartException(
                    "SlurmdSpoolDir " + settings.spoolDirectory() + ": " + ErrorSentence.reason(e));
        }
        String bootId = Os.bootId();
        Cgroups cgroups = Cgroups.detect(
                settings.nodeName(), settings.spoolDirectory(), settings.confinement(), probe.memoryMb(), log);
        hooks = new Hooks(settings, log, machine.hooks);
        FeatureHelpers helpers =
                new FeatureHelpers(settings.around().helpers(), settings.nodeName(), hooks.basic(), log);
        registration = new NodeRegistration(settings, log, probe, helpers, bootId, reportReboot);
        NodeMeters meters = new NodeMeters(settings, log, loop, bootId);
        Namespaces namespaces = new Namespaces(settings, log);
        windows = new X11Tunnels(settings, log, spool, namespaces);
        Profiles profiles = meters.profiles(this::running);
        StepStarter starter = new StepStarter(
                settings,
                log,
                spool,
                cgroups,
                new SpecBuilder(settings, probe.topology()),
                namespaces,
                windows,
                hooks,
                meters.sensors(),
                profiles,
                machine.stepds);
        PeerNodes peers = new PeerNodes(settings, neighbours, sessions);
        MpiLinks mpi = new MpiLinks(settings, log, loop, spool, node -> peers.dial(node, MpiLinks.STREAM));
        jobs = new Jobs(settings, log, loop, spool, reports, hooks, cgroups, starter, mpi, machine.starters, bootId);
        meters.start(jobs, spool, cgroups);
        link = new ControllerLink(
                settings,
                log,
                loop,
                reports,
                (host, port) ->
                        sessions.client(host, port).to(Audience.SLURMCTLD).connectWithin(settings.connectMs()),
                () -> registration.register(jobs.attempts(), spool.highestJobId()),
                () -> registration.heartbeat(meters.sensors().power()));
        StepManager manager =
                new StepManager(settings, log, loop, jobs, reports, spool, peers::ask, bootId, link::isConnected);
        adopt(manager, machine.starters.awaitNone(0) == 0);
        loop.post(profiles::start);
        IoRelay relay = new IoRelay(settings, log, loop, this::step, spool, node -> peers.dial(node, "io"));
        LaunchRelay launches =
                new LaunchRelay(settings, log, loop, jobs::launch, node -> peers.dial(node, LaunchRelay.STREAM));
        UserFiles files = new UserFiles(namespaces::kept);
        orders = new ControllerOrders(
                log, loop, owner, link, registration, hooks, reports, jobs, manager, launches, files, meters.usage());
        queries = new SlurmdApi(
                settings,
                log,
                loop,
                jobs,
                meters.sensors(),
                registration::hardware,
                orders::lastTime,
                registration.startTime(),
                new NoAllocateSteps(settings, loop, jobs, bootId),
                manager,
                m -> link.follow(m.address(), m.term()));
        server = new SlurmdPort(settings, log, loop, sessions)
                .open(
                        queries::answer,
                        Map.of(
                                "io",
                                relay::handle,
                                "x11",
                                windows::handle,
                                LaunchRelay.STREAM,
                                launches::handle,
                                MpiLinks.STREAM,
                                (caller, frames) -> mpi.handle(caller, frames, this::step)));
        UnexpectedErrors.add(faults);
    }

    private static void requirePam(Path stepd) throws CannotStartException {
        try {
            Os.Outcome answer = Os.run(List.of(stepd.toString(), "--pam"));
            if (!answer.output().strip().equals("ok")) {
                throw new CannotStartException(answer.output().strip());
            }
        } catch (IOException e) {
            throw new CannotStartException("UsePAM: " + stepd + ": " + ErrorSentence.reason(e));
        }
    }

    private Optional<IoRelay.Found> step(IoAttach attach) {
        return jobs.forRelay(attach.jobId(), attach.attempt())
                .flatMap(j -> Optional.ofNullable(j.steps.get(attach.stepId()))
                        .or(() -> Optional.ofNullable(j.notStarted.get(attach.stepId())))
                        .map(s -> new IoRelay.Found(s, j.share.owner().uid())));
    }

    private List<ProcessTable.Running> running() {
        return jobs.running();
    }

    private void adopt(StepManager manager, boolean isAlone) {
        loop.post(() -> {
            try {
                manager.adopt();
                jobs.adopt(isAlone);
                jobs.known().forEach(j -> manager.adopt(j.jobId(), j.attempt()));
            } catch (IOException e) {
                log.error("cannot read " + settings.spoolDirectory() + ": " + ErrorSentence.reason(e));
            }
        });
    }

    private void drain(String reason) {
        loop.post(() -> reports.add(seq -> new NodeTrouble(seq, reason), () -> {}));
    }

    /** Returns the handlers of requests. */
    SlurmdApi queries() {
        return queries;
    }

    public int port() {
        return server.port();
    }

    public void start() {
        registration.logStart();
        if (registration.isFirstOfBoot() || !settings.around().healthAtBoot()) {
            hooks.health();
        }
        if (!settings.around().gresError().isEmpty()) {
            log.error(settings.around().gresError());
            drain(settings.around().gresError());
        }
        link.start(orders::obey);
    }

    /** Takes no more orders and requests. */
    void disconnect() {
        link.close();
        server.close();
    }

    /** Ends the daemon; its jobs go on. */
    @Override
    public void close() {
        UnexpectedErrors.remove(faults);
        disconnect();
        windows.close();
        loop.close();
        try {
            lock.channel().close();
        } catch (IOException e) {
            log.debug("lock: " + ErrorSentence.of(e));
        }
    }
}
