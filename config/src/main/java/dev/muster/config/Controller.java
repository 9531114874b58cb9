package dev.muster.config;

/**
 * A machine that may run slurmctld, in order of preference.
 *
 * @param host what the machine calls itself
 * @param address where to connect
 */
public record Controller(String host, String address) {}
