package dev.muster.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.sister.CgroupConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Ack;
import dev.muster.model.node.NodeMessages.EndJob;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.model.node.NodeMessages.JobDone;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.LaunchFailed;
import dev.muster.model.node.NodeMessages.Signal;
import dev.muster.model.node.NodeMessages.StepExited;
import dev.muster.model.node.NodeMessages.StepLaunched;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.node.config.CgroupSettings;
import dev.muster.node.config.Settings;
import dev.muster.node.os.Os;
import dev.muster.node.os.StepMessages;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.step.StepSocket;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import dev.muster.transport.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** slurmd against a controller of ours, with real stepds and processes. */
class SlurmdTest {
    private static Path stepd;
    private Path spool;
    private FakeController controller;
    private Slurmd slurmd;
    private final List<String> prologs = new ArrayList<>();
    private final List<String> epilogs = new ArrayList<>();

    @BeforeAll
    static void build() throws Exception {
        Path out = Path.of("target/native").toAbsolutePath();
        Process make = new ProcessBuilder("make", "-s", "-C", "../native", "OUT=" + out, out + "/slurmstepd")
                .inheritIO()
                .start();
        assertThat(make.waitFor()).isZero();
        stepd = out.resolve("slurmstepd");
    }

    @BeforeEach
    void start() throws Exception {
        spool = Files.createTempDirectory("muster-node-");
        controller = new FakeController();
        slurmd = slurmd();
    }

    private static final CgroupSettings NOT_CONFINED = new CgroupSettings(
            CgroupConf.defaults(), CgroupSettings.Tracking.CGROUP, false, false, false, false, java.util.Map.of());

    private boolean pollMemory;

    private Slurmd slurmd() throws Exception {
        return slurmd(new SlurmdProcess(stepd, 1));
    }

    /** @param machine the same as before, as at a new configuration, or another, as in another process */
    private Slurmd slurmd(SlurmdProcess machine) throws Exception {
        Settings settings = new Settings(
                "n1",
                "test",
                List.of(new Settings.Address("127.0.0.1", controller.port())),
                freePort(),
                "",
                2_000,
                spool,
                "",
                "",
                5,
                "",
                Path.of("/tmp"),
                prologs,
                epilogs,
                10,
                10,
                2,
                10,
                "",
                "",
                Os.uid(),
                NOT_CONFINED,
                true,
                pollMemory,
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
                node -> Optional.empty(),
                machine);
        made.start();
        controller.await(NodeMessages.Register.class);
        return made;
    }

    private static int freePort() throws IOException {
        try (java.net.ServerSocket s = new java.net.ServerSocket(0)) {
            return s.getLocalPort();
        }
    }

    @AfterEach
    void stop() throws Exception {
        slurmd.close();
        controller.close();
        JobSpool.removeTree(spool);
    }

    private static Identity self() {
        return new Identity(Os.uid(), Os.gid(), "me", "us", Os.uid() == 0 ? List.of(0) : List.of(), "/", "/bin/sh");
    }

    private static JobShare share(int jobId, long secondsLeft) {
        return new JobShare(
                jobId,
                1,
                Os.bootId(),
                self(),
                List.of("SLURM_JOB_PARTITION=main"),
                "0",
                0,
                Map.of(),
                secondsLeft,
                2,
                false,
                Bytes.of("name"),
                0,
                "");
    }

    private static Launch batch(JobShare share, Path out, String script) {
        return new Launch(
                share,
                NodeMessages.STEP_BATCH,
                List.of(new Task(0, 0, "", List.of(), List.of())),
                environment(share.jobId()),
                Bytes.of("#!/bin/sh\n" + script),
                Codec.decode("{}".getBytes(StandardCharsets.UTF_8), StepDesc.class),
                Bytes.of("/tmp"),
                022,
                Map.of(),
                Bytes.EMPTY,
                Bytes.of(out.toString()),
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

    private static List<Bytes> environment(int jobId) {
        return List.of(Bytes.of("PATH=/usr/bin:/bin"), Bytes.of("SLURM_JOB_ID=" + jobId));
    }

    private static Launch step(JobShare share, int stepId, int tasks, String command) {
        List<Task> list = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            list.add(new Task(
                    i,
                    i,
                    "",
                    List.of(Bytes.of("sh"), Bytes.of("-c"), Bytes.of(command)),
                    List.of(Bytes.of("SLURM_PROCID=" + i))));
        }
        return new Launch(
                share,
                stepId,
                list,
                environment(share.jobId()),
                Bytes.EMPTY,
                Codec.decode("{}".getBytes(StandardCharsets.UTF_8), StepDesc.class),
                Bytes.of("/tmp"),
                022,
                Map.of(),
                Bytes.EMPTY,
                Bytes.EMPTY,
                Bytes.EMPTY,
                false,
                0,
                1,
                tasks,
                -1,
                "secret",
                0,
                "n1",
                false,
                Map.of());
    }

    private StepExited exited(int jobId, int stepId) throws InterruptedException {
        return controller.await(StepExited.class, e -> e.jobId() == jobId && e.stepId() == stepId);
    }

    @Test
    void batchJobRunsFromLaunchToDone() throws Exception {
        Path out = spool.resolve("out");
        controller.send(batch(share(11, -1), out, "echo $0 $SLURMD_NODENAME; exit 7\n"));
        StepExited exit = exited(11, NodeMessages.STEP_BATCH);
        assertThat(exit.tasks()).isEqualTo(Map.of("0", ExitStatus.exited(7)));
        assertThat(Files.readString(out)).isEqualTo(spool + "/job00011/slurm_script n1\n");
        controller.send(new EndJob(11, 1, 2, ""));
        JobDone done = controller.await(JobDone.class);
        assertThat(done.epilogError()).isEmpty();
        assertThat(spool.resolve("job00011")).exists();
        controller.send(new Ack(done.seq()));
        awaitGone(spool.resolve("job00011"));
    }

    private static void awaitGone(Path path) throws InterruptedException {
        for (int i = 0; i < 100 && Files.exists(path); i++) {
            Thread.sleep(50);
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void aLaunchIsCarriedOutOnce() throws Exception {
        Path out = spool.resolve("out");
        Launch launch = batch(share(12, -1), out, "echo run >>" + spool + "/runs\n");
        controller.send(launch);
        controller.send(launch);
        exited(12, NodeMessages.STEP_BATCH);
        controller.send(launch);
        controller.send(new EndJob(12, 1, 0, ""));
        JobDone done = controller.await(JobDone.class);
        controller.send(new Ack(done.seq()));
        awaitGone(spool.resolve("job00012"));
        controller.send(launch);
        assertThat(controller.await(LaunchFailed.class).reason()).isEqualTo("launched before");
        assertThat(Files.readString(spool.resolve("runs"))).isEqualTo("run\n");
    }

    @Test
    void aLaunchForAnotherBootIsRefused() throws Exception {
        JobShare s = share(13, -1);
        JobShare old = new JobShare(
                13,
                1,
                UUID.randomUUID().toString(),
                s.owner(),
                s.environment(),
                s.cpus(),
                0,
                Map.of(),
                -1,
                2,
                false,
                s.jobName(),
                0,
                "");
        controller.send(batch(old, spool.resolve("out"), "echo no\n"));
        assertThat(controller.await(LaunchFailed.class).reason()).contains("earlier boot");
        assertThat(spool.resolve("out")).doesNotExist();
    }

    @Test
    void statusesOfJobsThatEndWhileSlurmdIsAwayAreExact() throws Exception {
        controller.send(batch(share(14, -1), spool.resolve("o1"), "sleep 1.2; exit 137\n"));
        controller.send(batch(share(15, -1), spool.resolve("o2"), "sleep 1.2; kill -9 $$\n"));
        controller.send(batch(share(16, -1), spool.resolve("o3"), "sleep 2; exit 3\n"));
        for (int i = 0; i < 3; i++) {
            controller.await(StepLaunched.class);
        }
        slurmd.close();
        Thread.sleep(1000);
        slurmd = slurmd();
        assertThat(controller.registrations.getLast().attempts())
                .extracting(a -> a.jobId())
                .contains(14, 15, 16);
        Map<Integer, ExitStatus> exits = new TreeMap<>();
        while (exits.size() < 3) {
            StepExited exit = controller.await(StepExited.class);
            exits.put(exit.jobId(), exit.tasks().get("0"));
        }
        assertThat(exits)
                .isEqualTo(Map.of(14, ExitStatus.exited(137), 15, ExitStatus.signaled(9), 16, ExitStatus.exited(3)));
    }

    /** The end says as much. */
    @Test
    void stepThatEndsAtOnceIsNotReportedAsLaunched() throws Exception {
        controller.send(batch(share(12, -1), spool.resolve("o"), "exit 0\n"));
        controller.send(batch(share(13, -1), spool.resolve("o"), "exec sleep 30\n"));
        assertThat(controller.await(StepLaunched.class).jobId()).isEqualTo(13);
        controller.send(new EndJob(13, 1, 0, ""));
        assertThat(exited(13, NodeMessages.STEP_BATCH).tasks()).isEqualTo(Map.of("0", ExitStatus.signaled(9)));
    }

    /** slurmd recorded the launch and ended before the step was there, and slurmctld sends the launch again. */
    @Test
    void batchStepThatNeverBeganIsLaunchedAgain() throws Exception {
        JobShare share = share(50, -1);
        controller.send(new NodeMessages.Prepare(share, true));
        controller.await(NodeMessages.PrologDone.class);
        slurmd.close();
        Files.writeString(
                spool.resolve("launched"),
                "50 1 " + NodeMessages.STEP_BATCH + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
        slurmd = slurmd();
        controller.send(batch(share, spool.resolve("o"), "exit 4\n"));
        assertThat(exited(50, NodeMessages.STEP_BATCH).tasks()).isEqualTo(Map.of("0", ExitStatus.exited(4)));
    }

    /** slurmd, or slurmstepd, was killed before a task could run. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            -5 | none                                        | true
            -5 | state running,begun no,task id=0 phase=waiting pid=0 started=0.0 | true
            0  | none                                        | false
            """)
    void stepWithoutATaskThatCanHaveRunIsAFailedLaunch(int stepId, String status, boolean nodeFault) throws Exception {
        JobShare share = share(52, -1);
        controller.send(new NodeMessages.Prepare(share, true));
        controller.await(NodeMessages.PrologDone.class);
        slurmd.close();
        Path step = Files.createDirectory(spool.resolve("job00052/step." + stepId));
        if (status != null) {
            Files.writeString(step.resolve("status"), "stepd 4194304\n" + status.replace(",", "\n") + "\nend\n");
        }
        slurmd = slurmd();
        LaunchFailed failed = controller.await(LaunchFailed.class);
        assertThat(failed.stepId()).isEqualTo(stepId);
        assertThat(failed.nodeFault()).isEqualTo(nodeFault);
        assertThat(failed.drain()).isFalse();
    }

    /** Without "begun no" a task may have run: the job ends, and does not run twice. */
    @Test
    void batchStepOfAKilledStepdIsNotLaunchedAgain() throws Exception {
        controller.send(new NodeMessages.Prepare(share(53, -1), true));
        controller.await(NodeMessages.PrologDone.class);
        slurmd.close();
        Path step = Files.createDirectory(spool.resolve("job00053/step." + NodeMessages.STEP_BATCH));
        Files.writeString(step.resolve("status"), "stepd 4194304\nstate running\ntask id=0 phase=waiting pid=0\nend\n");
        slurmd = slurmd();
        assertThat(exited(53, NodeMessages.STEP_BATCH).reason()).isEqualTo("StepdKilled");
    }

    /** A new configuration is served in the same process, in which the hooks of the slurmd before still run. */
    @Test
    void hooksThatRunAtANewConfigurationRunOnce() throws Exception {
        Path hooks = spool.resolve("hooks");
        prologs.add(script("prolog", "echo prolog >>" + hooks + "; sleep 2").toString());
        epilogs.add(script("epilog", "echo epilog >>" + hooks + "; sleep 2").toString());
        slurmd.close();
        SlurmdProcess machine = new SlurmdProcess(stepd, 1);
        slurmd = slurmd(machine);
        controller.send(batch(share(51, -1), spool.resolve("o"), "exit 3\n"));
        awaitText(hooks, "prolog");
        slurmd.close();
        slurmd = slurmd(machine);
        controller.await(NodeMessages.PrologDone.class);
        controller.send(batch(share(51, -1), spool.resolve("o"), "exit 3\n"));
        assertThat(exited(51, NodeMessages.STEP_BATCH).tasks()).isEqualTo(Map.of("0", ExitStatus.exited(3)));
        controller.send(new EndJob(51, 1, 0, ""));
        awaitText(hooks, "epilog");
        slurmd.close();
        slurmd = slurmd(machine);
        controller.await(JobDone.class);
        assertThat(Files.readString(hooks)).isEqualTo("prolog\nepilog\n");
    }

    @Test
    void unacknowledgedReportsComeAgain() throws Exception {
        controller.send(batch(share(17, -1), spool.resolve("o"), "exit 5\n"));
        StepExited first = exited(17, NodeMessages.STEP_BATCH);
        slurmd.close();
        slurmd = slurmd();
        StepExited second = exited(17, NodeMessages.STEP_BATCH);
        assertThat(second.tasks()).isEqualTo(first.tasks());
        assertThat(second.seq()).isGreaterThan(first.seq());
    }

    @Test
    void unacknowledgedStepEndIsResentAfterJobDone() throws Exception {
        controller.send(batch(share(41, -1), spool.resolve("o"), "exit 6\n"));
        StepExited first = exited(41, NodeMessages.STEP_BATCH);
        controller.send(new EndJob(41, 1, 0, ""));
        controller.await(JobDone.class);
        slurmd.close();
        slurmd = slurmd();
        StepExited second = exited(41, NodeMessages.STEP_BATCH);
        assertThat(second.tasks()).isEqualTo(first.tasks());
        assertThat(second.seq()).isGreaterThan(first.seq());
        assertThat(second.endTimeMs()).isEqualTo(first.endTimeMs());
        controller.send(new EndJob(41, 1, 0, "")); // as it does to a node that registers with a completing job
        assertThat(controller.await(JobDone.class).seq()).isGreaterThan(second.seq());
    }

    @Test
    void endingAJobTermsThenKills() throws Exception {
        Path out = spool.resolve("o");
        controller.send(batch(share(18, -1), out, "trap 'echo term' TERM; echo up; while :; do sleep 0.1; done\n"));
        awaitText(out, "up");
        long start = System.nanoTime();
        controller.send(new EndJob(18, 1, 1, "CANCELLED"));
        StepExited exit = exited(18, NodeMessages.STEP_BATCH);
        assertThat((System.nanoTime() - start) / 1_000_000).isBetween(900L, 5000L);
        assertThat(exit.tasks().get("0")).isEqualTo(ExitStatus.signaled(9));
        assertThat(exit.reason()).isEqualTo("CANCELLED");
        assertThat(Files.readString(out)).contains("term").contains("] error: *** JOB 18 ON n1 CANCELLED AT ");
        controller.await(JobDone.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Requeued  | false | ' DUE TO JOB REQUEUE ***'
            Preempted | false | ' DUE TO PREEMPTION ***'
            CANCELLED | false | ' DUE to SIGNAL Terminated ***'
            CANCELLED | true  | ' DUE to SIGNAL Killed ***'
            """)
    void usersReadWhyTheirJobEnds(String reason, boolean kills, String words) {
        assertThat(StepMessages.cancelled("12.batch", "n1", reason, kills))
                .matches("\\*\\*\\* JOB 12 ON n1 CANCELLED AT [-0-9T:]{19}" + java.util.regex.Pattern.quote(words));
    }

    @Test
    void usersReadOfTheSignalThatEndsTheirStep() {
        assertThat(StepMessages.signalled("12.0", "n1", 15).orElseThrow())
                .matches("\\*{3} STEP 12.0 ON n1 CANCELLED AT .{19} DUE to SIGNAL Terminated \\*{3}");
        assertThat(StepMessages.signalled("12.0", "n1", 9).orElseThrow()).endsWith("DUE to SIGNAL Killed ***");
        assertThat(StepMessages.signalled("12.0", "n1", 10)).isEmpty();
    }

    private static void awaitText(Path file, String text) throws Exception {
        for (int i = 0;
                i < 200 && !(Files.exists(file) && Files.readString(file).contains(text));
                i++) {
            Thread.sleep(20);
        }
        assertThat(Files.readString(file)).contains(text);
    }

    @Test
    void slurmdEnforcesTheTimeLimit() throws Exception {
        Path out = spool.resolve("o");
        controller.send(batch(share(19, 1), out, "exec sleep 60\n"));
        StepExited exit = exited(19, NodeMessages.STEP_BATCH);
        assertThat(exit.reason()).isEqualTo("TimeLimit");
        assertThat(exit.tasks().get("0")).isEqualTo(ExitStatus.signaled(15));
        assertThat(Files.readString(out)).contains("DUE TO TIME LIMIT ***");
    }

    @Test
    void aKilledStepdLeavesNoProcess() throws Exception {
        Path out = spool.resolve("o");
        controller.send(batch(share(20, -1), out, "setsid sleep 77 & echo $! $$; wait\n"));
        awaitText(out, "\n");
        long stepdPid = new JobSpool(spool).stepdPid(spool.resolve("job00020/step.-5"));
        Os.kill(stepdPid, Os.SIGNAL_KILL);
        StepExited exit = exited(20, NodeMessages.STEP_BATCH);
        assertThat(exit.reason()).isEqualTo("StepdKilled");
        assertThat(exit.tasks().get("0")).isEqualTo(ExitStatus.signaled(9));
        for (String pid : Files.readString(out).trim().split(" ")) {
            assertThat(Os.isAlive(Long.parseLong(pid))).as(pid).isFalse();
        }
    }

    @Test
    void signalsGoWhereTheyAreMeant() throws Exception {
        Path out = spool.resolve("o");
        Path other = spool.resolve("other");
        JobShare share = share(21, -1);
        controller.send(batch(share, out, "trap 'echo batch' USR1; echo up; while :; do sleep 0.05; done\n"));
        controller.send(step(
                share,
                0,
                1,
                "trap 'echo step >>" + other + "' USR1; echo ready >>" + other + "; while :; do sleep 0.05; done"));
        awaitText(out, "up");
        awaitText(other, "ready");
        controller.send(new Signal(21, 1, Integer.MIN_VALUE, 10, false, false));
        awaitText(other, "step");
        assertThat(Files.readString(out)).doesNotContain("batch");
        controller.send(new Signal(21, 1, Integer.MIN_VALUE, 10, true, false));
        awaitText(out, "batch");
        controller.send(new EndJob(21, 1, 0, ""));
        controller.await(JobDone.class);
    }

    @Test
    void prologAndEpilogRun() throws Exception {
        Path prolog =
                script("prolog", "echo $SLURM_SCRIPT_CONTEXT $SLURM_JOB_ID $SLURM_JOB_PARTITION >>" + spool + "/hooks");
        Path epilog = script("epilog", "echo $SLURM_SCRIPT_CONTEXT >>" + spool + "/hooks; exit 1");
        prologs.add(prolog.toString());
        epilogs.add(epilog.toString());
        slurmd.close();
        slurmd = slurmd();
        controller.send(batch(share(22, -1), spool.resolve("o"), "cat " + spool + "/hooks\n"));
        exited(22, NodeMessages.STEP_BATCH);
        assertThat(Files.readString(spool.resolve("o"))).isEqualTo("prolog_slurmd 22 main\n");
        controller.send(new EndJob(22, 1, 2, ""));
        assertThat(controller.await(JobDone.class).epilogError()).isEqualTo("Epilog error");
        assertThat(Files.readString(spool.resolve("hooks"))).isEqualTo("prolog_slurmd 22 main\nepilog_slurmd\n");
    }

    @Test
    void aFailedPrologDrains() throws Exception {
        prologs.add(script("prolog", "exit 1").toString());
        slurmd.close();
        slurmd = slurmd();
        controller.send(batch(share(23, -1), spool.resolve("o"), "echo no\n"));
        LaunchFailed failed = controller.await(LaunchFailed.class);
        assertThat(failed.drain()).isTrue();
        assertThat(failed.reason()).isEqualTo("Prolog error");
        assertThat(spool.resolve("o")).doesNotExist();
    }

    private Path script(String name, String body) throws IOException {
        Path path = spool.resolve(name);
        Files.writeString(path, "#!/bin/sh\n" + body + "\n");
        JobSpool.setMode(path, "rwxr-xr-x");
        return path;
    }

    @Test
    void stepOutputComesThroughTheIoStreamAcrossARestart() throws Exception {
        controller.send(step(
                share(24, -1), 0, 2, "echo hello from $SLURM_PROCID; read line; echo got $line; exit $SLURM_PROCID"));
        controller.await(StepLaunched.class);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (Frames io = attach(24, "secret")) {
            io.send(new StepSocket.Frame('A', -1, 0, 0, new byte[] {'p'}).encode());
            while (text.size() < "hello from 0\nhello from 1\n".length()) {
                take(io, text);
            }
        }
        slurmd.close();
        slurmd = slurmd();
        try (Frames io = attach(24, "secret")) {
            io.send(new StepSocket.Frame('A', -1, 0, 13, new byte[] {'p'}).encode());
            io.send(new StepSocket.Frame('I', -1, 0, 0, "word\n".getBytes(StandardCharsets.UTF_8)).encode());
            while (take(io, text) != 'F') {
                // until the end
            }
        }
        assertThat(text.toString(StandardCharsets.UTF_8))
                .contains("hello from 0\n")
                .contains("hello from 1\n")
                .contains("got word\n");
        assertThat(text.size()).isEqualTo(2 * "hello from 0\ngot word\n".length());
        assertThat(exited(24, 0).tasks()).isEqualTo(Map.of("0", ExitStatus.exited(0), "1", ExitStatus.exited(1)));
    }

    private static char take(Frames io, ByteArrayOutputStream text) throws IOException {
        StepSocket.Frame frame = StepSocket.Frame.decode(io.receive());
        if (frame.type() == 'O') {
            text.writeBytes(frame.bytes());
            io.send(new StepSocket.Frame(
                            'a', frame.task(), frame.stream(), frame.offset() + frame.bytes().length, new byte[0])
                    .encode());
        }
        return frame.type();
    }

    private Frames attach(int jobId, String token) throws IOException {
        Session session = NodeSessions.of(Os.uid()).session();
        Client client = new Client(
                        "127.0.0.1",
                        slurmd.port(),
                        () -> session,
                        () -> UUID.randomUUID().toString())
                .to(dev.muster.transport.Audience.SLURMD);
        Frames io = client.stream(Server.streamPath("io"), "muster-io");
        io.send(Codec.encode(new IoAttach(jobId, 1, 0, token, false)));
        return io;
    }

    @Test
    void srunMayComeAfterTheEnd() throws Exception {
        controller.send(step(share(28, -1), 0, 1, "kill -9 $$"));
        exited(28, 0);
        controller.send(new EndJob(28, 1, 0, ""));
        JobDone done = controller.await(JobDone.class);
        controller.send(new Ack(done.seq()));
        Thread.sleep(300);
        try (Frames io = attach(28, "secret")) {
            StepSocket.Frame exit = StepSocket.Frame.decode(io.receive());
            assertThat(exit.type()).isEqualTo('X');
            assertThat(exit.offset()).isEqualTo(9);
            assertThat(StepSocket.Frame.decode(io.receive()).type()).isEqualTo('F');
        }
        awaitGone(spool.resolve("job00028"));
    }

    @Test
    void quickStepAlwaysReportsItsEnd() throws Exception {
        for (int i = 0; i < 40; i++) {
            int jobId = 200 + i;
            controller.send(step(share(jobId, -1), 0, 1, "exit 3"));
            try (Frames io = attach(jobId, "secret")) {
                io.send(new StepSocket.Frame('A', -1, 0, 0, new byte[] {'p'}).encode());
                List<Character> types = new ArrayList<>();
                while (!types.contains('F')) {
                    types.add(StepSocket.Frame.decode(io.receive()).type());
                }
                assertThat(types).contains('X');
            }
            controller.send(new EndJob(jobId, 1, 0, ""));
            controller.send(new Ack(controller.await(JobDone.class).seq()));
        }
    }

    @Test
    void aWrongTokenMayNotAttach() throws Exception {
        controller.send(step(share(25, -1), 0, 1, "exec sleep 1"));
        controller.await(StepLaunched.class);
        try (Frames io = attach(25, "guess")) {
            StepSocket.Frame frame = StepSocket.Frame.decode(io.receive());
            assertThat(frame.type()).isEqualTo('!');
            assertThat(frame.text()).isEqualTo("Access/permission denied");
        }
        controller.send(new EndJob(25, 1, 0, ""));
        controller.await(JobDone.class);
    }

    @Test
    void endingAnUnknownJobIsDoneAtOnce() throws Exception {
        controller.send(new EndJob(99, 4, 30, ""));
        assertThat(controller.await(JobDone.class)).satisfies(d -> {
            assertThat(d.jobId()).isEqualTo(99);
            assertThat(d.attempt()).isEqualTo(4);
        });
    }

    @Test
    void anExternalStepEndsWithItsJob() throws Exception {
        JobShare s = share(26, -1);
        JobShare withExtern = new JobShare(
                26, 1, s.bootId(), s.owner(), s.environment(), s.cpus(), 0, Map.of(), -1, 2, true, s.jobName(), 0, "");
        controller.send(batch(withExtern, spool.resolve("o"), "true\n"));
        exited(26, NodeMessages.STEP_BATCH);
        controller.send(new EndJob(26, 1, 30, ""));
        exited(26, NodeMessages.STEP_EXTERN);
        controller.await(JobDone.class);
    }

    @Test
    void jobThatExceedsItsMemoryIsEnded() throws Exception {
        pollMemory = true;
        slurmd.close();
        slurmd = slurmd();
        JobShare s = share(27, -1);
        JobShare small = new JobShare(
                27,
                1,
                s.bootId(),
                s.owner(),
                s.environment(),
                s.cpus(),
                20,
                Map.of(),
                -1,
                2,
                false,
                s.jobName(),
                1,
                "");
        Path out = spool.resolve("o");
        controller.send(batch(small, out, "x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 30\n"));
        assertThat(exited(27, NodeMessages.STEP_BATCH).reason()).isEqualTo("OutOfMemory");
        assertThat(Files.readString(out)).contains("] error: StepId=27.batch exceeded memory limit");
    }

    @Test
    void slurmdRunsManyShortJobs() throws Exception {
        int count = 50;
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            controller.send(batch(share(100 + i, -1), spool.resolve("many"), "true\n"));
        }
        for (int i = 0; i < count; i++) {
            controller.await(StepExited.class);
        }
        System.out.println(count + " jobs in " + (System.nanoTime() - start) / 1_000_000 + " ms");
    }

    @Test
    void aDescriptionWithoutFieldsReadsAsDefaults() {
        assertThat(Codec.decode("{}".getBytes(StandardCharsets.UTF_8), StepDesc.class)
                        .io()
                        .stdout())
                .isEqualTo(Bytes.EMPTY);
        assertThat(new Json.Obj().has("x")).isFalse();
    }
}
