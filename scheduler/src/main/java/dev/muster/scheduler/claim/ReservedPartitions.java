package dev.muster.scheduler.claim;

import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Partitions of which reservations leave nothing to who names none of them, in one pass. */
public final class ReservedPartitions {
    private static final byte OPEN = 1;
    private static final byte CLOSED = 2;

    private final ClusterIndex cluster;
    private final Reserved reserved;
    private final long nowS;
    /** By their numbers, whether they are for who has no end; 0 where nobody asked yet. */
    private byte[] forGood = {};

    private final Map<Span, Boolean> forSoLong = new HashMap<>();

    private record Span(int partition, int limitMin) {}

    public ReservedPartitions(ClusterIndex cluster, Reserved reserved, long nowS) {
        this.cluster = cluster;
        this.reserved = reserved;
        this.nowS = nowS;
    }

    /** All of its partition is kept from the class, which names no nodes. */
    public boolean is(NeedClass c) {
        return !isOpen(c.partition) && is(c.partition, c);
    }

    /** It is known that reservations do not keep all of the partition from who has no end, so from nobody. */
    public boolean isOpen(int partition) {
        return reserved.isEmpty() || partition < forGood.length && forGood[partition] == OPEN;
    }

    /** @param c of that partition, that {@link #isOpen} says no of */
    public boolean is(int partition, NeedClass c) {
        ResourceNeed need = c.need;
        if (!need.within().isNone()) {
            return false;
        }
        if (partition >= forGood.length) {
            forGood = Arrays.copyOf(forGood, partition + 8);
        }
        // who is not kept out for good is not for any time
        forGood[partition] = forGood[partition] == CLOSED || isAll(need, -1) ? CLOSED : OPEN;
        return forGood[partition] == CLOSED
                && forSoLong.computeIfAbsent(new Span(partition, need.limitMin()), s -> isAll(need, s.limitMin));
    }

    /** @param limitMin from now on, -1 for good */
    public boolean isAll(ResourceNeed need, int limitMin) {
        return reserved.leavesNothing(cluster.nodesOf(need.partition()), nowS, ResourceNeed.end(nowS, limitMin));
    }
}
