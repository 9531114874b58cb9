package dev.muster.core;

import dev.muster.model.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads and settles {@code --dependency}. */
final class Dependencies {
    private Dependencies() {}

    /**
     * Reads {@code afterok:12:13_4,singleton} or the form with "?".
     *
     * @param ownId of the job itself when it already exists: a job may not wait for itself or in a circle
     * @return empty if the text is malformed or names a job that is not known
     */
    static Optional<List<Dependency>> parse(String text, State state, int uid, int ownId) {
        List<Dependency> out = new ArrayList<>();
        if (text.isEmpty()) {
            return Optional.of(out);
        }
        boolean any = text.indexOf('?') >= 0;
        if (any && text.indexOf(',') >= 0) {
            return Optional.empty();
        }
        for (String condition : text.split(any ? "\\?" : ",", -1)) {
            String[] parts = condition.split(":", -1);
            Optional<Dependency.Kind> kind = kind(parts[0]);
            if (kind.isEmpty()) {
                return Optional.empty();
            }
            if (kind.get() == Dependency.Kind.SINGLETON && parts.length == 1) {
                out.add(new Dependency(kind.get(), 0, Dependency.WHOLE, 0, any, Dependency.Status.UNFULFILLED));
            } else if (kind.get() == Dependency.Kind.SINGLETON || parts.length < 2 || !jobs(out, kind.get(), parts, any, state, ownId)) {
                return Optional.empty();
            }
        }
        return Optional.of(out);
    }

    private static Optional<Dependency.Kind> kind(String word) {
        for (Dependency.Kind kind : Dependency.Kind.values()) {
            if (kind.word().equalsIgnoreCase(word)) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }

    private static boolean jobs(
            List<Dependency> out, Dependency.Kind kind, String[] parts, boolean any, State state, int ownId) {
        for (int i = 1; i < parts.length; i++) {
            String name = parts[i];
            int delay = 0;
            int plus = name.indexOf('+');
            try {
                if (plus >= 0) {
                    if (kind != Dependency.Kind.AFTER) {
                        return false;
                    }
                    delay = Integer.parseInt(name.substring(plus + 1));
                    if (delay < 0) {
                        return false;
                    }
                    name = name.substring(0, plus);
                }
                int bar = name.indexOf('_');
                int task = bar < 0 || name.substring(bar + 1).equals("*") ? Dependency.WHOLE : Integer.parseInt(name.substring(bar + 1));
                int id = Integer.parseInt(bar < 0 ? name : name.substring(0, bar));
                if (id <= 0 || id == ownId || dependsOn(state, id, ownId, 0)) {
                    return false;
                }
                // A job that is known no more has ended; whether well nobody can say
                boolean ofEnd = kind == Dependency.Kind.AFTEROK || kind == Dependency.Kind.AFTERNOTOK;
                if (ofEnd && targets(state, id, Dependency.WHOLE).isEmpty()) {
                    return false;
                }
                out.add(new Dependency(kind, id, task, delay, any, Dependency.Status.UNFULFILLED));
            } catch (NumberFormatException e) {
                return false;
            }
        }
        return true;
    }

    /** An option: circles are looked for this deep (DependencyParameters=max_depend_depth). */
    static final String DEPTH_OPTION = "max_depend_depth";
    private static final String DEPTH = "10";

    private static boolean dependsOn(State state, int id, int target, int depth) {
        if (target == 0 || depth > Integer.parseInt(state.settings().options().getOrDefault(DEPTH_OPTION, DEPTH))) {
            return false;
        }
        return state.jobs().find(id).map(job -> job.dependencies().stream()
                .anyMatch(d -> d.jobId() == target || d.jobId() != 0 && dependsOn(state, d.jobId(), target, depth + 1))).orElse(false);
    }

    /** The conditions as they stand now. */
    static List<Dependency> settle(State state, Job job, Now now, Due due) {
        List<Dependency> out = new ArrayList<>();
        for (Dependency d : job.dependencies()) {
            out.add(d.status() == Dependency.Status.UNFULFILLED ? d.with(status(state, job, d, now, due)) : d);
        }
        return out;
    }

    static boolean fulfilled(List<Dependency> all) {
        boolean any = !all.isEmpty() && all.getFirst().any();
        for (Dependency d : all) {
            if (any && d.status() == Dependency.Status.FULFILLED) {
                return true;
            }
            if (!any && d.status() != Dependency.Status.FULFILLED) {
                return false;
            }
        }
        return !any;
    }

    /** The job can never run any more. */
    static boolean hopeless(List<Dependency> all) {
        boolean any = !all.isEmpty() && all.getFirst().any();
        for (Dependency d : all) {
            if (!any && d.status() == Dependency.Status.FAILED) {
                return true;
            }
            if (any && d.status() != Dependency.Status.FAILED) {
                return false;
            }
        }
        return any;
    }

    private static Dependency.Status status(State state, Job job, Dependency d, Now now, Due due) {
        if (d.kind() == Dependency.Kind.SINGLETON) {
            return due.isFirstOfItsName(job) ? Dependency.Status.FULFILLED : Dependency.Status.UNFULFILLED;
        }
        int task = d.kind() == Dependency.Kind.AFTERCORR && job.array().task() >= 0 ? job.array().task() : d.arrayTask();
        List<Job> targets = targets(state, d.jobId(), task);
        if (targets.isEmpty()) {
            return d.kind() == Dependency.Kind.AFTEROK || d.kind() == Dependency.Kind.AFTERNOTOK || d.kind() == Dependency.Kind.AFTERCORR
                    ? Dependency.Status.FAILED : Dependency.Status.FULFILLED;
        }
        return switch (d.kind()) {
            case AFTER -> {
                long startsAt = targets.stream().filter(t -> !t.state().isTerminal()).mapToLong(t -> t.run().startTime() == 0 ? 0
                        : t.run().startTime() + d.delayMin() * 60L).filter(at -> at > now.seconds()).max().orElse(0);
                if (startsAt > 0) {
                    due.revisit(job.id(), startsAt);
                }
                yield all(targets, t -> t.run().startTime() > 0 && t.run().startTime() + d.delayMin() * 60L <= now.seconds()
                        || t.state().isTerminal());
            }
            case AFTERBURSTBUFFER -> all(targets, t -> over(t) && isFetched(state, t));
            // what a job reads that has a buffer itself is there only after the other's stage-out
            case AFTERANY, AFTEROK, AFTERCORR, AFTERNOTOK -> state.buffers().byJob().has(job.id())
                    && !targets.stream().allMatch(t -> isFetched(state, t)) ? Dependency.Status.UNFULFILLED : ended(d.kind(), targets);
            case SINGLETON -> Dependency.Status.UNFULFILLED;
        };
    }

    private static Dependency.Status ended(Dependency.Kind kind, List<Job> targets) {
        return kind == Dependency.Kind.AFTERANY ? all(targets, Dependencies::over) : ok(targets, kind != Dependency.Kind.AFTERNOTOK);
    }

    /** Nothing of the job's burst buffer is still to be fetched. */
    private static boolean isFetched(State state, Job t) {
        return state.buffers().byJob().find(t.id()).filter(b -> b.stage() != BurstBuffer.Stage.COMPLETE && !b.stage().isTeardown()).isEmpty();
    }

    private static boolean over(Job t) {
        return t.state().isTerminal() && !t.has(dev.muster.model.JobFlag.COMPLETING);
    }

    private static Dependency.Status all(List<Job> targets, java.util.function.Predicate<Job> done) {
        return targets.stream().allMatch(done) ? Dependency.Status.FULFILLED : Dependency.Status.UNFULFILLED;
    }

    private static Dependency.Status ok(List<Job> targets, boolean wantOk) {
        boolean allOver = true;
        boolean allOk = true;
        for (Job t : targets) {
            if (!over(t)) {
                allOver = false;
            } else if (t.state() != JobState.COMPLETED) {
                allOk = false;
            }
        }
        if (wantOk && !allOk) {
            return Dependency.Status.FAILED;
        }
        if (!allOver) {
            return Dependency.Status.UNFULFILLED;
        }
        return allOk == wantOk ? Dependency.Status.FULFILLED : Dependency.Status.FAILED;
    }

    private static List<Job> targets(State state, int id, int task) {
        if (task >= 0) {
            return state.job(id, task).map(List::of).orElse(List.of());
        }
        List<Job> all = new ArrayList<>(state.tasksOf(id));
        state.jobs().find(id).ifPresent(j -> all.addAll(j.isHetLeader() ? HetRules.members(state, j) : List.of(j)));
        return all;
    }
}
