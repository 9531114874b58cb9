/** What the rows add up to: sums over spans of time, without a database. */
package dev.muster.accounting.report;
