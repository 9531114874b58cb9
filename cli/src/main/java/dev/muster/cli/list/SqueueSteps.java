package dev.muster.cli.list;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.RowFormat;
import dev.muster.cli.format.StepRows;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.StepFrequency;
import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Times;
import dev.muster.model.job.CpuFreq;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Runs {@code squeue -s}, which lists running steps. */
final class SqueueSteps {
    private static final String PLAIN = "%.15i %.8j %.9P %.8u %.9M %N";

    /** The columns of steps. */
    enum Field {
        TASKS('A', "numtasks", "TASKS"),
        TRES_PER_STEP('\0', "tres-per-step", "TRES_PER_STEP"),
        TRES_BY_LETTER('b', "", "TRES_PER_JOB"),
        CPUS('\0', "", "CPUS"),
        NUM_CPUS('\0', "numcpus", "NUM_CPUS"),
        CLUSTER('\0', "cluster", "CLUSTER"),
        JOB_ID('\0', "jobid", "JOB_ID"),
        NETWORK('\0', "network", "NETWORK"),
        RESERVED_PORTS('\0', "resvport", "RESERVED_PORTS"),
        ARRAY_JOB_ID('\0', "arrayjobid", "ARRAY_JOB_ID"),
        ID('i', "stepid", "STEPID"),
        CONTAINER('\0', "container", "CONTAINER"),
        CONTAINER_ID('\0', "containerid", "CONTAINER_ID"),
        CPU_FREQ('\0', "cpufreq", "CPU_FREQ"),
        NAME('j', "stepname", "NAME"),
        ARRAY_TASK_ID('\0', "arraytaskid", "ARRAY_TASK_ID"),
        LIMIT('l', "timelimit", "TIME_LIMIT"),
        USED('M', "timeused", "TIME"),
        NODES('N', "nodelist", "NODELIST"),
        PARTITION('P', "partition", "PARTITION"),
        START('S', "starttime", "START_TIME"),
        STATE('\0', "stepstate", "STATE"),
        UID('U', "userid", "UID"),
        USER('u', "username", "USER");

        private final char letter;
        private final String longName;
        private final String heading;

        Field(char letter, String longName, String heading) {
            this.letter = letter;
            this.longName = longName;
            this.heading = heading;
        }

        String value(Json.Obj step, CommandContext context, long now) {
            return switch (this) {
                case TASKS -> Integer.toString(step.integer("tasks"));
                case TRES_PER_STEP, TRES_BY_LETTER -> JobRows.orNull(step.text("tresPerNode"));
                case CLUSTER ->
                    context.host().clusters().isEmpty()
                            ? ""
                            : context.host().clusters().getFirst();
                case JOB_ID -> Integer.toString(step.integer("jobId"));
                case NETWORK -> JobRows.orNull(step.text("network"));
                case RESERVED_PORTS -> JobRows.orNull(step.text("resvPorts"));
                case CPUS, NUM_CPUS -> Integer.toString(step.integer("cpus"));
                case ARRAY_JOB_ID -> Integer.toString(step.integer("arrayJobId"));
                case ID -> StepRows.id(step);
                case CONTAINER -> JobRows.orNull(step.text("container"));
                case CONTAINER_ID -> JobRows.orNull(step.text("containerId"));
                case CPU_FREQ -> frequency(step.text("cpuFreq"));
                case NAME -> step.text("name");
                case ARRAY_TASK_ID -> JobRows.taskId(step) < 0 ? "N/A" : Integer.toString(JobRows.taskId(step));
                case LIMIT -> limit(step);
                case USED -> Durations.brief(Math.max(0, now - step.number("startTime")));
                case NODES -> step.text("nodes");
                case PARTITION -> step.text("partition");
                case START ->
                    Times.print(step.number("startTime"), context.host().zone(), context.env("SLURM_TIME_FORMAT"), now);
                case STATE -> step.text("state");
                case UID -> Integer.toString(step.integer("userId"));
                case USER -> step.text("userName");
            };
        }
    }

    private static final RowFormat.Fields TABLE = new RowFormat.Fields() {
        @Override
        public int byLetter(char letter) {
            for (Field f : Field.values()) {
                if (f.letter == letter) {
                    return f.ordinal();
                }
            }
            return -1;
        }

        @Override
        public int byName(String name) {
            String wanted;
            if (name.equals("resvports")) {
                wanted = "resvport";
            } else if (name.equals("nodes")) {
                wanted = "nodelist";
            } else {
                wanted = name;
            }

            for (Field f : Field.values()) {
                if (!wanted.isEmpty() && f.longName.equals(wanted)) {
                    return f.ordinal();
                }
            }
            return -1;
        }
    };

    private SqueueSteps() {}

    private static String everything() {
        return RowFormat.everyLetter(TABLE, "") + "|";
    }

    /** {@code 1M-2M:Performance}: what was asked for, numbers in GHz or as many units of kHz. */
    private static String frequency(String frequency) {
        Optional<CpuFreq> f = frequency.isEmpty() ? Optional.empty() : CpuFreq.parse(frequency);
        String governor = f.map(CpuFreq::governor).orElse("");
        return StepFrequency.shown(f.map(CpuFreq::min).orElse("")) + "-"
                + StepFrequency.shown(f.map(CpuFreq::max).orElse("")) + ":"
                + (governor.isEmpty() ? "Unknown" : governor);
    }

    private static String limit(Json.Obj step) {
        int min = step.integer("timeLimitMin");
        return min == 0 ? "UNLIMITED" : Durations.briefMinutes(min);
    }

    private static List<String> nodes(SqueueOptions options) {
        return HostList.parse(String.join(",", options.nodes)) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : options.nodes;
    }

    /** Returns the steps that the options select, the same for every form of output. */
    static List<Json.Obj> selected(CommandContext context, SqueueOptions options) throws SlurmException {
        List<String> ids = new ArrayList<>(options.steps);
        ids.addAll(options.jobs);
        List<Json.Obj> steps = StepRows.load(
                context,
                ids,
                options.all || !ids.isEmpty() || !options.partitions.isEmpty() || !options.json.isEmpty());
        steps.removeIf(s -> options.usersGiven && !options.users.contains(s.integer("userId"))
                || !options.ranAsLong(true, s.number("now") - s.number("startTime"))
                || !options.partitions.isEmpty() && !options.partitions.contains(s.text("partition"))
                || !options.nodes.isEmpty() && Collections.disjoint(nodes(options), Tree.hosts(s.text("nodes"))));
        return steps;
    }

    static int show(CommandContext context, SqueueOptions options) {
        List<String> unknown = new ArrayList<>();
        RowFormat format = format(options, unknown);
        for (String u : unknown) {
            context.error("Invalid job step format specification: " + u);
        }
        List<Json.Obj> steps;
        try {
            steps = selected(context, options);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_get_job_steps error", e);
        }
        List<String> values = new ArrayList<>();
        if (!options.noHeader) {
            for (RowFormat.Column col : format.columns()) {
                values.add(col.field() < 0 ? "" : Field.values()[col.field()].heading);
            }
            format.print(values, context.out());
        }
        for (Json.Obj step : steps) {
            values.clear();
            for (RowFormat.Column col : format.columns()) {
                values.add(col.field() < 0 ? "" : Field.values()[col.field()].value(step, context, step.number("now")));
            }
            format.print(values, context.out());
        }
        return 0;
    }

    private static RowFormat format(SqueueOptions options, List<String> unknown) {
        if (options.format.isEmpty()) {
            return options.wideFormat.isEmpty()
                    ? RowFormat.ofLetters(PLAIN, TABLE, unknown)
                    : RowFormat.ofNames(options.wideFormat, TABLE, unknown);
        }
        return RowFormat.ofLetters(options.format.equals("%all") ? everything() : options.format, TABLE, unknown);
    }
}
