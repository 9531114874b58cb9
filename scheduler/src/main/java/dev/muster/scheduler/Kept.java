package dev.muster.scheduler;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Places of the first that wait, by job and by node: made once when a plan is taken up, and read by all passes until the next. */
final class Kept {
    static final Kept NONE = new Kept(0);

    private final Map<Integer, List<Forecast.Claim>> byJob = new LinkedHashMap<>();
    private final Map<Integer, Integer> ranks = new HashMap<>();
    /** Of each node the last claim, one more than its number; of each claim the one before it on its node, likewise. */
    private final int[] last;
    private int[] before = new int[64];
    private int[] rankOf = new int[64];
    private final List<Forecast.Claim> claims = new ArrayList<>();
    private long firstEnd = Long.MAX_VALUE;

    Kept(int nodes) {
        last = new int[nodes];
    }

    void add(int jobId, List<Forecast.Claim> those) {
        ranks.put(jobId, ranks.size());
        byJob.put(jobId, those);
        for (Forecast.Claim c : those) {
            if (claims.size() == before.length) {
                before = Arrays.copyOf(before, before.length * 2);
                rankOf = Arrays.copyOf(rankOf, rankOf.length * 2);
            }
            before[claims.size()] = last[c.node()];
            rankOf[claims.size()] = ranks.size() - 1;
            claims.add(c);
            firstEnd = Math.min(firstEnd, c.to());
            last[c.node()] = claims.size();
        }
    }

    /** Nodes of which something is kept. */
    IntStream nodes(IntPredicate which) {
        return IntStream.range(0, last.length).filter(n -> last[n] > 0 && which.test(n));
    }

    /** When the first of all claims is over, seconds since 1970. */
    long firstEnd() {
        return firstEnd;
    }

    /** In the plan's order. */
    Map<Integer, List<Forecast.Claim>> byJob() {
        return byJob;
    }

    /** The job's number in the plan's order, from 0; -1 if nothing is kept for it. */
    int rank(int jobId) {
        return ranks.getOrDefault(jobId, -1);
    }

    /** A claim on the node, or -1; {@link #next} has the others. */
    int first(int node) {
        return node < last.length ? last[node] - 1 : -1;
    }

    int next(int claim) {
        return before[claim] - 1;
    }

    Forecast.Claim at(int claim) {
        return claims.get(claim);
    }

    /** Of the job whose claim it is. */
    int rankAt(int claim) {
        return rankOf[claim];
    }

    List<Forecast.Claim> on(int node) {
        List<Forecast.Claim> out = new ArrayList<>();
        for (int at = first(node); at >= 0; at = next(at)) {
            out.add(at(at));
        }
        return out;
    }
}
