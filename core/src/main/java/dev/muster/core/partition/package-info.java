/** Partitions: update and creation. */
package dev.muster.core.partition;
