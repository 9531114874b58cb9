package dev.muster.cli.command;

/**
 * A cluster that is registered with slurmdbd.
 *
 * @param address where its slurmctld listens, "" while it does not run
 * @param port of its slurmctld, 0 while it does not run
 */
public record KnownCluster(String name, String address, int port) {}
