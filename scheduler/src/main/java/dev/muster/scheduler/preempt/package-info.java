/** Choice of the jobs that a job of higher priority may preempt. */
package dev.muster.scheduler.preempt;
