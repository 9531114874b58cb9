/**
 * Benchmarks: programs that measure one part against the reference or against itself, and the small ones of JMH. None
 * is part of an installation.
 */
package dev.muster.benchmarks;
