/** Free resources of nodes, and the selection of nodes, sockets, cores and devices for a job. */
package dev.muster.scheduler.node;
