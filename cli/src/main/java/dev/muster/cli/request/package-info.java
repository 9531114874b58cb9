/**
 * What sbatch, srun and salloc request: options from command line, script, environment and cli_filter, and the request
 * they make.
 */
package dev.muster.cli.request;
