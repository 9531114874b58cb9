package dev.muster.controller.dbd;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.table.RowSink;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.model.api.ClusterMessages.ApiError;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.FailoverWatch;
import dev.muster.transport.Session;
import dev.muster.transport.tls.Tls;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections to slurmdbd. Rows go to it in order and each batch once; rows that it could not take yet are kept by
 * the caller, and by the journal. A second connection waits for a newer policy and for queries that need all rows.
 */
public final class DbdLink implements RowSink, AutoCloseable {
    private static final int CALL_MS = 30_000;
    private static final int WAIT_MS = 10_000;
    private static final long RETRY_MS = 1_000;
    /** Pause between two looks at the other hosts while one is waited for. */
    private static final int LOOK_MS = 1_000;

    private static final long SETTLE_MS = 2_000;
    /** Answered so where the database fails. */
    private static final int UNAVAILABLE = 503;
    /** Messages that succeed only if the database answers. */
    private static final List<String> DATABASE_MESSAGES = List.of("Append", "QueryAccounting");

    /** The controller as the link uses it. */
    public interface Home {
        /** Returns the message with which this cluster presents itself. */
        Register introduction();

        /** Makes a policy durable. Returns when it is. */
        void apply(Policy policy);

        /**
         * Waits until slurmdbd has all rows of what is durable now, for at most {@code ms} milliseconds. Returns
         * whether it has.
         */
        boolean settle(long ms);

        /** Returns the rows of all that is known, for tables that lost theirs. */
        Batch everything();

        void log(String sentence);

        /** slurmdbd, or its database, answers again or not any more; told once for each change. */
        void changed(Part part, boolean up);
    }

    /** Parts that may fail. */
    public enum Part {
        SLURMDBD,
        DATABASE
    }

    /** Last state of each part; absent while unknown. */
    private final Map<Part, Boolean> up = new EnumMap<>(Part.class);

    private final List<String> hosts;
    private final int port;
    private final Tls tls;
    private final Supplier<Session> session;
    private final Supplier<String> nonces;
    private final Home home;
    private final Line writing = new Line();
    private final Line waiting = new Line();
    /**
     * Connection for rows that are read back, by a caller that holds what {@link Home#everything} needs: never used
     * together with {@link #writing}.
     */
    private final Line reading = new Line();
    /** Number of the host that is asked. */
    private volatile int turn;

    private volatile long sequence;
    /** The most that slurmdbd ever acknowledged to this link. */
    private long acknowledged;

    private volatile boolean registered;
    private volatile DbdMessages.Registered ahead = new DbdMessages.Registered(0);
    private volatile boolean closed;
    private volatile String trouble = "";
    private @Nullable Thread thread;

    /** A connection to whichever host is asked now. */
    private final class Line {
        private @Nullable Client client;
        private int made = -1;

        synchronized Client now() {
            if (client == null || made != turn) {
                close();
                made = turn;
                client = new Client(hosts.get(made % hosts.size()), port, session, nonces::get)
                        .to(Audience.SLURMDBD)
                        .over(tls);
            }
            return client;
        }

        synchronized void close() {
            if (client != null) {
                client.close();
            }
        }
    }

    /** @param hosts slurmdbd's, the first one first: the next is asked where one cannot be reached */
    public DbdLink(
            List<String> hosts, int port, Tls tls, Supplier<Session> session, Supplier<String> nonces, Home home) {
        this.hosts = List.copyOf(hosts);
        this.tls = tls;
        this.port = port;
        this.session = session;
        this.nonces = nonces;
        this.home = home;
    }

    /** Learns what the tables have, if slurmdbd answers now. */
    public void greet() {
        try {
            synchronized (writing) {
                register();
            }
        } catch (AccountingException e) {
            troubled(String.valueOf(e.getMessage()));
        }
    }

    /** Begins to wait for policies. */
    public void start() {
        thread = Thread.ofPlatform().name("slurmdbd").daemon(true).start(this::syncLoop);
    }

    // ---- rows

    @Override
    public long sequence() {
        return sequence;
    }

    /** Returns the entries of this journal beyond its end that slurmdbd had. */
    public DbdMessages.Registered ahead() {
        return ahead;
    }

    @Override
    public void write(List<Batch> batches) {
        synchronized (writing) {
            if (!registered) {
                register();
            }
            append(batches);
        }
    }

    private void append(List<Batch> batches) {
        Register me = home.introduction();
        sequence = call(
                        writing,
                        new DbdMessages.Append(me.cluster(), me.journal(), batches),
                        DbdMessages.Registered.class)
                .seq();
        acknowledged = Math.max(acknowledged, sequence);
    }

    /** Returns the index of the last entry that slurmdbd has acknowledged, and so committed. */
    @Override
    public long checkpoint() {
        return sequence;
    }

    @Override
    public boolean answers() {
        return registered && trouble.isEmpty();
    }

    @Override
    public Optional<JobRow> job(long sluid, int restarts) {
        return read(sluid, restarts, DbdMessages.ReadRow.NO_STEP)
                .flatMap(r -> r.jobs().stream().findFirst());
    }

    @Override
    public Optional<StepRow> step(long sluid, int restarts, int stepId) {
        return read(sluid, restarts, stepId).flatMap(r -> r.steps().stream().findFirst());
    }

    private Optional<DbdMessages.RowRead> read(long sluid, int restarts, int stepId) {
        try {
            synchronized (reading) {
                Register me = home.introduction();
                if (!registered) {
                    call(reading, me, DbdMessages.Registered.class);
                }
                return Optional.of(call(
                        reading,
                        new DbdMessages.ReadRow(me.cluster(), me.journal(), sluid, restarts, stepId),
                        DbdMessages.RowRead.class));
            }
        } catch (AccountingException e) {
            home.log("accounting: what was used before is not known: " + e.getMessage());
            return Optional.empty();
        }
    }

    private void register() {
        DbdMessages.Registered answer = call(writing, home.introduction(), DbdMessages.Registered.class);
        long sequenceThere = answer.seq();
        if (answer.ahead() > 0) {
            ahead = answer;
        }
        if (!trouble.isEmpty()) {
            home.log("accounting: slurmdbd answers");
            trouble = "";
        }
        sequence = sequenceThere;
        if (sequenceThere < acknowledged) {
            home.log("accounting: slurmdbd's tables hold entries up to " + sequenceThere + ", " + acknowledged
                    + " were in them: everything known is sent again");
            append(List.of(home.everything()));
        }
        registered = true;
    }

    // ---- questions

    /**
     * Passes a question on, over a connection of its own.
     *
     * @throws AccountingException if slurmdbd does not answer
     */
    public byte[] ask(String message, byte[] body) {
        Line own = new Line();
        try {
            return post(own, message, body);
        } finally {
            own.close();
        }
    }

    private <T> T call(Line on, Record message, Class<T> reply) {
        return Codec.decode(post(on, message.getClass().getSimpleName(), Codec.encode(message)), reply);
    }

    private byte[] post(Line on, String message, byte[] body) {
        Reached reached = reached(on, message, body);
        Client.Response r = reached.response;
        seen(Part.SLURMDBD, true);
        if (r.status() == 200) {
            if (DATABASE_MESSAGES.contains(message)) {
                seen(Part.DATABASE, true);
            }
            return r.body();
        }
        if (r.status() == UNAVAILABLE) {
            seen(Part.DATABASE, false);
        }
        ApiError error = error(r);
        if (error.errno() == SlurmErrno.IN_STANDBY_MODE.number()) {
            // it was started anew and does not know this controller
            registered = false;
        }
        if (error.errno() == SlurmErrno.DB_QUERY_TOO_WIDE.number()) {
            throw new AccountingException(error.errno(), error.error());
        }
        throw new AccountingException(
                "slurmdbd at " + reached.host + ":" + port + " refused " + message + ": " + error.error(), null);
    }

    /** An answer, and the host that gave it. */
    private record Reached(String host, Client.Response response) {}

    /**
     * Asks the host that answered last, then each other one once: where a host cannot be reached or is in standby mode
     * nothing was done, and where it lacks its database the other one may have it.
     */
    private Reached reached(Line on, String message, byte[] body) {
        Optional<Reached> unavailable = Optional.empty();
        for (int tried = 1; ; tried++) {
            int asked = turn;
            String host = hosts.get(asked % hosts.size());
            boolean isLast = tried == hosts.size();
            Client client = on.now();
            try (FailoverWatch _ = watch(client, host)) {
                Client.Response r = client.post("/muster/v1/" + message, body, CALL_MS);
                if (r.status() != UNAVAILABLE || isLast) {
                    return new Reached(host, r);
                }
                unavailable = Optional.of(new Reached(host, r));
            } catch (IOException | IllegalStateException e) {
                registered = false;
                if (isLast && unavailable.isPresent()) {
                    return unavailable.get();
                }
                if (isLast || !(e instanceof Client.ConnectException)) {
                    seen(Part.SLURMDBD, false);
                    throw new AccountingException("slurmdbd at " + host + ":" + port + ": " + ErrorSentence.of(e), e);
                }
            }
            turn = (asked + 1) % hosts.size();
        }
    }

    /** Ends the wait for a host that stands still once another one serves. */
    private FailoverWatch watch(Client waiting, String host) {
        List<Client> others = hosts.stream()
                .filter(other -> !other.equals(host))
                .map(other -> new Client(other, port, session, nonces::get)
                        .to(Audience.SLURMDBD)
                        .connectWithin(FailoverWatch.ANSWER_MS)
                        .over(tls))
                .toList();
        return FailoverWatch.over(waiting, others, pinged -> !pinged.flag("standby"), LOOK_MS);
    }

    /** Reports a change; that all is well at the start is no change. */
    private void seen(Part part, boolean answers) {
        Boolean before;
        synchronized (up) {
            before = up.put(part, answers);
        }
        if (before == null ? !answers : before != answers) {
            home.changed(part, answers);
        }
    }

    private static ApiError error(Client.Response r) {
        try {
            return Codec.decode(r.body(), ApiError.class);
        } catch (Json.MalformedException e) {
            return new ApiError(-1, "status " + r.status());
        }
    }

    // ---- policy

    private void syncLoop() {
        long version = 0;
        long barrier = 0;
        while (!closed) {
            try {
                synchronized (writing) {
                    if (!registered) {
                        register();
                        version = 0;
                        barrier = 0;
                    }
                }
                Register me = home.introduction();
                DbdMessages.SyncReply reply = call(
                        waiting,
                        new DbdMessages.Sync(me.cluster(), me.journal(), version, barrier, WAIT_MS),
                        DbdMessages.SyncReply.class);
                if (reply.changed()) {
                    home.apply(reply.policy());
                }
                version = reply.version();
                // not before the rows are there: slurmdbd asks again at once
                if (reply.barrier() > barrier && home.settle(SETTLE_MS)) {
                    barrier = reply.barrier();
                }
            } catch (AccountingException | Json.MalformedException e) {
                troubled(String.valueOf(e.getMessage()));
                pause();
            } catch (RuntimeException e) {
                home.log("accounting: internal error with slurmdbd: " + e);
                pause();
            }
        }
    }

    private void troubled(String sentence) {
        if (closed || sentence.equals(trouble)) {
            return;
        }
        trouble = sentence;
        home.log("error: accounting: " + sentence + "; trying again");
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tests whether slurmdbd answered last time. */
    public boolean isUp() {
        return registered;
    }

    @Override
    public void close() {
        closed = true;
        waiting.close();
        if (thread != null) {
            thread.interrupt();
        }
    }
}
