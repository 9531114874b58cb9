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
    /** Error number of a request that its own command aborted; no errno of Slurm. */
    private static final int GIVEN_UP = -1;

    private final Map<Thread, Client> clients = new ConcurrentHashMap<>();

    public void begin(Client client) {
        clients.put(Thread.currentThread(), client);
    }

    public void end() {
        clients.remove(Thread.currentThread());
    }

    /**
     * Aborts the request of a thread. A request with an answer stays untouched: another request may have its connection
     * by now.
     */
    public void giveUp(Thread asking) {
        clients.computeIfPresent(asking, (t, client) -> {
            client.abort();
            return client;
        });
    }

    public void giveUpAll() {
        clients.keySet().forEach(this::giveUp);
    }

    /** Returns why a request failed: aborted, or lost on its way. */
    public static SlurmException failed(Client client, IOException e) {
        return client.isAborted() ? new SlurmException(GIVEN_UP, "given up") : lost(e);
    }

    private static SlurmException lost(IOException e) {
        SlurmErrno no =
                e instanceof SocketTimeoutException ? SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT : SlurmErrno.CTLD_RECV;
        return new SlurmException(no.number(), no.sentence());
    }
}
