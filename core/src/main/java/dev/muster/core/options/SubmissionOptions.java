package dev.muster.core.options;

import java.util.List;

/**
 * Options of a job's submission.
 *
 * @param plugins JobSubmitPlugins in the order of the file; none by default
 * @param jobsPerHourMax jobs_per_user_per_hour, for the plugin throttle: 1 to 999,999,999; 0, the default, without
 *     limit
 * @param arrayTasksMax max_array_tasks: 0 to 999,999,999; {@link Integer#MAX_VALUE} by default
 * @param gpuDefaults JobDefaults; none by default
 * @param dependencyDepthMax max_depend_depth: jobs in a chain that are looked at for circles; 10 by default
 * @param killsInvalidDependency kill_invalid_depend: a job whose dependency cannot be satisfied is cancelled; no by
 *     default
 * @param managesSteps SlurmctldParameters=enable_stepmgr: each job is as if it had asked for {@code --stepmgr}; no by
 *     default
 * @param wholeHetJobs whole_hetjob or whole_pack: one component stands for the whole heterogeneous job; no by default
 * @param scriptBytesMax max_script_size: bytes of a batch script, 1 to 8 MiB; 4 MiB by default
 * @param lineBytesMax max_submit_line_size: bytes of a command line that is kept, 1 to 2 MiB; 1 MiB by default
 */
public record SubmissionOptions(
        List<String> plugins,
        int jobsPerHourMax,
        int arrayTasksMax,
        GpuJobDefaults gpuDefaults,
        int dependencyDepthMax,
        boolean killsInvalidDependency,
        boolean managesSteps,
        boolean wholeHetJobs,
        int scriptBytesMax,
        int lineBytesMax) {
    /** JobSubmitPlugins, with commas. */
    public static final String PLUGINS = "job_submit";
    /** JobDefaults as {@link GpuJobDefaults} reads it. */
    public static final String JOB_DEFAULTS = "job_defaults";
    /** A word of SchedulerParameters or DependencyParameters. */
    public static final String DEPENDENCY_DEPTH_MAX = "max_depend_depth";
    /** {@code true} or {@code false}; a word of SchedulerParameters or DependencyParameters. */
    public static final String KILL_INVALID_DEPENDENCY = "kill_invalid_depend";
    /** {@code true} with SlurmctldParameters=enable_stepmgr. */
    public static final String STEPMGR = "stepmgr";

    /** Upper bound for scripts in bytes, whatever the configuration. */
    public static final int SCRIPT_BYTES_TOP = 8 << 20;

    private static final int SCRIPT_BYTES_MAX = 4 << 20;
    private static final int LINE_BYTES_TOP = 2 << 20;

    static SubmissionOptions of(OptionParser text) {
        return new SubmissionOptions(
                text.list(PLUGINS),
                (int) text.positive("jobs_per_user_per_hour", 9, 0),
                (int) text.digits("max_array_tasks", 9, Integer.MAX_VALUE),
                GpuJobDefaults.parse(text.text(JOB_DEFAULTS)).orElse(GpuJobDefaults.NONE),
                text.count(DEPENDENCY_DEPTH_MAX, 10),
                text.isTrue(KILL_INVALID_DEPENDENCY),
                text.has(STEPMGR),
                text.has("whole_hetjob") || text.has("whole_pack"),
                (int) Math.min(SCRIPT_BYTES_TOP, text.positive("max_script_size", 9, SCRIPT_BYTES_MAX)),
                (int) Math.min(LINE_BYTES_TOP, text.positive("max_submit_line_size", 9, LINE_BYTES_TOP / 2)));
    }
}
