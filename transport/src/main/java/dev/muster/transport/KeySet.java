package dev.muster.transport;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The secrets that a cluster's daemons share: one (slurm.key), or several with names and ends (slurm.jwks), so that
 * they can be exchanged while the cluster runs. With all that are good credentials are checked, with one they are made.
 * Immutable.
 */
public final class KeySet {
    public static final KeySet NONE = new KeySet(List.of());
    /** Shorter keys are refused, as Slurm does. */
    public static final int BYTES_MIN = 17;

    static final int KEYS_MAX = 64;

    /**
     * @param untilS seconds since 1970, 0 for no end
     * @param main to make credentials with
     */
    private record StoredKey(byte[] key, long untilS, boolean main) {
        boolean isGood(long nowMs) {
            return untilS == 0 || untilS * 1000 > nowMs;
        }
    }

    private final List<StoredKey> keys;

    private KeySet(List<StoredKey> keys) {
        this.keys = keys;
    }

    /** One key without an end; none for no bytes. */
    public static KeySet of(byte[] key) {
        return key.length == 0 ? NONE : new KeySet(List.of(new StoredKey(key.clone(), 0, true)));
    }

    /**
     * {@code {"keys":[{"kty":"oct","alg":"HS256","kid":"a","k":"base64","use":"default","exp":1893456000}]}}:
     * {@code use} marks the one to make credentials with, otherwise the first; {@code exp} is when one ends.
     *
     * @throws IllegalArgumentException if it is no such set, or one of its keys is of another kind, too short or
     *     without a name
     */
    public static KeySet parse(byte[] json) {
        List<Json.Obj> all;
        try {
            all = Json.object(json).objects("keys");
        } catch (Json.MalformedException e) {
            throw new IllegalArgumentException("it is no JSON: " + e.getMessage());
        }
        if (all.isEmpty() || all.size() > KEYS_MAX) {
            throw new IllegalArgumentException(
                    "it has " + (all.isEmpty() ? "no keys" : "more than " + KEYS_MAX + " keys"));
        }
        List<StoredKey> out = new ArrayList<>();
        for (Json.Obj k : all) {
            String kid = k.text("kid");
            if (kid.isEmpty()) {
                throw new IllegalArgumentException("a key has no kid");
            }
            if (!k.text("kty").equals("oct") || !k.text("alg").equals("HS256")) {
                throw new IllegalArgumentException("the key " + kid + " is not of kty oct and alg HS256");
            }
            byte[] key =
                    Base64.getUrlDecoder().decode(k.text("k").replace('+', '-').replace('/', '_'));
            if (key.length < BYTES_MIN) {
                throw new IllegalArgumentException(
                        "the key " + kid + " is too short: at least " + BYTES_MIN + " bytes are needed");
            }
            out.add(new StoredKey(key, k.number("exp"), k.text("use").equals("default")));
        }
        return new KeySet(List.copyOf(out));
    }

    /** The key that makes credentials now: the marked one, else the first valid one. */
    public Optional<byte[]> main(long nowMs) {
        return keys.stream()
                .filter(k -> k.main && k.isGood(nowMs))
                .findFirst()
                .or(() -> keys.stream().filter(k -> k.isGood(nowMs)).findFirst())
                .map(StoredKey::key);
    }

    /** The keys that check credentials now. */
    List<byte[]> good(long nowMs) {
        return keys.stream().filter(k -> k.isGood(nowMs)).map(StoredKey::key).toList();
    }

    public boolean isEmpty() {
        return keys.isEmpty();
    }
}
