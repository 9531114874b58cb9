/** Free resources over time: when running jobs end and licenses come back. */
package dev.muster.scheduler.timeline;
