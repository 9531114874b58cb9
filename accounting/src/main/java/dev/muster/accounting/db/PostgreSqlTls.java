package dev.muster.accounting.db;

import java.io.IOException;
import java.net.Socket;
import java.util.Properties;
import javax.net.ssl.SSLSocket;
import org.postgresql.ssl.WrappedFactory;

/** Encrypted sockets of PostgreSQL's driver, by {@link DatabaseTls}. The driver makes it by its class name. */
public final class PostgreSqlTls extends WrappedFactory {
    private final DatabaseTls tls;

    public PostgreSqlTls(Properties info) throws IOException {
        tls = DatabaseTls.of(info.getProperty(DatabaseTls.OPTION, "")).orElseThrow();
        factory = tls.context().getSocketFactory();
    }

    @Override
    public Socket createSocket(Socket plain, String host, int port, boolean autoClose) throws IOException {
        Socket socket = super.createSocket(plain, host, port, autoClose);
        if (!tls.ciphers().isEmpty()) {
            ((SSLSocket) socket).setEnabledCipherSuites(tls.ciphers().toArray(new String[0]));
        }
        return socket;
    }
}
