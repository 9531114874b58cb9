/** The files beside slurm.conf: gres.conf, cgroup.conf, topology.conf and the others. */
package dev.muster.config.sister;
