/** The order of pending jobs, their classes, and the estimates that backfill uses. */
package dev.muster.scheduler.queue;
