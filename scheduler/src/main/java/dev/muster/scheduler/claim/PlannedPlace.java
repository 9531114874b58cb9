package dev.muster.scheduler.claim;

/**
 * A part of a node that a plan keeps for a job.
 *
 * @param node number of the node
 * @param from seconds since 1970
 * @param to seconds since 1970
 */
public record PlannedPlace(int node, long from, long to, int cpus, long memoryMb) {}
