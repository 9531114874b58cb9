package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.ResumableStep;
import dev.muster.cli.connection.RequestIds;
import dev.muster.cli.format.TaskRanges;
import dev.muster.cli.step.IoFrame;
import dev.muster.cli.step.StepFiles;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** srun against a node that speaks stepd's frames. */
@Timeout(20)
class StepTest {
    private static final String ALLOCATION = "{\"jobId\":5,\"state\":\"RUNNING\",\"ready\":true,\"nodes\":\"n[1-2]\","
            + "\"nodeCount\":2,\"name\":\"x\",\"userName\":\"ann\",\"shares\":[{\"node\":\"n1\",\"cpus\":1},"
            + "{\"node\":\"n2\",\"cpus\":1}]}";
    private static final String STEP =
            "{\"jobId\":5,\"stepId\":3,\"attempt\":1,\"tasks\":2,\"ioToken\":\"t\",\"shares\":["
                    + "{\"node\":\"n1\",\"address\":\"a1\",\"port\":1,\"taskIds\":[0]},"
                    + "{\"node\":\"n2\",\"address\":\"a2\",\"port\":1,\"taskIds\":[1]}]}";

    private final FakeHost host = new FakeHost()
            .reply("Submit", "{\"jobId\":5}")
            .reply("AwaitAllocation", ALLOCATION)
            .reply("CreateStep", STEP);
    private final List<IoFrame> got = new ArrayList<>();

    /** The node's side of one connection: says its part after the attach, keeps what srun sends. */
    private void node(String address, IoFrame... says) throws IOException {
        node(address, false, says);
    }

    private final List<Json.Obj> attached = java.util.Collections.synchronizedList(new ArrayList<>());

    /** @param leaves after its part */
    private void node(String address, boolean leaves, IoFrame... says) throws IOException {
        Socket srunSide;
        Socket nodeSide;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            srunSide = new Socket(server.getInetAddress(), server.getLocalPort());
            nodeSide = server.accept();
        }
        Frames srun = new Frames(srunSide.getInputStream(), srunSide.getOutputStream(), srunSide);
        Frames node = new Frames(nodeSide.getInputStream(), nodeSide.getOutputStream(), nodeSide);
        host.stream(address, srun);
        Thread.ofPlatform().daemon().start(() -> {
            try {
                Json.Obj attach = Json.object(node.receive());
                assertThat(attach.text("type")).isEqualTo("IoAttach");
                attached.add(attach);
                assertThat(IoFrame.decode(node.receive()).type()).isEqualTo('A');
                for (IoFrame f : says) {
                    node.send(f.encode());
                }
                if (leaves) {
                    nodeSide.close();
                }
                while (true) {
                    IoFrame f = IoFrame.decode(node.receive());
                    synchronized (got) {
                        got.add(f);
                    }
                }
            } catch (IOException e) {
                // srun has gone
            }
        });
    }

    private static IoFrame out(int task, int stream, long offset, String text) {
        return new IoFrame('O', task, stream, offset, text.getBytes(StandardCharsets.UTF_8));
    }

    private static IoFrame exit(int task, int waitStatus) {
        return IoFrame.of('X', task, 0, waitStatus);
    }

    private static final String STEP_OF_FOUR =
            "{\"jobId\":5,\"stepId\":3,\"attempt\":1,\"tasks\":4,\"ioToken\":\"t\",\"shares\":["
                    + "{\"node\":\"n1\",\"address\":\"a1\",\"port\":1,\"taskIds\":[0]},{\"node\":\"n2\","
                    + "\"address\":\"a2\",\"port\":1,\"taskIds\":[1]},"
                    + "{\"node\":\"n3\",\"address\":\"a3\",\"port\":1,\"taskIds\":[2]},{\"node\":\"n4\","
                    + "\"address\":\"a4\",\"port\":1,\"taskIds\":[3]}]}";

    private static IoFrame done(int rank) {
        return IoFrame.of('F', rank, 0, 0);
    }

    /**
     * The CPUs of a step by its options and LaunchParameters: --exclusive alone means exactly the CPUs that it asks
     * for; with a word it only says which jobs share nodes.
     */
    @Test
    void exclusiveStepsHaveWhatTheyAskFor() {
        String[][] table = {
            {"", "", "true"},
            {"--exclusive", "", "false"},
            {"--exclusive=allocation", "", "true"},
            {"--exclusive=user", "", "true"},
            {"--exclusive", "srun_exclusive_allocation", "true"},
            {"--exclusive --exact", "srun_exclusive_allocation", "false"}
        };
        for (String[] row : table) {
            host.settings().launchParameters = row[1].isEmpty() ? List.of() : List.of(row[1]);
            host.run("srun " + row[0] + " prog");
            assertThat(Boolean.toString(host.sent.get("CreateStep").obj("step").flag("wholeNodes")))
                    .as(String.join(" ", row))
                    .isEqualTo(row[2]);
        }
    }

    /** shows: TreeWidth */
    @Test
    void treeWidthAttachesNodesThroughRelays() throws IOException {
        host.settings().treeWidth = 2;
        host.reply("CreateStep", STEP_OF_FOUR);
        node("a1", out(1, 1, 0, "one\n"), out(0, 1, 0, "zero\n"), exit(1, 0), done(1), exit(0, 0), done(0));
        node("a3", out(2, 1, 0, "two\n"), exit(2, 0), done(2), out(3, 1, 0, "three\n"), exit(3, 4 << 8), done(3));
        FakeHost.Ran ran = host.run("srun -l -n4 -N4 prog");
        assertThat(ran.out().lines().sorted().toList()).containsExactly("0: zero", "1: one", "2: two", "3: three");
        assertThat(ran.err()).isEqualTo("srun: error: n4: task 3: Exited with exit code 4\n");
        assertThat(ran.rc()).isEqualTo(4);
        assertThat(attached.stream()
                        .map(a -> a.objects("behind").toString())
                        .sorted()
                        .toList())
                .containsExactly("[{\"node\":\"n2\",\"tasks\":\"1\"}]", "[{\"node\":\"n4\",\"tasks\":\"3\"}]");
        assertThat(attached).allMatch(a -> a.integer("width") == 2 && a.flag("relayed"));
    }

    @Test
    void equalEndsAreToldOnceWhereThatIsWanted() throws IOException {
        host.reply("CreateStep", STEP_OF_FOUR);
        for (String reduce : List.of("0", "1")) {
            for (int n = 1; n <= 4; n++) {
                node("a" + n, exit(n - 1, (n < 4 ? 3 : 5) << 8), done(n - 1));
            }
            host.env.put("SLURM_SRUN_REDUCE_TASK_EXIT_MSG", reduce);
            assertThat(host.run("srun -n4 -N4 prog").err().lines().filter(l -> l.contains("Exited with")))
                    .as(reduce)
                    .hasSize(reduce.equals("0") ? 4 : 2);
        }
    }

    /**
     * The relay dies: it is asked again by itself, those behind it by the next of them, from where their streams had
     * come to.
     */
    @Test
    void aLostRelayCostsNothing() throws IOException {
        host.reply("CreateStep", STEP_OF_FOUR);
        node("a1", true, out(2, 1, 0, "first\n"), exit(1, 0), done(1));
        node("a1", out(0, 1, 0, "zero\n"), exit(0, 0), DONE);
        node(
                "a3",
                out(2, 1, 0, "first\n"),
                out(2, 1, 6, "second\n"),
                exit(2, 0),
                done(2),
                out(3, 1, 0, "three\n"),
                exit(3, 0),
                done(3));
        FakeHost.Ran ran = host.run("srun -l -n4 -N4 --treewidth=1 prog");
        assertThat(ran.out().lines().sorted().toList()).containsExactly("0: zero", "2: first", "2: second", "3: three");
        assertThat(ran.err()).isEmpty();
        assertThat(ran.rc()).isZero();
    }

    @Test
    void nodeThatTheRelayMissesIsReachedDirectly() throws IOException {
        host.reply("CreateStep", STEP_OF_FOUR);
        node(
                "a1",
                new IoFrame('!', 2, 2, 0, new byte[0]),
                exit(0, 0),
                done(0),
                exit(1, 0),
                done(1),
                exit(3, 0),
                done(3));
        node("a3", out(2, 1, 0, "two\n"), exit(2, 0), DONE);
        FakeHost.Ran ran = host.run("srun -l -n4 -N4 --treewidth=1 prog");
        assertThat(ran.out()).isEqualTo("2: two\n");
        assertThat(ran.rc()).isZero();
    }

    /** A step whose files srun cannot open ends: its tasks would keep the next step waiting. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            5 | srun -i /nowhere/f true | 5.3
            ' ' | srun -n2 -i /nowhere/f true | 5
            """)
    void stepWithoutItsInputIsCancelled(String inside, String line, String cancelled) throws IOException {
        node("a1");
        node("a2");
        host.reply("Cancel", "{}").reply("CompleteAllocation", "{}");
        if (!inside.isBlank()) {
            host.env.put("SLURM_JOB_ID", inside);
        }
        FakeHost.Ran ran = host.run(line);
        assertThat(ran.err()).isEqualTo("srun: error: Could not open stdin file: No such file or directory\n");
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(host.sent.get("Cancel").texts("jobs")).containsExactly(cancelled);
    }

    /** Words of srun's files: in any case, and whatever begins with "all" is that word, as in Slurm. */
    @ParameterizedTest
    @CsvSource({
        "all,all",
        "ALL,all",
        "all.txt,all",
        "allx,all",
        "none,none",
        "NONE,none",
        "1,1",
        "none.txt,''",
        "xall,''"
    })
    void stepFileWordsIgnoreCaseAndEndings(String typed, String sent) throws IOException {
        node("a1");
        node("a2");
        host.refuse("CreateStep", 2014, "enough");
        host.env.put("SLURM_JOB_ID", "5");
        host.run("srun -n2 -o " + typed + " true");
        assertThat(Bytes.fromBase64(host.sent
                                .get("CreateStep")
                                .obj("step")
                                .obj("io")
                                .text("stdout"))
                        .text())
                .isEqualTo(sent);
    }

    @Test
    void stepInputIsSentOnceToABranch() throws IOException {
        host.stdin = "input";
        host.reply("CreateStep", STEP_OF_FOUR);
        node(
                "a1",
                java.util.stream.IntStream.range(0, 4)
                        .mapToObj(task -> IoFrame.of('L', task, 0, 1 << 18))
                        .toArray(IoFrame[]::new));
        Thread.ofPlatform().daemon().start(() -> host.run("srun -n4 -N4 --treewidth=1 prog"));
        for (int i = 0; i < 500 && types().size() < 2; i++) {
            java.util.concurrent.locks.LockSupport.parkNanos(10_000_000);
        }
        assertThat(types()).containsExactly('I', 'i');
    }

    private List<Character> types() {
        synchronized (got) {
            return got.stream().map(IoFrame::type).toList();
        }
    }

    @ParameterizedTest
    @CsvSource({"x", "-1", "70000"})
    void invalidTreeWidthIsRefused(String width) {
        FakeHost.Ran ran = host.run("srun --treewidth=" + width + " true");
        assertThat(ran.rc()).isEqualTo(255);
        assertThat(ran.err()).isEqualTo("srun: error: Invalid --treewidth value: " + width + "\n");
    }

    private static final IoFrame DONE = IoFrame.of('F', IoFrame.ALL_TASKS, 0, 0);

    @Test
    void labelsWholeLinesAndTellsHowTasksEnded() throws IOException {
        node("a1", out(0, 1, 0, "one\ntw"), out(0, 1, 6, "o\n"), out(0, 1, 6, "o\n"), exit(0, 0), DONE);
        node("a2", out(1, 1, 0, "half"), IoFrame.of('E', 1, 1, 4), out(1, 2, 0, "bad\n"), exit(1, 3 << 8), DONE);
        FakeHost.Ran ran = host.run("srun -l -n2 -N2 prog");
        assertThat(ran.out().lines().sorted().toList()).containsExactly("0: one", "0: two", "1: half");
        assertThat(ran.err().lines().sorted().toList())
                .containsExactly("1: bad", "srun: error: n2: task 1: Exited with exit code 3");
        assertThat(ran.rc()).isEqualTo(3);
        assertThat(host.calls).containsExactly("Submit", "AwaitAllocation", "CreateStep", "CompleteAllocation");
        assertThat(host.sent.get("CompleteAllocation").obj("exit").integer("code"))
                .isEqualTo(3);
    }

    /** shows: EioTimeout */
    @Test
    void streamsThatStayOpenAreNotWaitedForForEver() throws IOException {
        host.settings().eioTimeout = 1;
        host.timeGoesOn = true;
        node("a1", out(0, 1, 0, "one"), exit(0, 0));
        node("a2", exit(1, 2 << 8), DONE);
        FakeHost.Ran ran = host.run("srun -n2 -N2 prog");
        assertThat(ran.out()).isEqualTo("one");
        assertThat(ran.rc()).isEqualTo(2);
    }

    /** What is only half a line is held here: the node must keep it, or it would be lost with this process. */
    @Test
    void srunAcknowledgesOnlyWrittenOutput() throws Exception {
        node("a1", out(0, 1, 0, "one\ntw"), out(0, 1, 6, "o\nthr"), IoFrame.of('E', 0, 1, 11), exit(0, 0), DONE);
        node("a2", exit(1, 0), DONE);
        assertThat(host.run("srun -n2 -N2 prog").out()).isEqualTo("one\ntwo\nthr");
        for (int i = 0; i < 200 && !acknowledged().contains(11L); i++) {
            Thread.sleep(10);
        }
        // what came together is acknowledged together, but never more than has gone out
        assertThat(acknowledged()).isSubsetOf(4L, 8L, 11L).isSorted().endsWith(11L);
    }

    private List<Long> acknowledged() {
        synchronized (got) {
            return got.stream()
                    .filter(f -> f.type() == 'a')
                    .map(IoFrame::offset)
                    .toList();
        }
    }

    @Test
    void srunResumesTheStepOfTheCommandService() throws IOException {
        String state = "{\"allocation\":" + ALLOCATION + ",\"started\":" + STEP + ",\"own\":true}";
        host.resumable(ResumableStep.of(
                state.getBytes(StandardCharsets.UTF_8),
                "input 7\n0 1 4\n1 1 2\n".getBytes(StandardCharsets.UTF_8),
                new byte[0]));
        node("a1", out(0, 1, 4, "two\n"), exit(0, 0), DONE);
        node("a2", out(1, 1, 0, "x\ny\n"), exit(1, 3 << 8), DONE);
        FakeHost.Ran ran = host.run("srun -l -n2 -N2 prog");
        assertThat(ran.out().lines().sorted().toList()).containsExactly("0: two", "1: y");
        assertThat(ran.rc()).isEqualTo(3);
        assertThat(host.calls).containsExactly("CompleteAllocation");
    }

    @Test
    void requestIdsFollowFromTheFirst() {
        RequestIds ids = new RequestIds("00112233445566778899aabbccddeeff");
        assertThat(ids.next()).isEqualTo("00112233445566778899aabbccddeeff");
        assertThat(ids.next()).isEqualTo("00112233445566778899aabbccddeefe");
        java.util.Set<String> all = new java.util.HashSet<>();
        for (int i = 0; i < 5000; i++) {
            assertThat(all.add(ids.next())).isTrue();
        }
    }

    @Test
    void signalsOutrankExitCodes() throws IOException {
        node("a1", exit(0, 9), DONE);
        node("a2", exit(1, 0), DONE);
        FakeHost.Ran ran = host.run("srun -n2 -N2 prog");
        assertThat(ran.err()).isEqualTo("srun: error: n1: task 0: Killed\nsrun: Force Terminated StepId=5.3\n");
        assertThat(ran.rc()).isEqualTo(137);
    }

    /** It waits for room; a signal comes. */
    @ParameterizedTest
    @CsvSource({"INT, 2", "TERM, 15", "QUIT, 3", "HUP, 1", "USR1, 10", "USR2, 12", "ALRM, 14"})
    void aSignalEndsTheWaitingForAStep(String name, int number) {
        host.env.put("SLURM_JOB_ID", "5");
        host.refuse("CreateStep", 2016, "Requested nodes are busy");
        host.meanwhile.put("CreateStep", q -> {
            if (q.number("waitMs") > 0) {
                Thread.ofVirtual().start(host.handlers.get(name));
                host.awaitGivenUp();
            }
        });
        assertThat(host.run("srun prog"))
                .isEqualTo(new FakeHost.Ran(
                        1,
                        "",
                        "srun: Job 5 step creation temporarily disabled, retrying "
                                + "(Requested nodes are busy)\nsrun: Cancelled pending job step with signal "
                                + number
                                + "\nsrun: error: Unable to create step for job 5: Job/step already "
                                + "completing or completed\n"));
        assertThat(host.sent.get("CreateStep").number("waitMs")).isZero();
    }

    /** The step exists and srun does not know it yet: if the signal ended srun now, the step would go on without it. */
    @Test
    void aSignalBeforeSrunHasItsTasksReachesThem() throws Exception {
        host.env.put("SLURM_JOB_ID", "5");
        java.util.concurrent.CountDownLatch cancelled = new java.util.concurrent.CountDownLatch(1);
        host.meanwhile.put("Cancel", q -> cancelled.countDown());
        host.meanwhile.put("CreateStep", q -> {
            Thread t = Thread.ofVirtual().start(host.handlers.get("TERM"));
            host.awaitGivenUp();
            host.meanwhile.remove("CreateStep");
            t.interrupt();
        });
        node("a1", true, exit(0, 9), DONE);
        node("a2", true, exit(1, 9), DONE);
        FakeHost.Ran ran = host.run("srun -n2 -N2 prog");
        assertThat(ran.err()).startsWith("srun: forcing job termination\n").contains("srun: error: n1: task 0: Killed");
        assertThat(cancelled.await(10, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
    }

    /** Two within a second: the tasks have SIGINT and then SIGKILL, and srun tells nothing of their ends. */
    @Test
    void aSecondInterruptEndsTheStep() throws Exception {
        host.env.put("SLURM_JOB_ID", "5");
        java.util.List<Long> signals = new java.util.concurrent.CopyOnWriteArrayList<>();
        java.util.concurrent.CountDownLatch sent = new java.util.concurrent.CountDownLatch(2);
        host.meanwhile.put("Cancel", q -> {
            signals.add(q.number("signal"));
            sent.countDown();
        });
        host.meanwhile.put("CreateStep", q -> {
            Thread first = Thread.ofVirtual().start(host.handlers.get("INT"));
            Thread second = Thread.ofVirtual().start(host.handlers.get("INT"));
            host.awaitGivenUp();
            host.meanwhile.remove("CreateStep");
            first.interrupt();
            second.interrupt();
        });
        node("a1", true, exit(0, 2), DONE);
        node("a2", true, exit(1, 2), DONE);
        FakeHost.Ran ran = host.run("srun -n2 -N2 prog");
        assertThat(ran.rc()).isEqualTo(130);
        assertThat(ran.err())
                .startsWith("srun: interrupt (one more within 1 sec to abort)\nsrun: StepId=5.3 tasks 0-1: running\n"
                        + "srun: sending Ctrl-C to StepId=5.3\nsrun: forcing job termination\nsrun: Job step aborted: ")
                .doesNotContain("Interrupt\n");
        assertThat(sent.await(10, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
        assertThat(signals).containsExactly((long) JobMessages.Cancel.INTERRUPT, 9L);
    }

    @Test
    void killOnBadExitEndsTheStepByTheController() throws IOException {
        node("a1", exit(0, 2 << 8), DONE);
        node("a2", exit(1, 15), DONE);
        FakeHost.Ran ran = host.run("srun -K -n2 -N2 prog");
        assertThat(ran.rc()).isEqualTo(143);
        assertThat(ran.err()).contains("srun: error: n1: task 0: Exited with exit code 2");
    }

    /** --quiet suppresses information and keeps errors. */
    @Test
    void quietTellsErrorsAlone() throws IOException {
        node("a1", exit(0, 2 << 8), DONE);
        node("a2", exit(1, 15), DONE);
        assertThat(host.run("srun -Q -K -n2 -N2 prog").err().lines())
                .allMatch(line -> line.startsWith("srun: error: n"));
    }

    @ParameterizedTest
    @CsvSource({"0,1", "1,1"})
    void filesThatCannotBeOpenedAreTold(int task, int rc) throws IOException {
        node("a1", exit(0, task == 0 ? 53 : 0), DONE);
        node("a2", exit(1, task == 1 ? 53 : 0), DONE);
        FakeHost.Ran ran = host.run("srun -n2 -N2 prog");
        assertThat(ran.rc()).isEqualTo(rc);
        assertThat(ran.err()).contains("srun: error: task " + task + " launch failed: Slurmd could not connect IO\n");
    }

    @Test
    void insideAnAllocationTheStepIsAllThatIsAskedFor() throws IOException {
        host.env.put("SLURM_JOB_ID", "5");
        host.env.put("SLURM_NTASKS", "2");
        host.env.put("SLURM_NNODES", "2");
        host.env.put("SLURM_JOB_NAME", "batch");
        node("a1", exit(0, 0), DONE);
        node("a2", exit(1, 0), DONE);
        assertThat(host.run("srun -o file.%t prog 'a").rc()).isZero();
        assertThat(host.calls).containsExactly("AwaitAllocation", "CreateStep");
        Json.Obj step = host.sent.get("CreateStep").obj("step");
        assertThat(step.text("name")).isEqualTo("prog");
        assertThat(step.obj("request").toString()).isEqualTo("{\"nodesMin\":2,\"nodesMax\":2,\"tasks\":2}");
        assertThat(Bytes.fromBase64(step.obj("io").text("stdout")).text()).isEqualTo("file.%t");
        assertThat(step.texts("arguments").stream()
                        .map(a -> Bytes.fromBase64(a).text())
                        .toList())
                .containsExactly("prog", "'a");
    }

    /** The step runs in an allocation of two nodes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -n1       | warning: can't run 1 processes on 2 nodes, setting nnodes to 1
            -n1 -N2   | warning: can't run 1 processes on 2 nodes, setting nnodes to 1
            -n1 -N1-2     |
            -n2           |
            -w n[1-2] -N1| error: Required nodelist includes more nodes than permitted by max-node count (2 > 1). Eliminating nodes from the nodelist.
            -r1 | error: --relative and SLURM_JOB_NUM_NODES option incompatible with count of allocated nodes (1+2>2)
            -r1 -N2   | error: --relative and --nodes option incompatible with count of allocated nodes (1+2>2)
            -r1 -N1       |
            -r1 -w n2 | error: -r,--relative not allowed with -w,--nodelist or -x,--exclude.
            """)
    void srunWarnsOfNodeCountsInsideAnAllocation(String options, String told) {
        host.env.put("SLURM_JOB_ID", "5");
        host.env.put("SLURM_JOB_NUM_NODES", "2");
        host.refuse("CreateStep", 2015, "no");
        String err = host.run("srun " + options + " prog").err();
        assertThat(err.replaceAll("srun: error: Unable to create step.*\n", "").strip())
                .isEqualTo(told == null ? "" : "srun: " + told);
    }

    @Test
    void nodesAreNotWantedAndLeftOut() {
        host.env.put("SLURM_JOB_ID", "5");
        FakeHost.Ran ran = host.run("srun -w a[1-2] -x a2,a3 prog");
        assertThat(ran.err())
                .isEqualTo("srun: error: Requested node a2 is also in the excluded list.\nsrun: error: Job not "
                        + "submitted.\n");
        assertThat(ran.rc()).isEqualTo(1);
    }

    @Test
    void stepInputStopsAtTheNodesWindow() throws IOException {
        host.stdin = "hello";
        node("a1", IoFrame.of('L', 0, 0, 100), exit(0, 0), DONE);
        node("a2", IoFrame.of('L', 1, 0, 100), exit(1, 0), DONE);
        assertThat(host.run("srun -n2 -N2 prog").rc()).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            srun | 1 | srun: fatal: No command given to execute.
            srun -n0 true | 1 | srun: error: Invalid numeric value "0" for --ntasks.
            srun --multi-prog /nonexist | 1 | srun: error: Could not open multi_prog config file /nonexist
            srun --het-group=1 true : true | 1 | srun: fatal: Duplicate het groups in single srun not supported
            srun --het-group=0 true : true | 1 | srun: fatal: Duplicate het groups in single srun not supported
            srun --het-group=7 true : true | 1 | srun: fatal: Duplicate het groups in single srun not supported
            srun --het-group=1 true | 1 | srun: error: Requested het-group offset exceeds highest hetjob index (1 > 0)
            srun --het-group=0,1 true | 1 | \
                srun: error: Attempt to run a job step with het group value of 1, but the job allocation has maximum value of 0
            srun a : --het-group=2 a | 1 | \
                srun: error: Attempt to run a job step with het group value of 2, but the job allocation has maximum value of 1
            srun --accel-bind=q true | 255 | srun: error: Invalid --accel-bind specification
            srun --accel-bind=gn true | 1 | srun: error: --accel-bind binds to GPUs only (g) in this version of Muster, not gn
            srun --threads=0 true | 1 | srun: error: Invalid numeric value "0" for --threads.
            srun --msg-timeout=x true | 1 | srun: error: Invalid numeric value "x" for --msg-timeout.
            """)
    void invalidSrunCommandIsRefused(String command, int rc, String error) {
        assertThat(host.run(command)).isEqualTo(new FakeHost.Ran(rc, "", error + "\n"));
    }

    @Test
    void unknownCompressionTypeDisablesCompression() {
        assertThat(host.run("srun --compress=zip").err())
                .isEqualTo("srun: error: Compression type 'zip' unknown, disabling compression support.\n"
                        + "srun: fatal: No command given to execute.\n");
        assertThat(host.run("srun --compress").err()).isEqualTo("srun: fatal: No command given to execute.\n");
    }

    @Test
    void srunReportsARefusedAllocation() {
        host.refuse("Submit", 2000, "Invalid partition name specified");
        assertThat(host.run("srun -p nope true"))
                .isEqualTo(new FakeHost.Ran(
                        1,
                        "",
                        "srun: error: invalid partition "
                                + "specified: nope\nsrun: error: Unable to allocate resources: Invalid "
                                + "partition name specified\n"));
        host.refuse("AwaitAllocation", 2017, "Invalid job id specified");
        assertThat(host.run("srun --jobid=99 true"))
                .isEqualTo(new FakeHost.Ran(
                        1,
                        "",
                        "srun: error: Unable to confirm "
                                + "allocation for job 99: Invalid job id specified\n"
                                + "srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 99\n"));
        host.refuse("AwaitAllocation", 2002, "Access/permission denied");
        assertThat(host.run("srun --jobid=99 true").err())
                .isEqualTo("srun: error: Unable to create step for job 99: Access/permission denied\n");
        assertThat(host.run("srun --mpi=list").out()).isEqualTo("MPI plugin types are...\n\tnone\n");
    }

    /** Neither srun nor sbcast nor wait_job waits for a job to start. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            PENDING   | srun --jobid=7 true              | 1   | srun: error: Unable to confirm allocation for job 7: Job is pending execution
            COMPLETED | srun --jobid=7 true              | 1   | srun: error: Slurm job 7 has expired
            PENDING   | sbcast -j 7 /etc/hostname /tmp/x | 255 | sbcast: error: Slurm job 7 lookup error: Job is pending execution
            FAILED    | sbcast -j 7 /etc/hostname /tmp/x | 255 | sbcast: error: Slurm job 7 lookup error: Job/step already completing or completed
            PENDING   | scontrol wait_job 7              | 1   | scontrol: Job 7 no longer running
            TIMEOUT   | scontrol wait_job 7              | 1   | scontrol: Job 7 no longer running
            CANCELLED | scontrol wait_job 7              | 1   | scontrol: Job 7 no longer running
            """)
    void commandsDoNotWaitForAJobThatIsNotRunning(String state, String command, int rc, String said) {
        host.files.put("/etc/hostname", "h");
        host.reply(
                "AwaitAllocation",
                "{\"jobId\":7,\"ready\":" + !state.equals("PENDING") + ",\"state\":\"" + state + "\",\"nodes\":\"\"}");
        FakeHost.Ran ran = host.run(command);
        assertThat(ran.rc()).isEqualTo(rc);
        assertThat(ran.err().lines().findFirst()).contains(said);
        String hint = "srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 7\n";
        assertThat(ran.err().contains(hint)).isEqualTo(command.startsWith("srun"));
    }

    /** A user that sees a job in the queue may wait for its nodes. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RUNNING | 0 | scontrol: Nodes are ready for job 7",
                "PENDING | 1 | scontrol: Job 7 no longer running",
                "FAILED | 1 | scontrol: Job 7 no longer running"
            })
    void waitJobWorksForAnotherUsersJob(String state, int rc, String said) {
        host.refuse("AwaitAllocation", 2002, "Access/permission denied");
        host.reply("QueryJobs", ("{'jobs':[{'jobId':7,'state':'" + state + "','flags':[]}]}").replace('\'', '"'));
        assertThat(host.run("scontrol wait_job 7")).isEqualTo(new FakeHost.Ran(rc, "", said + "\n"));
        host.refuse("QueryJobs", 2017, "Invalid job id specified");
        assertThat(host.run("scontrol wait_job 7").err()).isEqualTo("scontrol: Problem running job 7\n");
    }

    @Test
    void waitJobReportsReadyNodes() {
        host.reply("AwaitAllocation", "{\"jobId\":7,\"state\":\"RUNNING\",\"ready\":true}");
        assertThat(host.run("scontrol wait_job 7"))
                .isEqualTo(new FakeHost.Ran(0, "", "scontrol: Nodes are ready for job 7\n"));
        assertThat(host.run("scontrol wait_job x")).isEqualTo(new FakeHost.Ran(1, "", "Invalid job_id x"));
    }

    @Test
    void mpiListShowsTheInstalledKinds() {
        host.mpiKinds = List.of("none", "pmi2", "pmix", "pmix_v4");
        assertThat(host.run("srun --mpi=list").out())
                .isEqualTo("MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\nspecific pmix plugin versions "
                        + "available: pmix_v4\n");
        assertThat(host.run("srun --mpi=pmix_v3 true")).isEqualTo(new FakeHost.Ran(1, "", """
                srun: error: Couldn't find the specified plugin name for mpi/pmix_v3 looking at all files
                srun: error: cannot find mpi plugin for mpi/pmix_v3
                srun: error: MPI: Cannot create context for mpi/pmix_v3
                srun: error: MPI: Unable to load any plugin
                srun: error: Invalid MPI type 'pmix_v3', --mpi=list for acceptable types
                """));
    }

    /** What the step and its tasks are told: as asked for, else MpiDefault, and nothing with none. */
    @ParameterizedTest
    @CsvSource({
        "'', '', ''",
        "pmi2, '', pmi2",
        "pmi2, --mpi=pmix, pmix",
        "pmi2, --mpi=none, ''",
        "'', --mpi=pmix_v4, pmix_v4"
    })
    void stepUsesTheRequestedOrDefaultMpi(String byDefault, String option, String kind) throws IOException {
        host.mpiKinds = List.of("none", "pmi2", "pmix", "pmix_v4");
        host.settings().mpiDefault = byDefault;
        node("a1", exit(0, 0), DONE);
        node("a2", exit(1, 0), DONE);
        host.run(("srun -n2 -N2 " + option + " true").replace("  ", " "));
        Json.Obj step = host.sent.get("CreateStep").obj("step");
        assertThat(step.text("mpi")).isEqualTo(kind);
        List<String> told = step.texts("environment").stream()
                .map(e -> Bytes.fromBase64(e).text())
                .filter(e -> e.startsWith("SLURM_MPI_TYPE="))
                .toList();
        assertThat(told).isEqualTo(kind.isEmpty() ? List.of() : List.of("SLURM_MPI_TYPE=" + kind));
    }

    /** shows: MpiDefault */
    @Test
    void invalidMpiDefaultIsRefused() {
        host.settings().mpiDefault = "pmi9";
        assertThat(host.run("srun true").err())
                .contains("srun: error: Invalid MPI type 'pmi9', --mpi=list for acceptable types\n");
        host.refuse("Submit", 2000, "Invalid partition name specified");
        assertThat(host.run("srun --mpi=none -p nope true").err()).doesNotContain("MPI");
        host.settings().mpiDefault = "none";
        assertThat(host.run("srun -p nope true").err()).doesNotContain("MPI");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            out.%j.%x | out.5.job
            %A_%a.%t | 7_2.%t
            %b_%3b | 2_002
            %5j-%%-%u | 00005-%-ann
            %s.%J | 3.5.3
            a\\%j | a%j
            """)
    void filePatternIsExpanded(String pattern, String expanded) {
        StepFiles.Names names = new StepFiles.Names(5, "3", "job", "ann", "7", "2");
        assertThat(StepFiles.expand(pattern, names)).isEqualTo(expanded);
    }

    @Test
    void arrayPatternOutsideAnArrayIsZero() {
        StepFiles.Names names = new StepFiles.Names(5, "3", "job", "ann", "", "");
        assertThat(StepFiles.expand("%A_%a_%3a_%b", names)).isEqualTo("5_0_000_0");
    }

    @Test
    void framesAndRankListsRoundTrip() {
        IoFrame f = new IoFrame('O', -1, 2, 1L << 40, new byte[] {1, 2});
        IoFrame back = IoFrame.decode(f.encode());
        assertThat(back.type()).isEqualTo('O');
        assertThat(back.task()).isEqualTo(-1);
        assertThat(back.offset()).isEqualTo(1L << 40);
        assertThat(back.bytes()).containsExactly(1, 2);
        assertThat(TaskRanges.text(List.of(5, 0, 1, 2, 9))).isEqualTo("0-2,5,9");
    }

    /** A signal after the grant, before the command or the step has handlers of its own, gives the allocation back. */
    @ParameterizedTest
    @CsvSource({
        "salloc --no-shell, INT",
        "salloc --no-shell, TERM",
        "salloc --no-shell, HUP",
        "srun true, TERM",
        "srun true, INT"
    })
    void aSignalRightAfterTheGrantIsNotLost(String command, String signal) {
        FakeHost host = new FakeHost();
        host.reply("Submit", "{\"jobId\":9}");
        host.reply(
                "AwaitAllocation",
                "{\"jobId\":9,\"state\":\"RUNNING\",\"ready\":true,\"nodes\":\"x1\",\"nodeCount\":1}");
        List<Runnable> atGrant = new ArrayList<>();
        host.meanwhile.put("AwaitAllocation", q -> atGrant.add(host.handlers.get(signal)));
        host.run(command);
        host.calls.clear();
        atGrant.getFirst().run();
        assertThat(host.calls).containsExactly("Cancel");
    }
}
