package dev.muster.transport;

/**
 * The names of daemons in what requests sign. A request that was seen on its way to one kind of daemon is not taken by another kind, and one to a
 * node's slurmd not by the slurmd of another node.
 */
public final class Audience {
    public static final String SLURMCTLD = "slurmctld";
    public static final String SLURMDBD = "slurmdbd";
    public static final String SLURMD = "slurmd";

    private Audience() {}
}
