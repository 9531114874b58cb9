/** Several controllers of one cluster: which one this is, and what the others do. */
package dev.muster.controller.ha;
