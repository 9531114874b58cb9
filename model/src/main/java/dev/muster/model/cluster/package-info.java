/** Topology, layered resources, flags of reservations, and launch trees. */
package dev.muster.model.cluster;
