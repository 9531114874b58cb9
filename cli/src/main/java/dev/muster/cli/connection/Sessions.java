package dev.muster.cli.connection;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.SlurmException;
import dev.muster.transport.Caller;
import dev.muster.transport.KeySet;
import dev.muster.transport.Munge;
import dev.muster.transport.Session;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;

/**
 * Opens sessions that prove the caller's identity: with the cluster key if the caller may read it, else from a daemon's
 * sack socket, else by munge.
 */
public final class Sessions {
    private static final int ANSWER_BYTES_MAX = 8192;
    private static final int KEY_BYTES_MIN = 17;
    private static final int KEY_BYTES_MAX = 65_536;

    private Sessions() {}

    /** The variable that holds a JSON Web Token; set, it proves who the caller is, and nothing else does. */
    public static final String JWT = "SLURM_JWT";

    /**
     * The session of a token.
     *
     * @throws SlurmException if the text is none
     */
    public static Session ofJwt(String token) throws SlurmException {
        try {
            return Session.ofJwt(token);
        } catch (IllegalArgumentException e) {
            throw new SlurmException(1007, "Protocol authentication error");
        }
    }

    /** Opens a session with slurmctld. */
    public static Session open(ClientConf conf, ProcessHost host) throws SlurmException {
        return open(conf, host, conf.clusterName);
    }

    /** Opens a session with the slurmctld of a cluster, this one or another with the same key. */
    public static Session open(ClientConf conf, ProcessHost host, String cluster) throws SlurmException {
        return host.setting(JWT).isEmpty() ? own(conf, host, cluster) : ofJwt(host.setting(JWT));
    }

    /** Opens a session of the process itself and ignores tokens, which nodes do not accept. */
    static Session own(ClientConf conf, ProcessHost host, String cluster) throws SlurmException {
        Optional<byte[]> key = clusterKey(conf, host.nowMs());
        if (key.isPresent()) {
            return Session.issue(key.get(), cluster, new Caller(host.uid(), host.gid()), host.nowMs(), host.random(16));
        }
        // what a daemon of this cluster vouches for is good in this one only
        Optional<Session> sack = cluster.equals(conf.clusterName) ? fromSack(conf, host.launcher) : Optional.empty();
        if (sack.isPresent()) {
            return sack.get();
        }
        if (conf.authType.equals("auth/munge")) {
            Optional<Session> munge = new Munge(conf.authInfo("socket"))
                    .session(host.random(32), Math.max(0, host.userId(conf.slurmUser)));
            if (munge.isPresent()) {
                return munge.get();
            }
        }
        throw new SlurmException(1007, "Protocol authentication error");
    }

    /** Opens a session for slurmdbd like {@link #open}, with munge first where the cluster has it. */
    static Session openAccounting(ClientConf conf, ProcessHost host) throws SlurmException {
        if (!host.setting(JWT).isEmpty()) {
            return ofJwt(host.setting(JWT));
        }
        String socket = conf.accountingPass.startsWith("/") ? conf.accountingPass : conf.authInfo("socket");
        Optional<Session> munge = conf.authType.equals("auth/munge")
                ? new Munge(socket).session(host.random(32), Math.max(0, host.userId(conf.slurmUser)))
                : Optional.empty();
        return munge.isPresent() ? munge.get() : open(conf, host);
    }

    private static Optional<byte[]> clusterKey(ClientConf conf, long nowMs) {
        for (String file : conf.keyFiles()) {
            try (FileInputStream in = new FileInputStream(file)) {
                byte[] key = in.readNBytes(KEY_BYTES_MAX);
                if (file.endsWith(".jwks")) {
                    return KeySet.parse(key).main(nowMs);
                }
                if (key.length >= KEY_BYTES_MIN) {
                    return Optional.of(key);
                }
            } catch (IOException | IllegalArgumentException e) {
                // not there or not for this caller: the sack socket vouches
            }
        }
        return Optional.empty();
    }

    private static Optional<Session> fromSack(ClientConf conf, Optional<Launcher> launcher) {
        for (String path : conf.sackSockets()) {
            byte[] answer = launcher.isPresent() ? launcher.get().exchange(path, new byte[0]) : exchange(path);
            if (answer == null || answer.length == 0) {
                continue;
            }
            try {
                return Optional.of(Session.fromBytes(answer));
            } catch (IllegalArgumentException e) {
                // something else listens there
            }
        }
        return Optional.empty();
    }

    private static byte[] exchange(String path) {
        try (SocketChannel s = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            s.connect(UnixDomainSocketAddress.of(path));
            ByteBuffer in = ByteBuffer.allocate(ANSWER_BYTES_MAX);
            while (in.hasRemaining() && s.read(in) >= 0) {
                // until the end
            }
            byte[] out = new byte[in.position()];
            in.flip().get(out);
            return out;
        } catch (IOException | UnsupportedOperationException e) {
            return new byte[0];
        }
    }
}
