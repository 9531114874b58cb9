package dev.muster.accounting.db;

import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.sql.SQLException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import org.mariadb.jdbc.Configuration;
import org.mariadb.jdbc.HostAddress;
import org.mariadb.jdbc.export.ExceptionFactory;
import org.mariadb.jdbc.plugin.TlsSocketPlugin;

/** MariaDB's driver and {@link DatabaseTls}. */
public final class MariaDbTls {
    static final String NAME = "MUSTER";

    private MariaDbTls() {}

    private static DatabaseTls of(Configuration conf) {
        return DatabaseTls.of(conf.nonMappedOptions().getProperty(DatabaseTls.OPTION, ""))
                .orElseThrow();
    }

    /** The trusted authorities and the own certificate of the driver, which finds this class by its name. */
    public static final class Plugin implements TlsSocketPlugin {
        @Override
        public String type() {
            return NAME;
        }

        @Override
        public TrustManager[] getTrustManager(Configuration conf, ExceptionFactory failures, HostAddress host)
                throws SQLException {
            try {
                return of(conf).trustManagers();
            } catch (IOException e) {
                throw failures.create(ErrorSentence.of(e), "08000", e);
            }
        }

        @Override
        public KeyManager[] getKeyManager(Configuration conf, ExceptionFactory failures) throws SQLException {
            try {
                return of(conf).keyManagers();
            } catch (IOException e) {
                throw failures.create(ErrorSentence.of(e), "08000", e);
            }
        }

        @Override
        public void verify(String host, SSLSession session, long threadId) {
            // the certificate's chain has been checked; names are not compared
        }
    }
}
