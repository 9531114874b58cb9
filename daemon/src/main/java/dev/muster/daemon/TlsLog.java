package dev.muster.daemon;

import dev.muster.transport.tls.TlsListener;
import java.security.cert.X509Certificate;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Lines of DebugFlags=TLS and AuditTLS in a daemon's log: each connection and its certificate. */
public final class TlsLog implements TlsListener {
    private final Predicate<String> flag;
    private final Consumer<String> log;

    /** @param flag whether one of DebugFlags is set just now */
    public TlsLog(Predicate<String> flag, Consumer<String> log) {
        this.flag = flag;
        this.log = log;
    }

    @Override
    public void connected(boolean opened, String peer, String suite, X509Certificate certificate) {
        if (flag.test("TLS")) {
            log.accept("TLS: connection successfully created. cipher suite:" + suite + ". peer:" + peer + ". tls mode:"
                    + (opened ? "client" : "server"));
        }
        if (flag.test("AuditTLS")) {
            log.accept("AUDIT_TLS: " + (opened ? "certificate of " : "certificate shown to ") + peer + ": subject:"
                    + certificate.getSubjectX500Principal().getName() + " issuer:"
                    + certificate.getIssuerX500Principal().getName() + " serial:"
                    + certificate.getSerialNumber().toString(16) + " valid until:"
                    + certificate.getNotAfter().toInstant());
        }
    }
}
