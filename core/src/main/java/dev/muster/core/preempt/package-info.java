/** Preemption and gang scheduling. */
package dev.muster.core.preempt;
