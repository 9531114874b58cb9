package dev.muster.accounting.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.muster.accounting.MariaDbServer;
import dev.muster.accounting.db.Database;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.JobRow;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** shows: JobCompLoc */
class JobCompletionTableTest {
    @Test
    void completionRowHasSlurmsNumbers(@TempDir Path directory) throws Exception {
        assumeTrue(
                MariaDbServer.missing().isEmpty(), () -> MariaDbServer.missing().orElse(""));
        JobRow row = Codec.bind(Json.object("""
                {"jobId":10,"userId":7,"userName":"u","groupName":"g","name":"nm","state":"FAILED","partition":"main",
                 "limitMin":10,
                "startTime":100,"endTime":101,"nodes":"n1","nodeCount":1,
                "cpusAllocated":2}""".getBytes(StandardCharsets.UTF_8)), JobRow.class);
        try (MariaDbServer server = MariaDbServer.start(directory);
                Database database = server.database("jc_db");
                JobCompletionTable table = new JobCompletionTable(database)) {
            table.write(row);
            table.write(row);
            String found = database.read(c -> {
                try (ResultSet r = c.createStatement().executeQuery("select * from jobcomp_table")) {
                    StringBuilder out = new StringBuilder();
                    while (r.next()) {
                        for (int i = 1; i <= 14; i++) {
                            out.append(r.getString(i)).append(' ');
                        }
                    }
                    return out.toString();
                }
            });
            assertThat(found).isEqualTo("10 7 u 0 g nm 5 main 10 100 101 n1 1 2 ");
        }
    }
}
