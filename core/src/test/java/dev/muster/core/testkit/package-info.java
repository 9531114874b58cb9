/**
 * The language of tests that need a cluster: {@link dev.muster.core.testkit.Cluster} holds nodes, partitions and jobs
 * that are written as words, {@link dev.muster.core.testkit.Play} performs lines of commands and compares states.
 */
package dev.muster.core.testkit;
