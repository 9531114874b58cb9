package dev.muster.cli.connection;

import dev.muster.cli.command.SlurmException;
import dev.muster.model.SlurmErrno;
import dev.muster.transport.Client;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The requests of a command that wait for their answers, by the thread that waits. */
public final class PendingRequests {
    /** No errno: that of a request which its own command gave up. */
    private static final int GIVEN_UP = -1;

    private final Map<Thread, Client> clients = new ConcurrentHashMap<>();

    public void begin(Client client) {
        clients.put(Thread.currentThread(), client);
    }

    public void end() {
        clients.remove(Thread.currentThread());
    }

    /** That thread's request fails at once; one that has its answer is not touched: its connection may be another's by now. */
    public void giveUp(Thread asking) {
        clients.computeIfPresent(asking, (t, client) -> {
            client.abort();
            return client;
        });
    }

    public void giveUpAll() {
        clients.keySet().forEach(this::giveUp);
    }

    /** Why a request failed: given up, or lost on its way. */
    public static SlurmException failed(Client client, IOException e) {
        return client.isAborted() ? new SlurmException(GIVEN_UP, "given up") : lost(e);
    }

    private static SlurmException lost(IOException e) {
        SlurmErrno no = e instanceof SocketTimeoutException ? SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT
                : SlurmErrno.CTLD_RECV;
        return new SlurmException(no.number(), no.sentence());
    }
}
