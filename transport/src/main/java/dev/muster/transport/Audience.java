package dev.muster.transport;

/**
 * The kinds of daemons in what requests sign. A request that was seen on its way to one kind is not taken by another kind. The slurmds of all nodes
 * are of one kind.
 */
public final class Audience {
    public static final String SLURMCTLD = "slurmctld";
    public static final String SLURMDBD = "slurmdbd";
    public static final String SLURMD = "slurmd";

    private Audience() {}
}
