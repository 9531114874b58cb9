/** One scheduling pass over the queue, from the first job to the last placement. */
package dev.muster.scheduler.pass;
