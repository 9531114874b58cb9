package dev.muster.scheduler.claim;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Places of the first that wait, by job and by node: made with the plan, on whatever thread that is made on, and read
 * by all passes until the next. What is lost of them when the plan is taken up is taken out of a copy.
 */
public final class PlannedReservations {
    /** A power of two, many times the number of jobs. */
    private static final int BITS = 1 << 16;

    public static final PlannedReservations NONE = new PlannedReservations(0);

    /** Each job's number in the plan's order, by job id; shared by all copies. */
    private final Map<Integer, Integer> ranks;
    /**
     * A bit for the lower part of each job number: passes ask for many jobs without a reservation. Shared like the
     * numbers.
     */
    private final long[] bits;

    private final List<Integer> jobs;
    /** Kept places of each job, by its number; none where nothing is kept for the job any more. */
    private final List<List<PlannedPlace>> places;
    /**
     * Last claim of each node, one more than its number; below it, for each claim the one before it on its node, one
     * more than its number.
     */
    private final int[] last;

    private int[] before = new int[64];
    /** Job number of each claim; -1 where the claim is lost. */
    private int[] rankOf = new int[64];
    /** Number of each job's first claim. */
    private int[] firstOf = new int[16];

    private final List<PlannedPlace> claims;
    private long firstEnd = Long.MAX_VALUE;

    public PlannedReservations(int nodes) {
        ranks = new HashMap<>();
        bits = new long[BITS / Long.SIZE];
        jobs = new ArrayList<>();
        places = new ArrayList<>();
        claims = new ArrayList<>();
        last = new int[nodes];
    }

    private PlannedReservations(PlannedReservations of) {
        ranks = of.ranks;
        bits = of.bits;
        jobs = of.jobs;
        places = new ArrayList<>(of.places);
        claims = new ArrayList<>(of.claims);
        last = of.last.clone();
        before = of.before.clone();
        rankOf = of.rankOf.clone();
        firstOf = of.firstOf.clone();
        firstEnd = of.firstEnd;
    }

    /** Returns a copy of which some claims may be given up. */
    PlannedReservations copy() {
        return new PlannedReservations(this);
    }

    /** Adds a job's places behind all others. Not to a copy. */
    public void add(int jobId, List<PlannedPlace> those) {
        int rank = jobs.size();
        ranks.put(jobId, rank);
        bits[jobId / Long.SIZE & bits.length - 1] |= 1L << jobId;
        jobs.add(jobId);
        places.add(List.of());
        if (rank == firstOf.length) {
            firstOf = Arrays.copyOf(firstOf, 2 * rank);
        }
        put(rank, those);
    }

    private void put(int rank, List<PlannedPlace> those) {
        places.set(rank, those);
        firstOf[rank] = claims.size();
        for (PlannedPlace c : those) {
            if (claims.size() == before.length) {
                before = Arrays.copyOf(before, before.length * 2);
                rankOf = Arrays.copyOf(rankOf, rankOf.length * 2);
            }
            before[claims.size()] = last[c.node()];
            rankOf[claims.size()] = rank;
            claims.add(c);
            firstEnd = Math.min(firstEnd, c.to());
            last[c.node()] = claims.size();
        }
    }

    /** Replaces the places of the job with that number; none if nothing is kept. Its order among the others stays. */
    void replace(int rank, List<PlannedPlace> those) {
        int from = firstOf[rank];
        int to = from + places.get(rank).size();
        Arrays.fill(rankOf, from, to, -1);
        boolean first = places.get(rank).stream().anyMatch(c -> c.to() == firstEnd);
        put(rank, those);
        if (first) {
            firstEnd = places.stream()
                    .flatMap(List::stream)
                    .mapToLong(PlannedPlace::to)
                    .min()
                    .orElse(Long.MAX_VALUE);
        }
    }

    /** Returns the nodes of which something is kept. */
    public IntStream nodes(IntPredicate which) {
        return IntStream.range(0, last.length).filter(n -> first(n) >= 0 && which.test(n));
    }

    /** Returns when the first of all claims is over, seconds since 1970. */
    long firstEnd() {
        return firstEnd;
    }

    /** Returns the jobs with a reservation, in the plan's order. */
    public List<Integer> jobs() {
        return IntStream.range(0, jobs.size())
                .filter(r -> !places.get(r).isEmpty())
                .mapToObj(jobs::get)
                .toList();
    }

    /** Returns all jobs with their kept places, in the plan's order. */
    public Map<Integer, List<PlannedPlace>> byJob() {
        Map<Integer, List<PlannedPlace>> out = new LinkedHashMap<>();
        jobs().forEach(id -> out.put(id, of(id)));
        return out;
    }

    /** Returns how many jobs the plan was made for: their numbers are less. */
    int size() {
        return jobs.size();
    }

    int jobAt(int rank) {
        return jobs.get(rank);
    }

    public boolean has(int jobId) {
        return (bits[jobId / Long.SIZE & bits.length - 1] >>> jobId & 1) != 0
                && !of(jobId).isEmpty();
    }

    /** Returns the places that are kept for the job; none if nothing is. */
    public List<PlannedPlace> of(int jobId) {
        Integer rank = ranks.get(jobId);
        return rank == null ? List.of() : places.get(rank);
    }

    /** Returns the job's number in the plan's order, from 0; -1 if nothing is kept for it. */
    int rank(int jobId) {
        return has(jobId) ? requireNonNull(ranks.get(jobId), "a job with places has a rank") : -1;
    }

    /** Returns a claim on the node, or -1; {@link #next} has the others. */
    int first(int node) {
        return node < last.length ? valid(last[node] - 1) : -1;
    }

    int next(int claim) {
        return valid(before[claim] - 1);
    }

    /** Returns the claim, or the first behind it that is not lost. */
    private int valid(int claim) {
        int candidate = claim;
        while (candidate >= 0 && rankOf[candidate] < 0) {
            candidate = before[candidate] - 1;
        }
        return candidate;
    }

    PlannedPlace at(int claim) {
        return claims.get(claim);
    }

    /** Returns the rank of the claim's job. */
    int rankAt(int claim) {
        return rankOf[claim];
    }

    /** Returns the claims on the node of jobs before that number. */
    List<PlannedPlace> on(int node, int rank) {
        List<PlannedPlace> out = new ArrayList<>();
        for (int claim = first(node); claim >= 0; claim = next(claim)) {
            if (rankOf[claim] < rank) {
                out.add(at(claim));
            }
        }
        return out;
    }
}
