package dev.muster.transport.tls;

import dev.muster.model.format.ErrorSentence;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * Certificates and private keys as text (RFC 7468). The JDK reads keys as PKCS #8 only; what {@code openssl ecparam}
 * and older tools write (SEC 1 and PKCS #1) is put into that form here.
 */
public final class Pem {
    private static final Pattern KEY = Pattern.compile(
            "-----BEGIN ((?:EC |RSA |ENCRYPTED )?PRIVATE KEY)-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");
    private static final byte[] VERSION_0 = {2, 1, 0};
    /** rsaEncryption (1.2.840.113549.1.1.1) without parameters, and id-ecPublicKey (1.2.840.10045.2.1). */
    private static final byte[] RSA = {
        0x30, 13, 6, 9, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 1, 1, 1, 5, 0
    };

    private static final byte[] EC = {6, 7, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 2, 1};
    private static final int SEQUENCE = 0x30;
    private static final int OCTETS = 4;
    private static final int EC_PARAMETERS = 0xa0;

    private Pem() {}

    /**
     * All certificates of a text, in its order.
     *
     * @throws IOException if there is none
     */
    public static List<X509Certificate> certificates(byte[] text) throws IOException {
        try {
            List<X509Certificate> out = new ArrayList<>();
            CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(text))
                    .forEach(c -> out.add((X509Certificate) c));
            if (out.isEmpty()) {
                throw new IOException("there is no certificate in it");
            }
            return out;
        } catch (CertificateException e) {
            throw new IOException("it is no certificate: " + ErrorSentence.of(e), e);
        }
    }

    /**
     * The first private key of a text.
     *
     * @throws IOException if there is none that can be read
     */
    public static PrivateKey key(byte[] text) throws IOException {
        Matcher matcher = KEY.matcher(new String(text, StandardCharsets.ISO_8859_1));
        if (!matcher.find()) {
            throw new IOException("there is no private key in it");
        }
        byte[] der;
        try {
            der = Base64.getMimeDecoder().decode(matcher.group(2));
            der = switch (matcher.group(1)) {
                case "EC PRIVATE KEY" -> ofSec1(der);
                case "RSA PRIVATE KEY" -> pkcs8(RSA, der);
                case "ENCRYPTED PRIVATE KEY" ->
                    throw new IOException("its key has a password, which nobody could type here");
                default -> der;
            };
        } catch (IllegalArgumentException e) {
            throw new IOException("its key is damaged", e);
        }
        for (String algorithm : List.of("EC", "RSA", "EdDSA")) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
            } catch (GeneralSecurityException e) {
                // of another kind
            }
        }
        throw new IOException("its key is neither EC nor RSA nor EdDSA");
    }

    /** RFC 5915: the curve stands within the key there, beside it in PKCS #8. */
    private static byte[] ofSec1(byte[] sec1) throws IOException {
        int[] all = element(sec1, 0, SEQUENCE);
        int index = all[0];
        while (index < all[1]) {
            int[] part = element(sec1, index, sec1[index] & 0xff);
            if ((sec1[index] & 0xff) == EC_PARAMETERS) {
                byte[] curve = Arrays.copyOfRange(sec1, part[0], part[1]);
                return pkcs8(tagged(SEQUENCE, joined(EC, curve)), sec1);
            }
            index = part[1];
        }
        throw new IOException("its key does not say its curve");
    }

    /** Begin and end of the content of an element. */
    private static int[] element(byte[] der, int index, int tag) throws IOException {
        if (index + 1 >= der.length || (der[index] & 0xff) != tag) {
            throw new IOException("its key is damaged");
        }
        int length = der[index + 1] & 0xff;
        int start = index + 2;
        if (length > 0x80) {
            int bytes = length - 0x80;
            length = 0;
            for (int i = 0; i < bytes && start < der.length; i++) {
                length = length << 8 | der[start++] & 0xff;
            }
        }
        if (length < 0 || length > der.length - start) {
            throw new IOException("its key is damaged");
        }
        return new int[] {start, start + length};
    }

    private static byte[] pkcs8(byte[] algorithm, byte[] key) {
        return tagged(SEQUENCE, joined(VERSION_0, algorithm, tagged(OCTETS, key)));
    }

    private static byte[] tagged(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.length < 0x80) {
            out.write(content.length);
        } else if (content.length < 0x100) {
            out.write(0x81);
            out.write(content.length);
        } else {
            out.write(0x82);
            out.write(content.length >> 8);
            out.write(content.length);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] p : parts) {
            out.writeBytes(p);
        }
        return out.toByteArray();
    }

    /** Trust managers that accept certificates that chain to one of these authorities, and no others. */
    public static TrustManager[] trusting(List<X509Certificate> authorities)
            throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry("ca" + i, authorities.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }
}
