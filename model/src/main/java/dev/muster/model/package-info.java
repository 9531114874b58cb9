/**
 * The nouns that all rooms share. It depends on no other room.
 *
 * <pre>
 * format (texts) -> json (records as JSON) -> job, cluster -> node, api, accounting (messages)
 * </pre>
 *
 * {@code SlurmErrno} has Slurm's error numbers and sentences, {@code Identity} a user by number.
 */
package dev.muster.model;
