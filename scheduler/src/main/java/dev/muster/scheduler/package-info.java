/**
 * Chooses which pending jobs start where, and plans when the others will.
 *
 * <pre>
 * State -> Scheduler -> pass (queue order, candidates, node selection) -> placements
 *                    \-> forecast (timeline of free resources) -> planned starts
 * </pre>
 *
 * {@code Scheduler} and {@code Explainer} are the door.
 */
package dev.muster.scheduler;
