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
    public static Json.Obj job(Names names, Json.Obj job, List<Json.Obj> steps, long now, String cluster) {
        Json.Obj out = new Json.Obj();
        for (int i = 0; i < TEXTS.length; i += 2) {
            out.put(TEXTS[i], TEXTS[i + 1].isEmpty() ? "" : job.text(TEXTS[i + 1]));
        }
        for (String file : List.of("stdin", "stdout", "stderr")) {
            out.put(file + "_expanded", SacctPaths.expanded(job, file));
        }
        out.put(
                "comment",
                new Json.Obj()
                        .put("administrator", job.text("adminComment"))
                        .put("job", job.text("comment"))
                        .put("system", job.text("systemComment")));
        out.put("allocation_nodes", job.text("nodes").isEmpty() ? 0L : job.number("nodeCount"));
        out.put("array", array(job));
        out.put(
                "association",
                new Json.Obj()
                        .put("account", job.text("account"))
                        .put("cluster", cluster)
                        .put("partition", "")
                        .put("user", job.text("userName"))
                        .put("id", job.number("assocId")));
        out.put("cluster", cluster)
                .put("sluid", Sluid.text(Sluid.shown(job.number("sluid"), job.integer("restarts"))))
                .put(
                        "original_sluid",
                        Sluid.text(Sluid.shown(Sluid.original(job.number("sluid")), job.integer("restarts"))));
        out.put("derived_exit_code", Tree.exit(job.obj("derivedExit"))).put("exit_code", Tree.exit(job.obj("exit")));
        out.put("time", times(job, job, steps, now)).put("flags", flags(job.text("flags")));
        out.put("het", het(job));
        out.put("job_id", job.number("jobId")).put("mcs", new Json.Obj().put("label", job.text("mcsLabel")));
        out.put("nodes", job.text("nodes").isEmpty() ? "None assigned" : job.text("nodes"));
        out.put("hold", job.text("reason").startsWith("JobHeld")).put("priority", Tree.number(job.number("priority")));
        out.put("required", required(job));
        out.put("kill_request_user", killer(names, job))
                .put("restart_cnt", job.number("restarts"))
                .put("segment_size", job.number("segmentSize"));
        out.put("reservation", reservation(job));
        out.put(
                "state",
                new Json.Obj()
                        .put("current", Tree.texts(job.text("state")))
                        .put("reason", job.text("reason").isEmpty() ? "None" : job.text("reason")));
        List<Object> shown = new ArrayList<>();
        for (Json.Obj step : steps) {
            shown.add(step(names, job, step, now));
        }
        out.put("steps", shown);
        out.put(
                "tres",
                new Json.Obj()
                        .put("allocated", allocated(job.text("tresAllocated")))
                        .put("requested", tres(job.text("tresRequested"))));
        out.put("wckey", wckey(job.text("wckey")));
        return out;
    }

    private static Json.Obj array(Json.Obj job) {
        Json.Obj running = new Json.Obj().put("tasks", job.number("arrayMaxRunning"));
        return new Json.Obj()
                .put("job_id", job.number("arrayJobId"))
                .put("limits", new Json.Obj().put("max", new Json.Obj().put("running", running)))
                .put("task_id", JobRows.taskId(job) < 0 ? Tree.unset() : Tree.number(JobRows.taskId(job)))
                .put("task", JobRows.arrayTasks(job));
    }

    private static Json.Obj reservation(Json.Obj job) {
        return new Json.Obj()
                .put("id", job.number("reservationId"))
                .put("name", job.text("reservation"))
                .put("requested", job.text("reservationRequested"));
    }

    private static Json.Obj het(Json.Obj job) {
        return new Json.Obj()
                .put("job_id", job.number("hetJobId"))
                .put("job_offset", job.number("hetJobId") == 0 ? Tree.unset() : Tree.number(job.number("hetOffset")));
    }

    private static Json.Obj required(Json.Obj job) {
        long memoryMb = job.number("memoryRequestedMb");
        boolean perCpu = job.flag("memoryPerCpu");
        return new Json.Obj()
                .put("CPUs", job.number("cpusRequested"))
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
        for (Json.Obj step : steps) {
            user += step.obj("usage").number("userCpuUs");
            system += step.obj("usage").number("systemCpuUs");
        }
        long start = row.number("startTime");
        long end = row.number("endTime");
        Json.Obj times = new Json.Obj();
        times.put("elapsed", RunTimes.elapsed(job, row, now)).put("suspended", RunTimes.suspended(job, row, now));
        if (row == job) {
            long eligible = job.number("eligibleTime");
            times.put("eligible", eligible).put("end", end);
            long planned = (start == 0 ? now : start) - eligible;
            times.put("planned", Tree.number(eligible == 0 ? 0 : planned));
            times.put("start", start).put("submission", job.number("submitTime"));
            times.put(
                    "limit",
                    start == 0 && job.number("limitMin") <= 0 ? Tree.unset() : Tree.limit(job.number("limitMin")));
        } else {
            times.put("end", Tree.number(end))
                    .put("start", Tree.number(start))
                    .put("limit", Tree.limit(row.has("limitMin") ? row.number("limitMin") : -1));
        }
        return times.put("system", seconds(system))
                .put("total", seconds(user + system))
                .put("user", seconds(user));
    }

    private static Json.Obj step(Names names, Json.Obj job, Json.Obj row, long now) {
        Json.Obj usage = row.obj("usage");
        Json.Obj out = new Json.Obj();
        out.put("time", times(job, row, List.of(), now)).put("exit_code", Tree.exit(row.obj("exit")));
        out.put(
                "nodes",
                new Json.Obj()
                        .put("count", row.number("nodeCount"))
                        .put("range", row.text("nodes"))
                        .put("list", Tree.hosts(row.text("nodes"))));
        out.put("tasks", new Json.Obj().put("count", row.number("tasks")));
        out.put(
                "CPU",
                new Json.Obj()
                        .put(
                                "requested_frequency",
                                new Json.Obj()
                                        .put("min", JobsJson.frequency(row, CpuFreq::min))
                                        .put("max", JobsJson.frequency(row, CpuFreq::max)))
                        .put(
                                "governor",
                                CpuFreq.parse(row.text("cpuFreq"))
                                        .map(CpuFreq::governor)
                                        .orElse("")));
        out.put("kill_request_user", killer(names, row)).put("state", Tree.texts(row.text("state")));
        out.put(
                "statistics",
                new Json.Obj()
                        .put("CPU", new Json.Obj().put("actual_frequency", usage.number("aveCpuKhz")))
                        .put("energy", new Json.Obj().put("consumed", Tree.number(usage.number("energyJ")))));
        out.put(
                "step",
                new Json.Obj()
                        .put("id", job.integer("jobId") + "." + stepName(row))
                        .put("name", row.text("name"))
                        .put("stderr", "")
                        .put("stdin", "")
                        .put("stdout", "")
                        .put("stderr_expanded", "")
                        .put("stdin_expanded", "")
                        .put("stdout_expanded", ""));
        out.put("submit_line", row.text("submitLine"))
                .put("task", new Json.Obj().put("distribution", row.text("layout")));
        out.put(
                "tres",
                new Json.Obj()
                        .put("requested", StepTresUsage.in(row))
                        .put("consumed", StepTresUsage.out(row))
                        .put("allocated", tres(row.text("tresAllocated"))));
        return out;
    }

    /** {@code cpu=2,mem=4G,gres/gpu:a100=1} as a list. */
    public static List<Object> tres(String text) {
        List<Object> out = new ArrayList<>();
        for (String item : Texts.split(text, ',')) {
            int equalSign = item.indexOf('=');
            if (equalSign <= 0) {
                continue;
            }
            String kind = item.substring(0, equalSign);
            String value = item.substring(equalSign + 1);
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
