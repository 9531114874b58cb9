/** Requests of clients: rights, limits and lookups before the core decides. */
package dev.muster.controller.edge;
