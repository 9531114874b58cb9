/** Files of the spool directory that a later slurmd reads. */
package dev.muster.node.spool;
