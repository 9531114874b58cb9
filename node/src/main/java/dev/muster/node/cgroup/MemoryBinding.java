package dev.muster.node.cgroup;

import dev.muster.model.job.MemBind;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.node.os.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Which NUMA nodes' memory each task of a step may use: {@code --mem-bind}. */
public final class MemoryBinding {
    private final MemBind asked;
    private final Topology machine;
    private final CpuBinding cpus;
    private final boolean bind;
    private final String host;

    /**
     * @param bind this node binds tasks (task/affinity); host: this machine's own name, which the words of verbose go
     *     by
     */
    public MemoryBinding(MemBind asked, Topology machine, CpuBinding cpus, boolean bind, String host) {
        this.asked = asked;
        this.machine = machine;
        this.cpus = cpus;
        this.bind = bind;
        this.host = host;
    }

    /** The environment variables of every task. */
    public List<String> environment() {
        return asked.environment();
    }

    private Set<Integer> wanted(int local) {
        return switch (asked.kind()) {
            case DEFAULT, NONE -> Set.of();
            case RANK -> Set.of(local);
            case LOCAL -> cpus.numaNodes(local);
            case MAP, MASK -> new TreeSet<>(asked.nodes(local));
        };
    }

    private boolean isBound() {
        return bind && asked.kind() != MemBind.Kind.DEFAULT && asked.kind() != MemBind.Kind.NONE;
    }

    /** {@code bind 0,1} or {@code prefer 0}, as stepd takes it; "" where the task's memory is not bound. */
    public String policy(int local) {
        if (!isBound() || !failures(local).isEmpty()) {
            return "";
        }
        return (asked.prefer() ? "prefer " : "bind ")
                + wanted(local).stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** Sentences for the task's standard error if this machine lacks the memory node; empty if it has it. */
    public List<String> failures(int local) {
        if (!isBound()) {
            return List.of();
        }
        String how = switch (asked.kind()) {
            case MAP -> "map_mem";
            case MASK -> "mask_mem; 0x" + CpuBinding.mask(wanted(local)).toLowerCase(java.util.Locale.ROOT);
            case DEFAULT, NONE, RANK, LOCAL -> asked.kind().text();
        };
        List<String> out = new ArrayList<>();
        wanted(local).stream()
                .filter(n -> !machine.numaNodes().contains(n))
                .findFirst()
                .ifPresent(n -> {
                    out.add("NUMA node " + n + " does not exist; cannot bind local task " + local
                            + " to it (--mem-bind=" + how + ")");
                    out.add("Failed to invoke task plugins: task_p_pre_launch error");
                });
        return out;
    }

    /** The line of {@code --mem-bind=verbose}, as {@link CpuBinding#said}. */
    public List<String> said(Task task, int local) {
        if (!bind || !asked.verbose()) {
            return List.of();
        }
        String type = switch (asked.kind()) {
            case DEFAULT -> "NULL";
            case NONE -> "NONE";
            case RANK -> "RANK";
            case LOCAL -> "LOC";
            case MAP -> "MAP";
            case MASK -> "MASK";
        };
        Set<Integer> nodes = isBound() && failures(local).isEmpty() ? wanted(local) : machine.numaNodes();
        return List.of(
                "mem-bind%s%s - %s, task %2d %2d ["
                        .formatted(asked.prefer() ? " PREFER " : "=", type, host, task.rank(), local),
                "]: mask 0x" + CpuBinding.mask(nodes).toLowerCase(java.util.Locale.ROOT) + (isBound() ? " set" : ""));
    }
}
