package dev.muster.accounting.table;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.book.EffectiveLimits;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.Entities.Tres;
import dev.muster.model.format.MemorySize;
import dev.muster.model.format.Sluid;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * {@code sacctmgr modify job}: changes of jobs' rows. Controllers do not know of them. The row of a job that has not
 * ended is written again when the job changes: {@link Projection} keeps the texts of {@link EditedJobs} that the
 * controller leaves empty.
 */
public final class JobEdits {
    private static final List<String> FIELDS =
            List.of("comment", "wckey", "extra", "admincomment", "systemcomment", "derivedexitcode", "tres");
    private static final List<String> OPERATORS_FIELDS = List.of("admincomment", "systemcomment");
    private static final Changed NOTHING = new Changed(
            List.of(),
            List.of(),
            List.of(),
            List.of(SlurmErrno.NO_CHANGE_IN_DATA.sentence()),
            SlurmErrno.NO_CHANGE_IN_DATA.number());
    private static final Changed DENIED = new Changed(
            List.of(),
            List.of(),
            List.of(),
            List.of(SlurmErrno.ACCESS_DENIED.sentence()),
            SlurmErrno.ACCESS_DENIED.number());
    private static final int JOBS_MAX = 100_000;
    private static final int TASKS_MAX = 1_000;
    private static final int SIGNAL_MASK = 0x7f;
    private static final int CODE_MASK = 0xff;
    private static final int MB_BITS = 20;

    private final AccountingStore store;

    public JobEdits(AccountingStore store) {
        this.store = store;
    }

    /** Columns that the change sets to the same value in every row. */
    private static Map<String, Object> columns(Change change) {
        Map<String, Object> out = new TreeMap<>();
        change.set().forEach((key, value) -> {
            switch (key) {
                case "comment", "wckey", "extra" -> out.put(key, value);
                case "admincomment" -> out.put("admin_comment", value);
                case "systemcomment" -> out.put("system_comment", value);
                // encoded as by wait(2): a signal hides the exit code
                case "derivedexitcode" -> {
                    long status = Long.parseLong(value);
                    int signal = (int) (status & SIGNAL_MASK);
                    out.put("derived_exit_code", signal != 0 ? 0 : (int) (status >> Byte.SIZE & CODE_MASK));
                    out.put("derived_exit_signal", signal);
                }
                case "tres" -> {}
                default -> throw new IllegalArgumentException(key);
            }
        });
        return out;
    }

    /** Overlays a job's resources with the given counts; the count -1 removes a resource. */
    static String tres(AssocTree book, String old, String over) {
        List<String> counts = new ArrayList<>();
        for (String item : over.split(",")) {
            int equalSign = item.indexOf('=');
            String name = name(book, item.substring(0, equalSign)).orElseThrow();
            String count = item.substring(equalSign + 1);
            boolean size = !count.equals("-1") && (name.equals("mem") || name.startsWith("bb/"));
            counts.add(name + "="
                    + (size
                            ? MemorySize.print(Math.min(Long.MAX_VALUE >> MB_BITS, new BigInteger(count).longValue()))
                            : count));
        }
        List<String> items = new ArrayList<>(List.of(
                EffectiveLimits.mergedTres(old, String.join(",", counts)).split(",")));
        items.sort(Comparator.comparing(i -> i.substring(0, Math.max(0, i.indexOf('=')))));
        return String.join(",", items);
    }

    /** Finds a resource by its name or its id. */
    private static Optional<String> name(AssocTree book, String typed) {
        return book.tres().stream()
                .filter(t -> t.full().equalsIgnoreCase(typed)
                        || Integer.toString(t.id()).equals(typed))
                .findFirst()
                .map(Tres::full);
    }

    /** Returns the error for the first unknown resource; empty if all are known. */
    private static Optional<String> unknown(AssocTree book, String tres) {
        return Stream.of(tres.split(","))
                .map(i -> i.substring(0, Math.max(0, i.indexOf('='))))
                .filter(n -> name(book, n).isEmpty())
                .findFirst()
                .map(n -> "sacctmgr: error: slurmdb_format_tres_str: no TRES known by "
                        + (n.matches("\\d+") ? "id " : "type ") + n);
    }

    private static Changed refused(String sentence) {
        return new Changed(List.of(), List.of(), List.of(), List.of(sentence), -1);
    }

    /**
     * Changes the rows of the chosen jobs.
     *
     * @param operator whether the caller may change any job; other users change their own jobs, but not AdminComment
     */
    public Changed run(Change change, int uid, boolean operator, AssocTree book) {
        if (change.set().keySet().stream().anyMatch(k -> !FIELDS.contains(k))) {
            return refused("Setting " + change.set().keySet() + " of a job is not supported by this version");
        }
        if (!change.set().getOrDefault("derivedexitcode", "0").matches("\\d{1,10}")) {
            return refused("Invalid value for DerivedExitCode (" + change.set().get("derivedexitcode") + ")");
        }
        String over = change.set().getOrDefault("tres", "");
        Optional<String> stranger = over.isEmpty() ? Optional.empty() : unknown(book, over);
        if (stranger.isPresent()) {
            return refused(stranger.get());
        }
        if (!operator && change.set().keySet().stream().anyMatch(OPERATORS_FIELDS::contains)) {
            return DENIED;
        }
        List<Object> values = new ArrayList<>();
        String where = where(change, values);
        try {
            return store.writer().run(on -> {
                String found = "select \"cluster_key\", \"sluid\", \"restarts\", \"job_id\", \"submit_time\", "
                        + "\"user_id\", \"tres_allocated\" "
                        + "from \"job\"" + where + " order by \"job_id\", \"submit_time\"";
                List<Object[]> rows = new ArrayList<>();
                List<String> resources = new ArrayList<>();
                List<String> names = new ArrayList<>();
                try (PreparedStatement select = bound(on.prepareStatement(found), values, 0);
                        ResultSet row = select.executeQuery()) {
                    while (row.next() && rows.size() < JOBS_MAX) {
                        if (!operator && row.getInt(6) != uid) {
                            return DENIED;
                        }
                        rows.add(new Object[] {row.getInt(1), row.getLong(2), row.getInt(3)});
                        resources.add(over.isEmpty() ? "" : tres(book, row.getString(7), over));
                        names.add(row.getInt(4) + "\t" + row.getLong(5));
                    }
                }
                if (rows.isEmpty()) {
                    return NOTHING;
                }
                if (change.commit()) {
                    write(on, columns(change), rows, resources, !over.isEmpty());
                    rows.forEach(r -> store.edited().add((int) r[0], (long) r[1], (int) r[2]));
                }
                return new Changed(names, List.of(), List.of(), List.of(), 0);
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
    }

    /** Writes the columns, and the resources of each row, into the rows with these keys. */
    private static void write(
            Connection connection,
            Map<String, Object> columns,
            List<Object[]> keys,
            List<String> resources,
            boolean tres)
            throws SQLException {
        List<String> names = new ArrayList<>(columns.keySet());
        if (tres) {
            names.add("tres_allocated");
        }
        String sets =
                String.join(", ", names.stream().map(k -> "\"" + k + "\" = ?").toList());
        String update =
                "update \"job\" set " + sets + " where \"cluster_key\" = ? and \"sluid\" = ? and \"restarts\" = ?";
        try (PreparedStatement set = connection.prepareStatement(update)) {
            for (int i = 0; i < keys.size(); i++) {
                List<Object> values = new ArrayList<>(columns.values());
                if (tres) {
                    values.add(resources.get(i));
                }
                bound(bound(set, values, 0), List.of(keys.get(i)), values.size());
                set.addBatch();
            }
            set.executeBatch();
        }
    }

    private static PreparedStatement bound(PreparedStatement statement, List<Object> values, int from)
            throws SQLException {
        for (int i = 0; i < values.size(); i++) {
            statement.setObject(from + i + 1, values.get(i));
        }
        return statement;
    }

    private static String where(Change change, List<Object> values) {
        List<String> all = new ArrayList<>(List.of("\"submit_time\" > 0"));
        String clusters = change.where().getOrDefault("cluster", "");
        all.add("\"cluster_key\" in (select \"id\" from \"projection\" where \"cluster\" in (" + marks(clusters, values)
                + "))");
        for (Map.Entry<String, String> entry : change.where().entrySet()) {
            switch (entry.getKey()) {
                case "jobid" ->
                    all.add("("
                            + String.join(
                                    " or ",
                                    Stream.of(entry.getValue().split(","))
                                            .map(id -> "(" + named(id, values) + ")")
                                            .toList())
                            + ")");
                case "account" -> all.add("\"account\" in (" + marks(entry.getValue(), values) + ")");
                case "user" -> all.add("\"user_name\" in (" + marks(entry.getValue(), values) + ")");
                case "wckey" -> all.add("\"wckey\" in (" + marks(entry.getValue(), values) + ")");
                case "starttime" -> {
                    all.add("\"start_time\" >= ?");
                    values.add(secondsOr(Long.MAX_VALUE, entry.getValue()));
                }
                case "endtime" -> {
                    all.add("\"end_time\" < ?");
                    values.add(secondsOr(0, entry.getValue()));
                }
                default -> {}
            }
        }
        return " where " + String.join(" and ", all);
    }

    /** A time in seconds since 1970; for a text that is none, a bound that no job meets. */
    private static long secondsOr(long unmet, String text) {
        return text.matches("\\d{1,12}") ? Long.parseLong(text) : unmet;
    }

    /**
     * A job id stands for a job, all tasks of an array or all components of a heterogeneous job; {@code 12_3} and
     * {@code 12+1} for one of them.
     */
    private static String named(String id, List<Object> values) {
        Optional<JobSelector> selector = JobSelector.of(id, "");
        if (selector.isEmpty()) {
            return "false";
        }
        JobSelector job = selector.get();
        if (job.sluid() >= 0) {
            values.addAll(List.of(Sluid.first(job.sluid()), Sluid.attempt(job.sluid())));
            return "\"sluid\" = ? and \"restarts\" = ?";
        }
        values.add(job.jobId());
        if (job.tasks().isPresent()) {
            List<Integer> tasks = new ArrayList<>();
            for (int t = job.tasks().get().next(0);
                    t >= 0 && tasks.size() < TASKS_MAX;
                    t = job.tasks().get().next(t + 1)) {
                tasks.add(t);
            }
            values.addAll(tasks);
            return "\"array_job_id\" = ? and \"array_task_id\" in ("
                    + String.join(", ", tasks.stream().map(t -> "?").toList()) + ")";
        }
        if (job.offset() >= 0) {
            values.add(job.offset());
            return "\"het_job_id\" = ? and \"het_offset\" = ?";
        }
        values.addAll(List.of(job.jobId(), job.jobId()));
        return "(\"job_id\" = ? or \"array_job_id\" = ? or \"het_job_id\" = ?)";
    }

    private static String marks(String list, List<Object> values) {
        List<String> out = new ArrayList<>();
        for (String word : list.split(",")) {
            out.add("?");
            values.add(word);
        }
        return String.join(", ", out);
    }
}
