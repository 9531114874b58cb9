/** Log, pid file, signals, identities, cluster key and sack socket of all daemons. */
package dev.muster.daemon;
