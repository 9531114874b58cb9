package dev.muster.config.file;

/** The files that may lie beside slurm.conf. */
public final class SisterFiles {
    public static final String GRES = "gres.conf";
    public static final String CGROUP = "cgroup.conf";
    public static final String TOPOLOGY = "topology.conf";
    public static final String MPI = "mpi.conf";
    public static final String SLURMDBD = "slurmdbd.conf";

    private SisterFiles() {}
}
