package dev.muster.node;

import dev.muster.model.CpuBind;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Task;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Which of the machine's CPUs each task of a launch may use, and what the tasks are told of it. */
final class Binding {
    private final List<Integer> cpusInOrder;
    private final CpuBind asked;
    private final boolean named;
    private final boolean bound;
    private final boolean numbered;
    private final String node;
    private final List<TreeSet<Integer>> tasks = new ArrayList<>();

    /**
     * @param cpusInOrder the machine's number of each abstract CPU
     * @param bind        this node binds tasks
     * @param numbered    a step of srun's: only its tasks are told
     */
    Binding(Launch launch, List<Integer> cpusInOrder, boolean bind, boolean numbered, String node) {
        this.cpusInOrder = cpusInOrder;
        this.asked = numbered ? CpuBind.parse(launch.step().cpuBind()).orElse(CpuBind.DEFAULT) : CpuBind.DEFAULT;
        this.named = numbered && !launch.step().cpuBind().isEmpty();
        this.numbered = numbered;
        this.node = node;
        for (int i = 0; i < launch.tasks().size(); i++) {
            tasks.add(bind ? chosen(machineCpus(launch.tasks().get(i).cpus()), i) : new TreeSet<>());
        }
        this.bound = tasks.stream().anyMatch(t -> !t.isEmpty());
    }

    private TreeSet<Integer> machineCpus(String list) {
        return machineCpus(cpusInOrder, list);
    }

    /** The machine's numbers of abstract CPUs; without those that this machine does not have: a node may be configured with more. */
    static TreeSet<Integer> machineCpus(List<Integer> cpusInOrder, String list) {
        TreeSet<Integer> out = new TreeSet<>();
        for (String range : list.isEmpty() ? new String[0] : list.split(",")) {
            String[] ends = range.split("-");
            int last = Math.min(Integer.parseInt(ends[ends.length - 1]), cpusInOrder.size() - 1);
            for (int cpu = Integer.parseInt(ends[0]); cpu <= last; cpu++) {
                out.add(cpusInOrder.get(cpu));
            }
        }
        return out;
    }

    /** What a map or masks name is meant as the machine counts; what is not the step's falls back to all that is. */
    private TreeSet<Integer> chosen(TreeSet<Integer> allowed, int local) {
        TreeSet<Integer> out = new TreeSet<>();
        switch (asked.kind()) {
            case DEFAULT, NONE, CORES, THREADS -> { }
            case MAP -> out.add(Integer.parseInt(asked.list().get(local % asked.list().size())));
            case MASK -> {
                BigInteger mask = new BigInteger(asked.list().get(local % asked.list().size()).replaceFirst("^0[xX]", ""), 16);
                for (int cpu = mask.getLowestSetBit(); cpu >= 0 && cpu < mask.bitLength(); cpu++) {
                    if (mask.testBit(cpu)) {
                        out.add(cpu);
                    }
                }
            }
        }
        out.retainAll(allowed);
        return out.isEmpty() ? allowed : out;
    }

    /** {@code 0,4}; "" where the task is not bound. */
    String cpus(int local) {
        return tasks.get(local).stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** SLURM_CPU_BIND and its parts; none where nothing is bound and nothing was said. */
    List<String> environment() {
        if (!numbered || !bound && !named) {
            return List.of();
        }
        boolean told = !asked.list().isEmpty();
        boolean masks = bound && !told && asked.kind() != CpuBind.Kind.NONE;
        String verbose = asked.verbose() ? "verbose" : "quiet";
        String type = masks ? CpuBind.Kind.MASK.text() : asked.kind().text();
        String list = masks ? masks() : String.join(",", asked.list());
        return List.of("SLURM_CPU_BIND=" + verbose + (type.isEmpty() ? "" : ",") + type + list, "SLURM_CPU_BIND_VERBOSE=" + verbose,
                "SLURM_CPU_BIND_TYPE=" + type, "SLURM_CPU_BIND_LIST=" + list);
    }

    /** One mask for all when the tasks share their CPUs. */
    private String masks() {
        List<String> each = tasks.stream().map(t -> "0x" + mask(t)).toList();
        return each.stream().distinct().count() == 1 ? each.getFirst() : String.join(",", each);
    }

    private static String mask(TreeSet<Integer> cpus) {
        BigInteger mask = BigInteger.ZERO;
        for (int cpu : cpus) {
            mask = mask.setBit(cpu);
        }
        return mask.toString(16).toUpperCase(Locale.ROOT);
    }

    /** The line of {@code --cpu-bind=verbose}, in two halves: the process id belongs between them. "" for no line. */
    List<String> said(Task task, int local) {
        if (!bound || !asked.verbose()) {
            return List.of();
        }
        boolean none = asked.kind() == CpuBind.Kind.NONE;
        String type = none ? "NONE" : asked.kind() == CpuBind.Kind.MAP ? "MAP " : "MASK";
        return List.of("cpu-bind=%s - %s, task %2d %2d [".formatted(type, node, task.rank(), local),
                none ? "]: mask 0x0" : "]: mask 0x" + mask(tasks.get(local)) + " set");
    }
}
