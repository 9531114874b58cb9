/** Rows and messages of accounting, and the entities that an administrator keeps. */
package dev.muster.model.accounting;
