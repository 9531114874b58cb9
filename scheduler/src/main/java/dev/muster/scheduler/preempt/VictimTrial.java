package dev.muster.scheduler.preempt;

import dev.muster.core.limits.PreemptPolicy;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.timeline.LicenseAllocator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Takes victims off their nodes on trial and puts them back, to find the fewest without which a job has room. One
 * object per pass; called by {@link Preemptor}.
 */
final class VictimTrial {
    private final ClusterIndex cluster;
    private final PreemptPolicy policy;
    private final boolean pruned;
    private final PassAllocations allocations;
    private final LicenseAllocator licenses;
    private final RemainingCapacity open;
    private final BiConsumer<Job, Boolean> listener;
    /** What preemption does with each job that was looked up. */
    private final Map<Integer, Preemption.Mode> modes = new HashMap<>();
    /** The last failed preemptor found too few nodes with room, whatever the topology. */
    private boolean tooFew;
    /** The preemptor requests licenses. */
    private boolean reclaiming;

    /**
     * @param allocations allocations made by the pass
     * @param licenses those of the pass
     * @param open what reservations leave
     * @param listener told of each job that is off its nodes for a moment, and of its being back
     */
    VictimTrial(
            ClusterIndex cluster,
            PreemptPolicy policy,
            boolean pruned,
            PassAllocations allocations,
            LicenseAllocator licenses,
            RemainingCapacity open,
            BiConsumer<Job, Boolean> listener) {
        this.cluster = cluster;
        this.policy = policy;
        this.pruned = pruned;
        this.allocations = allocations;
        this.licenses = licenses;
        this.open = open;
        this.listener = listener;
    }

    /** Begins with another preemptor. */
    void begin(boolean reclaimsLicenses) {
        reclaiming = reclaimsLicenses;
    }

    /** Tests whether victims also give up their licenses. */
    boolean isReclaiming() {
        return reclaiming;
    }

    /** Tests whether the last failed preemptor found too few nodes with room, whatever the topology. */
    boolean wasTooFew() {
        return tooFew;
    }

    /**
     * Tests whether the need fits without all possible victims, reservations of pending jobs and nodes that other
     * preemptors wait for included.
     */
    boolean fitsWithoutAll(VictimQueue candidates, NeedClass.Memory memory, Preemptor.PlacementQuery places) {
        candidates.all().forEach(h -> lift(h, mode(h)));
        boolean out = places.isThereUnplanned();
        memory.fitted(out);
        candidates.all().forEach(h -> putBack(h, mode(h)));
        return out;
    }

    void arrive(boolean present, Predicate<NodeSlot> where) {
        cluster.probing(true);
        allocations.arrive(present, where);
        cluster.probing(false);
    }

    /** Returns what preemption does with a job, looked up once. */
    Preemption.Mode mode(Job holder) {
        return modes.computeIfAbsent(holder.id(), id -> policy.of(holder));
    }

    /**
     * Returns the allocation that becomes free without the shortest prefix of the victims; exactly these are off their
     * nodes afterwards. Empty if the need does not fit even without all of them.
     */
    Optional<Allocation> fewest(
            VictimQueue candidates, List<Job> chosen, NeedClass c, Preemptor.PlacementQuery places) {
        int minVictims = pruned && c.bounded ? cluster.free().enough(c, candidates.iterator(), cluster::node, open) : 0;
        tooFew = minVictims < 0;
        if (tooFew) {
            return Optional.empty();
        }
        return fewest(minVictims, candidates, chosen, places);
    }

    Optional<Allocation> fewest(
            int minVictims, VictimQueue candidates, List<Job> chosen, Preemptor.PlacementQuery places) {
        int none = minVictims - 1;
        int step = 1;
        Optional<Allocation> found = liftTo(minVictims, candidates, chosen, places);
        while (found.isEmpty() && candidates.has(chosen.size())) {
            none = chosen.size();
            found = liftTo(none + step, candidates, chosen, places);
            step *= 2;
        }
        // reservations of pending jobs may block every victim's nodes
        if (found.isEmpty()) {
            tooFew = places.wereTooFew();
            liftTo(0, candidates, chosen);
            return found;
        }
        int enough = chosen.size();
        while (enough - none > 1) {
            int half = (none + enough) >>> 1;
            Optional<Allocation> with = liftTo(half, candidates, chosen, places);
            if (with.isPresent()) {
                enough = half;
                found = with;
            } else {
                none = half;
            }
        }
        liftTo(enough, candidates, chosen);
        return found;
    }

    /** Takes the first {@code count} victims off their nodes; all if there are fewer. */
    private Optional<Allocation> liftTo(
            int count, VictimQueue candidates, List<Job> chosen, Preemptor.PlacementQuery places) {
        liftTo(count, candidates, chosen);
        return places.find();
    }

    private void liftTo(int count, VictimQueue candidates, List<Job> chosen) {
        while (chosen.size() < count && candidates.has(chosen.size())) {
            Job next = candidates.get(chosen.size());
            lift(next, mode(next));
            chosen.add(next);
        }
        while (chosen.size() > count) {
            Job last = chosen.removeLast();
            putBack(last, mode(last));
        }
    }

    /**
     * Puts back each victim that was not needed, the lowest first.
     *
     * @param chosen those that have to go in the end
     */
    Optional<Allocation> putBackUnneeded(
            List<Job> chosen, Optional<Allocation> place, Preemptor.PlacementQuery places) {
        Optional<Allocation> found = place;
        for (Job h : List.copyOf(chosen)) {
            putBack(h, mode(h));
            // a victim on other nodes does not change the place, unless its sharing policy covers the switch
            Optional<Allocation> without =
                    reclaiming || cluster.allocations().anyExclusive() || meets(found.get(), h) ? places.find() : found;
            if (without.isPresent()) {
                chosen.remove(h);
                found = without;
            } else {
                lift(h, mode(h));
            }
        }
        return found;
    }

    private static boolean meets(Allocation place, Job job) {
        return place.nodes().stream()
                .anyMatch(s -> job.run().allocation().on(s.node()).isPresent());
    }

    /** Tests whether the place found lies partly where this job is. */
    static boolean touches(Optional<Allocation> found, Job job) {
        return found.isPresent()
                && found.get().nodes().stream()
                        .anyMatch(s -> job.run()
                                .allocation()
                                .on(s.node())
                                .filter(h -> !h.released()
                                        && !h.cores().intersect(s.cores()).isEmpty())
                                .isPresent());
    }

    void lift(Job job, Preemption.Mode mode) {
        cluster.probing(true);
        cluster.allocations().release(job, mode == Preemption.Mode.SUSPEND);
        cluster.probing(false);
        if (reclaiming && mode != Preemption.Mode.SUSPEND) {
            licenses.lift(job, true);
        }
        listener.accept(job, true);
    }

    void putBack(Job job, Preemption.Mode mode) {
        cluster.probing(true);
        cluster.allocations().hold(job, mode == Preemption.Mode.SUSPEND);
        cluster.probing(false);
        if (reclaiming && mode != Preemption.Mode.SUSPEND) {
            licenses.lift(job, false);
        }
        listener.accept(job, false);
    }
}
