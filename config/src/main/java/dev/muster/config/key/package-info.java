/** Keys of slurm.conf: their kinds, values, and relations to one another. */
package dev.muster.config.key;
