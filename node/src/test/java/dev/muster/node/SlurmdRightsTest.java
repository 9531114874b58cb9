package dev.muster.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.sister.CgroupConf;
import dev.muster.controller.Chartered;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.api.MessageRights;
import dev.muster.model.api.MessageRights.Need;
import dev.muster.model.api.SlurmdMessages;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.node.config.CgroupSettings;
import dev.muster.node.config.Settings;
import dev.muster.node.job.NoAllocateSteps;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The table of messages to slurmd, cell by cell: each as each kind of user, of a job with a step manager while
 * slurmctld is away, and with slurmctld there. What accounting says of users slurmd knows nothing of: to it
 * coordinators, operators and administrators are strangers.
 */
class SlurmdRightsTest {
    private enum Who {
        STRANGER(3),
        COORDINATOR(5),
        COORDINATOR_OF_ANOTHER(6),
        OPERATOR(7),
        ADMINISTRATOR(8),
        OWNER(2),
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

    private static final int JOB = 1;
    private static final int HET = 2;
    private static final int UNALLOCATED = SlurmdMessages.UNALLOCATED_FIRST + 7;

    private static Path spool;
    private static FakeController controller;
    private static Slurmd slurmd;

    @BeforeAll
    static void start() throws Exception {
        SlurmdTest.build();
        spool = Files.createTempDirectory("muster-node-");
        controller = new FakeController();
        slurmd = slurmd();
        controller.await(NodeMessages.Register.class);
        for (int job : List.of(JOB, HET, HET + 1, UNALLOCATED)) {
            controller.send(batch(job));
            if (!NoAllocateSteps.is(job)) {
                controller.await(NodeMessages.StepLaunched.class);
            }
        }
        Policy policy = new Policy(
                List.of(assoc(1, 0, "root", ""), assoc(2, 1, "lab", ""), assoc(3, 2, "lab", "u")),
                List.of(),
                List.of(
                        new UserPolicy("games", AdminLevel.NONE, List.of("lab"), Who.COORDINATOR.uid),
                        new UserPolicy("man", AdminLevel.NONE, List.of("other"), Who.COORDINATOR_OF_ANOTHER.uid),
                        new UserPolicy("lp", AdminLevel.OPERATOR, List.of(), Who.OPERATOR.uid),
                        new UserPolicy("mail", AdminLevel.ADMINISTRATOR, List.of(), Who.ADMINISTRATOR.uid)),
                List.of());
        for (NodeMessages.Charter charter : Chartered.of(Who.SLURM_USER.uid, owner(), "lab", policy)) {
            controller.send(charter);
        }
        for (String message : List.of("AwaitAllocation", "CreateStep", "CreateHetStep", "SignalStep")) {
            for (Who who : Who.values()) {
                assertThat(errno(ask(who, message)))
                        .as(message + " by " + who + " with slurmctld there")
                        .isEqualTo(SlurmErrno.CTLD_CONNECT.number());
            }
        }
        controller.close();
        for (int i = 0; i < 200 && errno(ask(Who.OWNER, "AwaitAllocation")) == SlurmErrno.CTLD_CONNECT.number(); i++) {
            Thread.sleep(50);
        }
    }

    @AfterAll
    static void stop() throws Exception {
        for (int job : List.of(JOB, HET, HET + 1)) {
            slurmd.queries()
                    .answer(
                            new Caller(0, 0),
                            "SignalStep",
                            Codec.encode(new SlurmdMessages.SignalStep(job, NodeMessages.STEP_BATCH, Os.SIGNAL_KILL)));
        }
        slurmd.queries()
                .answer(
                        new Caller(0, 0),
                        "SignalUnallocated",
                        Codec.encode(new SlurmdMessages.SignalUnallocated(
                                UNALLOCATED, NodeMessages.STEP_BATCH, Os.SIGNAL_KILL)));
        Thread.sleep(500);
        slurmd.close();
        Thread.sleep(50);
        JobSpool.removeTree(spool);
    }

    private static Slurmd slurmd() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        CgroupSettings none = new CgroupSettings(
                CgroupConf.defaults(), CgroupSettings.Tracking.CGROUP, false, false, false, false, Map.of());
        Path stepd = Path.of("target/native").toAbsolutePath().resolve("slurmstepd");
        Settings settings = new Settings(
                "n1",
                "test",
                List.of(new Settings.Address("127.0.0.1", controller.port())),
                port,
                "",
                2_000,
                spool,
                "",
                "",
                5,
                "",
                Path.of("/tmp"),
                List.of(),
                List.of(),
                10,
                10,
                2,
                10,
                "",
                "",
                Who.SLURM_USER.uid,
                none,
                true,
                false,
                1,
                stepd,
                "/etc/slurm/slurm.conf",
                "",
                "",
                "",
                Settings.Around.NOTHING,
                Optional.empty());
        Slurmd made = new Slurmd(
                settings,
                new DaemonLog("slurmd", spool + "/slurmd.log", false, 5, ""),
                NodeSessions.of(Os.uid()),
                new Slurmd.Owner() {
                    @Override
                    public void readConfig() {}

                    @Override
                    public void stop() {}
                },
                false,
                node -> Optional.of(new Settings.Address("127.0.0.1", port)),
                new SlurmdProcess(stepd, 1));
        made.start();
        return made;
    }

    /** Returns the user that the test's processes belong to: without root its own only. */
    private static int owner() {
        return Os.uid() == 0 ? Who.OWNER.uid : Os.uid();
    }

    private static Launch batch(int job) {
        int gid = Os.uid() == 0 ? Who.OWNER.uid : Os.gid();
        Identity owner = new Identity(owner(), gid, "u", "g", Os.uid() == 0 ? List.of(gid) : List.of(), "/", "/bin/sh");
        JobShare share = new JobShare(
                job, 1, Os.bootId(), owner, List.of(), "0", 0, Map.of(), -1, 2, false, Bytes.of("name"), 0, "");
        return new Launch(
                share,
                NodeMessages.STEP_BATCH,
                List.of(new NodeMessages.Task(0, 0, "", List.of(), List.of())),
                List.of(Bytes.of("PATH=/usr/bin:/bin")),
                Bytes.of("#!/bin/sh\nexec sleep 100\n"),
                Codec.bind(new Json.Obj(), StepDesc.class),
                Bytes.of("/tmp"),
                022,
                Map.of(),
                Bytes.EMPTY,
                Bytes.of("/dev/null"),
                Bytes.EMPTY,
                false,
                0,
                1,
                1,
                -1,
                "",
                0,
                "n1",
                false,
                Map.of());
    }

    private static AssocPolicy assoc(int id, int parent, String account, String user) {
        return new AssocPolicy(id, parent, account, user, "", true, Map.of(), List.of(), "");
    }

    private static Json.Obj step(int job) {
        Json.Obj step = Json.object(Codec.encode(Codec.bind(new Json.Obj(), StepDesc.class)))
                .put(
                        "arguments",
                        new ArrayList<Object>(
                                List.of(Base64.getEncoder().encodeToString("true".getBytes(StandardCharsets.UTF_8)))));
        return new Json.Obj().put("jobId", (long) job).put("step", step);
    }

    /** What is asked, of what is the owner's. */
    private static Map<String, Json.Obj> bodies() {
        Map<String, Json.Obj> out = new TreeMap<>();
        for (String message : List.of("QueryDaemon", "QueryProcesses", "RunUnallocated", "TakeStep", "DropStep")) {
            out.put(message, new Json.Obj());
        }
        out.put("FollowController", new Json.Obj().put("address", "head").put("term", 2L));
        out.put("QueryJobSteps", new Json.Obj().put("jobId", (long) JOB).put("attempt", 1L));
        out.put("AwaitAllocation", new Json.Obj().put("jobId", (long) JOB));
        out.put("CreateStep", step(JOB));
        out.put("CreateHetStep", new Json.Obj().put("parts", new ArrayList<Object>(List.of(step(HET), step(HET + 1)))));
        Json.Obj signal =
                new Json.Obj().put("stepId", (long) NodeMessages.STEP_BATCH).put("signal", 18L);
        out.put("SignalStep", Json.object(Json.print(signal)).put("jobId", (long) JOB));
        out.put("SignalUnallocated", signal.put("jobId", (long) UNALLOCATED));
        return out;
    }

    private static Reply ask(Who who, String message) {
        int uid = who == Who.OWNER ? owner() : who.uid;
        return slurmd.queries().answer(new Caller(uid, uid), message, Json.print(bodies().get(message)));
    }

    private static int errno(Reply reply) {
        Json.Obj tree = Json.object(reply.body());
        return tree.has("errno") ? tree.integer("errno") : 0;
    }

    private static boolean may(Need need, Who who) {
        return switch (need) {
            case ANYBODY -> true;
            case SELF, OWNER_ALONE -> who.isAtLeast(Who.OWNER);
            case DAEMON -> who.isAtLeast(Who.SLURM_USER);
            case SELF_OR_OPERATOR, OWNER, COORDINATOR, OPERATOR, OPERATOR_OR_NAMED, ADMINISTRATOR, SLURM_USER, MAKER ->
                throw new AssertionError("nothing of slurmd's");
        };
    }

    @Test
    void everyNodeMessageIsInTheRightsTable() {
        assertThat(bodies().keySet()).isEqualTo(MessageRights.node().keySet());
        assertThat(MessageRights.node().values())
                .allSatisfy(rule -> assertThat(rule.hiddenBy()).isEmpty());
        assertThat(slurmd.queries()
                        .answer(new Caller(0, 0), "None", Json.print(new Json.Obj()))
                        .status())
                .isEqualTo(404);
    }

    @TestFactory
    Stream<DynamicTest> everyCell() {
        List<DynamicTest> cells = new ArrayList<>();
        MessageRights.node().forEach((message, rule) -> {
            for (Who who : Who.values()) {
                cells.add(DynamicTest.dynamicTest(message + " by " + who + ", which needs " + rule.need(), () -> {
                    Reply reply = ask(who, message);
                    String text = new String(reply.body(), StandardCharsets.UTF_8);
                    // a caller that may not see a job's processes gets an empty list
                    boolean denied = message.equals("QueryProcesses")
                            ? !text.contains("\"jobId\":" + JOB + ",")
                            : errno(reply) == SlurmErrno.ACCESS_DENIED.number();
                    assertThat(denied).as(text).isEqualTo(!may(rule.need(), who));
                    // slurmctld is away: slurmd itself decides about an authorised caller
                    assertThat(errno(reply)).as(text).isNotEqualTo(SlurmErrno.CTLD_CONNECT.number());
                }));
            }
        });
        return cells.stream();
    }
}
