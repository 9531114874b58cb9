/** slurm.conf and cgroup.conf as far as one slurmd is concerned. */
package dev.muster.node.config;
