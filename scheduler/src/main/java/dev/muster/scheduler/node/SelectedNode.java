package dev.muster.scheduler.node;

/** A picked node with the tasks it gets. */
public record SelectedNode(NodeSlot node, int tasks) {}
