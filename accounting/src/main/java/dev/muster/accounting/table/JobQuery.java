package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.StepId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** One question turned into SQL with parameters, and the rest of it that is decided row by row. */
final class JobQuery {
    /** Sorts steps by number, then by component. */
    private static final String BY_STEP =
            ", s.\"start_time\", mod(s.\"step_id\", " + (StepId.NUMBER_MAX + 1) + "), s.\"step_id\"";

    private static final String ORDER =
            " order by j.\"job_id\", j.\"submit_time\", j.\"cluster_key\", j.\"restarts\", j.\"sluid\"";
    private static final String KEYS = "select \"cluster_key\", \"sluid\", \"restarts\" from \"job\" where ";

    private static final String WITH_STEPS =
            " join \"step\" s on s.\"cluster_key\" = j.\"cluster_key\" and s.\"sluid\" = j.\"sluid\" "
                    + "and s.\"restarts\" = j.\"restarts\"";

    private final Query query;
    private final List<JobSelector> selectors;
    /** The narrowest set of keys that an index gives: a disjunction in the condition itself would read every job. */
    private final StringBuilder narrow = new StringBuilder();

    private final StringBuilder where = new StringBuilder(" where not (j.\"array_job_id\" <> 0 "
            + "and j.\"array_job_id\" = j.\"job_id\" and j.\"array_task_id\" = -1 and j.\"array_tasks\" = '')");
    private final List<Object> parameters = new ArrayList<>();

    /** @param clusterKeys the journals that the query reads */
    JobQuery(Query query, List<Integer> clusterKeys) {
        this.query = query;
        this.selectors = JobSelector.all(query.jobs(), query.wholeHetjob());
        selected(clusterKeys);
        in("cluster_key", clusterKeys);
        in("user_id", query.userIds());
        in("group_id", query.groupIds());
        in("account", query.accounts());
        in("partition", query.partitions());
        in("qos", query.qos());
        in("name", query.names());
        in("wckey", query.wckeys());
        in("reason", query.reasons());
        if (query.minNodes() > 0 || query.maxNodes() > 0) {
            // only what ran: until then it is the number that is asked for
            where.append(" and j.\"nodes\" <> ''");
        }
        between("node_count", query.minNodes(), query.maxNodes());
        between("cpus_allocated", query.minCpus(), query.maxCpus());
        between("limit_min", query.minLimitMin(), query.maxLimitMin());
        window();
        if (query.fromJob() > 0) {
            where.append(" and j.\"job_id\" >= ?");
            parameters.add(query.fromJob());
        }
    }

    /** Columns that identify rows of jobs, and those that conditions use. */
    private static final Set<String> OF_JOBS = Set.of(
            "sluid",
            "restarts",
            "jobId",
            "arrayJobId",
            "arrayTaskId",
            "arrayTasks",
            "arrayMaxRunning",
            "userId",
            "userName",
            "account",
            "partition",
            "wckey",
            "state",
            "cancelledBy",
            "hetJobId",
            "hetOffset",
            "submitTime",
            "startTime",
            "endTime",
            "suspendedSeconds",
            "suspendedSince");

    private static final Set<String> OF_STEPS = Set.of(
            "sluid", "restarts", "stepId", "jobId", "state", "cancelledBy", "startTime", "endTime", "suspendedSeconds");

    /** The columns of jobs that are wanted. */
    static boolean[] jobColumns(Query query) {
        if (query.fields().isEmpty()) {
            return AccountingStore.JOBS.every();
        }
        Set<String> all = new HashSet<>(OF_JOBS);
        all.addAll(query.fields());
        if (!query.nodes().isEmpty()) {
            all.add("nodes");
        }
        return AccountingStore.JOBS.only(all);
    }

    static boolean[] stepColumns(Query query) {
        if (query.fields().isEmpty()) {
            return AccountingStore.STEPS.every();
        }
        Set<String> all = new HashSet<>(OF_STEPS);
        all.addAll(query.fields());
        return AccountingStore.STEPS.only(all);
    }

    /** The first rows, at most as many as the query's limit. */
    PreparedStatement prepareJobs(Connection connection, boolean[] columns) throws SQLException {
        return prepare(
                connection,
                "select " + AccountingStore.JOBS.selectList("j", columns) + ", j.\"cluster_key\" from " + source()
                        + where + ORDER
                        + " limit "
                        + query.limit());
    }

    /** Steps of the jobs with these numbers. */
    PreparedStatement prepareSteps(Connection connection, boolean[] columns, int last) throws SQLException {
        return prepare(
                connection,
                "select " + AccountingStore.STEPS.selectList("s", columns)
                        + ", j.\"cluster_key\" from " + source() + WITH_STEPS + where + " and j.\"job_id\" <= " + last
                        + ORDER
                        + BY_STEP);
    }

    /**
     * Reads at most {@code maximum} rows in no order: rows that fit in memory are sorted faster here than in the
     * database.
     */
    PreparedStatement prepareAnyJobs(Connection connection, boolean[] columns, int maximum) throws SQLException {
        return prepare(
                connection,
                "select " + AccountingStore.JOBS.selectList("j", columns) + ", j.\"cluster_key\" from " + source()
                        + where + " limit " + maximum);
    }

    /** Like {@link #prepareAnyJobs}, for the steps of all jobs of the answer. */
    PreparedStatement prepareAnySteps(Connection connection, boolean[] columns, int maximum) throws SQLException {
        return prepare(
                connection,
                "select " + AccountingStore.STEPS.selectList("s", columns) + ", s.\"cluster_key\" from " + source()
                        + WITH_STEPS + where + " limit " + maximum);
    }

    PreparedStatement prepareJobs(Connection connection) throws SQLException {
        return prepare(
                connection,
                "select " + AccountingStore.JOBS.selectList("j") + ", j.\"cluster_key\" from " + source() + where
                        + ORDER);
    }

    PreparedStatement prepareSteps(Connection connection) throws SQLException {
        return prepare(
                connection,
                "select " + AccountingStore.STEPS.selectList("s") + ", j.\"cluster_key\" from " + source() + WITH_STEPS
                        + where + ORDER + BY_STEP);
    }

    private String source() {
        return narrow.isEmpty()
                ? "\"job\" j"
                : "(" + narrow
                        + ") w join \"job\" j on j.\"cluster_key\" = w.\"cluster_key\" and j.\"sluid\" = w.\"sluid\" "
                        + "and j.\"restarts\" = w.\"restarts\"";
    }

    private PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < parameters.size(); i++) {
            statement.setObject(i + 1, parameters.get(i));
        }
        return statement;
    }

    /** Narrows by the indexes over numbers of jobs and of arrays. */
    private void selected(List<Integer> clusterKeys) {
        if (!selectors.isEmpty()) {
            List<Long> sluids = selectors.stream()
                    .filter(s -> s.sluid() >= 0)
                    .flatMap(s -> Stream.of(s.sluid(), Sluid.first(s.sluid())))
                    .distinct()
                    .toList();
            List<Integer> ids =
                    selectors.stream().map(JobSelector::jobId).distinct().toList();
            String list = "(?" + ", ?".repeat(ids.size() - 1) + ")";
            narrow.append(KEYS)
                    .append("\"job_id\" in ")
                    .append(list)
                    .append(" union ")
                    .append(KEYS)
                    .append("\"array_job_id\" in ")
                    .append(list)
                    .append(" union ")
                    .append(KEYS)
                    .append("\"het_job_id\" in ")
                    .append(list);
            parameters.addAll(ids);
            parameters.addAll(ids);
            parameters.addAll(ids);
            if (query.wholeHetjob().equals("yes")) {
                narrow.append(" union ")
                        .append(KEYS)
                        .append("\"het_job_id\" in (select \"het_job_id\" from \"job\" where \"het_job_id\" > 0 "
                                + "and \"job_id\" in ")
                        .append(list)
                        .append(")");
                parameters.addAll(ids);
            }
            if (!sluids.isEmpty()) {
                narrow.append(" union ")
                        .append(KEYS)
                        .append("\"cluster_key\" in (?")
                        .append(", ?".repeat(clusterKeys.size() - 1))
                        .append(") and \"sluid\" in (?")
                        .append(", ?".repeat(sluids.size() - 1))
                        .append(")");
                parameters.addAll(clusterKeys);
                parameters.addAll(sluids);
            }
        }
    }

    private void in(String column, List<?> wanted) {
        if (wanted.isEmpty()) {
            return;
        }
        where.append(" and j.\"")
                .append(column)
                .append("\" in (?")
                .append(", ?".repeat(wanted.size() - 1))
                .append(')');
        parameters.addAll(wanted);
    }

    private void between(String column, int min, int max) {
        if (min > 0) {
            where.append(" and j.\"").append(column).append("\" >= ?");
            parameters.add(min);
        }
        if (max > 0) {
            where.append(" and j.\"").append(column).append("\" <= ?");
            parameters.add(max);
        }
    }

    private void window() {
        if (query.states().isEmpty()) {
            if (query.from() > 0 || query.to() > 0) {
                // As in Slurm, a query by number sees a job from its submission on, other queries from when it is
                // eligible.
                boolean named = !selectors.isEmpty();
                where.append(
                        named
                                ? " and not (j.\"eligible_time\" = 0 and j.\"end_time\" > 0)"
                                : " and j.\"eligible_time\" > 0");
                overlap(named ? "submit_time" : "eligible_time");
            }
            return;
        }
        if (query.from() > 0) {
            // True of every state below; alone it lets the index be used.
            where.append(" and j.\"last_time\" >= ?");
            parameters.add(query.from());
        }
        where.append(" and (false");
        for (String state : query.states()) {
            where.append(" or (true");
            inState(state);
            where.append(')');
        }
        where.append(')');
    }

    /** Asks for jobs that were in that state at some moment of the window. */
    private void inState(String state) {
        boolean windowed = query.from() > 0 || query.to() > 0;
        switch (state) {
            case "PENDING" -> {
                where.append(windowed ? " and j.\"eligible_time\" > 0" : " and j.\"state\" = 'PENDING'");
                begins("eligible_time");
                if (query.from() > 0) {
                    where.append(" and (j.\"start_time\" > ? or j.\"start_time\" = 0 and j.\"last_time\" > ?)");
                    parameters.add(query.from());
                    parameters.add(query.from());
                }
            }
            case "RUNNING" -> {
                where.append(windowed ? " and j.\"start_time\" > 0" : " and j.\"state\" = 'RUNNING'");
                within("start_time");
            }
            case "SUSPENDED" -> {
                where.append(" and j.\"state\" = 'SUSPENDED'");
                within("start_time");
            }
            default -> {
                where.append(" and j.\"state\" = ?");
                parameters.add(state);
                if (query.from() > 0) {
                    where.append(" and j.\"end_time\" >= ?");
                    parameters.add(query.from());
                }
                if (query.to() > 0) {
                    where.append(" and j.\"end_time\" <= ?");
                    parameters.add(query.to());
                }
            }
        }
    }

    /**
     * Asks for jobs whose time overlaps the window. A job and a window have their first second and not their last; a
     * window from and to the same second has that one.
     */
    private void within(String began) {
        begins(began);
        if (query.from() > 0) {
            where.append(" and j.\"last_time\" > ?");
            parameters.add(query.from());
        }
    }

    private void begins(String column) {
        if (query.to() > 0) {
            where.append(" and j.\"").append(column).append(query.to() == query.from() ? "\" <= ?" : "\" < ?");
            parameters.add(query.to());
        }
    }

    private void overlap(String began) {
        if (query.to() > 0) {
            where.append(" and j.\"").append(began).append("\" <= ?");
            parameters.add(query.to());
        }
        if (query.from() > 0) {
            where.append(" and j.\"last_time\" >= ?");
            parameters.add(query.from());
        }
    }

    /** Whether all that is asked is decided in SQL, and rows need only be put in order. */
    static boolean isSqlAlone(Query query) {
        return query.jobs().isEmpty() && query.nodes().isEmpty() && query.text().isEmpty() && query.fromJob() == 0;
    }

    /** The steps that were asked for: all, unless every selector of the job names one. */
    List<StepRow> wanted(JobRow job, List<StepRow> steps) {
        List<StepRow> selected = new ArrayList<>();
        for (StepRow step : steps) {
            if (selectors.isEmpty() || selectors.stream().anyMatch(s -> s.matches(job, step))) {
                selected.add(step);
            }
        }
        return selected;
    }

    /** Conditions that SQL does not check: tasks of arrays, a step that must exist, and nodes. */
    boolean accepts(JobRow job, List<StepRow> steps) {
        if (!selectors.isEmpty() && selectors.stream().noneMatch(s -> s.matches(job, steps))) {
            return false;
        }
        if (query.nodes().isEmpty()) {
            return true;
        }
        return HostList.parse(job.nodes()) instanceof HostList.Parsed.Ok ok
                && query.nodes().stream().anyMatch(ok.list()::contains);
    }
}
