package dev.muster.scheduler.preempt;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.PreemptPolicy;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.queue.JobClassIndex;
import dev.muster.scheduler.queue.PriorityIndex;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SharingPolicy;
import dev.muster.scheduler.timeline.LicenseAllocator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Selects the victims of a preemptor, as few as make room for it. It takes possible victims off their nodes one by one,
 * the lowest first, until the job fits; then it puts back each victim that was not needed.
 */
public final class Preemptor {
    /** Jobs for which room is made in one pass; each costs a look at all that run. */
    static final int TRIES_MAX = 50;

    private final ClusterIndex cluster;
    private final PriorityIndex ranks;
    private final PreemptableJobs preemptable;
    private final boolean pruned;
    private final State state;
    private final DecisionTime now;
    private final PreemptPolicy policy;
    private final PassAllocations allocations;
    private final LicenseAllocator licenses;
    private final RemainingCapacity open;
    private final BiConsumer<Job, Boolean> lifted;
    private final List<Planner.Preempt> preempts = new ArrayList<>();
    private final List<Job> suspended = new ArrayList<>();
    private final Set<Integer> leaving = new HashSet<>();

    @SuppressWarnings("UnnecessaryLambda") // compared by identity
    private static final Predicate<NodeSlot> EVERYWHERE = node -> true;

    private final Map<Integer, Preemption.Mode> modes = new HashMap<>();
    private int tries;
    /** The last failed preemptor found too few nodes with room, whatever the topology. */
    private boolean tooFew;
    /** A preemptor that found no room finds none before more becomes free. */
    private final boolean remembers;
    /** Whether neither priorities nor times decide which jobs are victims. */
    private final boolean plain;

    private final boolean reclaims;
    /** The preemptor requests licenses. */
    private boolean reclaiming;

    private final Map<PreemptableJobs.PreemptorKind, VictimCandidates> holders = new HashMap<>();
    /** Highest priority for which no job is a victim, by partition and QOS. */
    private final Map<PreemptorGroup, Long> powerless = new HashMap<>();
    /** Highest priority for which there is no room even without all victims, by partition, QOS and need. */
    private final Map<PreemptorGroup, Long> hopeless = new HashMap<>();

    private static final byte MAY = 1;
    private static final byte MAY_NOT = 2;

    /** @param need empty for any */
    private record PreemptorGroup(String partition, String qos, Optional<NeedIdentity> need) {}

    /** Needs are one object each. */
    private record NeedIdentity(ResourceNeed need) {
        @Override
        public boolean equals(Object o) {
            return o instanceof NeedIdentity s && s.need == need;
        }

        @Override
        public int hashCode() {
            return need.limitMin() * 31 + need.tasks();
        }
    }

    /**
     * @param allocations what the pass has taken
     * @param licenses those of the pass
     * @param open what reservations leave
     * @param lifted told of each job that is off its nodes for a moment, and of its being back
     */
    public Preemptor(
            ClusterIndex cluster,
            PriorityIndex ranks,
            PreemptableJobs preemptable,
            boolean pruned,
            State state,
            DecisionTime now,
            PassAllocations allocations,
            LicenseAllocator licenses,
            RemainingCapacity open,
            BiConsumer<Job, Boolean> lifted) {
        this.licenses = licenses;
        this.open = open;
        this.allocations = allocations;
        this.lifted = lifted;
        this.cluster = cluster;
        this.ranks = ranks;
        this.preemptable = preemptable;
        this.pruned = pruned;
        this.state = state;
        this.now = now;
        this.policy = new PreemptPolicy(state);
        this.plain = policy.isPlain() && !policy.isLabelled();
        this.reclaims = policy.isOn() && state.settings().options().preemption().reclaimsLicenses();
        this.remembers = plain;
        preemptable.passed(now.seconds());
    }

    public boolean isOn() {
        return policy.isOn();
    }

    /**
     * Tests for PreemptParameters=reclaim_licenses: others are preempted for their licenses as well, where that makes
     * them free.
     */
    public boolean reclaims() {
        return reclaims;
    }

    /** Tests whether preemption may free licenses for the need; not for alternatives of licenses. */
    public boolean reclaims(ResourceNeed need) {
        return reclaims
                && !need.licenses().items().isEmpty()
                && !need.licenses().any();
    }

    /**
     * Tests whether preemption may free licenses for the need and, as things are at the moment of asking, there are too
     * few for it.
     */
    public boolean lacksLicenses(ResourceNeed need) {
        return reclaims(need) && licenses.given(need, 0).isEmpty();
    }

    /** Tests whether, in one pass, the outcome of a try does not depend on the taker's priority. */
    public boolean isPlain() {
        return plain;
    }

    /** Tests whether this pass makes no further attempt of preemption. */
    public boolean isExhausted() {
        return tries >= TRIES_MAX;
    }

    /** Returns the victims of preemption. */
    public List<Planner.Preempt> preempts() {
        return preempts;
    }

    /** Places for the need that room is made for, as things are at the moment of asking. */
    public interface PlacementQuery {
        Optional<Allocation> find();

        /**
         * Tests whether {@link #find} last found none because there was not room on enough nodes, however these lie to
         * each other.
         */
        boolean wereTooFew();

        /** Tests whether there would be a place if nothing were planned for others. */
        boolean isThereUnplanned();
    }

    /** Outcome of a try to make room. */
    public sealed interface Outcome {}

    /** Room that is there now: the jobs in it were suspended. */
    public record RoomNow(Allocation allocation) implements Outcome {}

    /** Room that will be there when the victims are gone; these units should stay free until then. */
    public record RoomLater(Allocation allocation) implements Outcome {}

    public record NoRoom() implements Outcome {}

    private boolean isRemembered(NeedClass c, JobClassIndex.Group group) {
        return pruned && remembers && c.simple && group.memory.isDue();
    }

    private boolean hasVictim(VictimCandidates those) {
        return IntStream.range(0, those.candidates.size()).anyMatch(i -> mayGo(those, i));
    }

    /**
     * @param group of the need and the job's QOS
     * @param c the need's class
     * @param places on what is free at the moment of asking
     */
    public Outcome make(Job job, ResourceNeed need, JobClassIndex.Group group, NeedClass c, PlacementQuery places) {
        long priority = ranks.priority(job.id()).orElse(job.priority());
        if (!policy.isOn() || cannotPreempt(job.desc(), need, priority) || isShort(job.desc(), need, group, c)) {
            return new NoRoom();
        }
        reclaiming = reclaims(need);
        VictimCandidates those = holders(job, need, priority);
        Predicate<NodeSlot> serves = serves(job, need, c);
        VictimQueue candidates = new VictimQueue(those, serves);
        List<Job> ending = those.ending.stream().filter(h -> isNear(h, serves)).toList();
        if (those.ending.isEmpty() && !hasVictim(those)) {
            powerless.merge(
                    new PreemptorGroup(need.partition(), job.desc().charge().firstQos(), Optional.empty()), priority, Math::max);
            return new NoRoom();
        }
        tries++;
        ending.forEach(g -> lift(g, Preemption.Mode.CANCEL));
        arrive(true, serves);
        List<Job> chosen = new ArrayList<>();
        Optional<Allocation> found = first(candidates, chosen, c, places);
        if (found.isEmpty()) {
            arrive(false, serves);
            hopeless.merge(
                    new PreemptorGroup(need.partition(), job.desc().charge().firstQos(), Optional.of(new NeedIdentity(need))),
                    priority,
                    Math::max);
            boolean licensed = !need.licenses().items().isEmpty();
            boolean never = isRemembered(c, group) && !licensed && !fitsWithoutAll(candidates, group.memory, places);
            ending.forEach(g -> drop(g, Preemption.Mode.CANCEL));
            // only now, with all victims back on their nodes: what is remembered is read from these nodes
            if (never) {
                preemptable.hopeless(kind(job.desc(), need), group.memory);
            }
            if (plain && tooFew && !licensed) {
                preemptable.failed(kind(job.desc(), need), c);
            }
            return new NoRoom();
        }
        return taken(ending, chosen, found, serves, places, need.partition());
    }

    /** Returns the place that is free without the chosen victims; victims that are not needed stay. */
    private Outcome taken(
            List<Job> ending,
            List<Job> chosen,
            Optional<Allocation> found,
            Predicate<NodeSlot> serves,
            PlacementQuery places,
            String partition) {
        Allocation room = least(chosen, found, places).orElseThrow();
        boolean atOnce = ending.stream().noneMatch(g -> touches(Optional.of(room), g))
                && !chosen.isEmpty()
                && chosen.stream().allMatch(h -> mode(h) == Preemption.Mode.SUSPEND);
        arrive(false, serves);
        for (Job h : chosen) {
            if (!atOnce) {
                drop(h, mode(h));
            }
        }
        ending.forEach(g -> drop(g, Preemption.Mode.CANCEL));
        for (Job h : chosen) {
            leaving.add(h.id());
            preempts.add(new Planner.Preempt(h.id(), mode(h, partition), policy.graceSeconds(h)));
            holders.forEach((kind, known) -> {
                if (preemptable.isBelow(kind, h.id())) {
                    known.ending.add(h);
                }
            });
        }
        if (atOnce) {
            suspended.addAll(chosen);
            return new RoomNow(room);
        }
        return new RoomLater(room);
    }

    /**
     * Makes room for components of one job as {@link #make}, for all of them or for none. The outcome is not
     * remembered: other jobs have the needs of one component alone.
     *
     * @param needs the components', in their order; the job is the first
     */
    public Outcome makeTogether(List<Job> jobs, List<ResourceNeed> needs, PlacementQuery places) {
        Job job = jobs.getFirst();
        ResourceNeed need = needs.getFirst();
        boolean alike = IntStream.range(1, jobs.size())
                .allMatch(i -> kind(jobs.get(i).desc(), needs.get(i)).equals(kind(job.desc(), need)));
        if (!policy.isOn() || isExhausted() || !alike) {
            return new NoRoom();
        }
        reclaiming = false;
        VictimCandidates those = holders(job, need, ranks.priority(job.id()).orElse(job.priority()));
        VictimQueue candidates = new VictimQueue(those, EVERYWHERE);
        List<Job> ending = List.copyOf(those.ending);
        if (ending.isEmpty() && !candidates.has(0)) {
            return new NoRoom();
        }
        tries++;
        ending.forEach(g -> lift(g, Preemption.Mode.CANCEL));
        arrive(true, EVERYWHERE);
        List<Job> chosen = new ArrayList<>();
        Optional<Allocation> found = first(0, candidates, chosen, places);
        if (found.isEmpty()) {
            arrive(false, EVERYWHERE);
            ending.forEach(g -> drop(g, Preemption.Mode.CANCEL));
            return new NoRoom();
        }
        return taken(ending, chosen, found, EVERYWHERE, places, need.partition());
    }

    /**
     * Nodes that would serve the need if all left that ever may have to: what is on others is of no use to it. All,
     * where neighbours count.
     */
    private Predicate<NodeSlot> serves(Job job, ResourceNeed need, NeedClass c) {
        if (reclaiming
                || !pruned
                || !c.bounded
                || cluster.holdings().someMind()
                || !need.apart().equals(SharingPolicy.ANYBODY)) {
            return EVERYWHERE;
        }
        PreemptableJobs.PreemptorKind kind = kind(job.desc(), need);
        return node -> preemptable.mayServe(kind, c, node, open);
    }

    private boolean isNear(Job holder, Predicate<NodeSlot> serves) {
        if (serves == EVERYWHERE) {
            return true;
        }
        return isOne(preemptable.holder(holder).slots(), serves);
    }

    private static boolean isOne(NodeSlot[] nodes, Predicate<NodeSlot> serves) {
        for (NodeSlot node : nodes) {
            if (serves.test(node)) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether a candidate has not been chosen yet, and may be preempted. */
    private boolean mayGo(VictimCandidates those, int index) {
        Job holder = those.candidates.get(index).job();
        if (those.verdicts[index] == 0) {
            those.verdicts[index] = isExempt(holder) ? MAY_NOT : MAY;
        }
        return those.verdicts[index] == MAY && (leaving.isEmpty() || !leaving.contains(holder.id()));
    }

    private boolean isExempt(Job holder) {
        long until = policy.exemptUntil(holder);
        if (until > now.seconds()) {
            preemptable.exempt(until, now.seconds());
        }
        return until > now.seconds();
    }

    /** The possible victims on nodes that can serve the need, in their order; looked up lazily. */
    private final class VictimQueue {
        private final VictimCandidates all;
        private final Predicate<NodeSlot> serves;
        private final List<Job> found = new ArrayList<>();
        private int next;

        private VictimQueue(VictimCandidates all, Predicate<NodeSlot> serves) {
            this.all = all;
            this.serves = serves;
        }

        private boolean has(int index) {
            for (; found.size() <= index && next < all.candidates.size(); next++) {
                PreemptableJobs.PreemptableJob holder = all.candidates.get(next);
                if ((serves == EVERYWHERE || isOne(holder.slots(), serves)) && mayGo(all, next)) {
                    found.add(holder.job());
                }
            }
            return found.size() > index;
        }

        private Job get(int index) {
            return found.get(index);
        }

        /** Returns an iterator over the jobs from the first on. */
        private Iterator<Job> iterator() {
            return new Iterator<>() {
                private int index;

                @Override
                public boolean hasNext() {
                    return has(index);
                }

                @Override
                public Job next() {
                    return get(index++);
                }
            };
        }

        private List<Job> all() {
            has(Integer.MAX_VALUE);
            return found;
        }
    }

    /**
     * Tests whether the need fits without all possible victims, even on what is planned for others or what others wait
     * for already.
     */
    private boolean fitsWithoutAll(VictimQueue candidates, NeedClass.Memory memory, PlacementQuery places) {
        candidates.all().forEach(h -> lift(h, mode(h)));
        boolean out = places.isThereUnplanned();
        memory.fitted(out);
        candidates.all().forEach(h -> drop(h, mode(h)));
        return out;
    }

    private void arrive(boolean present, Predicate<NodeSlot> where) {
        cluster.probing(true);
        allocations.arrive(present, where);
        cluster.probing(false);
    }

    /** Jobs that may give way. */
    private static final class VictimCandidates {
        /** Possible victims in the order in which they go; of some {@link #mayGo} says no. */
        private final List<PreemptableJobs.PreemptableJob> candidates;
        /** Jobs that go already. */
        private final List<Job> ending;
        /**
         * Whether each candidate that was looked up may be preempted: {@link #MAY} or {@link #MAY_NOT}; 0 for the
         * others.
         */
        private final byte[] verdicts;

        private VictimCandidates(List<PreemptableJobs.PreemptableJob> candidates, List<Job> ending) {
            this.candidates = candidates;
            this.ending = ending;
            this.verdicts = new byte[candidates.size()];
        }
    }

    /**
     * Returns the possible victims of the job, and the jobs that are being preempted already. Where priorities do not
     * decide, these are the same for all jobs of its kind.
     */
    private VictimCandidates holders(Job job, ResourceNeed need, long priority) {
        PreemptableJobs.PreemptorKind kind = kind(job.desc(), need);
        if (plain) {
            return holders.computeIfAbsent(kind, k -> {
                VictimCandidates all = new VictimCandidates(List.copyOf(preemptable.staying(k)), preemptable.going(k));
                all.candidates.stream()
                        .map(PreemptableJobs.PreemptableJob::job)
                        .filter(h -> leaving.contains(h.id()))
                        .forEach(all.ending::add);
                return all;
            });
        }
        List<Job> candidates = new ArrayList<>();
        List<Job> ending = new ArrayList<>();
        for (Job holder : preemptable.below(kind)) {
            if (!policy.outranks(job.desc(), priority, need.partition(), holder)
                    || !policy.mayMeet(job.desc(), holder.desc())) {
                continue;
            }
            if (leaving.contains(holder.id()) || PreemptableJobs.goesAlready(state, holder)) {
                ending.add(holder);
            } else if (holder.state() == JobState.RUNNING && mode(holder) != Preemption.Mode.OFF && !isExempt(holder)) {
                candidates.add(holder);
            }
        }
        candidates.sort(preemptable.order());
        return new VictimCandidates(candidates.stream().map(preemptable::holder).toList(), ending);
    }

    /** Returns what preemption does with a job, looked up once. */
    private Preemption.Mode mode(Job holder) {
        return modes.computeIfAbsent(holder.id(), id -> policy.of(holder));
    }

    /**
     * Returns the mode; with preempt/qos, a victim that is suspended for a job of its own partition takes turns with
     * it.
     */
    private Preemption.Mode mode(Job holder, String partition) {
        boolean turns = mode(holder) == Preemption.Mode.SUSPEND
                && policy.byQos()
                && !holder.isHet()
                && holder.desc().partition().equals(partition);
        return turns ? Preemption.Mode.GANG : mode(holder);
    }

    private PreemptableJobs.PreemptorKind kind(JobDesc taker, ResourceNeed need) {
        return preemptable.kind(policy, taker, need.partition());
    }

    /**
     * Returns the place that is free without the first victims, as few as possible; exactly these are off their nodes
     * afterwards. Empty if there is no place even without all of them.
     */
    private Optional<Allocation> first(VictimQueue candidates, List<Job> chosen, NeedClass c, PlacementQuery places) {
        int least = pruned && c.bounded ? cluster.free().enough(c, candidates.iterator(), cluster::node, open) : 0;
        tooFew = least < 0;
        if (tooFew) {
            return Optional.empty();
        }
        return first(least, candidates, chosen, places);
    }

    private Optional<Allocation> first(int least, VictimQueue candidates, List<Job> chosen, PlacementQuery places) {
        int none = least - 1;
        int step = 1;
        Optional<Allocation> found = liftTo(least, candidates, chosen, places);
        while (found.isEmpty() && candidates.has(chosen.size())) {
            none = chosen.size();
            found = liftTo(none + step, candidates, chosen, places);
            step *= 2;
        }
        // what is planned may be in the way of all of them
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
    private Optional<Allocation> liftTo(int count, VictimQueue candidates, List<Job> chosen, PlacementQuery places) {
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
            drop(last, mode(last));
        }
    }

    /**
     * Puts back each victim that was not needed, the lowest first.
     *
     * @param chosen those that have to go in the end
     */
    private Optional<Allocation> least(List<Job> chosen, Optional<Allocation> place, PlacementQuery places) {
        Optional<Allocation> found = place;
        for (Job h : List.copyOf(chosen)) {
            drop(h, mode(h));
            // a victim on other nodes does not change the place, unless its sharing policy covers the switch
            Optional<Allocation> without =
                    reclaiming || cluster.holdings().someMind() || meets(found.get(), h) ? places.find() : found;
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
    private static boolean touches(Optional<Allocation> found, Job job) {
        return found.isPresent()
                && found.get().nodes().stream()
                        .anyMatch(s -> job.run()
                                .allocation()
                                .on(s.node())
                                .filter(h -> !h.released()
                                        && !h.cores().intersect(s.cores()).isEmpty())
                                .isPresent());
    }

    private void lift(Job job, Preemption.Mode mode) {
        cluster.probing(true);
        cluster.holdings().release(job, mode == Preemption.Mode.SUSPEND);
        cluster.probing(false);
        if (reclaiming && mode != Preemption.Mode.SUSPEND) {
            licenses.lift(job, true);
        }
        lifted.accept(job, true);
    }

    private void drop(Job job, Preemption.Mode mode) {
        cluster.probing(true);
        cluster.holdings().hold(job, mode == Preemption.Mode.SUSPEND);
        cluster.probing(false);
        if (reclaiming && mode != Preemption.Mode.SUSPEND) {
            licenses.lift(job, false);
        }
        lifted.accept(job, false);
    }

    /** Tests whether nothing comes of trying to make room for such a job with this priority, in this pass. */
    public boolean cannotPreempt(JobDesc taker, ResourceNeed need, long priority) {
        return isExhausted()
                || powerless.getOrDefault(
                                new PreemptorGroup(need.partition(), taker.charge().firstQos(), Optional.empty()),
                                Long.MIN_VALUE)
                        >= priority
                || hopeless.getOrDefault(
                                new PreemptorGroup(need.partition(), taker.charge().firstQos(), Optional.of(new NeedIdentity(need))),
                                Long.MIN_VALUE)
                        >= priority;
    }

    /** Tests whether the preemptor does not fit even without all possible victims, whatever its priority. */
    public boolean isShort(JobDesc taker, ResourceNeed need, JobClassIndex.Group group, NeedClass c) {
        if (!pruned) {
            return false;
        }
        if (group.kindEra != preemptable.era()) {
            group.kind = kind(taker, need);
            group.kindEra = preemptable.era();
            preemptable.join(PreemptableJobs.kindOf(group), group.id());
        }
        return preemptable.isShort(PreemptableJobs.kindOf(group), c, group.memory, open);
    }

    /** Tests as {@link #isShort}, by all that is known of the group without a look at any of its jobs. */
    public boolean isKnownShort(JobClassIndex.Group group, NeedClass c) {
        return group.kindEra == preemptable.era()
                && preemptable.isShort(PreemptableJobs.kindOf(group), c, group.memory, open);
    }

    /** Returns the jobs that this pass suspended, in that order. */
    public List<Job> suspended() {
        return suspended;
    }

    /** Tests whether the job preempts the other by its QOS, whatever their order in the queue. */
    public boolean outranksByQos(Job taker, Job holder) {
        return policy.byQos()
                && policy.outranks(
                        taker.desc(),
                        ranks.priority(taker.id()).orElse(taker.priority()),
                        taker.desc().firstPartition(),
                        holder);
    }

    /** Puts suspended jobs back, because the pass is over: they come off their nodes with their records. */
    public void undo() {
        suspended.forEach(j -> drop(j, Preemption.Mode.SUSPEND));
        suspended.clear();
    }
}
