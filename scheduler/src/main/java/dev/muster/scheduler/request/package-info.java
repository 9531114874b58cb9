/** Requests of pending jobs, in the form in which a pass compares them with nodes. */
package dev.muster.scheduler.request;
