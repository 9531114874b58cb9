package dev.muster.core.step;

import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of what is called one step and is several: one in each component that it runs in, of a heterogeneous job or of
 * a heterogeneous step of one job.
 */
public record StepPart(Job job, Step step) {
    /**
     * All parts of the step's heterogeneous step, in the order of the ranks; the step alone if it has no components.
     */
    public static List<StepPart> of(State state, Job job, Step step) {
        List<StepPart> out = new ArrayList<>();
        if (step.het().isEmpty()) {
            job.steps(step.number()).forEach(s -> out.add(new StepPart(job, s)));
        } else {
            step.het()
                    .forEach(id -> state.jobs()
                            .find(id)
                            .ifPresent(j -> j.step(step.id()).ifPresent(s -> out.add(new StepPart(j, s)))));
        }
        return out;
    }
}
