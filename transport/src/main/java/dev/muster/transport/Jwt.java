package dev.muster.transport;

import dev.muster.json.Json;
import dev.muster.model.Identity;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A JSON Web Token as auth/jwt takes it: signed with HMAC-SHA256 (HS256) or, by the owner of a known public key, with
 * RS256 or ES256. It is valid for one user until the time that it names.
 *
 * @param user the user that it authenticates
 * @param expiresS seconds since 1970
 * @param signature of the whole
 * @param claims all that it says
 */
public record Jwt(String user, long expiresS, byte[] signature, Json.Obj claims) {
    /** Claims that may hold the user's name, in this order, before the site's own claim. */
    private static final List<String> USER_CLAIMS = List.of("sun", "username");
    /** Longer texts are no tokens. */
    public static final int LENGTH_MAX = 8192;

    private static final String HEADER = encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.UTF_8));

    /** @param issuedS, expiresS seconds since 1970 */
    public static String make(byte[] key, String user, long issuedS, long expiresS) {
        return make(key, new Json.Obj().put("exp", expiresS).put("iat", issuedS).put("sun", user));
    }

    /** Makes a token with the ids of its user, so that no host needs to look them up. */
    static String make(byte[] key, Identity caller, long issuedS, long expiresS) {
        List<Object> gids = new ArrayList<>();
        caller.gids().forEach(g -> gids.add((long) g));
        return make(
                key,
                new Json.Obj()
                        .put("exp", expiresS)
                        .put("iat", issuedS)
                        .put("sun", caller.user())
                        .put("uid", (long) caller.uid())
                        .put("gid", (long) caller.gid())
                        .put(
                                "id",
                                new Json.Obj()
                                        .put("gecos", "")
                                        .put("dir", caller.home())
                                        .put("shell", caller.shell())
                                        .put("gids", gids)));
    }

    private static String make(byte[] key, Json.Obj claims) {
        String text = HEADER + "." + encode(Json.print(claims));
        return text + "." + encode(mac(key, text));
    }

    /**
     * Returns a whole token that the key has signed and that has not expired; empty for any other text.
     *
     * @param claim the site's own for the user, or ""
     */
    public static Optional<Jwt> check(byte[] key, String claim, String token, long nowS) {
        int dot = token.lastIndexOf('.');
        if (dot < 0 || token.length() > LENGTH_MAX) {
            return Optional.empty();
        }
        byte[] given;
        try {
            given = Base64.getUrlDecoder().decode(token.substring(dot + 1));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
        return signed(key, claim, token.substring(0, dot), nowS)
                .filter(jwt -> MessageDigest.isEqual(jwt.signature, given));
    }

    /**
     * Returns a whole token that one of the keys has signed and that has not expired; it must name its key. Empty for
     * any other text.
     */
    static Optional<Jwt> check(Jwks keys, String claim, String token, long nowS) {
        int last = token.lastIndexOf('.');
        int first = token.indexOf('.');
        if (first < 0 || first == last || token.length() > LENGTH_MAX) {
            return Optional.empty();
        }
        try {
            Json.Obj header = Json.object(Base64.getUrlDecoder().decode(token.substring(0, first)));
            byte[] signature = Base64.getUrlDecoder().decode(token.substring(last + 1));
            if (!keys.signed(header.text("kid"), header.text("alg"), token.substring(0, last), signature)) {
                return Optional.empty();
            }
            Json.Obj claims = Json.object(Base64.getUrlDecoder().decode(token.substring(first + 1, last)));
            return isGood(claims, nowS) && !user(claims, claim).isEmpty()
                    ? Optional.of(new Jwt(user(claims, claim), claims.number("exp"), signature, claims))
                    : Optional.empty();
        } catch (IllegalArgumentException | Json.MalformedException e) {
            return Optional.empty();
        }
    }

    /** Whether the signature can be computed with the key of the server: only then it does not have to travel. */
    static boolean isSecret(String token) {
        int dot = token.indexOf('.');
        try {
            return dot < 0
                    || Json.object(Base64.getUrlDecoder().decode(token.substring(0, dot)))
                            .text("alg")
                            .equals("HS256");
        } catch (IllegalArgumentException | Json.MalformedException e) {
            return true;
        }
    }

    /** A token without an end is none. */
    private static boolean isGood(Json.Obj claims, long nowS) {
        return (!claims.has("nbf") || claims.number("nbf") <= nowS) && claims.number("exp") > nowS;
    }

    /**
     * Reads the first two parts of a token and its signature. None of it is proved yet: the signature has to be
     * compared first.
     */
    static Optional<Jwt> signed(byte[] key, String claim, String text, long nowS) {
        int dot = text.indexOf('.');
        if (dot < 0 || text.length() > LENGTH_MAX) {
            return Optional.empty();
        }
        try {
            Json.Obj header = Json.object(Base64.getUrlDecoder().decode(text.substring(0, dot)));
            Json.Obj claims = Json.object(Base64.getUrlDecoder().decode(text.substring(dot + 1)));
            String user = user(claims, claim);
            boolean fit = header.text("alg").equals("HS256") && isGood(claims, nowS) && !user.isEmpty();
            return fit ? Optional.of(new Jwt(user, claims.number("exp"), mac(key, text), claims)) : Optional.empty();
        } catch (IllegalArgumentException | Json.MalformedException e) {
            return Optional.empty();
        }
    }

    /**
     * The user as the token describes it: uid, gid and, in id, directory, shell and groups. Empty where one of them is
     * missing or none.
     */
    Optional<Identity> identity() {
        if (!(claims.raw("id") instanceof Json.Obj id)
                || !isId(claims.raw("uid"))
                || !isId(claims.raw("gid"))
                || !id.has("gecos")
                || !user.matches("[A-Za-z0-9_][A-Za-z0-9_.@-]{0,254}")
                || !id.text("dir").startsWith("/")
                || !id.text("shell").startsWith("/")) {
            return Optional.empty();
        }
        int gid = (int) claims.number("gid");
        TreeSet<Integer> gids = new TreeSet<>(List.of(gid));
        String group = Integer.toString(gid);
        if (id.raw("groups") instanceof Json.Obj named) {
            for (var g : named.fields().entrySet()) {
                if (!isId(g.getValue())) {
                    return Optional.empty();
                }
                int number = ((Number) g.getValue()).intValue();
                gids.add(number);
                group = number == gid ? g.getKey() : group;
            }
        } else if (id.raw("gids") instanceof List<?> numbers) {
            for (Object g : numbers) {
                if (!isId(g)) {
                    return Optional.empty();
                }
                gids.add(((Number) g).intValue());
            }
        } else {
            return Optional.empty();
        }
        return Optional.of(new Identity(
                (int) claims.number("uid"), gid, user, group, List.copyOf(gids), id.text("dir"), id.text("shell")));
    }

    private static boolean isId(@Nullable Object value) {
        return value instanceof Long n && n >= 0 && n < Integer.MAX_VALUE;
    }

    private static String user(Json.Obj claims, String claim) {
        for (String name : USER_CLAIMS) {
            if (claims.has(name)) {
                return claims.text(name);
            }
        }
        return claim.isEmpty() ? "" : claims.text(claim);
    }

    private static byte[] mac(byte[] key, String text) {
        return Hash.hmac(key, text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
