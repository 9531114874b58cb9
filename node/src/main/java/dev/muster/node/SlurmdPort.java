package dev.muster.node;

import dev.muster.config.key.TlsRole;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.model.format.ErrorSentence;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.transport.Audience;
import dev.muster.transport.Server;
import dev.muster.transport.tls.TlsIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Opens SlurmdPort for commands, other nodes and web programs. */
record SlurmdPort(Settings settings, DaemonLog log, EventLoop loop, Sessions sessions) {
    private static final int WAIT_MS = 3_000;
    private static final int PAUSE_MS = 100;

    /**
     * Opens the port. The port of an earlier slurmd of this process, which has just read its configuration, may still
     * be closing.
     */
    Server open(Server.MessageHandler messages, Map<String, Server.StreamHandler> streams)
            throws Slurmd.CannotStartException {
        Optional<TlsIdentity> identity = identity();
        long endNs = System.nanoTime() + WAIT_MS * 1_000_000L;
        while (true) {
            try {
                return Server.start(
                        settings.listenAt(),
                        settings.port(),
                        identity,
                        sessions.verifier().as(Audience.SLURMD),
                        messages,
                        streams,
                        this::page,
                        log::error);
            } catch (RuntimeException e) {
                if (System.nanoTime() > endNs) {
                    throw new Slurmd.CannotStartException(
                            "Unable to bind listen port (" + settings.port() + "): " + rootCause(e));
                }
            }
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                throw new Slurmd.CannotStartException("interrupted");
            }
        }
    }

    private Optional<TlsIdentity> identity() throws Slurmd.CannotStartException {
        try {
            if (settings.around().certmgr().on()) {
                NodeCertificate own = new NodeCertificate(settings, sessions, log);
                Optional<TlsIdentity> identity = Optional.of(sessions.telling(own.open()));
                own.keep(loop);
                return identity;
            }
            return sessions.identity(TlsRole.SLURMD, log::error);
        } catch (IOException e) {
            throw new Slurmd.CannotStartException(ErrorSentence.of(e));
        }
    }

    private static String rootCause(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return ErrorSentence.of(cause);
    }

    private Optional<Server.Page> page(String path) {
        return settings.around().pages()
                        && List.of("/livez", "/readyz", "/healthz").contains(path)
                ? Optional.of(new Server.Page(200, "text/plain", "ok\n".getBytes(StandardCharsets.UTF_8)))
                : Optional.empty();
    }
}
