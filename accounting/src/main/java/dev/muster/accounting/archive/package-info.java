/** Files that rows of the past are kept in, as text. */
package dev.muster.accounting.archive;
