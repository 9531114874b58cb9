/** Connections to slurmds: orders, reports, and the timeouts of silent nodes. */
package dev.muster.controller.nodes;
