package dev.muster.accounting.db;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Tables of Slurm's own slurmdbd in a database, which are not read here: a site would find empty lists beside its
 * history.
 */
public final class ForeignTables {
    /**
     * Each database of Slurm has these; with {@code jobcomp_table} alone it is one that job completion is written to.
     */
    private static final List<String> OF_SLURM =
            List.of("acct_table", "cluster_table", "table_defs_table", "user_table");

    private static final String JOBS = "_job_table";
    private static final String OWN = "schema_version";

    private ForeignTables() {}

    private static List<String> names(Connection connection) throws SQLException {
        List<String> out = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select table_name from information_schema.tables where table_schema = database()")) {
            while (row.next()) {
                out.add(row.getString(1));
            }
        }
        return out;
    }

    /**
     * @throws SQLException with a sentence that says what to do, where Slurm's tables are there and none of this
     *     program's
     */
    public static void refuse(Connection connection, Database.Dialect dialect) throws SQLException {
        if (dialect == Database.Dialect.MARIADB) {
            refuse(names(connection), connection.getCatalog());
        }
    }

    public static void refuse(List<String> names, String database) throws SQLException {
        List<String> foreign =
                names.stream().filter(OF_SLURM::contains).sorted().toList();
        if (foreign.isEmpty() || names.contains(OWN)) {
            return;
        }
        TreeSet<String> clusters = new TreeSet<>();
        names.stream()
                .filter(n -> n.endsWith(JOBS))
                .forEach(n -> clusters.add(n.substring(0, n.length() - JOBS.length())));
        throw new SQLException(
                "StorageLoc=" + database + " holds the tables of Slurm's own slurmdbd (" + String.join(", ", foreign)
                        + (clusters.isEmpty() ? "" : "; jobs of " + String.join(", ", clusters))
                        + "), which are not read here. Name another database in "
                        + "StorageLoc, which is made where it is missing. Accounts, users and limits come over by "
                        + "'sacctmgr dump' with Slurm's slurmdbd and "
                        + "'sacctmgr load' with this one; the history of jobs stays with Slurm's");
    }
}
