/** A cluster in one process under virtual time: from a seed, with injected faults and an outside ledger. */
package dev.muster.simulator;
