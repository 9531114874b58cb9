/** Jobs and steps as they are described and as they end: requests, binding, states, reasons. */
package dev.muster.model.job;
