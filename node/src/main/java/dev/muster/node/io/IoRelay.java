package dev.muster.node.io;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.node.config.Settings;
import dev.muster.node.job.Jobs;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import dev.muster.node.step.NodeStep;
import dev.muster.node.step.StepSocket;
import dev.muster.transport.Caller;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The {@code io} stream: joins srun's connection with the step's stepd. Holds no output itself: what srun has not
 * acknowledged stays in stepd, so that a killed slurmd loses nothing.
 */
public final class IoRelay {
    /** srun may be faster than the launch. */
    static final long STEP_WAIT_MS = 30_000;
    /** How long a lost stepd may take to be gone, or to have its end on disk. */
    static final long END_WAIT_MS = 2_000;

    static final long POLL_FIRST_MS = 2;
    static final long POLL_MOST_MS = 50;

    /** The stream field of a refusal: the step did not start; a line of detail and a line with the error follow. */
    private static final int NOT_STARTED = 1;
    /** Frames of srun that go on to stepd together. */
    private static final int TOGETHER_MAX = 64;

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final Steps steps;
    private final JobSpool spool;

    private final IoFan.Dialer dialer;

    /** @param dialer reaches the nodes behind this one, where it is a relay */
    public IoRelay(Settings settings, DaemonLog log, EventLoop loop, Steps steps, JobSpool spool, IoFan.Dialer dialer) {
        this.dialer = dialer;
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.steps = steps;
        this.spool = spool;
    }

    /**
     * What may be attached to.
     *
     * @param ownerUid of the job
     */
    public record Found(NodeStep step, int ownerUid) {}

    /** Knows the node's steps; asked on the node's thread. */
    public interface Steps {
        Optional<Found> find(IoAttach attach);
    }

    /** @param rank by which the client knows this node, {@link StepSocket#ALL_TASKS} where it is the only one */
    private record Target(NodeStep step, int ownerUid, String token, Path directory, boolean observer, int rank) {}

    public void handle(Caller caller, Frames frames) {
        try (frames) {
            IoAttach attach = Codec.decode(frames.receive(), IoAttach.class);
            Optional<Target> target = awaitStep(attach);
            if (target.isEmpty()) {
                refuse(frames, rank(attach), "no such step on this node");
            } else if (!allowed(caller, attach, target.get())) {
                log.error("io: uid " + caller.uid() + " may not attach to step " + attach.jobId() + "."
                        + attach.stepId());
                refuse(frames, rank(attach), "Access/permission denied");
            } else if (attach.behind().isEmpty()) {
                serve(frames, attach, target.get(), stepd -> pass(frames, stepd, attach));
            } else {
                fan(frames, attach, target.get());
            }
        } catch (IOException | IllegalArgumentException | Json.MalformedException e) {
            log.debug("io: " + ErrorSentence.of(e));
        }
    }

    private static int rank(IoAttach attach) {
        return attach.relayed() ? attach.rank() : StepSocket.ALL_TASKS;
    }

    /** This node is one of several that the client reaches by this connection. */
    private void fan(Frames frames, IoAttach attach, Target target) throws IOException {
        RelayConnection own = new RelayConnection();
        try (IoFan fan = new IoFan(log, dialer, frames, attach, own)) {
            fan.start();
            Thread.ofVirtual().name("io-beat").start(() -> beat(frames));
            Thread.ofVirtual().name("io-own").start(() -> {
                try {
                    serve(frames, attach, target, stepd -> pass(own, stepd, attach));
                } catch (IOException e) {
                    log.debug("io: " + ErrorSentence.of(e));
                    frames.close();
                }
            });
            while (true) {
                fan.pass(frames.receive());
            }
        }
    }

    /** A stopped relay would hold up all behind it: it is missed soon. */
    private static void beat(Frames frames) {
        byte[] beat = new StepSocket.Frame(IoFan.BEAT, StepSocket.ALL_TASKS, 0, 0, new byte[0]).encode();
        try {
            while (!frames.isClosed()) {
                frames.send(beat);
                Thread.sleep(LaunchTree.BEAT_MS);
            }
        } catch (IOException e) {
            frames.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Takes what the client sends to stepd, until that ends. */
    private interface Down {
        void run(StepSocket stepd) throws IOException;
    }

    private void serve(Frames frames, IoAttach attach, Target target, Down down) throws IOException {
        if (!awaitStart(target)) {
            refuse(frames, target.rank, "no such step on this node");
        } else if (!target.step.begun.join().error().isEmpty()) {
            NodeStep.Begin why = target.step.begun.join();
            frames.send(new StepSocket.Frame(
                            '!',
                            target.rank,
                            NOT_STARTED,
                            0,
                            (why.detail() + "\n" + why.error()).getBytes(StandardCharsets.UTF_8))
                    .encode());
        } else {
            relay(frames, attach, target, down);
        }
    }

    private static void refuse(Frames frames, int rank, String why) throws IOException {
        frames.send(new StepSocket.Frame('!', rank, 0, 0, why.getBytes(StandardCharsets.UTF_8)).encode());
    }

    private boolean allowed(Caller caller, IoAttach attach, Target target) {
        boolean known = caller.uid() == 0 || caller.uid() == settings.slurmUserId() || caller.uid() == target.ownerUid;
        boolean token = MessageDigest.isEqual(
                attach.token().getBytes(StandardCharsets.UTF_8), target.token.getBytes(StandardCharsets.UTF_8));
        return known && (attach.observer() || (!target.token.isEmpty() && token));
    }

    /** Waits for the step to become known here; empty when that takes too long. */
    private Optional<Target> awaitStep(IoAttach attach) throws IOException {
        long endNs = System.nanoTime() + STEP_WAIT_MS * 1_000_000;
        long pauseMs = POLL_FIRST_MS;
        while (System.nanoTime() < endNs) {
            Optional<Target> target = find(attach);
            try {
                if (target.isPresent()) {
                    return target;
                }
                Thread.sleep(pauseMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            }
            pauseMs = Math.min(pauseMs * 2, POLL_MOST_MS);
        }
        return Optional.empty();
    }

    /** Waits until it is known whether the step starts; false if that takes too long. */
    private static boolean awaitStart(Target target) {
        try {
            target.step.begun.get(STEP_WAIT_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException | ExecutionException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Optional<Target> find(IoAttach attach) throws IOException {
        return loop.ask(() -> steps.find(attach)
                .map(f -> new Target(
                        f.step, f.ownerUid, f.step.ioToken, f.step.directory, attach.observer(), rank(attach))));
    }

    private void relay(Frames frames, IoAttach attach, Target target, Down down) throws IOException {
        StepSocket stepd;
        try {
            stepd = StepSocket.connect(spool.socket(target.directory));
        } catch (IOException e) {
            tellRecorded(frames, target);
            if (attach.behind().isEmpty()) {
                awaitEnd(frames);
            }
            return;
        }
        loop.post(() -> target.step.relays++);
        // the hot direction: a thread of its own reads without the detour by poller and scheduler that a virtual one
        // takes each time
        Thread fromStepd = Thread.ofPlatform()
                .daemon()
                .name("io-" + attach.jobId() + "." + attach.stepId())
                .start(() -> fromStepd(stepd, frames, target));
        try (stepd) {
            down.run(stepd);
        } catch (IOException e) {
            log.debug(
                    "io: srun of step " + attach.jobId() + "." + attach.stepId() + " is gone: " + ErrorSentence.of(e));
        } finally {
            loop.post(() -> target.step.relays--);
            fromStepd.interrupt();
        }
    }

    private void pass(Frames frames, StepSocket stepd, IoAttach attach) throws IOException {
        while (true) {
            List<byte[]> passed = new ArrayList<>();
            do {
                filter(StepSocket.Frame.decode(frames.receive()), attach.observer())
                        .ifPresent(passed::add);
            } while (passed.size() < TOGETHER_MAX && frames.hasMore());
            pass(stepd, passed);
        }
    }

    private void pass(RelayConnection own, StepSocket stepd, IoAttach attach) throws IOException {
        try {
            for (List<byte[]> next = own.take(); !next.isEmpty(); next = own.take()) {
                List<byte[]> passed = new ArrayList<>();
                for (byte[] frame : next) {
                    filter(StepSocket.Frame.decode(frame), attach.observer()).ifPresent(passed::add);
                }
                pass(stepd, passed);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** srun closes when it has heard the end, and may still say something before. */
    private static void awaitEnd(Frames frames) throws IOException {
        while (frames.receive().length > 0) {
            // until the end
        }
    }

    /** A stepd that has left is found by the other thread, which still has its end to tell. */
    private void pass(StepSocket stepd, List<byte[]> frames) {
        try {
            stepd.sendAll(frames);
        } catch (IOException e) {
            log.debug("io: stepd takes no more: " + ErrorSentence.of(e));
        }
    }

    /** Passes the frames that srun, which runs as the job's owner or root, may send to slurmstepd directly. */
    private static Optional<byte[]> filter(StepSocket.Frame frame, boolean observer) throws IOException {
        return switch (frame.type()) {
            case 'A' ->
                Optional.of(new StepSocket.Frame(
                                'A',
                                frame.task(),
                                frame.stream(),
                                frame.offset(),
                                attachment(observer, frame.bytes().length > 1 && frame.bytes()[1] == '+'))
                        .encode());
            case 'a', 'J', 'j' -> Optional.of(frame.encode());
            case 'I', 'i', 'w', 'S', 'K' -> observer ? Optional.empty() : Optional.of(frame.encode());
            default -> throw new IOException("frame of type " + frame.type() + " refused");
        };
    }

    private static byte[] attachment(boolean observer, boolean more) {
        byte kind = (byte) (observer ? 'o' : 'p');
        return more ? new byte[] {kind, '+'} : new byte[] {kind};
    }

    private void fromStepd(StepSocket stepd, Frames frames, Target target) {
        boolean complete = false;
        try {
            while (true) {
                byte[] whole = stepd.receiveAll();
                if (target.rank != StepSocket.ALL_TASKS) {
                    IoFan.mark(whole, target.rank);
                }
                frames.sendEncoded(whole);
                if (StepSocket.holds(whole, 'F')) {
                    complete = true;
                    told(target);
                }
            }
        } catch (IOException e) {
            if (!complete && !afterLoss(frames, target)) {
                frames.close();
            }
        }
    }

    /** stepd is gone: if not because srun left, then the end as recorded is all that can be told. True if it was. */
    private boolean afterLoss(Frames frames, Target target) {
        try {
            if (isOver(target)) {
                tellRecorded(frames, target);
                return true;
            }
        } catch (IOException e) {
            log.debug("io: " + ErrorSentence.of(e));
        }
        return false;
    }

    /** A stepd that leaves closes its connections a moment before it is gone. */
    private boolean isOver(Target target) {
        long endNs = System.nanoTime() + END_WAIT_MS * 1_000_000;
        while (System.nanoTime() < endNs) {
            boolean complete = spool.status(target.directory)
                    .filter(s -> s.state() == StatusFile.State.COMPLETE)
                    .isPresent();
            if (complete || !Os.isAlive(spool.stepdPid(target.directory))) {
                return true;
            }
            try {
                Thread.sleep(POLL_FIRST_MS);
            } catch (InterruptedException e) {
                return false;
            }
        }
        return false;
    }

    private void told(Target target) {
        if (!target.observer) {
            loop.post(() -> target.step.endTold = true);
        }
    }

    private void tellRecorded(Frames frames, Target target) throws IOException {
        Optional<StatusFile> status = spool.status(target.directory);
        for (var exit : NodeStep.exits(status).entrySet()) {
            ExitStatus how = exit.getValue();
            frames.send(new StepSocket.Frame('X', Integer.parseInt(exit.getKey()), 0, how.waitStatus(), new byte[0])
                    .encode());
        }
        boolean whole = status.isPresent() && status.get().state() == StatusFile.State.COMPLETE;
        String reason = whole ? status.get().reason() : Jobs.REASON_STEPD_KILLED;
        frames.send(new StepSocket.Frame('F', target.rank, 0, 0, reason.getBytes(StandardCharsets.UTF_8)).encode());
        told(target);
    }
}
