package dev.muster.cli.format;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Signals;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Times;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.time.ZoneId;
import java.util.List;

/** Formats the parts of a job for all commands that print jobs. */
public final class JobRows {
    /** Instead of a number of characters: every index by itself. */
    public static final int EACH_INDEX = -1;

    private static final int ID_SHOWN = 31;
    /** Reasons that squeue prints with blanks. */
    private static final List<String> WORDY_REASONS =
            List.of("launch_failed_requeued_held", "job_requeued_in_held_state", "job_requeued_in_special_exit_state");
    /** A set of array indexes that is longer than one less is cut, unless SLURM_BITSTR_LEN says otherwise. */
    static final int INDEXES_SHOWN = 64;

    private static final JobFlag[] FLAG_ORDER = {
        JobFlag.COMPLETING,
        JobFlag.CONFIGURING,
        JobFlag.RESIZING,
        JobFlag.REQUEUED,
        JobFlag.REQUEUE_FED,
        JobFlag.REQUEUE_HOLD,
        JobFlag.SPECIAL_EXIT,
        JobFlag.STOPPED,
        JobFlag.REVOKED,
        JobFlag.RESV_DEL_HOLD,
        JobFlag.SIGNALING,
        JobFlag.STAGE_OUT,
        JobFlag.EXPEDITING
    };

    private JobRows() {}

    public static boolean isUnfinished(Json.Obj job) {
        return switch (job.text("state")) {
            case "PENDING", "RUNNING", "SUSPENDED", "" -> true;
            default ->
                job.texts("flags").contains("COMPLETING") || job.texts("flags").contains("STAGE_OUT");
        };
    }

    /**
     * Returns the full name of a state or state flag, given the name or its abbreviation in capitals; "" for any other
     * word.
     */
    public static String stateName(String word) {
        for (JobState s : JobState.values()) {
            if (s.name().equals(word) || s.compact().equals(word)) {
                return s.name();
            }
        }
        for (JobFlag f : JobFlag.values()) {
            if (f.name().equals(word) || f.compact().equals(word)) {
                return f.name();
            }
        }
        return word.equals("EXPEDITING") ? word : ""; // no job has the flag
    }

    /** {@code 12}, {@code 12_3}, {@code 12_[1-9%2]}, {@code 12+1}. */
    public static String id(Json.Obj job, int indexesShown) {
        String tasks = indexesShown == EACH_INDEX ? eachTask(job) : arrayTasks(job);
        int array = job.integer("arrayJobId");
        if (array != 0 && !tasks.isEmpty()) {
            return array + "_[" + cut(tasks, indexesShown) + "]";
        }
        if (array != 0 && taskId(job) >= 0) {
            return array + "_" + taskId(job);
        }
        if (job.integer("hetJobId") != 0) {
            return job.integer("hetJobId") + "+" + job.integer("hetOffset");
        }
        return Integer.toString(job.integer("jobId"));
    }

    /** Returns the id for a column of squeue: at most 31 characters, unless SLURM_BITSTR_LEN sets how much is shown. */
    static String columnId(CommandContext context, Json.Obj job, int indexesShown) {
        String id = id(job, indexesShown);
        return id.length() > ID_SHOWN && context.env("SLURM_BITSTR_LEN").isEmpty() ? id.substring(0, ID_SHOWN) : id;
    }

    /** The pending indexes without steps, as {@code squeue --only-job-state} names them. */
    static String eachTask(Json.Obj job) {
        String tasks = arrayTasks(job);
        return tasks.indexOf(':') < 0
                ? tasks
                : IndexSet.parse(job.text("arrayTasks")).print(0);
    }

    /** The pending indexes with the limit of running ones: {@code 1-9%2}. */
    public static String arrayTasks(Json.Obj job) {
        String tasks = IndexSet.shown(job.text("arrayTasks"));
        int limit = job.integer("arrayMaxRunning");
        return tasks.isEmpty() || limit == 0 || tasks.indexOf('%') >= 0 ? tasks : tasks + "%" + limit;
    }

    /** The index of one array task, -1 if the job is none; an absent field is index 0 of an array. */
    public static int taskId(Json.Obj job) {
        if (job.integer("arrayJobId") == 0) {
            return -1;
        }
        if (job.has("arrayTaskId")) {
            return job.integer("arrayTaskId");
        }
        return 0;
    }

    /**
     * @param shown room for the indexes and what ends them, of which the limit of running tasks takes nothing; 0 for
     *     any
     */
    static String cut(String indexes, int shown) {
        int percent = indexes.lastIndexOf('%');
        int end = percent < 0 ? indexes.length() : percent;
        if (shown <= 0 || end < shown) {
            return indexes;
        }
        String dots = "...".substring(0, Math.min(3, shown - 1));
        return indexes.substring(0, shown - 1 - dots.length()) + dots + indexes.substring(end);
    }

    public static int indexesShown(CommandContext context) {
        String value = context.env("SLURM_BITSTR_LEN");
        long n = value.isEmpty() ? INDEXES_SHOWN : Digits.parseNumber(value);
        return n < 0 ? 0 : (int) Math.min(n, Integer.MAX_VALUE);
    }

    static String stateLong(Json.Obj job) {
        List<String> flags = job.texts("flags");
        for (JobFlag f : FLAG_ORDER) {
            if (flags.contains(f.name())) {
                return f.name();
            }
        }
        return job.text("state");
    }

    static String stateCompact(Json.Obj job) {
        List<String> flags = job.texts("flags");
        for (JobFlag f : FLAG_ORDER) {
            if (flags.contains(f.name())) {
                return f.compact();
            }
        }
        return compact(job.text("state"));
    }

    static String compact(String state) {
        for (JobState s : JobState.values()) {
            if (s.name().equals(state)) {
                return s.compact();
            }
        }
        for (JobFlag f : JobFlag.values()) {
            if (f.name().equals(state)) {
                return f.compact();
            }
        }
        return "?";
    }

    static int stateOrder(Json.Obj job) {
        for (JobState s : JobState.values()) {
            if (s.name().equals(job.text("state"))) {
                return s.ordinal();
            }
        }
        return JobState.values().length;
    }

    public static boolean isPending(Json.Obj job) {
        return job.text("state").equals("PENDING");
    }

    public static String orNull(String text) {
        return text.isEmpty() ? "(null)" : text;
    }

    /** Formats whether a job shares its resources with others. */
    static String oversubscribe(Json.Obj job) {
        return job.text("oversubscribe").isEmpty() ? "NO" : job.text("oversubscribe");
    }

    public static String orNA(String text) {
        return text.isEmpty() ? "N/A" : text;
    }

    static String orStar(int n) {
        return n == 0 ? "*" : Integer.toString(n);
    }

    static String limit(Json.Obj job) {
        int min = job.integer("timeLimitMin");
        return Durations.briefMinutes(min);
    }

    /** Time left: until the end for a running job, the whole limit before. */
    static String left(Json.Obj job, long now) {
        int min = job.integer("timeLimitMin");
        if (min == Durations.INFINITE) {
            return "UNLIMITED";
        }
        if (min == 0) {
            return "NOT_SET";
        }
        long remaining = min * Durations.MINUTE - used(job);
        return remaining < 0 ? "INVALID" : Durations.brief(remaining);
    }

    public static long used(Json.Obj job) {
        return job.number("runSeconds");
    }

    public static String time(Json.Obj job, String field, String none, ZoneId zone, String format, long now) {
        long t = job.number(field);
        return t == 0 ? none : Times.print(t, zone, format, now);
    }

    /** Nodes of a job, or why it has none: {@code (Priority)}. */
    static String nodesOrReason(Json.Obj job) {
        if (isPending(job)) {
            return "(" + reasonShown(job) + ")";
        }
        String state = job.text("state");
        boolean failed = state.equals("TIMEOUT") || state.equals("OUT_OF_MEMORY") || state.equals("FAILED");
        if (failed && job.text("nodes").isEmpty()) {
            return "(" + reasonShown(job) + ")";
        }
        return job.text("nodes");
    }

    public static String reason(Json.Obj job) {
        String text = job.text("reasonText");
        String word = job.text("reason");
        if (word.equals("RaisedSignal")) {
            int signal = job.obj("exit").integer("signal");
            return signal > 0 ? word + ":" + signal + "(" + Signals.text(signal) + ")" : word;
        }
        if (!text.isEmpty()) {
            return text;
        }
        if (word.isEmpty() || word.equals("NONE")) {
            return "None";
        }
        return word;
    }

    /** Returns the reason as squeue shows it. Two reasons have blanks there. */
    static String reasonShown(Json.Obj job) {
        String reason = reason(job);
        return WORDY_REASONS.contains(reason) ? reason.replace('_', ' ') : reason;
    }

    /** Slurm's old priority: a share of 2^32 - 1 with fourteen digits. */
    static String fraction(long priority) {
        long scale = 10_000_000L;
        long top = 0xffff_ffffL;
        long whole = Math.min(Math.max(priority, 0), top);
        if (whole == top) {
            return "1.00000000000000";
        }
        long high = whole * scale / top;
        long remainder = whole * scale % top;
        return "0."
                + Long.toString(scale * scale + high * scale + remainder * scale / top)
                        .substring(1);
    }
}
