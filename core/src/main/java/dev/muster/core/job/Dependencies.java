package dev.muster.core.job;

import dev.muster.core.index.DueIndex;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads and settles {@code --dependency}. */
public final class Dependencies {
    private Dependencies() {}

    /** The dependency is not valid. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;
        private final transient SlurmErrno why;

        Refused(SlurmErrno why) {
            super(why.name(), null, false, false);
            this.why = why;
        }

        SlurmErrno why() {
            return why;
        }
    }

    /**
     * Reads {@code afterok:12:13_4,singleton} or the form with "?". A number without a word before it is one to wait
     * for the end of, "0" none. States as scontrol and squeue print them, {@code afterok:12(unfulfilled)}, are passed
     * over: scripts hand on what they have read.
     *
     * @param ownId of the job itself when it already exists: a job may not wait for itself or in a circle
     */
    static List<Dependency> parse(String text, State state, int ownId) throws Refused {
        List<Dependency> out = new ArrayList<>();
        if (text.isEmpty() || text.equals("0")) {
            return out;
        }
        boolean any = text.indexOf('?') >= 0;
        boolean bare = false;
        for (String condition : conditions(STATE.matcher(text).replaceAll(""), any ? '?' : ',')) {
            String[] parts = condition.split(":", -1);
            boolean number = parts.length == 1 && BARE.matcher(condition).matches();
            if (number) {
                jobs(out, Dependency.Kind.AFTERANY, condition, any, state, ownId);
            } else {
                typed(out, parts, bare, any, state, ownId);
            }
            bare |= number;
        }
        // a repeated dependency counts once, in its first form, also with another delay
        Set<List<Object>> had = new HashSet<>();
        return out.stream()
                .filter(d -> had.add(List.of(d.kind(), d.jobId(), d.arrayTask())))
                .toList();
    }

    private static final Pattern STATE = Pattern.compile("\\((unfulfilled|failed|fulfilled)\\)");
    private static final Pattern BARE = Pattern.compile("[1-9]\\d*(_(\\d+|\\*|\\[[^\\]]*\\]))?");

    /** Returns the conditions between the separators, of which those in brackets are none. */
    private static List<String> conditions(String text, char separator) throws Refused {
        List<String> out = new ArrayList<>();
        int from = 0;
        boolean inside = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            inside = c == '[' || inside && c != ']';
            if (!inside && c == separator) {
                out.add(text.substring(from, i));
                from = i + 1;
            } else if (!inside && (c == ',' || c == '?')) {
                throw new Refused(SlurmErrno.DEPENDENCY); // of separators there is one kind
            }
        }
        out.add(text.substring(from));
        return out;
    }

    private static Optional<Dependency.Kind> kind(String word) {
        for (Dependency.Kind kind : Dependency.Kind.values()) {
            if (kind.word().equalsIgnoreCase(word)) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }

    /**
     * Parses a condition with its type: {@code singleton}, or any other with one job at least.
     *
     * @param afterBare a number without a type came before, which no type may follow
     */
    private static void typed(
            List<Dependency> out, String[] parts, boolean afterBare, boolean any, State state, int ownId)
            throws Refused {
        if (parts[0].equalsIgnoreCase("expand")) {
            throw new Refused(SlurmErrno.NOT_SUPPORTED);
        }
        Dependency.Kind kind = kind(parts[0]).orElseThrow(() -> new Refused(SlurmErrno.DEPENDENCY));
        boolean alone = parts.length == 1;
        if (afterBare || alone != (kind == Dependency.Kind.SINGLETON)) {
            throw new Refused(SlurmErrno.DEPENDENCY);
        }
        if (alone) {
            out.add(new Dependency(kind, 0, Dependency.WHOLE, 0, any, Dependency.Status.UNFULFILLED));
        }
        for (int i = 1; i < parts.length; i++) {
            jobs(out, kind, parts[i], any, state, ownId);
        }
    }

    /**
     * A job as a condition names it.
     *
     * @param task what follows "_"; absent without one
     * @param delayMin what follows "+", in minutes; 0 without one
     */
    private record JobName(int id, Optional<String> task, int delayMin) {
        /**
         * Parses a job of a dependency. Blanks and a sign may precede its number: scripts write {@code afterok: $ID}.
         */
        static JobName parse(String text) throws Refused {
            String signed = text.stripLeading();
            String job = signed.startsWith("+") ? signed.substring(1) : signed;
            int plus = job.indexOf('+');
            String name = plus < 0 ? job : job.substring(0, plus);
            int bar = name.indexOf('_');
            int id = number(bar < 0 ? name : name.substring(0, bar));
            int delay = plus < 0 ? 0 : number(job.substring(plus + 1).stripLeading());
            if (plus >= 0 && delay == 0 || id == 0) {
                throw new Refused(SlurmErrno.DEPENDENCY);
            }
            return new JobName(id, bar < 0 ? Optional.empty() : Optional.of(name.substring(bar + 1)), delay);
        }
    }

    /**
     * Parses one job or some tasks of an array: {@code 12}, {@code 12_3}, {@code 12_*}, {@code 12_[1,3-5]},
     * {@code 12+minutes}. The minutes are kept and printed with every kind, and delay only {@code after}.
     */
    private static void jobs(
            List<Dependency> out, Dependency.Kind kind, String text, boolean any, State state, int ownId)
            throws Refused {
        JobName name = JobName.parse(text);
        if (name.id() == ownId) {
            throw new Refused(SlurmErrno.DEPENDENCY);
        }
        if (dependsOn(state, name.id(), ownId, 0)) {
            throw new Refused(SlurmErrno.CIRCULAR_DEPENDENCY);
        }
        // a job that is known no more has ended, and its exit status is lost
        boolean ofEnd = kind == Dependency.Kind.AFTEROK || kind == Dependency.Kind.AFTERNOTOK;
        List<Job> whole = targets(state, name.id(), Dependency.WHOLE);
        if (ofEnd && whole.isEmpty()) {
            throw new Refused(SlurmErrno.DEPENDENCY);
        }
        String task = name.task().orElse("");
        if (task.startsWith("[") && task.endsWith("]")) {
            IndexSet indexes = taskSet(task, state);
            for (int i = indexes.first(); i >= 0; i = indexes.next(i + 1)) {
                out.add(new Dependency(kind, name.id(), i, name.delayMin(), any, Dependency.Status.UNFULFILLED));
            }
        } else {
            int one = oneTask(name, whole, ofEnd, state);
            out.add(new Dependency(kind, name.id(), one, name.delayMin(), any, Dependency.Status.UNFULFILLED));
        }
    }

    /** Reads {@code [1,3-5]}. */
    private static IndexSet taskSet(String task, State state) throws Refused {
        int highest = Math.min(IndexSet.MAX_INDEX, state.settings().maxArraySize() - 1);
        List<IndexSet.Spec> spec = IndexSet.parseSpec(task.substring(1, task.length() - 1), highest);
        if (spec.isEmpty() || task.indexOf('%') >= 0) {
            throw new Refused(SlurmErrno.DEPENDENCY);
        }
        return spec.getFirst().indexes();
    }

    /**
     * Returns the task's number, {@link Dependency#ALL_TASKS} or {@link Dependency#WHOLE}.
     *
     * @param whole all jobs of that number
     * @param ofEnd the condition needs an exit status, so the task must exist
     */
    private static int oneTask(JobName name, List<Job> whole, boolean ofEnd, State state) throws Refused {
        boolean array = whole.stream().anyMatch(j -> j.array().jobId() != 0);
        boolean task = name.task().isPresent();
        int one;
        if (task && !name.task().get().equals("*")) {
            one = number(name.task().get());
        } else if (array || task) {
            one = Dependency.ALL_TASKS;
        } else {
            one = Dependency.WHOLE;
        }
        if (ofEnd && (one >= 0 && targets(state, name.id(), one).isEmpty() || task && !array)) {
            throw new Refused(SlurmErrno.DEPENDENCY); // the array has no such task, or the job is no array
        }
        return one;
    }

    private static int number(String text) throws Refused {
        if (!Digits.only(text, 9)) {
            throw new Refused(SlurmErrno.DEPENDENCY);
        }
        return Integer.parseInt(text);
    }

    private static boolean dependsOn(State state, int id, int target, int depth) {
        if (target == 0 || depth > state.settings().options().submission().dependencyDepthMax()) {
            return false;
        }
        return state.jobs()
                .find(id)
                .map(job -> job.dependencies().stream()
                        .anyMatch(d -> d.jobId() == target
                                || d.jobId() != 0 && dependsOn(state, d.jobId(), target, depth + 1)))
                .orElse(false);
    }

    /** Returns the conditions as they stand now. */
    public static List<Dependency> settle(State state, Job job, DecisionTime now, DueIndex dueIndex) {
        List<Dependency> out = new ArrayList<>();
        for (Dependency d : job.dependencies()) {
            out.add(d.status() == Dependency.Status.UNFULFILLED ? d.with(status(state, job, d, now, dueIndex)) : d);
        }
        return out;
    }

    /** Tests whether the job can never run any more. */
    public static boolean hopeless(List<Dependency> all) {
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

    private static Dependency.Status status(State state, Job job, Dependency d, DecisionTime now, DueIndex dueIndex) {
        if (d.kind() == Dependency.Kind.SINGLETON) {
            return dueIndex.isFirstOfItsName(job) ? Dependency.Status.FULFILLED : Dependency.Status.UNFULFILLED;
        }
        int task = d.kind() == Dependency.Kind.AFTERCORR && job.array().task() >= 0
                ? job.array().task()
                : d.arrayTask();
        List<Job> targets = targets(state, d.jobId(), task);
        if (targets.isEmpty()) {
            return ofUnknownJob(d.kind());
        }
        return switch (d.kind()) {
            case AFTER -> {
                long startsAt = targets.stream()
                        .mapToLong(t -> begun(t) == 0 ? 0 : begun(t) + d.delayMin() * 60L)
                        .filter(at -> at > now.seconds())
                        .max()
                        .orElse(0);
                if (startsAt > 0) {
                    dueIndex.revisit(job.id(), startsAt);
                }
                yield all(targets, t -> begun(t) > 0 && begun(t) + d.delayMin() * 60L <= now.seconds());
            }
            case AFTERBURSTBUFFER -> all(targets, t -> over(t) && isFetched(state, t));
            // what a job reads that has a buffer itself is there only after the other's stage-out
            case AFTERANY, AFTEROK, AFTERCORR, AFTERNOTOK ->
                state.buffers().byJob().has(job.id()) && !targets.stream().allMatch(t -> isFetched(state, t))
                        ? Dependency.Status.UNFULFILLED
                        : ended(d.kind(), targets);
            case SINGLETON -> Dependency.Status.UNFULFILLED;
        };
    }

    /**
     * Returns the status of a dependency on a job that is known no more: it has ended, with an exit status that is
     * lost.
     */
    private static Dependency.Status ofUnknownJob(Dependency.Kind kind) {
        return switch (kind) {
            case AFTEROK, AFTERNOTOK, AFTERCORR -> Dependency.Status.FAILED;
            case AFTER, AFTERANY, AFTERBURSTBUFFER, SINGLETON -> Dependency.Status.FULFILLED;
        };
    }

    /**
     * Returns the time that the delay of {@code after} counts from: the start, or the end of a job that never started;
     * 0 while it waits.
     */
    private static long begun(Job t) {
        if (t.run().startTime() > 0) {
            return t.run().startTime();
        }
        if (t.state().isTerminal()) {
            return t.run().endTime();
        }
        return 0;
    }

    private static Dependency.Status ended(Dependency.Kind kind, List<Job> targets) {
        return kind == Dependency.Kind.AFTERANY
                ? all(targets, Dependencies::over)
                : ok(targets, kind != Dependency.Kind.AFTERNOTOK);
    }

    /** Tests that nothing of the job's burst buffer is still to be fetched. */
    private static boolean isFetched(State state, Job t) {
        return state.buffers()
                .byJob()
                .find(t.id())
                .filter(b ->
                        b.stage() != BurstBuffer.Stage.COMPLETE && !b.stage().isTeardown())
                .isEmpty();
    }

    private static boolean over(Job t) {
        return t.state().isTerminal() && !t.has(dev.muster.model.job.JobFlag.COMPLETING);
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
        state.jobs().find(id).ifPresent(j -> all.addAll(j.isHetLeader() ? state.members(j) : List.of(j)));
        return all;
    }
}
