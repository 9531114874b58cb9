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

        String value(Json.Obj s, CommandContext c, long now) {
            return switch (this) {
                case TASKS -> Integer.toString(s.integer("tasks"));
                case TRES_PER_STEP, TRES_BY_LETTER -> JobRows.orNull(s.text("tresPerNode"));
                case CLUSTER ->
                    c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst();
                case JOB_ID -> Integer.toString(s.integer("jobId"));
                case NETWORK -> JobRows.orNull(s.text("network"));
                case RESERVED_PORTS -> JobRows.orNull(s.text("resvPorts"));
                case CPUS, NUM_CPUS -> Integer.toString(s.integer("cpus"));
                case ARRAY_JOB_ID -> Integer.toString(s.integer("arrayJobId"));
                case ID -> StepRows.id(s);
                case CONTAINER -> JobRows.orNull(s.text("container"));
                case CONTAINER_ID -> JobRows.orNull(s.text("containerId"));
                case CPU_FREQ -> frequency(s.text("cpuFreq"));
                case NAME -> s.text("name");
                case ARRAY_TASK_ID -> JobRows.taskId(s) < 0 ? "N/A" : Integer.toString(JobRows.taskId(s));
                case LIMIT -> limit(s);
                case USED -> Durations.brief(Math.max(0, now - s.number("startTime")));
                case NODES -> s.text("nodes");
                case PARTITION -> s.text("partition");
                case START -> Times.print(s.number("startTime"), c.host().zone(), c.env("SLURM_TIME_FORMAT"), now);
                case STATE -> s.text("state");
                case UID -> Integer.toString(s.integer("userId"));
                case USER -> s.text("userName");
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
    private static String frequency(String asked) {
        Optional<CpuFreq> f = asked.isEmpty() ? Optional.empty() : CpuFreq.parse(asked);
        String governor = f.map(CpuFreq::governor).orElse("");
        return StepFrequency.shown(f.map(CpuFreq::min).orElse("")) + "-"
                + StepFrequency.shown(f.map(CpuFreq::max).orElse("")) + ":"
                + (governor.isEmpty() ? "Unknown" : governor);
    }

    private static String limit(Json.Obj s) {
        int min = s.integer("timeLimitMin");
        return min == 0 ? "UNLIMITED" : Durations.briefMinutes(min);
    }

    private static List<String> nodes(SqueueOptions w) {
        return HostList.parse(String.join(",", w.nodes)) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : w.nodes;
    }

    /** Returns the steps that the options select, the same for every form of output. */
    static List<Json.Obj> selected(CommandContext c, SqueueOptions w) throws SlurmException {
        List<String> ids = new ArrayList<>(w.steps);
        ids.addAll(w.jobs);
        List<Json.Obj> steps =
                StepRows.load(c, ids, w.all || !ids.isEmpty() || !w.partitions.isEmpty() || !w.json.isEmpty());
        steps.removeIf(s -> w.usersGiven && !w.users.contains(s.integer("userId"))
                || !w.ranAsLong(true, s.number("now") - s.number("startTime"))
                || !w.partitions.isEmpty() && !w.partitions.contains(s.text("partition"))
                || !w.nodes.isEmpty() && Collections.disjoint(nodes(w), Tree.hosts(s.text("nodes"))));
        return steps;
    }

    static int show(CommandContext c, SqueueOptions w) {
        List<String> unknown = new ArrayList<>();
        RowFormat format = format(w, unknown);
        for (String u : unknown) {
            c.error("Invalid job step format specification: " + u);
        }
        List<Json.Obj> steps;
        try {
            steps = selected(c, w);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_get_job_steps error", e);
        }
        List<String> values = new ArrayList<>();
        if (!w.noHeader) {
            for (RowFormat.Column col : format.columns()) {
                values.add(col.field() < 0 ? "" : Field.values()[col.field()].heading);
            }
            format.print(values, c.out());
        }
        for (Json.Obj s : steps) {
            values.clear();
            for (RowFormat.Column col : format.columns()) {
                values.add(col.field() < 0 ? "" : Field.values()[col.field()].value(s, c, s.number("now")));
            }
            format.print(values, c.out());
        }
        return 0;
    }

    private static RowFormat format(SqueueOptions w, List<String> unknown) {
        if (w.format.isEmpty()) {
            return w.wideFormat.isEmpty()
                    ? RowFormat.ofLetters(PLAIN, TABLE, unknown)
                    : RowFormat.ofNames(w.wideFormat, TABLE, unknown);
        }
        return RowFormat.ofLetters(w.format.equals("%all") ? everything() : w.format, TABLE, unknown);
    }
}
