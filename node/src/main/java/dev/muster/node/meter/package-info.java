/** Measurements of steps and of the node: usage, energy, file systems, GPUs, profiles. */
package dev.muster.node.meter;
