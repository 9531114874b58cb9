package dev.muster.controller;

import dev.muster.core.Allocation;
import dev.muster.core.Job;
import dev.muster.core.State;
import dev.muster.core.Step;
import dev.muster.model.IndexSet;
import dev.muster.model.node.NodeMessages.MpiNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A step with its parts in all components of a heterogeneous job, in the order of the ranks; of an ordinary job its own parts.
 *
 * @param jobId  that its tasks are told
 * @param shares the allocations that it runs in
 * @param jobs   that have the parts, as many
 */
record WholeStep(int jobId, List<Step.Part> parts, List<Allocation.Share> shares, List<Integer> jobs) {
    static WholeStep of(State state, Job job, Step step) {
        int jobId = job.isHet() ? job.het().jobId() : job.id();
        if (step.het().isEmpty()) {
            return new WholeStep(jobId, step.nodes(), job.run().allocation().nodes(), Collections.nCopies(step.nodes().size(), job.id()));
        }
        List<Step.Part> parts = new ArrayList<>();
        List<Allocation.Share> shares = new ArrayList<>();
        List<Integer> jobs = new ArrayList<>();
        for (int id : step.het()) {
            state.jobs().find(id).ifPresent(j -> {
                j.step(step.id()).ifPresent(s -> {
                    parts.addAll(s.nodes());
                    s.nodes().forEach(p -> jobs.add(id));
                });
                shares.addAll(j.run().allocation().nodes());
            });
        }
        return new WholeStep(jobId, parts, shares, jobs);
    }

    int tasks() {
        return parts.stream().mapToInt(p -> p.tasks().size()).sum();
    }

    /** Its nodes as those must know them whose tasks speak PMI. */
    List<MpiNode> mpi() {
        List<MpiNode> out = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            int[] ranks = parts.get(i).tasks().stream().mapToInt(Integer::intValue).toArray();
            out.add(new MpiNode(parts.get(i).node(), jobs.get(i), IndexSet.of(ranks).compact()));
        }
        return List.copyOf(out);
    }

    /** Where among all its nodes a part is. */
    int index(Step.Part part) {
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).node().equals(part.node())) {
                return i;
            }
        }
        return 0;
    }
}
