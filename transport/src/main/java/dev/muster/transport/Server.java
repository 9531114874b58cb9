package dev.muster.transport;

import static java.util.Objects.requireNonNullElse;

import dev.muster.json.Codec;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.ApiError;
import dev.muster.model.api.MessageRights;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.TextCheck;
import dev.muster.transport.tls.TlsIdentity;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A daemon's port: authenticated messages by POST, upgraded streams, and a few open paths by GET. One virtual thread
 * per connection ({@link ServerConnection}); bad input ends the connection of its sender and affects no other. The
 * accept loop outlives a lack of descriptors; any other fault in it ends the process, so that it is started again.
 */
public final class Server implements AutoCloseable {
    /** The largest body taken: Slurm's largest script (4 MiB by default) and environment in base64 with room. */
    public static final long BODY_BYTES_MAX = 64L << 20;

    static final String MESSAGE_PATH = "/muster/v1/";
    private static final int BACKLOG = 4096;
    private static final int PAUSE_MS = 50;
    private static final int COMPLAIN_MS = 30_000;
    /** Descriptors that are made free when accept finds none. */
    private static final int SHED = 64;
    /** Pages that are made at one time: they need no caller. */
    private static final int PAGES_MAX = 16;

    private static final int WATCH_MS = 500;
    private static final int STOP_MS = 100;
    /** Largest body of a message without jobs, crontabs or rows: a list of a few hundred thousand job ids fits. */
    static final int PLAIN_BODY_BYTES_MAX = 4 << 20;

    private static final Set<String> LARGE = Set.of(
            "Submit",
            "SubmitHet",
            "CreateStep",
            "CreateHetStep",
            "SetCrontab",
            "Append",
            "Sync",
            "Register",
            "TakeStep",
            "RunUnallocated",
            "Change",
            "ChangeAll",
            "LoadArchive",
            "WarmUp");
    private static final Set<String> DAEMONS_OWN = Stream.of(MessageRights.accounting(), MessageRights.node())
            .flatMap(t -> t.entrySet().stream())
            .filter(e -> e.getValue().need() == MessageRights.Need.DAEMON)
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());

    private final ServerSocket socket;
    private final Optional<TlsIdentity> tls;
    private final Verifier verifier;
    private final MessageHandler messages;
    private final Map<String, StreamHandler> streams;
    private final OpenHandler open;
    private final Consumer<String> complain;
    private final ConnectionTable table;
    private final BodyBudget budget;
    private final Semaphore pages = new Semaphore(PAGES_MAX);
    private long complainedMs;
    /** Monotonic time of the last log line about a refused caller, in milliseconds; 0 for never. */
    private final AtomicLong refusedMs = new AtomicLong();

    private long evictedBefore;

    /** Answers one authenticated message. */
    @FunctionalInterface
    public interface MessageHandler {
        Reply handle(Caller caller, String message, byte[] body);
    }

    /** Serves one authenticated stream until it returns; the connection closes then. */
    @FunctionalInterface
    public interface StreamHandler {
        void handle(Caller caller, Frames frames);
    }

    /** Serves an open path (health, metrics); empty means not found. */
    @FunctionalInterface
    public interface OpenHandler {
        Optional<Page> get(String path);

        /**
         * Starts a server that authenticates its callers.
         *
         * @param header by name, "" where there is none
         */
        default Optional<Page> get(String path, UnaryOperator<String> header) {
            return get(path);
        }
    }

    public record Page(int status, String contentType, byte[] body) {
        static final Page NOT_FOUND = text(404, "not found\n");

        static Page text(int status, String sentence) {
            return new Page(status, "text/plain", sentence.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** The rest of a long answer, made while it is sent. */
    public interface Rest {
        /** @throws IOException if the asker is gone */
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * @param rest what comes after the body; the caller reads it line by line ({@link Client.Lines})
     * @param undelivered runs where the caller has closed the connection before the answer, or breaks it off
     */
    public record Reply(int status, byte[] body, Optional<Rest> rest, Optional<Runnable> undelivered) {
        public Reply(int status, byte[] body) {
            this(status, body, Optional.empty(), Optional.empty());
        }

        public Reply(int status, byte[] body, Optional<Rest> rest) {
            this(status, body, rest, Optional.empty());
        }

        public Reply whenUndelivered(Runnable then) {
            return new Reply(status, body, rest, Optional.of(then));
        }

        /** A message record as a 200. */
        public static Reply of(Object message) {
            return new Reply(200, Codec.encode(message));
        }

        public static Reply error(int status, SlurmErrno errno, @Nullable String sentence) {
            return error(status, errno.number(), sentence);
        }

        /** An error of a number that is not ours: a site's script has its own. */
        public static Reply error(int status, int errno, @Nullable String sentence) {
            return new Reply(status, Codec.encode(new ApiError(errno, requireNonNullElse(sentence, ""))));
        }

        public static Reply error(SlurmErrno errno) {
            return error(400, errno, errno.sentence());
        }
    }

    /**
     * Whether the caller of the request that this thread serves has closed its connection: it does not wait for an
     * answer any more. False where the thread serves no request. Takes a millisecond.
     */
    public static boolean isCallerGone() {
        return ServerConnection.SERVED.isBound()
                && ServerConnection.SERVED.get().isCallerGone();
    }

    /** @param socket not bound yet */
    Server(
            ServerSocket socket,
            Optional<TlsIdentity> tls,
            Verifier verifier,
            MessageHandler messages,
            Map<String, StreamHandler> streams,
            OpenHandler open,
            Consumer<String> complain,
            ConnectionTable.Limits limits) {
        this.socket = socket;
        this.tls = tls;
        this.verifier = verifier;
        this.messages = messages;
        this.streams = new TreeMap<>(streams);
        this.open = open;
        this.complain = complain;
        int ownUid = ownUid();
        this.table = new ConnectionTable(limits, ownUid);
        this.budget = BodyBudget.ofHeap(ownUid);
    }

    /**
     * Opens the port and serves.
     *
     * @param host "" for all addresses
     * @throws IllegalStateException if the port is taken
     */
    public static Server start(
            String host,
            int port,
            Verifier verifier,
            MessageHandler messages,
            Map<String, StreamHandler> streams,
            OpenHandler open) {
        return start(host, port, Optional.empty(), verifier, messages, streams, open);
    }

    /**
     * Starts a server that may encrypt its connections.
     *
     * @param tls the certificate for encrypted connections; without one they are not encrypted
     */
    public static Server start(
            String host,
            int port,
            Optional<TlsIdentity> tls,
            Verifier verifier,
            MessageHandler messages,
            Map<String, StreamHandler> streams,
            OpenHandler open) {
        return start(host, port, tls, verifier, messages, streams, open, System.err::println);
    }

    /**
     * Starts a server that reports faults.
     *
     * @param complain told of faults and of a lack of room, at most twice a minute
     */
    public static Server start(
            String host,
            int port,
            Optional<TlsIdentity> tls,
            Verifier verifier,
            MessageHandler messages,
            Map<String, StreamHandler> streams,
            OpenHandler open,
            Consumer<String> complain) {
        return start(
                host,
                port,
                tls,
                verifier,
                messages,
                streams,
                open,
                complain,
                ConnectionTable.Limits.of(
                        ConnectionTable.descriptors(), Runtime.getRuntime().maxMemory()));
    }

    static Server start(
            String host,
            int port,
            Optional<TlsIdentity> tls,
            Verifier verifier,
            MessageHandler messages,
            Map<String, StreamHandler> streams,
            OpenHandler open,
            Consumer<String> complain,
            ConnectionTable.Limits limits) {
        try {
            Server server = new Server(new ServerSocket(), tls, verifier, messages, streams, open, complain, limits);
            server.serve(host, port);
            return server;
        } catch (IOException e) {
            throw new IllegalStateException(ErrorSentence.of(e), e);
        }
    }

    /** Opens the port and begins to accept. */
    void serve(String host, int port) {
        Hash.expectMany();
        try {
            socket.bind(new InetSocketAddress(host.isEmpty() ? "0.0.0.0" : host, port), BACKLOG);
        } catch (IOException | IllegalArgumentException e) {
            close(socket);
            throw new IllegalStateException(ErrorSentence.of(e), e);
        }
        Thread.ofPlatform().daemon().name("accept-" + socket.getLocalPort()).start(this::accept);
        Thread.ofPlatform().daemon().name("deadlines-" + socket.getLocalPort()).start(this::watch);
    }

    private static int ownUid() {
        try {
            return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    public int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        try {
            while (!socket.isClosed()) {
                Socket fresh;
                try {
                    fresh = socket.accept();
                } catch (IOException e) {
                    if (!socket.isClosed()) {
                        complain("cannot accept a connection: " + ErrorSentence.of(e));
                        table.shed(SHED);
                        Thread.sleep(PAUSE_MS);
                    }
                    continue;
                }
                admit(new ServerConnection(this, fresh));
            }
        } catch (Throwable e) {
            if (!socket.isClosed()) {
                complain.accept("fatal: the port " + port() + " cannot be served any more: " + e);
                Runtime.getRuntime().halt(1);
            }
        }
    }

    /** Waits for room: others wait in the kernel meanwhile. */
    private void admit(ServerConnection fresh) throws InterruptedException {
        while (!table.add(fresh, System.nanoTime())) {
            complain("port " + port() + " has " + table.size() + " connections, " + table.strangers()
                    + " of them without an authenticated caller: others wait");
            Thread.sleep(PAUSE_MS);
            if (socket.isClosed()) {
                fresh.closeNow();
                return;
            }
        }
        Thread.ofVirtual().start(fresh);
        long evicted = table.evicted();
        if (evicted > evictedBefore) {
            evictedBefore = evicted;
            complain("port " + port() + " has " + table.strangers()
                    + " connections without an authenticated caller: the oldest are closed (" + evicted + " so far)");
        }
    }

    private void complain(String sentence) {
        long nowMs = System.nanoTime() / 1_000_000;
        if (complainedMs == 0 || nowMs - complainedMs > COMPLAIN_MS) {
            complainedMs = nowMs;
            complain.accept(sentence);
        }
    }

    /** Logs, at most twice a minute, a caller with a foreign key or a clock far off. */
    void refused(String peer, String path) {
        long nowMs = System.nanoTime() / 1_000_000;
        long before = refusedMs.get();
        if ((before == 0 || nowMs - before > COMPLAIN_MS) && refusedMs.compareAndSet(before, nowMs)) {
            complain.accept("request from " + peer + " has authentication error: " + path + ": "
                    + SlurmErrno.PROTOCOL_AUTHENTICATION_ERROR.sentence());
        }
    }

    /** Closes connections that are past their deadlines. */
    private void watch() {
        try {
            while (!socket.isClosed()) {
                Thread.sleep(WATCH_MS);
                long nowNs = System.nanoTime();
                table.each(e -> ((ServerConnection) e).enforce(nowNs));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Answers that are being sent are waited for, shortly. */
    @Override
    public void close() {
        close(socket);
        long endNs = System.nanoTime() + STOP_MS * 1_000_000L;
        while (System.nanoTime() - endNs < 0
                && table.all().stream().anyMatch(e -> ((ServerConnection) e).isWorking())) {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        table.all().forEach(e -> ((ServerConnection) e).stop());
    }

    private static void close(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // a socket that cannot be closed serves no caller
        }
    }

    Optional<TlsIdentity> tls() {
        return tls;
    }

    Verifier verifier() {
        return verifier;
    }

    /** The longest body that a message may have. */
    static long bodyBytesMax(String message) {
        return LARGE.contains(message) ? BODY_BYTES_MAX : PLAIN_BODY_BYTES_MAX;
    }

    Map<String, StreamHandler> streams() {
        return streams;
    }

    ConnectionTable table() {
        return table;
    }

    BodyBudget budget() {
        return budget;
    }

    /** An exception of a handler becomes its caller's answer and affects no other connection. */
    Reply answer(Caller caller, String message, byte[] body) {
        // rows that daemons send each other were checked on arrival
        if (body.length > 0 && body[0] == '{' && !DAEMONS_OWN.contains(message) && TextCheck.hasControls(body)) {
            return Reply.error(400, SlurmErrno.ERROR, "A text of the request contains a control character");
        }
        try {
            return messages.handle(caller, message, body);
        } catch (RuntimeException | StackOverflowError e) {
            complain("fault in " + message + ": " + e);
            return Reply.error(500, SlurmErrno.ERROR, "Slurm internal error");
        }
    }

    Page page(HttpHead head) {
        if (!pages.tryAcquire()) {
            return Page.text(503, "busy\n");
        }
        try {
            int query = head.path().indexOf('?');
            return open.get(query < 0 ? head.path() : head.path().substring(0, query), head::header)
                    .orElse(Page.NOT_FOUND);
        } finally {
            pages.release();
        }
    }

    /** The path of a stream. */
    public static String streamPath(String name) {
        return MESSAGE_PATH + "stream/" + name;
    }

    static String reason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 411 -> "Length Required";
            case 413 -> "Content Too Large";
            case 429 -> "Too Many Requests";
            case 431 -> "Request Header Fields Too Large";
            case 500 -> "Internal Server Error";
            case 503 -> "Service Unavailable";
            default -> "Other";
        };
    }
}
