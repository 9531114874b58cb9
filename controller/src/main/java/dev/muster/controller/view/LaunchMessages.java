package dev.muster.controller.view;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.StepOptions;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.tres.ImexChannels;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.json.RecordEditor;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.MultiProgram;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.X11;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.MpiNode;
import dev.muster.model.node.NodeMessages.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Makes the launch messages of jobs and steps from the state and the blobs. */
public final class LaunchMessages {
    private static final StepDesc NO_STEP = Codec.bind(new Json.Obj(), StepDesc.class);
    private final Function<String, Bytes> blobs;

    /** @param blobs content by hash */
    public LaunchMessages(Function<String, Bytes> blobs) {
        this.blobs = blobs;
    }

    /** Returns the CPUs of an allocation unit: of a node that is no more, as many as come to each. */
    static int perUnit(State state, String node, IndexSet units, int cpus) {
        return state.nodes()
                .find(node)
                .map(n -> n.spec().cpusPerUnit())
                .orElse(units.isEmpty() ? 1 : Math.max(1, (cpus + units.count() - 1) / units.count()));
    }

    private static String cpus(State state, String node, IndexSet units, int cpus) {
        return TaskCpus.cpuIds(units, perUnit(state, node, units, cpus)).ranges();
    }

    public static JobShare share(State state, Job job, Allocation.Share share, long tickMs) {
        return share(state, job, share, tickMs, JobEnvironment.ofHooks(state, job));
    }

    /** @param hooks what prolog and epilog are told on all nodes alike */
    public static JobShare share(State state, Job job, Allocation.Share share, long tickMs, List<String> hooks) {
        Map<String, String> gres = indices(share.gres());
        return new JobShare(
                job.id(),
                job.attempt(),
                share.bootId(),
                job.desc().owner(),
                hooks(state, hooks, share),
                cpus(state, share.node(), share.cores(), share.cpus()),
                limitMb(state, job, share, share.memoryMb()),
                gres,
                enforcedSecondsLeft(state, job, tickMs),
                state.settings().killWaitS(),
                state.settings().externSteps(),
                Bytes.of(job.desc().name()),
                Math.max(0, StepOptions.sampleS(job.desc().extras().acctgFreq())),
                x11Cookie(job, share),
                ImexChannels.on(job.run().allocation(), share.node())
                        .map(n -> n + 1)
                        .orElse(0));
    }

    private static String x11Cookie(Job job, Allocation.Share share) {
        if (job.desc().extras().x11().isEmpty()) {
            return "";
        }
        List<Allocation.Share> all = job.run().allocation().nodes();
        return X11.parse(job.desc().extras().x11())
                .filter(x -> x.covers(all.indexOf(share), all.size()))
                .map(X11::cookie)
                .orElse("");
    }

    private static List<String> hooks(State state, List<String> alike, Allocation.Share share) {
        if (share.gres().isEmpty()) {
            return alike;
        }
        List<String> out = new ArrayList<>(alike);
        JobEnvironment.partsOfGpus(state, share.node(), share.gres())
                .forEach((name, value) -> out.add(name + "=" + value));
        return out;
    }

    private static Map<String, String> indices(Map<String, IndexSet> devices) {
        Map<String, String> out = new TreeMap<>();
        devices.forEach((name, set) -> out.put(name, set.ranges()));
        return out;
    }

    /**
     * Returns the memory to be enforced, 0 for none. A job that has a whole node's memory only by default is not
     * limited to it: with Slurm's default RealMemory=1 every job would be killed.
     */
    private static long limitMb(State state, Job job, Allocation.Share share, long memoryMb) {
        dev.muster.model.job.ResourceRequest r = job.desc().request();
        boolean asked = r.memPerNodeMb() > 0 || r.memPerCpuMb() > 0 || r.memPerGpuMb() > 0;
        boolean whole = state.nodes()
                .find(share.node())
                .map(n -> memoryMb >= n.spec().memoryMb() - n.spec().memSpecLimitMb())
                .orElse(false);
        return asked || !whole ? memoryMb : 0;
    }

    public static long secondsLeft(Job job, long tickMs) {
        return job.run().limitTickMs() < 0 ? -1 : Math.max(0, (job.run().limitTickMs() - tickMs) / 1000);
    }

    /** Returns the seconds that a node lets the job run, {@code OverTimeLimit} included; -1 for ever. */
    public static long enforcedSecondsLeft(State state, Job job, long tickMs) {
        int over = PartitionLimits.overTimeMin(state, job);
        return job.run().limitTickMs() < 0 || over < 0
                ? -1
                : Math.max(0, (job.run().limitTickMs() + over * 60_000L - tickMs) / 1000);
    }

    /** Returns the launches of one step. */
    public StepLaunches of(State state, Job job, Step step, long tickMs) {
        return new StepLaunches(state, job, step, tickMs);
    }

    /** The launches of one step: what its nodes are told alike is made once. */
    public final class StepLaunches {
        private final State state;
        private final Job job;
        private final Step step;
        private final long tickMs;
        private final List<String> hooks;
        private Optional<JobEnvironment.OfStep> environment = Optional.empty();
        private int tasks;
        private List<MpiNode> mpi = List.of();

        private StepLaunches(State state, Job job, Step step, long tickMs) {
            this.state = state;
            this.job = job;
            this.step = step;
            this.tickMs = tickMs;
            hooks = JobEnvironment.ofHooks(state, job);
        }

        /** @throws java.io.UncheckedIOException where the script or the environment cannot be read */
        public Launch on(Step.Part part) {
            Allocation.Share share = job.run().allocation().on(part.node()).orElseThrow();
            JobShare jobShare = share(state, job, share, tickMs, hooks);
            if (step.id() == Step.EXTERN) {
                return new Launch(
                        jobShare,
                        step.id(),
                        List.of(),
                        List.of(),
                        Bytes.EMPTY,
                        NO_STEP,
                        Bytes.of("/"),
                        022,
                        Map.of(),
                        Bytes.EMPTY,
                        Bytes.EMPTY,
                        Bytes.EMPTY,
                        false,
                        Math.max(0, step.place(part.node())),
                        step.nodes().size(),
                        0,
                        jobShare.secondsLeft(),
                        "",
                        limitMb(state, job, share, part.memoryMb()),
                        HostListCache.of(job.run().allocation()),
                        false,
                        jobShare.gres());
            }
            return step.isBatch() ? batch(state, job, jobShare, part) : numbered(part, jobShare);
        }

        private Launch numbered(Step.Part part, JobShare share) {
            StepDesc d = step.desc();
            if (environment.isEmpty()) {
                environment = Optional.of(new JobEnvironment.OfStep(state, job, step, blobs.apply(step.envHash())));
                tasks = environment.get().whole().tasks();
            }
            CombinedStep whole = environment.get().whole();
            return new Launch(
                    share,
                    step.id(),
                    tasks(state, step, part),
                    environment.get().on(part),
                    Bytes.EMPTY,
                    d,
                    d.workDir(),
                    d.umask(),
                    d.limits(),
                    Bytes.EMPTY,
                    Bytes.EMPTY,
                    Bytes.EMPTY,
                    append(state, d.io().openMode()),
                    environment.get().index(part),
                    whole.parts().size(),
                    tasks,
                    LaunchMessages.secondsLeft(state, job, d, share),
                    step.ioToken(),
                    share.memoryMb() == 0 ? 0 : part.memoryMb(),
                    HostListCache.of(job.run().allocation()),
                    false,
                    indices(part.gres()),
                    mpi(d) ? mpiNodes(whole) : List.of());
        }

        private List<MpiNode> mpiNodes(CombinedStep whole) {
            if (mpi.isEmpty()) {
                mpi = whole.mpi();
            }
            return mpi;
        }
    }

    private Launch batch(State state, Job job, JobShare share, Step.Part part) {
        // the first is the script as its user named it: the node runs its own copy
        List<Bytes> arguments = job.desc().payload().arguments();
        arguments = arguments.isEmpty() ? arguments : arguments.subList(1, arguments.size());
        List<Bytes> environment = JobEnvironment.ofBatch(
                state, job, blobs.apply(job.desc().payload().envHash()));
        Task task = new Task(0, 0, cpus(state, part.node(), part.cores(), part.cpus()), arguments, List.of());
        return new Launch(
                share,
                Step.BATCH,
                List.of(task),
                environment,
                blobs.apply(job.desc().payload().scriptHash()),
                batchStep(job),
                job.desc().files().workDir(),
                job.desc().payload().umask(),
                job.desc().payload().limits(),
                JobPaths.stdin(job),
                JobPaths.stdout(job),
                JobPaths.stderr(job),
                append(state, job.desc().files().openMode()),
                0,
                1,
                1,
                share.secondsLeft(),
                "",
                share.memoryMb(),
                HostListCache.of(job.run().allocation()),
                job.desc().extras().getUserEnv(),
                share.gres());
    }

    /**
     * Returns the description of the batch step: nothing but the container that the script runs in, and what is looked
     * at while it does.
     */
    private static StepDesc batchStep(Job job) {
        JobDesc.Extras x = job.desc().extras();
        return x.container().isEmpty() && x.profile().isEmpty() && x.acctgFreq().isEmpty()
                ? NO_STEP
                : RecordEditor.of(NO_STEP)
                        .set("container", x.container())
                        .set("profile", x.profile())
                        .set("acctgFreq", x.acctgFreq())
                        .record();
    }

    /**
     * Tests whether output files are appended to: files that are there already are truncated, unless the job or
     * JobFileAppend says otherwise.
     */
    private static boolean append(State state, String mode) {
        return mode.startsWith("a")
                || mode.isEmpty() && state.settings().options().steps().appendsFiles();
    }

    /** Tests whether the step's tasks speak PMI. */
    private static boolean mpi(StepDesc d) {
        return !d.mpi().isEmpty() && !d.mpi().equals("none");
    }

    private static long secondsLeft(State state, Job job, StepDesc d, JobShare share) {
        int over = PartitionLimits.overTimeMin(state, job);
        return d.timeLimitMin() > 0 && over >= 0
                ? Math.min(positive(share.secondsLeft()), (d.timeLimitMin() + over) * 60L)
                : share.secondsLeft();
    }

    private static long positive(long seconds) {
        return seconds < 0 ? Long.MAX_VALUE : seconds;
    }

    private static List<Task> tasks(State state, Step step, Step.Part part) {
        List<Task> out = new ArrayList<>();
        // as with the cores of a job: by default tasks are dealt over the sockets in turn
        List<IndexSet> cpus = TaskCpus.of(
                step.desc(),
                part,
                state.nodes()
                        .find(part.node())
                        .map(n -> n.spec().units() / Math.max(1, n.spec().sockets()))
                        .orElse(1),
                perUnit(state, part.node(), part.cores(), part.cpus()),
                state.settings().selects("CR_CORE_DEFAULT_DIST_BLOCK")
                        ? Distribution.Level.BLOCK
                        : Distribution.Level.CYCLIC);
        int perUnit = perUnit(state, part.node(), part.cores(), part.cpus());
        IndexSet all = part.gres().getOrDefault("gpu", IndexSet.empty());
        List<IndexSet> bound = DeviceBinding.gpus(
                step.desc(),
                all,
                cpus.stream().map(of -> near(state, part.node(), of, perUnit)).toList());
        for (int local = 0; local < part.tasks().size(); local++) {
            int rank = part.tasks().get(local);
            List<Bytes> environment =
                    new ArrayList<>(List.of(Bytes.of("SLURM_PROCID=" + rank), Bytes.of("SLURM_LOCALID=" + local)));
            IndexSet gpus = bound.get(local);
            if (!gpus.equals(all)) {
                JobEnvironment.devices(state, part.node(), gpus)
                        .forEach((name, value) -> environment.add(Bytes.of(name + "=" + value)));
                environment.add(Bytes.of("SLURM_STEP_GPUS=" + JobEnvironment.list(gpus)));
            }
            List<Bytes> arguments = step.desc().multiProg().isEmpty()
                    ? List.of()
                    : MultiProgram.arguments(
                            step.desc().multiProg(), rank, step.desc().arguments());
            out.add(new Task(rank, local, cpus.get(local).ranges(), arguments, environment));
        }
        return out;
    }

    /** Returns the node's GPUs that gres.conf puts near one of these CPUs. */
    private static IndexSet near(State state, String node, IndexSet cpus, int perUnit) {
        IndexSet units = IndexSet.empty();
        for (int cpu = cpus.first(); cpu >= 0; cpu = cpus.next((cpu / perUnit + 1) * perUnit)) {
            units = units.with(cpu / perUnit);
        }
        IndexSet out = IndexSet.empty();
        for (Node.Gres g : state.nodes().find(node).map(n -> n.spec().gres()).orElse(List.of())) {
            for (int i = 0; g.name().equals("gpu") && i < g.near().size(); i++) {
                out = g.near().get(i).intersect(units).isEmpty() ? out : out.with(g.first() + i);
            }
        }
        return out;
    }
}
