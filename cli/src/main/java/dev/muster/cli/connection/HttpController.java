package dev.muster.cli.connection;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.KnownCluster;
import dev.muster.cli.command.RowLines;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.FailoverWatch;
import dev.muster.transport.Session;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Calls slurmctld or slurmdbd over HTTP. It tries the configured servers in order until one answers. */
public final class HttpController implements Controller {
    /** Timeout without MessageTimeout. A request may wait for the journal. */
    static final int TIMEOUT_MS = 60_000;
    /** Time for which an unreachable slurmctld is tried again, without MessageTimeout. */
    static final int RETRY_MS = 10_000;

    public static final int RETRY_PAUSE_MS = 500;

    private static final int UNAVAILABLE = 503;

    /** Timeout of a request to one of several controllers: one that stands still is only one of them. */
    private static final int ONE_OF_SEVERAL_MS = 2_000;

    private static final int IDLE_MAX = 4;

    private final ClientConf conf;
    private final ProcessHost host;
    private @Nullable Session session;
    private long sessionMs;
    private final List<Client> idle = new ArrayList<>();
    private final List<ClientConf.Server> servers;
    private final int port;
    private final int timeoutMs;
    private final boolean accounting;
    private final String cluster;

    HttpController(ClientConf conf, ProcessHost host) {
        this(conf, host, conf.servers, conf.port, false, conf.clusterName);
    }

    private HttpController(
            ClientConf conf,
            ProcessHost host,
            List<ClientConf.Server> servers,
            int port,
            boolean accounting,
            String cluster) {
        this.cluster = cluster;
        this.conf = conf;
        this.host = host;
        this.servers = servers;
        this.port = port;
        this.accounting = accounting;
        int configured = accounting ? conf.accountingServers().size() : conf.servers.size();
        this.timeoutMs =
                servers.size() == 1 && configured > 1 ? Math.min(ONE_OF_SEVERAL_MS, timeoutMs(conf)) : timeoutMs(conf);
    }

    /** Returns the timeout of a request: MessageTimeout, or 60 seconds. */
    public static int timeoutMs(ClientConf conf) {
        return conf.messageTimeout > 0 ? conf.messageTimeout * 1000 : TIMEOUT_MS;
    }

    /**
     * Makes a controller for slurmdbd. Its host may lack this cluster's key: munge vouches for the caller if the
     * cluster has it.
     */
    static HttpController accounting(ClientConf conf, ProcessHost host) {
        return new HttpController(conf, host, conf.accountingServers(), conf.accountingPort, true, conf.clusterName);
    }

    /** Makes a controller that calls one of the configured servers alone, whether it leads or not. */
    static HttpController ofServer(ClientConf conf, ProcessHost host, int index) {
        return new HttpController(conf, host, List.of(conf.servers.get(index)), conf.port, false, conf.clusterName);
    }

    /** Makes a controller that calls one of the hosts of slurmdbd alone, whether it serves or not. */
    static HttpController ofAccountingServer(ClientConf conf, ProcessHost host, int index) {
        return new HttpController(
                conf, host, List.of(conf.accountingServers().get(index)), conf.accountingPort, true, conf.clusterName);
    }

    /** Makes a controller for another cluster that shares this one's key or munge, or accepts the caller's token. */
    static HttpController forCluster(ClientConf conf, ProcessHost host, KnownCluster there) {
        return new HttpController(
                conf,
                host,
                List.of(new ClientConf.Server(there.address(), there.address())),
                there.port(),
                false,
                there.name());
    }

    /** Sends a request. Concurrent requests have connections of their own, which are kept for later ones. */
    @Override
    public Json.Obj call(String message, Json.Obj request) throws SlurmException {
        return answer(response(message, request));
    }

    @Override
    public byte[] bytes(String message, Json.Obj request) throws SlurmException {
        return bytes(response(message, request));
    }

    /** Returns the error number of an answer; 0 for a successful one. */
    public static int errno(Client.Response response) {
        try {
            answer(response.status() == 200 ? new Client.Response(200, new byte[0]) : response);
            return 0;
        } catch (SlurmException e) {
            return e.errno();
        }
    }

    /** Returns the body of a successful answer. */
    public static byte[] bytes(Client.Response response) throws SlurmException {
        if (response.status() != 200) {
            answer(response);
        }
        return response.body();
    }

    @Override
    public Rows rows(String message, Json.Obj request, String list) throws SlurmException {
        return Rows.of(bytes(message, request), list);
    }

    @Override
    public void rows(String message, Json.Obj request, String list, Taker taker) throws SlurmException {
        RowLines lines = new RowLines(taker);
        lines.finish(bytes(response(message, request.put("lines", Boolean.TRUE), Optional.of(lines))), list);
    }

    private Client.Response response(String message, Json.Obj request) throws SlurmException {
        return response(message, request, Optional.empty());
    }

    private Client.Response response(String message, Json.Obj request, Optional<Client.Lines> lines)
            throws SlurmException {
        byte[] body = Json.print(request);
        String path = "/muster/v1/" + message;
        int mostMs = (int) Math.min(Integer.MAX_VALUE, timeoutMs + request.number("waitMs"));
        Client known = takeIdle();
        if (known != null) {
            Session current = session();
            try (FailoverWatch _ = LeaderWatch.over(known, conf, audience(), servers, () -> current, host::nonce)) {
                Client.Response response = post(known, path, body, mostMs, lines);
                if (!isStandby(response) && !mayServeElsewhere(response, servers)) {
                    return response;
                }
            } catch (Client.ConnectException e) {
                known.close();
            } catch (IOException e) {
                throw PendingRequests.failed(known, e);
            }
        }
        long endNs = System.nanoTime() + (isRetried(message) ? retryMs(conf) * 1_000_000L : 0);
        while (true) {
            Optional<Client.Response> response = postToFirst(
                    path, body, mostMs, lines, request.text("requestId").isEmpty() ? 0 : endNs);
            if (response.isPresent()) {
                return response.get();
            }
            if (System.nanoTime() - endNs > 0 || !host.pause(RETRY_PAUSE_MS)) {
                throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), SlurmErrno.CTLD_CONNECT.sentence());
            }
        }
    }

    /**
     * Returns whether an unreachable slurmctld is tried again, as Slurm's commands do. slurmrestd answers its own
     * callers at once.
     */
    private boolean isRetried(String message) {
        return (!accounting || servers.size() > 1)
                && host.backOffSeconds == Client.BACK_OFF_S_MAX
                && isRetried(message, host.setting("SLURM_STEPMGR"));
    }

    /**
     * Returns whether a request is repeated while slurmctld is unreachable.
     *
     * @param manager the node that decides on the job's steps while slurmctld is away, "" for none. It is asked at once
     *     instead
     */
    public static boolean isRetried(String message, String manager) {
        return manager.isEmpty() && !message.equals("Ping") && !message.equals("Follow");
    }

    /** Returns for how long an unreachable slurmctld is tried again: MessageTimeout, or 10 seconds. */
    public static int retryMs(ClientConf conf) {
        return conf.messageTimeout > 0 ? conf.messageTimeout * 1000 : RETRY_MS;
    }

    /**
     * Sends a request to the first controller that can be reached.
     *
     * @param repeatUntilNs until when a request whose answer was lost is repeated (its request id makes that harmless);
     *     0 for never
     * @return empty if none can be reached
     */
    private Optional<Client.Response> postToFirst(
            String path, byte[] body, int mostMs, Optional<Client.Lines> lines, long repeatUntilNs)
            throws SlurmException {
        Optional<Client.Response> unavailable = Optional.empty();
        for (ClientConf.Server server : servers) {
            Session first = session();
            Client client = new Client(server.address(), port, () -> renewed(first), host::nonce)
                    .to(audience())
                    .connectWithin(conf.connectMs)
                    .over(conf.tls())
                    .backOffWithin(host.backOffSeconds);
            try (FailoverWatch _ = LeaderWatch.over(client, conf, audience(), servers, () -> first, host::nonce)) {
                Client.Response response = post(client, path, body, mostMs, lines);
                if (mayServeElsewhere(response, servers)) {
                    unavailable = Optional.of(response);
                } else if (!isStandby(response)) {
                    return Optional.of(response);
                }
            } catch (Client.ConnectException e) {
                client.close();
            } catch (IOException e) {
                boolean again = repeatUntilNs != 0
                        && repeatUntilNs - System.nanoTime() > 0
                        && !client.isAborted()
                        && !(e instanceof SocketTimeoutException);
                if (!again) {
                    throw PendingRequests.failed(client, e);
                }
            }
        }
        return unavailable;
    }

    private String audience() {
        return accounting ? Audience.SLURMDBD : Audience.SLURMCTLD;
    }

    /**
     * Returns whether the server lacks what it needs, and another one may have it: a slurmdbd that is cut off from its
     * database has done nothing.
     */
    public static boolean mayServeElsewhere(Client.Response response, List<ClientConf.Server> servers) {
        return response.status() == UNAVAILABLE && servers.size() > 1;
    }

    /** Returns whether the controller refused the request because another one leads. */
    public static boolean isStandby(Client.Response response) {
        return response.status() != 200 && errno(response) == SlurmErrno.IN_STANDBY_MODE.number();
    }

    private Client.Response post(Client client, String path, byte[] body, int timeoutMs, Optional<Client.Lines> lines)
            throws IOException {
        host.inFlight.begin(client);
        try {
            Client.Response response = client.post(path, body, timeoutMs, lines);
            // before another thread may take the connection
            host.inFlight.end();
            keepIdle(client);
            return response;
        } catch (Client.ConnectException e) {
            throw e;
        } catch (IOException e) {
            client.close();
            throw e;
        } finally {
            host.inFlight.end();
        }
    }

    private synchronized @Nullable Client takeIdle() {
        return idle.isEmpty() ? null : idle.removeLast();
    }

    private synchronized void keepIdle(Client client) {
        if (idle.size() < IDLE_MAX) {
            idle.add(client);
        } else {
            client.close();
        }
    }

    /** Sends one request over a connection of its own. */
    public static Json.Obj callOnce(Client client, String message, Json.Obj request, PendingRequests inFlight)
            throws SlurmException {
        inFlight.begin(client);
        try (client) {
            return answer(client.post("/muster/v1/" + message, Json.print(request), TIMEOUT_MS));
        } catch (IOException e) {
            throw PendingRequests.failed(client, e);
        } finally {
            inFlight.end();
        }
    }

    private synchronized Session session() throws SlurmException {
        if (session == null || Session.isOld(sessionMs, host.nowMs())) {
            session = accounting ? Sessions.openAccounting(conf, host) : Sessions.open(conf, host, cluster);
            sessionMs = host.nowMs();
        }
        return session;
    }

    /**
     * The signer may not throw: an expired session that cannot be renewed is used once more and refused by the server.
     */
    private Session renewed(Session otherwise) {
        try {
            return session();
        } catch (SlurmException e) {
            return otherwise;
        }
    }

    /** Returns the error for an answer that is not JSON. */
    public static SlurmException unreadable() {
        return new SlurmException(SlurmErrno.CTLD_RECV.number(), SlurmErrno.CTLD_RECV.sentence());
    }

    public static Json.Obj answer(Client.Response response) throws SlurmException {
        Json.Obj body;
        try {
            body = response.body().length == 0 ? new Json.Obj() : Json.object(response.body());
        } catch (Json.MalformedException e) {
            throw unreadable();
        }
        if (response.status() != 200) {
            String error = body.text("error");
            int errno = body.integer("errno");
            throw new SlurmException(
                    errno == 0 ? -1 : errno,
                    error.isEmpty() ? SlurmErrno.of(errno).sentence() : error);
        }
        return body;
    }
}
