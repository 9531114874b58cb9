package dev.muster.raft;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.jspecify.annotations.Nullable;

/**
 * TLS between the members, without files of certificates. Each process makes a key of its own, and a certificate whose
 * common name is the HMAC of that key under the secret that the members share. An end of a connection that proves to
 * have such a key is a member: no other process can make the name.
 */
final class MemberTls {
    private static final String ALIAS = "member";
    private static final String HMAC = "HmacSHA256";
    private static final String SIGNATURE = "SHA256withECDSA";
    /** Object identifiers 1.2.840.10045.4.3.2 (that signature) and 2.5.4.3 (common name), in DER. */
    private static final byte[] SIGNATURE_ID = HexFormat.of().parseHex("300a06082a8648ce3d040302");

    private static final byte[] COMMON_NAME = HexFormat.of().parseHex("0603550403");
    /** A validity without an end (RFC 5280, 4.1.2.5): the key ends with its process. */
    private static final String FROM = "20200101000000Z";

    private static final String TO = "99991231235959Z";

    private MemberTls() {}

    /** @throws IOException if the JDK cannot do it */
    static GrpcTlsConfig of(byte[] secret, String cluster) throws IOException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair keys = generator.generateKeyPair();
            Names names = new Names(secret, cluster);
            return new GrpcTlsConfig(
                    new OwnKey(keys.getPrivate(), certificate(keys, names.of(keys.getPublic()))),
                    new MembersOnly(names),
                    true);
        } catch (GeneralSecurityException e) {
            throw new IOException("no key for connections between controllers: " + e.getMessage(), e);
        }
    }

    /** The names that members give to their keys. */
    private record Names(byte[] secret, String cluster) {
        String of(PublicKey key) throws GeneralSecurityException {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(secret, HMAC));
            mac.update(("controller of " + cluster + "\n").getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(mac.doFinal(key.getEncoded()));
        }
    }

    // ---- the certificate, in DER (X.690)

    private static X509Certificate certificate(KeyPair keys, String commonName) throws GeneralSecurityException {
        byte[] text = commonName.getBytes(StandardCharsets.US_ASCII);
        byte[] name = der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, text))));
        byte[] validity = der(
                0x30,
                der(0x18, FROM.getBytes(StandardCharsets.US_ASCII)),
                der(0x18, TO.getBytes(StandardCharsets.US_ASCII)));
        byte[] body = der(
                0x30,
                der(0xa0, der(0x02, new byte[] {2})),
                der(0x02, new byte[] {1}),
                SIGNATURE_ID,
                name,
                validity,
                name,
                keys.getPublic().getEncoded());
        Signature signature = Signature.getInstance(SIGNATURE);
        signature.initSign(keys.getPrivate());
        signature.update(body);
        byte[] whole = der(0x30, body, SIGNATURE_ID, der(0x03, new byte[] {0}, signature.sign()));
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(whole));
    }

    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.size() >= 0x100) {
            out.writeBytes(new byte[] {(byte) 0x82, (byte) (content.size() >> 8)});
        } else if (content.size() >= 0x80) {
            out.write(0x81);
        }
        out.write(content.size());
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }

    // ---- both ends

    private static final class OwnKey extends X509ExtendedKeyManager {
        private final PrivateKey key;
        private final X509Certificate certificate;

        OwnKey(PrivateKey key, X509Certificate certificate) {
            this.key = key;
            this.certificate = certificate;
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return new String[] {ALIAS};
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return ALIAS;
        }

        @Override
        public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
            return ALIAS;
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            return new String[] {ALIAS};
        }

        @Override
        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return ALIAS;
        }

        @Override
        public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            return ALIAS;
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return new X509Certificate[] {certificate};
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return key;
        }
    }

    private static final class MembersOnly extends X509ExtendedTrustManager {
        private final Names names;

        MembersOnly(Names names) {
            this.names = names;
        }

        private void check(X509Certificate[] chain) throws CertificateException {
            try {
                byte[] expected = ("CN=" + names.of(chain[0].getPublicKey())).getBytes(StandardCharsets.UTF_8);
                byte[] given = chain[0].getSubjectX500Principal().getName().getBytes(StandardCharsets.UTF_8);
                if (chain.length != 1 || !MessageDigest.isEqual(expected, given)) {
                    throw new CertificateException("the other end does not know the key of this cluster");
                }
            } catch (GeneralSecurityException e) {
                throw e instanceof CertificateException c ? c : new CertificateException(e);
            }
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            check(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, @Nullable Socket socket)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, @Nullable Socket socket)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, @Nullable SSLEngine engine)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, @Nullable SSLEngine engine)
                throws CertificateException {
            check(chain);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
