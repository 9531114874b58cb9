/** Texts of Slurm: times, sizes, host lists, index sets, byte strings, and the checks of what users type. */
package dev.muster.model.format;
