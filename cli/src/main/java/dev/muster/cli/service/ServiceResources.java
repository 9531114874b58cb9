package dev.muster.cli.service;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.connection.HttpController;
import dev.muster.cli.connection.Launcher;
import dev.muster.cli.connection.LeaderWatch;
import dev.muster.cli.connection.PendingRequests;
import dev.muster.cli.connection.ProcessHost;
import dev.muster.cli.connection.UserNames;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.FailoverWatch;
import dev.muster.transport.Session;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Resources that the commands of one service share: configurations, idle connections to the controller, names. None of
 * them belongs to a caller.
 */
public final class ServiceResources {
    private static final int CONFS_MAX = 64;
    private static final int IDLE_PER_SERVER_MAX = 16;

    private record CachedConf(ClientConf conf, long modified, long size) {}

    /** A connection that is lent to one command at a time, signing with that caller's session. */
    static final class Lent {
        final String server;
        final Client client;

        @Nullable
        Session session;

        Lent(String server, String address, int port, ServiceResources shared) {
            this.server = server;
            this.client = new Client(address, port, () -> session, shared::nonce);
        }
    }

    /** Steps followed here; more sruns than that run in processes of their own. */
    private static final int STEPS_MAX = 64;

    private static final int VOUCHED_MAX = 256;

    /** @param sinceMs when it was asked for */
    record VerifiedSession(Session session, long sinceMs) {}

    private final Map<String, VerifiedSession> vouched = new LinkedHashMap<>();

    final Semaphore steps = new Semaphore(STEPS_MAX);
    final UserNames names = new UserNames();
    final String hostName;
    private final Set<ServiceConnection> open = ConcurrentHashMap.newKeySet();
    private final Map<String, CachedConf> confs = new LinkedHashMap<>();
    private final Map<String, Deque<Lent>> idle = new HashMap<>();
    private final ProcessHost host;
    private final CommandRunner runner;
    private String defaultConf = "";

    /** @param runner runs the commands that the service knows */
    public ServiceResources(Optional<Launcher> launcher, CommandRunner runner) {
        this.host = new ProcessHost(Map.of(), launcher);
        this.hostName = host.hostName();
        this.runner = runner;
    }

    int run(CommandContext command) {
        return runner.run(command);
    }

    public void defaultConf(String path) {
        defaultConf = path;
    }

    void entered(ServiceConnection c) {
        open.add(c);
    }

    void left(ServiceConnection c) {
        open.remove(c);
    }

    public void heartbeat() {
        for (ServiceConnection c : open) {
            c.heartbeat();
        }
    }

    /**
     * A session that a launcher of the same caller brought lately.
     *
     * @param who the caller by the kernel's numbers, and the daemons that vouch for it
     */
    Optional<VerifiedSession> vouched(String who, long nowMs) {
        synchronized (vouched) {
            return Optional.ofNullable(vouched.get(who)).filter(v -> !Session.isOld(v.sinceMs, nowMs));
        }
    }

    void vouch(String who, VerifiedSession v) {
        synchronized (vouched) {
            vouched.remove(who);
            if (vouched.size() >= VOUCHED_MAX) {
                vouched.remove(vouched.keySet().iterator().next());
            }
            vouched.put(who, v);
        }
    }

    String nonce() {
        return host.nonce();
    }

    /** The configuration that a caller names; the caller's launcher opens a file that not every user may read. */
    ClientConf conf(String path, ClientConf.Files asCaller) throws IOException {
        String file;
        if (!path.isEmpty()) {
            file = path;
        } else if (!defaultConf.isEmpty()) {
            file = defaultConf;
        } else {
            file = host.confPath();
        }

        File f = new File(file);
        long modified = f.lastModified();
        long size = f.length();
        synchronized (confs) {
            CachedConf known = confs.get(file);
            if (known != null && known.modified == modified && known.size == size && modified != 0) {
                return known.conf;
            }
        }
        boolean everybodys = modified != 0 && isReadableByAll(f.toPath());
        ClientConf conf = ClientConf.read(file, everybodys ? host::readFile : asCaller);
        if (everybodys) {
            synchronized (confs) {
                if (confs.size() >= CONFS_MAX) {
                    confs.remove(confs.keySet().iterator().next());
                }
                confs.put(file, new CachedConf(conf, modified, size));
            }
        }
        return conf;
    }

    private static boolean isReadableByAll(Path path) {
        try {
            return Files.getPosixFilePermissions(path).contains(PosixFilePermission.OTHERS_READ);
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private @Nullable Lent take(String server) {
        synchronized (idle) {
            Deque<Lent> q = idle.get(server);
            return q == null || q.isEmpty() ? null : q.removeLast();
        }
    }

    private void give(Lent item) {
        item.session = null;
        synchronized (idle) {
            Deque<Lent> q = idle.computeIfAbsent(item.server, s -> new ArrayDeque<>());
            if (q.size() < IDLE_PER_SERVER_MAX && !item.client.isAborted()) {
                q.add(item);
                return;
            }
        }
        item.client.close();
    }

    /**
     * One request to the first controller that can be reached.
     *
     * @param asksAgain while none can be, for MessageTimeout
     * @param inFlight told the connection that is waited for
     */
    Client.Response call(
            ClientConf conf,
            boolean asksAgain,
            Session session,
            String message,
            Json.Obj request,
            PendingRequests inFlight,
            Optional<Client.Lines> lines)
            throws SlurmException {
        return call(
                conf,
                asksAgain,
                Audience.SLURMCTLD,
                conf.servers,
                conf.port,
                session,
                message,
                request,
                inFlight,
                lines);
    }

    /** Sends one request to slurmdbd. */
    Client.Response callAccounting(
            ClientConf conf,
            Session session,
            String message,
            Json.Obj request,
            PendingRequests inFlight,
            Optional<Client.Lines> lines)
            throws SlurmException {
        List<ClientConf.Server> servers = conf.accountingServers();
        return call(
                conf,
                servers.size() > 1 && HttpController.isRetried(message, ""),
                Audience.SLURMDBD,
                servers,
                conf.accountingPort,
                session,
                message,
                request,
                inFlight,
                lines);
    }

    private Client.Response call(
            ClientConf conf,
            boolean asksAgain,
            String audience,
            List<ClientConf.Server> servers,
            int port,
            Session session,
            String message,
            Json.Obj request,
            PendingRequests inFlight,
            Optional<Client.Lines> lines)
            throws SlurmException {
        byte[] body = Json.print(request);
        String path = "/muster/v1/" + message;
        int timeoutMs = (int) Math.min(Integer.MAX_VALUE, HttpController.timeoutMs(conf) + request.number("waitMs"));
        long endNs = System.nanoTime() + (asksAgain ? HttpController.retryMs(conf) * 1_000_000L : 0);
        while (true) {
            Optional<Client.Response> response = toOneOf(
                    conf,
                    audience,
                    servers,
                    port,
                    session,
                    path,
                    body,
                    timeoutMs,
                    inFlight,
                    lines,
                    request.text("requestId").isEmpty() ? 0 : endNs);
            if (response.isPresent()) {
                return response.get();
            }
            if (System.nanoTime() - endNs > 0) {
                throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), SlurmErrno.CTLD_CONNECT.sentence());
            }
            try {
                Thread.sleep(HttpController.RETRY_PAUSE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), SlurmErrno.CTLD_CONNECT.sentence());
            }
        }
    }

    /** @param repeatUntilNs as in {@link HttpController} */
    private Optional<Client.Response> toOneOf(
            ClientConf conf,
            String audience,
            List<ClientConf.Server> servers,
            int port,
            Session session,
            String path,
            byte[] body,
            int timeoutMs,
            PendingRequests inFlight,
            Optional<Client.Lines> lines,
            long repeatUntilNs)
            throws SlurmException {
        Optional<Client.Response> unavailable = Optional.empty();
        for (ClientConf.Server s : servers) {
            String name = s.address() + ":" + port + (conf.tls().isOn() ? "/" + conf.path : "");
            Lent item = take(name);
            item = item != null ? item : new Lent(name, s.address(), port, this);
            item.session = session;
            inFlight.begin(item.client);
            try (FailoverWatch _ = LeaderWatch.over(item.client, conf, audience, servers, () -> session, this::nonce)) {
                Client.Response response = item.client
                        .to(audience)
                        .connectWithin(conf.connectMs)
                        .over(conf.tls())
                        .post(path, body, timeoutMs, lines);
                inFlight.end();
                give(item);
                if (HttpController.mayServeElsewhere(response, servers)) {
                    unavailable = Optional.of(response);
                    continue;
                }
                if (HttpController.isStandby(response)) {
                    continue;
                }
                return Optional.of(response);
            } catch (Client.ConnectException e) {
                inFlight.end();
                item.client.close();
            } catch (IOException e) {
                inFlight.end();
                item.client.close();
                boolean again = repeatUntilNs != 0
                        && repeatUntilNs - System.nanoTime() > 0
                        && !item.client.isAborted()
                        && !(e instanceof java.net.SocketTimeoutException);
                if (!again) {
                    throw PendingRequests.failed(item.client, e);
                }
            } catch (RuntimeException e) {
                inFlight.end();
                throw e;
            }
        }
        return unavailable;
    }
}
