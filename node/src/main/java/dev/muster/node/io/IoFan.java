package dev.muster.node.io;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.Behind;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.node.step.StepSocket;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A relay's branches: what srun, or the relay before, sends goes on to the nodes that it is for, and what these send
 * goes up by the one connection. Keeps no output: where srun does not take it, it stays with the tasks' stepds. Each
 * branch has its own threads; what cannot be reached is told and then srun's own business.
 */
final class IoFan implements AutoCloseable {
    /** The stream field of a refusal: this relay does not reach the node whose first task is named. */
    static final int OUT_OF_REACH = 2;
    /** Type of a relay's heartbeat. */
    static final char BEAT = 'b';
    /** Tasks of a step, on all nodes. */
    private static final int TASKS_MAX = 4_000_000;

    private static final int UP_TOGETHER_BYTES = 64 << 10;
    private static final int TASK_AT = 1;

    /** Opens a node's io stream. */
    public interface Dialer {
        Frames open(String node) throws IOException;
    }

    private final DaemonLog log;
    private final Dialer dialer;
    private final Frames up;
    private final IoAttach attach;
    private final RelayConnection own;
    private final List<Branch> branches = new ArrayList<>();
    private final Map<Integer, Branch> byTask = new HashMap<>();

    /**
     * @param up towards srun
     * @param own takes what is for this node itself
     * @throws IllegalArgumentException where the nodes behind are not described as they should be
     */
    IoFan(DaemonLog log, Dialer dialer, Frames up, IoAttach attach, RelayConnection own) {
        this.log = log;
        this.dialer = dialer;
        this.up = up;
        this.attach = attach;
        this.own = own;
        for (List<Behind> nodes : LaunchTree.branches(attach.behind(), attach.width())) {
            Branch branch = new Branch(nodes);
            branches.add(branch);
            for (Behind node : nodes) {
                List<Integer> tasks = LaunchTree.ranks(node.tasks(), TASKS_MAX - byTask.size());
                if (tasks.isEmpty()) {
                    throw new IllegalArgumentException("node " + node.node() + " without tasks");
                }
                branch.open.add(tasks.getFirst());
                branch.firsts.add(tasks.getFirst());
                tasks.forEach(task -> byTask.put(task, branch));
            }
        }
    }

    void start() {
        branches.forEach(b -> b.thread =
                Thread.ofVirtual().name("relay-" + b.nodes.getFirst().node()).start(b::run));
    }

    /** Passes a frame on to where it belongs. */
    void pass(byte[] frame) {
        int task = task(frame);
        if (task == StepSocket.ALL_TASKS) {
            offer(own, frame);
            branches.forEach(b -> b.take(frame));
        } else if (byTask.containsKey(task)) {
            byTask.get(task).take(frame);
        } else {
            offer(own, frame);
        }
    }

    /** Its own stepd always takes what it is sent, unless it is stopped: then its tasks have no use for more. */
    private void offer(RelayConnection outlet, byte[] frame) {
        if (!outlet.offer(frame)) {
            log.debug("io: step " + attach.jobId() + "." + attach.stepId() + " takes no more here");
        }
    }

    static int task(byte[] frame) {
        return frame.length < StepSocket.HEAD_BYTES
                ? StepSocket.ALL_TASKS
                : ByteBuffer.wrap(frame).getInt(TASK_AT);
    }

    /**
     * Told of the node as a whole: by its first task's number.
     *
     * @param whole frames, each behind its length
     */
    static void mark(byte[] whole, int rank) {
        ByteBuffer b = ByteBuffer.wrap(whole);
        for (int offset = 0; offset < whole.length; offset += Integer.BYTES + b.getInt(offset)) {
            if (whole[offset + Integer.BYTES] == 'F') {
                b.putInt(offset + Integer.BYTES + TASK_AT, rank);
            }
        }
    }

    @Override
    public void close() {
        branches.forEach(Branch::end);
        own.close();
    }

    private final class Branch {
        final List<Behind> nodes;
        final List<Integer> firsts = new ArrayList<>();
        /** First tasks of nodes that have not told their end. Only the branch's thread looks at it once that runs. */
        final Set<Integer> open = new HashSet<>();

        final RelayConnection outlet = new RelayConnection();
        volatile @Nullable Thread thread;
        volatile boolean ended;
        private volatile @Nullable Frames down;

        Branch(List<Behind> nodes) {
            this.nodes = nodes;
        }

        void take(byte[] frame) {
            if (!outlet.offer(frame)) {
                log.error("io: node " + nodes.getFirst().node() + " does not take what is sent to step "
                        + attach.jobId() + "." + attach.stepId() + ": given up as a relay");
                drop();
            }
        }

        void end() {
            ended = true;
            drop();
            Thread own = thread;
            if (own != null) {
                own.interrupt();
            }
        }

        private void drop() {
            outlet.close();
            Frames frames = down;
            if (frames != null) {
                frames.close();
            }
        }

        void run() {
            try (Frames frames = dialer.open(nodes.getFirst().node())) {
                down = frames;
                if (ended) {
                    return;
                }
                frames.send(Codec.encode(new IoAttach(
                        attach.jobId(),
                        attach.attempt(),
                        attach.stepId(),
                        attach.token(),
                        false,
                        true,
                        firsts.getFirst(),
                        attach.width(),
                        nodes.subList(1, nodes.size()))));
                if (nodes.size() > 1) {
                    frames.expect(LaunchTree.SILENT_MS);
                }
                Thread.ofVirtual().start(() -> write(frames));
                while (true) {
                    passUp(frames);
                }
            } catch (IOException e) {
                outlet.close();
                if (!ended) {
                    log.debug("io: relay " + nodes.getFirst().node() + " of step " + attach.jobId() + "."
                            + attach.stepId() + ": " + ErrorSentence.of(e));
                    lost();
                }
            }
        }

        private void write(Frames frames) {
            try {
                for (List<byte[]> next = outlet.take(); !next.isEmpty(); next = outlet.take()) {
                    frames.sendAll(next);
                }
            } catch (IOException e) {
                frames.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** All that has come, in one go. */
        private void passUp(Frames frames) throws IOException {
            List<byte[]> together = new ArrayList<>();
            int bytes = 0;
            do {
                byte[] frame = frames.receive();
                if (frame.length < StepSocket.HEAD_BYTES) {
                    throw new IOException("frame of " + frame.length + " bytes");
                }
                if (frame[0] == 'F' || frame[0] == '!') {
                    open.remove(task(frame));
                }
                // a hello, an answer or a beat concerns one connection only
                if (frame[0] != 'H' && frame[0] != 'R' && frame[0] != BEAT) {
                    together.add(frame);
                    bytes += frame.length;
                }
            } while (bytes < UP_TOGETHER_BYTES && frames.hasMore());
            if (!together.isEmpty()) {
                up.sendAll(together);
            }
        }

        private void lost() {
            List<byte[]> out = new ArrayList<>();
            for (int rank : open) {
                out.add(new StepSocket.Frame(
                                '!', rank, OUT_OF_REACH, 0, "out of reach".getBytes(StandardCharsets.UTF_8))
                        .encode());
            }
            try {
                up.sendAll(out);
            } catch (IOException e) {
                log.debug("io: " + ErrorSentence.of(e));
            }
        }
    }
}
