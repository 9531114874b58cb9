/** The journal that several slurmctld keep together: Apache Ratis behind the interfaces of the room journal. */
package dev.muster.raft;
