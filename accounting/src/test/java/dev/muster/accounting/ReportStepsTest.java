package dev.muster.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.dbd.DbdApi;
import dev.muster.accounting.dbd.PrivateData;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.accounting.table.Reports;
import dev.muster.config.SlurmdbdConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.EventRow;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.DbdMessages.Report;
import dev.muster.transport.Caller;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The use of a cluster in steps is what is said of each of them alone. */
class ReportStepsTest {
    private static final long NOW = 40 * 3600;

    private static JobRow job(Random random, int id) {
        long submit = random.nextInt((int) NOW);
        long start = random.nextInt(4) == 0 ? 0 : submit + random.nextInt(20_000);
        long end = start == 0 || random.nextInt(5) == 0 ? 0 : start + random.nextInt(30_000);
        return Codec.bind(
                new Json.Obj()
                        .put("sluid", (long) id)
                        .put("jobId", (long) id)
                        .put("account", "lab")
                        .put("userName", "bin")
                        .put("userId", 2L)
                        .put("state", end > 0 ? "COMPLETED" : start > 0 ? "RUNNING" : "PENDING")
                        .put("submitTime", submit)
                        .put("eligibleTime", submit)
                        .put("startTime", start)
                        .put("endTime", end)
                        .put("cpusRequested", 2L)
                        .put("cpusAllocated", start > 0 ? 2L : 0L)
                        .put("tresAllocated", start > 0 ? "cpu=2,mem=100" : ""),
                JobRow.class);
    }

    @Test
    void reportStepsEqualSingleReports() throws IOException {
        Random random = new Random(7);
        List<JobRow> jobs = new ArrayList<>();
        for (int i = 1; i <= 60; i++) {
            jobs.add(job(random, i));
        }
        AccountingStore store = AccountingStore.on(Database.inMemory("steps"));
        store.projection("c", "j")
                .write(List.of(new Batch(
                        1,
                        jobs,
                        List.of(),
                        List.of(
                                new EventRow("c", "", 9000, "UP", "", "0", "cpu=40,mem=9000", "n[1-10]"),
                                new EventRow("c", "n1", 30_000, "DOWN", "r", "0", "cpu=4,mem=900", "")),
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of())));
        Reports reports = new Reports(store);
        AssocTreeStore books = new AssocTreeStore(store, 1);
        Path file = Files.createTempFile("slurmdbd", ".conf");
        Files.writeString(
                file, "DbdHost=localhost\nSlurmUser=root\nStorageType=accounting_storage/embedded\nStorageLoc=/none\n");
        SlurmdbdConf conf = SlurmdbdConf.read(file.toFile(), new ArrayList<>());
        Files.delete(file);
        DbdApi api = new DbdApi(
                store,
                books,
                () -> conf,
                0,
                new Identities(),
                new DaemonLog("slurmdbd", "", false, 0, ""),
                () -> {},
                () -> {});
        api.handle(
                new Caller(0, 0),
                "Change",
                "{\"verb\":\"add\",\"entity\":\"cluster\",\"set\":{},\"where\":{\"name\":\"c\"},\"commit\":true}"
                        .getBytes(StandardCharsets.UTF_8));
        AssocTree book = books.book();
        for (long step : List.of(3600L, 7200L, 86_400L)) {
            List<Map<String, String>> alone = new ArrayList<>();
            for (long at = 0; at < NOW; at += step) {
                long from = at;
                answer(reports, book, from, Math.min(NOW, from + step), 0).forEach(row -> {
                    Map<String, String> named = new LinkedHashMap<>(row);
                    named.put("From", Long.toString(from));
                    alone.add(named);
                });
            }
            assertThat(alone).isNotEmpty();
            assertThat(answer(reports, book, 0, NOW, step)).isEqualTo(alone);
        }
        store.close();
    }

    private static List<Map<String, String>> answer(Reports reports, AssocTree book, long from, long to, long step) {
        return reports.answer(
                        new Report(Report.UTILIZATION, List.of("c"), from, to, Map.of(), step),
                        book,
                        new PrivateData("", book, 0, "root", true),
                        false,
                        NOW)
                .orElseThrow();
    }
}
