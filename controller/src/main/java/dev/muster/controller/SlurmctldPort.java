package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.config.key.TlsRole;
import dev.muster.controller.edge.HttpPages;
import dev.muster.controller.edge.RateLimit;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.Sessions;
import dev.muster.daemon.StartErrors;
import dev.muster.daemon.TokenKey;
import dev.muster.transport.Audience;
import dev.muster.transport.Server;
import dev.muster.transport.Tokens;
import dev.muster.transport.Verifier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Opens SlurmctldPort for commands, nodes and web programs. */
final class SlurmctldPort {
    private SlurmctldPort() {}

    /** @throws IOException if the port is taken or a key is unfit */
    static Server open(ControllerEnvironment environment, Credentials credentials, RunningController controller)
            throws IOException {
        SlurmConf conf = environment.conf();
        DaemonLog log = environment.log();
        Sessions sessions = credentials.sessions();
        int slurmUid = environment.slurmUid(conf);
        Optional<Tokens> tokens = credentials.tokens();
        RateLimit limit = new RateLimit(environment::conf, slurmUid, () -> System.nanoTime() / 1_000_000_000L, log);
        String bound = controller.membership().boundAddress(conf);
        Verifier verifier =
                sessions.verifier(tokens, environment.identities()::state).as(Audience.SLURMCTLD);
        int port = conf.slurmctldPorts().getFirst();
        return StartErrors.listening(
                "SlurmctldPort",
                port,
                () -> Server.start(
                        bound,
                        port,
                        sessions.identity(TlsRole.CTLD, log::error),
                        verifier,
                        limit.before(controller.api()::handle),
                        Map.of("node", controller.links()::serve),
                        pages(environment, controller, tokens, slurmUid),
                        log::error));
    }

    /** Returns the pages for web programs on the same port. */
    private static HttpPages pages(
            ControllerEnvironment environment, RunningController controller, Optional<Tokens> tokens, int slurmUid)
            throws IOException {
        Identities identities = environment.identities();
        String own = environment
                .conf()
                .parameters(Key.SLURMCTLD_HTTP_AUTH_PARAMETERS)
                .getOrDefault("jwt_key", "");
        Optional<Tokens> taken = own.isEmpty() ? tokens : Optional.of(TokenKey.tokens(Path.of(own), "", identities));
        return new HttpPages(
                environment::conf,
                taken,
                uid -> uid == 0 || uid == slurmUid,
                name -> identities
                        .byName(name)
                        .map(i -> Integer.toString(i.uid()))
                        .orElse(""),
                controller::metrics);
    }
}
