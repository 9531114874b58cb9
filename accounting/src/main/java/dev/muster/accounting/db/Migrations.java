package dev.muster.accounting.db;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * Brings a database to the newest schema: numbered files, each applied once and never changed afterwards. Databases
 * commit with every change of a table, so a kill may leave a file half applied: what was done of it is noted after each
 * statement. The one statement that a kill may have left done but not noted is done again, and may then fail; not so
 * with PostgreSQL, where what is done is noted with it.
 */
public final class Migrations {
    public static final List<String> FILES = List.of(
            "V001__jobs_and_steps.sql",
            "V002__several_clusters.sql",
            "V003__components_and_licences.sql",
            "V004__whom_jobs_share_with.sql",
            "V005__scripts_and_environments.sql",
            "V006__energy_and_network.sql",
            "V007__containers_of_steps.sql",
            "V008__reservations_and_archives.sql",
            "V009__peaks_of_tasks.sql",
            "V010__instances_of_nodes.sql",
            "V011__segments_of_jobs.sql",
            "V012__what_became_of_jobs.sql",
            "V013__frequencies_of_steps.sql",
            "V014__suspended_steps.sql",
            "V015__file_systems_and_gpus.sql",
            "V016__requested_qos.sql");

    private Migrations() {}

    public static void apply(Connection connection, Database.Dialect dialect) throws SQLException {
        apply(connection, dialect, () -> {});
    }

    /**
     * Returns the migrations that {@link #apply} would run, without running them.
     *
     * @return files that would be applied; empty where the database is of the newest schema
     * @throws SQLException if it would refuse the database
     */
    public static List<String> pending(Connection connection, Database.Dialect dialect) throws SQLException {
        ForeignTables.refuse(connection, dialect);
        int applied = 0;
        try (ResultSet tables =
                connection.getMetaData().getTables(connection.getCatalog(), null, "schema_version", null)) {
            if (!tables.next()) {
                return FILES;
            }
        }
        try (Statement statement = connection.createStatement();
                ResultSet max =
                        statement.executeQuery("select coalesce(max(\"version\"), 0) from \"schema_version\"")) {
            max.next();
            applied = max.getInt(1);
        }
        return FILES.subList(Math.min(applied, FILES.size()), FILES.size());
    }

    /** @param moment called wherever a kill may come between two effects: a test throws there */
    public static void apply(Connection connection, Database.Dialect dialect, Runnable moment) throws SQLException {
        ForeignTables.refuse(connection, dialect);
        try (Statement statement = connection.createStatement()) {
            statement.execute(dialect.translated("create table if not exists \"schema_version\" "
                    + "(\"version\" int primary key, \"file\" varchar not null)"));
            int applied;
            String newest = "select coalesce(max(\"version\"), 0) from \"schema_version\"";
            try (ResultSet max = statement.executeQuery(newest)) {
                max.next();
                applied = max.getInt(1);
            }
            if (applied > FILES.size()) {
                throw new SQLException(
                        "the accounting database has schema " + applied + ", newer than the newest known here ("
                                + FILES.size() + "); it was written by a newer Muster");
            }
            for (int version = applied + 1; version <= FILES.size(); version++) {
                apply(connection, statement, version, dialect, moment);
            }
        }
        connection.commit();
    }

    private static void apply(
            Connection connection, Statement statement, int version, Database.Dialect dialect, Runnable moment)
            throws SQLException {
        String file = FILES.get(version - 1);
        statement.execute("create table if not exists \"schema_progress\" (\"version\" int primary key, \"statements\" "
                + "int not null)");
        int noted = -1;
        try (ResultSet row = statement.executeQuery(
                "select \"statements\" from \"schema_progress\" where \"version\" = " + version)) {
            if (row.next()) {
                noted = row.getInt(1);
            }
        }
        if (noted < 0) {
            statement.execute("insert into \"schema_progress\" values (" + version + ", 0)");
            connection.commit();
        }
        int number = 0;
        for (String sql : withoutComments(text(file)).split(";")) {
            if (sql.isBlank() || number++ < noted) {
                continue;
            }
            try {
                statement.execute(dialect.translated(sql));
            } catch (SQLException e) {
                if (number - 1 != noted || dialect.transactionalTables()) {
                    throw e;
                }
            }
            moment.run();
            statement.execute(
                    "update \"schema_progress\" set \"statements\" = " + number + " where \"version\" = " + version);
            connection.commit();
            moment.run();
        }
        statement.execute("insert into \"schema_version\" values (" + version + ", '" + file + "')");
        connection.commit();
    }

    private static String withoutComments(String sql) {
        return sql.replaceAll("(?m)^ *--.*$", "");
    }

    private static String text(String file) {
        try (InputStream in = Migrations.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("migration " + file + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
