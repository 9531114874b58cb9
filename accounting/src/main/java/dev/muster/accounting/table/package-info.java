/** Tables of jobs, steps, reservations and entities: writing, queries, purge and archive. */
package dev.muster.accounting.table;
