/** The segmented log: group commit, torn-tail repair, snapshots. Entries are opaque bytes; core owns their codec. */
package dev.muster.journal;
