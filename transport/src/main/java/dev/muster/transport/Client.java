package dev.muster.transport;

import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.tls.Tls;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The small HTTP/1.1 client of commands and daemons: one connection, one request at a time, kept open between requests.
 * On the start path of every command, hence without any library.
 */
public final class Client implements AutoCloseable {
    static final int CONNECT_TIMEOUT_MS = 5_000;
    private static final int SEGMENT_BYTES = 1400;
    static final int HEADER_BYTES_MAX = 64 << 10;
    static final int BODY_BYTES_MAX = 1 << 30;
    /** The code of HTTP by which a daemon tells a user that he asks too much. */
    public static final int BACK_OFF = 429;

    /** HTTP status by which a slurmctld refuses a request because another one leads. */
    public static final int STANDBY = 421;

    private static final int BACK_OFF_MS = 1000;
    /** Time in seconds for which a request is tried again, unless the caller sets another. */
    public static final int BACK_OFF_S_MAX = 120;

    private final String host;
    private final int port;
    private final Supplier<Session> session;
    private final NonceSource nonces;
    private Tls tls = Tls.NONE;
    private int connectMs = CONNECT_TIMEOUT_MS;
    private String audience = "";
    private int backOffSeconds = BACK_OFF_S_MAX;
    private volatile boolean aborted;
    private volatile boolean superseded;
    /** Lines of the answer under way are with the caller: it cannot be asked for anew. */
    private boolean handedOn;

    private volatile @Nullable Socket socket;
    /** The socket that close() closes: closing the TLS connection over it would wait for a peer that does not read. */
    @SuppressWarnings("NullAway.Init") // connect() sets this, in and out before anything reads them
    private volatile Socket raw;

    @SuppressWarnings("NullAway.Init") // see raw
    private InputStream in;

    @SuppressWarnings("NullAway.Init") // see raw
    private OutputStream out;

    /** Source of fresh nonces. */
    public interface NonceSource {
        String next();
    }

    public record Response(int status, byte[] body) {}

    /** Takes the lines of a long answer as they come. */
    public interface Lines {
        /**
         * @param buffer holds the line from {@code from} to before {@code to}, without its end; it is used anew
         *     afterwards
         * @throws RuntimeException ends the connection
         */
        void line(byte[] buffer, int from, int to);
    }

    /** The daemon could not be reached at all, or another one leads: nothing was done. */
    public static class ConnectException extends IOException {
        private static final long serialVersionUID = 1L;

        ConnectException(IOException cause) {
            super(ErrorSentence.of(cause), cause);
        }
    }

    /** The daemon is there, and another one leads. */
    public static final class StandbyException extends ConnectException {
        private static final long serialVersionUID = 1L;

        StandbyException(IOException cause) {
            super(cause);
        }
    }

    /** @param session asked once per request, so that an expired one can be renewed */
    public Client(String host, int port, Supplier<Session> session, NonceSource nonces) {
        this.host = host;
        this.port = port;
        this.session = session;
        this.nonces = nonces;
    }

    /**
     * How long a connection may take to be established (TCPTimeout).
     *
     * @return this
     */
    public Client connectWithin(int ms) {
        connectMs = Math.max(1, ms);
        return this;
    }

    /**
     * The daemon that is asked, in what requests sign ({@link Audience}).
     *
     * @return this
     */
    public Client to(String daemon) {
        audience = daemon;
        return this;
    }

    /**
     * Connections are made over TLS from now on.
     *
     * @return this
     */
    public Client over(Tls how) {
        tls = how;
        return this;
    }

    /**
     * How long a request is tried again when the daemon says that the user asks too much.
     *
     * @return this
     */
    public Client backOffWithin(int seconds) {
        backOffSeconds = seconds;
        return this;
    }

    /**
     * Sends one request and reads its answer. When the answer is to back off, it waits and asks again, for a limited
     * time.
     *
     * @param timeoutMs for each read; 0 waits for ever
     * @throws ConnectException if nothing was sent, or the daemon is in standby mode
     */
    public Response post(String path, byte[] body, int timeoutMs) throws IOException {
        return post(path, body, timeoutMs, Optional.empty());
    }

    /**
     * Sends one request and reads its answer, which may come in lines.
     *
     * @param lines takes an answer that the daemon makes while it sends it; the body of the response is empty then.
     *     Other answers come whole
     * @throws IOException where such an answer breaks off, after some lines
     */
    public Response post(String path, byte[] body, int timeoutMs, Optional<Lines> lines) throws IOException {
        Response response = posted(path, body, timeoutMs, lines);
        for (int i = 0; i < backOffSeconds && response.status == BACK_OFF && !aborted; i++) {
            try {
                Thread.sleep(BACK_OFF_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return response;
            }
            response = posted(path, body, timeoutMs, lines);
        }
        return response;
    }

    private Response posted(String path, byte[] body, int timeoutMs, Optional<Lines> lines) throws IOException {
        boolean reused = socket != null;
        superseded = false;
        try {
            connect().setSoTimeout(timeoutMs);
            send("POST", path, body, "");
            handedOn = false;
            return fromLeader(receive(lines));
        } catch (ConnectException e) {
            throw e;
        } catch (IOException e) {
            close();
            if (superseded && !handedOn) {
                throw new ConnectException(e);
            }
            if (reused && !aborted && !handedOn && !(e instanceof java.net.SocketTimeoutException)) {
                // the daemon may have closed an idle connection: request ids make a repeat harmless
                return posted(path, body, timeoutMs, lines);
            }
            throw e;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private Response fromLeader(Response response) throws ConnectException {
        if (response.status == STANDBY) {
            close();
            throw new StandbyException(new IOException(host + " is in standby mode"));
        }
        return response;
    }

    /** Turns a fresh connection into a stream of frames ({@code GET /muster/v1/stream/name}). */
    public Frames stream(String path, String protocol) throws IOException {
        Socket connection = connect();
        connection.setSoTimeout(CONNECT_TIMEOUT_MS * 2);
        connection.setTcpNoDelay(true);
        send("GET", path, new byte[0], "Upgrade: " + protocol + "\r\n");
        int status = statusLine(line());
        long length = headers();
        if (status != 101) {
            byte[] body = in.readNBytes((int) Math.min(Math.max(length, 0), HEADER_BYTES_MAX));
            close();
            fromLeader(new Response(status, body));
            throw new IOException("stream refused (" + status + "): " + new String(body, StandardCharsets.UTF_8));
        }
        connection.setSoTimeout(0);
        Frames frames = new Frames(in, out, raw);
        socket = null;
        return frames;
    }

    private Socket connect() throws IOException {
        if (aborted) {
            throw new IOException("aborted");
        }
        Socket known = socket;
        if (known != null) {
            return known;
        }
        // without an explicit proxy, the JDK first reads its files about proxies
        Socket plain = new Socket(Proxy.NO_PROXY);
        Socket fresh = plain;
        try {
            plain.connect(new InetSocketAddress(resolve(host), port), connectMs);
            if (tls.isOn()) {
                fresh = tls.over(plain, host, port, Math.max(connectMs, CONNECT_TIMEOUT_MS));
            }
        } catch (IOException e) {
            plain.close();
            throw new ConnectException(e);
        }
        raw = plain;
        socket = fresh;
        in = new BufferedInputStream(fresh.getInputStream(), 1 << 16);
        out = fresh.getOutputStream();
        return fresh;
    }

    /** Dotted addresses do not start the resolver. */
    private static InetAddress resolve(String host) throws UnknownHostException {
        byte[] address = new byte[4];
        int part = 0;
        int value = -1;
        for (int i = 0; i <= host.length(); i++) {
            char c = i < host.length() ? host.charAt(i) : '.';
            if (c == '.' && value >= 0 && value < 256 && part < 4) {
                address[part++] = (byte) value;
                value = -1;
            } else if (c >= '0' && c <= '9' && value < 256) {
                value = Math.max(value, 0) * 10 + c - '0';
            } else {
                return InetAddress.getByName(host);
            }
        }
        return part == 4 ? InetAddress.getByAddress(host, address) : InetAddress.getByName(host);
    }

    /**
     * A request as it goes over the wire, signed as of now: for callers that send many at once and have no time to sign
     * then.
     */
    public byte[] prepared(String path, byte[] body) {
        return request("POST", path, body, "");
    }

    /** Sends what {@link #prepared} made and reads the answer. Nothing is sent again. */
    public Response exchange(byte[] prepared, int timeoutMs) throws IOException {
        connect().setSoTimeout(timeoutMs);
        write(prepared);
        return receive(Optional.empty());
    }

    private void send(String method, String path, byte[] body, String extraHeader) throws IOException {
        write(request(method, path, body, extraHeader));
    }

    private byte[] request(String method, String path, byte[] body, String extraHeader) {
        String authorization =
                session.get().sign(audience, method, path, body, System.currentTimeMillis(), nonces.next());
        StringBuilder head = new StringBuilder(512);
        head.append(method)
                .append(' ')
                .append(path)
                .append(" HTTP/1.1\r\nHost: ")
                .append(host)
                .append(':')
                .append(port)
                .append("\r\nAuthorization: ")
                .append(authorization)
                .append("\r\n");
        if (extraHeader.isEmpty()) {
            head.append("Content-Type: application/json\r\nContent-Length: ")
                    .append(body.length)
                    .append("\r\n\r\n");
        } else {
            head.append("Connection: Upgrade\r\n").append(extraHeader).append("\r\n");
        }
        byte[] headBytes = head.toString().getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = new byte[headBytes.length + body.length];
        System.arraycopy(headBytes, 0, all, 0, headBytes.length);
        System.arraycopy(body, 0, all, headBytes.length, body.length);
        return all;
    }

    private void write(byte[] all) throws IOException {
        if (all.length > SEGMENT_BYTES) {
            // a request of one segment leaves at once anyway, and the first option that is set costs a command a
            // millisecond
            raw.setTcpNoDelay(true);
        }
        out.write(all);
        out.flush();
    }

    private Response receive(Optional<Lines> lines) throws IOException {
        int status = statusLine(line());
        long length = headers();
        if (length == CHUNKED && status == 200 && lines.isPresent()) {
            lines(lines.get());
            return new Response(status, new byte[0]);
        }
        if (length == CHUNKED) {
            return new Response(status, chunks());
        }
        if (length > BODY_BYTES_MAX) {
            throw new IOException("answer of " + length + " bytes refused");
        }
        // in one piece from the start: gathered and copied together a long list would be in memory twice
        byte[] body = new byte[(int) Math.max(length, 0)];
        int read = in.readNBytes(body, 0, body.length);
        if (read < length) {
            throw new IOException("connection closed within an answer");
        }
        return new Response(status, body);
    }

    private static final long CHUNKED = -2;

    private byte[] chunks() throws IOException {
        java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
        while (true) {
            int size = Integer.parseInt(line().trim(), 16);
            if (size < 0 || all.size() + (long) size > BODY_BYTES_MAX) {
                throw new IOException("answer too long");
            }
            byte[] chunk = in.readNBytes(size);
            if (chunk.length < size) {
                throw new IOException("connection closed within an answer");
            }
            line();
            if (size == 0) {
                return all.toByteArray();
            }
            all.writeBytes(chunk);
        }
    }

    private void lines(Lines lines) throws IOException {
        byte[] buffer = new byte[1 << 16];
        int filled = 0;
        while (true) {
            int size = Integer.parseInt(line().trim(), 16);
            if (size < 0 || filled + (long) size > BODY_BYTES_MAX) {
                throw new IOException("line too long");
            }
            if (filled + size > buffer.length) {
                buffer = Arrays.copyOf(buffer, Math.max(filled + size, 2 * buffer.length));
            }
            if (in.readNBytes(buffer, filled, size) < size) {
                throw new IOException("connection closed within an answer");
            }
            line();
            if (size == 0) {
                if (filled > 0) {
                    lines.line(buffer, 0, filled);
                }
                return;
            }
            int begin = 0;
            for (int index = filled; index < filled + size; index++) {
                if (buffer[index] == '\n') {
                    handedOn = true;
                    lines.line(buffer, begin, index);
                    begin = index + 1;
                }
            }
            filled += size - begin;
            System.arraycopy(buffer, begin, buffer, 0, filled);
        }
    }

    private static int statusLine(String line) throws IOException {
        if (!line.startsWith("HTTP/1.1 ") || line.length() < 12) {
            throw new IOException("not an HTTP answer");
        }
        return Integer.parseInt(line.substring(9, 12));
    }

    /** Reads the headers; the body's length, 0 if none is given, or {@link #CHUNKED}. */
    private long headers() throws IOException {
        long length = 0;
        while (true) {
            String line = line();
            if (line.isEmpty()) {
                return length;
            }
            if (line.regionMatches(true, 0, "content-length:", 0, 15)) {
                length = Long.parseLong(line.substring(15).trim());
            } else if (line.regionMatches(true, 0, "transfer-encoding:", 0, 18)) {
                length = CHUNKED;
            }
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder(80);
        while (true) {
            int c = in.read();
            if (c < 0) {
                throw new java.io.EOFException("connection closed");
            }
            if (c == '\n') {
                int end = line.length();
                if (end > 0 && line.charAt(end - 1) == '\r') {
                    line.setLength(end - 1);
                }
                return line.toString();
            }
            if (line.length() > HEADER_BYTES_MAX) {
                throw new IOException("header too long");
            }
            line.append((char) c);
        }
    }

    /**
     * Ends the wait of another thread for an answer, because another daemon serves by now. The request may have been
     * done; its id makes a repeat harmless.
     */
    public void supersede() {
        superseded = true;
        close();
    }

    public String host() {
        return host;
    }

    /** It serves no more requests. */
    public boolean isAborted() {
        return aborted;
    }

    /** Ends the request that another thread waits for, and what would come after it. */
    public void abort() {
        aborted = true;
        close();
    }

    @Override
    public void close() {
        Socket current = socket;
        socket = null;
        if (current != null) {
            try {
                raw.close();
            } catch (IOException e) {
                // nothing more to do with a connection that cannot even be closed
            }
        }
    }
}
