/** Workload traces through the scheduling pass, and what they tell of waits and use. */
package dev.muster.simulator.replay;
