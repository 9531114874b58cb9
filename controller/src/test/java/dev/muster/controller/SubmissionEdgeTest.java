package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.FieldRights;
import dev.muster.model.api.FieldRights.Setter;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which submissions slurmctld refuses before the core sees them. */
class SubmissionEdgeTest {
    private static final int USER = 2;
    private static Path dir;
    private static Controller controller;

    @BeforeAll
    static void start() throws IOException {
        dir = Files.createTempDirectory("edge");
        Path file = dir.resolve("slurm.conf");
        Files.writeString(
                file,
                "ClusterName=c\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=" + Site.freePort()
                        + "\nSlurmUser=daemon\n"
                        + "AuthType=auth/slurm\nStateSaveLocation=" + dir
                        + "/state\nPriorityType=priority/multifactor\nScronParameters=enable\n"
                        + "RebootProgram=/bin/true\n"
                        + "NodeName=n[1-2] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES\n");
        controller = new Controller(
                ((SlurmConf.Parsed.Ok) SlurmConf.read(file.toFile())).conf(),
                file.toFile(),
                new DaemonLog("slurmctld", dir + "/log", false, 3, ""),
                () -> {},
                fault -> {});
        controller.start(true);
    }

    @AfterAll
    static void stop() throws IOException {
        controller.stop();
        try (Stream<Path> all = Files.walk(dir)) {
            all.sorted(java.util.Comparator.reverseOrder())
                    .forEach(p -> p.toFile().delete());
        }
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Json.Obj job() {
        return new Json.Obj()
                .put("kind", "BATCH")
                .put("name", "j")
                .put("timing", new Json.Obj().put("hold", Boolean.TRUE))
                .put("files", new Json.Obj().put("workDir", base64("/tmp")))
                .put("payload", new Json.Obj().put("submitHost", "h"));
    }

    private static Json.Obj submit(Json.Obj job, String script) {
        return new Json.Obj().put("job", job).put("script", base64(script));
    }

    private static int errno(int uid, String message, Json.Obj body) {
        Reply reply = controller.api().handle(new Caller(uid, uid), message, Json.print(body));
        return reply.status() == 200 ? 0 : Json.object(reply.body()).integer("errno");
    }

    /** Returns the job with that field set. */
    private static Json.Obj with(String path, Object value) {
        Json.Obj job = job();
        int dot = path.indexOf('.');
        if (dot < 0) {
            return job.put(path, value);
        }
        String head = path.substring(0, dot);
        job.put(head, (job.has(head) ? job.obj(head) : new Json.Obj()).put(path.substring(dot + 1), value));
        return job;
    }

    private static Object value(String path) {
        return switch (path) {
            case "timing.siteFactor", "timing.priority" -> 100_000L;
            case "request.cpusPerTaskAsked" -> 1L;
            case "extras.reboot", "charge.drawn" -> Boolean.TRUE;
            case "owner.gids" -> new ArrayList<Object>(List.of(0L));
            default -> "x";
        };
    }

    /** Each field that an ordinary user may not set is refused, in each message that describes a job. */
    @TestFactory
    Stream<DynamicTest> restrictedFieldsAreRefused() {
        return FieldRights.job().entrySet().stream()
                .filter(e -> e.getValue().compareTo(Setter.OPERATOR) >= 0)
                .map(e -> DynamicTest.dynamicTest(e.getKey() + " " + e.getValue(), () -> {
                    Json.Obj one = submit(with(e.getKey(), value(e.getKey())), "#!/bin/sh\n");
                    int denied = SlurmErrno.ACCESS_DENIED.number();
                    assertThat(errno(USER, "Submit", one)).isEqualTo(denied);
                    assertThat(errno(
                                    USER,
                                    "SubmitHet",
                                    new Json.Obj().put("parts", new ArrayList<Object>(List.of(one, one)))))
                            .isEqualTo(denied);
                    Json.Obj line = new Json.Obj().put("job", one).put("when", "@daily");
                    assertThat(errno(
                                    USER,
                                    "SetCrontab",
                                    new Json.Obj()
                                            .put("userId", (long) USER)
                                            .put("text", "x")
                                            .put("entries", new ArrayList<Object>(List.of(line)))))
                            .isEqualTo(denied);
                    assertThat(errno(0, "Submit", one))
                            .as("as root")
                            .isEqualTo(e.getValue() == Setter.CONTROLLER ? denied : 0);
                }));
    }

    /** The same fields are refused in scontrol update. */
    @ParameterizedTest
    @ValueSource(strings = {"sitefactor=5", "admincomment=x", "nice=-5", "priority=100000", "userid=0"})
    void restrictedChangesAreRefused(String change) {
        Reply made =
                controller.api().handle(new Caller(USER, USER), "Submit", Json.print(submit(job(), "#!/bin/sh\n")));
        String id = Integer.toString(Json.object(made.body()).integer("jobId"));
        Json.Obj changes = new Json.Obj().put(change.split("=")[0], change.split("=")[1]);
        assertThat(errno(USER, "UpdateJob", new Json.Obj().put("job", id).put("changes", changes)))
                .isNotZero();
    }

    @Test
    void unknownFieldsAreRefused() {
        int malformed = SlurmErrno.UNEXPECTED_MSG_ERROR.number();
        assertThat(errno(USER, "Submit", submit(job().put("root", Boolean.TRUE), "#!/bin/sh\n")))
                .isEqualTo(malformed);
        assertThat(errno(USER, "Submit", submit(with("timing.urgent", 1L), "#!/bin/sh\n")))
                .isEqualTo(malformed);
        assertThat(errno(USER, "Submit", submit(job(), "#!/bin/sh\n").put("as", "root")))
                .isEqualTo(malformed);
        assertThat(errno(
                        USER,
                        "Cancel",
                        new Json.Obj()
                                .put("jobs", new ArrayList<Object>(List.of("1")))
                                .put("force", Boolean.TRUE)))
                .isEqualTo(malformed);
    }

    @ParameterizedTest
    @ValueSource(strings = {"files.workDir", "files.stdin", "files.stdout", "files.stderr", "payload.submitLine"})
    void nulIsRefused(String path) {
        assertThat(errno(USER, "Submit", submit(with(path, base64("/tmp\0x")), "#!/bin/sh\n")))
                .isNotZero();
    }

    @Test
    void nulInTheScriptAndTheEnvironmentIsRefused() {
        assertThat(errno(USER, "Submit", submit(job(), "#!/bin/sh\n\0"))).isNotZero();
        assertThat(errno(
                        USER,
                        "Submit",
                        submit(job(), "#!/bin/sh\n")
                                .put("environment", new ArrayList<Object>(List.of(base64("A=\0"))))))
                .isNotZero();
        assertThat(errno(
                        USER,
                        "CreateStep",
                        new Json.Obj()
                                .put("jobId", 1L)
                                .put(
                                        "step",
                                        new Json.Obj()
                                                .put("arguments", new ArrayList<Object>(List.of(base64("a\0")))))))
                .isNotZero();
    }

    @Test
    void refusedSubmissionLeavesNoFiles() throws IOException {
        String script = "#!/bin/sh\n# refused " + System.nanoTime() + "\n";
        long before = files();
        assertThat(errno(USER, "Submit", submit(job().put("partition", "nosuch"), script)))
                .isEqualTo(SlurmErrno.INVALID_PARTITION_NAME.number());
        errno(USER, "Submit", submit(job(), script).put("testOnly", Boolean.TRUE));
        assertThat(files()).isEqualTo(before);
        assertThat(errno(USER, "Submit", submit(job(), script))).isZero();
        assertThat(files()).isEqualTo(before + 1);
    }

    private static long files() throws IOException {
        try (Stream<Path> all = Files.walk(dir.resolve("state/blobs"))) {
            return all.filter(Files::isRegularFile).count();
        }
    }
}
