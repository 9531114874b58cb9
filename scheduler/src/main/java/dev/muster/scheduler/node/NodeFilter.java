package dev.muster.scheduler.node;

import dev.muster.scheduler.request.ResourceNeed;

/**
 * The properties that decide on which nodes a need may be placed at all: two needs with the same filter have the same
 * nodes.
 */
public record NodeFilter(
        String partition,
        String nodeList,
        String excludeList,
        String within,
        String features,
        long tmpDiskMb,
        String extra) {
    public static NodeFilter of(ResourceNeed need) {
        return new NodeFilter(
                need.partition(),
                need.nodeList(),
                need.excludeList(),
                need.network().within(),
                need.features(),
                need.tmpDiskMb(),
                need.shape().extra());
    }
}
