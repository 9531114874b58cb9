/**
 * The state of a cluster and the changes that lead from one to the next: jobs, steps, nodes, partitions, reservations,
 * accounts.
 */
package dev.muster.core.state;
