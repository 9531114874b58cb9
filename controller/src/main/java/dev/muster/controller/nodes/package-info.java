/** The connections to slurmds: what they are told, what they report, and which have fallen silent. */
package dev.muster.controller.nodes;
