package dev.muster.transport;

/**
 * Kinds of daemons, signed with each request. A daemon refuses a request for another kind, even if it was recorded on
 * its way there. All slurmds are one kind.
 */
public final class Audience {
    public static final String SLURMCTLD = "slurmctld";
    public static final String SLURMDBD = "slurmdbd";
    public static final String SLURMD = "slurmd";

    private Audience() {}
}
