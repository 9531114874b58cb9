package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.core.command.Command;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.api.MessageRights;
import dev.muster.model.api.MessageRights.Need;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The table of messages, cell by cell: each as each kind of user, and under each word of PrivateData, asked of a
 * slurmctld.
 */
class MessageRightsTest {
    /** Accounts that every system has, so that slurmctld knows them. */
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
    private static final int RUNNING = 1;
    private static final Identities IDENTITIES = new Identities();

    private static Path dir;
    private static Controller controller;
    private static String lines;
    private static int het;

    @BeforeAll
    static void start() throws IOException {
        dir = Files.createTempDirectory("rights");
        lines = "ClusterName=c\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=" + Site.freePort()
                + "\nSlurmUser=daemon\n"
                + "AuthType=auth/slurm\nAuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=" + dir + "/jwt.key\n"
                + "StateSaveLocation=" + dir + "/state\nSelectTypeParameters=CR_CORE_MEMORY\n"
                + "DefMemPerCPU=1\nScronParameters=enable\n"
                + "RebootProgram=/bin/true\nMaxNodeCount=10\nPriorityType=priority/multifactor\nNodeName=n[1-4] "
                + "CPUs=4 RealMemory=1000\n"
                + "PartitionName=p Nodes=ALL Default=YES\nPartitionName=q Nodes=n4\n";
        Path file = dir.resolve("slurm.conf");
        Files.writeString(file, lines);
        Path key = Files.write(dir.resolve("jwt.key"), new byte[64]);
        Files.setPosixFilePermissions(key, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        controller = new Controller(
                conf(file),
                file.toFile(),
                new DaemonLog("slurmctld", dir + "/log", false, 3, ""),
                () -> {},
                fault -> {});
        controller.start(true);
        for (String n : List.of("n1", "n2", "n3", "n4")) {
            controller
                    .core()
                    .execute(
                            new Command.RegisterNode(new NodeMessages.Register(
                                    n,
                                    "c",
                                    "boot",
                                    "v",
                                    System.currentTimeMillis() / 1000,
                                    new NodeMessages.Hardware(4, 1, 1, 4, 1, 1000, 0, "", "", "", 0),
                                    List.of(),
                                    "",
                                    "")),
                            -1);
        }
        controller.running().planner().connected("n1", true);
        controller.core().wake();
        controller
                .core()
                .execute(
                        new Command.ApplyPolicy(new Policy(
                                List.of(assoc(1, 0, "root", ""), assoc(2, 1, "lab", ""), assoc(3, 2, "lab", "bin")),
                                List.of(),
                                List.of(
                                        user(AdminLevel.NONE, "games", Who.COORDINATOR, "lab"),
                                        user(AdminLevel.NONE, "man", Who.COORDINATOR_OF_ANOTHER, "other"),
                                        user(AdminLevel.OPERATOR, "lp", Who.OPERATOR, ""),
                                        user(AdminLevel.ADMINISTRATOR, "mail", Who.ADMINISTRATOR, "")),
                                List.of())),
                        -1);
        assertThat(job(false)).isEqualTo(RUNNING);
        for (int i = 0; i < 100 && !runs(); i++) {
            pause();
        }
        assertThat(runs()).isTrue();
        ask(Who.OWNER, "CreateStep", step(RUNNING));
        // one that waits for a node, and one of two components
        submitted("Submit", submission(false, 4));
        het = submitted("SubmitHet", new Json.Obj().put("parts", list(submission(true, 1), submission(true, 1))));
        ask(Who.ROOT, "CreateReservation", reservation(MARK));
        ask(Who.SLURM_USER, "SetTrigger", bodies().get("SetTrigger").apply(0));
    }

    @AfterAll
    static void stop() throws IOException {
        controller.stop();
        try (Stream<Path> all = Files.walk(dir)) {
            all.sorted(java.util.Comparator.reverseOrder())
                    .forEach(p -> p.toFile().delete());
        }
    }

    private static SlurmConf conf(Path file) {
        return switch (SlurmConf.read(file.toFile())) {
            case SlurmConf.Parsed.Ok ok -> ok.conf();
            case SlurmConf.Parsed.Invalid bad ->
                throw new AssertionError(bad.errors().toString());
        };
    }

    private static AssocPolicy assoc(int id, int parent, String account, String user) {
        return new AssocPolicy(id, parent, account, user, "", true, Map.of(), List.of(), "");
    }

    private static UserPolicy user(AdminLevel level, String name, Who who, String coordinates) {
        return new UserPolicy(name, level, coordinates.isEmpty() ? List.of() : List.of(coordinates), who.uid);
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean runs() {
        return controller.core().durable().jobs().at(RUNNING).state().isActive();
    }

    private static Reply ask(Who who, String message, Json.Obj body) {
        return controller.api().handle(new Caller(who.uid, who.uid), message.split(" ")[0], Json.print(body));
    }

    private static Json.Obj submission(boolean held, int cpus) {
        return submission(Who.OWNER, held, cpus);
    }

    private static Json.Obj submission(Who owner, boolean held, int cpus) {
        int gid = IDENTITIES.byUid(owner.uid).orElseThrow().gid();
        JobDesc desc = Codec.bind(
                Json.object(("{\"kind\":\"BATCH\",\"name\":\"" + MARK + "\",\"owner\":{\"uid\":" + owner.uid
                                + ",\"gid\":" + gid
                                + "},\"charge\":{\"account\":\"lab\"},\"partition\":\"p\",\"timing\":{\"hold\":" + held
                                + "},\"payload\":{\"submitHost\":\"h\","
                                + "\"workDir\":\"/tmp\"},\"request\":{\"cpusPerTask\":" + cpus + "}}")
                        .getBytes(StandardCharsets.UTF_8)),
                JobDesc.class);
        return new Json.Obj().put("job", Json.object(Codec.encode(desc))).put("script", base64("#!/bin/sh\n"));
    }

    private static int submitted(String message, Json.Obj body) {
        return submitted(Who.OWNER, message, body);
    }

    private static int submitted(Who who, String message, Json.Obj body) {
        Reply reply = ask(who, message, body);
        assertThat(reply.status()).as(text(reply)).isEqualTo(200);
        return Json.object(reply.body()).integer("jobId");
    }

    /**
     * A job of the owner's.
     *
     * @return its number
     */
    private static int job(boolean held) {
        return submitted("Submit", submission(held, 1));
    }

    private static String base64(String text) {
        return java.util.Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(Reply reply) {
        return new String(reply.body(), StandardCharsets.UTF_8);
    }

    private static List<Object> list(Object... items) {
        return new ArrayList<>(List.of(items));
    }

    private static Json.Obj step(int job) {
        Json.Obj step = Json.object(Codec.encode(Codec.bind(new Json.Obj(), StepDesc.class)))
                .put("name", MARK)
                .put("arguments", list(base64("true")));
        return new Json.Obj().put("jobId", (long) job).put("step", step);
    }

    private static Json.Obj reservation(String name) {
        return new Json.Obj()
                .put("name", name)
                .put(
                        "values",
                        new Json.Obj()
                                .put("starttime", Long.toString(System.currentTimeMillis() / 1000 + 9000))
                                .put("duration", "60")
                                .put("nodecnt", "1")
                                .put("flags", "OVERLAP")
                                .put("users", "bin"));
    }

    private static Json.Obj of(int job) {
        return new Json.Obj().put("jobId", (long) job);
    }

    /** Returns each message's request, about a job of the owner's that waits. */
    private static Map<String, IntFunction<Json.Obj>> bodies() {
        Map<String, IntFunction<Json.Obj>> out = new TreeMap<>();
        for (String message : List.of(
                "Ping",
                "QueryTopology",
                "QueryBurstBuffers",
                "QueryBurstStatus",
                "QueryLicenses",
                "QueryConfig",
                "QueryDiagnostics",
                "QueryTriggers",
                "FetchConfig",
                "QueryAccounting",
                "QueryPriorities",
                "Follow",
                "QueryPlan",
                "QueryNodes",
                "QueryPartitions",
                "QueryReservations",
                "QueryShares",
                "QueryAssocMgr",
                "Reconfigure",
                "CreateHetStep")) {
            out.put(message, j -> new Json.Obj());
        }
        Json.Obj hardware = Json.object(Codec.encode(new NodeMessages.Hardware(4, 1, 1, 4, 1, 1000, 0, "", "", "", 0)));
        for (String message : List.of(
                "QueryScript",
                "TestJob",
                "AwaitAllocation",
                "AwaitSteps",
                "QueryUse",
                "QueryWhy",
                "ReadOutput",
                "CompleteAllocation")) {
            out.put(message, MessageRightsTest::of);
        }
        out.put(
                "QueryJobs",
                j -> new Json.Obj()
                        .put("jobs", list(Integer.toString(j)))
                        .put("allStates", true)
                        .put("allPartitions", true));
        out.put(
                "QuerySteps",
                j -> new Json.Obj().put("jobIds", list((long) RUNNING)).put("allUsers", true));
        out.put("QueryWhy", j -> of(j).put("task", -1L));
        out.put("QueryScript environment", j -> of(j).put("environment", true));
        out.put("QueryDiagnostics reset", j -> new Json.Obj().put("reset", true));
        out.put("ReadOutput", j -> of(j).put("stream", "stdout"));
        out.put("AwaitChange", j -> of(j).put("stepId", -1L));
        out.put("CreateStep", j -> step(RUNNING));
        out.put("CreateHetStep", j -> new Json.Obj().put("parts", list(step(het), step(het + 1))));
        out.put(
                "Submit",
                j -> new Json.Obj()
                        .put(
                                "job",
                                new Json.Obj()
                                        .put("kind", "BATCH")
                                        .put("owner", new Json.Obj().put("uid", 2L))
                                        .put("charge", new Json.Obj().put("account", "lab"))
                                        .put("payload", new Json.Obj().put("submitHost", "h")))
                        .put("script", base64("#!/bin/sh\n"))
                        .put("testOnly", true));
        out.put(
                "SubmitHet",
                j -> new Json.Obj()
                        .put(
                                "parts",
                                list(
                                        out.get("Submit").apply(j),
                                        out.get("Submit").apply(j))));
        out.put("SetCrontab", j -> new Json.Obj().put("userId", 2L));
        out.put("QueryCrontab", j -> new Json.Obj().put("userId", 2L));
        out.put("CreateToken", j -> new Json.Obj().put("user", "bin"));
        out.put(
                "Cancel",
                j -> new Json.Obj().put("jobs", list(Integer.toString(j))).put("signal", 9L));
        out.put(
                "UpdateJob",
                j -> new Json.Obj().put("job", Integer.toString(j)).put("changes", new Json.Obj().put("comment", "c")));
        for (String action :
                List.of("hold", "uhold", "release", "requeue", "requeuehold", "notify", "top", "suspend", "resume")) {
            out.put(
                    "JobAction " + action,
                    j -> new Json.Obj()
                            .put("jobs", list(Integer.toString(j)))
                            .put("action", action)
                            .put("argument", ""));
        }
        out.put("CreateReservation", j -> reservation("r" + j));
        out.put(
                "UpdateReservation",
                j -> new Json.Obj().put("name", MARK).put("values", new Json.Obj().put("duration", "70")));
        out.put("DeleteReservation", j -> {
            ask(Who.ROOT, "CreateReservation", reservation("d" + j));
            return new Json.Obj().put("name", "d" + j);
        });
        out.put("UpdateNode", j -> new Json.Obj().put("nodes", "n2").put("changes", new Json.Obj().put("weight", "2")));
        out.put("RebootNodes", j -> new Json.Obj().put("nodes", "n4"));
        out.put("CreateNodes", j -> new Json.Obj().put("line", "NodeName=x" + j + " CPUs=1"));
        out.put("DeleteNodes", j -> new Json.Obj().put("nodes", "n4"));
        out.put(
                "AssignNode",
                j -> new Json.Obj()
                        .put("hostname", "h")
                        .put("address", "h")
                        .put("port", 1L)
                        .put("hardware", hardware));
        out.put("SignCertificate", j -> new Json.Obj().put("node", "n1"));
        out.put(
                "UpdateSetting",
                j -> new Json.Obj().put("key", "fairsharedampeningfactor").put("value", "3"));
        out.put(
                "UpdatePartition",
                j -> new Json.Obj().put("partition", "p").put("changes", new Json.Obj().put("hidden", "NO")));
        out.put(
                "CreatePartition",
                j -> new Json.Obj().put("partition", "p" + j).put("values", new Json.Obj().put("nodes", "n4")));
        out.put("DeletePartition", j -> new Json.Obj().put("partition", "none"));
        out.put("Shutdown", j -> new Json.Obj().put("controllerOnly", true));
        out.put("Takeover", j -> new Json.Obj().put("index", 1L));
        out.put("SetDebug", j -> new Json.Obj().put("level", "info"));
        out.put(
                "SetTrigger",
                j -> new Json.Obj()
                        .put("events", list("up"))
                        .put("program", "/bin/true")
                        .put("permanent", true));
        out.put("ClearTriggers", j -> new Json.Obj().put("id", 1L).put("userId", -1L));
        return out;
    }

    /** Returns whether the words of the table grant the right to something that is the owner's. */
    private static boolean may(Need need, Who who) {
        return switch (need) {
            case ANYBODY -> true;
            case SELF, OWNER_ALONE -> who == Who.OWNER || who.isAtLeast(Who.SLURM_USER);
            case SELF_OR_OPERATOR -> who == Who.OWNER || who.isAtLeast(Who.OPERATOR);
            case OWNER, COORDINATOR -> who == Who.OWNER || who == Who.COORDINATOR || who.isAtLeast(Who.OPERATOR);
            case OPERATOR, OPERATOR_OR_NAMED -> who.isAtLeast(Who.OPERATOR);
            case ADMINISTRATOR -> who.isAtLeast(Who.ADMINISTRATOR);
            case SLURM_USER -> who == Who.SLURM_USER;
            case MAKER, DAEMON -> who.isAtLeast(Who.SLURM_USER);
        };
    }

    /** Tests whether a reply was refused for want of the right; any other mistake is none of ours here. */
    private static boolean isDenied(Reply reply) {
        Set<Integer> words = Set.of(SlurmErrno.ACCESS_DENIED.number(), SlurmErrno.USER_ID_MISSING.number());
        Json.Obj tree = Json.object(reply.body());
        return words.contains(tree.has("errno") ? tree.integer("errno") : 0)
                || tree.has("errors")
                        && tree.objects("errors").stream().anyMatch(e -> words.contains(e.integer("errno")));
    }

    @Test
    void everyMessageHasAHandlerAndARight() {
        assertThat(controller.api().answered())
                .isEqualTo(MessageRights.controller().keySet().stream()
                        .map(key -> key.split(" ")[0])
                        .collect(Collectors.toSet()));
    }

    @Test
    void everyControllerMessageIsInTheRightsTable() {
        assertThat(bodies().keySet()).isEqualTo(MessageRights.controller().keySet());
        assertThat(veiled().stream().map(v -> v.message + " " + v.word).toList())
                .containsExactlyInAnyOrderElementsOf(MessageRights.controller().entrySet().stream()
                        .flatMap(e -> e.getValue().hiddenBy().stream().map(w -> e.getKey() + " " + w))
                        .toList());
    }

    @Test
    void noOtherMessageIsAnswered() {
        assertThat(ask(Who.ROOT, "None", new Json.Obj()).status()).isEqualTo(404);
    }

    @TestFactory
    Stream<DynamicTest> everyCell() {
        List<DynamicTest> cells = new ArrayList<>();
        Map<String, IntFunction<Json.Obj>> bodies = bodies();
        MessageRights.controller().forEach((message, rule) -> {
            for (Who who : Who.values()) {
                cells.add(DynamicTest.dynamicTest(message + " by " + who + ", which needs " + rule.need(), () -> {
                    Reply reply = ask(who, message, bodies.get(message).apply(job(true)));
                    assertThat(isDenied(reply)).as(text(reply)).isEqualTo(!may(rule.need(), who));
                }));
            }
        });
        return cells.stream();
    }

    /** Returns the requests about one's own things: a job of one's own that waits, one's own crontab and token. */
    private static Map<String, Json.Obj> own(Who who, int job) {
        Map<String, Json.Obj> out = new TreeMap<>();
        bodies().forEach((message, body) -> {
            switch (MessageRights.controller().get(message).need()) {
                case SELF, SELF_OR_OPERATOR, OWNER_ALONE, OWNER -> out.put(message, body.apply(job));
                case ANYBODY, COORDINATOR, OPERATOR_OR_NAMED, OPERATOR, ADMINISTRATOR, SLURM_USER, MAKER, DAEMON -> {}
            }
        });
        out.put("CreateStep", step(job));
        out.put("CreateHetStep", new Json.Obj().put("parts", list(step(job), step(job))));
        out.put("Submit", submission(who, true, 1));
        out.put("SubmitHet", new Json.Obj().put("parts", list(submission(who, true, 1), submission(who, true, 1))));
        for (String crontab : List.of("SetCrontab", "QueryCrontab")) {
            out.put(crontab, new Json.Obj().put("userId", (long) who.uid));
        }
        out.put("CreateToken", new Json.Obj());
        return out;
    }

    @TestFactory
    Stream<DynamicTest> everyCellOfOnesOwn() {
        List<DynamicTest> cells = new ArrayList<>();
        for (Who who : Who.values()) {
            for (String message : own(who, 0).keySet()) {
                cells.add(DynamicTest.dynamicTest(message + " by " + who + " of what is his own", () -> {
                    int job = submitted(who, "Submit", submission(who, true, 1));
                    Reply reply = ask(who, message, own(who, job).get(message));
                    assertThat(isDenied(reply)).as(text(reply)).isFalse();
                }));
            }
        }
        return cells.stream();
    }

    // ---- PrivateData

    /** @param sees the callers that see MARK, or what stands for it, though the word hides it from others */
    private record Veiled(String message, String word, String mark, Json.Obj body, List<Who> sees) {}

    private static List<Veiled> veiled() {
        List<Who> ours = List.of(Who.OWNER, Who.COORDINATOR);
        Json.Obj all = new Json.Obj().put("jobs", list()).put("allStates", true).put("allPartitions", true);
        return List.of(
                new Veiled("QueryJobs", "jobs", MARK, all, ours),
                new Veiled("QuerySteps", "jobs", MARK, new Json.Obj().put("allUsers", true), ours),
                new Veiled("QueryAccounting", "jobs", MARK, new Json.Obj().put("allUsers", true), ours),
                new Veiled("QueryPriorities", "jobs", "\"lab\"", new Json.Obj(), ours),
                new Veiled("QueryWhy", "jobs", "\"says\"", of(RUNNING).put("task", -1L), ours),
                new Veiled("Follow", "jobs", MARK, new Json.Obj(), ours),
                new Veiled("Follow", "nodes", "\"n3\"", new Json.Obj(), List.of()),
                new Veiled("QueryPlan", "jobs", MARK, new Json.Obj().put("until", 1L << 40), ours),
                new Veiled("QueryPlan", "nodes", "\"n3\"", new Json.Obj(), List.of()),
                new Veiled("QueryNodes", "nodes", "\"n3\"", new Json.Obj(), List.of()),
                new Veiled("QueryPartitions", "partitions", "\"p\"", new Json.Obj(), List.of()),
                new Veiled("QueryReservations", "reservations", MARK, new Json.Obj(), List.of(Who.OWNER)),
                new Veiled("QueryShares", "usage", "\"bin\"", new Json.Obj(), ours),
                new Veiled("QueryAssocMgr", "users", "\"lp\"", new Json.Obj(), List.of()));
    }

    private static void hide(String word) {
        try {
            Files.writeString(dir.resolve("slurm.conf"), lines + (word.isEmpty() ? "" : "PrivateData=" + word + "\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(controller.reconfigure()).isEmpty();
    }

    /** Returns the request for the changes of a job and a node since they were as they were. */
    private static Json.Obj news(Json.Obj body) {
        String since =
                Json.object(ask(Who.ROOT, "Follow", new Json.Obj()).body()).text("revision");
        ask(
                Who.ROOT,
                "UpdateNode",
                new Json.Obj()
                        .put("nodes", "n3")
                        .put("changes", new Json.Obj().put("comment", "c" + System.nanoTime())));
        job(true);
        return body.put("since", since);
    }

    private static String shown(Veiled v, Who who) {
        return text(ask(who, v.message, v.message.equals("Follow") ? news(v.body) : v.body));
    }

    @TestFactory
    Stream<DynamicTest> everyWordOfPrivateData() {
        List<DynamicTest> cells = new ArrayList<>();
        for (Veiled v : veiled()) {
            for (Who who : Who.values()) {
                cells.add(DynamicTest.dynamicTest(v.message + " for " + who + " with PrivateData=" + v.word, () -> {
                    hide("");
                    assertThat(shown(v, who)).as("without PrivateData").contains(v.mark);
                    hide(v.word);
                    assertThat(shown(v, who).contains(v.mark))
                            .isEqualTo(who.isAtLeast(Who.OPERATOR) || v.sees.contains(who));
                    hide("");
                }));
            }
        }
        return cells.stream();
    }
}
