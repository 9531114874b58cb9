package dev.muster.daemon;

import dev.muster.config.AuthPlaces;
import dev.muster.config.SlurmConf;
import dev.muster.config.TlsPlaces;
import dev.muster.config.key.TlsRole;
import dev.muster.model.Identity;
import dev.muster.transport.Caller;
import dev.muster.transport.Client;
import dev.muster.transport.KeySet;
import dev.muster.transport.Munge;
import dev.muster.transport.Session;
import dev.muster.transport.Tokens;
import dev.muster.transport.Verifier;
import dev.muster.transport.tls.Tls;
import dev.muster.transport.tls.TlsIdentity;
import dev.muster.transport.tls.TlsListener;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Proves the identity of a daemon and checks that of others. */
public final class Sessions {
    private final KeyFile<KeySet> keys;
    private final Optional<Munge> munge;
    /** The munged that slurmdbd believes, where AccountingStoragePass names its socket. */
    private final Optional<Munge> accountingMunge;

    private final String cluster;
    private final boolean clientIds;
    private final TlsPlaces encryption;
    private final Tls tls;
    private final Caller self;
    private final int daemonUid;
    private final SecureRandom random = new SecureRandom();
    private TlsListener news = TlsListener.NONE;
    private volatile Consumer<String> complain = sentence -> {};
    private @Nullable Session current;
    private long issuedMs;
    private @Nullable Session accounting;
    private long accountingIssuedMs;

    /**
     * @param self this daemon's own ids
     * @param daemonUid the user that may open this daemon's munge credentials: SlurmUser
     * @param make a key is made where none is set up (slurmctld)
     * @throws IOException if a key file is unfit
     */
    public Sessions(SlurmConf conf, Caller self, int daemonUid, boolean make) throws IOException {
        AuthPlaces places = AuthPlaces.of(conf);
        munge = places.munge() ? Optional.of(new Munge(places.mungeSocket())) : Optional.empty();
        String other = conf.text(dev.muster.config.key.Key.ACCOUNTING_STORAGE_PASS);
        accountingMunge = places.munge() && other.startsWith("/") ? Optional.of(new Munge(other)) : munge;
        if (make) {
            ClusterKey.findOrMake(places);
        } else {
            ClusterKey.find(places);
        }
        keys = new KeyFile<>(places.keyFiles(), ClusterKey::read, KeySet.NONE);
        // they are known from now on, whatever becomes of the file
        keys.get();
        cluster = conf.clusterName();
        clientIds = places.clientIds();
        encryption = TlsPlaces.of(conf);
        tls = trust(encryption);
        this.self = self;
        this.daemonUid = daemonUid;
    }

    /** The cluster's, as they are now; none where only munge vouches. */
    public Supplier<KeySet> keys() {
        return keys;
    }

    public Verifier verifier() {
        return verifier(Optional.empty(), who -> {});
    }

    /**
     * @param tokens where JSON Web Tokens are taken as well
     * @param stated receives the callers' identities, if the configuration lets clients state them
     */
    public Verifier verifier(Optional<Tokens> tokens, Consumer<Identity> stated) {
        return new Verifier(keys, cluster, munge, tokens, clientIds ? stated : who -> {}, System::currentTimeMillis)
                .telling(sentence -> complain.accept(sentence));
    }

    /**
     * A session good for now.
     *
     * @throws IllegalStateException if there is neither key nor munge
     */
    public synchronized Session session() {
        long now = System.currentTimeMillis();
        if (current == null || Session.isOld(issuedMs, now)) {
            byte[] bytes = new byte[32];
            random.nextBytes(bytes);
            current = keys.get()
                    .main(now)
                    .map(k -> Session.issue(k, cluster, self, now, java.util.Arrays.copyOf(bytes, 16)))
                    .or(() -> munge.flatMap(m -> m.session(bytes, daemonUid)))
                    .orElseThrow(() ->
                            new IllegalStateException("no authentication key: neither slurm.key nor munge answers"));
            issuedMs = now;
        }
        return current;
    }

    /**
     * Opens a session with slurmdbd: munge first where the cluster has it, because slurmdbd may not know this cluster's
     * key. Otherwise as {@link #session}.
     */
    public synchronized Session accountingSession() {
        if (accountingMunge.isEmpty()) {
            return session();
        }
        long now = System.currentTimeMillis();
        if (accounting == null || Session.isOld(accountingIssuedMs, now)) {
            byte[] bytes = new byte[32];
            random.nextBytes(bytes);
            accounting = accountingMunge
                    .get()
                    .session(bytes, daemonUid)
                    .orElseThrow(() -> new IllegalStateException("munge does not answer"));
            accountingIssuedMs = now;
        }
        return accounting;
    }

    /**
     * The authorities that encrypted connections trust; plain connections if the configuration does not ask for TLS.
     */
    public static Tls trust(TlsPlaces places) {
        return places.on() ? Tls.trusting(Path.of(places.authority()), places.system()) : Tls.NONE;
    }

    /** How this daemon opens connections. */
    public Tls tls() {
        return tls;
    }

    /** Logs callers that are refused for the time of their credential from now on. */
    public Sessions complainingTo(Consumer<String> log) {
        complain = log;
        return this;
    }

    /** Tells the listener of encrypted connections from now on; identities that are asked for later tell it as well. */
    public Sessions telling(TlsListener who) {
        news = who;
        tls.tell(who);
        return this;
    }

    /** A connection as this daemon, which proves itself with each request. */
    public Client client(String host, int port) {
        return new Client(host, port, this::session, this::nonce).over(tls);
    }

    /**
     * The certificate with which this daemon serves, where the configuration asks for TLS.
     *
     * @param complain told of changed files that are not taken
     * @throws IOException with the sentence, if there is none
     */
    public Optional<TlsIdentity> identity(TlsRole role, Consumer<String> complain) throws IOException {
        if (!encryption.on()) {
            return Optional.empty();
        }
        return Optional.of(telling(identity(encryption, role, complain)));
    }

    /** A certificate that has come another way. */
    public TlsIdentity telling(TlsIdentity identity) {
        identity.tell(news);
        return identity;
    }

    /** Reads the certificate and key of a role. */
    public static TlsIdentity identity(TlsPlaces places, TlsRole role, Consumer<String> complain) throws IOException {
        return new TlsIdentity(Path.of(places.certificate(role)), Path.of(places.key(role)), complain);
    }

    /** Fresh nonces. */
    public String nonce() {
        byte[] bytes = new byte[12];
        synchronized (random) {
            random.nextBytes(bytes);
        }
        return dev.muster.transport.Hash.hex(bytes);
    }
}
