package dev.muster.node.io;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Relay;
import dev.muster.model.node.NodeMessages.Relayed;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.SharedLaunch;
import dev.muster.model.node.SharedLaunch.Part;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.transport.Caller;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Launches that this node passes on, and those that it gets from another. It answers for all behind it: which have
 * taken theirs, and which were not reached; to these the controller speaks itself. A launch that comes later than the
 * controller would wait for it is not begun.
 */
public final class LaunchRelay {
    /** The stream between slurmds: a {@link Relay} down, {@link Relayed} up until all behind are answered for. */
    public static final String STREAM = "relay";

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final Consumer<Launch> begin;
    private final IoFan.Dialer dialer;
    /** Only the node's thread looks at it. */
    private long stale;

    /** @param begin on the node's thread; idempotent */
    public LaunchRelay(Settings settings, DaemonLog log, EventLoop loop, Consumer<Launch> begin, IoFan.Dialer dialer) {
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.begin = begin;
        this.dialer = dialer;
    }

    /** Leaves launches up to the number to the controller. Called on the node's thread. */
    public void stale(long id) {
        stale = Math.max(stale, id);
    }

    /**
     * Takes an order of the controller itself, over the connection that all else comes by. Called on the node's thread.
     */
    public void order(Relay relay, Consumer<ToController> up) {
        begin.accept(relay.launches().launch(relay.launches().parts().getFirst()));
        pass(relay, up::accept);
    }

    /** Carries out a relay that another node passes on. */
    public void handle(Caller caller, Frames frames) {
        if (caller.uid() != 0 && caller.uid() != settings.slurmUserId()) {
            log.error("Security violation, launch from uid " + caller.uid());
            frames.close();
            return;
        }
        try (frames) {
            handle(Codec.decode(frames.receive(), Relay.class), frames);
        } catch (IOException
                | IllegalArgumentException
                | java.util.NoSuchElementException
                | Json.MalformedException e) {
            log.debug("relayed launch: " + e.getMessage());
        }
    }

    /** Carries out a relay of an authorized caller. Returns when the other side, or the last answer, closes. */
    public void handle(Relay relay, Frames frames) throws IOException {
        List<Part> parts = relay.launches().parts();
        if (!parts.getFirst().node().equals(settings.nodeName())) {
            throw new IOException("launch for " + parts.getFirst().node());
        }
        Launch own = relay.launches().launch(parts.getFirst());
        AtomicInteger left = new AtomicInteger(parts.size());
        Up up = answer -> {
            frames.send(Codec.encode(answer));
            if (left.addAndGet(-answer.reached().size() - answer.missed().size()) <= 0) {
                frames.close();
            }
        };
        loop.post(() -> {
            boolean taken = relay.id() > stale;
            if (taken) {
                begin.accept(own);
            }
            List<String> self = List.of(settings.nodeName());
            EventLoop.aside(
                    () -> tell(up, new Relayed(relay.id(), taken ? self : List.of(), taken ? List.of() : self)));
        });
        pass(relay, up);
        frames.receive();
    }

    /** Towards the controller. */
    private interface Up {
        void send(Relayed answer) throws IOException;
    }

    private void tell(Up up, Relayed answer) {
        try {
            up.send(answer);
        } catch (IOException e) {
            log.debug("relayed launch: " + ErrorSentence.of(e));
        }
    }

    private void pass(Relay relay, Up up) {
        List<Part> parts = relay.launches().parts();
        for (List<Part> branch : LaunchTree.branches(parts.subList(1, parts.size()), relay.width())) {
            EventLoop.aside(
                    () -> branch(relay.id(), relay.width(), relay.launches().with(branch), up));
        }
    }

    private void branch(long id, int width, SharedLaunch launches, Up up) {
        Set<String> open =
                new HashSet<>(launches.parts().stream().map(Part::node).toList());
        String head = launches.parts().getFirst().node();
        try (Frames frames = dialer.open(head)) {
            frames.send(Codec.encode(new Relay(id, width, launches)));
            log.debug("launch for " + open.size() + " nodes passed on to " + head);
            while (!open.isEmpty()) {
                Relayed answer = Codec.decode(frames.receive(), Relayed.class);
                answer.reached().forEach(open::remove);
                answer.missed().forEach(open::remove);
                up.send(answer);
            }
        } catch (IOException | Json.MalformedException e) {
            log.debug("relay " + head + ": " + ErrorSentence.of(e));
            if (!open.isEmpty()) {
                tell(up, new Relayed(id, List.of(), List.copyOf(open)));
            }
        }
    }
}
