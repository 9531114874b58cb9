package dev.muster.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.Identity;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Register;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.NodeMessages.Welcome;
import dev.muster.model.node.SharedLaunch;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import dev.muster.transport.Verifier;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Emulated nodes speak as slurmd does: many of them to a controller of straw. */
class EmulatedNodesTest {
    private static final byte[] KEY = "a key of the cluster that is long enough".getBytes(UTF_8);
    private static final int NODES = 50;
    private static final int JOBS_PER_NODE = 10;

    private final Map<String, Frames> links = new ConcurrentHashMap<>();
    private final BlockingQueue<ToController> heard = new LinkedBlockingQueue<>();
    private Path directory;
    private Server controller;
    private EmulatedNodes nodes;

    @BeforeEach
    void start() throws Exception {
        controller = Server.start(
                "127.0.0.1",
                0,
                new Verifier(KEY, "test", Optional.empty(), System::currentTimeMillis)
                        .as(dev.muster.transport.Audience.SLURMCTLD),
                (c, m, b) -> Server.Reply.of(new Welcome(1, 1)),
                Map.of("node", (caller, frames) -> serve(frames)),
                path -> Optional.empty());
        directory = Files.createTempDirectory("muster-emulated-");
        Path key = Files.createFile(
                directory.resolve("slurm.key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(key, KEY);
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Files.writeString(
                directory.resolve("slurm.conf"),
                "ClusterName=test\nSlurmctldHost=h(127.0.0.1)\nSlurmctldPort=" + controller.port()
                        + "\nAuthType=auth/slurm\nSlurmdSpoolDir=" + directory
                        + "/%n\nSlurmdParameters=config_overrides\nProctrackType=proctrack/linuxproc\n"
                        + "NodeName=n[1-" + NODES + "] NodeAddr=127.0.0.1 Port=" + port
                        + " CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL\n",
                UTF_8);
        nodes = new EmulatedNodes(
                directory.resolve("slurm.conf"),
                "n[1-" + NODES + "]",
                new DaemonLog("slurmd", directory + "/log", false, 1, ""));
        nodes.start();
        for (int i = 0; i < 200 && nodes.connected() < NODES; i++) {
            Thread.sleep(50);
        }
        assertThat(nodes.connected()).isEqualTo(NODES);
    }

    @AfterEach
    void stop() throws Exception {
        nodes.close();
        controller.close();
        JobSpool.removeTree(directory);
    }

    /** Acknowledges at once. */
    private void serve(Frames frames) {
        try {
            while (true) {
                ToController message = Codec.decode(frames.receive(), ToController.class);
                switch (message) {
                    case Register r -> {
                        links.put(r.node(), frames);
                        send(r.node(), new Welcome(1, 5));
                    }
                    case NodeMessages.StepLaunched m ->
                        frames.send(Codec.encode(new NodeMessages.Ack(m.seq()), ToNode.class));
                    case NodeMessages.StepExited m ->
                        frames.send(Codec.encode(new NodeMessages.Ack(m.seq()), ToNode.class));
                    case NodeMessages.JobDone m ->
                        frames.send(Codec.encode(new NodeMessages.Ack(m.seq()), ToNode.class));
                    default -> {}
                }
                heard.add(message);
            }
        } catch (IOException e) {
            // the node left
        }
    }

    private void send(String node, ToNode order) throws IOException {
        links.get(node).send(Codec.encode(order, ToNode.class));
    }

    private static Launch launch(int jobId, int stepId, int index, String script) {
        Identity owner = new Identity(Os.uid(), Os.gid(), "me", "us", List.of(), "/", "/bin/sh");
        JobShare share = new JobShare(
                jobId,
                1,
                Os.bootId(),
                owner,
                List.of("SLURM_JOB_PARTITION=p"),
                "0",
                0,
                Map.of(),
                -1,
                2,
                false,
                Bytes.of("j"),
                0,
                "");
        return new Launch(
                share,
                stepId,
                List.of(new Task(index, 0, "", List.of(), List.of())),
                List.of(Bytes.of("A=1")),
                Bytes.of("#!/bin/sh\n" + script + "\n"),
                Codec.decode("{}".getBytes(UTF_8), StepDesc.class),
                Bytes.of("/tmp"),
                022,
                Map.of(),
                Bytes.EMPTY,
                Bytes.EMPTY,
                Bytes.EMPTY,
                false,
                index,
                1,
                1,
                -1,
                "",
                0,
                "n1",
                false,
                Map.of());
    }

    private <T extends ToController> T next(Class<T> kind) throws InterruptedException {
        while (true) {
            ToController message = heard.poll(15, TimeUnit.SECONDS);
            assertThat(message).as("no " + kind.getSimpleName() + " in 15 s").isNotNull();
            if (kind.isInstance(message)) {
                return kind.cast(message);
            }
        }
    }

    @Test
    void everyEmulatedJobRunsOnceAndLeavesNoTrace() throws Exception {
        for (int i = 0; i < NODES * JOBS_PER_NODE; i++) {
            Launch one = launch(i + 1, NodeMessages.STEP_BATCH, 0, i % 5 == 0 ? "exit 3" : "true");
            send("n" + (i % NODES + 1), one);
            send("n" + (i % NODES + 1), one);
        }
        int failed = 0;
        for (int i = 0; i < NODES * JOBS_PER_NODE; i++) {
            NodeMessages.StepExited end = next(NodeMessages.StepExited.class);
            failed += end.tasks().equals(Map.of("0", ExitStatus.exited(3))) ? 1 : 0;
            send("n" + ((end.jobId() - 1) % NODES + 1), new NodeMessages.EndJob(end.jobId(), 1, 2, ""));
        }
        assertThat(failed).isEqualTo(NODES * JOBS_PER_NODE / 5);
        for (int i = 0; i < 300 && nodes.freed() < NODES * JOBS_PER_NODE; i++) {
            Thread.sleep(50);
        }
        assertThat(nodes.freed()).isEqualTo(NODES * JOBS_PER_NODE);
        assertThat(nodes.launches()).isEqualTo(NODES * JOBS_PER_NODE);
        assertThat(nodes.ends()).isEqualTo(NODES * JOBS_PER_NODE);
    }

    @Test
    void aLaunchForAllGoesThroughSome() throws Exception {
        List<Launch> all =
                IntStream.range(0, NODES).mapToObj(i -> launch(1, 0, i, "")).toList();
        SharedLaunch shared = SharedLaunch.of(
                        IntStream.rangeClosed(1, NODES).mapToObj(i -> "n" + i).toList(), all)
                .orElseThrow();
        send("n1", new NodeMessages.Relay(1, 4, shared));
        int reached = 0;
        while (reached < NODES - 1) {
            NodeMessages.Relayed answer = next(NodeMessages.Relayed.class);
            assertThat(answer.missed()).isEmpty();
            reached += answer.reached().size();
        }
        assertThat(nodes.seen(1, 0).count()).isEqualTo(NODES);
    }

    @Test
    void gatedStepEndsWhenTheGateOpensOrItsJobIsEnded() throws Exception {
        send("n1", launch(1, NodeMessages.STEP_BATCH, 0, "gate"));
        send("n2", launch(2, NodeMessages.STEP_BATCH, 0, "gate"));
        next(NodeMessages.StepLaunched.class);
        next(NodeMessages.StepLaunched.class);
        send("n1", new NodeMessages.EndJob(1, 1, 2, "CANCELLED"));
        NodeMessages.StepExited killed = next(NodeMessages.StepExited.class);
        assertThat(killed.jobId()).isEqualTo(1);
        assertThat(killed.tasks()).isEqualTo(Map.of("0", ExitStatus.signaled(15)));
        nodes.open();
        NodeMessages.StepExited through = next(NodeMessages.StepExited.class);
        assertThat(through.jobId()).isEqualTo(2);
        assertThat(through.tasks()).isEqualTo(Map.of("0", ExitStatus.exited(0)));
    }
}
