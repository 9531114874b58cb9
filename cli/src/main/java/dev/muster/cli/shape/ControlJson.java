package dev.muster.cli.shape;

import dev.muster.cli.format.JobRows;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PingReply;
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
     * The answer of a controller or a slurmdbd to a ping, or that there was none.
     *
     * @param index of its SlurmctldHost; 0 and 1 for AccountingStorageHost and AccountingStorageBackupHost
     * @param controllers number of these hosts
     * @param latencyUs round trip in microseconds
     * @param member its role among them: of a controller the member of the journal's group, of slurmdbd its answer;
     *     empty where it did not answer
     */
    public record Ping(String host, int index, int controllers, boolean isUp, long latencyUs, Json.Obj member) {
        /** Returns Slurm's name of the controller: primary, backup, or one of backup1, backup2, …. */
        public String mode() {
            return PingReply.mode(index, controllers);
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

    /** Makes the tree of the answers of slurmdbd's hosts, the primary's first. */
    public static Json.Obj slurmdbdPings(List<Ping> pings) {
        return pings(pings.stream()
                .map(p -> ping(p.host(), p.isUp(), p.latencyUs(), "slurm accounting daemon", p.index() == 0))
                .toList());
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
    public static String reservedTres(Json.Obj reservation) {
        String cpus = reservation.integer("cpuCount") == 0 ? "" : "cpu=" + reservation.integer("cpuCount");
        return cpus.isEmpty() || reservation.text("gres").isEmpty()
                ? cpus + reservation.text("gres")
                : cpus + "," + reservation.text("gres");
    }

    /** Default purge time of an unused reservation. */
    private static final int PURGE_SECONDS = 300;

    private static Json.Obj reservation(Json.Obj row) {
        List<Object> cores = list(
                row.objects("cores"),
                c -> new Json.Obj().put("node", c.text("node")).put("core", c.text("ids")));
        return new Json.Obj()
                .put("accounts", row.text("accounts"))
                .put("burst_buffer", "")
                .put("core_count", row.number("coreCount"))
                .put("core_specializations", cores)
                .put("end_time", Tree.number(row.number("endTime")))
                .put("features", row.text("features"))
                .put("flags", new ArrayList<Object>(row.texts("flags")))
                .put("groups", row.text("groups"))
                .put("licenses", row.text("licenses"))
                .put("max_start_delay", row.number("maxStartDelaySeconds"))
                .put("name", row.text("name"))
                .put("node_count", row.number("nodeCount"))
                .put("node_list", row.text("nodes"))
                .put("partition", row.text("partition"))
                .put("purge_completed", new Json.Obj().put("time", purgeTime(row.integer("purgeAfterSeconds"))))
                .put("start_time", Tree.number(row.number("startTime")))
                .put("tres", reservedTres(row))
                .put("users", row.text("users"));
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

    private static Json.Obj step(Json.Obj row, long now) {
        long start = row.number("startTime");
        boolean array = row.integer("arrayJobId") != 0;
        boolean batch = row.text("stepId").equals("batch");
        String id = row.integer("jobId") + "." + row.text("stepId");
        Json.Obj step = new Json.Obj()
                .put(
                        "array",
                        new Json.Obj()
                                .put("job_id", row.number("arrayJobId"))
                                .put("task_id", array ? row.number("arrayTaskId") : NO_TASK))
                .put("container", row.text("container"))
                .put("container_id", row.text("containerId"))
                .put("container_type", "")
                .put("cpu", new Json.Obj().put("frequency", frequency(row, batch)))
                .put(
                        "tres",
                        new Json.Obj()
                                .put(
                                        "per",
                                        new Json.Obj()
                                                .put("cpu", "")
                                                .put("memory", "")
                                                .put("step", "")
                                                .put("node", row.text("tresPerNode"))
                                                .put("socket", "")
                                                .put("task", ""))
                                .put("allocation", batch ? "" : row.text("tresAlloc"))
                                .put("binding", "")
                                .put("frequency", ""))
                .put("name", row.text("name"))
                .put("network", row.text("network"))
                .put("nodes", row.text("nodes"))
                .put("number_cpus", batch ? 0 : row.number("cpus"))
                .put("number_tasks", row.number("tasks"))
                .put("partition", row.text("partition"))
                .put("reserved_ports", row.text("resvPorts"))
                .put(
                        "time",
                        new Json.Obj()
                                .put("running", Tree.number(start == 0 ? 0 : Math.max(0, now - start)))
                                .put("start", Tree.number(start))
                                .put("limit", Tree.limit(row.number("timeLimitMin"))))
                .put("srun", new Json.Obj().put("host", row.text("submitHost")).put("pid", row.number("submitPid")))
                .put("state", Tree.texts(row.text("state")))
                .put("sluid", Sluid.text(row.number("sluid")))
                .put("id", id);
        for (String file :
                List.of("stderr", "stdin", "stdout", "stdin_expanded", "stdout_expanded", "stderr_expanded")) {
            step.put(file, "");
        }
        String distribution = row.text("distribution");
        return step.put("submit_line", row.text("submitLine"))
                .put("task", new Json.Obj().put("distribution", distribution.isEmpty() ? "Unknown" : distribution))
                .put("user", row.text("userName"));
    }

    /** Task index of a job that belongs to no array. */
    private static final long NO_TASK = 0xffff_fffeL;

    private static Json.Obj frequency(Json.Obj step, boolean batch) {
        Json.Obj out = new Json.Obj();
        out.put("min", orZero(JobsJson.frequency(step, CpuFreq::min), batch))
                .put("max", orZero(JobsJson.frequency(step, CpuFreq::max), batch));
        return out.put("governor", orZero(JobsJson.frequency(step, CpuFreq::governor), batch));
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
        for (Json.Obj license : all) {
            out.add(new Json.Obj()
                    .put("LicenseName", license.text("name"))
                    .put("Total", license.number("total"))
                    .put("Used", license.number("used"))
                    .put("Free", license.number("free"))
                    .put("Remote", license.flag("remote"))
                    .put("Reserved", license.number("reserved"))
                    .put("LastConsumed", license.number("consumed"))
                    .put("LastDeficit", license.number("deficit"))
                    .put("LastUpdate", license.number("updated"))
                    .put("Nodes", license.text("nodes")));
        }
        return new Json.Obj().put("licenses", out).put("last_update", Tree.number(now));
    }
}
