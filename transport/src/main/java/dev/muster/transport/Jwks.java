package dev.muster.transport;

import dev.muster.json.Json;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Public keys by name, as identity providers publish them (RFC 7517): RSA for RS256 and P-256 for ES256. Keys of other
 * kinds may be listed and are passed over; one that has no name, or is too weak, is as if it were not there. Immutable.
 */
public final class Jwks {
    /** Shorter ones can be broken. */
    static final int RSA_BITS_MIN = 2048;

    static final int KEYS_MAX = 256;
    private static final int EC_BYTES = 32;

    private record StoredKey(String algorithm, PublicKey key) {}

    private final Map<String, StoredKey> keys = new HashMap<>();

    private Jwks() {}

    /** @throws IllegalArgumentException if the text is no set of keys, or has none that is of use */
    public static Jwks parse(byte[] json) {
        Json.Obj tree;
        try {
            tree = Json.object(json);
        } catch (Json.MalformedException e) {
            throw new IllegalArgumentException("it is no JSON: " + e.getMessage());
        }
        Jwks out = new Jwks();
        for (Json.Obj k : tree.objects("keys").stream().limit(KEYS_MAX).toList()) {
            boolean signs = !k.has("use") || k.text("use").equals("sig");
            if (!k.text("kid").isEmpty() && signs) {
                known(k).ifPresent(known -> out.keys.put(k.text("kid"), known));
            }
        }
        if (out.keys.isEmpty()) {
            throw new IllegalArgumentException("no key in it has a kid and is for RS256 or ES256");
        }
        return out;
    }

    private static Optional<StoredKey> known(Json.Obj k) {
        String algorithm = switch (k.text("kty")) {
            case "RSA" -> "RS256";
            case "EC" -> "ES256";
            default -> "";
        };
        if (algorithm.isEmpty() || k.has("alg") && !k.text("alg").equals(algorithm)) {
            return Optional.empty();
        }
        try {
            return (algorithm.equals("RS256") ? rsa(k) : p256(k)).map(key -> new StoredKey(algorithm, key));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<PublicKey> rsa(Json.Obj k) throws GeneralSecurityException {
        BigInteger modulus = number(k.text("n"));
        if (modulus.bitLength() < RSA_BITS_MIN) {
            return Optional.empty();
        }
        return Optional.of(
                KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, number(k.text("e")))));
    }

    private static Optional<PublicKey> p256(Json.Obj k) throws GeneralSecurityException {
        if (!k.text("crv").equals("P-256")) {
            return Optional.empty();
        }
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec("secp256r1"));
        ECPoint point = new ECPoint(number(k.text("x")), number(k.text("y")));
        return Optional.of(KeyFactory.getInstance("EC")
                .generatePublic(new ECPublicKeySpec(point, curve.getParameterSpec(ECParameterSpec.class))));
    }

    private static BigInteger number(String base64) {
        return new BigInteger(1, Base64.getUrlDecoder().decode(base64));
    }

    /** Whether the key of that name, and of that algorithm and no other, has signed the text. */
    boolean signed(String kid, String algorithm, String text, byte[] signature) {
        StoredKey known = keys.get(kid);
        if (known == null || !known.algorithm.equals(algorithm)) {
            return false;
        }
        boolean rsa = algorithm.equals("RS256");
        if (!rsa && signature.length != 2 * EC_BYTES) {
            return false;
        }
        try {
            Signature check = Signature.getInstance(rsa ? "SHA256withRSA" : "SHA256withECDSAinP1363Format");
            check.initVerify(known.key);
            check.update(text.getBytes(StandardCharsets.US_ASCII));
            return check.verify(signature);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
