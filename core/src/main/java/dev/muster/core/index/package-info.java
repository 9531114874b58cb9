/** Indexes over the state: the second at which each job is due, and the jobs and nodes that an entry touches. */
package dev.muster.core.index;
