package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.option.JobOptions;
import dev.muster.model.format.Digits;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The variables of a heterogeneous job's options. A variable of one component has the component's number behind its
 * name and does not exist without it: steps of other components would read it.
 */
public final class ComponentEnvironment {
    /** A plain srun in a heterogeneous job runs in the first component. */
    static final int FIRST = -2;

    private static final String SUFFIX = "_HET_GROUP_";
    private static final String SIZE = "SLURM_HET_SIZE";

    /** Options of one component that say nothing about the others. */
    private static final Set<String> OPTIONS = Set.of(
            "SLURM_CPUS_PER_GPU",
            "SLURM_CPUS_PER_TASK",
            "SLURM_DISTRIBUTION",
            "SLURM_DIST_PLANESIZE",
            "SLURM_GPUS",
            "SLURM_GPUS_PER_NODE",
            "SLURM_GPUS_PER_SOCKET",
            "SLURM_GPUS_PER_TASK",
            "SLURM_GPU_BIND",
            "SLURM_GPU_FREQ",
            "SLURM_HINT",
            "SLURM_MEM_BIND",
            "SLURM_MEM_BIND_LIST",
            "SLURM_MEM_BIND_PREFER",
            "SLURM_MEM_BIND_SORT",
            "SLURM_MEM_BIND_TYPE",
            "SLURM_MEM_BIND_VERBOSE",
            "SLURM_MEM_PER_GPU",
            "SLURM_NTASKS_PER_CORE",
            "SLURM_NTASKS_PER_GPU",
            "SLURM_NTASKS_PER_NODE",
            "SLURM_NTASKS_PER_SOCKET",
            "SLURM_THREADS_PER_CORE",
            "SLURM_TRES_BIND",
            "SLURM_TRES_PER_TASK");

    /** Variables of the first component that its script also has under their plain names. */
    private static final Set<String> SHARED = Set.of(
            "SLURM_JOB_NAME",
            "SLURM_JOB_NUM_NODES",
            "SLURM_MEM_PER_CPU",
            "SLURM_MEM_PER_NODE",
            "SLURM_NNODES",
            "SLURM_NPROCS",
            "SLURM_NTASKS");

    /** Places: salloc's command is on no node of any component. */
    private static final List<String> PLACES = List.of(
            "SLURM_JOB_ACCOUNT",
            "SLURM_JOB_CPUS_PER_NODE",
            "SLURM_JOB_NODELIST",
            "SLURM_JOB_NUM_NODES",
            "SLURM_JOB_PARTITION",
            "SLURM_JOB_QOS",
            "SLURM_JOB_RESERVATION",
            "SLURM_MEM_PER_CPU",
            "SLURM_MEM_PER_NODE",
            "SLURM_NNODES",
            "SLURM_NODELIST",
            "SLURM_TASKS_PER_NODE");

    private ComponentEnvironment() {}

    /** Returns the component of a step that names none: in a heterogeneous job the first one. */
    public static int ofPlainStep(CommandContext context) {
        return context.env(SIZE).isEmpty() ? -1 : FIRST;
    }

    /**
     * An option's variable, of the component if there is one.
     *
     * @return null for none
     */
    static @Nullable String value(Map<String, String> env, String name, int component) {
        if (component == -1 || !OPTIONS.contains(name) && !SHARED.contains(name)) {
            return env.get(name);
        }
        return component == FIRST
                ? env.getOrDefault(name + SUFFIX + 0, env.get(name))
                : env.get(name + SUFFIX + component);
    }

    /** The options of a job, of all its components. */
    public static void add(List<JobOptions> all, Map<String, String> env) {
        if (all.size() == 1) {
            JobEnvironment.addOptions(all.getFirst(), env);
            return;
        }
        for (int i = 0; i < all.size(); i++) {
            Map<String, String> variables = new LinkedHashMap<>();
            JobEnvironment.addOptions(all.get(i), variables);
            for (Map.Entry<String, String> entry : variables.entrySet()) {
                if (OPTIONS.contains(entry.getKey())) {
                    env.put(entry.getKey() + SUFFIX + i, entry.getValue());
                } else if (i == 0) {
                    env.put(entry.getKey(), entry.getValue());
                }
            }
        }
    }

    /** Sets the variables of salloc's command: tasks are those of all components, places are named for each alone. */
    public static void ofCommand(Map<String, String> env, int components) {
        if (components == 1) {
            return;
        }
        for (String name : List.of("SLURM_NTASKS", "SLURM_NPROCS")) {
            int tasks = 0;
            for (int i = 0; i < components; i++) {
                tasks += Math.max(0, (int) Digits.parseNumber(env.getOrDefault(name + SUFFIX + i, "0")));
            }
            if (tasks > 0) {
                env.put(name, Integer.toString(tasks));
            }
        }
        PLACES.stream()
                .filter(name -> env.containsKey(name + SUFFIX + 0))
                .toList()
                .forEach(env::remove);
    }
}
