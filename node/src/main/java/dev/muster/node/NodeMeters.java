package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.cgroup.MemoryWatch;
import dev.muster.node.config.CgroupSettings;
import dev.muster.node.config.Settings;
import dev.muster.node.job.Jobs;
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
import dev.muster.node.os.ProcessTable;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.step.RunningSteps;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Measures the node and the tasks of its steps: energy, temperature, profiles, usage and memory over its limit. */
final class NodeMeters {
    private final Settings settings;
    private final Settings.Sensing sensing;
    private final DaemonLog log;
    private final EventLoop loop;
    private final MeterPrograms programs;
    private final Sensors sensors;
    private final StepUsageFiles usage;

    NodeMeters(Settings settings, DaemonLog log, EventLoop loop, String bootId) {
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        sensing = settings.around().sensing();
        programs = new MeterPrograms(System.getenv(), log);
        sensors = new Sensors(
                Path.of("/"),
                sensing,
                settings.spoolDirectory(),
                bootId,
                System::nanoTime,
                new PowerMeter(Path.of("/"), sensing.energy(), programs),
                log);
        usage = new StepUsageFiles(settings.spoolDirectory().resolve(StepUsageFiles.DIRECTORY), log);
    }

    Sensors sensors() {
        return sensors;
    }

    StepUsageFiles usage() {
        return usage;
    }

    /** @param running steps of the node */
    Profiles profiles(Supplier<List<ProcessTable.Running>> running) {
        ProfileSink sink = switch (sensing.profiling().conf().kind()) {
            case "influxdb" -> new InfluxSink(sensing.profiling().conf(), settings.cluster(), settings.nodeName(), log);
            case "hdf5" ->
                new Hdf5Sink(
                        Path.of(sensing.profiling().conf().directory()),
                        settings.spoolDirectory(),
                        settings.nodeName(),
                        log);
            default -> ProfileSink.NONE;
        };
        return new Profiles(
                loop,
                sensing,
                byGroup(),
                running,
                () -> Profiles.meters(
                        Path.of("/"),
                        sensors,
                        sensing.profiling().interfaces(),
                        sensing.profiling().lustre()),
                sink,
                log);
    }

    private boolean byGroup() {
        return settings.confinement().tracking() == CgroupSettings.Tracking.GROUP;
    }

    /** Watches the memory of jobs, and samples the node and its tasks from now on. */
    void start(Jobs jobs, JobSpool spool, Cgroups cgroups) {
        watchMemory(jobs, spool, cgroups);
        sampleNow();
        new TaskSamples(
                        loop,
                        sensing,
                        byGroup(),
                        jobs::running,
                        () -> sensing.tasks().gpus() && programs.has("nvidia-smi")
                                ? programs.run(GpuUse.COMMAND).map(GpuUse::parse)
                                : Optional.empty(),
                        usage::saw,
                        log)
                .start();
    }

    /** Ends steps over their memory limit, where slurm.conf asks for it or no cgroup limits them. */
    private void watchMemory(Jobs jobs, JobSpool spool, Cgroups cgroups) {
        if (settings.pollMemory() || (settings.confinement().memory() && !cgroups.limitsMemory())) {
            new MemoryWatch(
                            loop,
                            settings.pollSeconds(),
                            () -> RunningSteps.withMemoryLimit(jobs.known(), spool),
                            jobs::memoryExceeded)
                    .start();
        }
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
}
