/** Reports: sums of rows over spans of time, without a database. */
package dev.muster.accounting.report;
