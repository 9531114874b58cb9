/** Messages of clients to slurmctld and slurmd, and the table of who may send each. */
package dev.muster.model.api;
