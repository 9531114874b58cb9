package dev.muster.controller;

import dev.muster.config.AuthPlaces;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.daemon.ClusterKey;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.Sack;
import dev.muster.daemon.Sessions;
import dev.muster.daemon.TlsLog;
import dev.muster.daemon.TokenKey;
import dev.muster.transport.Caller;
import dev.muster.transport.Tokens;
import java.io.IOException;
import java.util.Optional;

/**
 * The keys with which slurmctld authenticates itself and checks callers. It reads them before it becomes SlurmUser:
 * keys may be root's alone, as may be the directory of the socket for the callers of this host. Only a key that is made
 * here is made afterwards, in StateSaveLocation.
 *
 * @param there sessions of a key that is there, or of munge; empty where a key has to be made
 * @param tokens empty where JSON Web Tokens are not taken
 * @param sack not served yet; empty where no place can be used
 */
record Credentials(
        SlurmConf conf,
        int slurmUid,
        TlsLog tls,
        DaemonLog log,
        Optional<Sessions> there,
        Optional<Tokens> tokens,
        Optional<Sack> sack) {
    /** The same keys for a controller that does not serve the socket for the callers of this host. */
    Credentials withoutSack() {
        return new Credentials(conf, slurmUid, tls, log, there, tokens, Optional.empty());
    }

    /** @throws IOException if a key is unfit */
    static Credentials read(SlurmConf conf, int slurmUid, Identities identities, TlsLog tls, DaemonLog log)
            throws IOException {
        AuthPlaces places = AuthPlaces.of(conf);
        Optional<Sessions> there =
                ClusterKey.isThere(places) ? Optional.of(made(conf, slurmUid, tls, log)) : Optional.empty();
        Optional<Tokens> tokens = TokenKey.tokens(
                conf.text(Key.AUTH_ALT_TYPES), conf.authAltParameters(), conf.stateSaveLocation(), identities);
        return new Credentials(
                conf, slurmUid, tls, log, there, tokens, Sack.bind(places, conf.clusterName(), identities, log));
    }

    /**
     * Makes a key where there is none.
     *
     * @throws IOException if it cannot be made
     */
    Sessions sessions() throws IOException {
        return there.isPresent() ? there.get() : made(conf, slurmUid, tls, log);
    }

    /** Key that the controllers of a cluster share; empty where there is none. */
    Optional<byte[]> secret() {
        return there.flatMap(s -> s.keys().get().main(System.currentTimeMillis()));
    }

    private static Sessions made(SlurmConf conf, int slurmUid, TlsLog tls, DaemonLog log) throws IOException {
        return new Sessions(conf, new Caller(slurmUid, 0), slurmUid, true)
                .telling(tls)
                .complainingTo(log::error);
    }
}
