package dev.muster.model;

/** The release of Slurm whose interface this is: what tools that ask for a version are told. */
public final class Release {
    public static final String MAJOR = "26";
    public static final String MINOR = "05";
    public static final String MICRO = "3";
    public static final String VERSION = MAJOR + "." + MINOR + "." + MICRO;
    /** What {@code -V} prints. */
    public static final String LINE = "slurm " + VERSION;

    /** The version of its protocol, as clusters tell each other. */
    public static final int RPC_VERSION = 11520;

    /** Muster's own version, equal to the version in pom.xml. */
    public static final String OWN = "0.1.0";

    private Release() {}
}
