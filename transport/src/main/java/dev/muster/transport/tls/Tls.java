package dev.muster.transport.tls;

import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * TLS for the side that opens connections: the authorities that it trusts. The other side's certificate must chain to
 * the cluster's authority; the names in it are not compared, because one certificate of a daemon's kind serves all of
 * its hosts. The user is authenticated within, by each request.
 */
public final class Tls {
    /** Connections are not encrypted. */
    public static final Tls NONE = new Tls(List.of(), false);

    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    private static final List<Path> SYSTEM_AUTHORITIES = List.of(
            Path.of("/etc/ssl/certs/ca-certificates.crt"),
            Path.of("/etc/pki/tls/certs/ca-bundle.crt"),
            Path.of("/etc/ssl/ca-bundle.pem"));

    /**
     * Groups for {@link #brief}: by default a client offers keys of two kinds, and each kind runs code that is not
     * compiled yet. All daemons support these.
     */
    private static final String[] ONE_KIND = {"x25519", "x448"};
    /** Property by which a site sets the groups. */
    private static final String GROUPS_OF_SITE = "jdk.tls.namedGroups";

    private static final int P256_BITS = 256;
    /** A signature in form, of nothing: two numbers, both 1. */
    private static final byte[] EMPTY_SIGNATURE = {0x30, 6, 2, 1, 1, 2, 1, 1};

    private final List<Path> authorities;
    private final boolean brief;
    private @Nullable LoadedContext loaded;
    private volatile TlsListener listener = TlsListener.NONE;

    /** The files as they were when read. */
    private record LoadedContext(List<Long> stamps, SSLContext context) {}

    private Tls(List<Path> authorities, boolean brief) {
        this.authorities = authorities;
        this.brief = brief;
    }

    /**
     * The same for a program that opens a connection and ends: its handshake runs code that is not compiled yet. So it
     * offers one key instead of two, and prepares to check signatures while it connects. If the site sets groups, it
     * offers those.
     */
    public Tls brief() {
        return isOn() ? new Tls(authorities, true) : this;
    }

    /**
     * Encrypted connections to servers with a certificate of this authority. The file is read when it is needed, and
     * anew when it has changed.
     *
     * @param authority certificates as text
     * @param system those that the machine trusts count as well
     */
    public static Tls trusting(Path authority, boolean system) {
        List<Path> all = new ArrayList<>(List.of(authority));
        SYSTEM_AUTHORITIES.stream()
                .filter(p -> system && Files.isReadable(p))
                .findFirst()
                .ifPresent(all::add);
        return new Tls(List.copyOf(all), false);
    }

    public boolean isOn() {
        return !authorities.isEmpty();
    }

    /**
     * Begins TLS over a fresh connection, which stays the caller's to close.
     *
     * @throws IOException if the other side does not speak TLS or has no certificate that is trusted
     */
    public SSLSocket over(Socket raw, String host, int port, int timeoutMs) throws IOException {
        SSLSocket socket = (SSLSocket) factory().createSocket(raw, host, port, false);
        socket.setEnabledProtocols(PROTOCOLS);
        if (brief && System.getProperty(GROUPS_OF_SITE) == null) {
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setNamedGroups(ONE_KIND);
            socket.setSSLParameters(parameters);
        }
        socket.setSoTimeout(timeoutMs);
        socket.startHandshake();
        if (listener != TlsListener.NONE
                && socket.getSession().getPeerCertificates()[0] instanceof X509Certificate theirs) {
            listener.connected(
                    true,
                    raw.getInetAddress().getHostAddress() + ":" + raw.getPort(),
                    socket.getSession().getProtocol() + " "
                            + socket.getSession().getCipherSuite(),
                    theirs);
        }
        return socket;
    }

    /** The versions of TLS that both sides speak. */
    public static String[] protocols() {
        return PROTOCOLS.clone();
    }

    /** Tells the listener of each connection that is opened from now on. */
    public void tell(TlsListener l) {
        // the one that is no TLS at all is shared, and never opens any
        if (isOn()) {
            listener = l;
        }
    }

    /** Returns the factory for other clients of this side. */
    public SSLSocketFactory factory() throws IOException {
        return context().getSocketFactory();
    }

    private synchronized SSLContext context() throws IOException {
        List<Long> stamps = stamps(authorities);
        if (loaded == null || !loaded.stamps.equals(stamps)) {
            loaded = new LoadedContext(stamps, load());
        }
        return loaded.context;
    }

    /** Times and sizes of files, which change with them. */
    static List<Long> stamps(List<Path> files) throws IOException {
        List<Long> out = new ArrayList<>();
        for (Path file : files) {
            out.add(Files.getLastModifiedTime(file).toMillis());
            out.add(Files.size(file));
        }
        return out;
    }

    private SSLContext load() throws IOException {
        try {
            List<X509Certificate> trusted = new ArrayList<>();
            for (Path file : authorities) {
                trusted.addAll(read(file));
            }
            if (brief) {
                prepare(trusted.getFirst());
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, Pem.trusting(trusted), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS: " + ErrorSentence.of(e), e);
        }
    }

    /**
     * Prepares signatures of this curve on another core: what they are checked with is made once in a process, and
     * takes longer than to connect.
     */
    private static void prepare(X509Certificate authority) {
        if (authority.getPublicKey() instanceof ECPublicKey key
                && key.getParams().getCurve().getField().getFieldSize() == P256_BITS) {
            Thread.ofPlatform().daemon().name("tls").start(() -> {
                try {
                    Signature nothing = Signature.getInstance("SHA256withECDSA");
                    nothing.initVerify(key);
                    nothing.verify(EMPTY_SIGNATURE);
                } catch (GeneralSecurityException e) {
                    // the handshake will say so, if it matters
                }
            });
        }
    }

    private static List<X509Certificate> read(Path file) throws IOException {
        try {
            return Pem.certificates(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new IOException(file + ": " + ErrorSentence.reason(e), e);
        }
    }
}
