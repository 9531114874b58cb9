package dev.muster.transport;

import dev.muster.json.Codec;
import dev.muster.model.Identity;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * A caller's proof of identity for a short while: a token that names it and a key known to it and the daemons only,
 * with which each request is signed. So a token that is seen on the wire can neither be replayed nor put on another
 * request.
 */
public record Session(String token, byte[] key) {
    /** How long a token is good, seconds. */
    public static final int LIFETIME_S = 60;
    /**
     * Whether one that was issued then is to be renewed: half of its life is over, or it is from a time to come, for
     * the clock was set back meanwhile.
     */
    public static boolean isOld(long issuedMs, long nowMs) {
        return nowMs < issuedMs || nowMs - issuedMs > LIFETIME_S * 500L;
    }

    /** How the token of a session from a JSON Web Token begins. */
    static final String JWT = "jwt.";

    /** Signs like {@link #sign(String, String, String, byte[], long, String)}, for a daemon without a name. */
    public String sign(String method, String path, byte[] body, long timeMs, String nonce) {
        return sign("", method, path, body, timeMs, nonce);
    }

    /**
     * The value of the Authorization header. It names the body's hash, so that a daemon knows its caller before it
     * reads the body.
     *
     * @param audience the daemon that it is for: no other takes it
     * @param timeMs now, milliseconds since 1970
     * @param nonce never used before with this session
     */
    public String sign(String audience, String method, String path, byte[] body, long timeMs, String nonce) {
        String hash = Hash.hex(Hash.sha256(body));
        byte[] mac = Hash.hmac(key, message(audience, method, path, hash, timeMs, nonce));
        return "Muster " + token + ";" + timeMs + ";" + nonce + ";" + hash + ";" + Hash.hex(mac);
    }

    static byte[] message(String audience, String method, String path, String bodyHash, long timeMs, String nonce) {
        return (method + "\n" + path + "\n" + bodyHash + "\n" + timeMs + "\n" + nonce + "\n" + audience)
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Makes a session from the cluster key.
     *
     * @param random 16 fresh random bytes
     */
    public static Session issue(byte[] clusterKey, String cluster, Caller caller, long nowMs, byte[] random) {
        return issue(clusterKey, cluster, caller, Optional.empty(), nowMs, random);
    }

    /**
     * Makes a session that names its user.
     *
     * @param described the caller, for daemons that do not know this host's users (use_client_ids)
     */
    public static Session issue(
            byte[] clusterKey, String cluster, Caller caller, Optional<Identity> described, long nowMs, byte[] random) {
        String claims = "v1|" + cluster + "|" + caller.uid() + "|" + caller.gid() + "|" + nowMs + "|" + Hash.hex(random)
                + described
                        .map(i -> "|" + Base64.getUrlEncoder().withoutPadding().encodeToString(Codec.encode(i)))
                        .orElse("");
        String body = Base64.getUrlEncoder().withoutPadding().encodeToString(claims.getBytes(StandardCharsets.UTF_8));
        String mac = Hash.hex(Hash.hmac(clusterKey, ("token|" + body).getBytes(StandardCharsets.UTF_8)));
        String token = "key." + body + "." + mac;
        return new Session(token, sessionKey(clusterKey, token));
    }

    /**
     * A session from a JSON Web Token. Its signature does not travel: it makes the key, so that what is seen on the
     * wire is of no use. A token that was signed with a private key (RS256, ES256) travels whole: the server, which has
     * the public key only, could not check it otherwise.
     *
     * @throws IllegalArgumentException if the text is no token
     */
    public static Session ofJwt(String jwt) {
        int dot = jwt.lastIndexOf('.');
        if (dot <= 0 || jwt.indexOf('.') == dot || jwt.length() > Jwt.LENGTH_MAX || !jwt.matches("[A-Za-z0-9_.-]+")) {
            throw new IllegalArgumentException("not a token");
        }
        String token = JWT + (Jwt.isSecret(jwt) ? jwt.substring(0, dot) : jwt);
        return new Session(token, sessionKey(Base64.getUrlDecoder().decode(jwt.substring(dot + 1)), token));
    }

    static byte[] sessionKey(byte[] clusterKey, String token) {
        return Hash.hmac(clusterKey, ("session|" + token).getBytes(StandardCharsets.UTF_8));
    }

    /** The form in which the sack socket hands a session over: token, newline, key in hex. */
    public byte[] toBytes() {
        return (token + "\n" + Hash.hex(key) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** @throws IllegalArgumentException if the bytes are not a session */
    public static Session fromBytes(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        int first = text.indexOf('\n');
        int second = text.indexOf('\n', first + 1);
        if (first <= 0 || second < 0) {
            throw new IllegalArgumentException("not a session");
        }
        return new Session(text.substring(0, first), unhex(text.substring(first + 1, second)));
    }

    static byte[] unhex(String hex) {
        if ((hex.length() & 1) != 0) {
            throw new IllegalArgumentException("odd hex");
        }
        byte[] out = new byte[hex.length() / 2];
        for (int i = 0; i < out.length; i++) {
            int high = Character.digit(hex.charAt(2 * i), 16);
            int low = Character.digit(hex.charAt(2 * i + 1), 16);
            if (high < 0 || low < 0) {
                throw new IllegalArgumentException("not hex");
            }
            out[i] = (byte) (high << 4 | low);
        }
        return out;
    }
}
