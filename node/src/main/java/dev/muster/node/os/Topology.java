package dev.muster.node.os;

import dev.muster.model.format.IndexSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * How this machine's CPUs lie, by the kernel's numbers.
 *
 * @param inOrder in Slurm's order: by socket, core and thread, so that the threads of a core are neighbours
 * @param socketOf a CPU's socket
 * @param numaOf a CPU's NUMA node
 * @param numaNodes all that have memory
 */
public record Topology(
        List<Integer> inOrder,
        Map<Integer, Integer> socketOf,
        Map<Integer, Integer> numaOf,
        TreeSet<Integer> numaNodes) {

    /** One socket and one NUMA node. */
    public static Topology flat(List<Integer> inOrder) {
        return new Topology(List.copyOf(inOrder), Map.of(), Map.of(), new TreeSet<>(List.of(0)));
    }

    public int socket(int cpu) {
        return socketOf.getOrDefault(cpu, 0);
    }

    public int numa(int cpu) {
        return numaOf.getOrDefault(cpu, 0);
    }

    /**
     * The machine's numbers of abstract CPUs; without those that this machine does not have: a node may be configured
     * with more.
     */
    public TreeSet<Integer> cpus(String list) {
        TreeSet<Integer> out = new TreeSet<>();
        IndexSet abstractCpus = IndexSet.parse(list);
        for (int cpu = abstractCpus.first(); cpu >= 0 && cpu < inOrder.size(); cpu = abstractCpus.next(cpu + 1)) {
            out.add(inOrder.get(cpu));
        }
        return out;
    }
}
