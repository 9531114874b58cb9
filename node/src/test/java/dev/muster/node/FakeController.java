package dev.muster.node;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.muster.json.Codec;
import dev.muster.model.node.NodeMessages.Register;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.NodeMessages.Welcome;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import dev.muster.transport.Verifier;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The other end of the node stream. */
final class FakeController implements AutoCloseable {
    static final byte[] KEY = "a key of the cluster that is long enough".getBytes(UTF_8);

    private final Server server;
    private volatile Frames node;
    final BlockingQueue<ToController> heard = new LinkedBlockingQueue<>();
    final List<Register> registrations = new CopyOnWriteArrayList<>();

    FakeController() {
        Verifier verifier = new Verifier(KEY, "test", Optional.empty(), System::currentTimeMillis)
                .as(dev.muster.transport.Audience.SLURMCTLD);
        server = Server.start(
                "127.0.0.1",
                0,
                verifier,
                (c, m, b) -> Server.Reply.of(new Welcome(1, 1)),
                Map.of("node", (caller, frames) -> serve(frames)),
                path -> Optional.empty());
    }

    int port() {
        return server.port();
    }

    private void serve(Frames frames) {
        try {
            while (true) {
                ToController message = Codec.decode(frames.receive(), ToController.class);
                if (message instanceof Register r) {
                    registrations.add(r);
                    node = frames;
                    frames.send(Codec.encode(new Welcome(1, 1), ToNode.class));
                }
                heard.add(message);
            }
        } catch (IOException e) {
            // the node left
        }
    }

    void send(ToNode order) throws IOException {
        node.send(Codec.encode(order, ToNode.class));
    }

    /** The next message of a kind; others before it are passed over. */
    <T extends ToController> T await(Class<T> kind, Predicate<T> wanted) throws InterruptedException {
        long end = System.nanoTime() + 15_000_000_000L;
        while (System.nanoTime() < end) {
            ToController message = heard.poll(100, TimeUnit.MILLISECONDS);
            if (kind.isInstance(message) && wanted.test(kind.cast(message))) {
                return kind.cast(message);
            }
        }
        throw new AssertionError("no " + kind.getSimpleName() + " in 15 s");
    }

    <T extends ToController> T await(Class<T> kind) throws InterruptedException {
        return await(kind, m -> true);
    }

    @Override
    public void close() {
        server.close();
    }
}
