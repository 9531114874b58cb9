package dev.muster.node.io;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.MpiAttach;
import dev.muster.model.node.NodeMessages.MpiNode;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.step.MpiSpec;
import dev.muster.node.step.NodeStep;
import dev.muster.transport.Caller;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * Joins the helpers of a step whose tasks speak PMI: each node's slurmd connects its own to that of the node's parent,
 * over the parent's slurmd, and passes bytes. It knows nothing of what they say and keeps none of it: helpers take up a
 * lost connection where it was, so that one that is lost with a slurmd is just made again.
 */
public final class MpiLinks {
    /** Between slurmds: an {@link MpiAttach}, then bytes both ways. */
    public static final String STREAM = "mpi";
    /** The file in the step's directory with what a restarted slurmd must know to connect again. */
    private static final String REMEMBERED = "mpi.parent";

    private static final long STEP_WAIT_MS = 60_000;
    private static final long PAUSE_FIRST_MS = 2;
    private static final long PAUSE_MOST_MS = 500;
    private static final int PIECE_BYTES = 64 << 10;

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final JobSpool spool;
    private final IoFan.Dialer dialer;

    /** @param node that has the parent; attach: what it is told */
    private record Parent(String node, MpiAttach attach) {}

    public MpiLinks(Settings settings, DaemonLog log, EventLoop loop, JobSpool spool, IoFan.Dialer dialer) {
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.spool = spool;
        this.dialer = dialer;
    }

    /** Writes down the parent of this node's helper, if it has one. */
    public static void remember(Launch launch, Path stepDirectory) throws IOException {
        if (launch.nodeIndex() > 0) {
            MpiNode parent = launch.mpi().get((launch.nodeIndex() - 1) / MpiSpec.WIDTH);
            int step = parent.stepId() == 0
                    ? launch.stepId()
                    : parent.stepId(); // an older slurmctld does not say: all have the same
            Files.write(
                    stepDirectory.resolve(REMEMBERED),
                    Codec.encode(new Parent(parent.node(), new MpiAttach(parent.jobId(), step, launch.nodeIndex()))));
        }
    }

    /** After a restart: whether the step needs a connection. */
    public static boolean isRemembered(Path stepDirectory) {
        return Files.exists(stepDirectory.resolve(REMEMBERED));
    }

    /** Keeps the step's helper connected to its parent until the step is over. */
    public void connect(NodeStep step) {
        if (step.hasMpiParent) {
            EventLoop.aside(() -> keep(step));
        }
    }

    private void keep(NodeStep step) {
        Parent parent;
        try {
            parent = Codec.decode(Files.readAllBytes(step.directory.resolve(REMEMBERED)), Parent.class);
        } catch (IOException | Json.MalformedException e) {
            log.error("mpi: " + step.directory + ": " + ErrorSentence.reason(e));
            return;
        }
        long pauseMs = PAUSE_FIRST_MS;
        while (!step.over) {
            long beganNs = System.nanoTime();
            try (SocketChannel helper = helper(step);
                    Frames far = dialer.open(parent.node)) {
                far.send(Codec.encode(parent.attach));
                write(helper, "parent\n".getBytes(StandardCharsets.US_ASCII));
                join(helper, far);
            } catch (IOException e) {
                log.debug("mpi: step " + parent.attach.jobId() + "." + parent.attach.stepId() + ": "
                        + ErrorSentence.of(e));
            }
            boolean lasted = System.nanoTime() - beganNs > PAUSE_MOST_MS * 1_000_000;
            pauseMs = lasted ? PAUSE_FIRST_MS : Math.min(pauseMs * 2, PAUSE_MOST_MS);
            if (!pause(pauseMs)) {
                return;
            }
        }
    }

    /** Serves the connection of a child's slurmd. */
    public void handle(Caller caller, Frames frames, IoRelay.Steps steps) {
        if (caller.uid() != 0 && caller.uid() != settings.slurmUserId()) {
            log.error("Security violation, mpi stream from uid " + caller.uid());
            frames.close();
            return;
        }
        try (frames) {
            MpiAttach attach = Codec.decode(frames.receive(), MpiAttach.class);
            try (SocketChannel helper = await(attach, steps)) {
                write(helper, ("child " + attach.index() + "\n").getBytes(StandardCharsets.US_ASCII));
                join(helper, frames);
            }
        } catch (IOException | Json.MalformedException e) {
            log.debug("mpi: " + ErrorSentence.of(e));
        }
    }

    private SocketChannel helper(NodeStep step) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(spool.mpiSocket(step.directory)));
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** A child may be faster than this node. */
    private SocketChannel await(MpiAttach attach, IoRelay.Steps steps) throws IOException {
        long endNs = System.nanoTime() + STEP_WAIT_MS * 1_000_000;
        long pauseMs = PAUSE_FIRST_MS;
        while (System.nanoTime() < endNs) {
            Optional<NodeStep> step = find(attach, steps);
            if (step.isPresent() && step.get().over) {
                throw new IOException("step " + attach.jobId() + "." + attach.stepId() + " is over");
            }
            if (step.isPresent() && Files.exists(spool.mpiSocket(step.get().directory))) {
                return helper(step.get());
            }
            if (!pause(pauseMs)) {
                break;
            }
            pauseMs = Math.min(pauseMs * 2, PAUSE_MOST_MS);
        }
        throw new IOException("no step " + attach.jobId() + "." + attach.stepId());
    }

    private Optional<NodeStep> find(MpiAttach attach, IoRelay.Steps steps) throws IOException {
        return loop.ask(() -> steps.find(new IoAttach(attach.jobId(), 0, attach.stepId(), "", true))
                .map(IoRelay.Found::step));
    }

    /** Until one of them ends. */
    private static void join(SocketChannel helper, Frames far) throws IOException {
        Thread up = Thread.ofVirtual().name("mpi-up").start(() -> {
            try (far) {
                ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
                while (helper.read(piece) >= 0) {
                    far.send(Arrays.copyOf(piece.array(), piece.position()));
                    piece.clear();
                }
            } catch (IOException e) {
                // the other direction ends as well, and says why
            }
        });
        try {
            while (true) {
                write(helper, far.receive());
            }
        } finally {
            helper.close();
            up.interrupt();
        }
    }

    private static void write(SocketChannel to, byte[] bytes) throws IOException {
        ByteBuffer out = ByteBuffer.wrap(bytes);
        while (out.hasRemaining()) {
            to.write(out);
        }
    }

    private static boolean pause(long ms) {
        try {
            Thread.sleep(ms);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
