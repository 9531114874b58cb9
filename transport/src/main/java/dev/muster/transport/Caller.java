package dev.muster.transport;

/**
 * The user that a verified request comes from.
 *
 * @param uid of the calling process, as its kernel or munge told
 */
public record Caller(int uid, int gid) {}
