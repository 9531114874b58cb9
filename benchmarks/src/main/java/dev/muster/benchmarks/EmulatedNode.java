package dev.muster.benchmarks;

import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.model.Release;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.model.node.NodeMessages.Heartbeat;
import dev.muster.model.node.NodeMessages.Register;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.node.ControllerLink;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.config.Settings;
import dev.muster.node.io.LaunchRelay;
import dev.muster.node.io.MpiLinks;
import dev.muster.node.job.Hooks;
import dev.muster.node.job.Jobs;
import dev.muster.node.job.PrologEpilogRuns;
import dev.muster.node.job.UnacknowledgedReports;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import java.io.IOException;

/**
 * slurmd's own parts put together as {@link Slurmd} does, without what touches the machine: no directory, no processes,
 * no port of its own.
 */
final class EmulatedNode implements AutoCloseable {
    private final Settings settings;
    private final EmulatedNodes all;
    private final EventLoop loop;
    private final UnacknowledgedReports reports = new UnacknowledgedReports(1) {
        @Override
        public void acknowledge(long seq) {
            int before = jobs.known().size();
            super.acknowledge(seq);
            all.freed(before - jobs.known().size());
        }
    };
    private final Jobs jobs;
    private final LaunchRelay launches;
    private final ControllerLink link;
    private final String bootId = Os.bootId();
    private final long startTime = System.currentTimeMillis() / 1000;

    EmulatedNode(Settings settings, EmulatedNodes all, DaemonLog log, Sessions sessions, EventLoop.Threads threads) {
        this.settings = settings;
        this.all = all;
        loop = new EventLoop(log, threads);
        JobSpool spool = new EmulatedSpool(settings.spoolDirectory());
        Cgroups cgroups =
                Cgroups.detect(settings.nodeName(), settings.spoolDirectory(), settings.confinement(), 0, log);
        MpiLinks mpi = new MpiLinks(settings, log, loop, spool, node -> {
            throw new IOException("emulated nodes have no helpers");
        });
        jobs = new Jobs(
                settings,
                log,
                loop,
                spool,
                reports,
                new Hooks(settings, log, new PrologEpilogRuns()),
                cgroups,
                new EmulatedSteps(all, spool),
                mpi,
                Runnable::run,
                bootId);
        launches = new LaunchRelay(settings, log, loop, jobs::launch, node -> dial(sessions, node));
        link = new ControllerLink(
                settings,
                log,
                loop,
                reports,
                (host, port) -> sessions.client(host, port)
                        .to(dev.muster.transport.Audience.SLURMCTLD)
                        .connectWithin(settings.connectMs()),
                this::register,
                () -> new Heartbeat(0, settings.registered().orElseThrow().memoryMb()));
    }

    void start() {
        link.start(this::obey);
    }

    boolean isConnected() {
        return link.isConnected();
    }

    /** A launch that comes through another node. */
    void relayed(NodeMessages.Relay relay, Frames frames) throws IOException {
        launches.handle(relay, frames);
    }

    private Frames dial(Sessions sessions, String node) throws IOException {
        Settings.Address at = all.address(node);
        try (Client client = sessions.client(at.host(), at.port())
                .to(dev.muster.transport.Audience.SLURMD)
                .connectWithin(settings.connectMs())) {
            return client.stream(Server.streamPath(LaunchRelay.STREAM), "muster-" + LaunchRelay.STREAM);
        }
    }

    private Register register() {
        Settings.Shape s = settings.registered().orElseThrow();
        return new Register(
                settings.nodeName(),
                settings.cluster(),
                bootId,
                Release.VERSION,
                startTime,
                new Hardware(
                        s.cpus(),
                        s.boards(),
                        s.sockets(),
                        s.coresPerSocket(),
                        s.threadsPerCore(),
                        s.memoryMb(),
                        Math.max(0, s.tmpDiskMb()),
                        settings.gres(),
                        "emulated",
                        "none",
                        startTime),
                jobs.attempts(),
                "",
                "");
    }

    private void obey(ToNode order) {
        switch (order) {
            case NodeMessages.Launch l -> jobs.launch(l);
            case NodeMessages.Prepare p -> {
                jobs.prepare(p);
                all.launched(p.share().jobId(), EmulatedNodes.PREPARED);
            }
            case NodeMessages.Signal s -> jobs.signal(s);
            case NodeMessages.EndStep e -> jobs.endStep(e);
            case NodeMessages.EndJob e -> jobs.endJob(e);
            case NodeMessages.Suspend s -> jobs.suspend(s);
            case NodeMessages.SetTimeLimit s -> jobs.setTimeLimit(s);
            case NodeMessages.SetMemory s -> jobs.setMemory(s);
            case NodeMessages.Notify n -> jobs.notify(n);
            case NodeMessages.Ack a -> reports.acknowledge(a.seq());
            case NodeMessages.Welcome w -> launches.stale(w.staleRelay());
            case NodeMessages.StaleRelay s -> launches.stale(s.id());
            case NodeMessages.Relay r -> launches.order(r, link::tell);
            // there is nothing that they could be done to
            case NodeMessages.MeasureMemory _,
                    NodeMessages.Charter _,
                    NodeMessages.ReadConfig _,
                    NodeMessages.SetDebug _,
                    NodeMessages.StopDaemon _,
                    NodeMessages.Refused _,
                    NodeMessages.CheckHealth _,
                    NodeMessages.ReadFile _,
                    NodeMessages.ReadUse _,
                    NodeMessages.Reboot _ -> {}
        }
    }

    @Override
    public void close() {
        link.close();
        loop.close();
    }
}
