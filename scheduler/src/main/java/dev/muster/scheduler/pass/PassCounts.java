package dev.muster.scheduler.pass;

/**
 * Counts of what passes have done since the controller started.
 *
 * @param backfilled jobs that started ahead of a more urgent one
 * @param backfilledHet components of heterogeneous jobs that did
 * @param full passes in which as many jobs started as may
 */
public record PassCounts(long backfilled, long backfilledHet, long full) {}
