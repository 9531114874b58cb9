/** Claims on nodes that are not running jobs: reservations and the places of jobs planned before. */
package dev.muster.scheduler.claim;
