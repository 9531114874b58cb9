/** The way from slurmctld to slurmdbd: rows out, associations and QOS in. */
package dev.muster.controller.dbd;
