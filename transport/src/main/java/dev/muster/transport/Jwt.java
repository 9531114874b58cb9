package dev.muster.transport;

import dev.muster.model.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A JSON Web Token as auth/jwt takes it: signed with HMAC-SHA256 (HS256), good for one user until a time that it names.
 *
 * @param user      who it speaks for
 * @param expiresS  seconds since 1970
 * @param signature of the whole
 */
public record Jwt(String user, long expiresS, byte[] signature) {
    /** The claims that the user's name is looked for in, in this order, before one of the site's own. */
    private static final List<String> USER_CLAIMS = List.of("sun", "username");
    /** Longer texts are no tokens. */
    public static final int LENGTH_MAX = 8192;

    private static final String HEADER = encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.UTF_8));

    /** @param issuedS, expiresS seconds since 1970 */
    public static String make(byte[] key, String user, long issuedS, long expiresS) {
        Json.Obj claims = new Json.Obj().put("exp", expiresS).put("iat", issuedS).put("sun", user);
        String text = HEADER + "." + encode(Json.print(claims));
        return text + "." + encode(mac(key, text));
    }

    /** A whole token that the key has signed and whose time is not over; empty for any other text. @param claim the site's own for the user, or "" */
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
        return signed(key, claim, token.substring(0, dot), nowS).filter(jwt -> MessageDigest.isEqual(jwt.signature, given));
    }

    /**
     * What the first two parts of a token say, and the signature that only who has the whole token or the key knows: it must be proved before
     * any of this is believed.
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
            boolean begun = !claims.has("nbf") || claims.number("nbf") <= nowS;
            // a token without an end is none
            boolean fit = header.text("alg").equals("HS256") && begun && claims.number("exp") > nowS && !user.isEmpty();
            return fit ? Optional.of(new Jwt(user, claims.number("exp"), mac(key, text))) : Optional.empty();
        } catch (IllegalArgumentException | Json.MalformedException e) {
            return Optional.empty();
        }
    }

    private static String user(Json.Obj claims, String own) {
        for (String name : USER_CLAIMS) {
            if (claims.has(name)) {
                return claims.text(name);
            }
        }
        return own.isEmpty() ? "" : claims.text(own);
    }

    private static byte[] mac(byte[] key, String text) {
        return Hash.hmac(key, text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
