package dev.muster.rest.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * HTTP/1.0 and 1.1 from one connection's bytes: requests one after the other, everything bounded. Whatever is no HTTP
 * is refused with a sentence that says which rule it breaks.
 */
public final class Http {
    static final int LINE_BYTES_MAX = 16 << 10;
    static final int HEADERS_MAX = 128;
    /** The largest script, its environment, and room. */
    static final int BODY_BYTES_MAX = 32 << 20;
    /** Server-sent events. */
    public static final String STREAM = "text/event-stream";

    private static final List<String> METHODS =
            List.of("GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS", "CONNECT", "TRACE");
    private static final Map<Integer, String> REASONS = Map.ofEntries(
            Map.entry(200, "OK"),
            Map.entry(303, "SEE OTHER"),
            Map.entry(304, "NOT MODIFIED"),
            Map.entry(400, "BAD REQUEST"),
            Map.entry(401, "UNAUTHORIZED"),
            Map.entry(403, "FORBIDDEN"),
            Map.entry(404, "NOT FOUND"),
            Map.entry(405, "METHOD NOT ALLOWED"),
            Map.entry(406, "NOT ACCEPTABLE"),
            Map.entry(413, "REQUEST ENTITY TOO LARGE"),
            Map.entry(429, "TOO MANY REQUESTS"),
            Map.entry(415, "UNSUPPORTED MEDIA TYPE"),
            Map.entry(500, "INTERNAL SERVER ERROR"),
            Map.entry(501, "NOT IMPLEMENTED"),
            Map.entry(503, "SERVICE UNAVAILABLE"),
            Map.entry(505, "HTTP VERSION NOT SUPPORTED"));

    /** Writes a body that is long. */
    public interface Written {
        void to(OutputStream out) throws IOException;

        /** Releases the memory that the answer is written from. */
        default void close() {}
    }

    /**
     * An answer.
     *
     * @param type of the body
     * @param written is the body, in pieces, if there
     * @param headers further ones, ours alone
     */
    public record Reply(int status, String type, byte[] body, Optional<Written> written, Map<String, String> headers) {
        public Reply(int status, String type, byte[] body) {
            this(status, type, body, Optional.empty(), Map.of());
        }

        public Reply(int status, String type, Written written) {
            this(status, type, new byte[0], Optional.of(written), Map.of());
        }

        public Reply with(Map<String, String> more) {
            return new Reply(status, type, body, written, more);
        }

        /** It goes on for as long as both sides want. */
        boolean isStream() {
            return type.equals(STREAM);
        }

        public void close() {
            written.ifPresent(Written::close);
        }

        /** Returns the reply in one piece. */
        public Reply whole() throws IOException {
            if (written.isEmpty()) {
                return this;
            }
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            written.get().to(all);
            return new Reply(status, type, all.toByteArray()).with(headers);
        }
    }

    /** The bytes are no HTTP request: the connection ends after the answer. */
    public static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;
        private final String sentence;

        Malformed(int status, String sentence) {
            super(sentence, null, false, false);
            this.status = status;
            this.sentence = sentence;
        }

        /** The sentence: a Throwable may have none, this one has. */
        @Override
        public String getMessage() {
            return sentence;
        }

        public int status() {
            return status;
        }
    }

    /** Bounds on the time and bytes of a request. */
    interface Bounds {
        Bounds NONE = new Bounds() {};

        /** A request has begun; its head has to be complete soon. */
        default void requestBegan() {}

        /** Its head has been read. */
        default void head(Map<String, String> headers) {}

        /**
         * Counts the bytes of its body so far.
         *
         * @throws Malformed if they are over the limit
         */
        default void body(long bytes) throws Malformed {}

        /** It has been read. */
        default void read() {}

        /** It has been answered. */
        default void answered() {}
    }

    private final InputStream in;
    private final OutputStream out;
    private final Bounds bounds;
    /** The last request's version is 1.1. */
    private boolean modern = true;

    /** @param in reads of single bytes must be cheap */
    Http(InputStream in, OutputStream out) {
        this(in, out, Bounds.NONE);
    }

    Http(InputStream in, OutputStream out, Bounds bounds) {
        this.in = in;
        this.out = out;
        this.bounds = bounds;
    }

    /** A client may close the connection between two lines. */
    private static final class ConnectionLost extends IOException {
        private static final long serialVersionUID = 1L;
    }

    /** The next request; empty at an end before one is whole. */
    Optional<Request> next() throws IOException, Malformed {
        try {
            return request();
        } catch (ConnectionLost e) {
            return Optional.empty();
        }
    }

    private Optional<Request> request() throws IOException, Malformed {
        int first = in.read();
        while (first == '\r' || first == '\n') {
            first = in.read();
        }
        if (first < 0) {
            return Optional.empty();
        }
        bounds.requestBegan();
        String method = method(first);
        String target = target();
        modern = version();
        Map<String, String> headers = headers();
        bounds.head(headers);
        String connection = headers.getOrDefault("connection", "").toLowerCase(Locale.ROOT);
        boolean keep = modern ? !connection.contains("close") : connection.contains("keep-alive");
        int mark = target.indexOf('?');
        Optional<String> path = Request.decoded(mark < 0 ? target : target.substring(0, mark));
        Optional<Map<String, String>> query =
                Request.query(mark < 0 ? "" : withoutFragment(target.substring(mark + 1)));
        if (path.isEmpty() || query.isEmpty()) {
            throw new Malformed(400, "Invalid URL: an escape is not of two hexadecimal digits");
        }
        return Optional.of(new Request(method, path.get(), query.get(), headers, body(headers), keep));
    }

    private static String withoutFragment(String query) {
        int hash = query.indexOf('#');
        return hash < 0 ? query : query.substring(0, hash);
    }

    private String method(int first) throws IOException, Malformed {
        StringBuilder text = new StringBuilder();
        int octet = first;
        while (octet != ' ') {
            if (octet < 'A' || octet > 'Z' || text.length() > 10) {
                throw new Malformed(400, octet < 0 ? "Unexpected end of request" : "Invalid HTTP method");
            }
            text.append((char) octet);
            octet = in.read();
        }
        if (!METHODS.contains(text.toString())) {
            throw new Malformed(400, "Invalid HTTP method");
        }
        return text.toString();
    }

    private String target() throws IOException, Malformed {
        StringBuilder text = new StringBuilder();
        int octet = in.read();
        while (octet != ' ') {
            if (octet <= ' ' || octet >= 0x7f) {
                throw new Malformed(400, octet < 0 ? "Unexpected end of request" : "Invalid character in URL");
            }
            if (text.length() >= LINE_BYTES_MAX) {
                throw new Malformed(413, "URL too long");
            }
            text.append((char) octet);
            octet = in.read();
        }
        String t = text.toString();
        if (t.startsWith("http://")) {
            int slash = t.indexOf('/', 7);
            return slash < 0 ? "/" : t.substring(slash);
        }
        if (!t.startsWith("/") && !t.equals("*")) {
            throw new Malformed(400, "Invalid URL: it must begin with a slash");
        }
        return t;
    }

    /** Whether it is 1.1. */
    private boolean version() throws IOException, Malformed {
        String line = line("HTTP version");
        return switch (line) {
            case "HTTP/1.1" -> true;
            case "HTTP/1.0" -> false;
            default -> throw new Malformed(line.matches("HTTP/[0-9]\\.[0-9]") ? 505 : 400, "Invalid HTTP version");
        };
    }

    /** Up to CR LF. */
    private String line(String part) throws IOException, Malformed {
        StringBuilder text = new StringBuilder();
        while (true) {
            int octet = in.read();
            if (octet == '\r') {
                int next = in.read();
                if (next != '\n') {
                    throw new Malformed(
                            400, next < 0 ? "Unexpected end of request" : "Missing an expected LF character");
                }
                return text.toString();
            }
            if (octet < 0 && text.isEmpty() && part.equals("header")) {
                throw new ConnectionLost();
            }
            if (octet < 0) {
                throw new Malformed(400, "Unexpected end of request");
            }
            if (octet == '\n') {
                throw new Malformed(400, "Missing an expected CR character");
            }
            if (octet < ' ' && octet != '\t' || octet == 0x7f) {
                throw new Malformed(400, "Unexpected character added or missing in HTTP " + part);
            }
            if (text.length() >= LINE_BYTES_MAX) {
                throw new Malformed(413, "HTTP " + part + " too long");
            }
            text.append((char) octet);
        }
    }

    private Map<String, String> headers() throws IOException, Malformed {
        Map<String, String> out = new LinkedHashMap<>();
        for (int i = 0; ; i++) {
            String line = line("header");
            if (line.isEmpty()) {
                return out;
            }
            if (i >= HEADERS_MAX) {
                throw new Malformed(413, "Too many HTTP headers");
            }
            int colon = line.indexOf(':');
            if (colon <= 0 || !line.substring(0, colon).matches("[-!#$%&'*+.^_`|~0-9A-Za-z]+")) {
                throw new Malformed(400, "Unexpected character added or missing in HTTP header");
            }
            String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
            String value = line.substring(colon + 1).strip();
            String before = out.put(name, value);
            boolean once = name.equals("content-length") || name.startsWith("x-slurm-") || name.equals("authorization");
            if (before != null && !before.equals(value) && once) {
                throw new Malformed(400, "HTTP header " + name + " is given twice");
            }
        }
    }

    private byte[] body(Map<String, String> headers) throws IOException, Malformed {
        String length = headers.get("content-length");
        String encoding = headers.getOrDefault("transfer-encoding", "").toLowerCase(Locale.ROOT);
        if (length == null && encoding.isEmpty()) {
            return new byte[0];
        }
        if (headers.getOrDefault("expect", "").equalsIgnoreCase("100-continue")) {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            out.flush();
        }
        if (!encoding.isEmpty()) {
            if (!encoding.equals("chunked") || length != null) {
                throw new Malformed(501, "Only the transfer encoding chunked, without a Content-Length, is served");
            }
            return chunks();
        }
        if (length == null || !length.matches("[0-9]{1,18}")) {
            throw new Malformed(400, "Unexpected character or unparsable number in HTTP Content-Length header");
        }
        long wanted = Long.parseLong(length);
        if (wanted > BODY_BYTES_MAX) {
            throw new Malformed(413, "HTTP request body too large");
        }
        bounds.body(wanted);
        byte[] body = in.readNBytes((int) wanted);
        if (body.length < wanted) {
            throw new Malformed(400, "Unexpected end of request");
        }
        return body;
    }

    private byte[] chunks() throws IOException, Malformed {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (true) {
            String line = line("chunk");
            int semicolon = line.indexOf(';');
            String size = (semicolon < 0 ? line : line.substring(0, semicolon)).strip();
            if (!size.matches("[0-9a-fA-F]{1,8}")) {
                throw new Malformed(400, "Unexpected character or unparsable number in HTTP chunk size");
            }
            long wanted = Long.parseLong(size, 16);
            if (wanted + all.size() > BODY_BYTES_MAX) {
                throw new Malformed(413, "HTTP request body too large");
            }
            if (wanted == 0) {
                while (!line("trailer").isEmpty()) {
                    // until the end
                }
                return all.toByteArray();
            }
            bounds.body(wanted + all.size());
            byte[] chunk = in.readNBytes((int) wanted);
            all.write(chunk);
            if (chunk.length < wanted || !line("chunk").isEmpty()) {
                throw new Malformed(400, "Unexpected end of request");
            }
        }
    }

    /**
     * Writes an answer. A body of unknown length is sent in chunks to clients of HTTP/1.1; for older clients its end is
     * the end of the connection.
     *
     * @param keep the client wants to send more requests
     * @param head the request was HEAD: the body is only measured
     * @return whether the connection stays open
     */
    boolean send(Reply reply, boolean keep, boolean head) throws IOException {
        Reply r;
        if (head && !reply.isStream()) {
            r = reply.whole();
        } else if (head) {
            r = new Reply(reply.status, reply.type, new byte[0]).with(reply.headers);
        } else {
            r = reply;
        }

        boolean pieces = r.written.isPresent();
        boolean goesOn = keep && (!pieces || modern);
        writeHead(r, goesOn);
        if (pieces) {
            r.written.get().to(modern ? new Chunks(out) : out);
            if (modern) {
                out.write(LAST_CHUNK);
            }
        } else if (!head) {
            out.write(r.body);
        }
        out.flush();
        return goesOn;
    }

    private void writeHead(Reply reply, boolean goesOn) throws IOException {
        boolean pieces = reply.written.isPresent();
        StringBuilder text = new StringBuilder("HTTP/1.1 ")
                .append(reply.status)
                .append(' ')
                .append(REASONS.getOrDefault(reply.status, "UNKNOWN"))
                .append("\r\nConnection: ")
                .append(goesOn ? "Keep-Alive" : "Close");
        if (!pieces) {
            text.append("\r\nContent-Length: ").append(reply.body.length);
        } else if (modern) {
            text.append("\r\nTransfer-Encoding: chunked");
        }
        if (pieces || reply.body.length > 0) {
            text.append("\r\nContent-Type: ").append(reply.type);
        }
        if (reply.status == 401) {
            text.append("\r\nWWW-Authenticate: Bearer");
        }
        reply.headers.forEach(
                (name, value) -> text.append("\r\n").append(name).append(": ").append(value));
        out.write(text.append("\r\n\r\n").toString().getBytes(StandardCharsets.US_ASCII));
    }

    private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LINE_END = "\r\n".getBytes(StandardCharsets.US_ASCII);

    /** Each write is a chunk. */
    private static final class Chunks extends OutputStream {
        private final OutputStream out;

        Chunks(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int text) throws IOException {
            write(new byte[] {(byte) text}, 0, 1);
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            if (length > 0) {
                out.write((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
                out.write(bytes, from, length);
                out.write(LINE_END);
            }
        }
    }
}
