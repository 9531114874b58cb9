package dev.muster.scheduler.preempt;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.PreemptPolicy;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
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
    private final LicenseAllocator licenses;
    private final RemainingCapacity open;
    private final VictimTrial trial;
    private final List<Planner.Preempt> preempts = new ArrayList<>();
    private final List<Job> suspended = new ArrayList<>();
    private final Set<Integer> leaving = new HashSet<>();

    @SuppressWarnings("UnnecessaryLambda") // compared by identity
    static final Predicate<NodeSlot> EVERYWHERE = node -> true;

    private int tries;
    /** A preemptor that found no room finds none before more becomes free. */
    private final boolean remembers;
    /** Whether neither priorities nor times decide which jobs are victims. */
    private final boolean plain;

    private final boolean reclaims;

    private final Map<PreemptableJobs.PreemptorKind, VictimCandidates> holders = new HashMap<>();
    private final FailedPreemptors failed = new FailedPreemptors();

    static final byte MAY = 1;
    static final byte MAY_NOT = 2;

    /**
     * @param allocations allocations made by the pass
     * @param licenses licenses that the pass has left
     * @param open nodes that reservations leave open
     * @param lifted called for each job that a trial takes off its nodes or puts back
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
        this.cluster = cluster;
        this.ranks = ranks;
        this.preemptable = preemptable;
        this.pruned = pruned;
        this.state = state;
        this.now = now;
        this.policy = new PreemptPolicy(state);
        this.trial = new VictimTrial(cluster, policy, pruned, allocations, licenses, open, lifted);
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
        trial.begin(reclaims(need));
        VictimCandidates those = holders(job, need, priority);
        Predicate<NodeSlot> serves = serves(job, need, c);
        VictimQueue candidates = new VictimQueue(this, those, serves);
        List<Job> ending = those.ending.stream().filter(h -> isNear(h, serves)).toList();
        if (those.ending.isEmpty() && !hasVictim(those)) {
            failed.addWithoutVictim(job.desc(), need, priority);
            return new NoRoom();
        }
        tries++;
        ending.forEach(g -> trial.lift(g, Preemption.Mode.CANCEL));
        trial.arrive(true, serves);
        List<Job> chosen = new ArrayList<>();
        Optional<Allocation> found = trial.fewest(candidates, chosen, c, places);
        if (found.isEmpty()) {
            trial.arrive(false, serves);
            failed.addWithoutRoom(job.desc(), need, priority);
            boolean licensed = !need.licenses().items().isEmpty();
            boolean never =
                    isRemembered(c, group) && !licensed && !trial.fitsWithoutAll(candidates, group.memory, places);
            ending.forEach(g -> trial.putBack(g, Preemption.Mode.CANCEL));
            // only now, with all victims back on their nodes: what is remembered is read from these nodes
            if (never) {
                preemptable.hopeless(kind(job.desc(), need), group.memory);
            }
            if (plain && trial.wasTooFew() && !licensed) {
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
        Allocation room = trial.putBackUnneeded(chosen, found, places).orElseThrow();
        boolean atOnce = ending.stream().noneMatch(g -> VictimTrial.touches(Optional.of(room), g))
                && !chosen.isEmpty()
                && chosen.stream().allMatch(h -> trial.mode(h) == Preemption.Mode.SUSPEND);
        trial.arrive(false, serves);
        for (Job h : chosen) {
            if (!atOnce) {
                trial.putBack(h, trial.mode(h));
            }
        }
        ending.forEach(g -> trial.putBack(g, Preemption.Mode.CANCEL));
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
        trial.begin(false);
        VictimCandidates those = holders(job, need, ranks.priority(job.id()).orElse(job.priority()));
        VictimQueue candidates = new VictimQueue(this, those, EVERYWHERE);
        List<Job> ending = List.copyOf(those.ending);
        if (ending.isEmpty() && !candidates.has(0)) {
            return new NoRoom();
        }
        tries++;
        ending.forEach(g -> trial.lift(g, Preemption.Mode.CANCEL));
        trial.arrive(true, EVERYWHERE);
        List<Job> chosen = new ArrayList<>();
        Optional<Allocation> found = trial.fewest(0, candidates, chosen, places);
        if (found.isEmpty()) {
            trial.arrive(false, EVERYWHERE);
            ending.forEach(g -> trial.putBack(g, Preemption.Mode.CANCEL));
            return new NoRoom();
        }
        return taken(ending, chosen, found, EVERYWHERE, places, need.partition());
    }

    /**
     * Nodes that would serve the need if all left that ever may have to: what is on others is of no use to it. All,
     * where neighbours count.
     */
    private Predicate<NodeSlot> serves(Job job, ResourceNeed need, NeedClass c) {
        if (trial.isReclaiming()
                || !pruned
                || !c.bounded
                || cluster.allocations().anyExclusive()
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

    static boolean isOne(NodeSlot[] nodes, Predicate<NodeSlot> serves) {
        for (NodeSlot node : nodes) {
            if (serves.test(node)) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether a candidate has not been chosen yet, and may be preempted. */
    boolean mayGo(VictimCandidates those, int index) {
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
            } else if (holder.state() == JobState.RUNNING
                    && trial.mode(holder) != Preemption.Mode.OFF
                    && !isExempt(holder)) {
                candidates.add(holder);
            }
        }
        candidates.sort(preemptable.order());
        return new VictimCandidates(candidates.stream().map(preemptable::holder).toList(), ending);
    }

    /**
     * Returns the mode; with preempt/qos, a victim that is suspended for a job of its own partition takes turns with
     * it.
     */
    private Preemption.Mode mode(Job holder, String partition) {
        boolean turns = trial.mode(holder) == Preemption.Mode.SUSPEND
                && policy.byQos()
                && !holder.isHet()
                && holder.desc().partition().equals(partition);
        return turns ? Preemption.Mode.GANG : trial.mode(holder);
    }

    private PreemptableJobs.PreemptorKind kind(JobDesc taker, ResourceNeed need) {
        return preemptable.kind(policy, taker, need.partition());
    }

    /** Tests whether nothing comes of trying to make room for such a job with this priority, in this pass. */
    public boolean cannotPreempt(JobDesc taker, ResourceNeed need, long priority) {
        return isExhausted() || failed.has(taker, need, priority);
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
        suspended.forEach(j -> trial.putBack(j, Preemption.Mode.SUSPEND));
        suspended.clear();
    }
}
