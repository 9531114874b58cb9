/** Jobs on the node: launch, prolog, epilog, reports, and steps decided by the job's step manager. */
package dev.muster.node.job;
