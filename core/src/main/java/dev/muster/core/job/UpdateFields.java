package dev.muster.core.job;

import static java.util.Objects.requireNonNull;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.tres.Tres;
import dev.muster.json.Bytes;
import dev.muster.json.RecordEditor;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.MemorySize;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.TresBind;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The fields of a job that {@code scontrol update} sets without a rule of their own: component of the description,
 * format of the value, right and job state that each needs.
 */
final class UpdateFields {
    private UpdateFields() {}

    private enum Kind {
        TEXT,
        COUNT,
        /** Recorded as what the user asked for, too. */
        QOS,
        /** A number of at least one. */
        CPUS,
        TASKS,
        TASKS_PER_NODE,
        YES_NO,
        HOSTS,
        GRES,
        BIND,
        SWITCHES,
        /** Seconds since 1970: the edge has read what people write. */
        MOMENT,
        MINUTES,
        MEGABYTES,
        /** A path, in bytes. */
        PATH
    }

    /** @param pending only while the job waits */
    private record Field(Kind kind, String path, boolean pending, boolean adminOnly) {}

    static final String MCS_LABEL = "mcslabel";
    private static final Map<String, Field> FIELDS = new TreeMap<>();

    private static void field(Kind kind, String path, boolean pending, boolean adminOnly, String... keys) {
        for (String key : keys) {
            FIELDS.put(key, new Field(kind, path, pending, adminOnly));
        }
    }

    static {
        field(Kind.TEXT, "name", false, false, "name", "jobname");
        field(Kind.TEXT, "extras.comment", false, false, "comment");
        field(Kind.TEXT, "extras.adminComment", false, true, "admincomment");
        field(Kind.TEXT, "extras.extra", false, false, "extra");
        field(Kind.TEXT, "extras.mailUser", false, false, "mailuser");
        field(Kind.TEXT, "extras.mcsLabel", true, false, MCS_LABEL);
        field(Kind.TEXT, "charge.account", true, false, "account");
        field(Kind.QOS, "charge.qos", true, false, "qos");
        field(Kind.TEXT, "charge.wckey", true, false, "wckey");
        field(Kind.TEXT, "charge.reservation", true, false, "reservation", "reservationname");
        field(Kind.TEXT, "request.features", true, false, "features");
        field(Kind.TEXT, "request.prefer", true, false, "prefer");
        field(Kind.SWITCHES, "request.switches", true, false, "switches");
        field(Kind.TEXT, "request.network", true, false, "network");
        field(Kind.TEXT, "extras.burstBuffer", true, false, "burstbuffer");
        field(Kind.BIND, "extras.tresBind", true, false, "tresbind");
        field(Kind.HOSTS, "request.nodeList", true, false, "reqnodelist");
        field(Kind.HOSTS, "request.excludeList", true, false, "excnodelist");
        field(Kind.GRES, "request.tresPerNode", true, false, "gres", "trespernode");
        field(Kind.GRES, "request.tresPerJob", true, false, "tresperjob");
        field(Kind.GRES, "request.tresPerSocket", true, false, "trespersocket");
        field(Kind.GRES, "request.tresPerTask", true, false, "trespertask");
        field(Kind.TASKS, "request.tasks", true, false, "numtasks", "reqprocs", "reqtasks");
        field(Kind.CPUS, "request.cpusPerTask", true, false, "cpus/task", "cpuspertask");
        field(Kind.TASKS_PER_NODE, "request.tasksPerNode", true, true, "ntaskspernode", "taskspernode");
        field(Kind.COUNT, "request.cpusPerNodeMin", true, false, "mincpusnode");
        field(Kind.COUNT, "request.coresPerSocket", true, false, "reqcores");
        field(Kind.COUNT, "request.socketsPerNode", true, false, "reqsockets");
        field(Kind.COUNT, "request.threadsPerCore", true, false, "reqthreads");
        field(Kind.COUNT, "request.coreSpec", true, true, "corespec");
        field(Kind.COUNT, "request.threadSpec", true, false, "threadspec");
        field(Kind.MEGABYTES, "request.tmpDiskMb", true, false, "mintmpdisknode");
        field(Kind.YES_NO, "request.contiguous", true, true, "contiguous");
        field(Kind.YES_NO, "request.oversubscribe", true, true, "oversubscribe", "shared");
        field(Kind.YES_NO, "extras.reboot", true, true, "reboot");
        field(Kind.MOMENT, "timing.deadline", true, true, "deadline");
        field(Kind.MINUTES, "timing.delayBootMin", true, false, "delayboot");
        field(Kind.MINUTES, "timing.timeMinMin", true, false, "timemin");
        field(Kind.PATH, "files.workDir", true, false, "workdir");
        field(Kind.PATH, "files.stdin", true, false, "stdin");
        field(Kind.PATH, "files.stdout", true, false, "stdout");
        field(Kind.PATH, "files.stderr", true, false, "stderr");
    }

    static Set<String> keys() {
        return new TreeSet<>(FIELDS.keySet());
    }

    static boolean has(String key) {
        return FIELDS.containsKey(key);
    }

    /** Sets the field in a job's description, or says why not. */
    static Optional<Decision.Rejected> set(
            Job job, RecordEditor<JobDesc> desc, String key, String value, boolean admin) {
        Field field = requireNonNull(FIELDS.get(key), "callers ask has() first");
        if (field.adminOnly && !admin) {
            return refuse(SlurmErrno.ACCESS_DENIED);
        }
        if (field.pending && !job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        return switch (field.kind) {
            case TEXT -> done(desc, field, value);
            case QOS -> {
                desc.set("charge.qosAsked", value.toLowerCase(Locale.ROOT));
                yield done(desc, field, value);
            }
            case CPUS, TASKS, TASKS_PER_NODE, COUNT -> count(desc, field, value);
            case YES_NO -> yesNo(desc, field, value);
            case HOSTS ->
                value.isEmpty() || HostList.parse(value) instanceof HostList.Parsed.Ok
                        ? done(desc, field, value)
                        : refuse(SlurmErrno.INVALID_NODE_NAME);
            case GRES -> {
                if (value.equals("0")) {
                    yield done(desc, field, "");
                }
                if (Tres.isValid(value)) {
                    yield done(desc, field, whole(value));
                }
                yield refuse(SlurmErrno.INVALID_GRES);
            }
            case BIND -> TresBind.isValid(value) ? done(desc, field, value) : refuse(SlurmErrno.INVALID_TRES);
            case MOMENT -> moment(desc, field, value);
            case MINUTES -> minutes(desc, field, value);
            case MEGABYTES ->
                MemorySize.parseMb(value).isEmpty()
                        ? refuse(SlurmErrno.ERROR)
                        : done(desc, field, MemorySize.parseMb(value).getAsLong());
            case SWITCHES -> isSwitches(value) ? done(desc, field, value) : refuse(SlurmErrno.ERROR);
            case PATH -> done(desc, field, Bytes.of(value.getBytes(StandardCharsets.UTF_8)));
        };
    }

    private static Optional<Decision.Rejected> count(RecordEditor<JobDesc> desc, Field field, String value) {
        OptionalLong number = number(value);
        boolean positive = number.orElse(0) >= 1;
        if (number.isEmpty()) {
            boolean cpus = field.kind == Kind.CPUS || field.kind == Kind.TASKS_PER_NODE;
            return refuse(cpus ? SlurmErrno.INVALID_CPU_COUNT : SlurmErrno.ERROR);
        }
        if (!positive && field.kind != Kind.COUNT) {
            return refuse(SlurmErrno.INVALID_CPU_COUNT);
        }
        return field.kind == Kind.CPUS ? cpus(desc, field, number.getAsLong()) : done(desc, field, number.getAsLong());
    }

    /** Returns devices with what kind of resource they are. */
    private static String whole(String value) {
        StringBuilder out = new StringBuilder();
        for (Tres.Item item : Tres.gres(value)) {
            out.append(out.isEmpty() ? "gres/" : ",gres/")
                    .append(item.name())
                    .append(item.type().isEmpty() ? "" : ":" + item.type())
                    .append(':')
                    .append(item.count());
        }
        return out.toString();
    }

    /** {@code COUNT[@TIME]}. */
    private static boolean isSwitches(String value) {
        int sign = value.indexOf('@');
        return value.isEmpty()
                || number(sign < 0 ? value : value.substring(0, sign)).isPresent()
                        && (sign < 0
                                || Durations.parseSeconds(value.substring(sign + 1))
                                        .isPresent());
    }

    private static Optional<Decision.Rejected> yesNo(RecordEditor<JobDesc> desc, Field field, String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "yes", "y", "1", "true" -> done(desc, field, Boolean.TRUE);
            case "no", "n", "0", "false" -> done(desc, field, Boolean.FALSE);
            default -> refuse(SlurmErrno.ERROR);
        };
    }

    private static Optional<Decision.Rejected> moment(RecordEditor<JobDesc> desc, Field field, String value) {
        if (!value.isEmpty() && !value.matches("[0-9]{1,12}")) {
            return refuse(SlurmErrno.INVALID_TIME_VALUE);
        }
        return done(desc, field, value.isEmpty() ? 0L : Long.parseLong(value));
    }

    private static Optional<Decision.Rejected> minutes(RecordEditor<JobDesc> desc, Field field, String value) {
        OptionalLong minutes = Durations.parseMinutes(value);
        return minutes.isEmpty() || minutes.getAsLong() < 0 || minutes.getAsLong() > Integer.MAX_VALUE
                ? refuse(SlurmErrno.INVALID_TIME_VALUE)
                : done(desc, field, minutes.getAsLong());
    }

    /** Returns a count that fits; empty otherwise. */
    static OptionalLong number(String text) {
        return text.matches("[0-9]{1,10}") && Long.parseLong(text) <= Integer.MAX_VALUE
                ? OptionalLong.of(Long.parseLong(text))
                : OptionalLong.empty();
    }

    /** CPUs per task that an update sets are asked for: none of them comes from MaxMemPerCPU any more. */
    private static Optional<Decision.Rejected> cpus(RecordEditor<JobDesc> desc, Field field, long value) {
        desc.set("request.cpusPerTaskAsked", 0L);
        return done(desc, field, value);
    }

    private static Optional<Decision.Rejected> done(RecordEditor<JobDesc> desc, Field field, Object value) {
        desc.set(field.path, value);
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> refuse(SlurmErrno errno) {
        return Optional.of(Decision.reject(errno));
    }
}
