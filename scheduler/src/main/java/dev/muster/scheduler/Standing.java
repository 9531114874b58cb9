package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.Job;
import dev.muster.core.Now;
import dev.muster.core.State;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Places that the last plan keeps for the first that wait, for one pass: a place counts from its job's turn on, if that does not start. So who
 * comes before it in the queue may take it, and who comes after it may have its nodes only as long as it does not come.
 */
final class Standing {
    private final Scheduler scheduler;
    private final State state;
    private final Now now;
    private final Map<Integer, List<Forecast.Claim>> claims;
    private final Map<Integer, List<Forecast.Claim>> byNode = new HashMap<>();
    /** Of nodes that were looked at: when what comes free, as seconds since 1970, CPUs, mebibytes, and the number of the job that has it. */
    private final Map<Integer, List<long[]>> ends = new HashMap<>();
    /** Running jobs that are off their nodes for a moment: what they have is free already. */
    private final Set<Integer> lifted = new HashSet<>();

    Standing(Scheduler scheduler, State state, Now now, Map<Integer, List<Forecast.Claim>> claims) {
        this.scheduler = scheduler;
        this.state = state;
        this.now = now;
        this.claims = claims;
    }

    boolean has(int jobId) {
        return claims.containsKey(jobId);
    }

    /** The job does not start now: its places are kept. */
    void keep(int jobId) {
        for (Forecast.Claim c : claims.getOrDefault(jobId, List.of())) {
            byNode.computeIfAbsent(c.node(), n -> new ArrayList<>()).add(c);
        }
    }

    void lifted(int jobId, boolean off) {
        if (off) {
            lifted.add(jobId);
        } else {
            lifted.remove(jobId);
        }
    }

    /** Something of the node is kept for somebody who came before. */
    boolean touches(NodeSlot node) {
        return byNode.containsKey(node.index);
    }

    /** Whether somebody who came before has his place there before that second since 1970. */
    boolean comesBefore(NodeSlot node, long until) {
        for (Forecast.Claim c : byNode.getOrDefault(node.index, List.of())) {
            if (c.from() < until) {
                return true;
            }
        }
        return false;
    }

    /** Units of the node that may be had until then, seconds since 1970, so that everybody's place is there when it is needed. */
    int unitsUntil(NodeSlot node, long until) {
        return (int) Math.min(node.freeUnits.count(), least(node, until, true) / Math.max(1, node.spec.cpusPerUnit()));
    }

    /** Mebibytes, likewise. */
    long memoryUntil(NodeSlot node, long until) {
        return Math.min(node.freeMemoryMb, least(node, until, false));
    }

    /** The least that is left at any time when somebody comes. */
    private long least(NodeSlot node, long until, boolean cpus) {
        List<Forecast.Claim> here = byNode.getOrDefault(node.index, List.of());
        long free = cpus ? (long) node.freeUnits.count() * node.spec.cpusPerUnit() : node.freeMemoryMb;
        long least = Long.MAX_VALUE;
        for (Forecast.Claim c : here) {
            long at = Math.max(c.from(), now.seconds());
            if (at >= until) {
                continue;
            }
            long left = free;
            for (long[] e : ends.computeIfAbsent(node.index, n -> ends(node))) {
                left += e[0] <= at && !lifted.contains((int) e[3]) ? e[cpus ? 1 : 2] : 0;
            }
            for (Forecast.Claim other : here) {
                left -= other.from() <= at && other.to() > at ? cpus ? other.cpus() : other.memoryMb() : 0;
            }
            least = Math.min(least, left);
        }
        return Math.max(0, least);
    }

    private List<long[]> ends(NodeSlot node) {
        List<long[]> out = new ArrayList<>();
        for (int id : state.nodes().at(node.spec.name()).jobs()) {
            Job job = state.jobs().at(id);
            for (Allocation.Share s : job.run().allocation().held()) {
                if (s.node().equals(node.spec.name()) && !s.released() && !Scheduler.gaveItsCores(state, job)) {
                    long leftS = Math.min(Times.HORIZON_S * 2L, Forecast.left(job, now.tickMs()));
                    out.add(new long[] {now.seconds() + leftS, s.cpus(), s.memoryMb(), id});
                }
            }
        }
        return out;
    }

    /**
     * The claims of a new plan that can still be kept, in its order; for a job that loses its place the one that it had, if that can. Where nothing
     * has changed since the plan was noted down they can be.
     *
     * @param since as {@link FreeTable#changes} was then; before the beginning: each is looked at
     */
    Map<Integer, List<Forecast.Claim>> renewed(Map<Integer, List<Forecast.Claim>> wanted, long since) {
        Map<Integer, List<Forecast.Claim>> out = new java.util.LinkedHashMap<>();
        BitSet other = new BitSet();
        wanted.forEach((job, fresh) -> {
            if (!scheduler.isQueued(job)) {
                return;
            }
            boolean stays = fits(fresh, n -> !scheduler.free().hasChanged(n, since) && !other.get(n));
            List<Forecast.Claim> kept = stays ? fresh : claims.getOrDefault(job, List.of());
            if (!kept.isEmpty() && (stays || fits(kept, n -> false))) {
                out.put(job, kept);
                kept.forEach(c -> byNode.computeIfAbsent(c.node(), n -> new ArrayList<>()).add(c));
                kept.forEach(c -> other.set(c.node(), !stays || other.get(c.node())));
            }
        });
        return out;
    }

    /** @param asPlanned nodes of which that is known */
    private boolean fits(List<Forecast.Claim> those, IntPredicate asPlanned) {
        for (Forecast.Claim c : those) {
            if (asPlanned.test(c.node())) {
                continue;
            }
            NodeSlot node = scheduler.nodes().get(c.node());
            byNode.computeIfAbsent(c.node(), n -> new ArrayList<>()).add(c);
            boolean room = node.usable && isEnough(node, c);
            byNode.get(c.node()).remove(c);
            if (!room) {
                return false;
            }
        }
        return true;
    }

    /** With this claim among them, no time comes at which there is less than nothing. */
    private boolean isEnough(NodeSlot node, Forecast.Claim c) {
        List<Forecast.Claim> here = byNode.get(c.node());
        for (Forecast.Claim other : here) {
            long at = Math.max(other.from(), c.from());
            if (at >= Math.min(other.to(), c.to())) {
                continue;
            }
            long cpus = (long) node.freeUnits.count() * node.spec.cpusPerUnit();
            long memory = node.freeMemoryMb;
            for (long[] e : ends.computeIfAbsent(node.index, n -> ends(node))) {
                cpus += e[0] <= at ? e[1] : 0;
                memory += e[0] <= at ? e[2] : 0;
            }
            for (Forecast.Claim o : here) {
                boolean then = o.from() <= at && o.to() > at;
                cpus -= then ? o.cpus() : 0;
                memory -= then ? o.memoryMb() : 0;
            }
            if (cpus < 0 || memory < 0) {
                return false;
            }
        }
        return true;
    }
}
