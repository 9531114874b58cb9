package dev.muster.accounting.table;

import dev.muster.accounting.db.Database;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.Content;
import dev.muster.model.accounting.AccountingRows.TextRow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Scripts and environments of jobs in the tables: which a job has, and each content once. */
final class JobTexts {
    private JobTexts() {}

    static void write(Connection connection, Database.Dialect dialect, int key, Batch batch) throws SQLException {
        for (Content c : batch.contents()) {
            if (!content(connection, key, c.hash()).isEmpty()) {
                continue;
            }
            try (PreparedStatement add = connection.prepareStatement(
                    "insert into \"text_content\" (\"cluster_key\", \"hash\", \"content\") values (?, ?, ?)")) {
                add.setInt(1, key);
                add.setString(2, c.hash());
                add.setString(3, c.base64());
                add.executeUpdate();
            }
        }
        if (batch.texts().isEmpty()) {
            return;
        }
        try (PreparedStatement merge = connection.prepareStatement(dialect.merge(
                "job_text",
                "\"cluster_key\", \"sluid\", \"script_hash\", \"environment_hash\"",
                "\"cluster_key\", \"sluid\"",
                "?, ?, ?, ?"))) {
            for (TextRow t : batch.texts()) {
                merge.setInt(1, key);
                merge.setLong(2, t.sluid());
                merge.setString(3, t.scriptHash());
                merge.setString(4, t.environmentHash());
                merge.addBatch();
            }
            merge.executeBatch();
        }
    }

    private static String content(Connection connection, int key, String hash) throws SQLException {
        try (PreparedStatement get = connection.prepareStatement(
                "select \"content\" from \"text_content\" where \"cluster_key\" = ? and \"hash\" = ?")) {
            get.setInt(1, key);
            get.setString(2, hash);
            try (ResultSet row = get.executeQuery()) {
                return row.next() ? row.getString(1) : "";
            }
        }
    }

    /** The script or the environment of a job, base64; "" if none was kept. */
    static String of(Connection connection, int key, long sluid, boolean script) throws SQLException {
        try (PreparedStatement get =
                connection.prepareStatement("select \"" + (script ? "script_hash" : "environment_hash")
                        + "\" from \"job_text\" where \"cluster_key\" = ? and \"sluid\" = ?")) {
            get.setInt(1, key);
            get.setLong(2, sluid);
            String hash;
            try (ResultSet row = get.executeQuery()) {
                hash = row.next() ? row.getString(1) : "";
            }
            return hash.isEmpty() ? "" : content(connection, key, hash);
        }
    }
}
