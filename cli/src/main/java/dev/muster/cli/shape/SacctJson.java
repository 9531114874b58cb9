package dev.muster.cli.shape;

import dev.muster.cli.command.Texts;
import dev.muster.cli.format.JobRows;
import dev.muster.json.Json;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.CpuFreq;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Shapes jobs as {@code slurmdb/v0.0.45/jobs}. */
public final class SacctJson {
    private static final String[] KINDS = {
        "cpu", "1", "mem", "2", "energy", "3", "node", "4", "billing", "5", "fs/disk", "6", "vmem", "7", "pages", "8"
    };
    private static final String UNMEASURED = "-2";

    private SacctJson() {}

    public static Json.Obj answer(Names names, Json.Obj reply, boolean allocationsOnly) {
        List<Object> jobs = new ArrayList<>();
        for (Json.Obj e : reply.objects("jobs")) {
            Json.Obj job = e.obj("job");
            List<Json.Obj> steps = e.objects("steps");
            jobs.add(job(names, job, allocationsOnly ? List.of() : steps, reply.number("now"), reply.text("cluster")));
        }
        return new Json.Obj().put("jobs", jobs);
    }

    private static final String[] TEXTS = {
        "account",
        "account",
        "block",
        "",
        "constraints",
        "features",
        "container",
        "container",
        "extra",
        "extra",
        "failed_node",
        "failedNode",
        "group",
        "groupName",
        "name",
        "name",
        "licenses",
        "licenses",
        "partition",
        "partition",
        "qos",
        "qos",
        "qosreq",
        "qosRequested",
        "script",
        "",
        "stdout",
        "stdout",
        "stderr",
        "stderr",
        "stdin",
        "stdin",
        "submit_line",
        "submitLine",
        "used_gres",
        "",
        "user",
        "userName",
        "working_directory",
        "workDir",
        "exclusive",
        "exclusiveUse",
        "oversubscribe",
        "overSubscribe"
    };

    /**
     * One job.
     *
     * @param now the clock of the daemon that answers, in seconds
     */
    public static Json.Obj job(Names names, Json.Obj j, List<Json.Obj> steps, long now, String cluster) {
        Json.Obj o = new Json.Obj();
        for (int i = 0; i < TEXTS.length; i += 2) {
            o.put(TEXTS[i], TEXTS[i + 1].isEmpty() ? "" : j.text(TEXTS[i + 1]));
        }
        for (String file : List.of("stdin", "stdout", "stderr")) {
            o.put(file + "_expanded", SacctPaths.expanded(j, file));
        }
        o.put(
                "comment",
                new Json.Obj()
                        .put("administrator", j.text("adminComment"))
                        .put("job", j.text("comment"))
                        .put("system", j.text("systemComment")));
        o.put("allocation_nodes", j.text("nodes").isEmpty() ? 0L : j.number("nodeCount"));
        o.put("array", array(j));
        o.put(
                "association",
                new Json.Obj()
                        .put("account", j.text("account"))
                        .put("cluster", cluster)
                        .put("partition", "")
                        .put("user", j.text("userName"))
                        .put("id", j.number("assocId")));
        o.put("cluster", cluster)
                .put("sluid", Sluid.text(Sluid.shown(j.number("sluid"), j.integer("restarts"))))
                .put(
                        "original_sluid",
                        Sluid.text(Sluid.shown(Sluid.original(j.number("sluid")), j.integer("restarts"))));
        o.put("derived_exit_code", Tree.exit(j.obj("derivedExit"))).put("exit_code", Tree.exit(j.obj("exit")));
        o.put("time", times(j, j, steps, now)).put("flags", flags(j.text("flags")));
        o.put("het", het(j));
        o.put("job_id", j.number("jobId")).put("mcs", new Json.Obj().put("label", j.text("mcsLabel")));
        o.put("nodes", j.text("nodes").isEmpty() ? "None assigned" : j.text("nodes"));
        o.put("hold", j.text("reason").startsWith("JobHeld")).put("priority", Tree.number(j.number("priority")));
        o.put("required", required(j));
        o.put("kill_request_user", killer(names, j))
                .put("restart_cnt", j.number("restarts"))
                .put("segment_size", j.number("segmentSize"));
        o.put("reservation", reservation(j));
        o.put(
                "state",
                new Json.Obj()
                        .put("current", Tree.texts(j.text("state")))
                        .put("reason", j.text("reason").isEmpty() ? "None" : j.text("reason")));
        List<Object> shown = new ArrayList<>();
        for (Json.Obj s : steps) {
            shown.add(step(names, j, s, now));
        }
        o.put("steps", shown);
        o.put(
                "tres",
                new Json.Obj()
                        .put("allocated", allocated(j.text("tresAllocated")))
                        .put("requested", tres(j.text("tresRequested"))));
        o.put("wckey", wckey(j.text("wckey")));
        return o;
    }

    private static Json.Obj array(Json.Obj j) {
        Json.Obj running = new Json.Obj().put("tasks", j.number("arrayMaxRunning"));
        return new Json.Obj()
                .put("job_id", j.number("arrayJobId"))
                .put("limits", new Json.Obj().put("max", new Json.Obj().put("running", running)))
                .put("task_id", JobRows.taskId(j) < 0 ? Tree.unset() : Tree.number(JobRows.taskId(j)))
                .put("task", JobRows.arrayTasks(j));
    }

    private static Json.Obj reservation(Json.Obj j) {
        return new Json.Obj()
                .put("id", j.number("reservationId"))
                .put("name", j.text("reservation"))
                .put("requested", j.text("reservationRequested"));
    }

    private static Json.Obj het(Json.Obj j) {
        return new Json.Obj()
                .put("job_id", j.number("hetJobId"))
                .put("job_offset", j.number("hetJobId") == 0 ? Tree.unset() : Tree.number(j.number("hetOffset")));
    }

    private static Json.Obj required(Json.Obj j) {
        long memoryMb = j.number("memoryRequestedMb");
        boolean perCpu = j.flag("memoryPerCpu");
        return new Json.Obj()
                .put("CPUs", j.number("cpusRequested"))
                .put("memory_per_cpu", perCpu ? Tree.number(memoryMb) : Tree.unset())
                .put("memory_per_node", perCpu ? Tree.unset() : Tree.orUnset(memoryMb));
    }

    /** A leading {@code *} marks the user's default key. */
    private static Json.Obj wckey(String key) {
        boolean standard = key.startsWith("*");
        return new Json.Obj()
                .put("wckey", key.substring(standard ? 1 : 0))
                .put("flags", new ArrayList<Object>(standard ? List.of("ASSIGNED_DEFAULT") : List.of()));
    }

    /** Returns the scheduling flags that sacct calls SchedMain, SchedBackfill and StartReceived. */
    private static List<Object> flags(String names) {
        List<Object> out = new ArrayList<>();
        for (Object name : Tree.csv(names)) {
            out.add(
                    switch (name.toString()) {
                        case "SchedMain" -> "STARTED_ON_SCHEDULE";
                        case "SchedBackfill" -> "STARTED_ON_BACKFILL";
                        case "StartReceived" -> "START_RECEIVED";
                        default -> name;
                    });
        }
        return out;
    }

    private static String killer(Names names, Json.Obj row) {
        int uid = row.has("cancelledBy") ? row.integer("cancelledBy") : 0;
        return row.text("state").equals("CANCELLED") && uid >= 0 ? names.user(uid) : "";
    }

    private static Json.Obj seconds(long us) {
        return new Json.Obj().put("seconds", us / 1_000_000).put("microseconds", us % 1_000_000);
    }

    private static Json.Obj times(Json.Obj job, Json.Obj row, List<Json.Obj> steps, long now) {
        long user = row.obj("usage").number("userCpuUs");
        long system = row.obj("usage").number("systemCpuUs");
        for (Json.Obj s : steps) {
            user += s.obj("usage").number("userCpuUs");
            system += s.obj("usage").number("systemCpuUs");
        }
        long start = row.number("startTime");
        long end = row.number("endTime");
        Json.Obj t = new Json.Obj();
        t.put("elapsed", RunTimes.elapsed(job, row, now)).put("suspended", RunTimes.suspended(job, row, now));
        if (row == job) {
            long eligible = job.number("eligibleTime");
            t.put("eligible", eligible).put("end", end);
            long planned = (start == 0 ? now : start) - eligible;
            t.put("planned", Tree.number(eligible == 0 ? 0 : planned));
            t.put("start", start).put("submission", job.number("submitTime"));
            t.put(
                    "limit",
                    start == 0 && job.number("limitMin") <= 0 ? Tree.unset() : Tree.limit(job.number("limitMin")));
        } else {
            t.put("end", Tree.number(end))
                    .put("start", Tree.number(start))
                    .put("limit", Tree.limit(row.has("limitMin") ? row.number("limitMin") : -1));
        }
        return t.put("system", seconds(system))
                .put("total", seconds(user + system))
                .put("user", seconds(user));
    }

    private static Json.Obj step(Names names, Json.Obj job, Json.Obj s, long now) {
        Json.Obj usage = s.obj("usage");
        Json.Obj o = new Json.Obj();
        o.put("time", times(job, s, List.of(), now)).put("exit_code", Tree.exit(s.obj("exit")));
        o.put(
                "nodes",
                new Json.Obj()
                        .put("count", s.number("nodeCount"))
                        .put("range", s.text("nodes"))
                        .put("list", Tree.hosts(s.text("nodes"))));
        o.put("tasks", new Json.Obj().put("count", s.number("tasks")));
        o.put(
                "CPU",
                new Json.Obj()
                        .put(
                                "requested_frequency",
                                new Json.Obj()
                                        .put("min", JobsJson.frequency(s, CpuFreq::min))
                                        .put("max", JobsJson.frequency(s, CpuFreq::max)))
                        .put(
                                "governor",
                                CpuFreq.parse(s.text("cpuFreq"))
                                        .map(CpuFreq::governor)
                                        .orElse("")));
        o.put("kill_request_user", killer(names, s)).put("state", Tree.texts(s.text("state")));
        o.put(
                "statistics",
                new Json.Obj()
                        .put("CPU", new Json.Obj().put("actual_frequency", usage.number("aveCpuKhz")))
                        .put("energy", new Json.Obj().put("consumed", Tree.number(usage.number("energyJ")))));
        o.put(
                "step",
                new Json.Obj()
                        .put("id", job.integer("jobId") + "." + stepName(s))
                        .put("name", s.text("name"))
                        .put("stderr", "")
                        .put("stdin", "")
                        .put("stdout", "")
                        .put("stderr_expanded", "")
                        .put("stdin_expanded", "")
                        .put("stdout_expanded", ""));
        o.put("submit_line", s.text("submitLine")).put("task", new Json.Obj().put("distribution", s.text("layout")));
        o.put(
                "tres",
                new Json.Obj()
                        .put("requested", StepTresUsage.in(s))
                        .put("consumed", StepTresUsage.out(s))
                        .put("allocated", tres(s.text("tresAllocated"))));
        return o;
    }

    /** {@code cpu=2,mem=4G,gres/gpu:a100=1} as a list. */
    public static List<Object> tres(String text) {
        List<Object> out = new ArrayList<>();
        for (String item : Texts.split(text, ',')) {
            int eq = item.indexOf('=');
            if (eq <= 0) {
                continue;
            }
            String kind = item.substring(0, eq);
            String value = item.substring(eq + 1);
            long id = 1001;
            for (int i = 0; i < KINDS.length; i += 2) {
                id = KINDS[i].equals(kind) ? Long.parseLong(KINDS[i + 1]) : id;
            }
            String type =
                    kind.startsWith("gres/") || kind.startsWith("fs/") ? kind.substring(0, kind.indexOf('/')) : kind;
            long count = kind.equals("mem") && !value.isEmpty() && !Texts.isNumber(value)
                    ? dev.muster.model.format.MemorySize.parseMb(value).orElse(0)
                    : count(value);
            out.add(new Json.Obj()
                    .put("type", type)
                    .put("name", type.equals(kind) ? "" : kind.substring(type.length() + 1))
                    .put("id", id)
                    .put("count", count));
        }
        out.sort(Comparator.comparingLong(o -> ((Json.Obj) o).number("id")));
        return out;
    }

    /** Returns a job's allocated resources. Energy is listed even without a sensor. */
    private static List<Object> allocated(String text) {
        return text.isEmpty() || ("," + text).contains(",energy=") ? tres(text) : tres(text + ",energy=" + UNMEASURED);
    }

    /** {@code 12}, {@code 4K}; anything else is nothing. */
    private static long count(String value) {
        if (value.equals(UNMEASURED)) {
            return Long.parseLong(UNMEASURED);
        }
        int end = value.length();
        char last = end == 0 ? 0 : value.charAt(end - 1);
        long by;
        if (last == 'K') {
            by = 1 << 10;
        } else if (last == 'M') {
            by = 1 << 20;
        } else {
            by = 1;
        }

        String digits = value.substring(0, by > 1 ? end - 1 : end);
        return Texts.isNumber(digits) && digits.length() < 13 ? by * Long.parseLong(digits) : 0;
    }

    /** The number of a step, or its name. */
    public static String stepName(Json.Obj step) {
        return StepId.name(step.integer("stepId"));
    }
}
