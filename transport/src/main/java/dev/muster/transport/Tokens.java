package dev.muster.transport;

import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** The tokens that a daemon takes as proof of a caller's identity and, with the same key, makes. Thread-safe. */
public final class Tokens {
    private final byte[] key;
    private final String claim;
    private final Function<String, Optional<Caller>> users;
    private final LongSupplier nowMs;

    /**
     * @param key   of HS256
     * @param claim of the site that names the user where neither sun nor username does; "" for none
     * @param users this host's, by name
     */
    public Tokens(byte[] key, String claim, Function<String, Optional<Caller>> users, LongSupplier nowMs) {
        this.key = key.clone();
        this.claim = claim;
        this.users = users;
        this.nowMs = nowMs;
    }

    /** Whom a whole token speaks for. */
    public Optional<Caller> caller(String token) {
        return Jwt.check(key, claim, token, nowMs.getAsLong() / 1000).flatMap(jwt -> users.apply(jwt.user()));
    }

    /** @param seconds from now on that it is good for */
    public String make(String user, long seconds) {
        long now = nowMs.getAsLong() / 1000;
        return Jwt.make(key, user, now, now + seconds);
    }

    Optional<Caller> user(String name) {
        return users.apply(name);
    }

    /** What the token of a session says, and the session's key; the token on the wire lacks the signature, which is what the key is made of. */
    Optional<Proof> proof(String token) {
        return Jwt.signed(key, claim, token.substring(Session.JWT.length()), nowMs.getAsLong() / 1000)
                .map(jwt -> new Proof(jwt.user(), Session.sessionKey(jwt.signature(), token)));
    }

    /** @param user not to be believed before somebody has shown that he has the key */
    record Proof(String user, byte[] key) {}
}
