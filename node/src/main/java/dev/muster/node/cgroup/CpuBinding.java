package dev.muster.node.cgroup;

import dev.muster.model.job.CpuBind;
import dev.muster.model.job.Distribution;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.node.os.Topology;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;

/** Which of the machine's CPUs each task of a launch may use, and what the tasks are told of it. */
public final class CpuBinding {
    private final Topology machine;
    private final CpuBind asked;
    private final boolean named;
    private final boolean bound;
    private final boolean numbered;
    private final String node;
    private final List<TreeSet<Integer>> tasks = new ArrayList<>();
    private final TreeSet<Integer> all = new TreeSet<>();
    private String refusal = "";

    /**
     * @param bind this node binds tasks
     * @param numbered a step of srun's: only its tasks are told
     */
    public CpuBinding(Launch launch, Topology machine, boolean bind, boolean numbered, String node) {
        this.machine = machine;
        this.asked = numbered ? CpuBind.parse(launch.step().cpuBind()).orElse(CpuBind.DEFAULT) : CpuBind.DEFAULT;
        this.named = numbered && !launch.step().cpuBind().isEmpty();
        this.numbered = numbered;
        this.node = node;
        launch.tasks().forEach(t -> all.addAll(machine.cpus(t.cpus())));
        if (bind && numbered) {
            refusal = refused();
        }
        List<Integer> sockets = groups(machine::socket);
        Distribution.Level level = numbered
                ? Distribution.parse(launch.step().request().distribution())
                        .orElse(Distribution.UNSET)
                        .sockets()
                : Distribution.Level.UNSET;
        int perTask = numbered ? Math.max(1, launch.step().request().cpusPerTask()) : 1;
        for (int i = 0; i < launch.tasks().size(); i++) {
            TreeSet<Integer> own = machine.cpus(launch.tasks().get(i).cpus());
            tasks.add(
                    !bind || !refusal.isEmpty()
                            ? new TreeSet<>()
                            : switch (asked.kind()) {
                                case DEFAULT, NONE, CORES, THREADS -> own;
                                case RANK -> cpusOfStep(Set.of(new ArrayList<>(all).get(i % all.size())));
                                case MAP, MASK -> cpusOfStep(asked.named(i));
                                case LDRANK ->
                                    inGroups(
                                            machine::numa,
                                            Set.of(new ArrayList<>(machine.numaNodes())
                                                    .get(i % machine.numaNodes().size())));
                                case LDMAP, LDMASK -> inGroups(machine::numa, asked.named(i));
                                case SOCKETS ->
                                    inGroups(machine::socket, near(sockets, level, i, perTask, machine::socket));
                                case LDOMS ->
                                    inGroups(
                                            machine::numa,
                                            near(groups(machine::numa), level, i, perTask, machine::numa));
                            });
        }
        this.bound = tasks.stream().anyMatch(t -> !t.isEmpty());
    }

    private List<Integer> groups(IntUnaryOperator of) {
        return all.stream().map(of::applyAsInt).distinct().sorted().toList();
    }

    /** The sockets (or NUMA nodes) of a task: one after the other filled with BLOCK, else in turns. */
    private Set<Integer> near(
            List<Integer> groups, Distribution.Level level, int local, int perTask, IntUnaryOperator of) {
        List<Integer> cpus = machine.inOrder().stream().filter(all::contains).toList();
        if (cpus.isEmpty()) {
            return Set.of();
        }
        if (level != Distribution.Level.BLOCK && level != Distribution.Level.UNSET) {
            return Set.of(groups.get(local % groups.size()));
        }
        Set<Integer> out = new TreeSet<>();
        for (int k = 0; k < perTask; k++) {
            out.add(of.applyAsInt(cpus.get((local * perTask + k) % cpus.size())));
        }
        return out;
    }

    private TreeSet<Integer> inGroups(IntUnaryOperator of, java.util.Collection<Integer> wanted) {
        return cpusOfStep(
                all.stream().filter(cpu -> wanted.contains(of.applyAsInt(cpu))).toList());
    }

    /** The CPUs of the step among these; all CPUs of the step if none of these is. */
    private TreeSet<Integer> cpusOfStep(java.util.Collection<Integer> wanted) {
        TreeSet<Integer> out = new TreeSet<>(wanted);
        out.retainAll(all);
        return out.isEmpty() ? all : out;
    }

    private String refused() {
        if (all.isEmpty()) {
            return "";
        }
        if (asked.kind().wantsWholeNode() && all.size() < machine.inOrder().size()) {
            return "Entire node must be allocated for " + (asked.verbose() ? "verbose," : "")
                    + asked.kind().text().replace(":", "") + ",one_thread";
        }
        boolean outside = (asked.kind() == CpuBind.Kind.MAP || asked.kind() == CpuBind.Kind.MASK)
                && java.util.stream.IntStream.range(0, asked.list().size())
                        .anyMatch(i -> !all.containsAll(asked.named(i)));
        return outside ? "CPU binding outside of job step allocation, allocated CPUs are: 0x" + mask(all) + "." : "";
    }

    /** Why the tasks cannot be bound as asked; "" if they can. */
    public String refusal() {
        return refusal;
    }

    /** {@code 0,4}; "" where the task is not bound. */
    public String cpus(int local) {
        return tasks.get(local).stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** The NUMA nodes of a task's CPUs. */
    Set<Integer> numaNodes(int local) {
        TreeSet<Integer> cpus = tasks.get(local).isEmpty() ? all : tasks.get(local);
        return cpus.stream().map(machine::numa).collect(Collectors.toCollection(TreeSet::new));
    }

    /** SLURM_CPU_BIND and its parts; none where nothing is bound and nothing was said. */
    public List<String> environment() {
        if (!numbered || !bound && !named) {
            return List.of();
        }
        String verbose = asked.verbose() ? "verbose" : "quiet";
        boolean masks = bound
                && switch (asked.kind()) {
                    case DEFAULT, SOCKETS, CORES, THREADS, LDOMS -> true;
                    case NONE, RANK, MAP, MASK, LDRANK, LDMAP, LDMASK -> false;
                };
        String type = masks ? CpuBind.Kind.MASK.text() : asked.kind().text();
        String list = masks ? masks() : String.join(",", asked.list());
        return List.of(
                "SLURM_CPU_BIND=" + verbose + (type.isEmpty() ? "" : ",") + type + list,
                "SLURM_CPU_BIND_VERBOSE=" + verbose,
                "SLURM_CPU_BIND_TYPE=" + type,
                "SLURM_CPU_BIND_LIST=" + list);
    }

    /** One mask for all when there is one task or the tasks share what they were not bound apart for. */
    private String masks() {
        List<String> each = tasks.stream().map(t -> "0x" + mask(t)).toList();
        boolean apart = asked.kind() == CpuBind.Kind.SOCKETS || asked.kind() == CpuBind.Kind.LDOMS;
        return !apart && each.stream().distinct().count() == 1 ? each.getFirst() : String.join(",", each);
    }

    public static String mask(Set<Integer> numbers) {
        BigInteger mask = BigInteger.ZERO;
        for (int n : numbers) {
            mask = mask.setBit(n);
        }
        return mask.toString(16).toUpperCase(Locale.ROOT);
    }

    /** The line of {@code --cpu-bind=verbose}, in two halves: the process id belongs between them. None for no line. */
    public List<String> said(Task task, int local) {
        if (!bound || !asked.verbose()) {
            return List.of();
        }
        boolean none = asked.kind() == CpuBind.Kind.NONE;
        String type = switch (asked.kind()) {
            case NONE -> "NONE";
            case RANK -> "RANK";
            case MAP -> "MAP ";
            case LDRANK -> "LDRANK";
            case LDMAP -> "LDMAP ";
            case LDMASK -> "LDMASK";
            case DEFAULT, MASK, SOCKETS, CORES, THREADS, LDOMS -> "MASK";
        };
        return List.of(
                "cpu-bind=%s - %s, task %2d %2d [".formatted(type, node, task.rank(), local),
                none ? "]: mask 0x0" : "]: mask 0x" + mask(tasks.get(local)) + " set");
    }
}
