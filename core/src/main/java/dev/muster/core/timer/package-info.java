/** Deadlines, triggers and settings: what the passing of time brings about. */
package dev.muster.core.timer;
