package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class JwksTest {
    private static final String CLAIMS = "{\"sun\":\"ann\",\"exp\":100}";
    private static KeyPair rsa;
    private static KeyPair weak;
    private static KeyPair ec;
    private static Jwks keys;

    private static KeyPair pair(String kind, int bits) throws GeneralSecurityException {
        KeyPairGenerator g = KeyPairGenerator.getInstance(kind);
        if (kind.equals("EC")) {
            g.initialize(new ECGenParameterSpec("secp256r1"));
        } else {
            g.initialize(bits);
        }
        return g.generateKeyPair();
    }

    @BeforeAll
    static void make() throws GeneralSecurityException {
        rsa = pair("RSA", 2048);
        weak = pair("RSA", 1024);
        ec = pair("EC", 0);
        ECPublicKey point = (ECPublicKey) ec.getPublic();
        keys = Jwks.parse(("{\"keys\":[" + rsa("a", rsa) + "," + rsa("weak", weak)
                        + ",{\"kty\":\"oct\",\"kid\":\"o\",\"k\":\"AAAA\"},"
                        + "{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"e\",\"x\":\""
                        + number(point.getW().getAffineX()) + "\",\"y\":\""
                        + number(point.getW().getAffineY()) + "\"},"
                        + rsa("enc", rsa).replace("{", "{\"use\":\"enc\",") + "]}")
                .getBytes(StandardCharsets.UTF_8));
    }

    private static String rsa(String kid, KeyPair pair) {
        RSAPublicKey key = (RSAPublicKey) pair.getPublic();
        return "{\"kty\":\"RSA\",\"kid\":\"" + kid + "\",\"n\":\"" + number(key.getModulus()) + "\",\"e\":\""
                + number(key.getPublicExponent()) + "\"}";
    }

    private static String number(BigInteger n) {
        byte[] all = n.toByteArray();
        return encode(all[0] == 0 ? java.util.Arrays.copyOfRange(all, 1, all.length) : all);
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String token(String header, String claims, KeyPair pair) throws GeneralSecurityException {
        String text =
                encode(header.getBytes(StandardCharsets.UTF_8)) + "." + encode(claims.getBytes(StandardCharsets.UTF_8));
        Signature s = Signature.getInstance(pair == ec ? "SHA256withECDSAinP1363Format" : "SHA256withRSA");
        s.initSign(pair.getPrivate());
        s.update(text.getBytes(StandardCharsets.US_ASCII));
        return text + "." + encode(s.sign());
    }

    private static String user(String token) {
        return Jwt.check(keys, "own", token, 50).map(Jwt::user).orElse("");
    }

    @Test
    void tokenNeedsAValidSignatureAndTimes() throws GeneralSecurityException {
        String a = "{\"alg\":\"RS256\",\"kid\":\"a\"}";
        assertThat(user(token(a, CLAIMS, rsa))).isEqualTo("ann");
        assertThat(user(token(a, "{\"own\":\"bob\",\"exp\":100}", rsa))).isEqualTo("bob");
        assertThat(user(token("{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS, ec))).isEqualTo("ann");
        assertThat(user(token(a, "{\"sun\":\"ann\"}", rsa)))
                .as("without an end")
                .isEmpty();
        assertThat(user(token(a, "{\"sun\":\"ann\",\"exp\":50}", rsa)))
                .as("over")
                .isEmpty();
        assertThat(user(token(a, "{\"sun\":\"ann\",\"exp\":100,\"nbf\":60}", rsa)))
                .as("not begun")
                .isEmpty();
        assertThat(user(token("{\"alg\":\"RS256\"}", CLAIMS, rsa)))
                .as("of no key")
                .isEmpty();
        assertThat(user(token("{\"alg\":\"RS256\",\"kid\":\"b\"}", CLAIMS, rsa)))
                .as("of an unknown key")
                .isEmpty();
        assertThat(user(token("{\"alg\":\"RS256\",\"kid\":\"weak\"}", CLAIMS, weak)))
                .as("of a weak key")
                .isEmpty();
        assertThat(user(token("{\"alg\":\"RS256\",\"kid\":\"enc\"}", CLAIMS, rsa)))
                .as("of a key for something else")
                .isEmpty();
        assertThat(user(token("{\"alg\":\"ES256\",\"kid\":\"a\"}", CLAIMS, rsa)))
                .as("by another algorithm")
                .isEmpty();
        assertThat(user(token("{\"alg\":\"none\",\"kid\":\"a\"}", CLAIMS, rsa)))
                .as("unsigned")
                .isEmpty();
        String good = token(a, CLAIMS, rsa);
        String other = token(a, "{\"sun\":\"eve\",\"exp\":100}", rsa);
        assertThat(user(other.substring(0, other.lastIndexOf('.')) + good.substring(good.lastIndexOf('.'))))
                .as("another's signature")
                .isEmpty();
        assertThat(user(good.substring(0, good.length() - 4))).isEmpty();
    }

    /** The public key must not do as the secret of an HS256 token. */
    @Test
    void aPublicKeyIsNoSecret() {
        byte[] open = rsa.getPublic().getEncoded();
        String forged = Jwt.make(open, "ann", 0, 100);
        Tokens tokens = new Tokens(
                Optional.empty(),
                () -> Optional.of(keys),
                "",
                name -> Optional.of(new Caller(7, 8)),
                Tokens.Ids.UNUSED,
                () -> 50_000);
        assertThat(tokens.caller(forged)).isEmpty();
        assertThat(tokens.areMade()).isFalse();
        assertThatThrownBy(() -> tokens.make("ann", 5)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void sessionOfAJwksTokenIsAccepted() throws GeneralSecurityException {
        Tokens tokens = new Tokens(
                Optional.empty(),
                () -> Optional.of(keys),
                "",
                name -> Optional.of(new Caller(7, 8)),
                Tokens.Ids.UNUSED,
                () -> 50_000);
        Verifier verifier =
                new Verifier(() -> KeySet.NONE, "c", Optional.empty(), Optional.of(tokens), who -> {}, () -> 50_000);
        String good = token("{\"alg\":\"RS256\",\"kid\":\"a\"}", CLAIMS, rsa);
        assertThat(tokens.caller(good)).contains(new Caller(7, 8));
        assertThat(verifier.verify(
                        Session.ofJwt(good).sign("POST", "/p", new byte[0], 50_000, "n"), "POST", "/p", new byte[0]))
                .isEqualTo(new Verifier.Verified(new Caller(7, 8)));
        String bad = token("{\"alg\":\"RS256\",\"kid\":\"a\"}", CLAIMS, weak);
        assertThat(verifier.verify(
                        Session.ofJwt(bad).sign("POST", "/p", new byte[0], 50_000, "m"), "POST", "/p", new byte[0]))
                .isInstanceOf(Verifier.Denied.class);
    }

    @Test
    void malformedJwksIsRefused() {
        for (String text : new String[] {
            "",
            "{}",
            "{\"keys\":[]}",
            "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"!\",\"e\":\"AQAB\"}]}",
            "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}"
                    .replace("P-256", "P-384")
        }) {
            assertThatThrownBy(() -> Jwks.parse(text.getBytes(StandardCharsets.UTF_8)))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
