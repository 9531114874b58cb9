package dev.muster.controller.view;

import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.tres.TrackedTypes;
import dev.muster.model.api.JobMessages.StepInfo;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Sluid;
import java.util.Map;
import java.util.TreeMap;

/** Steps as queries show them. */
public final class StepViews {
    private final State state;

    public StepViews(State state) {
        this.state = state;
    }

    public StepInfo info(Job job, Step step) {
        int cpus = step.nodes().stream().mapToInt(Step.Part::cpus).sum();
        long memory = step.nodes().stream().mapToLong(Step.Part::memoryMb).sum();
        String nodes =
                HostList.of(step.nodes().stream().map(Step.Part::node).toList()).compressed();
        Map<String, Integer> gres = new TreeMap<>();
        TrackedTypes types = TrackedTypes.of(state.settings());
        step.nodes().forEach(p -> {
            p.gres().forEach((n, s) -> gres.merge(n, s.count(), Integer::sum));
            types.held(gres, state, p.node(), p.gres());
        });
        String name = step.id() < 0 ? step.name() : step.desc().name();
        return new StepInfo(
                job.id(),
                job.array().jobId(),
                job.array().task(),
                step.name(),
                name,
                job.desc().owner().uid(),
                job.desc().owner().user(),
                job.desc().partition(),
                stateOf(step),
                nodes,
                step.nodes().size(),
                cpus,
                Math.max(1, step.tasks()),
                step.startTime(),
                limitMin(job, step),
                TresText.ofStep(cpus, TresText.held(state, memory), step.nodes().size(), gres),
                step.desc().request().tresPerNode(),
                step.desc().submitHost(),
                step.desc().submitPid(),
                step.desc().cpuBind(),
                step.id() < 0 ? "" : JobRows.layout(job, step),
                job.desc().charge().account(),
                step.desc().submitLine().text(),
                Sluid.shown(job.rowSluid(step.id()), job.restarts()),
                job.het().jobId(),
                job.het().offset(),
                step.ports().print(0),
                step.isBatch() ? job.desc().extras().container() : step.desc().container(),
                step.desc().request().network(),
                step.id() < 0 ? "" : step.desc().cpuFreq(),
                step.isBatch() ? job.desc().extras().containerId() : step.desc().containerId(),
                step.nodes().stream()
                        .map(p -> IndexSet.of(
                                        p.tasks().stream().mapToInt(t -> t).toArray())
                                .compact())
                        .toList());
    }

    private static String stateOf(Step step) {
        if (step.state() == Step.State.RUNNING) {
            return "RUNNING";
        }
        return step.isQueued() ? "PENDING" : "COMPLETED";
    }

    /** -1 for a step that no command asked for, such as extern; the job's limit for a step without one. */
    private static int limitMin(Job job, Step step) {
        if (!step.isAsked()) {
            return -1;
        }
        return step.desc().timeLimitMin() > 0
                ? step.desc().timeLimitMin()
                : job.run().limitMin();
    }
}
