package dev.muster.scheduler.claim;

import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Partitions that reservations occupy entirely, for jobs that name no reservation, in one pass. */
public final class ReservedPartitions {
    private static final byte OPEN = 1;
    private static final byte CLOSED = 2;

    private final ClusterIndex cluster;
    private final PassReservations reserved;
    private final long nowS;
    /**
     * State of each partition for jobs without a time limit, by partition number: open or closed; 0 where not looked
     * up.
     */
    private byte[] forGood = {};

    private final Map<LimitKey, Boolean> forSoLong = new HashMap<>();

    private record LimitKey(int partition, int limitMin) {}

    public ReservedPartitions(ClusterIndex cluster, PassReservations reserved, long nowS) {
        this.cluster = cluster;
        this.reserved = reserved;
        this.nowS = nowS;
    }

    /** Tests whether all of the class' partition is kept from it; the class names no nodes. */
    public boolean is(NeedClass c) {
        return !isOpen(c.partition) && is(c.partition, c);
    }

    /**
     * Tests whether it is known that reservations leave some of the partition to jobs without a time limit, and so to
     * every job.
     */
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
        // a partition that is open to jobs without a time limit is open to all
        forGood[partition] = forGood[partition] == CLOSED || isAll(need, -1) ? CLOSED : OPEN;
        return forGood[partition] == CLOSED
                && forSoLong.computeIfAbsent(new LimitKey(partition, need.limitMin()), s -> isAll(need, s.limitMin));
    }

    /** @param limitMin from now on, -1 for good */
    public boolean isAll(ResourceNeed need, int limitMin) {
        return reserved.leavesNothing(cluster.nodesOf(need.partition()), nowS, ResourceNeed.end(nowS, limitMin));
    }
}
