package dev.muster.controller.view;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.step.StepPart;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages.MpiNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A step with its parts in all its components, of a heterogeneous job or its own, in the order of the ranks; of an
 * ordinary one its own parts.
 *
 * @param jobId that its tasks are told
 * @param shares the nodes that its tasks are told are their job's
 * @param of what has the parts, as many
 */
record CombinedStep(int jobId, List<Step.Part> parts, List<Allocation.Share> shares, List<StepPart> of) {
    static CombinedStep of(State state, Job job, Step step) {
        int jobId = job.isHet() ? job.het().jobId() : job.id();
        if (step.het().isEmpty() && !StepId.isComponent(step.id())) {
            return new CombinedStep(
                    jobId,
                    step.nodes(),
                    job.run().allocation().nodes(),
                    Collections.nCopies(step.nodes().size(), new StepPart(job, step)));
        }
        List<Step.Part> parts = new ArrayList<>();
        List<StepPart> of = new ArrayList<>();
        List<StepPart> all = StepPart.of(state, job, step);
        for (StepPart part : all) {
            parts.addAll(part.step().nodes());
            part.step().nodes().forEach(p -> of.add(part));
        }
        // a component of one job's step sees the nodes of the step as those of its job
        List<Allocation.Share> shares = !step.het().isEmpty()
                ? all.stream()
                        .flatMap(p -> p.job().run().allocation().nodes().stream())
                        .toList()
                : parts.stream()
                        .flatMap(p -> job.run().allocation().on(p.node()).stream())
                        .toList();
        return new CombinedStep(jobId, parts, shares, of);
    }

    int tasks() {
        return parts.stream().mapToInt(p -> p.tasks().size()).sum();
    }

    /** Returns the nodes of the step as PMI needs them. */
    List<MpiNode> mpi() {
        List<MpiNode> out = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            int[] ranks =
                    parts.get(i).tasks().stream().mapToInt(Integer::intValue).toArray();
            out.add(new MpiNode(
                    parts.get(i).node(),
                    of.get(i).job().id(),
                    of.get(i).step().id(),
                    IndexSet.of(ranks).compact()));
        }
        return List.copyOf(out);
    }

    /** Returns the index of a part among all nodes of the step. */
    int index(Step.Part part) {
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).node().equals(part.node())) {
                return i;
            }
        }
        return 0;
    }
}
