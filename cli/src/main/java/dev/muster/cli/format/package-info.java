/** Columns, widths and the texts of records. */
package dev.muster.cli.format;
