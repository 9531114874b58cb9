/**
 * slurmctld: the core behind its journal, its connections to nodes and clients, and its site's programs.
 *
 * <pre>
 * client -> edge -> engine (decide, append, apply) -> nodes (launches, signals)
 *                                                  -> accounting, site programs
 * </pre>
 */
package dev.muster.controller;
