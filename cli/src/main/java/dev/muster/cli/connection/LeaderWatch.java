package dev.muster.cli.connection;

import dev.muster.cli.command.ClientConf;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.FailoverWatch;
import dev.muster.transport.Session;
import java.util.List;
import java.util.function.Supplier;

/** Makes the watch over a request where slurm.conf has several controllers, or several hosts of slurmdbd. */
public final class LeaderWatch {
    private static final int PAUSE_MS = 300;

    private LeaderWatch() {}

    /**
     * Begins to look, if there are other servers.
     *
     * @param waiting asks one of the servers
     * @param audience the daemon that is asked
     */
    public static FailoverWatch over(
            Client waiting,
            ClientConf conf,
            String audience,
            List<ClientConf.Server> servers,
            Supplier<Session> session,
            Client.NonceSource nonces) {
        boolean accounting = audience.equals(Audience.SLURMDBD);
        List<Client> others = servers.stream()
                .filter(server -> !server.address().equals(waiting.host()))
                .map(server -> new Client(
                                server.address(), accounting ? conf.accountingPort : conf.port, session, nonces)
                        .to(audience)
                        .connectWithin(FailoverWatch.ANSWER_MS)
                        .over(conf.tls()))
                .toList();
        return FailoverWatch.over(
                waiting,
                others,
                accounting
                        ? pinged -> !pinged.flag("standby")
                        : pinged -> pinged.obj("member").flag("leads"),
                PAUSE_MS);
    }
}
