/** What a cluster is made of beside its nodes: topology, layered resources, flags of reservations, launch trees. */
package dev.muster.model.cluster;
