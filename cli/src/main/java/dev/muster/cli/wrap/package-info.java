/** Commands of other workload managers' names and Slurm's contributed reports: each runs this system's own commands. */
package dev.muster.cli.wrap;
