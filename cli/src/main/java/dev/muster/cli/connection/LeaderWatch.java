package dev.muster.cli.connection;

import dev.muster.cli.command.ClientConf;
import dev.muster.json.Json;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.Session;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks after a request that waits for its answer where slurm.conf has several controllers: once another controller
 * leads, the wait ends, and the request goes there. A leader that stands still or is cut off closes no connection.
 */
public final class LeaderWatch implements AutoCloseable {
    /**
     * Time after which the other controllers are asked for the first time, and again: most answers are there before.
     */
    private static final int FIRST_MS = 700;

    private static final int PAUSE_MS = 300;
    private static final int ANSWER_MS = 1000;
    private static final LeaderWatch NONE = new LeaderWatch(null);

    private final @Nullable Thread thread;

    private LeaderWatch(@Nullable Thread thread) {
        this.thread = thread;
    }

    /**
     * Begins to look, if there are other controllers.
     *
     * @param waiting asks one of the servers
     */
    public static LeaderWatch over(
            Client waiting,
            ClientConf conf,
            List<ClientConf.Server> servers,
            Supplier<Session> session,
            Client.NonceSource nonces) {
        if (servers.size() < 2 || servers != conf.servers) {
            return NONE;
        }
        List<Client> others = servers.stream()
                .filter(server -> !server.address().equals(waiting.host()))
                .map(server -> new Client(server.address(), conf.port, session, nonces)
                        .to(Audience.SLURMCTLD)
                        .connectWithin(ANSWER_MS)
                        .over(conf.tls()))
                .toList();
        return new LeaderWatch(Thread.ofVirtual().name("leader-watch").start(() -> look(waiting, others)));
    }

    private static void look(Client waiting, List<Client> others) {
        try {
            Thread.sleep(FIRST_MS);
            while (others.stream().noneMatch(LeaderWatch::leads)) {
                Thread.sleep(PAUSE_MS);
            }
            waiting.supersede();
        } catch (InterruptedException e) {
            // the answer is there
        } finally {
            others.forEach(Client::close);
        }
    }

    private static boolean leads(Client other) {
        try {
            Client.Response answer =
                    other.post("/muster/v1/Ping", Json.print(new Json.Obj()), ANSWER_MS, Optional.empty());
            return answer.status() == 200
                    && Json.object(answer.body()).obj("member").flag("leads");
        } catch (IOException | Json.MalformedException e) {
            other.close();
            return false;
        }
    }

    /** Ends the look. */
    @Override
    public void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
