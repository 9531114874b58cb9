package dev.muster.node.meter;

import dev.muster.config.sister.ProfileConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.api.SlurmdMessages.TaskUsage;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.node.config.Settings;
import dev.muster.node.config.SettingsReader;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.os.ProcessTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Time series of steps (--profile, AcctGatherProfileType): looks at the step's tasks and at the node's meters from time
 * to time and hands on what has changed since the last look. What is to be looked at stands in the step's directory, so
 * that a slurmd that adopts a step goes on.
 */
public final class Profiles {
    private static final String FILE = "profile";
    private static final double MIB = 1 << 20;
    private static final double UJ_PER_J = 1e6;

    /**
     * What is to be looked at.
     *
     * @param taskS seconds between two samples, as energyS, networkS and filesS; 0 for none
     * @param tasks of the step on this node
     * @param nodeIndex of this node in the step, from 0
     * @param beganMs when the step started here
     */
    record Plan(
            int jobId,
            int stepId,
            String user,
            int uid,
            int gid,
            int tasks,
            int cpusPerTask,
            int nodeIndex,
            List<String> series,
            int taskS,
            int energyS,
            int networkS,
            int filesS,
            long beganMs) {
        int seconds(String name) {
            return !series.contains(name)
                    ? 0
                    : switch (name) {
                        case "task" -> taskS;
                        case "energy" -> energyS;
                        case "filesystem" -> filesS;
                        default -> networkS;
                    };
        }
    }

    /** The series that there are meters for. */
    private static final List<String> KINDS = List.of("task", "energy", "network", "filesystem");

    /**
     * A meter that only grows.
     *
     * @param inPackets and the others: since the interfaces came up; files: since they were mounted
     */
    public record Meters(long energyUj, long inPackets, long outPackets, long inBytes, long outBytes, Lustre files) {}

    private record LastSample(long cpuMs, long readBytes, long writeBytes, long ns) {}

    /** One step; guarded by itself. */
    private static final class SampledStep {
        private final Plan plan;
        private final Map<String, Long> nextMs = new TreeMap<>();
        private final Map<Integer, LastSample> tasks = new TreeMap<>();
        private @Nullable Meters energy;
        private long energyNs;
        private @Nullable Meters network;
        private @Nullable Lustre files;

        SampledStep(Plan plan) {
            this.plan = plan;
        }

        private boolean isDue(String series, long nowMs) {
            long next = nextMs.getOrDefault(series, 0L);
            // further away than one round: the clock was set back
            return plan.seconds(series) > 0 && (nowMs >= next || next - nowMs > plan.seconds(series) * 1000L);
        }

        private void advance(String series, long nowMs) {
            long each = plan.seconds(series) * 1000L;
            long last = nextMs.getOrDefault(series, 0L);
            // in step with the first look, however long one took
            nextMs.put(series, last == 0 || Math.abs(nowMs - last) >= each ? nowMs + each : last + each);
        }
    }

    private final EventLoop loop;
    private final Settings.Sensing how;
    private final boolean byGroup;
    private final Supplier<List<ProcessTable.Running>> running;
    private final Supplier<Meters> meters;
    private final ProfileSink sink;
    private final DaemonLog log;
    private final Map<Path, SampledStep> live = new ConcurrentHashMap<>();

    /**
     * @param running all steps; asked on the loop
     * @param meters of the node as of now
     */
    public Profiles(
            EventLoop loop,
            Settings.Sensing how,
            boolean byGroup,
            Supplier<List<ProcessTable.Running>> running,
            Supplier<Meters> meters,
            ProfileSink sink,
            DaemonLog log) {
        this.loop = loop;
        this.how = how;
        this.byGroup = byGroup;
        this.running = running;
        this.meters = meters;
        this.sink = sink;
        this.log = log;
    }

    boolean isOn() {
        return !how.profiling().conf().kind().isEmpty();
    }

    /** Begins to look. Steps that are adopted must be known by now. */
    public void start() {
        if (!isOn()) {
            return;
        }
        for (ProcessTable.Running step : running.get()) {
            adopt(step.directory());
        }
        Set<Plan> plans = live.values().stream().map(l -> l.plan).collect(Collectors.toSet());
        EventLoop.aside(() -> sink.resumed(plans));
        later();
    }

    private void later() {
        loop.later(1000L, () -> {
            List<ProcessTable.Running> steps = live.isEmpty()
                    ? List.of()
                    : running.get().stream()
                            .filter(s -> live.containsKey(s.directory()))
                            .toList();
            if (steps.isEmpty()) {
                later();
                return;
            }
            EventLoop.aside(() -> {
                look(steps, System.currentTimeMillis(), System.nanoTime());
                later();
            });
        });
    }

    /** The plan of a step that is about to start. */
    static Plan plan(Launch launch, Settings.Profiling profiling, boolean tasks, long nowMs) {
        String asked = launch.step().profile();
        Set<String> series = asked.isEmpty() ? profiling.conf().standard() : ProfileConf.series(asked);
        String own = launch.step().acctgFreq();
        String all = profiling.frequency();
        int taskS = SettingsReader.seconds(own, "task=")
                .orElse(SettingsReader.seconds(all, "task=").orElse(SettingsReader.POLL_SECONDS_DEFAULT));
        int energyS = SettingsReader.seconds(own, "energy=")
                .orElse(SettingsReader.seconds(all, "energy=").orElse(0));
        int networkS = SettingsReader.seconds(own, "network=")
                .orElse(SettingsReader.seconds(all, "network=").orElse(0));
        int filesS = SettingsReader.seconds(own, "filesystem=")
                .orElse(SettingsReader.seconds(all, "filesystem=").orElse(0));
        Identity owner = launch.share().owner();
        return new Plan(
                launch.share().jobId(),
                StepId.number(launch.stepId()),
                owner.user(),
                owner.uid(),
                owner.gid(),
                launch.tasks().size(),
                cpusPerTask(launch),
                launch.nodeIndex(),
                List.copyOf(series),
                tasks ? taskS : 0,
                energyS,
                profiling.interfaces().isEmpty() ? 0 : networkS,
                profiling.lustre() ? filesS : 0,
                nowMs);
    }

    /** CPUs of the first task: an even share of those of the step. */
    private static int cpusPerTask(Launch launch) {
        String cpus = launch.tasks().isEmpty() ? "" : launch.tasks().getFirst().cpus();
        if (!cpus.isEmpty()) {
            return IndexSet.parse(cpus).count();
        }
        if (launch.tasks().isEmpty() || launch.share().cpus().isEmpty()) {
            return 1;
        }
        return Math.max(
                1,
                IndexSet.parse(launch.share().cpus()).count() / launch.tasks().size());
    }

    /** Prepares the series of a step that is about to start. */
    public void begin(Path stepDirectory, Launch launch) {
        if (!isOn() || launch.stepId() == NodeMessages.STEP_EXTERN) {
            return;
        }
        Plan plan = plan(launch, how.profiling(), how.tasks().on(), System.currentTimeMillis());
        if (KINDS.stream().allMatch(k -> plan.seconds(k) == 0)) {
            return;
        }
        try {
            Files.write(stepDirectory.resolve(FILE), Codec.encode(plan));
        } catch (IOException e) {
            log.error(stepDirectory.resolve(FILE) + " cannot be written: " + ErrorSentence.reason(e));
        }
        sink.begun(plan);
        SampledStep step = new SampledStep(plan);
        live.put(stepDirectory, step);
        meter(step, System.currentTimeMillis(), System.nanoTime());
    }

    private void adopt(Path stepDirectory) {
        try {
            live.put(
                    stepDirectory,
                    new SampledStep(Codec.decode(Files.readAllBytes(stepDirectory.resolve(FILE)), Plan.class)));
        } catch (IOException | Json.MalformedException e) {
            // no series were asked for
        }
    }

    /** The step is over. */
    public void end(Path stepDirectory) {
        SampledStep step = live.remove(stepDirectory);
        if (step != null) {
            EventLoop.aside(() -> {
                synchronized (step) {
                    step.nextMs.clear();
                    meter(step, System.currentTimeMillis(), System.nanoTime());
                }
                sink.ended(step.plan);
            });
        }
    }

    /** One look at steps. */
    void look(List<ProcessTable.Running> steps, long nowMs, long nowNs) {
        ProcessTable table = null;
        for (ProcessTable.Running running : steps) {
            SampledStep step = live.get(running.directory());
            if (step == null) {
                continue;
            }
            meter(step, nowMs, nowNs);
            synchronized (step) {
                if (step.isDue("task", nowMs)) {
                    step.advance("task", nowMs);
                    table = table == null ? new ProcessTable(byGroup, how.tasks()) : table;
                    for (TaskUsage t :
                            table.of(running, new Sensors.Reading(0, 0, 0)).tasks()) {
                        if (t.rank() >= 0) {
                            task(step, t, nowMs, nowNs);
                        }
                    }
                }
            }
        }
    }

    private void task(SampledStep step, TaskUsage t, long nowMs, long nowNs) {
        LastSample last = step.tasks.put(t.rank(), new LastSample(t.cpuMs(), t.readBytes(), t.writeBytes(), nowNs));
        Map<String, Number> values = new LinkedHashMap<>();
        double seconds = last == null ? 0 : (nowNs - last.ns) / 1e9;
        // what has ended meanwhile takes its sums along
        double cpu = last == null ? 0 : Math.max(0, t.cpuMs() - last.cpuMs) / 1000.0;
        values.put("CPUFrequency", last == null ? 0L : t.khz());
        values.put("CPUTime", cpu);
        values.put("CPUUtilization", seconds <= 0 ? 0.0 : 100 * cpu / seconds);
        values.put("RSS", t.residentKb());
        values.put("VMSize", t.virtualKb());
        values.put("Pages", t.pages());
        values.put("ReadMB", last == null ? 0.0 : Math.max(0, t.readBytes() - last.readBytes) / MIB);
        values.put("WriteMB", last == null ? 0.0 : Math.max(0, t.writeBytes() - last.writeBytes) / MIB);
        sink.sample(step.plan, "task", Integer.toString(t.rank()), values, nowMs / 1000);
    }

    private void meter(SampledStep step, long nowMs, long nowNs) {
        synchronized (step) {
            boolean energy = step.isDue("energy", nowMs) && how.energy().kind() != Settings.Energy.Kind.NONE;
            boolean network = step.isDue("network", nowMs);
            boolean files = step.isDue("filesystem", nowMs);
            if (!energy && !network && !files) {
                return;
            }
            Meters now = meters.get();
            if (energy) {
                step.advance("energy", nowMs);
                Meters last = step.energy;
                double seconds = (nowNs - step.energyNs) / 1e9;
                Map<String, Number> power = new LinkedHashMap<>();
                power.put(
                        "Power",
                        last == null || seconds <= 0
                                ? 0L
                                : Math.round((now.energyUj - last.energyUj) / UJ_PER_J / seconds));
                step.energy = now;
                step.energyNs = nowNs;
                sink.sample(step.plan, "energy", "Energy", power, nowMs / 1000);
            }
            if (network) {
                step.advance("network", nowMs);
                Meters last = step.network == null ? now : step.network;
                step.network = now;
                Map<String, Number> traffic = new LinkedHashMap<>();
                traffic.put("PacketsIn", Math.max(0, now.inPackets - last.inPackets));
                traffic.put("PacketsOut", Math.max(0, now.outPackets - last.outPackets));
                traffic.put("InMB", Math.max(0, now.inBytes - last.inBytes) / MIB);
                traffic.put("OutMB", Math.max(0, now.outBytes - last.outBytes) / MIB);
                sink.sample(step.plan, "network", "Network", traffic, nowMs / 1000);
            }
            if (files) {
                files(step, now.files, nowMs);
            }
        }
    }

    private void files(SampledStep step, Lustre now, long nowMs) {
        step.advance("filesystem", nowMs);
        Lustre last = step.files == null ? now : step.files;
        step.files = now;
        Map<String, Number> done = new LinkedHashMap<>();
        done.put("Reads", Math.max(0, now.reads() - last.reads()));
        done.put("ReadMB", Math.max(0, now.readBytes() - last.readBytes()) / MIB);
        done.put("Writes", Math.max(0, now.writes() - last.writes()));
        done.put("WriteMB", Math.max(0, now.writtenBytes() - last.writtenBytes()) / MIB);
        sink.sample(step.plan, "filesystem", "Filesystem", done, nowMs / 1000);
    }

    /**
     * The node's meters.
     *
     * @param root "/" or a directory with a sys of its own for tests
     */
    public static Meters meters(Path root, Sensors sensors, List<String> interfaces, boolean lustre) {
        long[] sums = new long[4];
        List<String> names = List.of("rx_packets", "tx_packets", "rx_bytes", "tx_bytes");
        for (String name : interfaces) {
            for (int i = 0; i < sums.length; i++) {
                String text = Os.read(root.resolve("sys/class/net")
                                .resolve(name)
                                .resolve("statistics")
                                .resolve(names.get(i)))
                        .map(String::trim)
                        .orElse("");
                sums[i] += text.matches("[0-9]{1,18}") ? Long.parseLong(text) : 0;
            }
        }
        return new Meters(
                sensors.read().energyUj(),
                sums[0],
                sums[1],
                sums[2],
                sums[3],
                lustre ? Lustre.read(root) : Lustre.NONE);
    }
}
