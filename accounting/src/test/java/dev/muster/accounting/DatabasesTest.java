package dev.muster.accounting;

import static dev.muster.accounting.SampleRows.job;
import static dev.muster.accounting.SampleRows.query;
import static dev.muster.accounting.SampleRows.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.muster.accounting.book.Changes;
import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.PassScript;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.accounting.table.InstanceTable;
import dev.muster.accounting.table.PackedRows;
import dev.muster.accounting.table.Projection;
import dev.muster.accounting.table.Purge;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.Answer;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.Content;
import dev.muster.model.accounting.AccountingRows.EventRow;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.AccountingRows.TextRow;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.PackedAnswer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The same promises on the embedded database and on real servers, MariaDB and PostgreSQL. */
class DatabasesTest {
    @TempDir
    private static Path dir;

    private static MariaDbServer server;
    private static PostgresServer postgres;
    private static int names;

    @BeforeAll
    static void startServer() throws Exception {
        if (MariaDbServer.missing().isEmpty()) {
            server = MariaDbServer.start(dir);
        }
        if (PostgresServer.missing().isEmpty()) {
            postgres = PostgresServer.start();
        }
    }

    @AfterAll
    static void stopServer() throws Exception {
        if (server != null) {
            server.close();
        }
        if (postgres != null) {
            postgres.close();
        }
    }

    private static Database database(String kind, String name) {
        if (kind.equals("mariadb")) {
            assumeTrue(server != null, () -> MariaDbServer.missing().orElse(""));
            return server.database(name);
        }
        if (kind.equals("postgresql")) {
            assumeTrue(postgres != null, () -> PostgresServer.missing().orElse(""));
            return postgres.database(name);
        }
        return Database.inMemory(name);
    }

    private static Database encrypted(String kind, String parameters, Database.Secret password) {
        boolean maria = kind.equals("mariadb");
        int port = maria ? server.port() : postgres.port();
        Database.Server to = new Database.Server(
                "127.0.0.1",
                port,
                "",
                maria ? "tls" : "muster",
                password,
                maria ? "tls" : "postgres",
                parameters.replace("DIR", (maria ? server.certificates() : postgres.certificates()).toString()));
        return maria ? Database.mariaDb(to) : Database.postgreSql(to);
    }

    private static String value(Database database, String select, int column) throws Exception {
        try (java.sql.Connection c = database.open();
                java.sql.Statement s = c.createStatement();
                java.sql.ResultSet r = s.executeQuery(select)) {
            return r.next() ? r.getString(column) : "";
        }
    }

    /**
     * StorageParameters: connections are encrypted with its certificates and cipher; a server that the authority did
     * not sign is refused.
     */
    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "postgresql"})
    void connectionsAreEncrypted(String kind) throws Exception {
        database(kind, "postgres").open().close();
        String cipher = "select cipher from pg_stat_ssl where pid = pg_backend_pid()";
        Database.Secret password = () -> "pw";
        if (kind.equals("mariadb")) {
            cipher = "show status like 'Ssl_cipher'";
            try (java.sql.Connection c = server.database("tls").open();
                    java.sql.Statement s = c.createStatement()) {
                s.execute("create user 'tls'@'127.0.0.1' identified by 'pw' require x509");
                s.execute("grant all on tls.* to 'tls'@'127.0.0.1'");
            }
        } else {
            password = PostgresServer::password;
        }
        int column = kind.equals("mariadb") ? 2 : 1;
        String client = ",SSL_CERT=DIR/client.pem,SSL_KEY=DIR/client.key";
        assertThat(value(encrypted(kind, "SSL_CA=DIR/ca.pem" + client, password), cipher, column))
                .contains("AES");
        assertThat(value(encrypted(kind, client, password), cipher, column)).contains("AES");
        assertThat(value(
                        encrypted(kind, "SSL_CA=DIR/ca.pem,SSL_CIPHER=ECDHE-RSA-AES128-GCM-SHA256" + client, password),
                        cipher,
                        column))
                .isEqualTo("ECDHE-RSA-AES128-GCM-SHA256");
        Path other = java.nio.file.Files.createDirectories(dir.resolve("other-" + kind));
        Certificates.make(other);
        Database wrong = encrypted(kind, "SSL_CAPATH=" + other + client, password);
        assertThatThrownBy(wrong::open)
                .isInstanceOf(java.sql.SQLException.class)
                .rootCause()
                .hasMessageContaining("trust anchors");
        if (kind.equals("mariadb")) {
            Database nobody = encrypted(kind, "SSL_CA=DIR/ca.pem", password);
            assertThatThrownBy(nobody::open)
                    .isInstanceOf(java.sql.SQLException.class)
                    .hasMessageContaining("Access denied");
        } else {
            assertThat(value(
                            encrypted(kind, "SSL_CA=DIR/ca.pem" + client, password),
                            "select client_dn from pg_stat_ssl where pid = pg_backend_pid()",
                            1))
                    .isEqualTo("/CN=client");
        }
    }

    /** What a node runs on ends when it runs on something else or on nothing; sent again it changes nothing. */
    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void nodeInstanceEndsWhenItsNodeRunsOnAnother(String kind) {
        AccountingStore store = AccountingStore.on(database(kind, fresh()));
        Projection p = store.projection("c", "j");
        List<Batch> batches =
                List.of(instance(1, 100, "i-1", "large"), instance(2, 200, "i-2", "small"), instance(3, 300, "", ""));
        p.write(batches);
        p.write(batches);
        assertThat(InstanceTable.of(store, 0, 0).stream()
                        .map(r -> r.get("InstanceId") + " " + r.get("InstanceType") + " " + r.get("TimeStart") + "-"
                                + r.get("TimeEnd")))
                .containsExactly("i-1 large 100-200", "i-2 small 200-300");
        assertThat(InstanceTable.of(store, 250, 400)).hasSize(1);
        assertThat(InstanceTable.of(store, 0, 150)).hasSize(1);
        store.close();
    }

    private static Batch instance(long seq, long time, String id, String type) {
        return new Batch(
                seq,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(new dev.muster.model.accounting.AccountingRows.InstanceRow("c", "n1", time, id, type, "")));
    }

    /** StorageBackupHost: a second server is asked where the first is not there. */
    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "postgresql"})
    void backupStorageHostIsUsedWhenTheFirstIsAway(String kind) throws Exception {
        database(kind, "postgres").open().close();
        boolean maria = kind.equals("mariadb");
        if (maria) {
            try (java.sql.Connection c = server.database("tls").open();
                    java.sql.Statement s = c.createStatement()) {
                s.execute("create user if not exists 'two'@'127.0.0.1' identified by 'pw'");
                s.execute("grant all on tls.* to 'two'@'127.0.0.1'");
            }
        }
        Database.Server to = new Database.Server(
                "127.0.0.2,127.0.0.1",
                maria ? server.port() : postgres.port(),
                "",
                maria ? "two" : "muster",
                maria ? "pw" : PostgresServer.password(),
                maria ? "tls" : "postgres");
        assertThat(value(maria ? Database.mariaDb(to) : Database.postgreSql(to), "select 1", 1))
                .isEqualTo("1");
    }

    /**
     * StoragePassScript is asked with words about the server; what it said is used until its time is over, and after
     * that while it fails.
     */
    @Test
    void aProgramSaysThePassword() throws Exception {
        Path script = dir.resolve("pass.sh");
        java.nio.file.Files.writeString(
                script,
                "#!/bin/sh\necho asked >> " + dir + "/asked\n[ -e " + dir + "/fail ] && exit 1\n"
                        + "echo some words\necho "
                        + "TOKEN=$SLURM_STORAGE_HOSTNAME:$SLURM_STORAGE_PORT:$SLURM_STORAGE_USER\n");
        script.toFile().setExecutable(true);
        PassScript lasting = new PassScript("StoragePassScript", script.toString(), "db", 3306, "slurm", 300);
        assertThat(lasting.password()).isEqualTo("db:3306:slurm").isEqualTo(lasting.password());
        assertThat(java.nio.file.Files.readAllLines(dir.resolve("asked"))).hasSize(1);
        PassScript brief = new PassScript("StoragePassScript", script.toString(), "db", 3306, "slurm", 0);
        brief.password();
        java.nio.file.Files.writeString(dir.resolve("fail"), "");
        assertThat(brief.password()).isEqualTo("db:3306:slurm");
        assertThat(java.nio.file.Files.readAllLines(dir.resolve("asked"))).hasSize(3);
        assertThatThrownBy(() -> new PassScript("StoragePassScript", script.toString(), "db", 1, "u", 0).password())
                .hasMessage("StoragePassScript failed");
    }

    private static String fresh() {
        return "t" + ++names;
    }

    private static List<String> shown(AccountingStore store, Query q) {
        List<String> out = new ArrayList<>();
        store.jobs(
                q,
                j -> out.add(j.cluster() + ":" + j.job().jobId() + ":" + j.job().state()));
        return out;
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void rowsOfSeveralClustersStayApart(String kind) {
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            Projection a = store.projection("a", "j1");
            Projection b = store.projection("b", "j2");
            a.write(List.of(new Batch(5, List.of(job(1, "RUNNING", 0), job(2, "COMPLETED", 30)), List.of(step(2)))));
            b.write(List.of(new Batch(3, List.of(job(1, "PENDING", 0)), List.of())));
            assertThat(shown(store, query(false)))
                    .containsExactlyInAnyOrder("a:1:RUNNING", "a:2:COMPLETED", "b:1:PENDING");
            assertThat(shown(store, query(false, "b"))).containsExactly("b:1:PENDING");
            assertThat(shown(store, query(false, "nowhere"))).isEmpty();
            List<JobWithSteps> found = new ArrayList<>();
            store.jobs(query(false, "a"), found::add);
            assertThat(found.get(1)).isEqualTo(new JobWithSteps(job(2, "COMPLETED", 30), List.of(step(2)), "a"));
            assertThat(a.step(2, 0, -5)).contains(step(2));
            assertThat(b.step(2, 0, -5)).isEmpty();
        }
    }

    /**
     * PurgeJobScriptAfter and PurgeJobEnvAfter remove scripts and environments of jobs that are long over, unless
     * another job has the same.
     */
    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void scriptsMayGoBeforeTheirJobs(String kind) throws Exception {
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            Projection a = store.projection("a", "j1");
            a.write(List.of(new Batch(
                    1,
                    List.of(job(1, "COMPLETED", 30), job(2, "RUNNING", 0), job(3, "COMPLETED", 30)),
                    List.of(),
                    List.of(),
                    List.of(new TextRow(1, "s", "e"), new TextRow(2, "s", "e"), new TextRow(3, "t", "e")),
                    List.of(new Content("s", "cw=="), new Content("t", "dA=="), new Content("e", "ZQ==")))));
            Purge purge =
                    new Purge(store, new dev.muster.daemon.DaemonLog("slurmdbd", dir + "/purge.log", false, 5, ""));
            Map<String, String> settings = new java.util.HashMap<>(Map.of("PurgeJobScriptAfter", "1hour"));
            purge.run(key -> settings.getOrDefault(key, ""), java.time.ZoneId.of("UTC"));
            assertThat(texts(store, "a", Query.SCRIPT)).containsExactlyInAnyOrder("", "cw==", "");
            assertThat(texts(store, "a", Query.ENVIRONMENT)).containsExactly("ZQ==", "ZQ==", "ZQ==");
            assertThat(store.rows("select \"hash\" from \"text_content\" order by \"hash\"", row -> row.getString(1)))
                    .containsExactly("e", "s");
            settings.put("PurgeJobEnvAfter", "1hour");
            purge.run(key -> settings.getOrDefault(key, ""), java.time.ZoneId.of("UTC"));
            assertThat(texts(store, "a", Query.ENVIRONMENT)).containsExactlyInAnyOrder("", "ZQ==", "");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void scriptsAndEnvironmentsAreKeptOnceEach(String kind) {
        String large = "QUJD".repeat(1 << 19);
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            Projection a = store.projection("a", "j1");
            a.write(List.of(
                    new Batch(
                            1,
                            List.of(job(1, "PENDING", 0), job(2, "PENDING", 0), job(3, "PENDING", 0)),
                            List.of(),
                            List.of(),
                            List.of(new TextRow(1, "s", "e"), new TextRow(2, "s", "")),
                            List.of(new Content("s", large), new Content("e", "QT0xAA=="))),
                    new Batch(2, List.of(), List.of(), List.of(), List.of(), List.of(new Content("s", large)))));
            // another cluster's job of the same number has a script of its own
            store.projection("b", "j2")
                    .write(List.of(new Batch(
                            1,
                            List.of(job(1, "PENDING", 0)),
                            List.of(),
                            List.of(),
                            List.of(new TextRow(1, "s", "")),
                            List.of(new Content("s", "b3RoZXI=")))));
            assertThat(texts(store, "a", Query.SCRIPT)).containsExactly(large, large, "");
            assertThat(texts(store, "a", Query.ENVIRONMENT)).containsExactly("QT0xAA==", "", "");
            assertThat(texts(store, "a", "")).containsExactly("", "", "");
            assertThat(texts(store, "b", Query.SCRIPT)).containsExactly("b3RoZXI=");
            Answer asked = store.answer(withText(query(false, "a"), Query.SCRIPT), 9, "a");
            assertThat(asked.withTextsOf(1000, false).jobs().getFirst().text()).isEqualTo(large);
            assertThat(asked.withTextsOf(1001, false).jobs().getFirst().text()).isEmpty();
            assertThat(asked.withTextsOf(1001, true).jobs().getFirst().text()).isEqualTo(large);
        }
    }

    /** Whole jobs, each once, whatever the size of a part; of the rows only what was asked for. */
    @ParameterizedTest
    @CsvSource({"embedded, 1", "embedded, 4", "mariadb, 4", "postgresql, 4", "embedded, 7", "embedded, 1000"})
    void anAnswerComesInParts(String kind, int rows) {
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            List<JobRow> jobs = new ArrayList<>();
            List<StepRow> steps = new ArrayList<>();
            for (int id = 1; id <= 20; id++) {
                jobs.add(job(id, "COMPLETED", 30));
                steps.add(step(id));
            }
            store.projection("a", "j1").write(List.of(new Batch(1, jobs, steps)));
            // the same numbers again in another cluster: two rows of each
            store.projection("b", "j2").write(List.of(new Batch(1, jobs.subList(0, 5), steps.subList(0, 5))));
            for (boolean duplicates : List.of(true, false)) {
                List<JobWithSteps> parts = new ArrayList<>();
                int asked = 0;
                for (int from = 0; asked == 0 || from > 0; asked++) {
                    Answer part = store.answer(
                            only(query(duplicates), "nodes", "usage").page(from, rows), 9, "a");
                    parts.addAll(part.jobs());
                    from = part.next();
                }
                assertThat(parts)
                        .extracting(
                                p -> p.cluster() + p.job().jobId() + p.steps().size())
                        .containsExactlyElementsOf(store.answer(query(duplicates), 9, "a").jobs().stream()
                                .map(p -> p.cluster()
                                        + p.job().jobId()
                                        + p.steps().size())
                                .toList());
                assertThat(parts).allSatisfy(p -> {
                    assertThat(p.job().nodes()).isEqualTo("n1");
                    assertThat(p.job().name()).isEmpty();
                    assertThat(p.steps().getFirst().usage()).isEqualTo(step(1).usage());
                    assertThat(p.steps().getFirst().name()).isEmpty();
                });
                assertThat(asked).isGreaterThanOrEqualTo(25 / rows / 2);
            }
        }
    }

    /** What a reader of a packed answer sees, as the trees of the same answer's records. */
    private static List<String> unpacked(byte[] answer) {
        PackedAnswer.Reader r = new PackedAnswer.Reader(answer);
        List<String> out = new ArrayList<>();
        while (r.advance()) {
            out.add(r.jobCluster() + " " + Codec.bind(Json.parse(Json.print(r.job())), JobRow.class)
                    + r.steps().stream()
                            .map(s -> Codec.bind(Json.parse(Json.print(s)), StepRow.class))
                            .toList());
        }
        out.add("next " + r.next());
        return out;
    }

    private static List<String> records(Answer answer) {
        List<String> out = new ArrayList<>();
        answer.jobs().forEach(j -> out.add(j.cluster() + " " + j.job() + j.steps()));
        out.add("next " + answer.next());
        return out;
    }

    /**
     * Attempts, sizes, jobs of several journals and clusters, rows in another order than that of the numbers, and jobs
     * without steps.
     */
    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void aPackedAnswerHasTheSameRows(String kind) {
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            List<JobRow> jobs = new ArrayList<>();
            List<StepRow> steps = new ArrayList<>();
            for (int id = 1; id <= 40; id++) {
                // the row's own number says nothing about the job's
                int jobId = 1 + id * 7 % 20;
                JobRow j = job(id, id % 3 == 0 ? AccountingStore.RESIZING : "COMPLETED", 30 + id);
                jobs.add(Codec.bind(
                        ((Json.Obj) Json.parse(Codec.encode(j)))
                                .put("jobId", (long) jobId)
                                .put("submitTime", (long) id % 4),
                        JobRow.class));
                for (int s = 0; s < id % 4; s++) {
                    steps.add(Codec.bind(
                            ((Json.Obj) Json.parse(Codec.encode(step(id))))
                                    .put("stepId", (long) (s * 5 % 4))
                                    .put("startTime", (long) s % 2),
                            StepRow.class));
                }
            }
            store.projection("a", "j1").write(List.of(new Batch(1, jobs, steps)));
            store.projection("a", "j2").write(List.of(new Batch(1, jobs.subList(0, 9), steps.subList(0, 9))));
            store.projection("b", "j3").write(List.of(new Batch(1, jobs.subList(5, 20), steps.subList(3, 8))));
            for (boolean duplicates : List.of(true, false)) {
                for (Query q : List.of(
                        query(duplicates),
                        query(duplicates, "b"),
                        only(query(duplicates, "a", "b"), "nodes", "usage", "exit"),
                        only(query(duplicates), "jobId").page(0, 1000),
                        query(duplicates, "nowhere"),
                        only(query(duplicates), "name").page(0, 10),
                        only(query(duplicates), "name").page(8, 12))) {
                    byte[] packed = store.packed(q, 9, "a", PackedRows.Numbers.NONE);
                    Answer answer = store.answer(q.limit() == 0 && !q.fields().isEmpty() ? q.page(0, 1000) : q, 9, "a");
                    assertThat(unpacked(packed))
                            .as("duplicates " + duplicates + " " + q.clusters() + q.fields() + q.limit())
                            .containsExactlyElementsOf(records(answer));
                }
            }
        }
    }

    /** An association's number is the book's; that of an archive's row is its own. */
    @Test
    void packedRowsHaveNumbers() {
        try (AccountingStore store = AccountingStore.on(database("embedded", fresh()))) {
            store.projection("a", "j1")
                    .write(List.of(new Batch(
                            1,
                            List.of(
                                    job(1, "COMPLETED", 30),
                                    job(2, "COMPLETED", 30).numbered(5, 6)),
                            List.of())));
            PackedRows.Numbers book = new PackedRows.Numbers() {
                @Override
                public int association(String cluster, String account, String user, String partition) {
                    return (cluster + account + user + partition).equals("aacctudebug") ? 77 : -1;
                }

                @Override
                public int wckey(String cluster, String user, String key) {
                    return (cluster + user + key).equals("au") ? 88 : -1;
                }
            };
            for (Query q : List.of(query(false), only(query(false), "assocId", "wckeyId"))) {
                PackedAnswer.Reader r = new PackedAnswer.Reader(store.packed(q, 9, "a", book));
                List<String> seen = new ArrayList<>();
                while (r.advance()) {
                    seen.add(r.job().number("assocId") + "/" + r.job().number("wckeyId"));
                }
                assertThat(seen).containsExactly("77/88", "5/6");
            }
        }
    }

    private static Query only(Query q, String... fields) {
        return new Query(
                q.jobs(),
                q.userIds(),
                true,
                q.groupIds(),
                q.accounts(),
                q.partitions(),
                q.qos(),
                q.names(),
                q.nodes(),
                q.states(),
                q.wckeys(),
                q.reasons(),
                0,
                0,
                q.duplicates(),
                false,
                0,
                0,
                0,
                0,
                0,
                0,
                q.clusters(),
                "",
                "",
                "",
                List.of(fields),
                0,
                0,
                false);
    }

    private static Query withText(Query q, String text) {
        return new Query(
                q.jobs(),
                q.userIds(),
                true,
                q.groupIds(),
                q.accounts(),
                q.partitions(),
                q.qos(),
                q.names(),
                q.nodes(),
                q.states(),
                q.wckeys(),
                q.reasons(),
                0,
                0,
                false,
                false,
                0,
                0,
                0,
                0,
                0,
                0,
                q.clusters(),
                "",
                text);
    }

    private static List<String> texts(AccountingStore store, String cluster, String text) {
        List<String> out = new ArrayList<>();
        store.jobs(withText(query(false, cluster), text), j -> out.add(j.text()));
        return out;
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void aBatchCountsOnceAndTheSequenceIsItsOwn(String kind) {
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            Projection a = store.projection("a", "j1");
            a.write(List.of(new Batch(5, List.of(job(1, "COMPLETED", 30)), List.of())));
            a.write(List.of(
                    new Batch(5, List.of(job(1, "RUNNING", 0)), List.of()),
                    new Batch(7, List.of(job(2, "RUNNING", 0)), List.of())));
            assertThat(shown(store, query(false))).containsExactly("a:1:COMPLETED", "a:2:RUNNING");
            assertThat(store.projection("a", "j1").sequence()).isEqualTo(7);
            assertThat(store.projection("a", "other").sequence()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void aNewJournalEndsWhatTheOldOneLeftRunning(String kind) {
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            store.projection("a", "old").write(List.of(new Batch(1, List.of(job(1, "RUNNING", 0)), List.of())));
            Projection now = store.projection("a", "new");
            assertThat(store.endOrphans(now, "a", 99)).isEqualTo(1);
            now.write(List.of(new Batch(1, List.of(job(1, "PENDING", 0)), List.of())));
            assertThat(shown(store, query(true))).containsExactly("a:1:NODE_FAIL", "a:1:PENDING");
            assertThat(shown(store, query(false))).containsExactly("a:1:PENDING");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void eventsOfANodeFollowEachOther(String kind) {
        try (AccountingStore store = AccountingStore.on(database(kind, fresh()))) {
            AssocTreeStore books = new AssocTreeStore(store, 1);
            Projection a = store.projection("a", "j");
            a.write(List.of(new Batch(
                    1,
                    List.of(),
                    List.of(),
                    List.of(new EventRow("a", "n1", 10, "DRAIN", "broken fan", "0", "cpu=1", "")))));
            a.write(List.of(
                    new Batch(2, List.of(), List.of(), List.of(new EventRow("a", "n1", 50, "", "", "", "", "")))));
            List<Map<String, String>> events = books.events(0, 0);
            assertThat(events).hasSize(1);
            assertThat(events.getFirst())
                    .containsEntry("TimeStart", "10")
                    .containsEntry("TimeEnd", "50")
                    .containsEntry("Reason", "broken fan");
            assertThat(books.events(60, 0)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "mariadb", "postgresql"})
    void accountingBookSurvivesAReopen(String kind) {
        String name = fresh();
        try (AccountingStore store = AccountingStore.on(database(kind, name))) {
            AssocTreeStore books = new AssocTreeStore(store, 1);
            change(books, "add", "cluster", Map.of(), Map.of("name", "c1"));
            change(
                    books,
                    "add",
                    "account",
                    Map.of("description", "Dept. of 'Physics'", "GrpTRES", "cpu=4"),
                    Map.of("name", "phys"));
            change(books, "add", "user", Map.of(), Map.of("name", "ann", "account", "phys"));
            if (kind.equals("embedded")) {
                return;
            }
        }
        try (AccountingStore store = AccountingStore.on(database(kind, name))) {
            AssocTreeStore again = new AssocTreeStore(store, 2);
            assertThat(again.book().tree("c1"))
                    .extracting(a -> a.account() + "/" + a.user())
                    .containsExactly("root/", "root/root", "phys/", "phys/ann");
            assertThat(again.book().account("phys").orElseThrow().description()).isEqualTo("Dept. of 'Physics'");
            assertThat(again.transactions(0, 0))
                    .extracting(t -> t.get("Action"))
                    .contains("Add Clusters", "Add Accounts", "Add Users");
        }
    }

    private static void change(
            AssocTreeStore books, String verb, String entity, Map<String, String> set, Map<String, String> where) {
        Changed result = books.change(
                draft -> new Changes(draft, "root", true, new Change(verb, entity, set, where, true), 5).run(),
                r -> r.error().isEmpty());
        assertThat(result.error()).isEmpty();
    }

    /** The process that writes, for the test that kills it. */
    public static final class WriterProcess {
        private WriterProcess() {}

        public static void main(String[] args) {
            Database database = args[0].startsWith("/")
                    ? Database.mariaDb(new Database.Server("localhost", 0, args[0], "root", "", args[1]))
                    : PostgresServer.database(Integer.parseInt(args[0]), args[1]);
            AccountingStore store = AccountingStore.on(database);
            Projection p = store.projection("c", "j");
            for (long seq = p.sequence() + 1; ; seq++) {
                p.write(List.of(new Batch(seq, List.of(job((int) seq, "COMPLETED", 30)), List.of(step((int) seq)))));
                System.out.println(seq);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"mariadb, 1", "mariadb, 3", "postgresql, 1", "postgresql, 3"})
    void killedWriterLosesAndDoublesNoRow(String kind, int rounds) throws Exception {
        String name = fresh();
        database(kind, name).close();
        long acknowledged = 0;
        for (int round = 0; round < rounds; round++) {
            Process writer = new ProcessBuilder(
                            System.getProperty("java.home") + "/bin/java",
                            "-cp",
                            System.getProperty("java.class.path"),
                            WriterProcess.class.getName(),
                            kind.equals("mariadb") ? server.socket().toString() : Integer.toString(postgres.port()),
                            name)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (java.io.BufferedReader out = writer.inputReader()) {
                for (int i = 0; i < 50; i++) {
                    String line = out.readLine();
                    assertThat(line).isNotNull();
                    acknowledged = Long.parseLong(line);
                }
                // the handle kills and leaves the pipe to be read to its end
                writer.toHandle().destroyForcibly();
                for (String line = out.readLine(); line != null; line = out.readLine()) {
                    acknowledged = Long.parseLong(line);
                }
            }
            assertThat(writer.waitFor(20, TimeUnit.SECONDS)).isTrue();
        }
        try (AccountingStore store = AccountingStore.on(database(kind, name))) {
            long sequence = store.projection("c", "j").sequence();
            List<Integer> ids = new ArrayList<>();
            store.jobs(query(true), j -> {
                assertThat(j.steps()).hasSize(1);
                ids.add(j.job().jobId());
            });
            assertThat(sequence).isBetween(acknowledged, acknowledged + 1);
            assertThat(ids).hasSize((int) sequence).doesNotHaveDuplicates();
            assertThat(new TreeSet<>(ids).last()).isEqualTo((int) sequence);
        }
    }
}
