package dev.muster.node.step;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.CpuFreq;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Usage;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.cgroup.Containers;
import dev.muster.node.cgroup.Namespaces;
import dev.muster.node.config.Settings;
import dev.muster.node.hardware.CpuFrequency;
import dev.muster.node.hardware.ZoneSort;
import dev.muster.node.io.MpiLinks;
import dev.muster.node.io.X11Tunnels;
import dev.muster.node.job.Hooks;
import dev.muster.node.meter.Profiles;
import dev.muster.node.meter.Sensors;
import dev.muster.node.meter.TaskSamples;
import dev.muster.node.os.CpuClock;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.os.UserEnvironment;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Puts a step's files in place and starts its stepd. Blocks: runs on the starters' threads. */
public final class StepStarter implements Launcher {
    private final Settings settings;
    private final DaemonLog log;
    private final JobSpool spool;
    private final Cgroups cgroups;
    private final SpecBuilder specs;
    private final Namespaces namespaces;
    private volatile boolean channelsMissed;
    private final X11Tunnels windows;
    private final Containers containers;
    private final Hooks hooks;
    private final CpuFrequency frequencies;
    private final ZoneSort memory;
    private final Sensors sensors;
    private final Profiles profiles;
    private final StepdServer stepds;
    private final CpuClock clock = CpuClock.here();

    public StepStarter(
            Settings settings,
            DaemonLog log,
            JobSpool spool,
            Cgroups cgroups,
            SpecBuilder specs,
            Namespaces namespaces,
            X11Tunnels windows,
            Hooks hooks,
            Sensors sensors,
            Profiles profiles,
            StepdServer stepds) {
        this.settings = settings;
        this.log = log;
        this.spool = spool;
        this.cgroups = cgroups;
        this.specs = specs;
        this.namespaces = namespaces;
        this.windows = windows;
        this.containers = new Containers(settings, log);
        this.hooks = hooks;
        this.sensors = sensors;
        this.profiles = profiles;
        this.frequencies = new CpuFrequency(Path.of("/"), log);
        this.memory = new ZoneSort(Path.of("/"), settings.around().sortMemory(), log);
        this.stepds = stepds;
    }

    @Override
    public Begun start(Launch launch) throws FailedException {
        JobShare share = launch.share();
        int stepId = launch.stepId();
        try {
            Path script = spool.jobDirectory(share.jobId(), share.attempt()).resolve("slurm_script");
            if (stepId == dev.muster.model.node.NodeMessages.STEP_BATCH) {
                writeScript(script, launch.script(), share);
            }
            Launch whole = !launch.userEnvironment()
                    ? launch
                    : launch.withEnvironment(
                            UserEnvironment.before(launch, settings.around().needsLogin(), log));
            String cpus = whole.tasks().stream()
                    .map(dev.muster.model.node.NodeMessages.Task::cpus)
                    .filter(c -> !c.isEmpty())
                    .collect(java.util.stream.Collectors.joining(","));
            memory.before(launch.step().memBind(), specs.numaNodes());
            frequency(launch, cpus.isEmpty() ? share.cpus() : cpus);
            Cgroups.Share step = specs.confined(whole.memoryMb(), cpus.isEmpty() ? share.cpus() : cpus, whole.gres());
            return spawn(share, stepId, step, script, (place, directory) -> built(whole, place, directory));
        } catch (IOException e) {
            throw FailedException.ofSystem(ErrorSentence.reason(e));
        }
    }

    /** Tasks in a container are the runtime's. */
    private byte[] built(Launch launch, SpecBuilder.Place place, Path directory)
            throws SpecBuilder.RefusedException, FailedException, IOException {
        profiles.begin(directory, launch);
        if (!launch.mpi().isEmpty()) {
            return specs.build(launch, place.with(mpi(launch, directory)));
        }
        if (!containers.runs(launch)) {
            return specs.build(launch, place);
        }
        Launch inside = containers.prepare(
                launch,
                directory,
                place.script(),
                place.namespace(),
                task -> specs.environment(launch, task, place.ownDevices(), place.environment()));
        return specs.build(inside, place.inContainer());
    }

    /** Prepares PMI; the record for a restarted slurmd is written first. */
    private MpiSpec.Place mpi(Launch launch, Path directory) throws FailedException, IOException {
        if (containers.runs(launch)) {
            throw FailedException.ofUser("--mpi=" + launch.step().mpi() + " is not supported in containers");
        }
        MpiLinks.remember(launch, directory);
        String socket = launch.mpi().size() > 1 ? spool.mpiSocket(directory).toString() : "";
        return new MpiSpec.Place(
                socket, directory.resolveSibling("pmix." + launch.stepId()).toString());
    }

    @Override
    public boolean hasContainer(Path stepDirectory) {
        return containers.has(stepDirectory);
    }

    @Override
    public void stopContainers(Path stepDirectory) {
        containers.stop(stepDirectory, pids(stepDirectory));
    }

    @Override
    public void removeContainers(Path stepDirectory) {
        containers.remove(stepDirectory, pids(stepDirectory));
    }

    private Map<Integer, Long> pids(Path stepDirectory) {
        Map<Integer, Long> out = new HashMap<>();
        spool.status(stepDirectory).ifPresent(s -> s.tasks().forEach(t -> out.put(t.rank(), (long) t.pid())));
        return out;
    }

    /** --cpu-freq comes with the step's environment; without it CpuFreqDef counts. */
    private void frequency(Launch launch, String cpus) {
        frequency(launch.environment(), settings.around().cpuFreqDef())
                .ifPresent(f -> frequencies.set(
                        launch.share().jobId() + "." + StepId.name(launch.stepId()), f, specs.machineCpus(cpus)));
    }

    /** @param byDefault CpuFreqDef, "" for none */
    public static Optional<CpuFreq> frequency(List<Bytes> environment, String byDefault) {
        return CpuFreq.parse(SpecBuilder.variable(environment, "SLURM_CPU_FREQ_REQ", byDefault));
    }

    @Override
    public void stepEnded(int jobId, int stepId) {
        frequencies.reset(jobId + "." + StepId.name(stepId));
    }

    @Override
    public Usage used(Path stepDirectory, Optional<StatusFile> last) {
        Usage usage = TaskSamples.ended(stepDirectory, last, clock);
        profiles.end(stepDirectory);
        return sensors.end(stepDirectory, usage);
    }

    @Override
    public StepWatch watch(Path stepDirectory, EventLoop loop, StepWatch.Listener listener) {
        return new StepWatch(stepDirectory, spool, loop, listener);
    }

    @Override
    public Begun startExternal(JobShare share) throws FailedException {
        try {
            Path none = spool.jobDirectory(share.jobId(), share.attempt());
            return spawn(
                    share,
                    dev.muster.model.node.NodeMessages.STEP_EXTERN,
                    specs.confined(0, share.cpus(), share.gres()),
                    none,
                    (place, directory) -> specs.external(share, place));
        } catch (IOException e) {
            throw FailedException.ofSystem(ErrorSentence.reason(e));
        }
    }

    @Override
    public boolean cleansUp(JobShare share) {
        return namespaces.isUsed() || !share.x11Cookie().isEmpty();
    }

    @Override
    public void cleanUp(JobShare share) {
        windows.close(share);
        namespaces.remove(share.jobId());
    }

    @Override
    public void reopen(JobShare share) {
        try {
            windows.of(share);
        } catch (IOException e) {
            log.error("job " + share.jobId() + ": " + ErrorSentence.reason(e));
        }
    }

    @Override
    public List<Path> externalGroups(JobShare share) {
        return cgroups.forStep(
                        share.jobId(),
                        share.attempt(),
                        dev.muster.model.node.NodeMessages.STEP_EXTERN,
                        specs.confined(share.memoryMb(), share.cpus(), share.gres()),
                        specs.confined(0, share.cpus(), share.gres()))
                .join();
    }

    private interface SpecSource {
        byte[] at(SpecBuilder.Place place, Path directory)
                throws SpecBuilder.RefusedException, FailedException, IOException;
    }

    private Begun spawn(JobShare share, int stepId, Cgroups.Share step, Path script, SpecSource source)
            throws IOException, FailedException {
        Path directory = spool.makeStepDirectory(share.jobId(), share.attempt(), stepId);
        Cgroups.Groups groups = cgroups.forStep(
                share.jobId(),
                share.attempt(),
                stepId,
                specs.confined(share.memoryMb(), share.cpus(), share.gres()),
                step);
        String namespace =
                namespaces.of(share, hooks.basic()).map(Path::toString).orElse("");
        List<String> display =
                windows.of(share).map(X11Tunnels.Display::environment).orElse(List.of());
        byte[] spec;
        try {
            spec = source.at(
                    new SpecBuilder.Place(
                                    script,
                                    spool.socket(directory),
                                    groups.join(),
                                    groups.kill(),
                                    groups.oomEvents(),
                                    cgroups.limitsDevices(),
                                    namespace,
                                    display,
                                    false)
                            .with(channel(share)),
                    directory);
        } catch (SpecBuilder.RefusedException e) {
            throw new FailedException(e);
        }
        sensors.begin(directory);
        StepdServer.Started started = started(directory, spec);
        String answer = started.answer();
        if (!answer.startsWith("ok ")) {
            throw FailedException.ofSystem(answer.isBlank() ? settings.stepd() + ": no answer" : answer.trim());
        }
        return new Begun(Long.parseLong(answer.substring(3).trim()), started.ended());
    }

    private String channel(JobShare share) {
        int major = settings.around().imexMajor();
        if (major == 0 && share.channel() > 0 && !channelsMissed) {
            channelsMissed = true;
            log.error("SwitchType=switch/nvidia_imex: no devices of IMEX channels are known here, and jobs have none");
        }
        return major > 0 && share.channel() > 0 ? major + ":" + (share.channel() - 1) : "";
    }

    /** Starts a slurmstepd by the server, or as a program of its own if the server is not available. */
    private StepdServer.Started started(Path directory, byte[] specification) throws IOException {
        try {
            return stepds.start(directory, specification);
        } catch (IOException e) {
            Path spec = directory.resolve("spec");
            Files.write(spec, specification);
            JobSpool.setMode(spec, "rw-------");
            String answer = Os.run(List.of(settings.stepd().toString(), spec.toString()))
                    .output();
            return new StepdServer.Started(answer, CompletableFuture.completedFuture(false));
        }
    }

    /** The script is the user's file in a directory that is not, written before anybody else can reach it. */
    private static void writeScript(Path script, Bytes content, JobShare share) throws IOException {
        Files.write(script, content.toArray());
        JobSpool.setMode(script, "rwx------");
        Os.own(script, share.owner().uid(), share.owner().gid());
    }
}
