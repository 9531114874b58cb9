/** Messages of clients to slurmctld and slurmd, and the table of callers that may send each. */
package dev.muster.model.api;
