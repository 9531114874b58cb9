/**
 * The trees of Slurm's REST API, data parser v0.0.45: what the commands print for --json and --yaml, and what
 * slurmrestd answers.
 */
package dev.muster.cli.shape;
