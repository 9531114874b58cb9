package dev.muster.transport.tls;

import java.security.cert.X509Certificate;

/** Hears of each encrypted connection, in the thread of the connection; must be quick. */
public interface TlsListener {
    TlsListener NONE = (opened, peer, suite, certificate) -> {};

    /**
     * A connection has begun.
     *
     * @param opened this side has opened it; else it serves it, of which the first of several that share a session is
     *     told
     * @param peer the other side, {@code 10.0.0.1:6817}
     * @param suite how it is encrypted, {@code TLSv1.3 TLS_AES_256_GCM_SHA384}
     * @param certificate the serving side's
     */
    void connected(boolean opened, String peer, String suite, X509Certificate certificate);
}
