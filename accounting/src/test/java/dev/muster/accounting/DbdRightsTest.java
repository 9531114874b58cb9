package dev.muster.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.db.Database;
import dev.muster.accounting.dbd.DbdApi;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.config.SlurmdbdConf;
import dev.muster.config.key.ConfigError;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.EventRow;
import dev.muster.model.accounting.AccountingRows.InstanceRow;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.ReservationRow;
import dev.muster.model.api.MessageRights;
import dev.muster.model.api.MessageRights.Need;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The table of messages to slurmdbd, cell by cell: each as each kind of user, under each word of PrivateData, and
 * change by change.
 */
class DbdRightsTest {
    /** Accounts that every system has. */
    private enum Who {
        STRANGER(3),
        OWNER(2),
        COORDINATOR(5),
        COORDINATOR_OF_ANOTHER(6),
        OPERATOR(7),
        ADMINISTRATOR(8),
        SLURM_USER(1),
        ROOT(0);

        private final int uid;

        Who(int uid) {
            this.uid = uid;
        }

        boolean isAtLeast(Who other) {
            return ordinal() >= other.ordinal();
        }
    }

    private static final String MARK = "hushed";

    private static Path file;
    private static AccountingStore store;
    private static volatile SlurmdbdConf conf;
    private static DbdApi api;

    @BeforeAll
    static void start() throws IOException {
        file = Files.createTempFile("slurmdbd", ".conf");
        hide("");
        store = AccountingStore.on(Database.inMemory("rights"));
        api = new DbdApi(
                store,
                new AssocTreeStore(store, 1),
                () -> conf,
                Who.SLURM_USER.uid,
                new Identities(),
                new DaemonLog("slurmdbd", "", false, 0, ""),
                () -> {},
                () -> {});
        for (String line : List.of(
                "add cluster name=c",
                "add account name=lab",
                "add account name=sub set parent=lab",
                "add account name=other",
                "add user name=bin account=lab wckey=" + MARK,
                "add user name=games account=lab",
                "add user name=man account=other",
                "add user name=sys account=other",
                "add user name=lp account=other set adminlevel=operator",
                "add user name=mail account=other set adminlevel=admin",
                "add coordinator name=games account=lab",
                "add coordinator name=man account=other",
                "add qos name=q")) {
            Reply reply = ask(Who.ROOT, "Change", change(line, true));
            assertThat(Json.object(reply.body()).list("error")).as(line).isEmpty();
        }
        JobRow job = Codec.bind(
                new Json.Obj()
                        .put("sluid", 1L)
                        .put("jobId", 1L)
                        .put("account", "lab")
                        .put("wckey", MARK)
                        .put("userId", 2L)
                        .put("userName", "bin")
                        .put("jobName", MARK)
                        .put("name", MARK)
                        .put("state", "COMPLETED")
                        .put("submitTime", 3000L)
                        .put("eligibleTime", 3600L)
                        .put("startTime", 3600L)
                        .put("endTime", 7200L)
                        .put("qos", "normal")
                        .put("cpusAllocated", 2L)
                        .put("tresAllocated", "cpu=2"),
                JobRow.class);
        store.projection("c", "j")
                .write(List.of(new Batch(
                        1,
                        List.of(job),
                        List.of(),
                        List.of(new EventRow("c", "n1", 3700, "DOWN", MARK, "0", "cpu=4", "")),
                        List.of(),
                        List.of(),
                        List.of(new ReservationRow(MARK, 3600, 1L << 34, "n[1-2]", "", "", "", "cpu=4", false)),
                        List.of(new InstanceRow("c", "n1", 3700, MARK, "t", "e")))));
    }

    @AfterAll
    static void stop() throws IOException {
        store.close();
        Files.delete(file);
    }

    private static void hide(String words) throws IOException {
        Files.writeString(
                file,
                "DbdHost=localhost\nSlurmUser=daemon\nStorageType=accounting_storage/embedded\nStorageLoc=/none\n"
                        + "TrackWCKey=yes\n"
                        + (words.isEmpty() ? "" : "PrivateData=" + words + "\n"));
        List<ConfigError> errors = new ArrayList<>();
        conf = SlurmdbdConf.read(file.toFile(), errors);
        assertThat(errors).isEmpty();
    }

    private static Reply ask(Who who, String message, Json.Obj body) {
        return api.handle(new Caller(who.uid, who.uid), message.split(" ")[0], Json.print(body));
    }

    private static String text(Reply reply) {
        return new String(reply.body(), StandardCharsets.UTF_8);
    }

    /** {@code verb entity where… set…}: words with = after the word "set" are settings. */
    private static Json.Obj change(String line, boolean commit) {
        String[] word = line.split(" ");
        Json.Obj where = new Json.Obj();
        Json.Obj set = new Json.Obj();
        Json.Obj to = where;
        for (int i = 2; i < word.length; i++) {
            if (word[i].equals("set")) {
                to = set;
            } else {
                to.put(word[i].substring(0, word[i].indexOf('=')), word[i].substring(word[i].indexOf('=') + 1));
            }
        }
        return new Json.Obj()
                .put("verb", word[0])
                .put("entity", word[1])
                .put("set", set)
                .put("where", where)
                .put("commit", commit);
    }

    private static Map<String, Json.Obj> bodies() {
        Map<String, Json.Obj> out = new TreeMap<>();
        for (String message : MessageRights.accounting().keySet()) {
            String[] words = message.split(" ");
            switch (words[0]) {
                case "Show" -> out.put(message, new Json.Obj().put("entity", words[1]));
                case "Report" ->
                    out.put(
                            message,
                            new Json.Obj().put("kind", words[1]).put("from", 0L).put("to", 14_400L));
                default -> {}
            }
        }
        for (String message : List.of(
                "Ping",
                "EndRunaways",
                "RollUsage",
                "ClearStats",
                "LoadArchive",
                "DumpArchive",
                "Reconfigure",
                "Shutdown",
                "ReadRow",
                "Append",
                "Sync")) {
            out.put(message, new Json.Obj());
        }
        out.put("QueryAccounting", new Json.Obj().put("allUsers", true));
        out.put(
                "Register",
                new Json.Obj().put("cluster", "far").put("journal", "far").put("external", true));
        Json.Obj one = change("modify user name=bin account=lab set MaxJobs=7", false);
        out.put("Change", one);
        out.put("ChangeAll", new Json.Obj().put("changes", new ArrayList<Object>(List.of(one))));
        out.put("Change modify job", change("modify job jobid=1 cluster=c set comment=x", false));
        return out;
    }

    /** What the words of the table mean, of something that is the owner's. */
    private static boolean may(Need need, Who who) {
        return switch (need) {
            case ANYBODY -> true;
            case COORDINATOR -> who == Who.COORDINATOR || who.isAtLeast(Who.OPERATOR);
            // of jobs that are over coordinators change nothing, as in the original
            case OWNER -> who == Who.OWNER || who.isAtLeast(Who.OPERATOR);
            case OPERATOR -> who.isAtLeast(Who.OPERATOR);
            case ADMINISTRATOR -> who.isAtLeast(Who.ADMINISTRATOR);
            case DAEMON -> who.isAtLeast(Who.SLURM_USER);
            case SELF, SELF_OR_OPERATOR, OWNER_ALONE, OPERATOR_OR_NAMED, SLURM_USER, MAKER ->
                throw new AssertionError("nothing of slurmdbd's");
        };
    }

    /** Whether it was for want of the right to; any other mistake is none of ours here. */
    private static boolean isDenied(Reply reply) {
        Json.Obj tree = Json.object(reply.body());
        int errno = tree.has("errno") ? tree.integer("errno") : 0;
        return errno == SlurmErrno.ACCESS_DENIED.number()
                || errno == SlurmErrno.USER_ID_MISSING.number()
                || tree.has("error")
                        && tree.fields().get("error") instanceof List<?> l
                        && l.toString().contains("privilege");
    }

    @Test
    void everyDbdMessageIsInTheRightsTable() {
        assertThat(bodies().keySet()).isEqualTo(MessageRights.accounting().keySet());
        assertThat(veiled().stream().map(v -> v.message + " " + v.word).toList())
                .containsExactlyInAnyOrderElementsOf(MessageRights.accounting().entrySet().stream()
                        .flatMap(e -> e.getValue().hiddenBy().stream().map(w -> e.getKey() + " " + w))
                        .toList());
    }

    @TestFactory
    Stream<DynamicTest> everyCell() {
        List<DynamicTest> cells = new ArrayList<>();
        MessageRights.accounting().forEach((message, rule) -> {
            for (Who who : Who.values()) {
                cells.add(DynamicTest.dynamicTest(message + " by " + who + ", which needs " + rule.need(), () -> {
                    Reply reply = ask(who, message, bodies().get(message));
                    assertThat(isDenied(reply)).as(text(reply)).isEqualTo(!may(rule.need(), who));
                }));
            }
        });
        return cells.stream();
    }

    // ---- changes

    /** Each kind of change, and the least that makes it. */
    private static Map<String, Who> changes() {
        Map<String, Who> out = new LinkedHashMap<>();
        for (String line : List.of(
                "add qos name=x",
                "modify qos name=q set GrpJobs=3",
                "delete qos name=q",
                "add cluster name=d",
                "delete cluster name=c",
                "clean cluster name=c",
                "add resource name=r server=s set count=3 servertype=f type=license",
                "modify resource name=r server=s set count=4",
                "delete resource name=r server=s",
                "add user name=eve account=lab set adminlevel=admin",
                "modify user name=bin set adminlevel=operator")) {
            out.put(line, Who.ADMINISTRATOR);
        }
        for (String line : List.of(
                "modify cluster name=c set GrpJobs=2",
                "delete account name=sub",
                "add account name=new",
                "modify account name=lab set description=x",
                "modify user name=bin set defaultaccount=lab",
                "modify user name=bin account=lab cluster=c set rawusage=0",
                "add user name=eve account=lab set adminlevel=operator")) {
            out.put(line, Who.OPERATOR);
        }
        for (String line : List.of(
                "add account name=new set parent=lab",
                "modify account name=sub set GrpJobs=3",
                "add user name=eve account=sub",
                "modify user name=bin account=lab set MaxJobs=2",
                "delete user name=bin account=lab",
                "add coordinator name=bin account=sub",
                "delete coordinator name=games account=lab")) {
            out.put(line, Who.COORDINATOR);
        }
        return out;
    }

    @TestFactory
    Stream<DynamicTest> everyChange() {
        List<DynamicTest> cells = new ArrayList<>();
        changes().forEach((line, least) -> {
            for (Who who : Who.values()) {
                cells.add(DynamicTest.dynamicTest(line + " by " + who, () -> {
                    Reply reply = ask(who, "Change", change(line, false));
                    boolean may = least == Who.COORDINATOR ? may(Need.COORDINATOR, who) : who.isAtLeast(least);
                    assertThat(isDenied(reply)).as(text(reply)).isEqualTo(!may);
                }));
            }
        });
        return cells.stream();
    }

    // ---- PrivateData

    /** @param sees the callers that see the mark though the word hides it from others */
    private record Veiled(String message, String word, String mark, Set<Who> sees) {}

    private static List<Veiled> veiled() {
        Set<Who> ours = Set.of(Who.OWNER, Who.COORDINATOR);
        return List.of(
                new Veiled("Show account", "accounts", "\"lab\"", Set.of(Who.COORDINATOR)),
                new Veiled("Show user", "users", "\"bin\"", Set.of(Who.OWNER)),
                new Veiled("Show coordinator", "users", "\"games\"", Set.of(Who.COORDINATOR)),
                new Veiled("Show association", "users", "\"bin\"", ours),
                new Veiled("Show wckey", "users", MARK, Set.of()),
                new Veiled("Show event", "events", MARK, Set.of()),
                new Veiled("Show instance", "events", MARK, Set.of()),
                new Veiled("Show reservation", "reservations", MARK, Set.of()),
                new Veiled("Report reservations", "reservations", MARK, Set.of()),
                new Veiled("QueryAccounting", "jobs", MARK, ours),
                new Veiled("Report sizes", "jobs", "7200", ours),
                new Veiled("Report accounts", "usage", "\"bin\"", ours),
                new Veiled("Report wckeys", "usage", "\"bin\"", ours),
                new Veiled("Report qos", "usage", "\"QOS\"", ours));
    }

    @TestFactory
    Stream<DynamicTest> everyWordOfPrivateData() {
        List<DynamicTest> cells = new ArrayList<>();
        for (Veiled v : veiled()) {
            for (Who who : Who.values()) {
                cells.add(DynamicTest.dynamicTest(v.message + " for " + who + " with PrivateData=" + v.word, () -> {
                    hide("");
                    assertThat(text(ask(who, v.message, bodies().get(v.message))))
                            .as("without PrivateData")
                            .contains(v.mark);
                    hide(v.word);
                    assertThat(text(ask(who, v.message, bodies().get(v.message)))
                                    .contains(v.mark))
                            .isEqualTo(who.isAtLeast(Who.OPERATOR) || v.sees.contains(who));
                    hide("");
                }));
            }
        }
        return cells.stream();
    }
}
