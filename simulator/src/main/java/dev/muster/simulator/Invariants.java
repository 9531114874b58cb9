package dev.muster.simulator;

import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What holds in every state; numbers as in the list of invariants. */
final class Invariants {
    private static final Map<JobState, Set<JobState>> ALLOWED = new EnumMap<>(JobState.class);

    static {
        Set<JobState> ends = EnumSet.noneOf(JobState.class);
        for (JobState s : JobState.values()) {
            if (s.isTerminal()) {
                ends.add(s);
            }
        }
        for (JobState s : JobState.values()) {
            Set<JobState> next = EnumSet.of(s);
            if (s.isTerminal()) {
                next.add(JobState.PENDING);
            } else {
                next.addAll(ends);
                next.addAll(
                        s == JobState.RUNNING
                                ? EnumSet.of(JobState.PENDING, JobState.SUSPENDED)
                                : s == JobState.SUSPENDED
                                        ? EnumSet.of(JobState.PENDING, JobState.RUNNING)
                                        : EnumSet.of(JobState.RUNNING));
            }
            ALLOWED.put(s, next);
        }
    }

    private Invariants() {}

    /** I1, I2, I3: along the table, attempts by one. */
    static void transitions(State before, State after, Entry entry) {
        Set<Integer> ids = new TreeSet<>();
        entry.changes().forEach(c -> ids.addAll(AffectedEntities.jobs(c)));
        for (int id : ids) {
            Job then = before.jobs().find(id).orElse(null);
            Job now = after.jobs().find(id).orElse(null);
            if (now == null || then == null) {
                continue;
            }
            if (!ALLOWED.getOrDefault(then.state(), Set.of()).contains(now.state())) {
                throw new Violation(
                        "I1 state table",
                        "job " + id + " " + then.state() + " → " + now.state() + " by " + entry.cause());
            }
            if (then.state().isTerminal() && now.state() == JobState.PENDING && now.restarts() != then.restarts() + 1) {
                throw new Violation("I2 only a requeue revives", "job " + id);
            }
            if (now.attempt() < then.attempt() || now.attempt() > then.attempt() + 1) {
                throw new Violation(
                        "I3 attempts grow by one", "job " + id + " " + then.attempt() + " → " + now.attempt());
            }
        }
    }

    static void check(State state) {
        Map<String, TreeMap<Integer, Allocation.Share>> holders = new TreeMap<>();
        Set<Integer> endedIds = new TreeSet<>(state.ended().values());
        if (endedIds.size() != state.ended().size()) {
            throw new Violation("I29 index of ended jobs", "a job is listed twice");
        }
        for (Job job : state.jobs().values()) {
            job(job, endedIds);
            for (Allocation.Share share : job.run().allocation().nodes()) {
                if (!share.released() && job.holdsNodes()) {
                    holders.computeIfAbsent(share.node(), n -> new TreeMap<>()).put(job.id(), share);
                }
            }
        }
        for (Node node : state.nodes().values()) {
            node(state, node, holders.getOrDefault(node.name(), new TreeMap<>()));
        }
        if (state.nextJobId() > state.jobIdCeiling() || state.nextSluid() > state.sluidCeiling()) {
            throw new Violation("I6", "numbers beyond the reserved ones");
        }
    }

    private static void job(Job job, Set<Integer> endedIds) {
        boolean holds =
                !job.run().allocation().isEmpty() && !job.run().allocation().allReleased();
        if (job.has(JobFlag.COMPLETING) != (holds && !job.state().isActive())) {
            throw new Violation(
                    "I19 COMPLETING until released", job.displayId() + " " + job.state() + " holds " + holds);
        }
        if (job.state().isActive() && job.run().allocation().isEmpty()) {
            throw new Violation("I12", job.displayId() + " runs on nothing");
        }
        boolean ended = endedIds.contains(job.id());
        if (ended != (job.state().isTerminal() && !job.has(JobFlag.COMPLETING))) {
            throw new Violation("I29 index of ended jobs", job.displayId() + " " + job.state() + " listed " + ended);
        }
        job.run().steps().forEach(s -> step(job, s));
    }

    private static void step(Job job, Step step) {
        if (step.state() == Step.State.ENDED && !step.allDone()) {
            throw new Violation("I20", job.displayId() + "." + step.name() + " ended with a part that did not");
        }
        if (step.isQueued() != step.nodes().isEmpty() && step.state() != Step.State.ENDED
                || step.isQueued() && job.state().isTerminal()) {
            throw new Violation(
                    "I20 queued steps", job.displayId() + "." + step.name() + " of a " + job.state() + " job");
        }
        for (Step.Part part : step.nodes()) {
            Allocation.Share share = job.run().allocation().on(part.node()).orElse(null);
            if (share == null
                    || !part.cores().minus(share.cores()).isEmpty()
                    || part.memoryMb() > share.memoryMb() && share.memoryMb() > 0) {
                throw new Violation(
                        "I20 a step within its job", job.displayId() + "." + step.name() + " on " + part.node());
            }
        }
    }

    private static void node(State state, Node node, TreeMap<Integer, Allocation.Share> holders) {
        int cpus = 0;
        int lent = 0;
        long memory = 0;
        IndexSet cores = IndexSet.empty();
        Map<String, IndexSet> gres = new TreeMap<>();
        for (Map.Entry<Integer, Allocation.Share> e : holders.entrySet()) {
            Allocation.Share share = e.getValue();
            cpus += share.chargedCpus();
            memory += share.memoryMb();
            // a suspended job lent its cores, and an administrator may have resumed it beside the borrower
            boolean lends = state.jobs().at(e.getKey()).run().suspendTime() > 0;
            lent += lends ? share.chargedCpus() : 0;
            if (!lends && !cores.intersect(share.cores()).isEmpty()) {
                throw new Violation(
                        "I13 each core once", "node " + node.name() + " job " + e.getKey() + " cores " + share.cores());
            }
            cores = lends ? cores : cores.union(share.cores());
            share.gres().forEach((name, devices) -> {
                if (!gres.getOrDefault(name, IndexSet.empty())
                        .intersect(devices)
                        .isEmpty()) {
                    throw new Violation("I13 each device once", "node " + node.name() + " job " + e.getKey());
                }
                gres.merge(name, devices, IndexSet::union);
            });
        }
        if (!node.jobs().equals(java.util.List.copyOf(holders.keySet()))) {
            throw new Violation(
                    "I14 the node's jobs", node.name() + " lists " + node.jobs() + ", held by " + holders.keySet());
        }
        if (cpus != node.cpusAllocated() || memory != node.memoryAllocatedMb()) {
            throw new Violation(
                    "I14 no drift",
                    node.name() + " counts " + node.cpusAllocated() + " CPUs, " + node.memoryAllocatedMb()
                            + " MB; jobs hold " + cpus + ", " + memory);
        }
        if (cpus - lent > node.spec().cpus()
                || memory > node.spec().memoryMb()
                || cores.last() >= node.spec().units()) {
            throw new Violation("I12 never oversubscribed", node.name() + " " + cpus + " CPUs, " + memory + " MB");
        }
    }
}
