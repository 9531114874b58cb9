/** Connections of the caller's own process to slurmctld, slurmdbd and slurmd, with the caller's credential. */
package dev.muster.cli.connection;
