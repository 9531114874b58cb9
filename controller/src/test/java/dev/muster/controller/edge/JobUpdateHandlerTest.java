package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.controller.Controller;
import dev.muster.controller.Site;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Json;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Updates, holds and releases that job_submit.lua changes, and their retries. */
class JobUpdateHandlerTest {
    private static final String SCRIPT = """
            function slurm_job_submit() return slurm.SUCCESS end
            function slurm_job_modify(job_desc, job_rec)
               job_desc.comment = (job_rec.comment or '') .. '+'
               return slurm.SUCCESS
            end
            return slurm.SUCCESS
            """;
    private Path dir;
    private Controller controller;

    @BeforeEach
    void start() throws IOException {
        dir = Files.createTempDirectory("edge");
        Path file = dir.resolve("slurm.conf");
        Files.writeString(dir.resolve("job_submit.lua"), SCRIPT);
        Files.writeString(
                file,
                "ClusterName=c\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=" + Site.freePort()
                        + "\nSlurmUser=daemon\nAuthType=auth/slurm\nStateSaveLocation=" + dir
                        + "/state\nJobSubmitPlugins=lua\n"
                        + "NodeName=n[1-2] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES\n");
        controller = new Controller(
                ((SlurmConf.Parsed.Ok) SlurmConf.read(file.toFile())).conf(),
                file.toFile(),
                new DaemonLog("slurmctld", dir + "/log", false, 3, ""),
                () -> {},
                fault -> {});
        controller.start(true);
    }

    @AfterEach
    void stop() throws IOException {
        controller.stop();
        try (Stream<Path> all = Files.walk(dir)) {
            all.sorted(Comparator.reverseOrder()).forEach(p -> p.toFile().delete());
        }
    }

    private Json.Obj call(String message, Json.Obj body) {
        Reply reply = controller.api().handle(new Caller(0, 0), message, Json.print(body));
        assertThat(reply.status())
                .as(new String(reply.body(), StandardCharsets.UTF_8))
                .isEqualTo(200);
        return Json.object(reply.body());
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private String submit() {
        Json.Obj job = new Json.Obj()
                .put("kind", "BATCH")
                .put("name", "j")
                .put("timing", new Json.Obj().put("hold", Boolean.TRUE))
                .put("files", new Json.Obj().put("workDir", base64("/tmp")))
                .put("payload", new Json.Obj().put("submitHost", "h"));
        return Integer.toString(call("Submit", new Json.Obj().put("job", job).put("script", base64("#!/bin/sh\n")))
                .integer("jobId"));
    }

    private String comment(String job) {
        Json.Obj query = new Json.Obj().put("jobIds", new ArrayList<Object>(List.of(Long.valueOf(job))));
        return call("QueryJobs", query).objects("jobs").stream()
                .filter(j -> j.text("jobId").equals(job))
                .findFirst()
                .orElseThrow()
                .text("comment");
    }

    @Test
    void aRetryOfARequestAppliesTheChangesOfTheScriptOnce() {
        String job = submit();
        Json.Obj update = new Json.Obj().put("job", job).put("changes", new Json.Obj().put("nice", "3"));
        for (String action : List.of("hold", "release", "update")) {
            String before = comment(job);
            for (int attempt = 0; attempt < 3; attempt++) {
                if (action.equals("update")) {
                    call("UpdateJob", update.put("requestId", "id-" + action));
                } else {
                    call(
                            "JobAction",
                            new Json.Obj()
                                    .put("requestId", "id-" + action)
                                    .put("action", action)
                                    .put("jobs", new ArrayList<Object>(List.of(job))));
                }
                assertThat(comment(job)).as(action + " " + attempt).isEqualTo(before + "+");
            }
        }
    }

    @Test
    void requestsWithoutAnIdAreNotRemembered() {
        String job = submit();
        Json.Obj hold = new Json.Obj().put("action", "hold").put("jobs", new ArrayList<Object>(List.of(job)));
        call("JobAction", hold);
        call("JobAction", hold);
        assertThat(comment(job)).isEqualTo("++");
        assertThat(JobUpdateHandler.ofScript("")).isEmpty();
    }
}
