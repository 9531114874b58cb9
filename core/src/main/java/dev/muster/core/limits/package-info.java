/** Limits and priorities: associations, QOS, fair share, usage and partitions. */
package dev.muster.core.limits;
