/** slurmrestd: Slurm's REST API over the requests that the commands make. */
package dev.muster.rest;
