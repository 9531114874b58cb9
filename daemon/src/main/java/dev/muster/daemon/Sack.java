package dev.muster.daemon;

import dev.muster.config.AuthPlaces;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Caller;
import dev.muster.transport.KeySet;
import dev.muster.transport.PeerIds;
import dev.muster.transport.Session;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The socket through which a daemon vouches for processes of its host: a process that connects gets a session for the
 * uid that the kernel reports.
 */
public final class Sack implements AutoCloseable {
    private final ServerSocketChannel server;
    private final Path path;
    private final String cluster;
    private final Identities identities;
    private final boolean clientIds;
    private final DaemonLog log;
    private volatile Supplier<KeySet> keys = () -> KeySet.NONE;
    private final SecureRandom random = new SecureRandom();

    /** @throws IOException if the socket cannot be made */
    private Sack(String path, String cluster, Identities identities, boolean clientIds, DaemonLog log)
            throws IOException {
        this.clientIds = clientIds;
        this.path = Path.of(path);
        this.cluster = cluster;
        this.identities = identities;
        this.log = log;
        Files.deleteIfExists(this.path);
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(this.path));
        Files.setPosixFilePermissions(this.path, PosixFilePermissions.fromString("rw-rw-rw-"));
    }

    /** The first of the host's places that can be used, skipping those another daemon already serves. */
    public static Optional<Sack> open(
            AuthPlaces places, Supplier<KeySet> keys, String cluster, Identities identities, DaemonLog log) {
        return keys.get().isEmpty()
                ? Optional.empty()
                : bind(places, cluster, identities, log).map(s -> s.serve(keys));
    }

    /**
     * Opens the socket like {@link #open}, for a daemon that becomes SlurmUser afterwards: callers wait until
     * {@link #serve}.
     */
    public static Optional<Sack> bind(AuthPlaces places, String cluster, Identities identities, DaemonLog log) {
        for (String place : places.sackSockets()) {
            if (answers(place)) {
                log.debug("sack: " + place + " is served by another daemon");
                continue;
            }
            try {
                return Optional.of(new Sack(place, cluster, identities, places.clientIds(), log));
            } catch (IOException e) {
                log.debug("sack: " + place + ": " + ErrorSentence.reason(e));
            }
        }
        return Optional.empty();
    }

    /** @param signing what sessions are signed with */
    public Sack serve(Supplier<KeySet> signing) {
        keys = signing;
        Thread.ofPlatform().daemon().name("sack").start(this::accept);
        return this;
    }

    private static boolean answers(String place) {
        try (SocketChannel probe = SocketChannel.open(UnixDomainSocketAddress.of(place))) {
            return probe.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private void accept() {
        while (server.isOpen()) {
            try {
                SocketChannel client = server.accept();
                Thread.ofVirtual().start(() -> answer(client));
            } catch (IOException e) {
                if (server.isOpen()) {
                    log.error("sack: " + ErrorSentence.of(e));
                    pause();
                }
            } catch (RuntimeException | Error e) {
                // a socket that is open and not served any more would look alive
                log.error("fatal: sack: " + e);
                Runtime.getRuntime().halt(1);
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void answer(SocketChannel client) {
        try (client) {
            PeerIds peer = PeerIds.of(client);
            Caller caller = new Caller(peer.uid(), peer.gid());
            byte[] nonce = new byte[16];
            random.nextBytes(nonce);
            long now = System.currentTimeMillis();
            Optional<byte[]> key = keys.get().main(now);
            if (key.isEmpty()) {
                log.error("sack: every key of the cluster has come to its end");
                return;
            }
            Session session = Session.issue(
                    key.get(),
                    cluster,
                    caller,
                    clientIds ? identities.byUid(caller.uid()) : Optional.empty(),
                    now,
                    nonce);
            ByteBuffer out = ByteBuffer.wrap(session.toBytes());
            while (out.hasRemaining()) {
                client.write(out);
            }
        } catch (IOException | RuntimeException e) {
            log.debug("sack: " + ErrorSentence.of(e));
        }
    }

    /** Path of the socket. */
    Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            server.close();
            Files.deleteIfExists(path);
        } catch (IOException e) {
            log.debug("sack: " + ErrorSentence.of(e));
        }
    }
}
