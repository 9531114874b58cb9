/** Rows for the accounting database: embedded, by slurmdbd, or none. */
package dev.muster.controller.accounting;
