package dev.muster.node.step;

import dev.muster.config.sister.MpiConf;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.MpiNode;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.node.config.Settings;
import dev.muster.node.os.Os;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Settings of PMI for slurmstepd and mpi-helper; {@code native/README.md} lists them. */
public final class MpiSpec {
    /**
     * The parent of node i in the tree of a step's helpers is (i - 1) / WIDTH: the same everywhere, or they would not
     * find each other.
     */
    public static final int WIDTH = 16;

    private static final String OPEN_MPI_SHARED = "OMPI_MCA_btl_vader_backing_directory";
    static final String PMIX = "pmix";
    static final String PMI2 = "pmi2";

    private final Settings settings;

    /** @param socket of the helper, "" on a single node; directory: for PMIx, made by stepd */
    record Place(String socket, String directory) {
        static final Place NONE = new Place("", "");
    }

    MpiSpec(Settings settings) {
        this.settings = settings;
    }

    /** Beside stepd where they were built, elsewhere where they are installed. */
    private Path helper() {
        Path beside = settings.stepd().resolveSibling("mpi-helper");
        Path installed =
                settings.stepd().resolveSibling("../lib/muster/mpi-helper").normalize();
        return Files.isExecutable(beside) ? beside : installed;
    }

    static String kind(Launch launch) {
        return launch.step().mpi().startsWith(PMIX) ? PMIX : PMI2;
    }

    /**
     * Returns the name by which tasks know their step; a step of several components of a heterogeneous job has the
     * first one's.
     */
    static String id(Launch launch) {
        return launch.mpi().getFirst().jobId() + "." + StepId.number(launch.stepId());
    }

    void step(SpecWriter out, Launch launch, Place place) {
        out.put("mpi_helper", helper().toString());
        if (!place.socket().isEmpty()) {
            out.put("mpi_socket", place.socket());
        }
        List<String> lines = new ArrayList<>(List.of(
                "kind " + kind(launch),
                "job " + launch.share().jobId(),
                "step " + StepId.number(launch.stepId()),
                "id " + id(launch),
                "namespace slurm.pmix." + id(launch),
                "index " + launch.nodeIndex(),
                "width " + WIDTH,
                "size " + launch.stepTasks(),
                "uid " + launch.share().owner().uid(),
                "gid " + launch.share().owner().gid()));
        String ports = SpecBuilder.variable(launch.environment(), "SLURM_STEP_RESV_PORTS", "");
        if (ports.matches("[0-9,-]+")) {
            lines.add("ports " + ports);
        }
        if (kind(launch).equals(PMIX)) {
            pmix(out, launch, place, lines);
        }
        for (MpiNode node : launch.mpi()) {
            lines.add("node " + node.node() + " " + node.tasks());
        }
        lines.forEach(line -> out.put("mpi", line));
    }

    /** Directories that the helper or stepd makes, and removes when the step is over. */
    private void pmix(SpecWriter out, Launch launch, Place place, List<String> lines) {
        MpiConf conf = settings.around().mpi();
        lines.add("timeout " + conf.timeoutSeconds());
        if (conf.debug()) {
            lines.add("debug 1");
        }
        conf.environment().forEach(e -> lines.add("env " + e));
        lines.add("directory " + place.directory());
        out.put("mpi_directory", place.directory());
        if (!conf.clientDirectory().isEmpty()) {
            String own = conf.clientDirectory() + "/slurm.pmix." + id(launch) + "." + settings.nodeName();
            lines.add("client_directory " + own);
            out.put("mpi_directory", own);
        }
        if (!Os.hostName().equals(settings.nodeName())
                && SpecBuilder.variable(launch.environment(), OPEN_MPI_SHARED, "")
                        .isEmpty()) {
            // ranks of two nodes that are one machine would take each other's memory: Open MPI names it by host and
            // local rank
            String shared = "/dev/shm/slurm.pmix." + id(launch) + "." + settings.nodeName();
            lines.add("shared_directory " + shared);
            out.put("mpi_directory", shared);
        }
    }

    /** Variables of PMI for a task; the helper adds those of PMIx. */
    List<String> environment(Launch launch, Task task) {
        return kind(launch).equals(PMIX)
                ? List.of()
                : List.of("PMI_RANK=" + task.rank(), "PMI_SIZE=" + launch.stepTasks(), "PMI_JOBID=" + id(launch));
    }
}
