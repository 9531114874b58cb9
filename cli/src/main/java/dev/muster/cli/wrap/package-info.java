/**
 * Commands of other workload managers' names and Slurm's contributed reports: each puts what it is told into this
 * system's own commands.
 */
package dev.muster.cli.wrap;
