/** scontrol. */
package dev.muster.cli.scontrol;
