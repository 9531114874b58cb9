package dev.muster.scheduler.node;

/** The part of a node's free CPUs and memory that reservations and planned places of other jobs leave to a class. */
public interface UnreservedCapacity {
    /** Tests whether the class may have the whole node. */
    boolean isWhole(NeedClass c, int node);

    /** @param free CPUs of the node now; @return of them */
    int cpus(NeedClass c, int node, int free);

    /** @param free memory of the node now, in MiB */
    long memoryMb(NeedClass c, int node, long free);

    /**
     * Returns the CPUs that reservations leave of {@code maxCpus}, whichever jobs are on the node now; -1 if the class
     * must have it whole and may not.
     */
    int cpusWhoeverGoes(NeedClass c, int node, int maxCpus);
}
