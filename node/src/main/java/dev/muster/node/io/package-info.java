/** Streams between srun and steps: task output, MPI, X11, relayed launches. */
package dev.muster.node.io;
