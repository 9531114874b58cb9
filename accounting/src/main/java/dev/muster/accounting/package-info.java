/** slurmdbd: jobs and steps of all times in a database, a projection of the journal, and the questions behind sacct. */
package dev.muster.accounting;
