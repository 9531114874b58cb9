package dev.muster.node.step;

import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.LogLevels;
import dev.muster.model.job.GpuVariables;
import dev.muster.model.job.MemBind;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.StepId;
import dev.muster.model.job.TresBind;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.cgroup.CpuBinding;
import dev.muster.node.cgroup.MemoryBinding;
import dev.muster.node.config.CgroupSettings;
import dev.muster.node.config.Settings;
import dev.muster.node.os.FilePattern;
import dev.muster.node.os.Os;
import dev.muster.node.os.Topology;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Turns a launch into stepd's specification. Pure: everything it needs comes in. */
public final class SpecBuilder {
    private final Settings settings;
    private final Topology machine;
    private final MpiSpec mpi;

    public SpecBuilder(Settings settings, Topology machine) {
        this.settings = settings;
        this.machine = machine;
        this.mpi = new MpiSpec(settings);
    }

    /** The step cannot run as it was asked for: its own fault, not the node's. */
    public static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;
        final String detail;

        RefusedException(String detail, String message) {
            super(message);
            this.detail = detail;
        }
    }

    /**
     * Where the step's files lie and which groups it runs in.
     *
     * @param environment what the node adds for every task
     * @param mpi where the helper of tasks that speak PMI finds what is its own
     * @param contained tasks have the command lines of a container's runtime
     * @param channel of the fabric, as MAJOR:NUMBER of its device; "" for none
     */
    public record Place(
            Path script,
            Path socket,
            List<Path> cgroups,
            List<Path> killCgroups,
            String oomEvents,
            boolean ownDevices,
            String namespace,
            List<String> environment,
            boolean contained,
            MpiSpec.Place mpi,
            String channel) {
        public Place(
                Path script,
                Path socket,
                List<Path> cgroups,
                List<Path> killCgroups,
                String oomEvents,
                boolean ownDevices,
                String namespace,
                List<String> environment,
                boolean contained) {
            this(
                    script,
                    socket,
                    cgroups,
                    killCgroups,
                    oomEvents,
                    ownDevices,
                    namespace,
                    environment,
                    contained,
                    MpiSpec.Place.NONE,
                    "");
        }

        Place with(String device) {
            return new Place(
                    script,
                    socket,
                    cgroups,
                    killCgroups,
                    oomEvents,
                    ownDevices,
                    namespace,
                    environment,
                    contained,
                    mpi,
                    device);
        }

        Place with(MpiSpec.Place place) {
            return new Place(
                    script,
                    socket,
                    cgroups,
                    killCgroups,
                    oomEvents,
                    ownDevices,
                    namespace,
                    environment,
                    contained,
                    place,
                    channel);
        }

        Place inContainer() {
            return new Place(
                    script,
                    socket,
                    cgroups,
                    killCgroups,
                    oomEvents,
                    ownDevices,
                    namespace,
                    environment,
                    true,
                    mpi,
                    channel);
        }
    }

    private static final Set<String> DEVICE_VARIABLES =
            Set.of("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK");

    /** Limits of a control group, in this machine's CPU numbers. */
    public Cgroups.Share confined(long memoryMb, String cpus, Map<String, String> gres) {
        Map<String, List<Integer>> devices = new HashMap<>();
        gres.forEach((name, list) -> devices.put(name, indices(list)));
        return new Cgroups.Share(
                memoryMb, machine.cpus(cpus).stream().map(String::valueOf).collect(Collectors.joining(",")), devices);
    }

    /** This machine's numbers. */
    java.util.Set<Integer> machineCpus(String abstractCpus) {
        return machine.cpus(abstractCpus);
    }

    java.util.Set<Integer> numaNodes() {
        return machine.numaNodes();
    }

    /** Expands {@code 0-1,3,5-9:2} to its numbers. */
    public static List<Integer> indices(String list) {
        List<Integer> out = new ArrayList<>();
        IndexSet set = IndexSet.parse(list);
        for (int i = set.first(); i >= 0; i = set.next(i + 1)) {
            out.add(i);
        }
        return out;
    }

    /** Drivers renumber the devices of a constrained step from 0; UUIDs stay the same. */
    private List<Bytes> devices(List<Bytes> environment, Launch launch, Place place) {
        List<Integer> own = indices(launch.gres().getOrDefault("gpu", ""));
        boolean numbers = !place.ownDevices() && settings.around().gpuUuids().isEmpty();
        return numbers || own.isEmpty()
                ? environment
                : environment.stream()
                        .map(e -> renumbered(e, own, place.ownDevices()))
                        .toList();
    }

    private Bytes renumbered(Bytes entry, List<Integer> own, boolean fromZero) {
        String text = entry.text();
        int equals = text.indexOf('=');
        if (equals < 0
                || !DEVICE_VARIABLES.contains(text.substring(0, equals))
                || !text.substring(equals + 1).matches("[0-9]+(,[0-9]+)*")) {
            return entry;
        }
        String named = GpuVariables.withUuids(
                text.substring(0, equals),
                text.substring(equals + 1),
                settings.around().gpuUuids());
        if (!fromZero || !named.equals(text.substring(equals + 1))) {
            return Bytes.of(text.substring(0, equals + 1) + named);
        }
        return Bytes.of(text.substring(0, equals + 1)
                + java.util.stream.Stream.of(text.substring(equals + 1).split(","))
                        .map(i -> Integer.toString(Math.max(0, own.indexOf(Integer.parseInt(i)))))
                        .collect(Collectors.joining(",")));
    }

    public byte[] build(Launch launch, Place place) throws RefusedException {
        SpecWriter out = new SpecWriter();
        head(
                out,
                launch.share().jobId(),
                launch.share().attempt(),
                launch.stepId(),
                launch.share().owner(),
                place);
        out.put("cwd", launch.workDir().isEmpty() ? Bytes.of("/") : launch.workDir());
        out.put("umask", Integer.toOctalString(launch.umask()));
        out.put("log_time", settings.logTimeFormat());
        launch.limits()
                .forEach((name, value) ->
                        out.put("rlimit", name + " " + (value < 0 ? "unlimited" : Long.toString(value))));
        if (settings.around().addressPercent() > 0 && launch.memoryMb() > 0) {
            long bytes = (launch.memoryMb() << 20) / 100 * settings.around().addressPercent();
            out.put("rlimit", "AS " + bytes + " " + bytes);
        }
        out.putAll("env", devices(launch.environment(), launch, place));
        nice(out, launch);
        boolean batch = launch.stepId() == NodeMessages.STEP_BATCH;
        if (batch) {
            out.put("batch", 1);
            out.put("lingers", settings.confinement().tracking() == CgroupSettings.Tracking.DESCENT ? 1 : 0);
        } else {
            ofSrun(out, launch.step());
        }
        hooks(out, launch.step(), batch);
        if (!launch.mpi().isEmpty()) {
            mpi.step(out, launch, place.mpi());
        }
        CpuBinding binding = new CpuBinding(launch, machine, settings.bindTasks(), !batch, settings.nodeName());
        if (!binding.refusal().isEmpty()) {
            throw new RefusedException(binding.refusal(), "Unable to satisfy cpu bind request");
        }
        MemoryBinding memory = new MemoryBinding(
                batch ? MemBind.DEFAULT : MemBind.parse(launch.step().memBind()).orElse(MemBind.DEFAULT),
                machine,
                binding,
                settings.bindTasks(),
                Os.hostName());
        for (int i = 0; i < launch.tasks().size(); i++) {
            Task task = launch.tasks().get(i);
            task(out, launch, task, place, batch);
            if (!batch) {
                sayGpus(out, launch, task);
            }
            bind(out, binding, memory, task, i);
        }
        return out.bytes();
    }

    /** Settings of a step of srun that a batch script does not have. */
    private void ofSrun(SpecWriter out, StepDesc step) {
        if (step.oomKillStep().equals("1")) {
            out.put("oom_kill_step", 1);
        }
        out.put("wait_children", step.waitForChildren() ? 1 : 0);
        // srun receives the exits of other steps and decides
        out.put("kill_on_bad_exit", step.async() && step.killOnBadExit() ? 1 : 0);
        out.put("await_caller", step.awaitsCaller() ? 1 : 0);
        if (step.debugLevel() > 0) {
            out.put("debug", step.debugLevel());
            String daemon = LogLevels.word(settings.debugLevel());
            boolean toSyslog = settings.logFile().isEmpty();
            out.put(
                    "debug_says",
                    "debug levels are stderr='" + LogLevels.word(step.debugLevel()) + "', logfile='"
                            + (toSyslog ? "quiet" : daemon) + "', syslog='" + (toSyslog ? daemon : "fatal") + "'");
        }
        out.putAll("argv", step.arguments());
        out.put("rows", step.ptyRows()).put("columns", step.ptyColumns());
    }

    /**
     * PropagatePrioProcess: as the command that submitted it, for others than root never before slurmd, and with 2
     * always behind it.
     */
    private void nice(SpecWriter out, Launch launch) {
        int mode = settings.around().propagateNice();
        String wanted = variable(launch.environment(), "SLURM_PRIO_PROCESS", "0");
        if (mode == 0 || !wanted.matches("-?[0-9]{1,2}")) {
            return;
        }
        int own = Os.nice();
        int nice = Integer.parseInt(wanted);
        int minNice;
        if (mode == 2) {
            minNice = own + 1;
        } else if (launch.share().owner().uid() == 0) {
            minNice = -20;
        } else {
            minNice = own;
        }

        out.put("nice", Math.min(19, Math.max(nice, minNice)));
    }

    /** The external step: no task, lives until it is terminated. */
    byte[] external(NodeMessages.JobShare share, Place place) {
        SpecWriter out = new SpecWriter();
        head(out, share.jobId(), share.attempt(), NodeMessages.STEP_EXTERN, share.owner(), place);
        return out.put("external", 1).bytes();
    }

    private void head(SpecWriter out, int jobId, int attempt, int stepId, Identity owner, Place place) {
        out.put("job", jobId)
                .put("step", StepId.name(stepId))
                .put("attempt", attempt)
                .put("node", settings.nodeName());
        out.put("user", owner.user()).put("uid", owner.uid()).put("gid", owner.gid());
        out.put("groups", owner.gids().stream().map(String::valueOf).collect(Collectors.joining(",")));
        out.put("allow_uid", settings.slurmUserId());
        out.put("socket", place.socket().toString());
        if (settings.confinement().tracking() == CgroupSettings.Tracking.GROUP) {
            out.put("pgid", 1);
        }
        if (settings.around().pam()) {
            out.put("pam", 1);
        }
        if (!place.namespace().isEmpty()) {
            out.put("namespace", place.namespace());
        }
        if (!place.channel().isEmpty()) {
            out.put("channel", place.channel());
        }
        place.cgroups().forEach(c -> out.put("cgroup", c.toString()));
        place.killCgroups().forEach(c -> out.put("kill_cgroup", c.toString()));
        if (!place.oomEvents().isEmpty()) {
            out.put("oom_events", place.oomEvents());
        }
    }

    private void hooks(SpecWriter out, StepDesc step, boolean batch) {
        if (!settings.taskProlog().isEmpty()) {
            out.put("task_prolog", settings.taskProlog());
        }
        if (!batch && !step.taskProlog().isEmpty()) {
            out.put("user_task_prolog", step.taskProlog());
        }
        if (!batch && !step.taskEpilog().isEmpty()) {
            out.put("user_task_epilog", step.taskEpilog());
        }
        if (!settings.taskEpilog().isEmpty()) {
            out.put("task_epilog", settings.taskEpilog());
        }
    }

    /** All that a task finds in its environment, but for what is known only when it runs. */
    List<Bytes> environment(Launch launch, Task task, boolean ownDevices, List<String> ofNode) {
        Map<String, Bytes> all = new java.util.LinkedHashMap<>();
        List<Bytes> entries = new ArrayList<>(launch.environment());
        entries.addAll(task.environment());
        Place place = new Place(Path.of(""), Path.of(""), List.of(), List.of(), "", ownDevices, "", List.of(), true);
        List<Bytes> whole = new ArrayList<>(devices(entries, launch, place));
        ofNode.forEach(e -> whole.add(Bytes.of(e)));
        whole.add(Bytes.of("SLURMD_NODENAME=" + settings.nodeName()));
        whole.add(Bytes.of("SLURM_CONF=" + settings.configFile()));
        whole.forEach(e -> all.put(e.text().substring(0, Math.max(0, e.text().indexOf('='))), e));
        return List.copyOf(all.values());
    }

    private void task(SpecWriter out, Launch launch, Task task, Place place, boolean batch) {
        out.put("task", task.rank());
        if (batch && !place.contained()) {
            out.put("program", place.script().toString())
                    .put("argv", place.script().toString());
        }
        out.putAll("argv", task.arguments()).putAll("env", devices(task.environment(), launch, place));
        place.environment().forEach(e -> out.put("env", e));
        if (!launch.mpi().isEmpty()) {
            mpi.environment(launch, task).forEach(e -> out.put("env", e));
        }
        out.put("env", "SLURMD_NODENAME=" + settings.nodeName()).put("env", "SLURM_CONF=" + settings.configFile());
        if (batch) {
            batchStreams(out, launch);
        } else if (launch.step().pty() && task.rank() == 0) {
            out.put("stdin", "pty").put("stdout", "pty").put("stderr", "pty");
        } else {
            stepStreams(out, launch, task);
        }
    }

    /**
     * {@code --gpu-bind=verbose}: which of the step's GPUs the task uses, by their place in the step and on the node.
     */
    private static void sayGpus(SpecWriter out, Launch launch, Task task) {
        String gpus = launch.gres().getOrDefault("gpu", "");
        List<Integer> all = indices(gpus);
        if (all.isEmpty() || !TresBind.isVerbose(launch.step().tresBind())) {
            return;
        }
        List<Integer> own = indices(variable(task.environment(), "CUDA_VISIBLE_DEVICES", gpus));
        List<Integer> places =
                own.stream().map(all::indexOf).filter(i -> i >= 0).toList();
        out.put(
                "remark",
                "gpu-bind: usable_gres=0x%s; bit_alloc=0x%s; local_inx=%d; global_list=%s; local_list=%s"
                        .formatted(
                                CpuBinding.mask(Set.copyOf(places)),
                                CpuBinding.mask(Set.copyOf(all)),
                                all.size(),
                                own.stream().map(String::valueOf).collect(Collectors.joining(",")),
                                places.stream().map(String::valueOf).collect(Collectors.joining(","))));
    }

    private static void bind(SpecWriter out, CpuBinding binding, MemoryBinding memory, Task task, int local) {
        if (!binding.cpus(local).isEmpty()) {
            out.put("cpus", binding.cpus(local));
        }
        if (!memory.policy(local).isEmpty()) {
            out.put("memory", memory.policy(local));
        }
        binding.environment().forEach(e -> out.put("env", e));
        memory.environment().forEach(e -> out.put("env", e));
        binding.said(task, local).forEach(half -> out.put("said", half));
        memory.said(task, local).forEach(half -> out.put("said", half));
        memory.failures(local).forEach(line -> out.put("failing", line));
    }

    private static void batchStreams(SpecWriter out, Launch launch) {
        out.put("stdin", launch.stdin().isEmpty() ? Bytes.of("null") : file('r', launch.stdin()));
        char how = launch.append() ? 'a' : 't';
        out.put("stdout", launch.stdout().isEmpty() ? Bytes.of("null") : file(how, launch.stdout()));
        boolean same = launch.stderr().isEmpty() || launch.stderr().equals(launch.stdout());
        out.put("stderr", same ? Bytes.of("same") : file(how, launch.stderr()));
    }

    private void stepStreams(SpecWriter out, Launch launch, Task task) {
        StepDesc.IoSpec io = launch.step().io();
        Bytes stdout = first(launch.stdout(), io.stdout());
        Bytes stderr = first(launch.stderr(), io.stderr());
        // the nodes of an asynchronous step may have one file, which the first of them begins
        boolean append = launch.append()
                || io.openMode().equals("append")
                || launch.step().async() && launch.nodeIndex() > 0;
        char how = append ? 'a' : 't';
        if (io.labelled()) {
            how = Character.toUpperCase(how);
            out.put("label", label(task.rank(), launch.stepTasks()));
        }
        out.put("stdin", target('r', first(launch.stdin(), io.stdin()), launch, task));
        out.put("stdout", target(how, stdout, launch, task));
        boolean same = stderr.equals(stdout) || stderr.isEmpty();
        if (same && isFile(stdout)) {
            out.put("stderr", Bytes.of("same"));
        } else {
            out.put("stderr", target(how, same ? stdout : stderr, launch, task));
        }
    }

    /** Returns the label as srun writes it: the rank, as wide as the step's highest. */
    private static String label(int rank, int stepTasks) {
        String text = Integer.toString(rank);
        return " "
                        .repeat(Math.max(
                                0, Integer.toString(Math.max(1, stepTasks) - 1).length() - text.length())) + text
                + ": ";
    }

    private static Bytes first(Bytes a, Bytes b) {
        return a.isEmpty() ? b : a;
    }

    private static boolean isFile(Bytes where) {
        String text = where.text();
        return !text.isEmpty() && !text.equals("all") && !text.equals("none") && !isNumber(text);
    }

    private static boolean isNumber(String text) {
        return !text.isEmpty() && text.length() < 10 && text.chars().allMatch(Character::isDigit);
    }

    private Bytes target(char how, Bytes where, Launch launch, Task task) {
        String text = where.text();
        if (text.isEmpty() || text.equals("all")) {
            return Bytes.of("stream");
        }
        if (text.equals("none")) {
            return Bytes.of("null");
        }
        if (isNumber(text)) {
            return Bytes.of(Integer.parseInt(text) == task.rank() ? "stream" : "null");
        }
        return file(how, FilePattern.expand(where, codes(launch, task)));
    }

    private static Bytes file(char how, Bytes path) {
        byte[] prefix = ("file " + how + " ").getBytes(StandardCharsets.US_ASCII);
        byte[] all = java.util.Arrays.copyOf(prefix, prefix.length + path.length());
        System.arraycopy(path.toArray(), 0, all, prefix.length, path.length());
        return Bytes.of(all);
    }

    private Map<Character, String> codes(Launch launch, Task task) {
        Map<Character, String> out = new HashMap<>();
        int jobId = launch.share().jobId();
        out.put('t', Integer.toString(task.rank()));
        out.put('n', Integer.toString(launch.nodeIndex()));
        out.put('N', settings.nodeName());
        out.put('j', Integer.toString(jobId));
        out.put('J', jobId + "." + StepId.name(StepId.number(launch.stepId())));
        out.put('s', StepId.name(StepId.number(launch.stepId())));
        out.put('u', launch.share().owner().user());
        out.put('x', launch.share().jobName().text());
        out.put('A', variable(launch.environment(), "SLURM_ARRAY_JOB_ID", Integer.toString(jobId)));
        out.put('a', variable(launch.environment(), "SLURM_ARRAY_TASK_ID", "4294967294"));
        return out;
    }

    static String variable(List<Bytes> environment, String name, String otherwise) {
        Bytes head = Bytes.of(name + "=");
        for (Bytes entry : environment) {
            if (entry.startsWith(head)) {
                return entry.text().substring(name.length() + 1);
            }
        }
        return otherwise;
    }
}
