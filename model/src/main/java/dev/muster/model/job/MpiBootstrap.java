package dev.muster.model.job;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Variables by which mpirun and mpiexec start their daemons with srun: beside the steps of the job and with all that it
 * has on a node ({@code srun --external-launcher}), and not as one of its steps.
 */
public final class MpiBootstrap {
    /** The word of MpiParams, and an option of the cluster. */
    public static final String OFF = "disable_slurm_hydra_bootstrap";

    private static final String SRUN = "slurm";
    private static final String ASIDE = "--external-launcher";
    /** Which way daemons are started, and what srun is told then. */
    private static final Map<String, String> HYDRA = Map.of(
            "HYDRA_BOOTSTRAP",
            "HYDRA_LAUNCHER_EXTRA_ARGS",
            "I_MPI_HYDRA_BOOTSTRAP",
            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS");

    /** The same of Open MPI, old and new: these start daemons with srun anyhow. */
    private static final List<String> OPEN_MPI = List.of("OMPI_MCA_plm_slurm_args", "PRTE_MCA_plm_slurm_args");

    private MpiBootstrap() {}

    /** Whether a variable has a say in it. */
    public static boolean concerns(String name) {
        return HYDRA.containsKey(name) || HYDRA.containsValue(name) || OPEN_MPI.contains(name);
    }

    /**
     * The variables that an allocation sets so that mpirun starts its daemons by srun; another way that the user chose
     * stays.
     *
     * @param given what the environment has of it, by name
     * @param off MpiParams turns this off, except for users that ask for srun
     */
    public static Map<String, String> variables(Map<String, String> given, boolean off) {
        Map<String, String> out = new TreeMap<>();
        HYDRA.forEach((way, words) -> {
            String preset = given.getOrDefault(way, "");
            if (preset.isEmpty() && !off) {
                out.put(way, SRUN);
            }
            if (preset.isEmpty() ? !off : preset.equals(SRUN)) {
                out.put(words, ASIDE);
            }
        });
        OPEN_MPI.forEach(words -> out.put(words, ASIDE));
        out.keySet().removeIf(name -> !given.getOrDefault(name, "").isEmpty());
        return out;
    }
}
