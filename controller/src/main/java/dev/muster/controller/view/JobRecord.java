package dev.muster.controller.view;

import dev.muster.core.limits.TresCounts;
import dev.muster.core.state.Job;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.job.JobDesc;

/** A job of the queue by the names under which a site's Lua scripts know it. */
public final class JobRecord {
    private static final long NO_VAL = 4_294_967_294L;
    private static final long INFINITE = 4_294_967_295L;
    /** Bit of job_state while nodes of the job are still being cleaned up. */
    private static final long COMPLETING = 0x8000;

    private static final long NICE_OFFSET = 0x8000_0000L;

    private JobRecord() {}

    /** Integer.MIN_VALUE for a job that has not begun and asked for no limit. */
    private static int timeLimitMin(Job j) {
        if (j.run().startTime() > 0) {
            return j.run().limitMin();
        }
        int asked = j.desc().timing().timeLimitMin();
        return asked == 0 ? Integer.MIN_VALUE : asked;
    }

    public static Json.Obj of(Job j) {
        JobDesc d = j.desc();
        return new Json.Obj()
                .put("job_id", (long) j.id())
                .put("name", d.name())
                .put("account", d.charge().account())
                .put("comment", d.extras().comment())
                .put("admin_comment", d.extras().adminComment())
                .put("partition", d.partition())
                .put("qos", d.charge().qos())
                .put("wckey", d.charge().wckey())
                .put("reservation", d.charge().reservation())
                .put("user_id", (long) d.owner().uid())
                .put("group_id", (long) d.owner().gid())
                .put("user_name", d.owner().user())
                .put("job_state", (long) j.state().ordinal())
                .put("priority", j.priority())
                .put("restart_cnt", (long) j.restarts())
                .put("time_limit", limit(timeLimitMin(j)))
                .put("time_min", (long) d.timing().timeMinMin())
                .put("nodes", j.holdsNodes() ? j.run().allocation().hostList() : "")
                .put("start_time", j.run().startTime())
                .put("end_time", j.run().endTime())
                .put("submit_time", j.submitTime())
                .put("min_nodes", (long) Math.max(1, d.request().nodesMin()))
                .put("max_nodes", (long) d.request().nodesMax())
                .put("min_cpus", (long) TresCounts.cpus(j))
                .put("total_cpus", j.holdsNodes() ? (long) TresCounts.cpus(j) : 0L)
                .put("features", d.request().features())
                .put("licenses", d.request().licenses())
                .put("gres", d.request().tresPerNode())
                .put("tres_per_node", d.request().tresPerNode())
                .put("tres_per_job", d.request().tresPerJob())
                .put("tres_per_task", d.request().tresPerTask())
                .put("work_dir", d.files().workDir().text())
                .put("array_job_id", (long) j.array().jobId())
                .put(
                        "array_task_id",
                        j.array().jobId() == 0 ? NO_VAL : (long) j.array().task());
    }

    /**
     * Returns the record of a job that has ended.
     *
     * @param script of a batch job, "" without
     */
    public static Json.Obj finished(Job j, JobRow row, String script) {
        JobPaths.Paths paths = JobPaths.expanded(j);
        boolean batch = row.batch();
        return of(j).put("job_state", j.state().ordinal() | (j.holdsNodes() ? COMPLETING : 0L))
                .put("exit_code", (long) row.exit().waitStatus())
                .put("derived_ec", (long) row.derivedExit().waitStatus())
                .put("group_name", row.groupName())
                .put("nodes", row.nodes())
                .put("total_nodes", (long) row.nodeCount())
                .put("total_cpus", (long) row.cpusAllocated())
                .put(
                        "batch_host",
                        batch && !row.nodes().isEmpty()
                                ? j.run().allocation().ofScript().node()
                                : "")
                .put("alloc_node", j.desc().payload().submitHost())
                .put("cluster", j.desc().extras().cluster())
                .put("std_in", batch ? paths.stdin().text() : "")
                .put("std_out", batch ? paths.stdout().text() : "")
                .put(
                        "std_err",
                        batch && !j.desc().files().stderr().isEmpty()
                                ? paths.stderr().text()
                                : "")
                .put("tres_fmt_req_str", row.tresRequested())
                .put("tres_fmt_alloc_str", row.tresAllocated())
                .put("script", script)
                .put("nice", NICE_OFFSET + j.desc().timing().nice())
                .put("eligible_time", row.eligibleTime());
    }

    /** Returns minutes; -1 is without limit. */
    private static long limit(int value) {
        if (value == Integer.MIN_VALUE) {
            return NO_VAL;
        }
        if (value < 0) {
            return INFINITE;
        }
        return value;
    }
}
