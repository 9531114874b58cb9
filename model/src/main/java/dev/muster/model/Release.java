package dev.muster.model;

/** The release of Slurm whose interface this is: what tools that ask for a version are told. */
public final class Release {
    public static final String VERSION = "26.05.3";
    /** What {@code -V} prints. */
    public static final String LINE = "slurm " + VERSION;

    private Release() {}
}
