/** Messages between slurmctld and slurmd. */
package dev.muster.model.node;
