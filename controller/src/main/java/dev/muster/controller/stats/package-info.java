/** Statistics: sdiag, metrics, the scheduler's log and debug flags. */
package dev.muster.controller.stats;
