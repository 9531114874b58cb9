/**
 * slurm.conf and the files beside it, read into checked values.
 *
 * <p>{@code SlurmConf} is the door; {@code key.Key} is the table of all that slurm.conf may say.
 */
package dev.muster.config;
