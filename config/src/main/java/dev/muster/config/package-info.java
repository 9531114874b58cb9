/** slurm.conf and the files beside it, read into checked values; {@code Key} is the table of everything it may say. */
package dev.muster.config;
