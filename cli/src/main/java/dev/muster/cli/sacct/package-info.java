/** sacct and sstat. */
package dev.muster.cli.sacct;
