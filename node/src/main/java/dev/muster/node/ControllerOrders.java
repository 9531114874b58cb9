package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.LogLevels;
import dev.muster.model.node.NodeMessages.Ack;
import dev.muster.model.node.NodeMessages.Charter;
import dev.muster.model.node.NodeMessages.CheckHealth;
import dev.muster.model.node.NodeMessages.EndJob;
import dev.muster.model.node.NodeMessages.EndStep;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.MeasureMemory;
import dev.muster.model.node.NodeMessages.MemoryUsed;
import dev.muster.model.node.NodeMessages.Notify;
import dev.muster.model.node.NodeMessages.Prepare;
import dev.muster.model.node.NodeMessages.ReadConfig;
import dev.muster.model.node.NodeMessages.ReadFile;
import dev.muster.model.node.NodeMessages.ReadUse;
import dev.muster.model.node.NodeMessages.Reboot;
import dev.muster.model.node.NodeMessages.Refused;
import dev.muster.model.node.NodeMessages.Relay;
import dev.muster.model.node.NodeMessages.SetDebug;
import dev.muster.model.node.NodeMessages.SetMemory;
import dev.muster.model.node.NodeMessages.SetTimeLimit;
import dev.muster.model.node.NodeMessages.Signal;
import dev.muster.model.node.NodeMessages.StaleRelay;
import dev.muster.model.node.NodeMessages.StopDaemon;
import dev.muster.model.node.NodeMessages.Suspend;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.NodeMessages.Welcome;
import dev.muster.node.cgroup.MemoryWatch;
import dev.muster.node.io.LaunchRelay;
import dev.muster.node.job.Hooks;
import dev.muster.node.job.Jobs;
import dev.muster.node.job.StepManager;
import dev.muster.node.job.UnacknowledgedReports;
import dev.muster.node.meter.StepUsageFiles;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.node.os.UserFiles;
import java.util.List;

/** Carries out the orders of slurmctld, on the node's thread; those that take long, on threads of their own. */
final class ControllerOrders {
    private final DaemonLog log;
    private final EventLoop loop;
    private final Slurmd.Owner owner;
    private final ControllerLink link;
    private final NodeRegistration registration;
    private final Hooks hooks;
    private final UnacknowledgedReports reports;
    private final Jobs jobs;
    private final StepManager manager;
    private final LaunchRelay launches;
    private final UserFiles files;
    private final StepUsageFiles usage;
    private volatile long lastTime;

    ControllerOrders(
            DaemonLog log,
            EventLoop loop,
            Slurmd.Owner owner,
            ControllerLink link,
            NodeRegistration registration,
            Hooks hooks,
            UnacknowledgedReports reports,
            Jobs jobs,
            StepManager manager,
            LaunchRelay launches,
            UserFiles files,
            StepUsageFiles usage) {
        this.log = log;
        this.loop = loop;
        this.owner = owner;
        this.link = link;
        this.registration = registration;
        this.hooks = hooks;
        this.reports = reports;
        this.jobs = jobs;
        this.manager = manager;
        this.launches = launches;
        this.files = files;
        this.usage = usage;
    }

    /** Returns the time of the last order, in seconds since 1970; 0 before the first. */
    long lastTime() {
        return lastTime;
    }

    /**
     * An order about a job that cannot be carried out for an exception is answered, so that slurmctld does not wait for
     * it.
     */
    void obey(ToNode order) {
        lastTime = System.currentTimeMillis() / 1000;
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
            case SetMemory s -> jobs.setMemory(s);
            case MeasureMemory m -> measure(m);
            case Notify n -> jobs.notify(n);
            case Charter c -> manager.told(c);
            case ReadConfig r -> EventLoop.aside(owner::readConfig);
            case SetDebug s -> debug(s.level());
            case StopDaemon s -> EventLoop.aside(owner::stop);
            case Ack a -> reports.acknowledge(a.seq());
            case Welcome w -> launches.stale(w.staleRelay());
            case StaleRelay s -> launches.stale(s.id());
            case Relay r -> launches.order(r, link::tell);
            case Refused r -> {}
            case CheckHealth c -> EventLoop.aside(hooks::health);
            case ReadFile r -> EventLoop.aside(() -> link.tell(files.read(r)));
            case ReadUse r -> EventLoop.aside(() -> link.tell(usage.read(r)));
            case Reboot r -> EventLoop.aside(() -> reboot(r));
        }
    }

    private void measure(MeasureMemory m) {
        List<Long> stepds = jobs.running().stream()
                .filter(s -> s.jobId() == m.jobId())
                .map(ProcessTable.Running::stepd)
                .toList();
        EventLoop.aside(() -> {
            long kb = MemoryWatch.residentKb(stepds);
            loop.post(() -> link.tell(new MemoryUsed(m.jobId(), m.attempt(), kb)));
        });
    }

    private void debug(String word) {
        int level = LogLevels.of(word);
        if (level >= 0) {
            log.level(level);
            log.info("Set debug level to '" + word + "'");
        }
    }

    /**
     * Sets the features that the node is to have afterwards first; without them the reboot is of no use, and slurmctld
     * gives the node up in time. Where the features need no reboot, the node only registers them.
     */
    private void reboot(Reboot r) {
        if (!r.action().isEmpty()) {
            hooks.powerAction(r.action());
            return;
        }
        switch (registration.change(r.features())) {
            case FAILED -> {}
            case NEEDS_REBOOT -> hooks.reboot();
            case DONE -> link.again();
        }
    }
}
