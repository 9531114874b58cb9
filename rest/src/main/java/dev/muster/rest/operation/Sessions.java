package dev.muster.rest.operation;

import dev.muster.json.Json;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.http.Request;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Sessions of the page. The token stays here: a browser has a cookie that no script sees, and a key that the page's own
 * scripts send with each request and other sites cannot send. Neither is of use without the other. Sessions are kept in
 * memory: a restart ends them. Thread-safe.
 */
public final class Sessions {
    /** Header with the key of the page. */
    static final String KEY_HEADER = "x-muster-key";

    static final String COOKIE = "muster_session_";
    static final int SESSIONS_MAX = 4096;
    static final int CODES_MAX = 1024;
    /** Longest time of a session; it ends earlier with its token. */
    public static final long LIFE_MS = 12 * 3_600_000L;
    /** Milliseconds for a code to be brought to a browser. */
    public static final long CODE_MS = 60_000;

    private static final int SECRET_BYTES = 32;

    /** @param key what the page shows */
    public record Session(String id, String key, String token, String user, long untilMs) {}

    private record Code(String token, long untilMs) {}

    private final SecureRandom random = new SecureRandom();
    private final Map<String, Session> sessions = bounded(SESSIONS_MAX);
    private final Map<String, Code> codes = bounded(CODES_MAX);

    private static <T> Map<String, T> bounded(int maximum) {
        return new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
                return size() > maximum;
            }
        };
    }

    private String secret() {
        byte[] bytes = new byte[SECRET_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /**
     * @param token that was found good
     * @param user name of the session's user, from slurmctld
     */
    public synchronized Session open(String token, String user, long nowMs) {
        Session session = new Session(secret(), secret(), token, user, Math.min(nowMs + LIFE_MS, end(token)));
        sessions.put(session.id, session);
        return session;
    }

    /** End of the token by its own claim; slurmctld checks it with each request anyway. */
    public static long end(String token) {
        try {
            long exp = Json.object(Base64.getUrlDecoder().decode(token.split("\\.", -1)[1]))
                    .number("exp");
            return exp <= 0 || exp > Long.MAX_VALUE / 1000 ? Long.MAX_VALUE : exp * 1000;
        } catch (IllegalArgumentException | Json.MalformedException | ArrayIndexOutOfBoundsException e) {
            return Long.MAX_VALUE;
        }
    }

    public synchronized void close(Session session) {
        sessions.remove(session.id);
    }

    /** A code that stands for the token once, and not for long. */
    public synchronized String code(String token, long nowMs) {
        String code = secret();
        codes.put(code, new Code(token, nowMs + CODE_MS));
        return code;
    }

    /** The token of a code, which is spent. */
    public synchronized Optional<String> spend(String code, long nowMs) {
        return Optional.ofNullable(codes.remove(code))
                .filter(c -> c.untilMs > nowMs)
                .map(Code::token);
    }

    /** Each port has a cookie of its own: browsers do not tell ports of a host apart. */
    static String cookieName(Request request) {
        String host = request.header("host");
        String port = host.substring(host.lastIndexOf(':') + 1);
        if (host.indexOf(':') >= 0 && port.matches("[0-9]{1,5}")) {
            return COOKIE + port;
        }
        return COOKIE + (request.isSecure() ? "443" : "80");
    }

    /**
     * The session of a request.
     *
     * @throws RestException 403 where there is one, and the request does not come from its page
     */
    public synchronized Optional<Session> of(Request request, long nowMs) throws RestException {
        Session session = sessions.get(cookies(request.header("cookie")).getOrDefault(cookieName(request), ""));
        if (session == null || session.untilMs <= nowMs) {
            if (session != null) {
                sessions.remove(session.id);
            }
            return Optional.empty();
        }
        String site = request.header("sec-fetch-site");
        boolean elsewhere = !site.isEmpty() && !site.equals("same-origin") && !site.equals("none");
        byte[] shown = request.header(KEY_HEADER).getBytes(StandardCharsets.UTF_8);
        if (elsewhere || !MessageDigest.isEqual(shown, session.key.getBytes(StandardCharsets.UTF_8))) {
            throw new RestException(
                    403,
                    1007,
                    "Protocol authentication error",
                    "A session counts only with its page's key (" + KEY_HEADER + ")",
                    "slurmrestd");
        }
        return Optional.of(session);
    }

    /** The request with the token of its session, if it has one and shows no token itself. */
    public Request withToken(Request request, long nowMs) throws RestException {
        boolean hasToken = !request.header("x-slurm-user-token").isEmpty()
                || !request.header("authorization").isEmpty();
        Optional<Session> session = hasToken ? Optional.empty() : of(request, nowMs);
        if (session.isEmpty()) {
            return request;
        }
        Map<String, String> headers = new TreeMap<>(request.headers());
        headers.put("x-slurm-user-token", session.get().token);
        headers.remove("x-slurm-user-name");
        return new Request(
                request.method(), request.path(), request.query(), headers, request.body(), request.keepAlive());
    }

    static Map<String, String> cookies(String header) {
        Map<String, String> out = new HashMap<>();
        for (String item : header.split(";")) {
            int equals = item.indexOf('=');
            if (equals > 0) {
                out.putIfAbsent(
                        item.substring(0, equals).strip(),
                        item.substring(equals + 1).strip());
            }
        }
        return out;
    }

    /** Set-Cookie for a session; its end where it is over. */
    public static String cookie(Request request, Optional<Session> session, long nowMs) {
        return cookieName(request) + "=" + session.map(Session::id).orElse("") + "; Path=/; HttpOnly; SameSite=Strict"
                + (request.isSecure() ? "; Secure" : "") + "; Max-Age="
                + session.map(s -> Math.max(1, (s.untilMs - nowMs) / 1000)).orElse(0L);
    }
}
