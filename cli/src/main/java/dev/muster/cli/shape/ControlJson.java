package dev.muster.cli.shape;

import dev.muster.cli.format.JobRows;
import dev.muster.json.Json;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.CpuFreq;
import java.util.ArrayList;
import java.util.List;

/** Shapes what scontrol shows besides jobs and nodes as data_parser/v0.0.45 does. */
public final class ControlJson {
    private ControlJson() {}

    private static List<Object> list(List<Json.Obj> all, java.util.function.Function<Json.Obj, Json.Obj> shape) {
        List<Object> out = new ArrayList<>();
        all.forEach(one -> out.add(shape.apply(one)));
        return out;
    }

    /**
     * A controller's answer to a ping, or that there was none.
     *
     * @param index of its SlurmctldHost
     * @param controllers number of SlurmctldHost
     * @param latencyUs round trip in microseconds
     * @param member its role among the controllers that keep the journal together; empty where it did not answer
     */
    public record Ping(String host, int index, int controllers, boolean isUp, long latencyUs, Json.Obj member) {
        /** Returns Slurm's name of the controller: primary, backup, or one of backup1, backup2, …. */
        public String mode() {
            if (index == 0) {
                return "primary";
            }
            return controllers > 2 ? "backup" + index : "backup";
        }
    }

    /** @param version of the data parser: versions before v0.0.45 have two more fields */
    public static Json.Obj slurmctldPings(List<Ping> pings, int version) {
        List<Json.Obj> all = new ArrayList<>();
        for (Ping p : pings) {
            Json.Obj one = ping(p.host(), p.isUp(), p.latencyUs(), "slurm controller", p.index() == 0);
            if (version < DataParser.NEWEST) {
                one.put("pinged", p.isUp() ? "UP" : "DOWN").put("mode", p.index() == 0 ? "primary" : "backup");
            }
            all.add(one);
        }
        return pings(all);
    }

    /** @param latencyUs round trip of the ping, in microseconds */
    public static Json.Obj slurmdbdPing(String host, boolean up, long latencyUs) {
        return pings(List.of(ping(host, up, latencyUs, "slurm accounting daemon", true)));
    }

    private static Json.Obj pings(List<Json.Obj> all) {
        return new Json.Obj().put("pings", new ArrayList<Object>(all));
    }

    private static Json.Obj ping(String host, boolean up, long latencyUs, String daemon, boolean isPrimary) {
        return new Json.Obj()
                .put("hostname", host)
                .put("responding", up)
                .put("latency", latencyUs)
                .put("primary", isPrimary)
                .put("status", up ? "No error" : "Unable to contact " + daemon + " (connect failure)");
    }

    public static Json.Obj reservations(List<Json.Obj> all, long now) {
        return new Json.Obj()
                .put("reservations", list(all, ControlJson::reservation))
                .put("last_update", Tree.number(now));
    }

    /** Returns a reservation's resources by the names of TRES. */
    public static String reservedTres(Json.Obj r) {
        String cpus = r.integer("cpuCount") == 0 ? "" : "cpu=" + r.integer("cpuCount");
        return cpus.isEmpty() || r.text("gres").isEmpty() ? cpus + r.text("gres") : cpus + "," + r.text("gres");
    }

    /** Default purge time of an unused reservation. */
    private static final int PURGE_SECONDS = 300;

    private static Json.Obj reservation(Json.Obj r) {
        List<Object> cores = list(
                r.objects("cores"),
                c -> new Json.Obj().put("node", c.text("node")).put("core", c.text("ids")));
        return new Json.Obj()
                .put("accounts", r.text("accounts"))
                .put("burst_buffer", "")
                .put("core_count", r.number("coreCount"))
                .put("core_specializations", cores)
                .put("end_time", Tree.number(r.number("endTime")))
                .put("features", r.text("features"))
                .put("flags", new ArrayList<Object>(r.texts("flags")))
                .put("groups", r.text("groups"))
                .put("licenses", r.text("licenses"))
                .put("max_start_delay", r.number("maxStartDelaySeconds"))
                .put("name", r.text("name"))
                .put("node_count", r.number("nodeCount"))
                .put("node_list", r.text("nodes"))
                .put("partition", r.text("partition"))
                .put("purge_completed", new Json.Obj().put("time", purgeTime(r.integer("purgeAfterSeconds"))))
                .put("start_time", Tree.number(r.number("startTime")))
                .put("tres", reservedTres(r))
                .put("users", r.text("users"));
    }

    private static Json.Obj purgeTime(int seconds) {
        if (seconds == ReservationFlag.PURGE_NEVER_S) {
            return Tree.infinite();
        }
        return Tree.number(seconds == 0 ? PURGE_SECONDS : seconds);
    }

    public static Json.Obj steps(String cluster, List<Json.Obj> all, long now) {
        return new Json.Obj()
                .put("steps", list(all, s -> step(s, now).put("cluster", cluster)))
                .put("last_update", Tree.number(now));
    }

    private static Json.Obj step(Json.Obj s, long now) {
        long start = s.number("startTime");
        boolean array = s.integer("arrayJobId") != 0;
        boolean batch = s.text("stepId").equals("batch");
        String id = s.integer("jobId") + "." + s.text("stepId");
        Json.Obj step = new Json.Obj()
                .put(
                        "array",
                        new Json.Obj()
                                .put("job_id", s.number("arrayJobId"))
                                .put("task_id", array ? s.number("arrayTaskId") : NO_TASK))
                .put("container", s.text("container"))
                .put("container_id", s.text("containerId"))
                .put("container_type", "")
                .put("cpu", new Json.Obj().put("frequency", frequency(s, batch)))
                .put(
                        "tres",
                        new Json.Obj()
                                .put(
                                        "per",
                                        new Json.Obj()
                                                .put("cpu", "")
                                                .put("memory", "")
                                                .put("step", "")
                                                .put("node", s.text("tresPerNode"))
                                                .put("socket", "")
                                                .put("task", ""))
                                .put("allocation", batch ? "" : s.text("tresAlloc"))
                                .put("binding", "")
                                .put("frequency", ""))
                .put("name", s.text("name"))
                .put("network", s.text("network"))
                .put("nodes", s.text("nodes"))
                .put("number_cpus", batch ? 0 : s.number("cpus"))
                .put("number_tasks", s.number("tasks"))
                .put("partition", s.text("partition"))
                .put("reserved_ports", s.text("resvPorts"))
                .put(
                        "time",
                        new Json.Obj()
                                .put("running", Tree.number(start == 0 ? 0 : Math.max(0, now - start)))
                                .put("start", Tree.number(start))
                                .put("limit", Tree.limit(s.number("timeLimitMin"))))
                .put("srun", new Json.Obj().put("host", s.text("submitHost")).put("pid", s.number("submitPid")))
                .put("state", Tree.texts(s.text("state")))
                .put("sluid", Sluid.text(s.number("sluid")))
                .put("id", id);
        for (String file :
                List.of("stderr", "stdin", "stdout", "stdin_expanded", "stdout_expanded", "stderr_expanded")) {
            step.put(file, "");
        }
        String distribution = s.text("distribution");
        return step.put("submit_line", s.text("submitLine"))
                .put("task", new Json.Obj().put("distribution", distribution.isEmpty() ? "Unknown" : distribution))
                .put("user", s.text("userName"));
    }

    /** Task index of a job that belongs to no array. */
    private static final long NO_TASK = 0xffff_fffeL;

    private static Json.Obj frequency(Json.Obj s, boolean batch) {
        Json.Obj out = new Json.Obj();
        out.put("min", orZero(JobsJson.frequency(s, CpuFreq::min), batch))
                .put("max", orZero(JobsJson.frequency(s, CpuFreq::max), batch));
        return out.put("governor", orZero(JobsJson.frequency(s, CpuFreq::governor), batch));
    }

    /** Batch scripts have step number 0 in this list. */
    private static Json.Obj orZero(Json.Obj number, boolean batch) {
        return number.flag("set") || !batch ? number : Tree.number(0);
    }

    /** {@code squeue --only-job-state}: the number as typed and the states of each job. */
    public static Json.Obj states(List<Json.Obj> jobs) {
        return new Json.Obj().put("jobs", list(jobs, j -> {
            List<Object> states = Tree.texts(j.text("state"));
            states.addAll(j.texts("flags"));
            return new Json.Obj()
                    .put("job_id", JobRows.id(j, JobRows.EACH_INDEX))
                    .put("state", states);
        }));
    }

    public static Json.Obj licenses(List<Json.Obj> all, long now) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj l : all) {
            out.add(new Json.Obj()
                    .put("LicenseName", l.text("name"))
                    .put("Total", l.number("total"))
                    .put("Used", l.number("used"))
                    .put("Free", l.number("free"))
                    .put("Remote", l.flag("remote"))
                    .put("Reserved", l.number("reserved"))
                    .put("LastConsumed", l.number("consumed"))
                    .put("LastDeficit", l.number("deficit"))
                    .put("LastUpdate", l.number("updated"))
                    .put("Nodes", l.text("nodes")));
        }
        return new Json.Obj().put("licenses", out).put("last_update", Tree.number(now));
    }
}
