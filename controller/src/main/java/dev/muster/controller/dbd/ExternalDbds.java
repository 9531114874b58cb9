package dev.muster.controller.dbd;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.model.accounting.DbdMessages.Registered;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.Session;
import dev.muster.transport.tls.Tls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * AccountingStorageExternalHost: other sites' slurmdbds that are told where this cluster's slurmctld is, so that their
 * clusters' commands reach it with -M. They get no rows and give no policies; a word from time to time keeps the
 * address there, as it is gone when slurmctld is.
 */
public final class ExternalDbds implements AutoCloseable {
    private static final long EACH_MS = 10_000;
    private static final int CALL_MS = 10_000;

    /** A slurmdbd of the list. */
    public record Place(String host, int port) {
        private static final Pattern HOST = Pattern.compile("(\\[[^\\]]+]|[^:\\[\\]]+)(?::(\\d{1,5}))?");

        /**
         * {@code host[:port],…}, a number with colons in brackets.
         *
         * @param port where none is said
         */
        public static List<Place> list(String text, int port) {
            List<Place> out = new ArrayList<>();
            for (String word : text.split(",")) {
                Matcher m = HOST.matcher(word.strip());
                if (m.matches()) {
                    out.add(new Place(
                            m.group(1).replaceAll("[\\[\\]]", ""),
                            m.group(2) == null ? port : Integer.parseInt(m.group(2))));
                } else if (!word.isBlank()) {
                    out.add(new Place(word.strip(), port));
                }
            }
            return List.copyOf(out);
        }
    }

    private final Supplier<List<Place>> places;
    private final Supplier<Register> introduction;
    private final Tls tls;
    private final Supplier<Session> session;
    private final Supplier<String> nonces;
    private final Consumer<String> log;
    /** Last outcome of each. */
    private final Map<Place, String> last = new HashMap<>();

    private volatile boolean closed;
    private @Nullable Thread thread;

    /** @param introduction how this cluster presents itself, as an external one */
    public ExternalDbds(
            Supplier<List<Place>> places,
            Supplier<Register> introduction,
            Tls tls,
            Supplier<Session> session,
            Supplier<String> nonces,
            Consumer<String> log) {
        this.places = places;
        this.introduction = introduction;
        this.tls = tls;
        this.session = session;
        this.nonces = nonces;
        this.log = log;
    }

    public void start() {
        thread = Thread.ofVirtual().name("external slurmdbds").start(() -> {
            while (!closed) {
                round();
                try {
                    Thread.sleep(EACH_MS);
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
    }

    /** Tells each once. */
    void round() {
        List<Place> now = places.get();
        last.keySet().retainAll(now);
        for (Place p : now) {
            String outcome = told(p);
            if (!outcome.equals(last.put(p, outcome))) {
                log.accept("accounting: external slurmdbd at " + p.host + ":" + p.port + ": " + outcome);
            }
        }
    }

    private String told(Place p) {
        try (Client client = new Client(p.host, p.port, session, nonces::get)
                .to(Audience.SLURMDBD)
                .over(tls)) {
            Client.Response r = client.post("/muster/v1/Register", Codec.encode(introduction.get()), CALL_MS);
            if (r.status() != 200) {
                return "refused: " + new String(r.body(), StandardCharsets.UTF_8);
            }
            return Codec.decode(r.body(), Registered.class).seq() < 0
                    ? "it keeps the rows of a cluster of this name: not registered there"
                    : "registered";
        } catch (IOException | IllegalStateException | Json.MalformedException e) {
            return ErrorSentence.of(e);
        }
    }

    @Override
    public void close() {
        closed = true;
        if (thread != null) {
            thread.interrupt();
        }
    }
}
