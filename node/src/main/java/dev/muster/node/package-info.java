/**
 * slurmd: the jobs of one node. {@code node/README.md} has the picture.
 *
 * <p>{@code Main} and {@code Slurmd} are the door.
 */
package dev.muster.node;
