package dev.muster.model;

/** The release of Slurm that Muster implements: commands and messages give it as their version. */
public final class Release {
    public static final String MAJOR = "26";
    public static final String MINOR = "05";
    public static final String MICRO = "3";
    public static final String VERSION = MAJOR + "." + MINOR + "." + MICRO;
    /** The output of {@code -V}. */
    public static final String LINE = "slurm " + VERSION;

    /** The version of its protocol, as clusters tell each other. */
    public static final int RPC_VERSION = 11520;

    /** Muster's own version, equal to the version in pom.xml. */
    public static final String OWN = "0.1.0";

    private Release() {}
}
