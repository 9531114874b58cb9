/** What all daemons share: log, pid file, signals, identities, the cluster key and the sack socket. */
package dev.muster.daemon;
