package dev.muster.core.state;

import java.util.List;

/**
 * One condition of a job's {@code --dependency}.
 *
 * @param jobId 0 for singleton
 * @param arrayTask a task index, {@link #WHOLE} for a plain job, or {@link #ALL_TASKS}
 * @param delayMin minutes of {@code job+minutes}; only {@link Kind#AFTER} uses them
 * @param any conditions are joined by "?" (any suffices) and not by ","
 */
public record Dependency(Kind kind, int jobId, int arrayTask, int delayMin, boolean any, Status status) {
    public static final int WHOLE = -1;
    /** All tasks of what was an array when this was said; it is told as {@code 12_*}. */
    public static final int ALL_TASKS = -2;

    public enum Kind {
        AFTER("after"),
        AFTERANY("afterany"),
        AFTERBURSTBUFFER("afterburstbuffer"),
        AFTERCORR("aftercorr"),
        AFTERNOTOK("afternotok"),
        AFTEROK("afterok"),
        SINGLETON("singleton");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    public enum Status {
        UNFULFILLED,
        FULFILLED,
        FAILED
    }

    public Dependency with(Status s) {
        return new Dependency(kind, jobId, arrayTask, delayMin, any, s);
    }

    /** Returns the unfulfilled conditions as squeue prints them: {@code afterok:12(unfulfilled)}. */
    public static String print(List<Dependency> all) {
        StringBuilder out = new StringBuilder();
        for (Dependency d : all) {
            if (d.status == Status.FULFILLED) {
                if (d.any) {
                    return ""; // one is enough: nothing is open any more
                }
                continue;
            }
            if (!out.isEmpty()) {
                out.append(d.any ? '?' : ',');
            }
            out.append(d.kind.word);
            if (d.kind != Kind.SINGLETON) {
                out.append(':').append(d.jobId);
                if (d.arrayTask != WHOLE) {
                    out.append('_').append(d.arrayTask == ALL_TASKS ? "*" : Integer.toString(d.arrayTask));
                }
                if (d.delayMin > 0) {
                    out.append('+').append(d.delayMin);
                }
            }
            out.append(d.status == Status.FAILED ? "(failed)" : "(unfulfilled)");
        }
        return out.toString();
    }

    public static boolean fulfilled(List<Dependency> all) {
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
}
