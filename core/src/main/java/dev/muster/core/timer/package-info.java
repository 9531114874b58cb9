/** Deadlines, triggers and settings. */
package dev.muster.core.timer;
