package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.Identity;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.StepExited;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.node.config.Settings;
import dev.muster.node.hardware.HardwareProbe;
import dev.muster.node.io.IoRelay;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import dev.muster.node.step.NodeStep;
import dev.muster.node.step.SpecBuilder;
import dev.muster.node.step.StepSocket;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What a step runs through in slurmd, gone through before the first one comes, so that the virtual machine has compiled
 * it by then: a launch is read and its specification written, and a stepd of straw sends the output of its tasks
 * through a door of its own. No process is started, and nothing of the node's own is touched.
 */
final class WarmUp {
    /** Measured with {@code bench.sh bigstep}. The virtual machine compiles what has run 200 times. */
    private static final int ROUNDS = 260;

    private static final long AT_MOST_NS = 5_000_000_000L;
    private static final int TASKS = 16;
    private static final int LOOKS_MAX = 60;
    private static final int LOOK_MS = 500;
    private static final String TOKEN = "warm-up";

    private final Settings settings;
    private final Path directory;
    private final SpecBuilder specs;
    private final byte[] launch = Codec.encode(launch(), ToNode.class);
    private final byte[] status = status();
    private final ByteBuffer output = output();

    @SuppressWarnings("UnusedVariable") // keeps the compiler from dropping the work
    private long size;

    private WarmUp(Settings settings, Path directory) {
        this.settings = settings;
        this.directory = directory;
        this.specs = new SpecBuilder(settings, new HardwareProbe(Path.of("/"), settings.tmpFs()).topology());
    }

    /**
     * Ends by itself after a few seconds at most; what goes wrong only ends it. A machine with something to do is left
     * alone: jobs, or the starts of other slurmds, which share it where a cluster is tried out.
     */
    static void start(Settings settings, Sessions sessions, DaemonLog log) {
        Thread.ofPlatform().name("warm-up").daemon(true).start(() -> {
            try {
                if (!calm()) {
                    return;
                }
                Path directory = Files.createTempDirectory("muster-warm-up-");
                try {
                    new WarmUp(settings, directory).run(sessions, log);
                } finally {
                    JobSpool.removeTree(directory);
                }
            } catch (IOException | RuntimeException | SpecBuilder.RefusedException e) {
                log.debug("warm-up: " + e);
            }
        });
    }

    /** Waits for it, bounded; not in step with others that wait. */
    private static boolean calm() {
        for (int i = 0; i < LOOKS_MAX; i++) {
            if (isCalm(
                    Os.read(Path.of("/proc/loadavg")).orElse(""),
                    Runtime.getRuntime().availableProcessors())) {
                return true;
            }
            try {
                Thread.sleep(LOOK_MS + ThreadLocalRandom.current().nextInt(LOOK_MS));
            } catch (InterruptedException e) {
                return false;
            }
        }
        return false;
    }

    /**
     * No more runs or wants to than there are processors.
     *
     * @param loadavg text of /proc/loadavg: the reading thread counts as running
     */
    static boolean isCalm(String loadavg, int cpus) {
        String[] words = loadavg.split(" ");
        String running = words.length < 4 ? "" : words[3].split("/")[0];
        return !running.matches("[0-9]{1,9}") || Integer.parseInt(running) <= cpus;
    }

    private void run(Sessions sessions, DaemonLog log) throws IOException, SpecBuilder.RefusedException {
        long endNs = System.nanoTime() + AT_MOST_NS;
        JobSpool spool = new JobSpool(directory);
        NodeStep step = new NodeStep(0, directory);
        step.ioToken = TOKEN;
        step.begun.complete(NodeStep.Begin.GOOD);
        try (EventLoop loop = new EventLoop(log);
                ServerSocketChannel stepd = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            stepd.bind(UnixDomainSocketAddress.of(spool.socket(directory)));
            Thread.ofVirtual().start(() -> serve(stepd));
            IoRelay relay = new IoRelay(
                    settings, log, loop, attach -> Optional.of(new IoRelay.Found(step, Os.uid())), spool, node -> {
                        throw new IOException("no other node");
                    });
            try (Server door = Server.start(
                    "127.0.0.1",
                    0,
                    sessions.verifier(),
                    (caller, message, body) -> Server.Reply.of(body.length),
                    Map.of("io", relay::handle),
                    path -> Optional.empty())) {
                for (int i = 0; i < ROUNDS && System.nanoTime() < endNs; i++) {
                    launched();
                    attached(door.port(), sessions);
                    ended();
                }
            }
        }
    }

    private void launched() throws SpecBuilder.RefusedException {
        Launch l = (Launch) Codec.decode(launch, ToNode.class);
        size += specs.build(
                        l,
                        new SpecBuilder.Place(
                                directory, directory, List.of(), List.of(), "", false, "", List.of(), false))
                .length;
        specs.confined(l.share().memoryMb(), l.share().cpus(), l.share().gres());
    }

    private void attached(int port, Sessions sessions) throws IOException {
        try (Client client = new Client("127.0.0.1", port, sessions::session, sessions::nonce);
                Frames io = client.stream(Server.streamPath("io"), "muster-io")) {
            io.send(Codec.encode(new IoAttach(1, 1, 0, TOKEN, false)));
            io.send(new StepSocket.Frame('A', StepSocket.ALL_TASKS, 0, 0, new byte[] {'p'}).encode());
            io.send(new StepSocket.Frame('i', StepSocket.ALL_TASKS, 0, 0, new byte[0]).encode());
            StepSocket.Frame frame;
            do {
                frame = StepSocket.Frame.decode(io.receive());
            } while (frame.type() != 'F');
            io.sendAll(List.of(new StepSocket.Frame('a', 0, 1, 2, new byte[0]).encode()));
        }
    }

    private void ended() {
        StatusFile read = StatusFile.parse(status).orElseThrow();
        size += Codec.encode(
                        new StepExited(1, 1, 1, 0, NodeStep.exits(Optional.of(read)), "", 0, read.usage()),
                        ToController.class)
                .length;
    }

    /** Serves one connection after the other until the listener closes. */
    private void serve(ServerSocketChannel listener) {
        try {
            while (true) {
                try (SocketChannel one = listener.accept()) {
                    ByteBuffer out = output.duplicate();
                    while (out.hasRemaining()) {
                        one.write(out);
                    }
                    Channels.newInputStream(one).skip(Long.MAX_VALUE);
                }
            }
        } catch (IOException e) {
            // the end
        }
    }

    private static ByteBuffer output() {
        List<StepSocket.Frame> frames = new ArrayList<>();
        for (int task = 0; task < TASKS; task++) {
            for (char type : "LTOEX".toCharArray()) {
                frames.add(new StepSocket.Frame(
                        type, task, 1, 0, type == 'O' ? "1\n".getBytes(StandardCharsets.US_ASCII) : new byte[0]));
            }
        }
        frames.add(new StepSocket.Frame('F', StepSocket.ALL_TASKS, 0, 0, new byte[0]));
        ByteBuffer out = ByteBuffer.allocate(
                frames.stream().mapToInt(f -> Integer.BYTES + f.encode().length).sum());
        frames.forEach(f -> out.putInt(f.encode().length).put(f.encode()));
        return out.flip();
    }

    private static byte[] status() {
        StringBuilder b = new StringBuilder("job 1\nstep 0\nattempt 1\nstepd 1\nstate complete\n");
        for (int task = 0; task < TASKS; task++) {
            b.append("task id=")
                    .append(task)
                    .append(" phase=done pid=1 started=1.000001 status=0 ended=1.000001 utime_us=1 stime_us=1\n");
        }
        return b.append("usage utime_us=1 stime_us=1 maxrss_kb=1 majflt=0 inblock=0 oublock=0\nend\n")
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Makes the launch of a step with a shell's everyday environment. */
    private static Launch launch() {
        List<Bytes> environment = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            environment.add(Bytes.of("SOME_VARIABLE_" + i + "=/a/value/of/usual/length"));
        }
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < TASKS; i++) {
            tasks.add(new Task(
                    i, i, "0", List.of(), List.of(Bytes.of("SLURM_PROCID=" + i), Bytes.of("SLURM_LOCALID=" + i))));
        }
        Identity owner = new Identity(0, 0, "root", "root", List.of(0), "/", "/bin/sh");
        JobShare share = new JobShare(
                1,
                1,
                "",
                owner,
                List.of("SLURM_JOB_PARTITION=main"),
                "0",
                0,
                Map.of(),
                -1,
                2,
                false,
                Bytes.of("name"),
                0,
                "");
        return new Launch(
                share,
                0,
                tasks,
                environment,
                Bytes.EMPTY,
                Codec.decode("{}".getBytes(StandardCharsets.UTF_8), StepDesc.class),
                Bytes.of("/tmp"),
                022,
                Map.of("NOFILE", 1024L),
                Bytes.EMPTY,
                Bytes.EMPTY,
                Bytes.EMPTY,
                false,
                0,
                1,
                TASKS,
                -1,
                TOKEN,
                0,
                "n1",
                false,
                Map.of());
    }
}
