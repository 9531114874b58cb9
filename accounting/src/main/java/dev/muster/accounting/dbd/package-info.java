/** The edge of slurmdbd: its messages, callers and configuration. */
package dev.muster.accounting.dbd;
