package dev.muster.accounting.db;

import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.tls.Pem;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * Connections to the database server that are encrypted: the SSL_ words of StorageParameters. With an authority the
 * server's certificate must chain to it; names in it are not compared. Without one it is taken as it is. Both as in the
 * client library that Slurm uses.
 *
 * @param text what StorageParameters says; files are read when a connection is opened, and so may be exchanged
 */
record DatabaseTls(String text, Map<String, String> words, List<String> ciphers) {
    /** The driver's option, of either driver, that carries {@link #text}. */
    static final String OPTION = "musterTls";

    private static final Pattern FORWARD_SECRET = Pattern.compile("(ECDHE|DHE)-(RSA|ECDSA)-(.+)");
    private static final Pattern GCM = Pattern.compile("AES(128|256)-GCM-SHA(256|384)");

    /** @throws IllegalArgumentException with a sentence for what cannot be honoured */
    static Optional<DatabaseTls> of(String storageParameters) {
        Map<String, String> words = new LinkedHashMap<>();
        for (String item : storageParameters.split(",")) {
            int equalSign = item.indexOf('=');
            String name = (equalSign < 0 ? item : item.substring(0, equalSign))
                    .strip()
                    .toUpperCase(Locale.ROOT);
            if (name.startsWith("SSL_") && equalSign > 0) {
                words.put(name, item.substring(equalSign + 1).strip());
            }
        }
        if (words.containsKey("SSL_CERT") != words.containsKey("SSL_KEY")) {
            throw new IllegalArgumentException("StorageParameters: SSL_CERT and SSL_KEY belong together");
        }
        List<String> ciphers = new ArrayList<>();
        for (String cipher : words.getOrDefault("SSL_CIPHER", "").split("[: ]")) {
            if (!cipher.isBlank()) {
                ciphers.add(suite(cipher.strip()));
            }
        }
        return words.isEmpty()
                ? Optional.empty()
                : Optional.of(new DatabaseTls(storageParameters, words, List.copyOf(ciphers)));
    }

    /** OpenSSL's name of a cipher as the JDK calls it. */
    private static String suite(String openSsl) {
        if (openSsl.startsWith("TLS_")) {
            return openSsl;
        }
        Matcher exchange = FORWARD_SECRET.matcher(openSsl);
        String kind = exchange.matches() ? exchange.group(1) + "_" + exchange.group(2) : "RSA";
        String remainder = exchange.matches() ? exchange.group(3) : openSsl;
        Matcher gcm = GCM.matcher(remainder);
        if (gcm.matches()) {
            return "TLS_" + kind + "_WITH_AES_" + gcm.group(1) + "_GCM_SHA" + gcm.group(2);
        }
        if (remainder.equals("CHACHA20-POLY1305")) {
            return "TLS_" + kind + "_WITH_CHACHA20_POLY1305_SHA256";
        }
        throw new IllegalArgumentException(
                "StorageParameters: SSL_CIPHER=" + openSsl + " is not known: AES-GCM and CHACHA20-POLY1305 are");
    }

    SSLContext context() throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keyManagers(), trustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("StorageParameters: " + ErrorSentence.of(e), e);
        }
    }

    TrustManager[] trustManagers() throws IOException {
        List<X509Certificate> authorities = authorities();
        if (authorities.isEmpty()) {
            return new TrustManager[] {new TrustAll()};
        }
        try {
            return Pem.trusting(authorities);
        } catch (GeneralSecurityException e) {
            throw new IOException("SSL_CA: " + ErrorSentence.of(e), e);
        }
    }

    private List<X509Certificate> authorities() throws IOException {
        List<X509Certificate> out = new ArrayList<>();
        if (words.containsKey("SSL_CA")) {
            out.addAll(Pem.certificates(bytes("SSL_CA", Path.of(words.get("SSL_CA")))));
        }
        if (words.containsKey("SSL_CAPATH")) {
            Path directory = Path.of(words.get("SSL_CAPATH"));
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.{pem,crt,0,1,2,3}")) {
                for (Path file : files) {
                    out.addAll(Pem.certificates(bytes("SSL_CAPATH", file)));
                }
            }
            if (out.isEmpty()) {
                throw new IOException("SSL_CAPATH: there is no certificate in " + directory);
            }
        }
        return out;
    }

    KeyManager[] keyManagers() throws IOException {
        if (!words.containsKey("SSL_KEY")) {
            return new KeyManager[0];
        }
        X509Certificate[] chain = Pem.certificates(bytes("SSL_CERT", Path.of(words.get("SSL_CERT"))))
                .toArray(X509Certificate[]::new);
        PrivateKey key = Pem.key(bytes("SSL_KEY", Path.of(words.get("SSL_KEY"))));
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setKeyEntry("client", key, new char[0], chain);
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, new char[0]);
            return factory.getKeyManagers();
        } catch (GeneralSecurityException e) {
            throw new IOException("SSL_KEY: " + ErrorSentence.of(e), e);
        }
    }

    private static byte[] bytes(String word, Path file) throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new IOException(word + "=" + file + " cannot be read", e);
        }
    }

    /** Encrypted, and no more than that. */
    private static final class TrustAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            // StorageParameters names no authority
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
