package dev.muster.core.index;

import dev.muster.core.node.WakeAhead;
import dev.muster.core.state.Change;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Index of what will be due: kept beside the state, fed by the same entries, so that no timer scans the job table.
 * Rebuilt at start; {@link #equals} lets tests compare with a rebuild.
 */
public final class DueIndex {
    private final NavigableMap<Long, NavigableSet<Integer>> limits = new TreeMap<>();
    /** Jobs by the second at which the first of their steps with a limit of its own has had its time. */
    private final NavigableMap<Long, NavigableSet<Integer>> stepLimits = new TreeMap<>();

    private final NavigableMap<Long, NavigableSet<Integer>> warnings = new TreeMap<>();
    private final NavigableMap<Long, NavigableSet<Integer>> begins = new TreeMap<>();
    private final NavigableMap<Long, NavigableSet<Integer>> deadlines = new TreeMap<>();
    private final NavigableSet<Integer> waiting = new TreeSet<>();
    private final NavigableMap<Integer, NavigableSet<Integer>> dependents = new TreeMap<>();
    private final NavigableSet<Integer> toSettle = new TreeSet<>();
    /** Running jobs with queued steps in which something has changed. */
    private final NavigableSet<Integer> toStep = new TreeSet<>();
    /** A job started or ended on cores that jobs share by turns (GANG). */
    private boolean turns;

    private final Namesakes namesakes = new Namesakes(new HashMap<>(), new HashMap<>(), new HashMap<>());
    /** Jobs by the second at which one of their conditions will have become true by time alone: {@code after:12+5}. */
    private final NavigableMap<Long, NavigableSet<Integer>> revisits = new TreeMap<>();
    /** Nodes that come back into service by themselves, by when. */
    private final NavigableMap<Long, NavigableSet<String>> resuming = new TreeMap<>();
    /** Nodes that are started, stopped or rebooted, or are to be. */
    private final Set<String> powered = new HashSet<>();
    /**
     * Second at which a job was last planned for a node, by node name. It is not in the journal: a restart forgets it.
     */
    private final Map<String, Long> planned = new HashMap<>();
    /** Second of the last power change check; not part of the state. */
    private long powerLookS = Long.MIN_VALUE / 2;

    private final Set<Integer> running = new HashSet<>();
    private long begunUpTo = Long.MIN_VALUE;
    /** Second since 1970 at which a waiting job may start without any change of the state. */
    private long look = Long.MAX_VALUE;

    private record Named(int uid, String name) {
        static Named of(Job job) {
            return new Named(job.desc().owner().uid(), job.desc().name());
        }

        // asked for with each record of each job: what a record's own does is found out at runtime and slow for long
        @Override
        public boolean equals(Object other) {
            return other instanceof Named n && uid == n.uid && name.equals(n.name);
        }

        @Override
        public int hashCode() {
            return name.hashCode() * 31 + uid;
        }
    }

    /**
     * Jobs by user and name, for singleton dependencies.
     *
     * @param unfinished all that have not ended, by SLUID
     * @param begun those that have nodes
     * @param singletons those that wait to be the only one of their name
     */
    private record Namesakes(
            Map<Named, NavigableMap<Long, Integer>> unfinished,
            Map<Named, NavigableSet<Integer>> begun,
            Map<Named, NavigableSet<Integer>> singletons) {
        void clear() {
            unfinished.clear();
            begun.clear();
            singletons.clear();
        }
    }

    public void reset(State state) {
        limits.clear();
        stepLimits.clear();
        warnings.clear();
        begins.clear();
        deadlines.clear();
        waiting.clear();
        dependents.clear();
        toSettle.clear();
        toStep.clear();
        namesakes.clear();
        revisits.clear();
        resuming.clear();
        running.clear();
        state.nodes().values().forEach(this::add);
        powered(state);
        begunUpTo = Long.MIN_VALUE;
        state.jobs().values().forEach(job -> {
            add(job);
            waitingSteps(job);
        });
        toSettle.addAll(waiting);
    }

    public void follow(State before, State after, Entry entry) {
        // each once: a job's start, and its end, are several records, and all tasks of an array that start together
        // name the array
        Set<Integer> jobs = new LinkedHashSet<>();
        for (Change change : entry.changes()) {
            powered(change, after);
            nodeOf(change).ifPresent(name -> {
                before.nodes().find(name).ifPresent(this::remove);
                after.nodes().find(name).ifPresent(this::add);
            });
            jobs.addAll(AffectedEntities.jobs(change));
        }
        turns |= after.settings().takesTurns() && entry.changes().stream().anyMatch(DueIndex::isTurn);
        jobs.forEach(id -> follow(before, after, id));
    }

    private static boolean isTurn(Change change) {
        return change instanceof Change.JobStarted
                || change instanceof Change.PrologDone
                || change instanceof Change.ControllerPrologDone
                || change instanceof Change.NodeReleased;
    }

    /** Returns once after each change of the jobs that take turns. */
    public boolean takeTurns() {
        boolean was = turns;
        turns = false;
        return was;
    }

    private void follow(State before, State after, int id) {
        before.jobs().find(id).ifPresent(this::remove);
        Optional<Job> now = after.jobs().find(id);
        now.ifPresent(job -> {
            add(job);
            waitingSteps(job);
            if (needsSettling(job)) {
                toSettle.add(id);
            }
        });
        settleDependents(id);
        settleNamesakes(before, after, id);
        now.ifPresent(job -> {
            if (job.array().jobId() != 0 && job.array().jobId() != id) {
                settleDependents(job.array().jobId());
            }
            if (job.isHet() && !job.isHetLeader()) {
                settleDependents(job.het().jobId());
            }
        });
        if (now.isEmpty()) {
            toSettle.remove(id);
            toStep.remove(id);
        }
    }

    /**
     * Tests whether nodes may be started and stopped in this second; if so, it is then the last second in which they
     * were.
     *
     * @param restS seconds between two such seconds
     */
    public boolean looksAtPower(long second, int restS) {
        boolean looks = second - powerLookS >= restS;
        powerLookS = looks ? second : powerLookS;
        return looks;
    }

    private void powered(State state) {
        powered.clear();
        state.nodes().values().stream().filter(Node::isPowerOrdered).forEach(n -> powered.add(n.name()));
    }

    private void powered(Change change, State after) {
        if (change instanceof Change.ConfigApplied) {
            powered(after);
            return;
        }
        String name = switch (change) {
            case Change.NodeAdded c -> c.spec().name();
            case Change.NodeRemoved c -> c.node();
            case Change.NodeRestored c -> c.node().name();
            default -> AffectedEntities.node(change);
        };
        if (!name.isEmpty()
                && after.nodes().find(name).filter(Node::isPowerOrdered).isPresent()) {
            powered.add(name);
        } else if (!name.isEmpty()) {
            powered.remove(name);
        }
    }

    /** Returns the second at which a plan last had a job soon for a node, by node name; {@link WakeAhead} renews it. */
    public Map<String, Long> planned() {
        return planned;
    }

    /** Tests whether some node is started, stopped or rebooted, or is to be. */
    public boolean somePowered() {
        return !powered.isEmpty();
    }

    private static Optional<String> nodeOf(Change change) {
        return switch (change) {
            case Change.NodeTextsChanged c -> Optional.of(c.node());
            case Change.NodeRemoved c -> Optional.of(c.node());
            case Change.NodeRestored c -> Optional.of(c.node().name());
            default -> Optional.empty();
        };
    }

    private void add(Node node) {
        if (node.resumeAfter() > 0) {
            resuming.computeIfAbsent(node.resumeAfter(), k -> new TreeSet<>()).add(node.name());
        }
    }

    private void remove(Node node) {
        NavigableSet<String> set = resuming.get(node.resumeAfter());
        if (set != null && set.remove(node.name()) && set.isEmpty()) {
            resuming.remove(node.resumeAfter());
        }
    }

    /** Returns the nodes whose time out of service is over. */
    public List<String> toResume(long seconds) {
        List<String> out = new ArrayList<>();
        resuming.headMap(seconds, true).values().forEach(out::addAll);
        return out;
    }

    private void waitingSteps(Job job) {
        if (job.state() == JobState.RUNNING && job.run().steps().stream().anyMatch(Step::isQueued)) {
            toStep.add(job.id());
        } else {
            toStep.remove(job.id());
        }
    }

    /** Returns the jobs in which a queued step may begin; each is named once, until something changes in it. */
    public List<Integer> stepsToBegin(int maxSteps) {
        List<Integer> out = new ArrayList<>(toStep.stream().limit(maxSteps).toList());
        out.forEach(toStep::remove);
        return out;
    }

    /** Looks at jobs with a singleton dependency again that may be the first of their name once the job ended. */
    private void settleNamesakes(State before, State after, int id) {
        if (!namesakes.singletons.isEmpty()
                && after.jobs().find(id).filter(j -> !j.state().isTerminal()).isEmpty()) {
            before.jobs()
                    .find(id)
                    .map(j -> namesakes.singletons.get(Named.of(j)))
                    .ifPresent(toSettle::addAll);
        }
    }

    /**
     * Tests whether a singleton job may start: no older job of the same user and name is unfinished, and no younger one
     * has begun.
     */
    public boolean isFirstOfItsName(Job job) {
        NavigableMap<Long, Integer> all = namesakes.unfinished.get(Named.of(job));
        return !namesakes.begun.containsKey(Named.of(job))
                && (all == null || all.headMap(job.sluid(), false).isEmpty());
    }

    /**
     * Looks at the job again then.
     *
     * @param seconds since 1970
     */
    public void revisit(int jobId, long seconds) {
        revisits.computeIfAbsent(seconds, k -> new TreeSet<>()).add(jobId);
    }

    /**
     * Lets the queue be looked at then, whatever happens until then.
     *
     * @param seconds since 1970
     */
    public void lookAgain(long seconds) {
        look = seconds;
    }

    /** Tests whether the time has come to look at the queue; true only once. */
    public boolean takeLook(long seconds) {
        boolean now = look <= seconds;
        look = now ? Long.MAX_VALUE : look;
        return now;
    }

    private void settleDependents(int id) {
        NavigableSet<Integer> waiters = dependents.get(id);
        if (waiters != null) {
            toSettle.addAll(waiters);
        }
    }

    private static boolean needsSettling(Job job) {
        return job.isPending() && job.eligibleTime() == 0;
    }

    private void add(Job job) {
        if (!job.state().isTerminal()) {
            namesakes
                    .unfinished
                    .computeIfAbsent(Named.of(job), k -> new TreeMap<>())
                    .put(job.sluid(), job.id());
        }
        if (job.state().isActive()) {
            namesakes.begun.computeIfAbsent(Named.of(job), k -> new TreeSet<>()).add(job.id());
        }
        if (job.state() == JobState.RUNNING) {
            running.add(job.id());
        }
        if (job.state() == JobState.RUNNING && job.run().limitTickMs() >= 0) {
            limits.computeIfAbsent(job.run().limitTickMs(), k -> new TreeSet<>())
                    .add(job.id());
            if (job.desc().extras().warnSignal() > 0) {
                warnings.computeIfAbsent(warningTick(job), k -> new TreeSet<>()).add(job.id());
            }
        }
        if (job.state() == JobState.RUNNING && stepLimit(job) < Long.MAX_VALUE) {
            stepLimits.computeIfAbsent(stepLimit(job), k -> new TreeSet<>()).add(job.id());
        }
        if (job.isPending() && job.desc().timing().deadline() > 0) {
            deadlines.computeIfAbsent(latestStart(job), k -> new TreeSet<>()).add(job.id());
        }
        if (needsSettling(job)) {
            waiting.add(job.id());
            begins.computeIfAbsent(job.desc().timing().beginTime(), k -> new TreeSet<>())
                    .add(job.id());
            for (Dependency d : job.dependencies()) {
                if (d.kind() == Dependency.Kind.SINGLETON) {
                    namesakes
                            .singletons
                            .computeIfAbsent(Named.of(job), k -> new TreeSet<>())
                            .add(job.id());
                } else {
                    dependents.computeIfAbsent(d.jobId(), k -> new TreeSet<>()).add(job.id());
                }
            }
        }
    }

    private void remove(Job job) {
        // where it was put by what it was then, and nowhere else
        if (job.state() == JobState.RUNNING) {
            drop(limits, job.run().limitTickMs(), job.id());
            drop(stepLimits, stepLimit(job), job.id());
            drop(warnings, warningTick(job), job.id());
            running.remove(job.id());
        }
        if (job.isPending()) {
            drop(deadlines, latestStart(job), job.id());
        }
        if (needsSettling(job)) {
            drop(begins, job.desc().timing().beginTime(), job.id());
            waiting.remove(job.id());
            for (Dependency d : job.dependencies()) {
                drop(dependents, d.jobId(), job.id());
            }
            drop(namesakes.singletons, Named.of(job), job.id());
        }
        if (job.state().isTerminal()) {
            return;
        }
        Named name = Named.of(job);
        drop(namesakes.begun, name, job.id());
        NavigableMap<Long, Integer> all = namesakes.unfinished.get(name);
        if (all != null && all.remove(job.sluid(), job.id()) && all.isEmpty()) {
            namesakes.unfinished.remove(name);
        }
    }

    private static <K> void drop(Map<K, NavigableSet<Integer>> map, K key, int id) {
        NavigableSet<Integer> set = map.get(key);
        if (set != null && set.remove(id) && set.isEmpty()) {
            map.remove(key);
        }
    }

    /** Returns the running jobs at or past their limit at this tick. */
    public List<Integer> overLimit(long tickMs, int limit) {
        return upTo(limits, tickMs, limit);
    }

    /** Returns the limit of a job's step: a job of srun's own has its limit for its step as well. */
    private static long stepLimit(Job job) {
        return job.desc().kind() == JobDesc.Kind.RUN
                ? Long.MAX_VALUE
                : job.run().steps().stream()
                        .filter(Step::isLimited)
                        .mapToLong(s -> s.startTime() + s.desc().timeLimitMin() * 60L)
                        .min()
                        .orElse(Long.MAX_VALUE);
    }

    /** Returns the running jobs with a step at or past its own limit. */
    public List<Integer> stepsOverLimit(long seconds, int limit) {
        return upTo(stepLimits, seconds, limit);
    }

    /** Returns the seconds since 1970 after which the job cannot end before its deadline any more. */
    private static long latestStart(Job job) {
        JobDesc.Timing t = job.desc().timing();
        int minLimitMin = t.timeMinMin() > 0 ? t.timeMinMin() : Math.max(0, t.timeLimitMin());
        return t.deadline() - minLimitMin * 60L;
    }

    /** Returns the pending jobs that will miss their deadline. */
    public List<Integer> pastDeadline(long seconds, int limit) {
        return upTo(deadlines, seconds - 1, limit);
    }

    private static long warningTick(Job job) {
        return job.run().limitTickMs() - job.desc().extras().warnSeconds() * 1000L;
    }

    /** Returns the jobs to be sent the signal they asked for before their limit (--signal); each once per limit. */
    public List<Integer> toWarn(long tickMs, int limit) {
        List<Integer> out = upTo(warnings, tickMs, limit);
        warnings.headMap(tickMs, true).clear();
        return out;
    }

    /**
     * Returns the jobs whose eligibility must be looked at now: something they wait for changed, or their begin time
     * came.
     */
    public List<Integer> unsettled(long seconds, int limit) {
        List<Integer> out = new ArrayList<>();
        for (int id : toSettle) {
            if (out.size() >= limit) {
                return out;
            }
            out.add(id);
        }
        // a job that waits on after its begin time is looked at again when what it waits for changes
        NavigableMap<Long, NavigableSet<Integer>> begun =
                begunUpTo < seconds ? begins.subMap(begunUpTo, false, seconds, true) : new TreeMap<>();
        for (NavigableMap<Long, NavigableSet<Integer>> map : List.of(begun, revisits.headMap(seconds, true))) {
            for (NavigableSet<Integer> ids : map.values()) {
                if (out.size() + ids.size() > limit && !out.isEmpty()) {
                    return out;
                }
                ids.stream().filter(id -> !toSettle.contains(id)).forEach(out::add);
            }
        }
        begunUpTo = seconds;
        revisits.headMap(seconds, true).clear();
        return out;
    }

    /** Notes that a job was looked at: it is not again before something changes. */
    public void settled(int jobId) {
        toSettle.remove(jobId);
    }

    public boolean isAnyRunning() {
        return !running.isEmpty();
    }

    /** Tests whether something is to be looked at without waiting for the next second. */
    public boolean urgent() {
        return !toSettle.isEmpty() || !toStep.isEmpty() || turns;
    }

    private static List<Integer> upTo(NavigableMap<Long, NavigableSet<Integer>> map, long key, int limit) {
        List<Integer> out = new ArrayList<>();
        for (NavigableSet<Integer> ids : map.headMap(key, true).values()) {
            for (int id : ids) {
                if (out.size() >= limit) {
                    return out;
                }
                out.add(id);
            }
        }
        return out;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DueIndex d
                && limits.equals(d.limits)
                && stepLimits.equals(d.stepLimits)
                && begins.equals(d.begins)
                && resuming.equals(d.resuming)
                && deadlines.equals(d.deadlines)
                && waiting.equals(d.waiting)
                && dependents.equals(d.dependents)
                && namesakes.equals(d.namesakes);
    }

    @Override
    public int hashCode() {
        return limits.hashCode() * 31 + waiting.hashCode();
    }
}
