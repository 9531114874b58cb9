/**
 * Clusters, accounts, users, associations, QOS and what else an administrator keeps: the rules for them, without any
 * database.
 */
package dev.muster.accounting.book;
