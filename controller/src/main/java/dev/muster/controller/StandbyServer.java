package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.config.key.TlsRole;
import dev.muster.controller.ha.Membership;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.daemon.StartErrors;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.Done;
import dev.muster.model.api.ClusterMessages.Shutdown;
import dev.muster.transport.Audience;
import dev.muster.transport.Caller;
import dev.muster.transport.Client;
import dev.muster.transport.Server;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * SlurmctldPort of a controller while another one leads: it answers {@code scontrol ping} and stops when it is told to.
 * To every other request it answers that another controller leads, so that the caller asks the next.
 */
final class StandbyServer implements AutoCloseable {
    private static final Server.Page STANDBY = new Server.Page(
            Client.STANDBY, "text/plain", "another controller leads\n".getBytes(StandardCharsets.UTF_8));

    private static final Server.Page OK = new Server.Page(200, "text/plain", "ok\n".getBytes(StandardCharsets.UTF_8));

    private final SlurmConf conf;
    private final int slurmUid;
    private final Membership membership;
    private final long bootTime;
    private final Runnable onShutdown;
    private final Server server;

    /**
     * @param bootTime of this process, in seconds since 1970
     * @throws IOException if the port is taken
     */
    StandbyServer(
            SlurmConf conf,
            Credentials credentials,
            int slurmUid,
            Membership membership,
            long bootTime,
            DaemonLog log,
            Runnable onShutdown)
            throws IOException {
        this.conf = conf;
        this.slurmUid = slurmUid;
        this.membership = membership;
        this.bootTime = bootTime;
        this.onShutdown = onShutdown;
        Sessions sessions = credentials.sessions();
        int port = conf.slurmctldPorts().getFirst();
        server = StartErrors.listening(
                "SlurmctldPort",
                port,
                () -> Server.start(
                        membership.boundAddress(conf),
                        port,
                        sessions.identity(TlsRole.CTLD, log::error),
                        sessions.verifier(credentials.tokens(), _ -> {}).as(Audience.SLURMCTLD),
                        this::handle,
                        Map.of(),
                        this::page,
                        log::error));
    }

    private Optional<Server.Page> page(String path) {
        return conf.has(Key.COMMUNICATION_PARAMETERS, "disable_http")
                ? Optional.empty()
                : switch (path) {
                    case "/livez", "/healthz" -> Optional.of(OK);
                    default -> Optional.of(STANDBY);
                };
    }

    private Reply handle(Caller caller, String message, byte[] body) {
        return switch (message) {
            case "Ping" -> Reply.of(membership.standing(conf, bootTime));
            case "Shutdown" -> shutdown(caller, body);
            default -> Reply.error(Client.STANDBY, SlurmErrno.IN_STANDBY_MODE, SlurmErrno.IN_STANDBY_MODE.sentence());
        };
    }

    /** The users of daemons alone may stop it: the rights of others are in the state, which this controller lacks. */
    private Reply shutdown(Caller caller, byte[] body) {
        if (caller.uid() != 0 && caller.uid() != slurmUid) {
            return Reply.error(SlurmErrno.USER_ID_MISSING);
        }
        try {
            Codec.decode(body, Shutdown.class);
        } catch (Json.MalformedException e) {
            return Reply.error(SlurmErrno.UNEXPECTED_MSG_ERROR);
        }
        Thread.ofPlatform().start(onShutdown);
        return Reply.of(Done.OK);
    }

    @Override
    public void close() {
        server.close();
    }
}
