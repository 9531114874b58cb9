package dev.muster.transport.tls;

import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * A daemon's certificate and private key. They are read anew when the files change: a renewed certificate needs no
 * restart.
 */
public final class TlsIdentity {
    private static final long CHECK_EACH_NS = 1_000_000_000L;
    private static final Set<PosixFilePermission> OTHERS =
            Set.of(PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.GROUP_WRITE);

    private final Path certificate;
    private final Path key;
    private final Consumer<String> complain;
    private final SSLContext context;
    private volatile Pair pair;
    /** Handshakes that began before a change end with what they began with. */
    private volatile Pair previous;

    private volatile long checkedNs;
    private volatile TlsListener listener = TlsListener.NONE;

    /** @param alias under which the JDK asks for its two parts, one after the other */
    private record Pair(String alias, List<Long> stamps, X509Certificate[] chain, PrivateKey key) {}

    /**
     * @param complain told why files that changed are not taken; the last good ones go on
     * @throws IOException with the file and the reason, if there is no such pair
     */
    public TlsIdentity(Path certificate, Path key, Consumer<String> complain) throws IOException {
        this.certificate = certificate;
        this.key = key;
        this.complain = complain;
        pair = read("1");
        previous = pair;
        checkedNs = System.nanoTime();
        try {
            context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new Keys()}, null, null);
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS: " + ErrorSentence.of(e), e);
        }
    }

    /** Tells the listener of each session that begins with this certificate from now on. */
    public void tell(TlsListener l) {
        listener = l;
    }

    private void report(@Nullable String alias, String host, SSLSession session) {
        if (alias != null && listener != TlsListener.NONE && session != null) {
            listener.connected(
                    false,
                    host + ":" + session.getPeerPort(),
                    session.getProtocol() + " " + session.getCipherSuite(),
                    named(alias).chain[0]);
        }
    }

    public SSLContext context() {
        return context;
    }

    private Pair read(String alias) throws IOException {
        List<Long> stamps = stamped(certificate);
        stamps = java.util.stream.Stream.concat(stamps.stream(), stamped(key).stream())
                .toList();
        for (PosixFilePermission p : Files.getPosixFilePermissions(key)) {
            if (OTHERS.contains(p)) {
                throw new IOException(key + ": others may read or write it, its mode should be 600");
            }
        }
        X509Certificate[] chain = at(certificate, () -> Pem.certificates(Files.readAllBytes(certificate)))
                .toArray(X509Certificate[]::new);
        PrivateKey privateKey = at(key, () -> Pem.key(Files.readAllBytes(key)));
        requirePair(chain[0], privateKey);
        return new Pair(alias, stamps, chain, privateKey);
    }

    private static List<Long> stamped(Path file) throws IOException {
        return at(file, () -> Tls.stamps(List.of(file)));
    }

    private interface Reading<T> {
        T get() throws IOException;
    }

    private static <T> T at(Path file, Reading<T> reading) throws IOException {
        try {
            return reading.get();
        } catch (IOException e) {
            throw new IOException(file + ": " + ErrorSentence.reason(e), e);
        }
    }

    private void requirePair(X509Certificate of, PrivateKey privateKey) throws IOException {
        String algorithm = switch (privateKey.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> privateKey.getAlgorithm();
        };
        try {
            byte[] text = {1, 2, 3};
            Signature s = Signature.getInstance(algorithm);
            s.initSign(privateKey);
            s.update(text);
            byte[] signed = s.sign();
            s.initVerify(of.getPublicKey());
            s.update(text);
            if (!s.verify(signed)) {
                throw new IOException(key + " is not the key of " + certificate);
            }
        } catch (GeneralSecurityException e) {
            throw new IOException(key + " is not the key of " + certificate, e);
        }
    }

    private Pair current() {
        long ns = System.nanoTime();
        if (ns - checkedNs < CHECK_EACH_NS) {
            return pair;
        }
        synchronized (this) {
            if (ns - checkedNs >= CHECK_EACH_NS) {
                checkedNs = ns;
                reloadIfChanged();
            }
            return pair;
        }
    }

    private void reloadIfChanged() {
        try {
            if (!java.util.stream.Stream.concat(stamped(certificate).stream(), stamped(key).stream())
                    .toList()
                    .equals(pair.stamps)) {
                Pair next = read(String.valueOf(Long.parseLong(pair.alias) + 1));
                previous = pair;
                pair = next;
            }
        } catch (IOException e) {
            complain.accept("TLS: the certificate from before goes on: " + ErrorSentence.of(e));
        }
    }

    private Pair named(String alias) {
        Pair current = pair;
        return current.alias.equals(alias) ? current : previous;
    }

    /** The same pair for every client. */
    private final class Keys extends X509ExtendedKeyManager {
        private @Nullable String alias(String type) {
            Pair current = current();
            String algorithm = current.key.getAlgorithm();
            boolean same = type.equals(algorithm)
                    || type.equals("EC_EC") && algorithm.equals("EC")
                    || algorithm.equals("EdDSA") && type.startsWith("Ed");
            return same ? current.alias : null;
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            String alias = alias(type);
            if (socket instanceof SSLSocket s) {
                // its address: a session would look for its name
                report(alias, s.getInetAddress().getHostAddress(), s.getHandshakeSession());
            }
            return alias;
        }

        @Override
        public @Nullable String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            String alias = alias(type);
            if (engine != null) {
                report(alias, engine.getPeerHost(), engine.getHandshakeSession());
            }
            return alias;
        }

        @Override
        public String @Nullable [] getServerAliases(String type, Principal[] issuers) {
            String alias = alias(type);
            return alias == null ? null : new String[] {alias};
        }

        @Override
        public @Nullable String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return null;
        }

        @Override
        public String @Nullable [] getClientAliases(String type, Principal[] issuers) {
            return null;
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return named(alias).chain.clone();
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return named(alias).key;
        }
    }
}
