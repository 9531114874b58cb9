package dev.muster.transport;

import dev.muster.json.Codec;
import dev.muster.model.Identity;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks the Authorization header of a request. Thread-safe. */
public final class Verifier {
    /** Clocks of client and daemon may differ by this much. */
    static final long SKEW_MS = 300_000;
    /**
     * Nonces remembered per half window; more requests than that in {@link #SKEW_MS} are refused rather than left
     * unchecked.
     */
    static final int NONCES_MAX = 10_000_000;

    static final int MUNGE_SESSIONS_MAX = 100_000;
    /** Ten thousand nodes have one each; beyond it all are proved anew. */
    private static final int KEY_SESSIONS_MAX = 20_000;

    /** The request for the configuration. */
    public static final String CONFIG_PATH = "/muster/v1/FetchConfig";
    /** The request to read the configuration again. */
    private static final String RECONFIGURE_PATH = "/muster/v1/Reconfigure";

    /** Parts of a credential. */
    private static final int PARTS = 5;

    private static final int MUNGE_LOCKS = 64;
    private static final Caller NOBODY = new Caller(-1, -1);

    private final Supplier<KeySet> keys;
    private final String cluster;
    private final Optional<Munge> munge;
    private final LongSupplier nowMs;
    private final Optional<Tokens> tokens;
    private final Consumer<Identity> stated;
    private final Map<String, MungeSession> mungeSessions = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, MungeSession> eldest) {
            return size() > MUNGE_SESSIONS_MAX || eldest.getValue().expiresMs < nowMs.getAsLong();
        }
    };
    /**
     * Sessions by token, so that it is not proved anew for each request on a connection: a busy client uses the same
     * token for a minute.
     */
    private final Map<String, KeySession> keySessions = new ConcurrentHashMap<>();

    private BitSet64 nonces = new BitSet64();
    private BitSet64 olderNonces = new BitSet64();
    private long windowStartMs;
    private volatile String audience = "";
    private final Object[] mungeLocks =
            Stream.generate(Object::new).limit(MUNGE_LOCKS).toArray();

    /** @param clusterKey with which the token was made: it is no longer good when that is not */
    private record KeySession(MungeSession session, byte[] clusterKey, long issuedMs, String cluster) {}

    private static final long TELL_EVERY_MS = 60_000;
    private volatile long toldMs = MonotonicClock.ms() - TELL_EVERY_MS;
    private volatile Consumer<String> complain = sentence -> {};

    private record MungeSession(Caller caller, Optional<Identity> who, byte[] key, long expiresMs) {}

    /**
     * @param clusterKey empty where only munge vouches for callers
     * @param cluster "" for a daemon that serves callers of several clusters
     */
    public Verifier(byte[] clusterKey, String cluster, Optional<Munge> munge, LongSupplier nowMs) {
        this(() -> KeySet.of(clusterKey), cluster, munge, nowMs);
    }

    /**
     * Checks credentials for a daemon that may get its key later.
     *
     * @param keys asked for every credential made with the key
     */
    public Verifier(Supplier<KeySet> keys, String cluster, Optional<Munge> munge, LongSupplier nowMs) {
        this(keys, cluster, munge, Optional.empty(), who -> {}, nowMs);
    }

    /**
     * Checks credentials and JSON Web Tokens.
     *
     * @param tokens where JSON Web Tokens are taken as well
     * @param stated gets the identity of callers as the daemon that vouches for them describes it
     */
    public Verifier(
            Supplier<KeySet> keys,
            String cluster,
            Optional<Munge> munge,
            Optional<Tokens> tokens,
            Consumer<Identity> stated,
            LongSupplier nowMs) {
        this.stated = stated;
        this.tokens = tokens;
        this.keys = keys;
        this.cluster = cluster;
        this.munge = munge;
        this.nowMs = nowMs;
    }

    /** The caller, or why the request is refused. */
    public sealed interface Outcome {}

    public record Verified(Caller caller) implements Outcome {}

    public record Denied(String why) implements Outcome {}

    /** The credential in the head of a request, before the body is read. */
    public sealed interface Head {}

    /** @param bodyHash of the one body that the request may have, hex */
    public record Proved(Caller caller, String bodyHash) implements Head {
        public boolean fits(byte[] body) {
            return Hash.hex(Hash.sha256(body)).equals(bodyHash);
        }
    }

    public record Unproved(String why) implements Head {}

    /**
     * The daemon's name in what requests sign; others are for another daemon.
     *
     * @return this
     */
    public Verifier as(String name) {
        audience = name;
        return this;
    }

    /** Checks a whole request. */
    public Outcome verify(String header, String method, String path, byte[] body) {
        String[] parts = header.split(";", -1);
        if (parts.length == PARTS && !new Proved(NOBODY, parts[3]).fits(body)) {
            return new Denied("credential does not fit the request");
        }
        return switch (head(header, method, path)) {
            case Proved p -> new Verified(p.caller);
            case Unproved u -> new Denied(u.why);
        };
    }

    /**
     * Checks the head of a request; its credential is used up by that. What comes as the body is to be compared with
     * the hash.
     */
    public Head head(String header, String method, String path) {
        if (!header.startsWith("Muster ")) {
            return new Unproved("no credential");
        }
        String[] parts = header.substring(7).split(";", -1);
        if (parts.length != PARTS || parts[2].isEmpty() || parts[2].length() > 64 || parts[3].length() != 64) {
            return new Unproved("malformed credential");
        }
        long timeMs;
        byte[] mac;
        try {
            timeMs = Long.parseLong(parts[1]);
            mac = Session.unhex(parts[4]);
        } catch (IllegalArgumentException e) {
            return new Unproved("malformed credential");
        }
        if (Math.abs(timeMs - nowMs.getAsLong()) > SKEW_MS) {
            tell("a request", timeMs);
            return new Unproved("credential out of time: are the clocks in step?");
        }
        Optional<Claim> claim;
        try {
            claim = claim(parts[0], path);
        } catch (RuntimeException e) {
            // a token that cannot be read is none
            claim = Optional.empty();
        }
        if (claim.isEmpty()) {
            return new Unproved("invalid or expired credential");
        }
        byte[] wanted = Hash.hmac(claim.get().key, Session.message(audience, method, path, parts[3], timeMs, parts[2]));
        if (!MessageDigest.isEqual(wanted, mac)) {
            return new Unproved("credential does not fit the request");
        }
        if (!fresh(mac)) {
            return new Unproved("replayed credential");
        }
        return claim.get()
                .caller
                .get()
                .<Head>map(c -> new Proved(c, parts[3]))
                .orElse(new Unproved("a user that is not known here"));
    }

    /**
     * The claims of a token, unproved until the request is verified.
     *
     * @param caller looked up only then: names cost something
     */
    private record Claim(byte[] key, Supplier<Optional<Caller>> caller) {}

    private Optional<Claim> claim(String token, String path) {
        if (token.startsWith(Session.JWT)) {
            return tokens.flatMap(t -> t.proof(token).map(p -> new Claim(p.key(), () -> t.user(p.said()))));
        }
        return Optional.ofNullable(sessionOf(token, path))
                .map(s -> new Claim(s.key, () -> {
                    s.who.ifPresent(stated);
                    return Optional.of(s.caller);
                }));
    }

    private @Nullable MungeSession sessionOf(String token, String path) {
        if (token.startsWith("key.")) {
            return keySession(token, path);
        }
        if (token.startsWith("munge.")) {
            return mungeSession(token);
        }
        return null;
    }

    private @Nullable MungeSession keySession(String token, String path) {
        KeySession known = keySessions.get(token);
        if (known == null) {
            known = proved(token);
            if (known == null) {
                return null;
            }
            if (keySessions.size() >= KEY_SESSIONS_MAX) {
                keySessions.clear();
            }
            keySessions.put(token, known);
        }
        long now = nowMs.getAsLong();
        byte[] made = known.clusterKey;
        // without a configuration a caller does not know the cluster's name; where ClusterName was changed, reconfigure
        // says what is wrong
        boolean ours = cluster.isEmpty()
                || known.cluster.equals(cluster)
                || known.cluster.isEmpty() && path.equals(CONFIG_PATH)
                || path.equals(RECONFIGURE_PATH);
        boolean good = ours
                && Math.abs(now - known.issuedMs) <= Session.LIFETIME_S * 1000L + SKEW_MS
                && keys.get().good(now).stream().anyMatch(k -> Arrays.equals(k, made));
        if (ours && !good) {
            tell("a credential", known.issuedMs);
        }
        return good ? known.session : null;
    }

    /** Tells {@code complain} of credentials that are refused for their time from now on. */
    public Verifier telling(Consumer<String> complain) {
        this.complain = complain;
        return this;
    }

    /** Once a minute: it may be the word of a caller that is not known. */
    private void tell(String message, long timeMs) {
        long away = (timeMs - nowMs.getAsLong()) / 1000;
        if (Math.abs(away) < Session.LIFETIME_S || MonotonicClock.ms() - toldMs < TELL_EVERY_MS) {
            return;
        }
        toldMs = MonotonicClock.ms();
        complain.accept(message + " was refused, its time is " + Math.abs(away) + " seconds "
                + (away > 0 ? "ahead of" : "behind") + " this host's: " + "are the clocks in step?");
    }

    /**
     * The session of a token that a valid key has signed. Whether the key is still valid is checked with each request.
     */
    private @Nullable KeySession proved(String token) {
        String[] parts = token.split("\\.", -1);
        if (parts.length != 3) {
            return null;
        }
        byte[] made = ("token|" + parts[1]).getBytes(StandardCharsets.UTF_8);
        byte[] mac = parts[2].getBytes(StandardCharsets.UTF_8);
        Optional<byte[]> clusterKey = keys.get().good(nowMs.getAsLong()).stream()
                .filter(k -> MessageDigest.isEqual(Hash.hex(Hash.hmac(k, made)).getBytes(StandardCharsets.UTF_8), mac))
                .findFirst();
        if (clusterKey.isEmpty()) {
            return null;
        }
        String[] claims = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8).split("\\|", -1);
        if (claims.length != 6 && claims.length != 7 || !claims[0].equals("v1")) {
            return null;
        }
        long issuedMs = Long.parseLong(claims[4]);
        Caller caller = new Caller(Integer.parseInt(claims[2]), Integer.parseInt(claims[3]));
        Optional<Identity> who = claims.length == 6
                ? Optional.empty()
                : Optional.of(Codec.decode(Base64.getUrlDecoder().decode(claims[6]), Identity.class))
                        .filter(i -> i.uid() == caller.uid());
        MungeSession session =
                new MungeSession(caller, who, Session.sessionKey(clusterKey.get(), token), issuedMs + SKEW_MS);
        return new KeySession(session, clusterKey.get(), issuedMs, claims[1]);
    }

    /**
     * munged takes a credential once, so two requests with the same one go one after the other; those with others do
     * not wait for them.
     */
    private @Nullable MungeSession mungeSession(String token) {
        synchronized (mungeLocks[token.hashCode() & mungeLocks.length - 1]) {
            return decodedOnce(token);
        }
    }

    private @Nullable MungeSession decodedOnce(String token) {
        MungeSession known;
        synchronized (mungeSessions) {
            known = mungeSessions.get(token);
        }
        if (known != null) {
            return known.expiresMs < nowMs.getAsLong() ? null : known;
        }
        if (munge.isEmpty()) {
            return null;
        }
        Optional<Munge.Decoded> decoded = munge.get().decode(token.substring(6));
        if (decoded.isEmpty()) {
            return null;
        }
        long expiresMs = nowMs.getAsLong() + SKEW_MS;
        Caller caller = new Caller(decoded.get().uid(), decoded.get().gid());
        MungeSession made =
                new MungeSession(caller, Optional.empty(), decoded.get().payload(), expiresMs);
        synchronized (mungeSessions) {
            mungeSessions.put(token, made);
        }
        return made;
    }

    private synchronized boolean fresh(byte[] mac) {
        long now = nowMs.getAsLong();
        if (now - windowStartMs > 2 * SKEW_MS) {
            olderNonces = nonces;
            nonces = new BitSet64();
            windowStartMs = now;
        }
        long mark = 0;
        for (int i = 0; i < 8; i++) {
            mark = mark << 8 | mac[i] & 0xff;
        }
        return !olderNonces.has(mark) && nonces.size() < NONCES_MAX && nonces.add(mark);
    }
}
