package dev.muster.controller.view;

import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A job as people type it: {@code 12}, {@code 12_3}, {@code 12_[3-5,9]}, {@code 12_*}, {@code 12+1}, each also with a
 * step: {@code 12.0}, {@code 12_3.batch}.
 *
 * @param tasks empty for the whole job or array
 * @param step {@link Command.JobRef#NO_STEP} if none is named
 * @param alone one component of a heterogeneous job and not the whole
 */
public record JobName(String text, int jobId, IndexSet tasks, int step, boolean alone) {
    /** Reads a name like {@link #parse(String)}, or the SLUID of a job, which never changes. */
    public static Optional<JobName> parse(String text, State state) {
        int end = text.indexOf('.') < 0 ? text.length() : text.indexOf('.');
        int bar = text.indexOf('_');
        end = bar >= 0 && bar < end ? bar : end;
        java.util.OptionalLong sluid = Sluid.parse(text.substring(0, end));
        if (sluid.isEmpty()) {
            int dot = text.indexOf('.');
            String job = dot < 0 ? text : text.substring(0, dot);
            return job.indexOf('+') < 0 ? parse(text) : component(text, state);
        }
        String rest = text.substring(end);
        for (Job job : state.jobs().values()) {
            if (job.shownSluid() == sluid.getAsLong() || job.sluid() == sluid.getAsLong()) {
                return parse(job.id() + rest).map(n -> new JobName(text, n.jobId, n.tasks, n.step, n.alone));
            }
        }
        return Optional.empty();
    }

    /** {@code 12+1}, {@code 12+1.0}. */
    private static Optional<JobName> component(String text, State state) {
        int plus = text.indexOf('+');
        int dot = text.indexOf('.', plus);
        Optional<JobName> whole = parse(text.substring(0, plus) + (dot < 0 ? "" : text.substring(dot)));
        List<Integer> members = whole.flatMap(n -> state.jobs().find(n.jobId))
                .map(j -> j.het().jobId() == j.id() ? j.het().members() : List.<Integer>of())
                .orElse(List.of());
        try {
            int offset = Integer.parseInt(text.substring(plus + 1, dot < 0 ? text.length() : dot));
            return offset < 0 || offset >= members.size()
                    ? Optional.empty()
                    : Optional.of(new JobName(text, members.get(offset), IndexSet.empty(), whole.get().step, true));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Optional<JobName> parse(String text) {
        String job = text;
        int step = Command.JobRef.NO_STEP;
        int dot = text.indexOf('.');
        if (dot >= 0) {
            job = text.substring(0, dot);
            Optional<Integer> named = step(text.substring(dot + 1));
            if (named.isEmpty()) {
                return Optional.empty();
            }
            step = named.get();
        }
        int plus = job.indexOf('+');
        if (plus >= 0) {
            return Optional.empty();
        }
        IndexSet tasks = IndexSet.empty();
        int bar = job.indexOf('_');
        if (bar >= 0) {
            String index = job.substring(bar + 1);
            if (!index.equals("*")) {
                List<IndexSet.Spec> spec = IndexSet.parseSpec(index, IndexSet.MAX_INDEX);
                if (spec.isEmpty()) {
                    return Optional.empty();
                }
                tasks = spec.getFirst().indexes();
            }
            job = job.substring(0, bar);
        }
        try {
            int id = Integer.parseInt(job);
            return id > 0 ? Optional.of(new JobName(text, id, tasks, step, false)) : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    static Optional<Integer> step(String text) {
        return switch (text) {
            case "batch" -> Optional.of(Step.BATCH);
            case "extern" -> Optional.of(Step.EXTERN);
            default -> {
                OptionalInt id = StepId.parse(text);
                yield id.isPresent() && StepId.isAsked(id.getAsInt()) ? Optional.of(id.getAsInt()) : Optional.empty();
            }
        };
    }

    /** Returns one reference for each named task. */
    public List<Command.JobRef> refs() {
        if (tasks.isEmpty()) {
            return List.of(new Command.JobRef(text, jobId, -1, step));
        }
        List<Command.JobRef> out = new ArrayList<>();
        for (int t = tasks.first(); t >= 0; t = tasks.next(t + 1)) {
            out.add(new Command.JobRef(text, jobId, t, step));
        }
        return out;
    }
}
