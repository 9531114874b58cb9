package dev.muster.accounting.archive;

import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.format.HostList;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobState;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A job as a row of the original's table of jobs, under the names of its columns in either of its generations. */
public final class PastJob {
    private static final Map<String, String> OLD_NAMES = Map.ofEntries(
            Map.entry("id_job", "jobid"),
            Map.entry("id_assoc", "associd"),
            Map.entry("id_user", "uid"),
            Map.entry("id_group", "gid"),
            Map.entry("id_wckey", "wckeyid"),
            Map.entry("id_qos", "qos"),
            Map.entry("job_name", "name"),
            Map.entry("exit_code", "comp_code"),
            Map.entry("cpus_req", "req_cpus"),
            Map.entry("time_eligible", "eligible"),
            Map.entry("time_submit", "submit"),
            Map.entry("time_start", "start"),
            Map.entry("time_end", "end"),
            Map.entry("time_suspended", "suspended"),
            Map.entry("nodes_alloc", "alloc_nodes"),
            Map.entry("timelimit", "limit"),
            Map.entry("derived_es", "comment"));
    /** Columns that say nothing of use here. */
    private static final List<String> UNUSED = List.of(
            "blockid",
            "deleted",
            "kill_requid",
            "track_steps",
            "db_inx",
            "job_db_inx",
            "mod_time",
            "resvid",
            "id_resv",
            "id_block",
            "id");

    private static final List<String> READ = List.of(
            "jobid",
            "associd",
            "uid",
            "gid",
            "wckey",
            "wckeyid",
            "name",
            "comp_code",
            "req_cpus",
            "eligible",
            "submit",
            "start",
            "end",
            "suspended",
            "alloc_nodes",
            "limit",
            "comment",
            "partition",
            "cluster",
            "account",
            "state",
            "priority",
            "qos",
            "mem_req",
            "derived_ec",
            "gres_used",
            "tres_alloc",
            "tres_req",
            "nodelist",
            "admin_comment",
            "work_dir",
            "submit_line",
            "constraints",
            "alloc_cpus");
    private static final int ID_BITS = 26;
    /** The bit of {@code mem_req} that says that it is of each CPU. */
    private static final BigInteger PER_CPU = BigInteger.ONE.shiftLeft(63);
    /** Beyond this {@code mem_req} says nothing: its highest values stand for "not given". */
    private static final BigInteger MEMORY_MAX_MB = BigInteger.ONE.shiftLeft(50);

    private final Map<String, String> row;

    /** @throws ArchiveSql.UnreadableException for a column that would be lost */
    public PastJob(Map<String, String> row) {
        this.row = new LinkedHashMap<>();
        row.forEach((name, value) -> this.row.put(OLD_NAMES.getOrDefault(name, name), value));
        for (String name : this.row.keySet()) {
            if (!UNUSED.contains(name) && !READ.contains(name)) {
                throw new ArchiveSql.UnreadableException("the column '" + name + "' of the table of jobs is not known");
            }
        }
    }

    private String text(String name) {
        return row.getOrDefault(name, "");
    }

    private long number(String name) {
        String value = text(name);
        if (value.isEmpty()) {
            return 0;
        }
        if (!value.matches("-?\\d{1,18}")) {
            throw new ArchiveSql.UnreadableException("'" + value + "' is no number for the column '" + name + "'");
        }
        return Long.parseLong(value);
    }

    public String cluster() {
        return text("cluster");
    }

    public String account() {
        return text("account");
    }

    public int assocId() {
        return (int) number("associd");
    }

    public int uid() {
        return (int) number("uid");
    }

    public int gid() {
        return (int) number("gid");
    }

    /** The QOS as the row has it: its number in that database, of older rows its name. */
    public String qos() {
        return text("qos").equals("0") ? "" : text("qos");
    }

    /** Sentences for what the row says and is not kept here. */
    public List<String> lost() {
        return text("gres_used").isEmpty()
                ? List.of()
                : List.of("the column 'gres_used' (" + text("gres_used")
                        + ") is not kept: devices are counted by tres_alloc");
    }

    private BigInteger memory() {
        if (!text("mem_req").matches("\\d{0,20}")) {
            throw new ArchiveSql.UnreadableException("'" + text("mem_req") + "' is no number for the column 'mem_req'");
        }
        return text("mem_req").isEmpty() ? BigInteger.ZERO : new BigInteger(text("mem_req"));
    }

    private long memoryMb() {
        BigInteger mb = memory().clearBit(PER_CPU.bitLength() - 1);
        return mb.compareTo(MEMORY_MAX_MB) > 0 ? 0 : mb.longValue();
    }

    /**
     * The row here. Its key comes of number and submission, so that a file that is loaded twice changes nothing.
     *
     * @param qos its name
     * @param tres resources by name from resources by number
     */
    public JobRow row(String user, String group, String account, String qos, UnaryOperator<String> tres) {
        long submit = number("submit");
        long id = number("jobid");
        if (id <= 0 || id >= 1L << ID_BITS || submit <= 0) {
            throw new ArchiveSql.UnreadableException("a job needs a number and a time of submission");
        }
        String allocated = tres.apply(text("tres_alloc"));
        String nodes = text("nodelist").equals("None assigned") ? "" : text("nodelist");
        int count;
        if (text("alloc_nodes").matches("\\d{1,6}")) {
            count = (int) number("alloc_nodes");
        } else if (HostList.parse(nodes) instanceof HostList.Parsed.Ok ok) {
            count = ok.list().size();
        } else {
            count = 0;
        }

        int cpus = cpus(allocated);
        return new JobRow(
                submit << ID_BITS | id,
                0,
                (int) id,
                0,
                -1,
                "",
                0,
                text("name"),
                uid(),
                user,
                gid(),
                group,
                account,
                qos,
                text("wckey"),
                text("partition"),
                "",
                state(),
                "None",
                -1,
                ExitStatus.ofWaitStatus((int) number("comp_code")),
                ExitStatus.ofWaitStatus((int) number("derived_ec")),
                submit,
                number("eligible"),
                number("start"),
                number("end"),
                number("suspended"),
                row.containsKey("limit") ? (int) number("limit") : -1,
                number("priority"),
                nodes,
                count,
                row.containsKey("req_cpus") ? (int) number("req_cpus") : cpus,
                cpus,
                memoryMb(),
                memory().testBit(PER_CPU.bitLength() - 1),
                tres.apply(text("tres_req")),
                allocated,
                text("constraints"),
                text("work_dir"),
                text("submit_line"),
                "",
                "",
                "",
                text("comment"),
                text("admin_comment"),
                "",
                "",
                "",
                true,
                0,
                0,
                "",
                "",
                "",
                "",
                assocId(),
                (int) number("wckeyid"),
                0,
                "",
                0,
                "",
                text("system_comment"),
                0,
                "");
    }

    private int cpus(String allocated) {
        for (String item : allocated.split(",")) {
            if (item.matches("cpu=\\d{1,9}")) {
                return Integer.parseInt(item.substring(4));
            }
        }
        return (int) number("alloc_cpus");
    }

    private String state() {
        List<JobState> states = List.of(
                JobState.PENDING,
                JobState.RUNNING,
                JobState.SUSPENDED,
                JobState.COMPLETED,
                JobState.CANCELLED,
                JobState.FAILED,
                JobState.TIMEOUT,
                JobState.NODE_FAIL,
                JobState.PREEMPTED,
                JobState.BOOT_FAIL,
                JobState.DEADLINE,
                JobState.OUT_OF_MEMORY);
        long state = number("state");
        if (state < 0 || state >= states.size()) {
            throw new ArchiveSql.UnreadableException(
                    "the state " + text("state").toLowerCase(Locale.ROOT) + " of a job is not known");
        }
        return states.get((int) state).name();
    }
}
