/**
 * Decides on commands: each is checked against the state and becomes changes, or a refusal. Pure: no file, no clock, no
 * thread.
 *
 * <pre>
 * command -> Core.decide -> Decision (changes) -> State.apply -> State
 * </pre>
 *
 * {@code Core} and {@code Rights} are the door; the sub-packages hold the rules.
 */
package dev.muster.core;
