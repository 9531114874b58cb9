package dev.muster.controller.dbd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.dbd.ExternalDbds.Place;
import dev.muster.json.Codec;
import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.model.accounting.DbdMessages.Registered;
import dev.muster.transport.Caller;
import dev.muster.transport.Server;
import dev.muster.transport.Session;
import dev.muster.transport.Verifier;
import dev.muster.transport.tls.Tls;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ExternalDbdsTest {
    private static final byte[] KEY = new byte[32];

    @Test
    void externalDbdHostsAndPortsAreParsed() {
        assertThat(Place.list("db1, db2:7000,10.0.0.1:7001,[::1]:7002,[fe80::1],", 6819))
                .containsExactly(
                        new Place("db1", 6819),
                        new Place("db2", 7000),
                        new Place("10.0.0.1", 7001),
                        new Place("::1", 7002),
                        new Place("fe80::1", 6819));
        assertThat(Place.list("", 6819)).isEmpty();
    }

    /**
     * The answer of each slurmdbd is logged when it changes; one that is away keeps none of the others from being told.
     */
    @Test
    void externalSlurmdbdsAreToldWhereTheClusterIs() {
        List<Register> seen = new CopyOnWriteArrayList<>();
        long[] answer = {0};
        List<String> log = new ArrayList<>();
        AtomicLong nonces = new AtomicLong();
        Session session = Session.issue(KEY, "c", new Caller(0, 0), System.currentTimeMillis(), new byte[16]);
        try (Server server = Server.start(
                        "127.0.0.1",
                        0,
                        new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis)
                                .as(dev.muster.transport.Audience.SLURMDBD),
                        (caller, message, body) -> {
                            seen.add(Codec.decode(body, Register.class));
                            return new Server.Reply(200, Codec.encode(new Registered(answer[0])));
                        },
                        Map.of(),
                        path -> Optional.empty());
                ExternalDbds dbds = new ExternalDbds(
                        () -> List.of(new Place("127.0.0.1", 1), new Place("127.0.0.1", server.port())),
                        () -> new Register("c", "j", 7, "h", 6817, 1, "cpu=1", "n1", 1, List.of()).abroad(),
                        Tls.NONE,
                        () -> session,
                        () -> "n" + nonces.incrementAndGet(),
                        log::add)) {
            dbds.round();
            dbds.round();
            assertThat(seen)
                    .hasSize(2)
                    .allMatch(Register::external)
                    .allMatch(r -> r.journal().isEmpty());
            assertThat(log).hasSize(2).anyMatch(l -> l.endsWith(server.port() + ": registered"));
            answer[0] = -1;
            dbds.round();
            assertThat(log.getLast()).endsWith("it keeps the rows of a cluster of this name: not registered there");
        }
    }
}
