/** The plan of the whole queue: expected starts of all pending jobs, week by week. */
package dev.muster.scheduler.forecast;
