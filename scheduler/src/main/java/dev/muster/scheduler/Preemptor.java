package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.Job;
import dev.muster.core.Now;
import dev.muster.core.Planner;
import dev.muster.core.Preemption;
import dev.muster.core.State;
import dev.muster.model.JobFlag;
import dev.muster.model.JobState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Whose place a job may take: the least that make room for it. They are taken off the nodes one by one, the lowest first, until it
 * fits; then each whose leaving was not needed is put back.
 */
final class Preemptor {
    /** Jobs for which room is made in one pass; each costs a look at all that run. */
    static final int TRIES_MAX = 50;

    private final Scheduler scheduler;
    private final State state;
    private final Now now;
    private final Preemption.Policy policy;
    private final List<Planner.Preempt> preempts = new ArrayList<>();
    private final List<Job> suspended = new ArrayList<>();
    private final Set<Integer> leaving = new HashSet<>();
    private int tries;
    /** In the partition and with the QOS of the key nobody gives way to this priority or a lower one. */
    private final Map<Taker, Long> powerless = new HashMap<>();
    /** Not even if all went who would have to is there room for the need of the key. */
    private final Map<Taker, Long> hopeless = new HashMap<>();

    /** @param need empty for any */
    private record Taker(String partition, String qos, Optional<Same> need) {}

    /** Needs are one object each. */
    private record Same(Need need) {
        @Override
        public boolean equals(Object o) {
            return o instanceof Same s && s.need == need;
        }

        @Override
        public int hashCode() {
            return need.limitMin() * 31 + need.tasks();
        }
    }

    Preemptor(Scheduler scheduler, State state, Now now) {
        this.scheduler = scheduler;
        this.state = state;
        this.now = now;
        this.policy = new Preemption.Policy(state);
    }

    boolean isOn() {
        return policy.isOn();
    }

    /** Jobs that have to give way. */
    List<Planner.Preempt> preempts() {
        return preempts;
    }

    /** What came of trying. */
    sealed interface Room {}

    /** There is room now: those in it were suspended. */
    record AtOnce(Allocation allocation) implements Room {}

    /** There will be when those that give way are gone; these units should stay free until then. */
    record Soon(Allocation allocation) implements Room {}

    record None() implements Room {}

    /** @param place finds an allocation on what is free */
    Room make(Job job, Need need, Supplier<Optional<Allocation>> place) {
        if (!policy.isOn() || tries >= TRIES_MAX) {
            return new None();
        }
        List<Job> candidates = new ArrayList<>();
        List<Job> gone = new ArrayList<>();
        long priority = scheduler.priority(job.id()).orElse(job.priority());
        Taker anything = new Taker(need.partition(), job.desc().charge().firstQos(), Optional.empty());
        Taker same = new Taker(need.partition(), job.desc().charge().firstQos(), Optional.of(new Same(need)));
        if (powerless.getOrDefault(anything, Long.MIN_VALUE) >= priority || hopeless.getOrDefault(same, Long.MIN_VALUE) >= priority) {
            return new None();
        }
        for (Job holder : scheduler.holders()) {
            if (!policy.outranks(job.desc(), priority, need.partition(), holder)) {
                continue;
            }
            boolean goes = leaving.contains(holder.id()) || holder.has(JobFlag.COMPLETING)
                    || state.preempted().find(holder.id()).filter(p -> p.endTick() > 0).isPresent();
            if (goes) {
                gone.add(holder);
            } else if (holder.state() == JobState.RUNNING && policy.of(holder) != Preemption.Mode.OFF && !policy.isExempt(holder, now.seconds())) {
                candidates.add(holder);
            }
        }
        if (candidates.isEmpty() && gone.isEmpty()) {
            powerless.merge(anything, priority, Math::max);
            return new None();
        }
        tries++;
        candidates.sort(order());
        gone.forEach(g -> lift(g, Preemption.Mode.CANCEL));
        List<Job> chosen = new ArrayList<>();
        Optional<Allocation> found = place.get();
        if (found.isEmpty() && !fitsWithout(candidates, place)) {
            hopeless.merge(same, priority, Math::max);
            gone.forEach(g -> drop(g, Preemption.Mode.CANCEL));
            return new None();
        }
        for (int i = 0; found.isEmpty() && i < candidates.size(); i++) {
            lift(candidates.get(i), policy.of(candidates.get(i)));
            chosen.add(candidates.get(i));
            found = place.get();
        }
        for (Job c : found.isEmpty() ? List.<Job>of() : List.copyOf(chosen)) {
            drop(c, policy.of(c));
            Optional<Allocation> without = place.get();
            if (without.isPresent()) {
                chosen.remove(c);
                found = without;
            } else {
                lift(c, policy.of(c));
            }
        }
        Optional<Allocation> room = found;
        boolean atOnce = found.isPresent() && gone.stream().noneMatch(g -> touches(room, g)) && !chosen.isEmpty()
                && chosen.stream().allMatch(c -> policy.of(c) == Preemption.Mode.SUSPEND);
        for (Job c : chosen) {
            if (!atOnce) {
                drop(c, policy.of(c));
            }
        }
        gone.forEach(g -> drop(g, Preemption.Mode.CANCEL));
        if (found.isEmpty()) {
            return new None();
        }
        for (Job c : chosen) {
            leaving.add(c.id());
            preempts.add(new Planner.Preempt(c.id(), policy.of(c), policy.graceSeconds(c)));
        }
        if (atOnce) {
            suspended.addAll(chosen);
            return new AtOnce(found.get());
        }
        return new Soon(found.get());
    }

    /** Whether there is room if all of them go. */
    private boolean fitsWithout(List<Job> candidates, Supplier<Optional<Allocation>> place) {
        candidates.forEach(c -> lift(c, policy.of(c)));
        boolean fits = place.get().isPresent();
        candidates.forEach(c -> drop(c, policy.of(c)));
        return fits;
    }

    /** The place found lies partly where this job is. */
    private static boolean touches(Optional<Allocation> found, Job job) {
        return found.isPresent() && found.get().nodes().stream().anyMatch(s -> job.run().allocation().on(s.node())
                .filter(h -> !h.released() && !h.cores().intersect(s.cores()).isEmpty()).isPresent());
    }

    private Comparator<Job> order() {
        Comparator<Job> youngest = Comparator.comparingLong((Job j) -> -j.run().startTime());
        Comparator<Job> lowest = Comparator.comparingLong(Job::priority);
        return policy.parameter("preempt_youngest_first").isEmpty() && policy.parameter("youngest_first").isEmpty()
                ? lowest.thenComparing(youngest) : youngest.thenComparing(lowest);
    }

    private void lift(Job job, Preemption.Mode mode) {
        scheduler.looking(true);
        scheduler.release(job, mode == Preemption.Mode.SUSPEND);
        scheduler.looking(false);
    }

    private void drop(Job job, Preemption.Mode mode) {
        scheduler.looking(true);
        scheduler.hold(job, mode == Preemption.Mode.SUSPEND);
        scheduler.looking(false);
    }

    /** Nothing comes of trying to make room for who needs that in his partition with this QOS and priority. */
    boolean isVain(Need need, String qos, long priority) {
        return tries >= TRIES_MAX || powerless.getOrDefault(new Taker(need.partition(), qos, Optional.empty()), Long.MIN_VALUE) >= priority
                || hopeless.getOrDefault(new Taker(need.partition(), qos, Optional.of(new Same(need))), Long.MIN_VALUE) >= priority;
    }

    /** The pass is over: what was suspended in it comes off with its record. */
    void undo() {
        suspended.forEach(j -> drop(j, Preemption.Mode.SUSPEND));
        suspended.clear();
    }
}
