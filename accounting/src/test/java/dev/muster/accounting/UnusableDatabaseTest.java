package dev.muster.accounting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.ForeignTables;
import dev.muster.accounting.db.Migrations;
import dev.muster.accounting.table.AccountingStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnusableDatabaseTest {
    @TempDir
    Path directory;

    @Test
    void aDamagedFileIsNamedWithWhatToDo() throws Exception {
        Path file = directory.resolve("accounting.mv.db");
        Files.writeString(file, "no database at all ".repeat(1000));
        assertThatThrownBy(() -> AccountingStore.open(directory, UUID.randomUUID()))
                .hasMessageStartingWith("accounting: " + file + " is damaged (")
                .hasMessageContaining("Restore a copy of it, or move it away")
                .hasMessageNotContaining("[")
                .hasMessageNotContaining("jdbc:");
    }

    @Test
    void databaseFileIsReadableByItsOwnerOnly() throws Exception {
        Files.createFile(directory.resolve("accounting.mv.db"));
        Files.setPosixFilePermissions(
                directory.resolve("accounting.mv.db"), PosixFilePermissions.fromString("rw-rw-rw-"));
        for (Path place : List.of(directory, directory.resolve("fresh"))) {
            AccountingStore.open(place, UUID.randomUUID()).store().close();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(place.resolve("accounting.mv.db"))))
                    .isEqualTo("rw-------");
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("fresh"))))
                .isEqualTo("rwx------");
    }

    @Test
    void slurmsTablesAreRefused() {
        List<String> slurms = List.of(
                "acct_table",
                "cluster_table",
                "rig_job_table",
                "rig_step_table",
                "table_defs_table",
                "txn_table",
                "user_table");
        assertThatThrownBy(() -> ForeignTables.refuse(slurms, "slurm_acct_db"))
                .hasMessageStartingWith("StorageLoc=slurm_acct_db holds the tables of "
                        + "Slurm's own slurmdbd (acct_table, cluster_table, table_defs_table, user_table; "
                        + "jobs of rig), which are not read here.");
        assertThatCode(() -> ForeignTables.refuse(List.of("jobcomp_table"), "x"))
                .doesNotThrowAnyException();
        assertThatCode(() -> ForeignTables.refuse(List.of("acct_table", "schema_version"), "x"))
                .as("taken up before")
                .doesNotThrowAnyException();
    }

    /** slurmdbd -u */
    @Test
    void pendingMigrationsAreListedWithoutBeingApplied() {
        Database database = Database.embedded(directory);
        assertThat(AccountingStore.pending(database)).hasSize(Migrations.FILES.size());
        assertThat(directory.resolve("accounting.mv.db")).doesNotExist();
        AccountingStore.on(database).close();
        assertThat(AccountingStore.pending(Database.embedded(directory))).isEmpty();
    }
}
