/** Nodes: registration, update, loss, power saving and dynamic nodes. */
package dev.muster.core.node;
