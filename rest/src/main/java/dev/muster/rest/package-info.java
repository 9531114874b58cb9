/**
 * slurmrestd: Slurm's REST API over the requests that the commands make.
 *
 * <pre>
 * http (connection, request) -> operation (rights, handlers) -> contract (answer by schema and version)
 * </pre>
 */
package dev.muster.rest;
