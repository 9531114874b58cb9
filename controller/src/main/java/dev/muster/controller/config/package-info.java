/** slurm.conf as the core takes it, and the node's answers for configless hosts. */
package dev.muster.controller.config;
