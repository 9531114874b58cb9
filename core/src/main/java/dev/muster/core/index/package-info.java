/** Indexes over the state: what is due when, and what an entry touches. */
package dev.muster.core.index;
