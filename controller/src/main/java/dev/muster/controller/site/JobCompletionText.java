package dev.muster.controller.site;

import dev.muster.controller.view.JobPaths;
import dev.muster.controller.view.JobRows;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Job;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.job.ExitStatus;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A finished job as the kinds of JobCompType write it. */
final class JobCompletionText {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss");
    /** Slurm's task number of a job outside of arrays. */
    private static final long NO_TASK = 0xfffffffeL;

    private JobCompletionText() {}

    /**
     * Returns the line of jobcomp/filetxt. A job that never ran has the same begin and end, and shows what it asked for
     * in Tres only.
     */
    static String line(JobRow r, String cluster) {
        boolean ran = r.startTime() > 0;
        return "JobId=" + r.jobId() + " UserId=" + r.userName() + "(" + r.userId() + ") GroupId=" + r.groupName() + "("
                + r.groupId() + ")"
                + " Name=" + r.name() + " JobState=" + state(r) + " Partition=" + r.partition() + " TimeLimit="
                + minutes(r)
                + " StartTime=" + time(ran ? r.startTime() : r.endTime()) + " EndTime=" + time(r.endTime())
                + " NodeList=" + (r.nodes().isEmpty() ? "(null)" : r.nodes())
                + " NodeCnt=" + (ran ? r.nodeCount() : 0) + " ProcCnt=" + (ran ? r.cpusAllocated() : 0)
                + " WorkDir=" + r.workDir() + " ReservationName=" + r.reservation() + " Tres="
                + (ran ? r.tresAllocated() : r.tresRequested())
                + " Account=" + r.account() + " QOS=" + r.qos() + " WcKey=" + r.wckey() + " Cluster=" + cluster
                + " SubmitTime=" + time(r.submitTime()) + " EligibleTime=" + time(r.eligibleTime()) + place(r)
                + " DerivedExitCode=" + code(r.derivedExit()) + " ExitCode=" + code(r.exit()) + " \n";
    }

    /** Returns the job's place in an array or a heterogeneous job. */
    private static String place(JobRow r) {
        return (r.arrayJobId() != 0 && r.arrayTaskId() >= 0
                        ? " ArrayJobId=" + r.arrayJobId() + " ArrayTaskId=" + r.arrayTaskId()
                        : "")
                + (r.hetJobId() != 0 ? " HetJobId=" + r.hetJobId() + " HetJobOffset=" + r.hetOffset() : "");
    }

    /** A job that goes back to the queue is written as one that waits. */
    private static String state(JobRow r) {
        return r.state().equals(JobRows.REQUEUED) ? "PENDING" : r.state();
    }

    private static String minutes(JobRow r) {
        return r.limitMin() < 0 ? "UNLIMITED" : Integer.toString(r.limitMin());
    }

    private static String time(long seconds) {
        return seconds <= 0 ? "unknown" : TIME.withZone(ZoneId.systemDefault()).format(Instant.ofEpochSecond(seconds));
    }

    private static String code(ExitStatus exit) {
        return exit.code() + ":" + exit.signal();
    }

    /** Returns the environment of jobcomp/script's program. */
    static Map<String, String> environment(Job job, JobRow r, String cluster) {
        Map<String, String> e = new TreeMap<>();
        e.put("ACCOUNT", r.account());
        e.put("ARRAYJOBID", Integer.toString(r.arrayJobId()));
        e.put("ARRAYTASKID", Long.toString(r.arrayTaskId() < 0 || r.arrayJobId() == 0 ? NO_TASK : r.arrayTaskId()));
        e.put("BATCH", r.batch() ? "yes" : "no");
        e.put("CLUSTER", cluster);
        e.put("CONSTRAINTS", r.features());
        e.put("DB_FLAGS", r.flags());
        e.put("DEPENDENCY", Dependency.print(job.dependencies()));
        e.put("DERIVED_EC", code(r.derivedExit()));
        e.put("END", Long.toString(r.endTime()));
        e.put("EXITCODE", code(r.exit()));
        e.put("GID", Integer.toUnsignedString(r.groupId()));
        e.put("GROUPNAME", r.groupName());
        if (r.hetJobId() != 0) {
            e.put("HETJOBID", Integer.toString(r.hetJobId()));
            e.put("HETJOBOFFSET", Integer.toString(r.hetOffset()));
        }
        e.put("JOBID", Integer.toString(r.jobId()));
        e.put("JOBNAME", r.name());
        e.put("JOBSTATE", state(r));
        e.put("LIMIT", r.limitMin() < 0 ? "UNLIMITED" : limit(r.limitMin()));
        e.put("NODECNT", Integer.toString(r.nodeCount()));
        e.put("NODES", r.nodes());
        e.put("PARTITION", r.partition());
        e.put("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        e.put("PROCS", Integer.toString(r.cpusAllocated()));
        e.put("QOS", r.qos());
        e.put("RESERVATION", r.reservation());
        e.put("START", Long.toString(r.startTime()));
        e.put("STATEREASONPREV", r.reason());
        files(e, job, r);
        e.put("SUBMIT", Long.toString(r.submitTime()));
        e.put("UID", Integer.toUnsignedString(r.userId()));
        e.put("USERNAME", r.userName());
        e.put("WORK_DIR", r.workDir());
        return e;
    }

    /** Adds the job's files; STDERR only where it goes to a file of its own. */
    private static void files(Map<String, String> e, Job job, JobRow r) {
        if (r.batch()) {
            JobPaths.Paths paths = JobPaths.expanded(job);
            e.put("STDIN", paths.stdin().text());
            e.put("STDOUT", paths.stdout().text());
            if (!job.desc().files().stderr().isEmpty()) {
                e.put("STDERR", paths.stderr().text());
            }
        }
    }

    private static String limit(int minutes) {
        int days = minutes / 1440;
        return (days > 0 ? days + "-" : "") + "%02d:%02d:00".formatted(minutes / 60 % 24, minutes % 60);
    }

    /** Fields of ended jobs only. */
    private static final List<String> OF_THE_END = List.of("@end", "elapsed", "derived_ec", "exit_code", "cpu_hours");

    /**
     * Returns the document of jobcomp/elasticsearch and jobcomp/kafka. Times in UTC.
     *
     * @param script "" to leave it out, as comment
     * @param started the job begins; otherwise it is over
     */
    static String document(Job job, JobRow r, String cluster, String script, String comment, boolean started) {
        Json.Obj o = document(job, r, cluster, script, comment);
        if (started) {
            OF_THE_END.forEach(o.fields()::remove);
        }
        return o.put("time_limit", r.limitMin() < 0 ? 0L : r.limitMin() * 60L).toString();
    }

    private static Json.Obj document(Job job, JobRow r, String cluster, String script, String comment) {
        Json.Obj o = new Json.Obj();
        o.put("jobid", (long) r.jobId())
                .put("username", r.userName())
                .put("user_id", r.userId() & 0xffffffffL)
                .put("groupname", r.groupName())
                .put("group_id", r.groupId() & 0xffffffffL)
                .put("@start", utc(r.startTime()))
                .put("@end", utc(r.endTime()))
                .put("elapsed", r.startTime() == 0 ? 0L : Math.max(0, r.endTime() - r.startTime()))
                .put("partition", r.partition())
                .put("alloc_node", job.desc().payload().submitHost())
                .put("nodes", r.nodes())
                .put("total_cpus", (long) r.cpusAllocated())
                .put("total_nodes", (long) r.nodeCount())
                .put("derived_ec", code(r.derivedExit()))
                .put("exit_code", code(r.exit()))
                .put("state", state(r))
                .put("cpu_hours", r.startTime() == 0 ? 0L : (r.endTime() - r.startTime()) * r.cpusAllocated() / 3600)
                .put("@submit", utc(r.submitTime()))
                .put("@eligible", utc(r.eligibleTime()));
        if (r.arrayJobId() != 0) {
            o.put("array_job_id", (long) r.arrayJobId()).put("array_task_id", (long) r.arrayTaskId());
        }
        if (r.hetJobId() != 0) {
            o.put("het_job_id", (long) r.hetJobId()).put("het_job_offset", (long) r.hetOffset());
        }
        if (r.startTime() > 0 && r.eligibleTime() > 0) {
            o.put("queue_wait", Math.max(0, r.startTime() - r.eligibleTime()));
        }
        JobPaths.Paths paths = JobPaths.expanded(job);
        String[][] texts = {
            {"work_dir", r.workDir()},
            {"std_err", paths.stderr().text()},
            {"std_in", paths.stdin().text()},
            {"std_out", paths.stdout().text()},
            {"cluster", cluster},
            {"qos", r.qos()},
            {"wc_key", r.wckey()},
            {"job_name", r.name()},
            {"account", r.account()},
            {"reservation_name", r.reservation()},
            {"tres_req", r.tresRequested()},
            {"tres_alloc", r.tresAllocated()},
            {"orig_dependency", job.desc().timing().dependency()},
            {"excluded_nodes", job.desc().request().excludeList()},
            {"script", script},
            {"comment", comment}
        };
        for (String[] text : texts) {
            if (!text[1].isEmpty()) {
                o.put(text[0], text[1]);
            }
        }
        return o;
    }

    private static String utc(long seconds) {
        return seconds <= 0 ? "" : TIME.withZone(ZoneOffset.UTC).format(Instant.ofEpochSecond(seconds));
    }
}
