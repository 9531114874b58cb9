package dev.muster.node;

import dev.muster.config.key.TlsRole;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.Ack;
import dev.muster.model.node.NodeMessages.CheckHealth;
import dev.muster.model.node.NodeMessages.EndJob;
import dev.muster.model.node.NodeMessages.EndStep;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.model.node.NodeMessages.Heartbeat;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.NodeTrouble;
import dev.muster.model.node.NodeMessages.Prepare;
import dev.muster.model.node.NodeMessages.ReadConfig;
import dev.muster.model.node.NodeMessages.Refused;
import dev.muster.model.node.NodeMessages.Register;
import dev.muster.model.node.NodeMessages.Relay;
import dev.muster.model.node.NodeMessages.SetDebug;
import dev.muster.model.node.NodeMessages.SetTimeLimit;
import dev.muster.model.node.NodeMessages.Signal;
import dev.muster.model.node.NodeMessages.StaleRelay;
import dev.muster.model.node.NodeMessages.StopDaemon;
import dev.muster.model.node.NodeMessages.Suspend;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.NodeMessages.Welcome;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.cgroup.MemoryWatch;
import dev.muster.node.cgroup.Namespaces;
import dev.muster.node.config.CgroupSettings;
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
import dev.muster.node.meter.GpuUse;
import dev.muster.node.meter.Hdf5Sink;
import dev.muster.node.meter.InfluxSink;
import dev.muster.node.meter.MeterPrograms;
import dev.muster.node.meter.PowerMeter;
import dev.muster.node.meter.ProfileSink;
import dev.muster.node.meter.Profiles;
import dev.muster.node.meter.Sensors;
import dev.muster.node.meter.StepUsageFiles;
import dev.muster.node.meter.TaskSamples;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.node.os.UserFiles;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.SpoolLock;
import dev.muster.node.step.RunningSteps;
import dev.muster.node.step.SpecBuilder;
import dev.muster.node.step.StepStarter;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import dev.muster.transport.tls.TlsIdentity;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One node of a running slurmd: the parts put together. */
public final class Slurmd implements AutoCloseable {
    private static final int PORT_WAIT_MS = 3_000;
    private static final int PORT_PAUSE_MS = 100;
    private static final int PEER_MS = 5_000;

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final JobSpool spool;
    private final Hooks hooks;
    private final Sensors sensors;
    private final X11Tunnels windows;
    private final Jobs jobs;
    private final MpiLinks mpi;
    private final LaunchRelay launches;
    private final UnacknowledgedReports reports;
    private final StepManager manager;
    private final HardwareProbe probe;
    private final ControllerLink link;
    private final Server server;
    private final UserFiles files;
    private final SlurmdApi queries;
    private volatile long lastMessage;
    private final FileLock lock;
    private final String bootId = Os.bootId();
    private final long startTime = System.currentTimeMillis() / 1000;
    private final Owner owner;
    private final boolean reportReboot;
    private final StepUsageFiles uses;
    private final FeatureHelpers helpers;
    /** The active ones among the features of its helpers. */
    private volatile List<String> activeFeatures;
    /** When they were changed without a reboot, seconds since 1970. */
    private volatile long featuresTime;

    /** Has this node drained, for {@link UnexpectedErrors}. */
    private final Consumer<String> faults = this::drain;

    private void drain(String reason) {
        loop.post(() -> reports.add(seq -> new NodeTrouble(seq, reason), () -> {}));
    }

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
        this.owner = owner;
        this.reportReboot = reportReboot;
        probe = new HardwareProbe(Path.of("/"), settings.tmpFs());
        if (settings.around().pam()) {
            requirePam(settings.stepd());
        }
        loop = machine.loop(log);
        spool = new JobSpool(settings.spoolDirectory());
        try {
            spool.open();
            lock = SpoolLock.take(settings.spoolDirectory(), machine.nodes == 1, log);
            reports = new UnacknowledgedReports(settings.spoolDirectory());
        } catch (IOException e) {
            throw unusableSpool(e);
        }
        Cgroups cgroups = Cgroups.detect(
                settings.nodeName(), settings.spoolDirectory(), settings.confinement(), probe.memoryMb(), log);
        hooks = new Hooks(settings, log, machine.hooks);
        helpers = new FeatureHelpers(settings.around().helpers(), settings.nodeName(), hooks.basic(), log);
        activeFeatures = helpers.active();
        Settings.Sensing sensing = settings.around().sensing();
        MeterPrograms programs = new MeterPrograms(System.getenv(), log);
        sensors = new Sensors(
                Path.of("/"),
                sensing,
                settings.spoolDirectory(),
                bootId,
                System::nanoTime,
                new PowerMeter(Path.of("/"), sensing.energy(), programs),
                log);
        Namespaces namespaces = new Namespaces(settings, log);
        files = new UserFiles(namespaces::kept);
        windows = new X11Tunnels(settings, log, spool, namespaces);
        Profiles profiles = profiles();
        StepStarter starter = new StepStarter(
                settings,
                log,
                spool,
                cgroups,
                new SpecBuilder(settings, probe.topology()),
                namespaces,
                windows,
                hooks,
                sensors,
                profiles,
                machine.stepds);
        mpi = new MpiLinks(settings, log, loop, spool, node -> dial(neighbours, sessions, node, MpiLinks.STREAM));
        jobs = new Jobs(settings, log, loop, spool, reports, hooks, cgroups, starter, mpi, machine.starters, bootId);
        watchMemory(cgroups);
        sampleNow();
        uses = new StepUsageFiles(settings.spoolDirectory().resolve(StepUsageFiles.DIRECTORY), log);
        sampleTasks(programs);
        manager = new StepManager(
                settings,
                log,
                loop,
                jobs,
                reports,
                spool,
                (node, message, body) -> ask(neighbours, sessions, node, message, body),
                bootId,
                () -> isConnected());
        adopt(machine.starters.awaitNone(0) == 0);
        loop.post(profiles::start);
        IoRelay relay =
                new IoRelay(settings, log, loop, this::step, spool, node -> dial(neighbours, sessions, node, "io"));
        launches = new LaunchRelay(
                settings, log, loop, jobs::launch, node -> dial(neighbours, sessions, node, LaunchRelay.STREAM));
        queries = new SlurmdApi(
                settings,
                log,
                loop,
                jobs,
                sensors,
                this::hardware,
                () -> lastMessage,
                startTime,
                new NoAllocateSteps(settings, loop, jobs, bootId),
                manager,
                m -> follow(m.address(), m.term()));
        server = open(sessions, relay);
        UnexpectedErrors.add(faults);
        link = new ControllerLink(
                settings,
                log,
                loop,
                reports,
                (host, port) ->
                        sessions.client(host, port).to(Audience.SLURMCTLD).connectWithin(settings.connectMs()),
                this::register,
                this::heartbeat,
                this::obey);
    }

    /** Ends steps over their memory limit, where slurm.conf asks for it or no cgroup limits them. */
    private void watchMemory(Cgroups cgroups) {
        if (settings.pollMemory() || (settings.confinement().memory() && !cgroups.limitsMemory())) {
            new MemoryWatch(
                            loop,
                            settings.pollSeconds(),
                            () -> RunningSteps.withMemoryLimit(jobs.known(), spool),
                            jobs::memoryExceeded)
                    .start();
        }
    }

    private void sampleTasks(MeterPrograms programs) {
        Settings.Sensing sensing = settings.around().sensing();
        new TaskSamples(
                        loop,
                        sensing,
                        settings.confinement().tracking() == CgroupSettings.Tracking.GROUP,
                        jobs::running,
                        () -> sensing.tasks().gpus() && programs.has("nvidia-smi")
                                ? programs.run(GpuUse.COMMAND).map(GpuUse::parse)
                                : Optional.empty(),
                        uses::saw,
                        log)
                .start();
    }

    private Optional<IoRelay.Found> step(IoAttach attach) {
        return jobs.forRelay(attach.jobId(), attach.attempt())
                .flatMap(j -> Optional.ofNullable(j.steps.get(attach.stepId()))
                        .or(() -> Optional.ofNullable(j.notStarted.get(attach.stepId())))
                        .map(s -> new IoRelay.Found(s, j.share.owner().uid())));
    }

    private Frames dial(Neighbours neighbours, Sessions sessions, String node, String stream) throws IOException {
        Settings.Address address =
                neighbours.find(node).orElseThrow(() -> new IOException(node + " is not in " + settings.configFile()));
        try (Client client = sessions.client(address.host(), address.port())
                .to(Audience.SLURMD)
                .connectWithin(settings.connectMs())) {
            return client.stream(Server.streamPath(stream), "muster-" + stream);
        }
    }

    private static byte[] ask(Neighbours neighbours, Sessions sessions, String node, String message, byte[] body)
            throws IOException {
        Settings.Address address = neighbours.find(node).orElseThrow(() -> new IOException("not in slurm.conf"));
        try (Client client = sessions.client(address.host(), address.port()).to(Audience.SLURMD)) {
            Client.Response answer = client.post("/muster/v1/" + message, body, PEER_MS);
            if (answer.status() != 200) {
                throw new IOException(Json.object(answer.body()).text("error"));
            }
            return answer.body();
        } catch (Json.MalformedException e) {
            throw new IOException(e.getMessage());
        }
    }

    /** Null while the parts are still put together. */
    private boolean isConnected() {
        return link != null && link.isConnected();
    }

    private void follow(String address, long term) {
        if (link != null) {
            link.follow(address, term);
        }
    }

    private CannotStartException unusableSpool(IOException e) {
        return new CannotStartException("SlurmdSpoolDir " + settings.spoolDirectory() + ": " + ErrorSentence.reason(e));
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

    private Profiles profiles() {
        Settings.Sensing how = settings.around().sensing();
        ProfileSink sink = switch (how.profiling().conf().kind()) {
            case "influxdb" -> new InfluxSink(how.profiling().conf(), settings.cluster(), settings.nodeName(), log);
            case "hdf5" ->
                new Hdf5Sink(
                        Path.of(how.profiling().conf().directory()),
                        settings.spoolDirectory(),
                        settings.nodeName(),
                        log);
            default -> ProfileSink.NONE;
        };
        return new Profiles(
                loop,
                how,
                settings.confinement().tracking() == CgroupSettings.Tracking.GROUP,
                () -> jobs.running(),
                () -> Profiles.meters(
                        Path.of("/"),
                        sensors,
                        how.profiling().interfaces(),
                        how.profiling().lustre()),
                sink,
                log);
    }

    private void sampleNow() {
        if (sensors.sampleSeconds() > 0) {
            EventLoop.aside(() -> {
                try {
                    sensors.sample();
                } catch (RuntimeException e) {
                    log.error("acct_gather: " + UnexpectedErrors.described(e));
                }
                loop.later(sensors.sampleSeconds() * 1000L, this::sampleNow);
            });
        }
    }

    private void adopt(boolean isAlone) {
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

    /** The port of an earlier self that just read its configuration may still be closing. */
    SlurmdApi queries() {
        return queries;
    }

    private Server open(Sessions sessions, IoRelay relay) throws CannotStartException {
        Optional<TlsIdentity> identity;
        try {
            if (settings.around().certmgr().on()) {
                NodeCertificate own = new NodeCertificate(settings, sessions, log);
                identity = Optional.of(sessions.telling(own.open()));
                own.keep(loop);
            } else {
                identity = sessions.identity(TlsRole.SLURMD, log::error);
            }
        } catch (IOException e) {
            throw new CannotStartException(ErrorSentence.of(e));
        }
        long endNs = System.nanoTime() + PORT_WAIT_MS * 1_000_000L;
        while (true) {
            try {
                return Server.start(
                        settings.listenAt(),
                        settings.port(),
                        identity,
                        sessions.verifier().as(Audience.SLURMD),
                        (caller, message, body) -> queries.answer(caller, message, body),
                        Map.of(
                                "io",
                                relay::handle,
                                "x11",
                                windows::handle,
                                LaunchRelay.STREAM,
                                launches::handle,
                                MpiLinks.STREAM,
                                (caller, frames) -> mpi.handle(caller, frames, this::step)),
                        this::page,
                        log::error);
            } catch (RuntimeException e) {
                if (System.nanoTime() > endNs) {
                    throw new CannotStartException(
                            "Unable to bind listen port (" + settings.port() + "): " + rootCause(e));
                }
            }
            try {
                Thread.sleep(PORT_PAUSE_MS);
            } catch (InterruptedException e) {
                throw new CannotStartException("interrupted");
            }
        }
    }

    private static String rootCause(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return ErrorSentence.of(cause);
    }

    private Optional<Server.Page> page(String path) {
        return settings.around().pages()
                        && List.of("/livez", "/readyz", "/healthz").contains(path)
                ? Optional.of(new Server.Page(200, "text/plain", "ok\n".getBytes(StandardCharsets.UTF_8)))
                : Optional.empty();
    }

    public void start() {
        Hardware h = hardware();
        log.info("slurmd version " + Release.VERSION + " started");
        log.info("CPUs=" + h.cpus() + " Boards=" + h.boards() + " Sockets=" + h.sockets() + " Cores="
                + h.coresPerSocket()
                + " Threads=" + h.threadsPerCore() + " Memory=" + h.memoryMb() + " TmpDisk=" + h.tmpDiskMb()
                + " Uptime="
                + probe.uptimeSeconds() + " CPUSpecList=(null) FeaturesAvail=" + shown(helpers.available())
                + " FeaturesActive=" + shown(activeFeatures));
        boolean fresh = Os.isFirstOf(bootId, settings.spoolDirectory().resolve("boot"));
        if (fresh || !settings.around().healthAtBoot()) {
            hooks.health();
        }
        if (!settings.around().gresError().isEmpty()) {
            log.error(settings.around().gresError());
            drain(settings.around().gresError());
        }
        link.start();
    }

    private static String shown(List<String> features) {
        return features.isEmpty() ? "(null)" : String.join(",", features);
    }

    private Hardware hardware() {
        Hardware real = probe.read(settings.gres());
        long bootTime = reportReboot ? startTime : real.bootTime();
        return settings.registered()
                .map(s -> new Hardware(
                        s.cpus(),
                        s.boards(),
                        s.sockets(),
                        s.coresPerSocket(),
                        s.threadsPerCore(),
                        s.memoryMb(),
                        Math.max(s.tmpDiskMb(), 0),
                        real.gres(),
                        real.architecture(),
                        real.operatingSystem(),
                        bootTime))
                .orElse(new Hardware(
                        real.cpus(),
                        real.boards(),
                        real.sockets(),
                        real.coresPerSocket(),
                        real.threadsPerCore(),
                        real.memoryMb(),
                        real.tmpDiskMb(),
                        real.gres(),
                        real.architecture(),
                        real.operatingSystem(),
                        bootTime));
    }

    /**
     * What the node is to have afterwards is set first; without it there is no use in the reboot, and slurmctld gives
     * the node up in time. Where what changes needs none, the node only says what it has now.
     */
    private void reboot(dev.muster.model.node.NodeMessages.Reboot r) {
        List<String> features = r.features();
        if (!r.action().isEmpty()) {
            hooks.powerAction(r.action());
            return;
        }
        if (!helpers.set(features)) {
            return;
        }
        if (features.isEmpty() || helpers.needReboot(features, activeFeatures)) {
            hooks.reboot();
        } else {
            activeFeatures = helpers.active();
            featuresTime = System.currentTimeMillis() / 1000;
            log.info("FeaturesActive=" + shown(activeFeatures) + " without a reboot");
            link.again();
        }
    }

    private Register register() {
        return new Register(
                settings.nodeName(),
                settings.cluster(),
                bootId,
                Release.VERSION,
                startTime,
                hardware(),
                jobs.attempts(),
                settings.dynamic(),
                settings.extra(),
                helpers.available(),
                activeFeatures,
                featuresTime,
                settings.around().instanceId(),
                settings.around().instanceType(),
                spool.highestJobId());
    }

    private Heartbeat heartbeat() {
        return sensors.power()
                .map(p -> new Heartbeat(probe.load(), probe.freeMemoryMb(), true, p.now(), p.average()))
                .orElseGet(() -> new Heartbeat(probe.load(), probe.freeMemoryMb()));
    }

    private void debug(String word) {
        int level = dev.muster.model.format.LogLevels.of(word);
        if (level >= 0) {
            log.level(level);
            log.info("Set debug level to '" + word + "'");
        }
    }

    /**
     * An order about a job that cannot be carried out for an exception is answered, so that slurmctld does not wait for
     * it.
     */
    private void obey(ToNode order) {
        lastMessage = System.currentTimeMillis() / 1000;
        try {
            carryOut(order);
        } catch (RuntimeException e) {
            UnexpectedErrors.report(e);
            jobs.failed(order, "slurmd internal error: " + e);
        }
    }

    private void carryOut(ToNode order) {
        switch (order) {
            case Launch l -> jobs.launch(l);
            case Prepare p -> jobs.prepare(p);
            case Signal s -> jobs.signal(s);
            case EndStep e -> jobs.endStep(e);
            case EndJob e -> jobs.endJob(e);
            case Suspend s -> jobs.suspend(s);
            case SetTimeLimit s -> jobs.setTimeLimit(s);
            case dev.muster.model.node.NodeMessages.SetMemory s -> jobs.setMemory(s);
            case dev.muster.model.node.NodeMessages.MeasureMemory m -> measure(m);
            case dev.muster.model.node.NodeMessages.Notify n -> jobs.notify(n);
            case dev.muster.model.node.NodeMessages.Charter c -> manager.told(c);
            case ReadConfig r -> EventLoop.aside(owner::readConfig);
            case SetDebug s -> debug(s.level());
            case StopDaemon s -> EventLoop.aside(owner::stop);
            case Ack a -> reports.acknowledge(a.seq());
            case Welcome w -> launches.stale(w.staleRelay());
            case StaleRelay s -> launches.stale(s.id());
            case Relay r -> launches.order(r, link::tell);
            case Refused r -> {}
            case CheckHealth c -> EventLoop.aside(hooks::health);
            case dev.muster.model.node.NodeMessages.ReadFile r -> EventLoop.aside(() -> link.tell(files.read(r)));
            case dev.muster.model.node.NodeMessages.ReadUse r -> EventLoop.aside(() -> link.tell(uses.read(r)));
            case dev.muster.model.node.NodeMessages.Reboot r -> EventLoop.aside(() -> reboot(r));
        }
    }

    private void measure(dev.muster.model.node.NodeMessages.MeasureMemory m) {
        java.util.List<Long> stepds = jobs.running().stream()
                .filter(s -> s.jobId() == m.jobId())
                .map(ProcessTable.Running::stepd)
                .toList();
        EventLoop.aside(() -> {
            long kb = MemoryWatch.residentKb(stepds);
            loop.post(() -> link.tell(new dev.muster.model.node.NodeMessages.MemoryUsed(m.jobId(), m.attempt(), kb)));
        });
    }

    public int port() {
        return server.port();
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
