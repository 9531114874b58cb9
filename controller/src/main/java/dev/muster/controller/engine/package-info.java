/** The core thread, its pipeline to the journal, recovery, and the waits for durable changes. */
package dev.muster.controller.engine;
