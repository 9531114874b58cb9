package dev.muster.transport;

import dev.muster.model.Codec;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.ApiError;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.http.HeaderNames;
import io.helidon.http.HttpPrologue;
import io.helidon.http.Status;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.http1.spi.Http1Upgrader;
import io.helidon.webserver.spi.ServerConnection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * A daemon's port: authenticated messages by POST, upgraded streams, and a few open paths by GET. One virtual thread per
 * connection; bad input costs its sender the connection and nobody anything else.
 */
public final class Server implements AutoCloseable {
    /** The largest body taken: Slurm's largest script (4 MiB by default) and environment in base64 with room. */
    public static final long BODY_BYTES_MAX = 64L << 20;
    static final Duration IDLE = Duration.ofMinutes(2);

    private final WebServer web;

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

        /** As above, for who shows who he is. @param header by name, "" where there is none */
        default Optional<Page> get(String path, UnaryOperator<String> header) {
            return get(path);
        }
    }

    public record Page(int status, String contentType, byte[] body) {}

    /** What follows the beginning of a long answer, made while it is sent. */
    public interface Rest {
        /** @throws IOException if the asker is gone */
        void writeTo(OutputStream out) throws IOException;
    }

    /** @param rest what comes after the body; whoever asks reads it line by line ({@link Client.Lines}) */
    public record Reply(int status, byte[] body, Optional<Rest> rest) {
        public Reply(int status, byte[] body) {
            this(status, body, Optional.empty());
        }

        /** A message record as a 200. */
        public static Reply of(Object message) {
            return new Reply(200, Codec.encode(message));
        }

        public static Reply error(int status, SlurmErrno errno, String sentence) {
            return error(status, errno.number(), sentence);
        }

        /** An error of a number that is not ours: a site's script has its own. */
        public static Reply error(int status, int errno, String sentence) {
            return new Reply(status, Codec.encode(new ApiError(errno, sentence)));
        }

        public static Reply error(SlurmErrno errno) {
            return error(400, errno, errno.sentence());
        }
    }

    private Server(WebServer web) {
        this.web = web;
    }

    public int port() {
        return web.port();
    }

    @Override
    public void close() {
        web.stop();
    }

    /**
     * Opens the port and serves.
     *
     * @param host "" for all addresses
     * @throws IllegalStateException if the port is taken
     */
    public static Server start(
            String host, int port, Verifier verifier, MessageHandler messages, Map<String, StreamHandler> streams, OpenHandler open) {
        return start(host, port, Optional.empty(), verifier, messages, streams, open);
    }

    /** As above. @param tls with whose certificate connections are encrypted; without one they are not */
    public static Server start(String host, int port, Optional<TlsIdentity> tls, Verifier verifier, MessageHandler messages,
            Map<String, StreamHandler> streams, OpenHandler open) {
        Hash.manyToCome();
        Edge edge = new Edge(verifier, messages, new TreeMap<>(streams), open);
        var selector = Http1ConnectionSelector.builder()
                .config(c -> c.validateRequestHostHeader(false).maxHeadersSize(1 << 16));
        streams.keySet().forEach(name -> selector.addUpgrader(new Upgrader(name, edge)));
        var builder = WebServer.builder()
                .port(port)
                .shutdownHook(false)
                .maxPayloadSize(BODY_BYTES_MAX)
                .backlog(4096)
                .idleConnectionTimeout(IDLE)
                .shutdownGracePeriod(Duration.ofMillis(100))
                .protocolsDiscoverServices(false)
                .connectionSelectors(List.of(selector.build()))
                .connectionOptions(o -> o.tcpNoDelay(true))
                .routing(r -> r.any(edge::serve));
        tls.ifPresent(t -> builder.tls(b -> b.sslContext(t.context()).enabledProtocols(List.of(Tls.PROTOCOLS))));
        if (!host.isEmpty()) {
            builder.host(host);
        } else {
            builder.host("0.0.0.0");
        }
        WebServer web = builder.build().start();
        if (!web.isRunning()) {
            throw new IllegalStateException(whyNot(host, port));
        }
        return new Server(web);
    }

    /** The web server only logs why it could not open its port: asked again here, for the caller's sentence. */
    private static String whyNot(String host, int port) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(host.isEmpty() ? "0.0.0.0" : host, port));
            return "it could not be opened";
        } catch (IOException | IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private record Edge(
            Verifier verifier, MessageHandler messages, Map<String, StreamHandler> streams, OpenHandler open) {

        void serve(ServerRequest request, ServerResponse response) throws IOException {
            String path = request.prologue().uriPath().rawPath();
            String method = request.prologue().method().text();
            if (method.equals("POST") && path.startsWith(MESSAGE_PATH)) {
                byte[] body;
                try (InputStream in = request.content().inputStream()) {
                    // without a length said a buffer of 16 kB is made for each request
                    body = in.readNBytes((int) Math.min(request.headers().contentLength().orElse(Long.MAX_VALUE), BODY_BYTES_MAX + 1));
                }
                Reply reply = body.length > BODY_BYTES_MAX
                        ? Reply.error(413, SlurmErrno.PATHNAME_TOO_LONG, "request too long")
                        : message(request.headers().first(HeaderNames.AUTHORIZATION).orElse(""), path, body);
                if (reply.rest.isPresent()) {
                    send(response, reply, reply.rest.get());
                } else {
                    send(response, reply.status, "application/json", reply.body);
                }
            } else if (method.equals("GET") || method.equals("HEAD")) {
                UnaryOperator<String> header = name -> request.headers().first(HeaderNames.create(name)).orElse("");
                Page page = open.get(path, header).orElse(new Page(404, "text/plain", "not found\n".getBytes(StandardCharsets.UTF_8)));
                send(response, page.status, page.contentType, page.body);
            } else {
                send(response, 404, "text/plain", "not found\n".getBytes(StandardCharsets.UTF_8));
            }
        }

        private static void send(ServerResponse response, int status, String type, byte[] body) {
            response.status(Status.create(status)).header(HeaderNames.CONTENT_TYPE, type).send(body);
        }

        /** The stream is closed only after all of it: what fails on the way must not look like an answer's end. */
        private static void send(ServerResponse response, Reply reply, Rest rest) throws IOException {
            OutputStream out = response.status(Status.create(reply.status)).header(HeaderNames.CONTENT_TYPE, "application/json").outputStream();
            out.write(reply.body);
            rest.writeTo(out);
            out.close();
        }

        private Reply message(String authorization, String path, byte[] body) {
            return switch (verifier.verify(authorization, "POST", path, body)) {
                case Verifier.Denied denied -> Reply.error(401, SlurmErrno.PROTOCOL_AUTHENTICATION_ERROR,
                        SlurmErrno.PROTOCOL_AUTHENTICATION_ERROR.sentence());
                case Verifier.Verified v -> messages.handle(v.caller(), path.substring(MESSAGE_PATH.length()), body);
            };
        }
    }

    static final String MESSAGE_PATH = "/muster/v1/";

    /** The path of a stream. */
    public static String streamPath(String name) {
        return MESSAGE_PATH + "stream/" + name;
    }

    private record Upgrader(String name, Edge edge) implements Http1Upgrader {
        public String supportedProtocol() {
            return "muster-" + name;
        }

        public ServerConnection upgrade(ConnectionContext context, HttpPrologue prologue, WritableHeaders<?> headers) {
            String authorization = headers.first(HeaderNames.AUTHORIZATION).orElse("");
            Verifier.Outcome outcome =
                    edge.verifier.verify(authorization, "GET", prologue.uriPath().rawPath(), new byte[0]);
            DataWriter out = context.dataWriter();
            return switch (outcome) {
                case Verifier.Denied denied -> new Finished(out);
                case Verifier.Verified v -> {
                    out.writeNow(BufferData.create(("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
                            + supportedProtocol() + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII)));
                    yield new StreamConnection(context, v.caller(), edge.streams.get(name));
                }
            };
        }
    }

    /** Answers 401 and ends. */
    private record Finished(DataWriter out) implements ServerConnection {
        @Override
        public void handle(Limit limit) {
            out.writeNow(BufferData.create("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII)));
        }

        public Duration idleTime() {
            return Duration.ZERO;
        }

        public void close(boolean interrupt) {}
    }

    private static final class StreamConnection implements ServerConnection {
        private final ConnectionContext context;
        private final Caller caller;
        private final StreamHandler handler;
        private volatile Thread thread;

        StreamConnection(ConnectionContext context, Caller caller, StreamHandler handler) {
            this.context = context;
            this.caller = caller;
            this.handler = handler;
        }

        @Override
        public void handle(Limit limit) {
            thread = Thread.currentThread();
            Thread own = thread;
            handler.handle(caller, new Frames(new ReaderStream(context.dataReader()), new WriterStream(context.dataWriter()),
                    () -> {
                        context.dataWriter().close();
                        if (Thread.currentThread() != own) {
                            own.interrupt();
                        }
                    }, context.remotePeer().address() instanceof java.net.InetSocketAddress a ? a.getAddress().getHostAddress() : ""));
        }

        /** A stream may be silent for long: never idle. */
        public Duration idleTime() {
            return Duration.ZERO;
        }

        public void close(boolean interrupt) {
            Thread running = thread;
            if (interrupt && running != null) {
                running.interrupt();
            }
        }
    }

    private static final class ReaderStream extends InputStream {
        private final DataReader reader;

        ReaderStream(DataReader reader) {
            this.reader = reader;
        }

        @Override
        public int read() throws IOException {
            try {
                reader.ensureAvailable();
                return reader.read() & 0xff;
            } catch (RuntimeException e) {
                return -1;
            }
        }

        @Override
        public int available() {
            return reader.available();
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            try {
                reader.ensureAvailable();
                int take = Math.max(1, Math.min(length, reader.available()));
                byte[] bytes = reader.readBytes(take);
                System.arraycopy(bytes, 0, into, from, take);
                return take;
            } catch (RuntimeException e) {
                return -1;
            }
        }
    }

    private static final class WriterStream extends OutputStream {
        private final DataWriter writer;
        private final ByteArrayOutputStream single = new ByteArrayOutputStream();

        WriterStream(DataWriter writer) {
            this.writer = writer;
        }

        @Override
        public void write(int b) throws IOException {
            single.reset();
            single.write(b);
            write(single.toByteArray(), 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                writer.writeNow(BufferData.create(bytes, from, length));
            } catch (RuntimeException e) {
                throw new IOException("connection closed", e);
            }
        }
    }
}
