package dev.muster.controller.nodes;

import dev.muster.core.state.Node;
import dev.muster.json.Codec;
import dev.muster.model.api.SlurmdMessages.FollowController;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * Tells each slurmd which controller leads by now. A slurmd that loses its connection finds the leader itself. The
 * notice is for a slurmd that stays connected to a former leader, because that one hangs or is partitioned from the
 * other controllers only.
 */
public final class LeaderNotice {
    /** Notices under way. */
    private static final int CALLS_MAX = 64;

    private static final int CONNECT_MS = 2000;
    private static final int ANSWER_MS = 2000;

    private LeaderNotice() {}

    /** @param clients connects to an address and port */
    public static void send(
            Iterable<Node> nodes,
            FollowController notice,
            BiFunction<String, Integer, Client> clients,
            Consumer<String> log) {
        byte[] body = Codec.encode(notice);
        Semaphore calls = new Semaphore(CALLS_MAX);
        Thread.ofVirtual().name("leader-notice").start(() -> {
            for (Node node : nodes) {
                calls.acquireUninterruptibly();
                Thread.ofVirtual().name("leader-notice").start(() -> {
                    try (Client client = clients.apply(
                                    node.spec().address(), node.spec().port())
                            .to(Audience.SLURMD)
                            .connectWithin(CONNECT_MS)) {
                        Client.Response answer = client.post("/muster/v1/FollowController", body, ANSWER_MS);
                        if (answer.status() != 200) {
                            log.accept(node.name() + " does not take the notice of a new leader: "
                                    + new String(answer.body(), StandardCharsets.UTF_8));
                        }
                    } catch (IOException e) {
                        // it finds the controller when it is back
                        log.accept(node.name() + " did not get the notice of a new leader: " + e.getMessage());
                    } finally {
                        calls.release();
                    }
                });
            }
        });
    }
}
