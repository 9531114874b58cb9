/** Commands that list and signal: squeue, sinfo, sprio, sshare, sdiag, scancel, strigger, sview. */
package dev.muster.cli.list;
