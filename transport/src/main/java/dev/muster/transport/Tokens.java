package dev.muster.transport;

import dev.muster.model.Identity;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The tokens that a daemon takes as proof of a caller's identity and, with the same key, makes. Thread-safe. */
public final class Tokens {
    private final Optional<byte[]> key;
    private final Supplier<Optional<Jwks>> keys;
    private final String claim;
    private final Function<String, Optional<Caller>> users;
    private final LongSupplier nowMs;
    private final Ids ids;

    /**
     * The claims in which tokens describe their users (use_jwt_client_ids).
     *
     * @param used the description is taken, and this host does not have to know the user
     * @param only a token without a description is refused
     * @param known this host's users, for tokens that are made here
     * @param stated is told
     */
    public record Ids(
            boolean used, boolean only, Function<String, Optional<Identity>> known, Consumer<Identity> stated) {
        public static final Ids UNUSED = new Ids(false, false, name -> Optional.empty(), who -> {});
    }

    /**
     * @param key of HS256
     * @param claim of the site that names the user where neither sun nor username does; "" for none
     * @param users this host's, by name
     */
    public Tokens(byte[] key, String claim, Function<String, Optional<Caller>> users, LongSupplier nowMs) {
        this(Optional.of(key.clone()), Optional::empty, claim, users, Ids.UNUSED, nowMs);
    }

    /**
     * Makes and checks tokens by several keys.
     *
     * @param key of HS256; without one no tokens are made
     * @param keys public keys of other signers, asked for each token: they may change
     */
    public Tokens(
            Optional<byte[]> key,
            Supplier<Optional<Jwks>> keys,
            String claim,
            Function<String, Optional<Caller>> users,
            Ids ids,
            LongSupplier nowMs) {
        this.ids = ids;
        this.key = key;
        this.keys = keys;
        this.claim = claim;
        this.users = users;
        this.nowMs = nowMs;
    }

    /** The user that a whole token authenticates. */
    public Optional<Caller> caller(String token) {
        long now = nowMs.getAsLong() / 1000;
        Optional<Jwt> jwt = Jwt.isSecret(token)
                ? key.flatMap(k -> Jwt.check(k, claim, token, now))
                : keys.get().flatMap(k -> Jwt.check(k, claim, token, now));
        return jwt.flatMap(this::user);
    }

    /** Whether this daemon has a key of its own to make tokens with. */
    public boolean areMade() {
        return key.isPresent();
    }

    /** @param seconds from now on that it is good for @throws IllegalStateException without a key of its own */
    public String make(String user, long seconds) {
        long now = nowMs.getAsLong() / 1000;
        byte[] signingKey = key.orElseThrow(() -> new IllegalStateException("no key to make tokens with"));
        return (ids.used ? ids.known.apply(user) : Optional.<Identity>empty())
                .map(who -> Jwt.make(signingKey, who, now, now + seconds))
                .orElseGet(() -> Jwt.make(signingKey, user, now, now + seconds));
    }

    /** The user of a proved token. */
    Optional<Caller> user(Jwt jwt) {
        Optional<Identity> identity = ids.used ? jwt.identity() : Optional.empty();
        if (identity.isPresent()) {
            ids.stated.accept(identity.get());
            return Optional.of(new Caller(identity.get().uid(), identity.get().gid()));
        }
        return ids.only ? Optional.empty() : users.apply(jwt.user());
    }

    /**
     * Returns the claims of a session's token and the session's key; the token on the wire lacks the signature, which
     * is what the key is made of.
     */
    Optional<Proof> proof(String token) {
        String text = token.substring(Session.JWT.length());
        long now = nowMs.getAsLong() / 1000;
        boolean whole = text.indexOf('.') != text.lastIndexOf('.');
        Optional<Jwt> signed = whole
                ? keys.get().flatMap(k -> Jwt.check(k, claim, text, now))
                : key.flatMap(k -> Jwt.signed(k, claim, text, now));
        return signed.map(jwt -> new Proof(jwt, Session.sessionKey(jwt.signature(), token)));
    }

    /** @param said untrusted until the sender has proved that it has the key */
    record Proof(Jwt said, byte[] key) {}
}
