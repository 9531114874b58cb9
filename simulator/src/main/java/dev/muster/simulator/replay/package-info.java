/** Workload traces through the scheduling pass, and the waits and use that result. */
package dev.muster.simulator.replay;
