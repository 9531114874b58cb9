package dev.muster.accounting.table;

import dev.muster.daemon.DaemonLog;
import dev.muster.journal.Directories;
import dev.muster.json.Json;
import dev.muster.model.format.Sluid;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Rows of the past leave the tables, and go to files before where that is wanted. A file holds a row in each line, as
 * JSON by the names of its columns; it is safe on disk before a row of it is deleted.
 */
public final class Purge {
    /** The first line of every file. */
    static final String MAGIC = "muster-archive";

    private static final Pattern AFTER =
            Pattern.compile("(\\d{1,6})\\s*(hours?|days?|months?)?", Pattern.CASE_INSENSITIVE);
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT);
    /** Rows of one file and one transaction, where MaxPurgeLimit says nothing smaller. */
    private static final int ROWS_MAX = 50_000;
    /** How long ArchiveScript may take. */
    private static final int SCRIPT_S = 600;

    /**
     * One kind of rows.
     *
     * @param variable of the environment of ArchiveScript, after SLURM_ARCHIVE_
     * @param table here; {@code file} in a file's name, as the original calls it
     * @param when the column that says when the row was over; 0 in it: not yet
     * @param keys of the table
     */
    record Kind(String word, String variable, String table, String file, String when, String start, List<String> keys) {
        boolean ofCluster() {
            return keys.contains("cluster_key");
        }
    }

    static final List<Kind> KINDS = List.of(
            new Kind(
                    "Job",
                    "JOBS",
                    "job",
                    "job_table",
                    "end_time",
                    "start_time",
                    List.of("cluster_key", "sluid", "restarts")),
            new Kind(
                    "Step",
                    "STEPS",
                    "step",
                    "step_table",
                    "end_time",
                    "start_time",
                    List.of("cluster_key", "sluid", "restarts", "step_id")),
            new Kind(
                    "Event",
                    "EVENTS",
                    "node_event",
                    "event_table",
                    "end_time",
                    "start_time",
                    List.of("cluster_key", "seq", "item")),
            new Kind(
                    "Resv",
                    "RESVS",
                    "reservation",
                    "resv_table",
                    "end_time",
                    "start_time",
                    List.of("cluster_key", "name", "start_time")),
            new Kind("TXN", "TXN", "txn", "txn_table", "time", "time", List.of("id")));

    private final AccountingStore store;
    private final DaemonLog log;

    public Purge(AccountingStore store, DaemonLog log) {
        this.store = store;
        this.log = log;
    }

    /** Up to when rows are old: whole hours, days or months ago. Empty if the text says nothing of the kind. */
    static OptionalLong before(String after, ZonedDateTime now) {
        Matcher matcher = AFTER.matcher(after.strip());
        if (!matcher.matches() || Integer.parseInt(matcher.group(1)) == 0) {
            return OptionalLong.empty();
        }
        int count = Integer.parseInt(matcher.group(1));
        String unit = matcher.group(2) == null
                ? "m"
                : matcher.group(2).toLowerCase(Locale.ROOT).substring(0, 1);
        ZonedDateTime then = switch (unit) {
            case "h" -> now.truncatedTo(ChronoUnit.HOURS).minusHours(count);
            case "d" -> now.truncatedTo(ChronoUnit.DAYS).minusDays(count);
            default -> now.truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1).minusMonths(count);
        };
        return OptionalLong.of(then.toEpochSecond());
    }

    /** The key of slurmdbd.conf that says whether rows of the kind go to a file. */
    static String archiveKey(Kind kind) {
        return "Archive" + (kind.word.equals("TXN") ? "TXN" : kind.word + "s");
    }

    /**
     * Does what the keys say.
     *
     * @param setting values of slurmdbd.conf's keys
     * @throws IOException if a file cannot be written: its rows stay
     */
    public synchronized void run(UnaryOperator<String> setting, ZoneId zone) throws IOException {
        ZonedDateTime now = ZonedDateTime.now(zone);
        int limit = ROWS_MAX;
        if (setting.apply("MaxPurgeLimit").matches("[1-9]\\d{0,5}")) {
            limit = Math.min(limit, Integer.parseInt(setting.apply("MaxPurgeLimit")));
        }
        texts(setting, now);
        Map<Kind, Long> due = new LinkedHashMap<>();
        for (Kind kind : KINDS) {
            before(setting.apply("Purge" + kind.word + "After"), now).ifPresent(before -> due.put(kind, before));
        }
        boolean byScript = !setting.apply("ArchiveScript").isEmpty();
        if (byScript) {
            script(setting, due);
        }
        for (Map.Entry<Kind, Long> one : due.entrySet()) {
            Kind kind = one.getKey();
            Path directory = archives(setting, kind) && !byScript ? Path.of(setting.apply("ArchiveDir")) : null;
            if (directory != null && !Files.isDirectory(directory)) {
                throw new IOException("there is no directory " + directory + " for archives");
            }
            for (Map.Entry<Integer, String> of : places(kind).entrySet()) {
                int gone;
                do {
                    gone = some(kind, of.getKey(), of.getValue(), one.getValue(), limit, directory, zone);
                } while (gone == limit);
            }
        }
    }

    /** PurgeJobScriptAfter and PurgeJobEnvAfter: the jobs stay, without what they were submitted with. */
    private void texts(UnaryOperator<String> setting, ZonedDateTime now) {
        for (String kind : List.of("Script", "Env")) {
            OptionalLong before = before(setting.apply("PurgeJob" + kind + "After"), now);
            if (before.isEmpty()) {
                continue;
            }
            String column = "\"" + (kind.equals("Env") ? "environment" : "script") + "_hash\"";
            try {
                store.writer().execute(c -> {
                    String condition = "exists (select 1 from \"job\" j where j.\"cluster_key\" = "
                            + "\"job_text\".\"cluster_key\" and mod(j.\"sluid\", "
                            + Sluid.sized(0, 1) + ") = \"job_text\".\"sluid\"";
                    // of each of its attempts
                    try (PreparedStatement clear = c.prepareStatement(
                            "update \"job_text\" set " + column + " = '' where " + column + " <> '' and " + condition
                                    + ") and not " + condition + " and (j.\"end_time\" = 0 or j.\"end_time\" >= ?))")) {
                        clear.setLong(1, before.getAsLong());
                        if (clear.executeUpdate() > 0) {
                            forgetContents(c);
                        }
                    }
                });
            } catch (SQLException e) {
                throw AccountingStore.failed("write to", e);
            }
        }
    }

    private static void forgetContents(Connection connection) throws SQLException {
        try (Statement s = connection.createStatement()) {
            s.executeUpdate("delete from \"text_content\" where not exists (select 1 from \"job_text\" t where "
                    + "t.\"cluster_key\" = "
                    + "\"text_content\".\"cluster_key\" and (t.\"script_hash\" = \"text_content\".\"hash\" "
                    + "or t.\"environment_hash\" = "
                    + "\"text_content\".\"hash\"))");
        }
    }

    private static boolean archives(UnaryOperator<String> setting, Kind kind) {
        return setting.apply(archiveKey(kind)).equalsIgnoreCase("yes");
    }

    /**
     * Runs ArchiveScript instead of writing files. The rows that it is called with are deleted after it succeeds.
     *
     * @throws IOException if it fails: all rows stay
     */
    private void script(UnaryOperator<String> setting, Map<Kind, Long> due) throws IOException {
        boolean any = due.entrySet().stream()
                .anyMatch(e -> archives(setting, e.getKey())
                        && places(e.getKey()).keySet().stream()
                                .anyMatch(place ->
                                        !old(e.getKey(), place, e.getValue(), 1).isEmpty()));
        if (!any) {
            return;
        }
        ProcessBuilder run = new ProcessBuilder(setting.apply("ArchiveScript"))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        for (Kind kind : KINDS) {
            Long before = archives(setting, kind) ? due.get(kind) : null;
            run.environment().put("SLURM_ARCHIVE_" + kind.variable, before == null ? "0" : "1");
            if (before != null) {
                run.environment().put("SLURM_ARCHIVE_LAST_" + kind.word.toUpperCase(Locale.ROOT), before.toString());
            }
        }
        for (String none : List.of("SUSPEND", "USAGE")) {
            run.environment().put("SLURM_ARCHIVE_" + none, "0");
        }
        run.environment().put("SLURM_CONF", System.getenv().getOrDefault("SLURM_CONF", ""));
        Process process = run.start();
        process.getOutputStream().close();
        try {
            if (!process.waitFor(SCRIPT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException("ArchiveScript " + setting.apply("ArchiveScript") + " has not ended within "
                        + SCRIPT_S + " s: nothing is purged");
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("ArchiveScript was interrupted: nothing is purged", e);
        }
        if (process.exitValue() != 0) {
            throw new IOException("ArchiveScript " + setting.apply("ArchiveScript") + " ended with "
                    + process.exitValue() + ": nothing is purged");
        }
    }

    /** Journals by number with their clusters; one without a name for what belongs to none. */
    private Map<Integer, String> places(Kind kind) {
        return kind.ofCluster() ? store.clusters() : Map.of(0, "");
    }

    private int some(
            Kind kind, int place, String cluster, long before, int limit, @Nullable Path directory, ZoneId zone)
            throws IOException {
        List<Json.Obj> rows = old(kind, place, before, limit);
        if (rows.isEmpty()) {
            return 0;
        }
        if (directory != null) {
            write(kind, cluster, rows, before, directory, zone);
        }
        try {
            store.writer().execute(c -> {
                delete(c, kind, rows);
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
        log.info("purged " + rows.size() + " rows of " + (cluster.isEmpty() ? "" : cluster + "'s ") + kind.file
                + (directory == null ? "" : ", kept in " + directory));
        return rows.size();
    }

    private List<Json.Obj> old(Kind kind, int place, long before, int limit) {
        String sql = "select * from \"" + kind.table + "\" where \"" + kind.when + "\" > 0 and \"" + kind.when
                + "\" < ?" + (kind.ofCluster() ? " and \"cluster_key\" = ?" : "") + " order by \"" + kind.when
                + "\" limit " + limit;
        return kind.ofCluster()
                ? store.rows(sql, Purge::object, before, place)
                : store.rows(sql, Purge::object, before);
    }

    private static Json.Obj object(ResultSet row) throws SQLException {
        Json.Obj out = new Json.Obj();
        for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
            String name = row.getMetaData().getColumnLabel(i);
            // made of others by the database itself
            if (name.equals("last_time")) {
                continue;
            }
            out.put(
                    name,
                    switch (row.getObject(i)) {
                        case Number n -> n.longValue();
                        case Boolean flag -> flag;
                        case null, default -> row.getString(i);
                    });
        }
        return out;
    }

    private static void write(Kind kind, String cluster, List<Json.Obj> rows, long before, Path directory, ZoneId zone)
            throws IOException {
        long first = rows.stream().mapToLong(r -> r.number(kind.start)).min().orElse(0);
        String name = (cluster.isEmpty() ? "slurm" : cluster) + "_" + kind.file + "_archive_"
                + STAMP.format(Instant.ofEpochSecond(first).atZone(zone))
                + "_" + STAMP.format(Instant.ofEpochSecond(before).atZone(zone));
        Path target = directory.resolve(name);
        for (int n = 2; Files.exists(target); n++) {
            target = directory.resolve(name + "." + n);
        }
        Path part = Files.createTempFile(
                directory,
                ".archive",
                "",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            try (BufferedWriter out = Files.newBufferedWriter(part)) {
                out.write(MAGIC + " 1 " + kind.table + " " + cluster + "\n");
                for (Json.Obj row : rows) {
                    out.write(new String(Json.print(row), java.nio.charset.StandardCharsets.UTF_8));
                    out.write('\n');
                }
            }
            try (var channel = java.nio.channels.FileChannel.open(part, java.nio.file.StandardOpenOption.WRITE)) {
                channel.force(true);
            }
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
            Directories.sync(directory);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private void delete(Connection connection, Kind kind, List<Json.Obj> rows) throws SQLException {
        String where = String.join(
                " and ", kind.keys.stream().map(k -> "\"" + k + "\" = ?").toList());
        try (PreparedStatement delete =
                connection.prepareStatement("delete from \"" + kind.table + "\" where " + where)) {
            for (Json.Obj row : rows) {
                for (int i = 0; i < kind.keys.size(); i++) {
                    delete.setObject(i + 1, row.raw(kind.keys.get(i)));
                }
                delete.addBatch();
            }
            delete.executeBatch();
        }
        if (kind.table.equals("job")) {
            try (Statement texts = connection.createStatement()) {
                texts.executeUpdate(
                        "delete from \"job_text\" where not exists (select 1 from \"job\" j where j.\"cluster_key\" = "
                                + "\"job_text\".\"cluster_key\" and mod(j.\"sluid\", " + Sluid.sized(0, 1)
                                + ") = \"job_text\".\"sluid\")");
                forgetContents(connection);
            }
        }
    }

    // ---- and back

    public static boolean wrote(String text) {
        return text.startsWith(MAGIC + " ");
    }

    /**
     * Brings the rows of a file back to where they were.
     *
     * @throws IllegalArgumentException if it is none of these files, or of another cluster
     */
    public void load(String text) {
        List<String> lines = text.lines().toList();
        String[] head = lines.getFirst().split(" ", 4);
        Kind kind = KINDS.stream()
                .filter(k -> head.length > 2 && head[1].equals("1") && k.table.equals(head[2]))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("it is of another version: " + lines.getFirst()));
        List<Json.Obj> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            Json.Obj row = Json.object(line.getBytes(java.nio.charset.StandardCharsets.UTF_8));
            if (kind.ofCluster()
                    && !store.clusters()
                            .getOrDefault(row.integer("cluster_key"), "")
                            .equals(head.length > 3 ? head[3] : "")) {
                throw new IllegalArgumentException(
                        "its rows are of a cluster or a journal that this database does not know");
            }
            rows.add(row);
        }
        try {
            store.writer().execute(c -> {
                for (Json.Obj row : rows) {
                    insert(c, kind, row);
                }
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
    }

    private void insert(Connection connection, Kind kind, Json.Obj row) throws SQLException {
        Map<String, Object> values = new TreeMap<>(row.fields());
        List<String> known = new ArrayList<>();
        try (PreparedStatement none = connection.prepareStatement("select * from \"" + kind.table + "\" where 1 = 0");
                ResultSet columns = none.executeQuery()) {
            for (int i = 1; i <= columns.getMetaData().getColumnCount(); i++) {
                known.add(columns.getMetaData().getColumnLabel(i));
            }
        }
        if (!known.containsAll(values.keySet())) {
            throw new IllegalArgumentException("a row has columns that the table " + kind.table + " has not");
        }
        UnaryOperator<String> quoted = name -> "\"" + name + "\"";
        String sql = store.database()
                .dialect()
                .merge(
                        kind.table,
                        String.join(", ", values.keySet().stream().map(quoted).toList()),
                        String.join(", ", kind.keys.stream().map(quoted).toList()),
                        "?" + ", ?".repeat(values.size() - 1));
        try (PreparedStatement merge = connection.prepareStatement(sql)) {
            int i = 1;
            for (Object value : values.values()) {
                merge.setObject(i++, value);
            }
            merge.executeUpdate();
        }
    }
}
